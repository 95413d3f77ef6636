"""Mechanisms whose utility is minus a rank distance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._intake.arrays import canonical
from .._numbers import distance
from .._numbers.distance_statistic import DistanceStatistic, widened_pieces
from .._numbers.rank import RankStatistic, unlisted_statistic
from .._numbers.smooth import middle
from .._parameters import validate
from .._parameters.grid import decimal
from .._randomness.sampling import Sampling
from .._typing import (
    AnyArray,
    Convention,
    FloatArray,
    IntArray,
    Neighbors,
    Number,
)
from ..grouped.call_options import CallOptions
from ..privacy import rank_rate
from ._number import NumberMechanism

if TYPE_CHECKING:
    from .._intake.record_sources import RecordSource
    from .._numbers.cells import Shape
    from ..grouped.segments import Draws, Segments
    from ..grouped.words import WordSource
    from ..laws.densities import ContinuousLaw
    from ..laws.figures import Figures
    from ..laws.grid import GridLaw


class DistanceMechanism(NumberMechanism):
    """A mechanism whose utility is minus the distance of a `DistanceStatistic`."""

    widen: Number
    _within: tuple[int, tuple[IntArray, IntArray] | None]

    def _check(self) -> None:
        super()._check()
        self._set_frozen(_within=self._reach(self.widen))

    @property
    @abstractmethod
    def _statistic(self) -> DistanceStatistic:
        """The statistic, for draws and laws."""

    def _shape(self, source: RecordSource) -> Shape:
        return self._statistic.shape(source)

    def _released(self, source: RecordSource) -> int:
        return self._statistic.release(source)

    def _simulated(self, source: RecordSource, sampling: Sampling) -> int | IntArray:
        return self._statistic.simulate(source, sampling)

    @property
    def _unit(self) -> Fraction:
        """A distance of 1, in units of the utility."""
        return Fraction(1)

    def _law_of(self, source: RecordSource) -> GridLaw:
        from ..laws.grid import distance_law

        unit = self._unit
        return distance_law(self.grid, self._statistic, source, unit, self.epsilon, self._truth)

    @cached_property
    def _has_table(self) -> bool:
        """Whether draws by group use a table of weights; public: it depends on no records."""
        from ..grouped.ranks import has_table

        return has_table(self._statistic)

    def _draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        if not self._has_table:
            return super()._draws(segments, words, size)
        from ..grouped.ranks import DistanceDraws

        return DistanceDraws(self._statistic, segments, words, size)


class RankMechanism(DistanceMechanism):
    """A mechanism whose utility is minus the distance in ranks of a `RankStatistic`."""

    _form: distance.Forms
    _rate: Fraction

    @cached_property
    def _statistic(self) -> RankStatistic:
        """The statistic, for draws and laws."""
        width, near = self._within
        if self.grid.listing is None and near is None:
            rate = self._rate.as_integer_ratio()
            return unlisted_statistic(self._form, rate, self.grid, width)
        return RankStatistic(self._form, self._rate, self.grid, width, near)

    @abstractmethod
    def _true_ranks(self, n: int) -> tuple[int, int]:
        """Return the ranks, from 1, of the two records whose mean is the statistic."""

    def _truth(self, source: RecordSource) -> Any:
        """Return the statistic of the records, not clamped to the bounds; None without records."""
        n = source.total()
        return middle(source, *self._true_ranks(n)) if n else None

    @property
    def _in_passes(self) -> bool:
        return not self._statistic.width and self._statistic.near is None

    @property
    def _ranks(self) -> RankStatistic | None:
        return self._statistic if self._in_passes and self._has_table else None

    def _draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        if self._ranks is None:
            return super()._draws(segments, words, size)
        from ..grouped.ranks import RankDraws

        return RankDraws(self._statistic, segments, words, size)

    def _simulate_rows(self, rows: AnyArray, options: CallOptions, sampling: Sampling) -> Any:
        from .._numbers import rank_rows

        is_sorted = options.assume_sorted
        return rank_rows.simulate(self._statistic, rows, sampling, options.nan, is_sorted)

    def _continuous_of(self, source: RecordSource) -> ContinuousLaw:
        from ..laws.densities import median_density

        low, high = (float(decimal(bound)) for bound in self.bounds)
        parts = [np.clip(part.astype(np.float64), low, high) for part in source.parts()]
        knots = np.sort(np.concatenate([*parts, [low, high]]))
        n, form = knots.size - 2, self._statistic.form_of(knots.size - 2)
        gaps: IntArray = np.arange(n + 1)
        distances = distance.distance(form, gaps, np.zeros_like(gaps), n - gaps)
        if self.widen:
            inner = knots[1:-1]
            below = np.searchsorted(inner, inner, "left")
            equal = np.searchsorted(inner, inner, "right") - below
            at_records = distance.distance(form, below, equal, n - below - equal)
            knots, distances = widened_pieces(knots, distances, at_records, float(self.widen))
        rate = self._statistic.weighting.rate
        return median_density(knots, distances, rate, self._unit, self.epsilon)

    def _figures(
        self, ordered: AnyArray, truths: FloatArray | None, names: Collection[str]
    ) -> Figures:
        from .._numbers import rank_errors

        rows, true = canonical(ordered, self.grid), truths
        if true is None:
            low, high = self._true_ranks(rows.shape[1])
            true = (0.5 * rows[:, low - 1] + 0.5 * rows[:, high - 1]).astype(np.float64)
        if not rank_errors.is_regular(self._statistic, rows) or not np.isfinite(true).all():
            return super()._figures(ordered, truths, names)
        figures = rank_errors.figures(self._statistic, rows, true, self._unit)
        return {name: figure for name, figure in figures._asdict().items() if name in names}

    def _rank(self, form: distance.Forms, steps: int) -> None:
        """Set the form of a distance that one record changes by `steps`, and its rate."""
        rate = rank_rate(self.epsilon, steps)
        self._set_frozen(_form=form, _rate=rate)


class QuantileMechanism(RankMechanism, promise="ε-DP and ε-bounded-range under `neighbors`."):
    """A mechanism of a quantile, under a neighbour relation and a convention."""

    neighbors: Neighbors
    convention: Convention
    _q: Fraction

    def _check(self) -> None:
        super()._check()
        self._set_frozen(neighbors=validate.neighbors(self.neighbors))
        convention = distance.as_convention(self._q, self.convention)
        form = distance.QuantileForms(self._q, self.neighbors, convention)
        self._rank(form, distance.steps(self._q, self.neighbors, convention))

    def _true_ranks(self, n: int) -> tuple[int, int]:
        return distance.quantile_ranks(self._q, self.convention, n)


class OrderMechanism(RankMechanism, promise="ε-DP and ε-bounded-range under add-remove."):
    """A mechanism of the record of a public rank, counted from the largest."""

    _relation = "add-remove"

    @property
    @abstractmethod
    def _rank_from_top(self) -> int:
        """The rank; 1 for the largest record."""

    def _check(self) -> None:
        super()._check()
        self._rank(distance.OrderForms(self._rank_from_top), 1)

    def _true_ranks(self, n: int) -> tuple[int, int]:
        return distance.order_ranks(self._rank_from_top, n)
