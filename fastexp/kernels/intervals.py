"""Utilities by rank distance: of the intervals between sorted records, and of points."""

from __future__ import annotations

import numpy as np

from .cells import distance
from .jit import kernel, wide_vectors


@kernel("i64(in_f64, f64, f64, in_i64, out_f64, out_i64)")
def fill_intervals(records, low, high, form, edges, utilities):
    """edges = bounds and clamped records, utilities = those between; returns 1 if sorted, else 0.

    NaN is not sorted.
    """
    wide_vectors()
    n, are_sorted = records.size, True
    edges[0], edges[n + 1] = low, high
    for i in range(n):
        x = records[i]
        are_sorted &= records[max(i - 1, 0)] <= x
        edges[i + 1] = min(max(x, low), high)
    for i in range(n + 1):
        utilities[i] = -distance(i, 0, n - i, form)
    return np.int64(are_sorted)


@kernel("none(in_i64, in_i64, i64, in_i64, out_i64)")
def fill_utilities(below, upto, n, form, out):
    """out[i] = the utility of a point with that many records below it, and up to it."""
    for i in range(out.size):
        out[i] = -distance(below[i], upto[i] - below[i], n - upto[i], form)


@kernel("i64(in_i64, i64, in_i64, out_i64, out_i64)")
def fill_runs(points, size, form, start, utilities):
    """Runs of grid points: each record's point and each gap; returns how many there are.

    start, utilities = the first point of a run, the utility of each of its points. points: those of
    the records, sorted.
    """
    n, runs, free, i = points.size, np.int64(0), np.int64(0), np.int64(0)
    while i < n:
        point, stop = points[i], i + 1
        while stop < n and points[stop] == point:
            stop += 1
        if free < point:
            start[runs], utilities[runs] = free, -distance(i, 0, n - i, form)
            runs += 1
        start[runs], utilities[runs] = point, -distance(i, stop - i, n - stop, form)
        runs, free, i = runs + 1, point + 1, stop
    if free < size:
        start[runs], utilities[runs] = free, -distance(n, 0, 0, form)
        runs += 1
    return runs
