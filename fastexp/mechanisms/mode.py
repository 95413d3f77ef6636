"""The mode, privately."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .._intake.record_sources import RecordSource
from .._numbers.mode import ModeStatistic
from .._typing import ABSENT, Number
from ..errors import ParameterError
from ..privacy import rank_rate
from ._number import Bounds, Points
from ._ranked import DistanceMechanism
from .base import frozen

if TYPE_CHECKING:
    from ..laws.densities import ContinuousLaw


@frozen
class Mode(DistanceMechanism, promise="ε-DP and ε-bounded-range under add-remove."):
    """The most frequent grid point: r with probability ∝ exp(-ε·d(r)/2), d its Duff distance.

    Parameters
    ----------
    epsilon, bounds
    step : number, optional
        The distance between grid points; it must divide the bounds. Default: 2**40 steps, so that
        only equal records share a point.
    grid, widen, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    d is the least number of records to add or remove until the point is the only mode: at least 1
    more than the greatest other count, less its own.

    **Privacy**: ε-DP and ε-bounded-range under add-remove.

    **Accuracy**: for few public candidates `MostCommon` is more accurate: counts are monotonic,
    which saves a factor of 2, and its margins are not cut off at 0. On a fine grid, such as
    ``fastexp.digits(3)``, the mode must occur often enough to outweigh all other points.

    **Numerics**: distances are exact integers, and the draw is exact. It sorts the records.

    References
    ----------
    Asi and Duchi, NeurIPS 2020 (inverse sensitivity).

    Examples
    --------
    >>> import fastexp as fx
    >>> mode = fx.Mode(epsilon=1.0, bounds=(0, 50), step=1)
    >>> mode.law([20] * 30 + [21] * 9 + [33]).pmf(20) > 0.998
    True
    """

    epsilon: float
    bounds: Bounds = ABSENT
    _: KW_ONLY
    step: Number | None = None
    grid: Points = ABSENT
    widen: Number = 0
    any_epsilon: bool = field(default=False, compare=False)
    _relation = "add-remove"

    @cached_property
    def _statistic(self) -> ModeStatistic:
        return ModeStatistic(rank_rate(self.epsilon, 1), self.grid, *self._within)

    def _truth(self, source: RecordSource) -> Any:
        """Return the grid point with the most records, the lowest of several; None if empty."""
        points, records = source.counts(self.grid)
        return self.grid.value(int(points[records.argmax()])) if points.size else None

    def _continuous_of(self, source: RecordSource) -> ContinuousLaw:  # noqa: ARG002  # unused
        raise ParameterError("the mode has no density, because its law has single points: use law")
