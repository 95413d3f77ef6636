"""The largest record, privately."""

from __future__ import annotations

from dataclasses import KW_ONLY, field

from .._typing import ABSENT, Number
from ._number import Bounds, Points
from ._ranked import OrderMechanism
from .base import frozen


@frozen
class Maximum(OrderMechanism):
    """The largest record on a public grid: ``OrderStatistic(1, ...)``.

    Parameters
    ----------
    epsilon, bounds, step, grid, widen, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    The distance of a point is the number of records above it, and 1 more where no record is.

    **Privacy**: ε-DP and ε-bounded-range under add-remove.

    **Numerics**: as for `Median`.

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
    bounds: Bounds = ABSENT
    _: KW_ONLY
    step: Number | None = None
    grid: Points = ABSENT
    widen: Number = 0
    any_epsilon: bool = field(default=False, compare=False)

    _rank_from_top = 1
