"""Segments: the records of each group, one group after the other; and draws from them.

Groups are drawn from in chunks whose records fit into the cache, and chunks in threads. No answer
depends on either: each group has its own words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby, pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from .._intake import arrays
from .._parameters.grid import Grid
from .._threads import in_parts
from .._typing import AnyArray, IntArray, WordArray
from ..errors import InvalidRecords
from ..kernels.bits.heights import FLOAT, SIGNED
from ..kernels.groups import segment_sort
from ..kernels.groups.segment_draws import OPEN
from ..kernels.numbers import histogram
from ..reference.exact import NextWord
from .words import WORDS, WordSource

CHUNK_RECORDS = 1 << 16  # records of a chunk: 512 KiB
MIN_THREADED_RECORDS = 1 << 14  # records from which on a second thread pays
MAX_KERNEL_SORT = 1 << 11  # NumPy sorts more records faster
DrawWords: TypeAlias = tuple[WordArray, NextWord]  # a draw's first words, and further ones
Exact: TypeAlias = Callable[[WordArray, NextWord], Any]  # returns a draw by these words


class Forms(NamedTuple):
    """Numbers of each distinct length for draws by ranks, as `segment_ranks.py` takes them."""

    flat: IntArray  # the forms, then keys and weights
    form_index: IntArray  # each segment's form
    ranks: IntArray  # (forms, 2): the first and the last that matter, (0, -1) without records
    most: int  # the largest number of ranks that matter
    weights: WordArray  # the table of weights


class Windows(NamedTuple):
    """Numbers of segments that have only the records around the ranks that matter."""

    under: IntArray  # number of records of each group below those of its segment
    lengths: IntArray  # number of all records of each group
    forms: Forms  # of these lengths
    records: Callable[[int], AnyArray]  # returns all records of a group, which few draws need


class Segments(NamedTuple):
    """Records (float64 or int64; numbers of candidates), and the offsets of the groups."""

    values: AnyArray
    offsets: IntArray
    windows: Windows | None = None  # None: these are all records

    def group(self, g: int) -> AnyArray:
        """Return the records of a group."""
        return self.values[int(self.offsets[g]) : int(self.offsets[g + 1])]

    def chunk(self, first: int, last: int) -> Segments:
        """Return groups first..last - 1."""
        a, b = int(self.offsets[first]), int(self.offsets[last])
        return Segments(self.values[a:b], self.offsets[first : last + 1] - a)


class Draws:
    """Draws of one mechanism from segments: by a kernel, and exactly where it leaves them open."""

    grid: Grid | None = None  # None: records are candidates' numbers, which are their points
    # The order in which a kernel takes each group's points: any, sorted, or sorted around the ranks
    # that matter, which it finds itself. Draws that take them sorted may share them.
    order: Literal["any", "sorted", "narrowed"] = "any"
    words = WORDS  # first words of a draw: a multiple of WORDS
    shape: tuple[int, ...] = ()  # shape of a draw: (entries,) if it is a list
    segments: Segments

    def __init__(self, segments: Segments, words: WordSource, size: int) -> None:
        self.segments, self._words, self._size = segments, words, size

    def chunk(self, first: int, last: int, points: IntArray | None) -> IntArray:
        """Return draws of groups first..last - 1, group after group.

        `points` are the groups' sorted grid indices, if they are known.
        """
        chunk, fours = self.segments.chunk(first, last), self.words // WORDS
        if points is None:
            if self._words.keyed or self.order == "sorted":
                points = sorted_points(self.grid, chunk)
            elif self.order == "any":
                points = placed(self.grid, chunk.values)
        offsets, size = chunk.offsets, self._size
        early, supply = self._words.round(first, last, fours * size, points, offsets)
        out = np.full((size * (last - first), *self.shape), OPEN)
        self._fill(first, chunk, points, early, out.reshape(-1))
        words = early.reshape(-1, self.words)
        left = np.flatnonzero(out.reshape(len(out), -1)[:, 0] == OPEN)
        edges, drawn = offsets.tolist() if left.size else [], list[Any]()
        for g, draws in groupby(left.tolist(), lambda i: i // size):
            of_group = None if points is None else points[edges[g] : edges[g + 1]]
            draw_words = [(words[i], supply(g, fours * (i % size))) for i in draws]
            drawn.extend(self._exactly_all(first + g, of_group, draw_words))
        if drawn:
            out[left] = drawn
        return out

    def _fill(
        self, first: int, chunk: Segments, points: Any, words: WordArray, out: IntArray
    ) -> None:
        """Write draws of groups from `first` on to `out`; without a kernel all are left OPEN."""

    def _exactly_all(self, g: int, points: Any, draw_words: list[DrawWords]) -> Iterable[Any]:
        """Return draws from a group, each by its first words and further ones."""
        draw = self._exactly(g, points)
        return [draw(early, next_word) for early, next_word in draw_words]

    def _exactly(self, g: int, points: Any) -> Exact:
        """Return the function that makes such a draw from a group."""
        raise NotImplementedError  # not needed if all draws of a group are made together


def draw_all(draws: Draws, size: int, threads: int) -> IntArray:
    """Return indices of grid points or candidates, of shape (groups, size), or with entries."""
    return draw_together([draws], size, threads)[0]


def draw_together(several: list[Draws], size: int, threads: int) -> list[IntArray]:
    """Return the same for several draws from the same segments; shared points are sorted once."""
    segments = several[0].segments
    groups = segments.offsets.size - 1
    drawn = [np.empty((groups, size, *draws.shape), np.int64) for draws in several]
    if groups == 0 or size == 0:
        return drawn
    edges = chunks(segments.offsets, max(draws.words for draws in several) * size)
    grids = Counter(draws.grid for draws in several if draws.order != "any")

    def part(begin: int, end: int) -> int:
        for first, last in pairwise(edges[begin : end + 1]):
            chunk = segments.chunk(first, last)
            points = {grid: sorted_points(grid, chunk) for grid in grids if grids[grid] > 1}
            for draws, out in zip(several, drawn, strict=True):
                indices = draws.chunk(first, last, points.get(draws.grid))
                out[first:last] = indices.reshape(-1, *out.shape[1:])
        return 0

    in_parts(part, len(edges) - 1, threads if segments.values.size >= MIN_THREADED_RECORDS else 1)
    return drawn


def chunks(offsets: IntArray, words: int) -> list[int]:
    """Return the first group of each chunk, and the number of groups; no chunk is empty.

    A chunk has about CHUNK_RECORDS records and random words, of which each group takes `words`.
    """
    groups = offsets.size - 1
    work = offsets[1:] - offsets[0] + np.arange(1, groups + 1) * words
    return [0, *(np.flatnonzero(np.diff(work // CHUNK_RECORDS)) + 1).tolist(), groups]


def placed(grid: Grid | None, values: AnyArray) -> IntArray:
    """Return the grid index of each record; NaN is refused."""
    if grid is None:
        return values
    if not histogram.is_near(grid):
        if values.dtype.kind == "f" and bool(np.isnan(values).any()):
            raise InvalidRecords(arrays.MISSING)
        return grid.index(values)
    out, work = np.empty(values.size, np.int64), np.empty(histogram.BLOCK, np.int64)
    form = histogram.form_of(grid)
    if segment_sort.place_records(values.view(np.uint64), kind_of(values), form, out, work):
        raise InvalidRecords(arrays.MISSING)
    return out


def kind_of(values: AnyArray) -> int:
    """Return the kernels' number for the type of records."""
    return FLOAT if values.dtype.kind == "f" else SIGNED


def sorted_points(grid: Grid | None, segments: Segments) -> IntArray:
    """Return the grid indices of all records, sorted in each group; NumPy sorts long groups."""
    points, offsets = placed(grid, segments.values), segments.offsets
    points = points.copy() if grid is None else points
    lengths = np.diff(offsets)
    longest = int(lengths.max(initial=0))
    work = np.empty(max(min(longest, MAX_KERNEL_SORT), segment_sort.SCRATCH_WORDS), np.int64)
    segment_sort.sort_segments(offsets, MAX_KERNEL_SORT, points, work)
    for s in np.flatnonzero(lengths > MAX_KERNEL_SORT):
        points[offsets[s] : offsets[s + 1]].sort()
    return points
