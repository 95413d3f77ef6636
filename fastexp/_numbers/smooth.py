"""Smooth sensitivity of medians and order statistics: windows of ranks, and the kernels' calls.

Ranks count from 1. Only windows of a small cost can be the greatest, and they lie around the
statistic. So the other records of one large data set are left out, and the limits replace them:
this adds only windows that are too costly to be the greatest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._intake.record_sources import RecordSource, Sorted
from .._typing import AnyArray, FloatArray, IntArray, Neighbors
from ..errors import InvalidRecords
from ..kernels.bits.logexp import EXP_LOWEST, exp_fill
from ..kernels.numbers import smooth
from .rank import few_enough

EMPTY = "records must not be empty: no records have no median"
# beta times the number of ranks that are read first on either side of unsorted records
FIRST_REACH = 20.0
KERNELS_ALONE = 1 << 14  # records up to which the kernels find the ranks that matter


class Statistic(NamedTuple):
    """A statistic: its rank, whether the next rank counts half, and the kind of neighbours."""

    rank: int
    half: bool
    neighbors: Neighbors

    def window(self, k: int, n: int) -> tuple[int, int, int]:
        """Return the ranks of the ends of window k, and its cost; 0 < k < n."""
        if self.neighbors == "add-remove":
            return (n - k) // 2, (n - k) // 2 + k + 1, k
        return self.rank - k, self.rank + self.half + k, 2 * k - 1

    def part(self, cost: int, n: int) -> tuple[int, int]:
        """Return the first and the last rank of all windows up to a cost."""
        if self.neighbors == "add-remove":  # equally many from either side: the middle stays
            spare = max((n - cost) // 2 - 2, 0)
            return 1 + spare, n - spare
        return max(self.rank - cost - 1, 1), min(self.rank + cost + 2, n)


def statistic(n: int, m: int | None, neighbors: Neighbors, midpoint: bool) -> Statistic:
    """Return the statistic of n records: rank m, the lower median, or the mean of both medians."""
    if n == 0:
        raise InvalidRecords(EMPTY)
    few_enough(n)
    half = midpoint and (neighbors == "add-remove" or n % 2 == 0)
    return Statistic((n + 1) // 2 if m is None else m, half, neighbors)


def rows(
    x: AnyArray,
    betas: object,
    lower: float,
    upper: float,
    m: int | None = None,
    neighbors: Neighbors = "replace",
    midpoint: bool = False,
) -> FloatArray:
    """Smooth sensitivity of each sorted row at each beta > 0, of shape (rows, betas).

    The statistic is rank m if m is given, for "replace" only; else it is the lower median, or the
    mean of both medians (`midpoint`).
    """
    return _filled(x, betas, (lower, upper), statistic(x.shape[1], m, neighbors, midpoint))


def one(
    source: RecordSource,
    beta: float,
    limits: tuple[float, float],
    m: int | None = None,
    neighbors: Neighbors = "replace",
    midpoint: bool = False,
) -> float:
    """Return the same for one data set of any form, at one beta."""
    n = source.total()
    target = statistic(n, m, neighbors, midpoint)
    skims = neighbors == "add-remove"  # the kernel looks at few ranks by itself
    if type(source) is Sorted and (n <= KERNELS_ALONE or (skims and source.floats)):
        return float(_filled(source.values[None], [beta], limits, target)[0, 0])
    known = n if type(source) is Sorted else int(min(FIRST_REACH / beta, n))
    while True:
        first, last = target.part(known, n)
        part = source.ranked(first - 1, last - 1)
        cost = needed(part, first, n, target, beta, limits, known)
        if cost <= known or known == n:
            break
        known = min(int(min(cost, 8 * known)) + 1, n)
    low, high = target.part(min(int(min(cost, n)) + 1, n), n)
    near = part[low - first : high - first + 1]
    target = target._replace(rank=target.rank - low + 1)
    return float(_filled(near[None], [beta], limits, target)[0, 0])


def needed(
    part: AnyArray,
    first: int,
    n: int,
    target: Statistic,
    beta: float,
    limits: tuple[float, float],
    known: int,
) -> float:
    """Return a cost from which on no window is the greatest, found from a few of the windows.

    `part` has the records of all windows up to the cost `known`, from rank `first` on.
    """
    lower, upper = limits
    end, widest = first + part.size, math.log(upper - lower)
    cost, k = math.inf, 1
    while k < min(known, n):
        i, j, window_cost = target.window(k, n)
        if window_cost >= cost or 1 <= i < first or end <= j <= n:
            break
        low = part[i - first].item() if i >= 1 else lower
        high = part[j - first].item() if j <= n else upper
        spread = min(max(high, lower), upper) - min(max(low, lower), upper)
        if spread > 0:
            cost = min(cost, window_cost + (widest - math.log(spread)) / beta + 2)
        k *= 2
    return cost


def _filled(
    x: AnyArray, betas: object, limits: tuple[float, float], target: Statistic
) -> FloatArray:
    flat, rates = np.ascontiguousarray(x, np.float64).reshape(-1), np.array(betas, np.float64)
    row_count, n = x.shape
    edges, out = np.array(limits, np.float64), np.empty(row_count * rates.size)
    if target.neighbors == "add-remove":
        smooth.add_remove_fill(flat, n, target.half, edges, rates, out)
    else:
        work, (table, ends) = np.empty(4 * (n + 2) + 3), tables(rates, n + 2)
        smooth.replace_fill(flat, n, target.rank, target.half, edges, rates, table, ends, work, out)
    return out.reshape(row_count, rates.size)


def tables(betas: FloatArray, most: int) -> tuple[FloatArray, IntArray]:
    """Return exp(-beta * k) for k = 0, 1, ... of each beta in turn, and where each list ends.

    A list has at most `most` numbers, at least two, and none after the first that is 0.
    """
    lengths = [max(2, int(min(most, 2 - EXP_LOWEST / beta))) for beta in betas.tolist()]
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    table, k = np.empty(ends[-1]), -np.arange(max(lengths, default=0), dtype=np.float64)
    for b, beta in enumerate(betas):
        exp_fill(beta * k[: lengths[b]], table[ends[b] : ends[b + 1]])
    return table, ends


def middle(source: RecordSource, first: int, last: int) -> int | float:
    """Return the mean of the records of two ranks; if they are equal, the record itself."""
    ordered = source.ranked(first - 1, last - 1)
    low: int | float = ordered[0].item()
    high: int | float = ordered[-1].item()
    return low if low == high else 0.5 * low + 0.5 * high
