"""The median, privately."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._numbers import distance
from .._numbers.distance import HALF
from .._numbers.rank import RankStatistic
from .._parameters import validate
from .._typing import Neighbors
from ..privacy import Guarantee, selection_guarantee
from ._checks import check_number
from ._number import ASSUMES
from ._ranked import RankMechanism, rank_statistic


@dataclass(frozen=True, repr=False)
class Median(RankMechanism):
    """The median on a public grid: r with probability ∝ exp(-ε·d(r)/2), d its Duff distance.

    Parameters
    ----------
    epsilon : float
        Privacy parameter of each answer, in nats; in [1e-9, 1e6] unless `any_epsilon`.
    bounds : (number, number)
        Public limits, lower < upper, chosen without looking at the data; records outside are
        clamped to them.
    step : number, optional
        The distance of grid points; it divides the bounds (as decimals: 0.1 divides 1). The
        answer is an int where bounds and step are. Default: 2**40 steps, fewer where doubles
        are no closer. A record counts at the nearest point; half-way between two, at the one
        of even index, counted from 0.
    grid : array_like, optional
        Instead of `step`: public points within the bounds, increasing.
    neighbors : {"add-remove", "replace"}
        What one person may do: join or leave, or change their record. At equal ε the first is
        about twice as accurate, as one record is two steps of its distance.
    convention : {"weak", "lower", "upper", "strict"}
        Which points are the median: any with at most half of the records on either side
        (weak), the lower or the upper middle record, or the one that is both (strict).
    widen : number
        For equal records on a fine grid: a point's distance is the least one within `widen`
        of it; in units of the records, public. Floats are read as the decimals that print:
        0.8 is within 0.1 of 0.7.
    any_epsilon : bool
        Lift the limits on epsilon.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    The Duff distance of r is the least number of records to add or remove (or to replace)
    until the median is r, so one record changes it by at most 1. **When to match the grid to
    the data**: a distance is small at the grid points of the records, which are up to half a
    step away from them, on either side: a grid coarser than the data costs that much. Of data
    that were rounded (ages, prices), equal records are the median's neighbourhood: on a grid
    of the same step they weigh as they should; on a fine one they are a single point among
    many, and the answer is nearly uniform unless ε times their number exceeds the logarithm of
    the grid's size. Then give `step`, or `widen`.
    **Privacy**: ε-DP and ε-bounded-range under `neighbors`. **Numerics**: distances and
    counts of points are exact integers, the nearest point is found by exact comparisons
    (records, decimals of the step and points of `grid` as the exact numbers that they are),
    the draw is exact; the answer is computed from its
    grid index alone, so its low bits tell nothing. Fewer than 2**32 records.

    References
    ----------
    Asi and Duchi, "Instance-optimality in differential privacy via approximate inverse
    sensitivity mechanisms", NeurIPS 2020 (the distance, `widen`). Smith, "Privacy-preserving
    statistical estimation with optimal convergence rates", STOC 2011. McSherry and Talwar,
    FOCS 2007.

    Examples
    --------
    >>> import fastexp as fx
    >>> ages = [23, 31, 35, 35, 38, 41, 44, 52, 58, 67] * 50
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 120), step=1)
    >>> median.release(ages) in range(36, 44)  # but in some 1e-10 of cases
    True
    >>> law = median.law(ages)
    >>> round(law.expected_error(38), 3), law.ppf([0.05, 0.95])
    (1.5, array([38, 41]))
    """

    epsilon: float
    bounds: tuple[Any, Any]
    step: Any = field(default=None, kw_only=True)
    grid: Any = field(default=None, kw_only=True)
    neighbors: Neighbors = field(default="add-remove", kw_only=True)
    convention: str = field(default="weak", kw_only=True)
    widen: Any = field(default=0, kw_only=True)
    any_epsilon: bool = field(default=False, kw_only=True, compare=False)
    _statistic: RankStatistic = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Validate once; the mechanism is immutable afterwards."""
        check_number(self)
        object.__setattr__(self, "neighbors", validate.neighbors(self.neighbors))
        object.__setattr__(self, "_statistic", rank_statistic(self, HALF))

    @property
    def guarantee(self) -> Guarantee:
        """ε-DP and ε-bounded-range under `neighbors`."""
        return selection_guarantee(self.epsilon, self.neighbors, ASSUMES)

    def _true_ranks(self, n: int) -> tuple[int, int]:
        return distance.quantile_ranks(HALF, self.convention, n)
