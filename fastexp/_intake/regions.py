"""Pieces of a grid from which windows of several ranges of ranks are put together.

Around each range, between pivots of a sample, records are gathered, in one pass for all ranges;
points that hold much of the sample are only counted, and so is what lies between. How pieces were
chosen changes nothing: a range that they do not hold whole has no window here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._parameters.grid import INT64, Grid
from .._typing import AnyArray, IntArray
from .pivots import Tally, edges_at, pivots, points_of
from .record_sources import Source, Window, runs

HEAVY = 32  # a point that holds this share of the sample is counted

Ranges = list[tuple[int, int]]


class Pieces(NamedTuple):
    """The whole grid in pieces, in order.

    Attributes
    ----------
    last : ndarray of int64
        The last point of each.
    cuts : ndarray of float64 or int64
        The greatest record on it.
    keep : ndarray of int64
        1 where records are gathered, 0 where they are counted.
    share : float
        How much of the sample is in those.
    """

    last: IntArray
    cuts: AnyArray
    keep: IntArray
    share: float


def pieces_of(grid: Grid, sample: AnyArray, total: int, ranges: Ranges) -> Pieces:
    """Pieces that most likely hold all the ranges."""
    points, floats = grid.index(sample), sample.dtype.kind == "f"
    distinct, records = runs(points)
    heavy = distinct[HEAVY * records >= points.size].tolist()
    places = (pivots(sample.size, total, low, high) for low, high in ranges)
    ends: list[tuple[int, bool]] = []  # last points, and whether to gather
    for first, last in sorted(points_of(grid, sample, *pair) for pair in places):
        ends.append((first - 1, False))
        for point in heavy:
            if first <= point <= last:
                ends += [(point - 1, True), (point, False)]
        ends.append((last, True))
    pieces: list[tuple[int, int | float, bool]] = []
    at = -1
    for last, gather in [*ends, (grid.size - 1, False)]:
        if last > at:  # ranges may overlap
            cut = edges_at(grid, floats, 0, last).high
            if floats or cut >= INT64[0]:  # else no integer lies there
                pieces.append((last, cut, gather))
            at = last
    last_points, cuts, gathers = zip(*pieces, strict=True)
    inside = np.diff(np.searchsorted(points, last_points, "right"), prepend=0)
    keep = np.array(gathers, np.int64)
    share = float((inside * keep).sum()) / points.size
    return Pieces(np.array(last_points), np.array(cuts, sample.dtype), keep, share)


def windows_from(
    pieces: Pieces, tally: Tally, inner: Source, grid: Grid, ranges: Ranges
) -> list[Window | None]:
    """The window of each range, where pieces hold it whole; `inner` are the gathered records."""
    ends = np.cumsum(tally.inside)
    begins, total = ends - tally.inside, int(ends[-1])
    ahead = (begins - np.cumsum(tally.inside * pieces.keep) + tally.inside * pieces.keep).tolist()
    width = np.diff(pieces.last, prepend=-1)
    known = (pieces.keep == 1) | (width == 1)
    parts: list[IntArray] = []  # pieces of each range
    for low, high in ranges:
        some = np.flatnonzero((begins <= high) & (ends > low) & (tally.inside > 0))
        parts.append(some if known[some].all() else some[:0])
    wanted = [
        (max(low, int(begins[k])) - ahead[k], min(high, int(ends[k]) - 1) - ahead[k])
        for (low, high), some in zip(ranges, parts, strict=True)
        for k in some[pieces.keep[some] == 1].tolist()
    ]
    gathered = iter(inner.windows(grid, wanted) if wanted else ())

    def part(k: int) -> Window:
        if pieces.keep[k]:
            window = next(gathered)
            return window._replace(below=window.below + ahead[k])
        return Window(pieces.last[k : k + 1], tally.inside[k : k + 1], int(begins[k]), total)

    windows = [[part(k) for k in some.tolist()] for some in parts]
    return [_joined(some, total) if some else None for some in windows]


def _joined(windows: list[Window], total: int) -> Window:
    """Windows that follow each other, as one."""
    points = np.concatenate([window.points for window in windows])
    records = np.concatenate([window.records for window in windows])
    return Window(points, records, windows[0].below, total)
