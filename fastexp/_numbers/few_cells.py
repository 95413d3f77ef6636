"""Draws of modes, and of ranks with a width, from sorted grid indices of many segments at once.

Few records of one data set, or of each row, are such segments too. A draw that the bounds leave
open is made again exactly, from the statistic's cells and the same words.
"""

from __future__ import annotations

import numpy as np

from .._intake.record_sources import Counted, runs
from .._typing import AnyArray, IntArray, WordArray
from ..kernels.groups.segment_cells import cells_draw, work_size
from ..kernels.groups.segment_draws import OPEN
from ..kernels.groups.segment_ranks import ALL, FIRST, LAST, LENGTH, PART, START
from ..reference.exact import NextWord
from ..reference.exact_groups import group_draw
from .distance_statistic import NONE, DistanceStatistic
from .few_records import Few
from .weights import table


class SegmentCells:
    """Draws from segments of the given lengths: the forms of these lengths, and the weights."""

    def __init__(
        self, statistic: DistanceStatistic, lengths: list[int], weights: WordArray | None = None
    ) -> None:
        headers = [statistic.header(n) for n in lengths]
        ranks = [(header[LAST] - header[FIRST] + 1).item() for header in headers if header.size]
        self.forms = np.concatenate([NONE, *headers])
        self._statistic, self._ranks = statistic, max(ranks if ranks else lengths, default=0)
        self._near = NONE if statistic.near is None else np.concatenate(statistic.near)
        if weights is None:
            most = max((statistic.farthest(n) for n in lengths), default=0)
            weights = table(statistic.weighting.rate, most)
        self._table = weights

    def fill(self, points: IntArray, parts: IntArray, words: WordArray, out: IntArray) -> None:
        """Write draws of each segment, or OPEN, to `out`; the kernels describe `parts`."""
        size, width = self._statistic.grid.size, self._statistic.width
        work = np.empty(work_size(self._ranks, self._near.size // 2), np.int64)
        cells_draw(
            points, parts.reshape(-1), self.forms, size, self._ranks, width, self._near,
            self._table, words, out, work,
        )  # fmt: skip

    def exactly(self, points: IntArray, words: WordArray, next_word: NextWord) -> int:
        """Return the exact draw from all sorted grid indices of a segment, by the same words."""
        shape = self._statistic.shape(Counted(*runs(points), self._statistic.grid))
        start, count, bits, _, loose = shape.cells
        marks = np.zeros(start.size, np.bool_) if loose is None else loose
        columns = start, count, -bits.view(np.int64), marks
        cells = list(zip(*(column.tolist() for column in columns), strict=True))
        rate = self._statistic.weighting.rate
        return group_draw(cells, rate, words.tolist(), next_word, shape.distance)


class FewCells(Few):
    """Draws of one statistic from data sets of few records."""

    def __init__(self, statistic: DistanceStatistic, weights: WordArray) -> None:
        self._statistic, self._grid, self._table = statistic, statistic.grid, weights

    def _fill(
        self, values: AnyArray, n: int, indices: bool, words: WordArray, out: IntArray
    ) -> int:
        points = values if indices else self._grid.index(values)
        rows = values.size // n if n else 1
        parts = np.zeros((rows, PART), np.int64)
        parts[:, START], parts[:, LENGTH], parts[:, ALL] = np.arange(rows) * n, n, n
        SegmentCells(self._statistic, [n], self._table).fill(points, parts, words, out)
        return int((out == OPEN).sum())

    def _exactly(
        self, values: AnyArray, indices: bool, words: WordArray, next_word: NextWord
    ) -> int:
        points = values if indices else self._grid.index(values)
        return SegmentCells(self._statistic, [], self._table).exactly(points, words, next_word)
