"""Numbers between which records are gathered, and passes over an array that gather them.

Pivots are places in a sorted sample. They are moved to the edges of grid points, so that
records on one point stay together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from .._parameters.grid import INT64, Grid
from .._threads import in_parts
from .._typing import AnyArray, IntArray
from ..errors import InvalidRecords
from ..kernels.numbers import select_ranges
from ..kernels.numbers.select_ranges import CODES, TABLES
from ..kernels.numbers.select_rank import BLOCK, gather_floats, gather_integers
from . import arrays

SPREAD = 1.4  # pivots lie 2.8 standard deviations of a sample's median away
SPARE = 8  # places that `gather` may leave free


class Middle(NamedTuple):
    """Records from low to high, as far as there was room; how many below, inside.

    On a coarse grid, instead of the records, how many lie on each point.
    """

    values: AnyArray
    below: int
    inside: int


class Edges(NamedTuple):
    """The numbers between which records are gathered, and the grid points of the two ends."""

    low: int | float
    high: int | float
    first: int
    last: int

    @property
    def points(self) -> int:
        """How many grid points there are from end to end."""
        return self.last - self.first + 1


class Tally(NamedTuple):
    """Records of several regions, as far as there was room; how many lie in each region."""

    values: AnyArray
    inside: IntArray


Passed = TypeVar("Passed", Middle, Tally)


def pivots(size: int, total: int, low: int, high: int) -> tuple[int, int]:
    """Places in a sorted sample that most likely lie outside the ranks from low to high."""
    slack = SPREAD * size**0.5 + 2
    left = int(size * (low / total) - slack)
    right = int(size * ((high + 1) / total) + slack) + 1
    return max(left, -1), min(right, size)


def points_of(grid: Grid, sample: AnyArray, left: int, right: int) -> tuple[int, int]:
    """The grid points of two places in the sample; of places before and behind it the ends."""
    ends = sample[[max(left, 0), min(right, sample.size - 1)]]
    first, last = grid.index(ends).tolist()
    return 0 if left < 0 else first, grid.size - 1 if right >= sample.size else last


def edges_of(grid: Grid, sample: AnyArray, left: int, right: int) -> Edges:
    """The records at two places in the sample, moved out to the edges of their grid points."""
    return edges_at(grid, sample.dtype.kind == "f", *points_of(grid, sample, left, right))


def edges_at(grid: Grid, floats: bool, first: int, last: int) -> Edges:
    """The least and the largest record on these grid points."""
    low: int | float = -math.inf if floats else INT64[0]
    high: int | float = math.inf if floats else INT64[-1]
    if first > 0:
        low = max(grid.least(first, floats), low)
    if last + 1 < grid.size:
        above = grid.least(last + 1, floats)
        high = min(math.nextafter(above, -math.inf) if floats else int(above) - 1, high)
    return Edges(low, high, first, last)


def gathered(
    part: AnyArray, low: int | float, high: int | float, room: int, threads: int = 1
) -> Middle:
    """One pass over an array: its records from low to high."""
    if threads > 1:
        one = partial(gathered, low=low, high=high, room=-(-room // threads))
        middles = _by_threads(part, one, threads)
        values = np.concatenate([middle.values for middle in middles])
        return Middle(values, sum(m.below for m in middles), sum(m.inside for m in middles))
    kernel = gather_floats if part.dtype.kind == "f" else gather_integers
    space, tally = np.empty(room + SPARE, part.dtype), np.zeros(3, np.int64)
    count = kernel(part, low, high, np.empty(BLOCK // 8, np.uint64), space, tally)
    below, inside, bad = tally.tolist()
    if bad:
        raise InvalidRecords(arrays.MISSING)
    return Middle(space[:count], below, inside)


def gathered_regions(
    part: AnyArray, cuts: AnyArray, keep: IntArray, room: int, threads: int = 1
) -> Tally:
    """One pass over an array: the records of some regions, in its order, and counts of all.

    A region ends with its cut; the last one's is the greatest number there is.
    """
    if threads > 1:
        one = partial(gathered_regions, cuts=cuts, keep=keep, room=-(-room // threads))
        tallies = _by_threads(part, one, threads)
        values = np.concatenate([tally.values for tally in tallies])
        return Tally(values, np.sum([tally.inside for tally in tallies], axis=0))
    floats = part.dtype.kind == "f"
    kernel = select_ranges.gather_floats if floats else select_ranges.gather_integers
    codes, counts = np.zeros(CODES, np.int64), np.zeros(TABLES, np.int64)
    codes[1 : keep.size + 1] = keep[::-1]
    space, work = np.empty(room + SPARE, part.dtype), np.empty(BLOCK // 8, np.uint64)
    size = kernel(part, cuts, codes, work, space, counts)
    if counts[0]:
        raise InvalidRecords(arrays.MISSING)
    return Tally(space[:size], counts[cuts.size : 0 : -1].copy())


def _by_threads(part: AnyArray, one: Callable[[AnyArray], Passed], threads: int) -> list[Passed]:
    """A pass over each of so many pieces of an array, at the same time."""
    ends, passes = [part.size * i // threads for i in range(threads + 1)], dict[int, Passed]()

    def some(first: int, last: int) -> int:
        for i in range(first, last):
            passes[i] = one(part[ends[i] : ends[i + 1]])
        return 0

    in_parts(some, threads, threads)
    return [passes[i] for i in range(threads)]
