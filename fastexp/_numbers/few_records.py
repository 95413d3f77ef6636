"""A few draws from few records by rank distance: all in one kernel call, also for many rows.

What a statistic needs for this is public and made once: the integer weight of each distance, and
its form for any number of records. The method of a draw depends only on the statistic and on the
numbers of records and draws. A draw that the bounds leave open is made again exactly, from the
same words (`reference/exact_groups.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np

from .._intake.record_sources import RecordSource, Sorted, Window, cut, runs
from .._parameters.grid import Grid
from .._randomness.streams import HEADER, Spare, os_word, os_words
from .._typing import AnyArray, IntArray, WordArray
from ..kernels.groups.group_words import group_words
from ..kernels.groups.segment_draws import OPEN, WORDS
from ..reference.exact import NextWord
from ..reference.exact_groups import Cell, group_draw
from .distance import RanksThatMatter, distance
from .rank_cells import cells_of

INT64, UINT64 = np.dtype(np.int64), np.dtype(np.uint64)
MAX_WEIGHTS = 1 << 14  # weights in a table: 128 KiB, made in about 15 ms


class Few(ABC):
    """Draws of a statistic from at most MAX_SORTED_RECORDS records; subclasses know its cells."""

    _grid: Grid

    def release(self, source: RecordSource) -> int:
        words, out = os_words(WORDS), np.empty(1, INT64)
        values, indices = self._row(source)
        if self._fill(values, values.size, indices, words, out):
            return self._exactly(values, indices, words, os_word)
        return int(out.item())

    def simulate(self, source: RecordSource, seeds: WordArray, size: int) -> IntArray:
        """Return `size` grid indices from the stream that `seeds` name."""
        values, indices = self._row(source)
        return self._drawn(values, values.size, indices, seeds, size)

    def simulate_rows(self, rows: AnyArray, seeds: WordArray, size: int) -> IntArray:
        """Return `size` grid indices of each sorted row, row after row, from the rows' streams."""
        indices = self._grid.for_kernels is None
        values = self._grid.index(rows) if indices else rows
        return self._drawn(values.reshape(-1), rows.shape[1], indices, seeds, size)

    def _row(self, source: RecordSource) -> tuple[AnyArray, bool]:
        """Return sorted records or their grid indices, and whether they are indices."""
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
            row = values[r * n : (r + 1) * n]
            next_word = Spare(streams[2 * r : 2 * r + 2], j + 1, 0)
            out[i] = self._exactly(row, indices, words[WORDS * i : WORDS * (i + 1)], next_word)
        return out

    @abstractmethod
    def _fill(
        self, values: AnyArray, n: int, indices: bool, words: WordArray, out: IntArray
    ) -> int:
        """Write draws of each row of n sorted records or grid indices to `out`; count the OPEN."""

    @abstractmethod
    def _exactly(
        self, values: AnyArray, indices: bool, words: WordArray, next_word: NextWord
    ) -> int:
        """Return the exact value of an OPEN draw, from the same words and further ones."""


def exact_draw(
    points: IntArray,
    ranks: RanksThatMatter,
    size: int,
    rate: Fraction,
    words: WordArray,
    next_word: NextWord,
) -> int:
    """Return the exact draw from sorted grid indices on a grid of `size` points, by `words`."""
    form, low, high = ranks
    n = points.size

    def true_distance(point: int) -> int:
        below, above = np.searchsorted(points, [point, point + 1]).tolist()
        return int(distance(form, below, above - below, n - above))

    cells = listed_cells(cut(*runs(points), n, low, high), form, size)
    return group_draw(cells, rate, words.tolist(), next_word, true_distance)


def listed_cells(window: Window, form: IntArray, size: int) -> list[Cell]:
    start, count, key = cells_of(window, form, size, 0)
    return [
        (first, number, twice >> 1, bool(twice & 1))
        for first, number, twice in zip(start.tolist(), count.tolist(), key.tolist(), strict=True)
    ]
