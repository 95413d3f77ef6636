"""The r-th largest record, privately."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .._numbers import distance
from .._numbers.rank import RankStatistic
from .._parameters import validate
from ..privacy import Guarantee, rank_rate, selection_guarantee
from ._checks import check_number
from ._number import ASSUMES
from ._ranked import RankMechanism, ranked


@dataclass(frozen=True, repr=False)
class OrderStatistic(RankMechanism):
    """The r-th largest record on a public grid: probability ∝ exp(-ε·d/2), d its Duff distance.

    Parameters
    ----------
    r : int
        1 for the largest; below 2**31.
    epsilon : float
        Privacy parameter of each answer, in nats; in [1e-9, 1e6] unless `any_epsilon`.
    bounds : (number, number)
        Public limits; records outside are clamped to them.
    step : number, optional
        The distance of grid points; it divides the bounds. Default: 2**40 steps.
    grid : array_like, optional
        Instead of `step`: public points within the bounds, increasing.
    widen : number
        As for `Median`.
    any_epsilon : bool
        Lift the limits on epsilon.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    d is the least number of records to add or remove until the r-th largest is the point.
    **Privacy**: ε-DP and ε-bounded-range under add-remove. **Numerics**: as for `Median`.
    Extremes are hard to release: points above all records have distances that do not grow, so
    an upper bound far above the data draws answers away. A quantile near 1 errs less.

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
    bounds: tuple[Any, Any]
    step: Any = field(default=None, kw_only=True)
    grid: Any = field(default=None, kw_only=True)
    widen: Any = field(default=0, kw_only=True)
    any_epsilon: bool = field(default=False, kw_only=True, compare=False)
    _statistic: RankStatistic = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Validate once; the mechanism is immutable afterwards."""
        object.__setattr__(self, "r", validate.counting("r", self.r, most=(1 << 31) - 1))
        order_statistic(self, self.r)

    @property
    def guarantee(self) -> Guarantee:
        """ε-DP and ε-bounded-range under add-remove."""
        return selection_guarantee(self.epsilon, "add-remove", ASSUMES)

    def _true_ranks(self, n: int) -> tuple[int, int]:
        return distance.order_ranks(self.r, n)


def order_statistic(mechanism: Any, r: int) -> None:
    """Validate, and put in what draws need."""
    check_number(mechanism)
    form, rate = partial(distance.order_form, r), rank_rate(mechanism.epsilon, 1)
    object.__setattr__(mechanism, "_statistic", ranked(mechanism, form, rate))
