"""The line of joint quantiles: sites, which are runs of grid points and points with records.

The slots of a site are its ranks. With ties "left" all sites are runs, which end at their records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray
from ..kernels.bits.logexp import exp_fill, log_fill


class Line(NamedTuple):
    """Sites of a grid and their slots; private data."""

    start: IntArray  # of each site
    points: IntArray
    below: IntArray
    records: IntArray
    first: IntArray  # first slot of each site, then the number of slots
    rank: IntArray  # of each slot
    left: bool

    def log_factor(self, k: int) -> FloatArray:
        """Return ln of the factor of the k-th answer in a site, for each slot."""
        points = self.points.astype(np.float64)
        if self.left:
            factors = _log((points + (k - 1)) / k)
        else:
            factors = np.where(
                self.records > 0, -_log(self.records.astype(np.float64) + k), _log(points / k)
            )
        return np.repeat(factors, np.diff(self.first))

    def cut(self, places: IntArray, size: int) -> Line:
        """Return the line with runs that also start at `places`, on a grid of `size` points."""
        start = np.union1d(self.start, places[(places > 0) & (places < size)])
        site = np.searchsorted(self.start, start, "right") - 1
        points, records = np.diff(np.append(start, size)), self.records[site]
        first = np.concatenate([[0], np.cumsum(records + 1)])
        rank = np.arange(first[-1]) + np.repeat(self.below[site] - first[:-1], records + 1)
        return Line(start, points, self.below[site], records, first, rank, self.left)

    def mirrored(self, n: int) -> Line:
        """Return the line from right to left, with ranks counted from the right."""
        first = self.first[-1] - self.first[::-1]
        below = n - self.below - self.records
        start, points, below, records = (
            x[::-1].copy() for x in (self.start, self.points, below, self.records)
        )
        return Line(start, points, below, records, first, n - self.rank[::-1], self.left)


def line_of(points: IntArray, records: IntArray, size: int, left: bool) -> Line:
    """Return all sites of a grid, given its points that hold records."""
    ends = np.concatenate([[0], np.cumsum(records)])
    starts, stops = np.append(0, points + 1), np.append(points, size)
    if left:  # a run ends with the point whose records bound it
        stops = np.append(points + 1, size)
        start, gap, below, number = starts, stops - starts, ends, np.zeros_like(ends)
    else:
        start, gap = np.empty(2 * points.size + 1, np.int64), np.ones(2 * points.size + 1, np.int64)
        below, number = np.empty_like(gap), np.zeros_like(gap)
        start[::2], start[1::2], gap[::2] = starts, points, stops - starts
        below[::2], below[1::2], number[1::2] = ends, ends[:-1], records
    filled = gap > 0
    start, gap, below, number = start[filled], gap[filled], below[filled], number[filled]
    first = np.concatenate([[0], np.cumsum(number + 1)])
    rank = np.arange(first[-1]) + np.repeat(below - first[:-1], number + 1)
    return Line(start, gap, below, number, first, rank, left)


def log_sum(logs: FloatArray) -> FloatArray:
    """Return ln of the sums of exp(logs) over the first axis."""
    top: FloatArray = logs.max(axis=0)
    if len(logs) == 1:
        return top
    raised = np.where(top > -np.inf, top, 0.0)
    return np.asarray(raised + _log(_exp(logs - raised).sum(axis=0)))


def _exp(x: FloatArray) -> FloatArray:
    out = np.empty(x.size)
    exp_fill(x.reshape(-1), out)
    return out.reshape(x.shape)


def _log(x: FloatArray) -> FloatArray:
    out = np.empty(x.size)
    log_fill(x.reshape(-1), out)
    return out.reshape(x.shape)
