"""Laws of private numbers whose log-density is linear on each of many pieces."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from .._compiler.rounding import check_rounding
from .._typing import AnyArray, FloatArray
from ..kernels.numbers.density import sum_products, sum_squares
from ..pictures.law_painters import Laws
from .elementary import differences, quiet
from .law import LossLaw, NumberLaw
from .pieces import Distances, Losses, LossSums, PiecePosition, Pieces, Weights


class LazyPieces(Protocol):
    """An object that computes its pieces when they are first needed."""

    @property
    def pieces(self) -> Pieces:
        """The pieces."""
        ...


class PiecewiseLaw(NumberLaw, LossLaw[float, AnyArray]):
    """A `GridLaw` or a `ContinuousLaw`: a closed form for each piece, summed from either end."""

    def __init__(
        self, body: Pieces | LazyPieces, unit: Fraction, rate: Fraction, epsilon: float
    ) -> None:
        self._body, self._unit = body, unit
        self._shared: list[Losses] = []  # computed at first use, shared by all epsilons
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
        return *public, p.size, p.gap, p.loss, p.slope

    @property
    def log_normalizer(self) -> float:
        """ln of the sum (on a grid) or integral of exp(c * utility), c the mechanism's rate."""
        check_rounding()
        return float(self._rate / self._unit) * self._pieces.best + self._weights.log_total

    def _mean(self) -> float:
        offsets, origin = self._offsets()
        offset = Fraction(float(sum_products(self._weights.masses, offsets)))
        return float(origin + offset * self._size)

    def _variance(self) -> float:
        w, (offsets, _) = self._weights, self._offsets()
        mean = float(sum_products(w.masses, offsets))
        return float(sum_squares(w.masses, offsets, mean, w.variance)) * self._scale * self._scale

    def _expected_errors(self, truth: AnyArray) -> FloatArray:
        place, distances = self._around(truth)
        return self._weights.error(place, distances) * self._scale

    def _best_utility(self) -> float:
        return self._pieces.best

    def _subject(self) -> Laws:
        return replace(super()._subject(), best=self._pieces.best)

    @cached_property
    def _losses(self) -> LossSums:
        if not self._shared:
            self._shared.append(Losses(self._pieces, self._unit))
        return LossSums(self._shared[0], self._weights.masses, self._weights)

    @property
    def _scale(self) -> float:
        return float(self._size)

    @property
    @abstractmethod
    def _size(self) -> Fraction:
        """A size of 1, as a difference of outputs."""

    @quiet
    def _offsets(self) -> tuple[FloatArray, Fraction]:
        """Return the pieces' means, in sizes from the best end of the heaviest, and that end."""
        w, ends, slope = self._weights, self._ends(), self._pieces.slope
        heaviest = int(w.masses.argmax())
        away = w.depth if slope is None else np.where(slope < 0, -w.depth, w.depth)
        offsets = differences(ends, ends[heaviest : heaviest + 1]) + away
        return offsets, self._exact(ends[heaviest].item())

    @abstractmethod
    def _ends(self) -> AnyArray:
        """Return the best ends of pieces, in sizes."""

    @abstractmethod
    def _exact(self, end: Any) -> Fraction:
        """Return a best end as an exact output."""

    @abstractmethod
    def _around(self, x: AnyArray) -> tuple[PiecePosition, Distances]:
        """Return the positions of finite numbers, and their distances in sizes."""
