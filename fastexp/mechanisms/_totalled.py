"""Quantiles that may be released with a private number of records, the total."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._numbers.quantiles import QuantilesStatistic
from .._parameters import validate
from .._parameters.grid import Grid
from .._randomness.sampling import Sampling
from .._typing import AnyArray, FloatArray, IntArray, Neighbors
from ..errors import ParameterError
from ..grouped.call_options import CallOptions
from ..privacy import amounts
from ..privacy.rates import (
    LEAST_JOINT_EPSILON,
    MOST_JOINT_EPSILON,
    joint_rate,
    lattice_step,
)
from ._number import NumberMechanism
from ._ranked import QuantileMechanism

if TYPE_CHECKING:
    from .._intake.record_sources import RecordSource
    from .._numbers.rank import RankStatistic
    from ..grouped.segments import Draws, Segments
    from ..grouped.words import WordSource
    from ..laws.densities import ContinuousLaw
    from ..laws.figures import Figures


def checked_total(with_total: object, neighbors: Neighbors) -> bool:
    """Return whether there is a total; refuse one if the number of records is public."""
    wanted = validate.flag("with_total", with_total)
    if wanted and neighbors == "replace":
        raise ParameterError(
            'with_total needs neighbors="add-remove": under "replace" the number of records '
            "is public"
        )
    return wanted


def joint_statistic(
    q: tuple[Fraction, ...], epsilon: float, neighbors: Neighbors, grid: Grid
) -> QuantilesStatistic:
    """Return the statistic that draws these quantiles and, under add-remove, the total."""
    lattice = lattice_step(epsilon) if neighbors == "add-remove" else None
    return QuantilesStatistic(q, joint_rate(epsilon, neighbors), lattice, grid, "spread")


def simulate_several(statistic: Any, source: RecordSource, sampling: Sampling) -> IntArray:
    """Draw the grid indices of `sample` from a statistic with several answers."""
    _, size, threads, seeds = sampling.checked(("envelope",))
    indices: IntArray = statistic.simulate(source, seeds, 1 if size is None else size, threads)
    return indices[0] if size is None else indices


def several_answers(
    grid: Grid, indices: int | IntArray, points: int, entries: int, released: bool
) -> Any:
    """Return `points` grid points in the last axis, then the other entries unchanged.

    One released draw becomes a list.
    """
    numbers = np.asarray(indices)
    answers = grid.values(numbers[..., :points])
    if entries > points:
        answers = np.concatenate([answers, numbers[..., points:entries]], axis=-1)
    return answers.tolist() if released and answers.ndim == 1 else answers


def without_total(answers: Any, is_one: bool = False) -> Any:
    """Split answers into values and totals; with `is_one`, the single values lose their axis."""
    if isinstance(answers, tuple):  # with the groups of the data
        return answers[0], without_total(answers[1], is_one)
    numbers = np.asarray(answers)
    values = numbers[..., 0] if is_one else numbers[..., :-1]
    pair = values, numbers[..., -1].astype(np.int64)
    is_plain = isinstance(answers, list)
    return tuple(part.tolist() if is_plain or part.ndim == 0 else part for part in pair)


class TotalledQuantile(QuantileMechanism, promise="ε-DP and ε-bounded-range under `neighbors`."):
    """A quantile. With its total, both have the law of `Quantiles` with this one quantile."""

    with_total: bool

    def _check(self) -> None:
        super()._check()
        self._set_frozen(with_total=checked_total(self.with_total, self.neighbors))
        if not self.with_total:
            return
        if self.convention != "weak" or self.widen:
            raise ParameterError('with_total needs convention="weak", and no widen')
        amounts.within("epsilon", self.epsilon, (LEAST_JOINT_EPSILON, MOST_JOINT_EPSILON))

    @cached_property
    def _joint(self) -> QuantilesStatistic | None:
        """The statistic that draws a quantile and a total; None without a total."""
        if not self.with_total:
            return None
        return joint_statistic((self._q,), self.epsilon, self.neighbors, self.grid)

    @property
    def _entries(self) -> tuple[str, ...]:
        return () if self._joint is None else (str(float(self._q)), "total")

    @property
    def _in_passes(self) -> bool:
        return self._joint is not None or super()._in_passes

    @property
    def _ranks(self) -> RankStatistic | None:
        return super()._ranks if self._joint is None else None

    def _released(self, source: RecordSource) -> Any:
        return super()._released(source) if self._joint is None else self._joint.release(source)

    def _simulated(self, source: RecordSource, sampling: Sampling) -> Any:
        if self._joint is None:
            return super()._simulated(source, sampling)
        return simulate_several(self._joint, source, sampling)

    def _simulate_rows(self, rows: AnyArray, options: CallOptions, sampling: Sampling) -> Any:
        if self._joint is None:
            return super()._simulate_rows(rows, options, sampling)
        return NumberMechanism._simulate_rows(self, rows, options, sampling)

    def _draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        if self._joint is None:
            return super()._draws(segments, words, size)
        from ..grouped.quantiles import QuantilesDraws

        return QuantilesDraws(self._joint, segments, words, size, 2)

    def _answer(self, index: int | IntArray, released: bool) -> Any:
        if self._joint is None:
            return super()._answer(index, released)
        return several_answers(self.grid, index, 1, 2, released)

    def _returned(self, answers: Any) -> Any:
        return answers if self._joint is None else without_total(answers, is_one=True)

    def _continuous_of(self, source: RecordSource) -> ContinuousLaw:
        if self._joint is not None:
            raise ParameterError("with_total must be False for continuous_law: it has no total")
        return super()._continuous_of(source)

    def _law_of(self, source: RecordSource) -> Any:
        if self._joint is None:
            return super()._law_of(source)
        from ..laws.quantiles import QuantilesLaw

        draws = self._simulated, self._drawn_numbers
        return QuantilesLaw(self._joint, source, self.epsilon, self._truths, *draws)

    def _truths(self, source: RecordSource) -> Any:
        """Return the true quantile as an array of one, as for several quantiles."""
        truth = self._truth(source)
        return None if truth is None else np.array([truth])

    def _drawn_numbers(self, indices: IntArray) -> Any:
        """Return the answers of `sample` for rows of grid indices and totals."""
        return self._returned(self._answer(indices, released=False))

    def _figures(
        self, ordered: AnyArray, truths: FloatArray | None, names: Collection[str]
    ) -> Figures:
        if self._joint is None:
            return super()._figures(ordered, truths, names)
        return NumberMechanism._figures(self, ordered, truths, names)

    def _law_of_value(self, law: Any) -> Any:
        return law if self._joint is None else law.marginal(0)
