"""Laws of private numbers whose log-density is linear on each of many pieces."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from .._compiler.rounding import check_rounding
from .._typing import AnyArray, FloatArray
from ..kernels.numbers.density import sum_products, sum_squares
from ..pictures.law_painters import Laws
from .cut_pieces import Parts, cut, gains_at, mean_at
from .elementary import cdf_of, least_number, reached
from .grid_cells import LawCells
from .law import LossLaw
from .losses import PAIRS, Losses, LossSums
from .number import NumberLaw
from .pieces import Distances, Pieces, Place, Weights
from .targets import Target


class Known(NamedTuple):
    """Pieces that are known."""

    pieces: Pieces
    best: float


class PiecewiseLaw(NumberLaw, LossLaw[float, AnyArray]):
    """A `GridLaw` or a `ContinuousLaw`: closed forms a piece, summed from either end."""

    def __init__(
        self, body: Known | LawCells, unit: Fraction, rate: Fraction, epsilon: float
    ) -> None:
        self._body, self._unit = body, unit
        self._shared: list[Losses] = []  # computed at first use, for every epsilon
        self._rate, self._epsilon = rate, epsilon

    @property
    def _pieces(self) -> Pieces:
        return self._body.pieces

    @property
    def _best(self) -> float:
        return self._body.best

    @cached_property
    def _weights(self) -> Weights:
        return Weights(self._pieces, float(self._rate))

    def _with_rate(self, rate: Fraction, epsilon: float) -> Self:
        law = copy.copy(self)
        for of_rate in ("_weights", "_losses", "_log_masses"):
            vars(law).pop(of_rate, None)
        law._rate, law._epsilon = rate, epsilon
        return law

    def _identity(self) -> tuple[object, ...]:
        p = self._pieces
        public = self._epsilon, self._rate, self._unit, self._best
        return *public, p.size, p.gap, p.loss, p.steep, p.flip

    @property
    def log_normalizer(self) -> float:
        """ln of the sum (on a grid) or integral of exp(c * utility), c the mechanism's rate."""
        check_rounding()
        return float(self._rate / self._unit) * self._best + self._weights.log_total

    def _mean(self) -> float:
        return self._absolute(self._mean_offset())

    def _variance(self) -> float:
        w, offsets, mean = self._weights, self._offsets(), self._mean_offset()
        return float(sum_squares(w.masses, offsets, mean, w.variance)) * self._scale * self._scale

    def _mean_offset(self) -> float:
        return float(sum_products(self._weights.masses, self._offsets()))

    def _expected_errors(self, truth: AnyArray) -> FloatArray:
        place, distances = self._around(truth)
        return self._weights.error(place, distances) * self._scale

    def _farthest(self, x: AnyArray) -> FloatArray:
        low, high = self._support()
        farthest = np.maximum(np.abs(x - low), np.abs(high - x))
        return np.asarray(np.nextafter(farthest, np.inf))

    def _best_utility(self) -> float:
        return self._best

    def _subject(self) -> Laws:
        return replace(super()._subject(), best=self._best)

    def _exact_rate(self) -> Fraction:
        return self._rate

    def _expected_loss(self) -> float:
        return self._losses.mean()

    def _loss_cdf(self, t: FloatArray) -> FloatArray:
        return cdf_of(*self._losses.at(t))

    def _loss_tail(self, t: FloatArray) -> FloatArray:
        before = np.nextafter(t, -np.inf)  # losses are doubles: none is between
        return np.where(before < 0, 1.0, self._losses.at(before)[1])

    def _loss_quantile(self, p: FloatArray) -> FloatArray:
        losses, most = self._losses, np.full(p.shape, self._all_losses.greatest)
        ways = max(2, PAIRS // (4 * self._all_losses.sloped.size + 1))  # each costs a pass there
        least = least_number(most, lambda t, i: reached(*losses.at(t), p[i]), min(ways, 256))
        return np.where((p == 1.0) & np.isinf(most), np.inf, least)

    def _holds(self, target: Target) -> Callable[[float], bool]:
        if not target.of_errors:
            return LossLaw._holds(self, target)
        target = target.about(lambda: self.truth)
        truth = self._numbers("truth", np.array([target.truth]))
        is_expected = target.probability is None
        limits = self._limits(truth, None if is_expected else np.array([target.limit]))
        parts = cut(*self._row(), limits)
        if is_expected:
            most = target.limit / self._scale
            first, last = self._distances(parts, truth)
        else:
            most = 1.0 - (target.probability or 0.0)
            first = last = 1.0 - ((parts.start >= limits[0]) & (parts.start < limits[1]))
        if parts.pieces.steep is None:
            gains = (most - (first / 2.0 + last / 2.0)) * parts.pieces.size
            meets, unit = gains_at(parts.pieces.loss, gains), float(self._rate_at(1.0))
            return lambda epsilon: meets(unit * epsilon)
        mean = mean_at(parts.pieces, first, last)
        return lambda epsilon: mean(float(self._rate_at(epsilon))) <= most

    @property
    def _all_losses(self) -> Losses:
        if not self._shared:
            self._shared.append(Losses(self._pieces, self._unit))
        return self._shared[0]

    @cached_property
    def _losses(self) -> LossSums:
        return LossSums(self._all_losses, self._weights)

    @abstractmethod
    def _row(self) -> tuple[Pieces, AnyArray, Any]:
        """The pieces for every rate, where they start, and where the last one ends."""

    @abstractmethod
    def _limits(self, truth: AnyArray, error: FloatArray | None) -> AnyArray:
        """Where outputs of at most this error begin and what is beyond; None: the truth."""

    @abstractmethod
    def _distances(self, parts: Parts, truth: AnyArray) -> tuple[FloatArray, FloatArray]:
        """From the truth to the first and to the last output of each part, in sizes."""

    @property
    @abstractmethod
    def _scale(self) -> float:
        """A unit of the pieces' sizes, as a difference of outputs."""

    @abstractmethod
    def _offsets(self) -> FloatArray:
        """The means of pieces, in sizes from an origin near the heaviest one."""

    @abstractmethod
    def _absolute(self, offset: float) -> float:
        """The number that is `offset` from that origin."""

    @abstractmethod
    def _around(self, x: AnyArray) -> tuple[Place, Distances]:
        """The places of finite numbers, and their distances in sizes."""
