"""Mechanisms whose utility is minus a rank distance: what they have in common."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .._intake.records import Source
from .._numbers import distance, rank_rows
from .._numbers.nearest import widened_pieces
from .._numbers.rank import Forms, RankShape, RankStatistic
from .._parameters.grid import decimal
from .._typing import AnyArray, IntArray, Neighbors
from ..grouped.ranks import RankDraws
from ..grouped.segments import Draws, Segments
from ..grouped.words import Words
from ..privacy import rank_rate
from ._checks import reach_of
from ._number import NumberMechanism

if TYPE_CHECKING:
    from ..laws.continuous import ContinuousLaw
    from ..laws.grid import GridLaw


class RankMechanism(NumberMechanism):
    """The verbs of `NumberMechanism`, by a `RankStatistic`."""

    _statistic: RankStatistic
    widen: Any

    @property
    def _unit(self) -> Fraction:
        """One integer of the distance, in units of the utility."""
        return Fraction(1)

    @abstractmethod
    def _true_ranks(self, n: int) -> tuple[int, int]:
        """The ranks, from 1, of the two of n records whose mean is the statistic."""

    def _truth(self, ordered: AnyArray) -> Any:
        """The statistic of the records as they are, within the bounds or not."""
        low, high = (ordered[rank - 1].item() for rank in self._true_ranks(ordered.size))
        return low if low == high else 0.5 * low + 0.5 * high

    def _shape(self, source: Source) -> RankShape:
        return self._statistic.shape(source)

    @property
    def _in_passes(self) -> bool:
        return not self._statistic.width and self._statistic.near is None

    def _draws(self, segments: Segments, words: Words, size: int) -> Draws:
        if not self._in_passes:
            return super()._draws(segments, words, size)
        return RankDraws(self._statistic, segments, words, size)

    def _simulate_rows(self, records: AnyArray, *how: Any) -> Any:
        return rank_rows.simulate(self._statistic, records, *how)

    def _law_of(self, source: Source) -> GridLaw:
        from ..laws.grid import distance_law

        return distance_law(self.grid, self._statistic, source, self._unit, self.epsilon)

    def _continuous_of(self, source: Source) -> ContinuousLaw:
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
            own = distance.distance(form, below, equal, n - below - equal)
            knots, distances = widened_pieces(knots, distances, own, float(self.widen))
        rate = self._statistic.weighting.rate
        return median_density(knots, distances, rate, self._unit, self.epsilon)


def rank_statistic(mechanism: Any, q: Fraction) -> RankStatistic:
    """What draws of a mechanism of the q-quantile need; validates its convention."""
    how: Neighbors = mechanism.neighbors
    convention = distance.as_convention(q, mechanism.convention)
    form = distance.QuantileForms(q, how, convention)
    rate = rank_rate(mechanism.epsilon, distance.steps(q, how, convention))
    return ranked(mechanism, form, rate)


def ranked(mechanism: Any, form: Forms, rate: Fraction) -> RankStatistic:
    """A statistic with the `widen` of a mechanism: in steps, or as ranges of its points."""
    return RankStatistic(form, rate, mechanism.grid, *reach_of(mechanism.grid, mechanism.widen))
