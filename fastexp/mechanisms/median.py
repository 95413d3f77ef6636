"""The median, privately."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from fractions import Fraction

from .._numbers.distance import HALF
from .._typing import ABSENT, Convention, Neighbors, Number
from ._number import Bounds, Points
from ._totalled import TotalledQuantile
from .base import frozen


@frozen
class Median(TotalledQuantile):
    """The median on a public grid: r with probability ∝ exp(-ε·d(r)/2), d its Duff distance.

    Parameters
    ----------
    epsilon, bounds, step, grid, neighbors
    convention : {"weak", "lower", "upper", "strict"}
        Which points are the median: any with at most half of the records on either side
        (weak), the lower or the upper middle record, or the one that is both (strict).
    widen, with_total, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    The Duff distance of r is the least number of records to add or remove (or to replace) until
    the median is r, so one record changes it by at most 1.

    **When to match the grid to the data**: a distance is small at the grid points of the records,
    which are up to half a step away from them, on either side: a grid coarser than the data costs
    that much. In rounded data (ages, prices), equal records are the median's
    neighbourhood: on a grid of the same step they weigh as they should; on a fine one they are a
    single point among many, and the answer is nearly uniform unless half of ε times their number
    exceeds the logarithm of the grid's size. Then give `step`, or `widen`.

    **Privacy**: ε-DP and ε-bounded-range under `neighbors`.

    **Numerics**: distances and counts of points are exact integers, the nearest point is found by
    exact comparisons (records, decimals of the step and points of `grid` as the exact numbers that
    they are), the draw is exact; the answer is computed from its grid index alone, so its low bits
    reveal nothing. Fewer than 2**32 records.

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
    >>> median.release(ages) in range(36, 44)  # except with probability 1e-10 or so
    True
    >>> law = median.law(ages)
    >>> round(law.expected_error(38), 3), law.ppf([0.05, 0.95])
    (1.5, array([38, 41]))
    """

    epsilon: float
    bounds: Bounds = ABSENT
    _: KW_ONLY
    step: Number | None = None
    grid: Points = ABSENT
    neighbors: Neighbors = "add-remove"
    convention: Convention = "weak"
    widen: Number = 0
    with_total: bool = False
    any_epsilon: bool = field(default=False, compare=False)
    _q: Fraction = field(default=HALF, init=False, compare=False)
