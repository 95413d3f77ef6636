"""A draw or a few from few records by rank distance: all in one kernel call, also of many rows.

What a statistic needs for it is public and made once: the weight of each distance as a whole
number, and its form for any number of records. Which way a draw goes depends on the statistic and
on the numbers of records and draws alone. What bounds leave open is drawn again exactly, from the
same words (`reference/exact_groups.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from .._intake.record_sources import SMALL, Sorted, Source, Window, cut, runs
from .._parameters.grid import Grid
from .._randomness.streams import HEADER, Spare, os_word, os_words
from .._selection.weighting import Weighting
from .._typing import AnyArray, FloatArray, IntArray, WordArray
from ..kernels.groups.group_words import group_words
from ..kernels.groups.rank_draws import draw_rows, work_size
from ..kernels.groups.segment_draws import OPEN, WORDS
from ..kernels.numbers.grid_points import new_scale, new_unit
from ..reference.exact_groups import Cell, group_draw
from .distance import Forms, RanksThatMatter, distance, farthest
from .distance_statistic import cells_of
from .weights import size_of, table

INT64, UINT64 = np.dtype(np.int64), np.dtype(np.uint64)
MOST_WEIGHTS = 1 << 14  # in a table: 128 KiB, made in some 15 ms
More = Callable[[], int]


class Ranks(Protocol):
    """A statistic by rank distance: `rank.RankStatistic`."""

    form: Forms
    grid: Grid
    reach: int
    weighting: Weighting

    def ranks_that_matter(self, n: int) -> RanksThatMatter:
        """The ranks that matter among n records."""
        ...


class Few(ABC):
    """Draws of a statistic from data sets of at most SMALL records; subclasses know its cells."""

    __slots__ = ("_grid",)
    _grid: Grid

    def release(self, source: Source) -> int:
        """One grid index from the operating system's randomness."""
        words, out = os_words(WORDS), np.empty(1, INT64)
        values, indices = self._row(source)
        if self._fill(values, values.size, indices, words, out):
            return self._exactly(values, indices, words, os_word)
        index: int = out.item()
        return index

    def simulate(self, source: Source, seeds: WordArray, size: int) -> IntArray:
        """`size` grid indices from the stream that `seeds` name."""
        values, indices = self._row(source)
        return self._drawn(values, values.size, indices, seeds, size)

    def simulate_rows(self, rows: AnyArray, seeds: WordArray, size: int) -> IntArray:
        """`size` grid indices of each sorted row, row after row, from the rows' streams."""
        indices = self._grid.for_kernels is None
        values = self._grid.index(rows) if indices else rows
        return self._drawn(values.reshape(-1), rows.shape[1], indices, seeds, size)

    def _row(self, source: Source) -> tuple[AnyArray, bool]:
        """Sorted records, or their grid indices; which of the two."""
        if type(source) is not Sorted:
            return np.repeat(*source.counts(self._grid)), True
        if self._grid.for_kernels is None:
            return self._grid.index(source.values), True
        return source.values, False

    def _drawn(
        self, values: AnyArray, n: int, indices: bool, seeds: WordArray, size: int
    ) -> IntArray:
        rows = seeds.size - HEADER
        words, streams = np.empty(WORDS * size * rows, UINT64), np.empty(2 * rows, UINT64)
        tags = seeds[2:HEADER] if rows == 1 else np.full(rows, seeds[2])
        group_words(seeds, tags, seeds[HEADER:], size, words, streams)
        out = np.empty(size * rows, INT64)
        unsettled = self._fill(values, n, indices, words, out)
        for i in np.flatnonzero(out == OPEN).tolist() if unsettled else ():
            r, j = divmod(i, size)
            some = values[r * n : (r + 1) * n]
            more = Spare(streams[2 * r : 2 * r + 2], j + 1, 0)
            out[i] = self._exactly(some, indices, words[WORDS * i : WORDS * (i + 1)], more)
        return out

    @abstractmethod
    def _fill(
        self, values: AnyArray, n: int, indices: bool, words: WordArray, out: IntArray
    ) -> int:
        """out = draws of each row of n sorted records or grid indices, or OPEN; how many are."""

    @abstractmethod
    def _exactly(self, values: AnyArray, indices: bool, words: WordArray, more: More) -> int:
        """A draw that is OPEN, from the same words and further ones."""


class FewRecords(Few):
    """Draws of a rank statistic without a width."""

    __slots__ = ("_floats", "_integers", "_line", "_scale", "_statistic", "_table")

    def __init__(self, statistic: Ranks) -> None:
        self._statistic, self._grid = statistic, statistic.grid
        one, two = statistic.form(1), statistic.form(2)
        self._line = np.concatenate([2 * one - two, two - one])
        self._table = table(statistic.weighting.rate, most_distance(statistic.form))
        self._floats, self._integers, self._scale = self._grid.for_kernels or identity(self._grid)

    @classmethod
    def of(cls, statistic: Ranks) -> FewRecords | None:
        """The same, unless the table would be too large."""
        rate, most = statistic.weighting.rate, most_distance(statistic.form)
        return cls(statistic) if size_of(rate, most) <= MOST_WEIGHTS else None

    def _fill(
        self, values: AnyArray, n: int, indices: bool, words: WordArray, out: IntArray
    ) -> int:
        """out = draws of each row of n sorted records or grid indices, or OPEN; how many are."""
        unit, scale = self._floats if values.dtype.kind == "f" else self._integers, self._scale
        if indices:
            unit, _, scale = identity(self._grid)
        unsettled: int = draw_rows(
            values.view(INT64), n, self._line_of(n), self._statistic.reach, self._grid.size, unit,
            scale, self._table, words, out, np.empty(work_size(n), INT64),
        )  # fmt: skip
        return unsettled

    def _line_of(self, n: int) -> IntArray:
        """A form without records, and what each of n records adds to it."""
        form = self._statistic.form
        if not form.linear:
            return public_line(form, n)
        return self._line if n > 0 else constant(form(n))

    def _exactly(self, values: AnyArray, indices: bool, words: WordArray, more: More) -> int:
        points = values if indices else self._grid.index(values)
        ranks, rate = self._statistic.ranks_that_matter(values.size), self._statistic.weighting.rate
        return exact_draw(points, ranks, self._grid.size, rate, words, more)


def exact_draw(
    points: IntArray,
    ranks: RanksThatMatter,
    size: int,
    rate: Fraction,
    words: WordArray,
    more: More,
) -> int:
    """The exact draw from sorted grid indices, of a grid of `size` points, by the same words."""
    form, low, high = ranks
    n = points.size

    def true(point: int) -> int:
        below, above = np.searchsorted(points, [point, point + 1]).tolist()
        return int(distance(form, below, above - below, n - above))

    cells = listed_cells(cut(*runs(points), n, low, high), form, size)
    return group_draw(cells, rate, words.tolist(), more, true)


def listed_cells(window: Window, form: IntArray, size: int) -> list[Cell]:
    """Cells as the exact draw takes them."""
    start, count, key = cells_of(window, form, size, 0)
    return [
        (first, number, twice >> 1, bool(twice & 1))
        for first, number, twice in zip(start.tolist(), count.tolist(), key.tolist(), strict=True)
    ]


def most_distance(form: Forms) -> int:
    """The greatest distance among at most SMALL records: it grows with their number."""
    return max(farthest(form(n), n) for n in (0, 1, SMALL - 1, SMALL))


def constant(form: IntArray) -> IntArray:
    """A form that is the same whatever one more record would add."""
    return np.concatenate([form, np.zeros_like(form)])


@lru_cache(maxsize=64)
def public_line(form: Forms, n: int) -> IntArray:
    """The same for n records, where their number is public."""
    return constant(form(n))


@lru_cache(maxsize=64)
def identity(grid: Grid) -> tuple[IntArray, IntArray, FloatArray]:
    """A grid for kernels on which each grid index lies on itself."""
    unit = new_unit(0, 1, grid.size - 1, floats=False, odd=0, below=False)
    return unit, unit, new_scale(1.0, 0.0, float(grid.size - 1), 1.0, 2.0)
