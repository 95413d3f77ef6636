"""The least value over ranges of an array: distances within a width of any points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from .._typing import FloatArray, IntArray


def range_least(values: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """min(values[first[i] : last[i] + 1]) for each i, with first <= last.

    A range is covered by two of a power of two's length; the minima of each length are made
    from those of half of it, and used before the next ones replace them.
    """
    out = np.empty(first.size, np.int64)
    size = last - first + 1
    length, table = 1, values
    while True:
        ranges = np.flatnonzero((size >= length) & (size < 2 * length))
        out[ranges] = np.minimum(table[first[ranges]], table[last[ranges] - length + 1])
        if ranges.size == 0 and not bool((size >= 2 * length).any()):
            return out
        if table.size <= length:
            return out
        table = np.minimum(table[:-length], table[length:])
        length *= 2


def within(points: Sequence[Fraction], width: Fraction) -> tuple[IntArray, IntArray]:
    """The first and the last of increasing points that lie within `width` of each point."""
    common = math.lcm(*{point.denominator for point in points})
    units = [point.numerator * (common // point.denominator) for point in points]
    reach = math.floor(width * common)
    first, last = np.zeros(len(units), np.int64), np.zeros(len(units), np.int64)
    left = right = 0
    for i, unit in enumerate(units):
        while units[left] < unit - reach:
            left += 1
        while right + 1 < len(units) and units[right + 1] <= unit + reach:
            right += 1
        first[i], last[i] = left, right
    return first, last


def widened_pieces(
    knots: FloatArray, gaps: IntArray, records: IntArray, width: float
) -> tuple[FloatArray, IntArray]:
    """Knots and distances of the least distance within `width`, on a continuous range.

    knots: n + 2 increasing numbers, bounds first and last; gaps: the n + 1 distances between
    them; records: the n distances at the inner knots, which on a range that is not widened
    have no mass.
    """
    starts = np.empty(gaps.size + records.size)
    starts[0::2], starts[1::2] = knots[:-1], knots[1:-1]
    ends = np.empty_like(starts)
    ends[0::2], ends[1::2] = knots[1:], knots[1:-1]
    values = np.empty(starts.size, np.int64)
    values[0::2], values[1::2] = gaps, records
    low, high = knots[0], knots[-1]
    edges = np.unique(np.clip(np.concatenate([starts - width, ends + width]), low, high))
    middle = (edges[:-1] + edges[1:]) / 2
    first = np.searchsorted(ends, middle - width, "left").astype(np.int64)
    last = np.searchsorted(starts, middle + width, "right").astype(np.int64) - 1
    return edges, range_least(values, first, last)
