"""Laws of private numbers whose log-density is linear on each of many pieces."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from .._compiler.rounding import check_rounding
from .._typing import AnyArray, FloatArray
from ..kernels.numbers.density import sum_products, sum_squares
from ..pictures.law_painters import Laws
from .law import LossLaw, NumberLaw
from .pieces import Distances, Losses, LossSums, Pieces, Place, Weights


class Held(Protocol):
    """Pieces that are made when they are first needed."""

    @property
    def pieces(self) -> Pieces:
        """The pieces."""
        ...


class PiecewiseLaw(NumberLaw, LossLaw[float, AnyArray]):
    """A `GridLaw` or a `ContinuousLaw`: closed forms a piece, summed from either end."""

    def __init__(self, body: Pieces | Held, unit: Fraction, rate: Fraction, epsilon: float) -> None:
        self._body, self._unit = body, unit
        self._shared: list[Losses] = []  # computed at first use, for every epsilon
        self._rate, self._epsilon = rate, epsilon

    @property
    def _pieces(self) -> Pieces:
        return self._body if isinstance(self._body, Pieces) else self._body.pieces

    @cached_property
    def _weights(self) -> Weights:
        return Weights(self._pieces, float(self._rate))

    def _identity(self) -> tuple[object, ...]:
        p = self._pieces
        public = self._epsilon, self._rate, self._unit, p.best
        return *public, p.size, p.gap, p.loss, p.steep, p.flip

    @property
    def log_normalizer(self) -> float:
        """ln of the sum (on a grid) or integral of exp(c * utility), c the mechanism's rate."""
        check_rounding()
        return float(self._rate / self._unit) * self._pieces.best + self._weights.log_total

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

    def _best_utility(self) -> float:
        return self._pieces.best

    def _subject(self) -> Laws:
        return replace(super()._subject(), best=self._pieces.best)

    @property
    def _all_losses(self) -> Losses:
        if not self._shared:
            self._shared.append(Losses(self._pieces, self._unit))
        return self._shared[0]

    @cached_property
    def _losses(self) -> LossSums:
        return LossSums(self._all_losses, self._weights.masses, self._weights)

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
