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
        What counts as the median if the number of records is even: any value between the two
        middle records (weak), the lower one, the upper one, or only a value that is both
        (strict).
    widen, with_total, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    The Duff distance of r is the least number of records to add or remove (or to replace) until
    the median is r, so one record changes it by at most 1.

    **Match the step to the data.** Records count at the nearest grid point, up to half a step away,
    so a grid coarser than the data costs that much accuracy. If records are rounded (ages, prices),
    give the same `step`. On a much finer grid all records of one value share a single point, and
    the answer is close to uniform unless ε/2 times their number exceeds the logarithm of the number
    of grid points. `widen` helps there, too.

    **Privacy**: ε-DP and ε-bounded-range under `neighbors`.

    **Numerics**: distances and numbers of points are exact integers. The nearest point is found by
    exact comparisons: records, the decimals of the step and the points of `grid` are read as the
    exact numbers that they are. The draw is exact, and the answer is computed from its grid index
    alone, so that its low bits reveal nothing. Fewer than 2**32 records.

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
