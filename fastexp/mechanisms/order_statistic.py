"""The r-th largest record, privately."""

from __future__ import annotations

from dataclasses import KW_ONLY, field

from .._parameters import validate
from .._typing import ABSENT, Number
from ._number import Bounds, Points
from ._ranked import OrderMechanism
from .base import frozen


@frozen
class OrderStatistic(OrderMechanism):
    """The r-th largest record on a public grid: probability ∝ exp(-ε·d/2), d its Duff distance.

    Parameters
    ----------
    r : int
        1 for the largest; below 2**31.
    epsilon, bounds, step, grid, widen, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    d is the least number of records to add or remove until the r-th largest is the point.

    **Privacy**: ε-DP and ε-bounded-range under add-remove.

    **Accuracy**: extremes are hard to release. The distance does not grow above the largest record,
    so a loose upper bound pulls the answer far above the true value. A quantile near 1 is more
    accurate.

    **Numerics**: as for `Median`.

    References
    ----------
    Asi and Duchi, NeurIPS 2020 (inverse sensitivity).

    Examples
    --------
    >>> import fastexp as fx
    >>> third = fx.OrderStatistic(3, epsilon=2.0, bounds=(0, 100), step=1)
    >>> third.law([10, 20, 30, 40, 50, 60, 60]).ppf(0.5)
    53
    """

    r: int
    epsilon: float
    bounds: Bounds = ABSENT
    _: KW_ONLY
    step: Number | None = None
    grid: Points = ABSENT
    widen: Number = 0
    any_epsilon: bool = field(default=False, compare=False)

    def _check(self) -> None:
        self._set_frozen(r=validate.counting("r", self.r, most=(1 << 31) - 1))
        super()._check()

    @property
    def _rank_from_top(self) -> int:
        return self.r
