"""A draw or a few from few records by rank distance: all in one kernel call, also of many rows.

What a statistic needs for it is public and made once: the weight of each distance as a whole
number, and its form for any number of records. Which way a draw goes depends on the statistic and
on the numbers of records and draws alone. What bounds leave open is drawn again exactly, from the
same words (`reference/exact_groups.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from .._intake.record_sources import SMALL, Sorted, Source, cut, runs
from .._parameters.grid import Grid
from .._randomness.streams import HEADER, Spare, os_word, os_words
from .._selection.weighting import Weighting
from .._typing import AnyArray, FloatArray, IntArray, WordArray
from ..kernels.groups.group_words import group_words
from ..kernels.groups.rank_draws import draw_rows, work_size
from ..kernels.groups.segment_draws import OPEN, WORDS
from ..kernels.numbers.grid_points import new_scale, new_unit
from ..reference.exact_groups import group_draw
from .distance import Forms, RanksThatMatter, distance, farthest
from .distance_statistic import cells_of
from .weights import size_of, table

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


class FewRecords:
    """Draws of a statistic from data sets of at most SMALL records."""

    __slots__ = ("_line", "_statistic", "_table")

    def __init__(self, statistic: Ranks) -> None:
        self._statistic = statistic
        form = statistic.form
        self._line = np.concatenate([2 * form(1) - form(2), form(2) - form(1)])
        self._table = table(statistic.weighting.rate, most_distance(form))

    @classmethod
    def of(cls, statistic: Ranks) -> FewRecords | None:
        """The same, unless the table would be too large."""
        rate, most = statistic.weighting.rate, most_distance(statistic.form)
        return cls(statistic) if size_of(rate, most) <= MOST_WEIGHTS else None

    def release(self, source: Source) -> int:
        """One grid index from the operating system's randomness."""
        words, out = os_words(WORDS), np.empty(1, np.int64)
        values, indices = self._row(source)
        self._fill(values, values.size, indices, words, out)
        index: int = out.item()
        return index if index != OPEN else self._exactly(values, indices, words, os_word)

    def simulate(self, source: Source, seeds: WordArray, size: int) -> IntArray:
        """`size` grid indices from the stream that `seeds` name."""
        values, indices = self._row(source)
        return self._drawn(values, values.size, indices, seeds, size)

    def simulate_rows(self, rows: AnyArray, seeds: WordArray, size: int) -> IntArray:
        """`size` grid indices of each sorted row, row after row, from the rows' streams."""
        indices = self._statistic.grid.for_kernels is None
        values = self._statistic.grid.index(rows) if indices else rows
        return self._drawn(values.reshape(-1), rows.shape[1], indices, seeds, size)

    def _row(self, source: Source) -> tuple[AnyArray, bool]:
        """Sorted records, or their grid indices; which of the two."""
        grid = self._statistic.grid
        if type(source) is Sorted:
            by_kernel = grid.for_kernels is not None
            return (source.values, False) if by_kernel else (grid.index(source.values), True)
        points, records = source.counts(grid)
        return np.repeat(points, records), True

    def _drawn(
        self, values: AnyArray, n: int, indices: bool, seeds: WordArray, size: int
    ) -> IntArray:
        rows = seeds.size - HEADER
        words, streams = np.empty(WORDS * size * rows, np.uint64), np.empty(2 * rows, np.uint64)
        group_words(seeds[:2], np.full(rows, seeds[2]), seeds[HEADER:], size, words, streams)
        out = np.empty(size * rows, np.int64)
        self._fill(values, n, indices, words, out)
        for i in np.flatnonzero(out == OPEN).tolist():
            r, j = divmod(i, size)
            some = values[r * n : (r + 1) * n]
            more = Spare(streams[2 * r : 2 * r + 2], j + 1, 0)
            out[i] = self._exactly(some, indices, words[WORDS * i : WORDS * (i + 1)], more)
        return out

    def _fill(
        self, values: AnyArray, n: int, indices: bool, words: WordArray, out: IntArray
    ) -> None:
        """out = draws of each row of n sorted records or grid indices, or OPEN."""
        statistic = self._statistic
        grid = statistic.grid
        form = None if indices else grid.for_kernels
        floats, integers, scale = form or identity(grid.size)
        unit = floats if values.dtype.kind == "f" else integers
        draw_rows(
            values.view(np.int64), n, self._line_of(n), statistic.reach, grid.size, unit, scale,
            self._table, words, out, np.empty(work_size(n), np.int64),
        )  # fmt: skip

    def _line_of(self, n: int) -> IntArray:
        """A form without records, and what each of n records adds to it."""
        form = self._statistic.form
        if not form.linear:
            return public_line(form, n)
        return self._line if n > 0 else constant(form(n))

    def _exactly(self, values: AnyArray, indices: bool, words: WordArray, more: More) -> int:
        statistic = self._statistic
        points = values if indices else statistic.grid.index(values)
        ranks = statistic.ranks_that_matter(values.size)
        return exact_draw(points, ranks, statistic.grid.size, statistic.weighting.rate, words, more)


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
    start, count, key = cells_of(cut(*runs(points), n, low, high), form, size, 0)
    cells = [
        (first, number, twice >> 1, bool(twice & 1))
        for first, number, twice in zip(start.tolist(), count.tolist(), key.tolist(), strict=True)
    ]

    def true(point: int) -> int:
        below, above = np.searchsorted(points, [point, point + 1]).tolist()
        return int(distance(form, below, above - below, n - above))

    return group_draw(cells, rate, words.tolist(), more, true)


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
def identity(size: int) -> tuple[IntArray, IntArray, FloatArray]:
    """A grid for kernels on which each grid index lies on itself."""
    unit = new_unit(0, 1, size - 1, floats=False, odd=0, below=False)
    return unit, unit, new_scale(1.0, 0.0, float(size - 1), 1.0, 2.0)
