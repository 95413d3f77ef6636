"""Segments: the records of each group, one after the other; and how they are gone through.

Groups go in chunks whose records fit into the cache, chunks in threads. Nothing of an answer
depends on either: a group's words are its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._intake import arrays
from .._parameters.grid import Grid
from .._threads import in_parts
from .._typing import AnyArray, IntArray
from ..errors import InvalidRecords
from ..kernels.bits.heights import FLOAT, SIGNED
from ..kernels.groups import segment_sort
from ..kernels.groups.segment_draws import WORDS
from ..kernels.numbers import histogram

if TYPE_CHECKING:
    from .forms import Forms

CHUNK = 1 << 16  # records that go together: 512 KiB
FEWEST = 1 << 14  # records for which a second thread pays


class Windows(NamedTuple):
    """What is known of segments that have the records around the ranks that matter alone."""

    under: IntArray | int  # how many records lie below those of each segment
    lengths: IntArray  # how many there are in all
    forms: Forms  # of these lengths
    records: Callable[[int], AnyArray]  # all of a segment, for the few draws that need them


class Segments(NamedTuple):
    """Records (float64 or int64; candidates' numbers), and where each group's begin and end."""

    values: AnyArray
    offsets: IntArray
    windows: Windows | None = None  # None: these are all records

    def group(self, g: int) -> AnyArray:
        """The records of a group."""
        return self.values[int(self.offsets[g]) : int(self.offsets[g + 1])]

    def some(self, first: int, last: int) -> Segments:
        """Groups first..last - 1."""
        a, b = int(self.offsets[first]), int(self.offsets[last])
        return Segments(self.values[a:b], self.offsets[first : last + 1] - a)


class Draws(ABC):
    """Draws of one mechanism from segments, whatever goes on between chunks."""

    segments: Segments
    words: int = WORDS  # of a draw at first: a multiple of WORDS
    grid: Grid | None = None  # of the points that `sorted_chunk` takes; None: it takes none
    shape: tuple[int, ...] = ()  # of a draw: (entries,) where it is a list

    @abstractmethod
    def chunk(self, first: int, last: int) -> IntArray:
        """Draws of groups first..last - 1, group after group."""

    def sorted_chunk(self, first: int, last: int, points: IntArray) -> IntArray:
        """The same, where the grid indices of their records are known, sorted in each group."""
        raise NotImplementedError  # of draws without a grid nobody asks it


def draw_all(draws: Draws, size: int, threads: int) -> IntArray:
    """Numbers of grid points or of candidates, of shape (groups, size), or with entries."""
    return draw_together([draws], size, threads)[0]


def draw_together(several: list[Draws], size: int, threads: int) -> list[IntArray]:
    """The same of several draws from the same segments: points that they share are sorted once."""
    segments = several[0].segments
    groups = segments.offsets.size - 1
    drawn = [np.empty((groups, size, *draws.shape), np.int64) for draws in several]
    if groups == 0 or size == 0:
        return drawn
    edges = chunks(segments.offsets, max(draws.words for draws in several) * size)
    grids = [draws.grid for draws in several]
    shared = {grid for grid in grids if grid is not None and grids.count(grid) > 1}

    def part(begin: int, end: int) -> int:
        for first, last in zip(edges[begin:end], edges[begin + 1 : end + 1], strict=True):
            some = segments.some(int(first), int(last))
            points = {grid: sorted_points(grid, some) for grid in shared}
            for draws, out in zip(several, drawn, strict=True):
                sorted_once = None if draws.grid is None else points.get(draws.grid)
                if sorted_once is None:
                    indices = draws.chunk(int(first), int(last))
                else:
                    indices = draws.sorted_chunk(int(first), int(last), sorted_once)
                out[first:last] = indices.reshape(-1, size, *draws.shape)
        return 0

    in_parts(part, edges.size - 1, threads if segments.values.size >= FEWEST else 1)
    return drawn


def sorted_points(grid: Grid, segments: Segments) -> IntArray:
    """The grid indices of all records, sorted in each group."""
    points = placed(grid, segments.values)
    sort_all(points, segments.offsets)
    return points


def chunks(offsets: IntArray, words: int) -> IntArray:
    """The first group of each chunk, and the number of groups: at least one group each.

    A chunk has some CHUNK records and random words, of which each group takes `words`.
    """
    groups = offsets.size - 1
    work = offsets[1:] - offsets[0] + np.arange(1, groups + 1) * words
    marks = np.arange(0, int(work[-1]) if groups else 0, CHUNK)
    starts = np.searchsorted(work, marks, "right")
    return np.unique(np.concatenate([starts, [0, groups]])).astype(np.int64)


def placed(grid: Grid, values: AnyArray) -> IntArray:
    """The grid index of each record; NaN is refused."""
    if not histogram.is_near(grid):
        if values.dtype.kind == "f" and bool(np.isnan(values).any()):
            raise InvalidRecords(arrays.MISSING)
        return grid.index(values)
    out, work = np.empty(values.size, np.int64), np.empty(histogram.BLOCK, np.int64)
    kind = FLOAT if values.dtype.kind == "f" else SIGNED
    form = histogram.form_of(grid)
    if segment_sort.place_records(values.view(np.uint64), kind, form, out, work):
        raise InvalidRecords(arrays.MISSING)
    return out


def sort_all(mapped: IntArray, offsets: IntArray) -> None:
    """Sort each segment in place: NumPy the long ones, a kernel all others."""
    lengths = np.diff(offsets)
    longest = int(lengths.max(initial=0))
    work = np.empty(max(min(longest, LONG), segment_sort.ROOM), np.int64)
    segment_sort.sort_segments(offsets, LONG, mapped, work)
    for s in np.flatnonzero(lengths > LONG):
        mapped[offsets[s] : offsets[s + 1]].sort()


LONG = 1 << 11  # records; from here on NumPy's sort is the faster one
