"""The largest record, privately."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._numbers import distance
from .._numbers.rank import RankStatistic
from ..privacy import Guarantee, selection_guarantee
from ._number import ASSUMES
from ._ranked import RankMechanism
from .order_statistic import order_statistic


@dataclass(frozen=True, repr=False)
class Maximum(RankMechanism):
    """The largest record on a public grid: ``OrderStatistic(1, ...)``.

    Parameters
    ----------
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
    The distance of a point is the number of records above it, and 1 more where no record is.
    **Privacy**: ε-DP and ε-bounded-range under add-remove. **Numerics**: as for `Median`.

    References
    ----------
    Asi and Duchi, NeurIPS 2020 (inverse sensitivity).

    Examples
    --------
    >>> import fastexp as fx
    >>> fx.Maximum(epsilon=3.0, bounds=(0, 50), step=1).law([10, 20, 41, 41]).ppf(0.5)
    43
    """

    epsilon: float
    bounds: tuple[Any, Any]
    step: Any = field(default=None, kw_only=True)
    grid: Any = field(default=None, kw_only=True)
    widen: Any = field(default=0, kw_only=True)
    any_epsilon: bool = field(default=False, kw_only=True, compare=False)
    _statistic: RankStatistic = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Validate once; the mechanism is immutable afterwards."""
        order_statistic(self, 1)

    @property
    def guarantee(self) -> Guarantee:
        """ε-DP and ε-bounded-range under add-remove."""
        return selection_guarantee(self.epsilon, "add-remove", ASSUMES)

    def _true_ranks(self, n: int) -> tuple[int, int]:
        return distance.order_ranks(1, n)
