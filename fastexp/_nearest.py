"""The least value over ranges of an array: distances within a width of any points."""

from __future__ import annotations

import numpy as np

from ._typing import FloatArray, IntArray


def range_least(values: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """min(values[first[i] : last[i] + 1]) for each i, with first <= last.

    A range is covered by two of a power of two's length; the minima of each length are made
    from those of half of it, and used before the next ones replace them.
    """
    out = np.empty(first.size, np.int64)
    size = last - first + 1
    length, table = 1, values
    while True:
        own = np.flatnonzero((size >= length) & (size < 2 * length))
        out[own] = np.minimum(table[first[own]], table[last[own] - length + 1])
        if own.size == 0 and not bool((size >= 2 * length).any()):
            return out
        if table.size <= length:
            return out
        table = np.minimum(table[:-length], table[length:])
        length *= 2


def within(points: FloatArray, width: float) -> tuple[IntArray, IntArray]:
    """The first and the last of increasing points that lie within `width` of each point."""
    slack = 4 * np.spacing(np.abs(points).max())  # 0.8 - 0.7 is more than 0.1 in floats
    first = np.searchsorted(points, points - width - slack, "left")
    last = np.searchsorted(points, points + width + slack, "right") - 1
    return first.astype(np.int64), last.astype(np.int64)


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
