"""Segments: the records of each group, one after the other; and how they are gone through.

Groups go in chunks whose records fit into the cache, chunks in threads. Nothing of an answer
depends on either: a group's words are its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from .. import _intake
from .._grid import Grid
from .._scan import in_parts
from .._typing import AnyArray, IntArray
from ..errors import InvalidRecords
from ..kernels import histogram, segment_sort
from ..kernels.heights import FLOAT, SIGNED
from ..kernels.segment_draws import WORDS

CHUNK = 1 << 16  # records that go together: 512 KiB
FEWEST = 1 << 14  # records for which a second thread pays


class Segments(NamedTuple):
    """Records (float64 or int64; candidates' numbers), and where each group's begin and end."""

    values: AnyArray
    offsets: IntArray

    def some(self, first: int, last: int) -> Segments:
        """Groups first..last - 1."""
        a, b = int(self.offsets[first]), int(self.offsets[last])
        return Segments(self.values[a:b], self.offsets[first : last + 1] - a)


class Draws(ABC):
    """Draws of one mechanism from segments, whatever goes on between chunks."""

    segments: Segments
    words: int = WORDS  # of a draw at first: a multiple of WORDS

    @abstractmethod
    def chunk(self, first: int, last: int) -> IntArray:
        """Draws of groups first..last - 1, group after group."""


def draw_all(draws: Draws, size: int, threads: int) -> IntArray:
    """Numbers of grid points or of candidates, of shape (groups, size)."""
    values, offsets = draws.segments
    out = np.empty((offsets.size - 1, size), np.int64)
    if out.size == 0:
        return out
    edges = chunks(offsets, draws.words * size)

    def part(begin: int, end: int) -> int:
        for first, last in zip(edges[begin:end], edges[begin + 1 : end + 1], strict=True):
            out[first:last] = draws.chunk(int(first), int(last)).reshape(-1, size)
        return 0

    in_parts(part, edges.size - 1, threads if values.size >= FEWEST else 1)
    return out


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
            raise InvalidRecords(_intake.MISSING)
        return grid.index(values)
    out, work = np.empty(values.size, np.int64), np.empty(histogram.BLOCK, np.int64)
    kind = FLOAT if values.dtype.kind == "f" else SIGNED
    form = histogram.form_of(grid)
    if segment_sort.place_records(values.view(np.uint64), kind, form, out, work):
        raise InvalidRecords(_intake.MISSING)
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
