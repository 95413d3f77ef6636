"""Parts of the recursion for several quantiles: the records between two answers."""

from __future__ import annotations

from .cells import ALL, BOTTOM, LENGTH, PART, START, TOP, UNDER
from .jit import helper, kernel


@helper
def records_below(points, place):
    """How many of some sorted points are below a place."""
    low, high = 0, points.size
    while low < high:
        middle = (low + high) // 2
        if points[middle] < place:
            low = middle + 1
        else:
            high = middle
    return low


@kernel("none(in_i64, in_i64, in_i64, in_i64, i64, out_i64)")
def fill_parts(points, offsets, low, high, size, parts):
    """parts = of each data set the records from place `low` to below `high`, and both as its grid.

    `size` stands for the end: records up to the last place.
    """
    for d in range(low.size):
        own = points[offsets[d] : offsets[d + 1]]
        begin, end = records_below(own, low[d]), records_below(own, high[d])
        part = parts[PART * d : PART * (d + 1)]
        part[START], part[UNDER] = offsets[d] + begin, 0
        part[LENGTH] = part[ALL] = end - begin
        part[BOTTOM], part[TOP] = low[d], min(high[d] + 1, size)
