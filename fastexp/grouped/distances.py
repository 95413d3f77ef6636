"""Draws of modes, and of ranks with a width, for each of many segments."""

from __future__ import annotations

import numpy as np

from .._numbers.distance_statistic import DistanceStatistic
from .._numbers.few_cells import SegmentCells
from .._typing import IntArray
from ..kernels.groups.segment_draws import OPEN, WORDS
from ..kernels.groups.segment_ranks import ALL, FORM
from .forms import distinct_lengths
from .ranks import PartDraws
from .segments import Segments, placed
from .words import Words


class DistanceDraws(PartDraws):
    """A statistic of distances."""

    def __init__(
        self, statistic: DistanceStatistic, segments: Segments, words: Words, size: int
    ) -> None:
        lengths = np.diff(segments.offsets)
        distinct, which = distinct_lengths(lengths)
        self._cells = SegmentCells(statistic, distinct.tolist())
        super().__init__(statistic.grid, segments, words, size, self._cells.forms)
        self._parts[:, ALL], self._parts[:, FORM] = lengths, which

    def _drawn(self, first: int, part: Segments, parts: IntArray, points: IntArray) -> IntArray:
        size, groups = self._size, len(parts)
        drawn = self._words.round(first, first + groups, size, points, part.offsets)
        out = np.empty(groups * size, np.int64)
        self._cells.fill(points, parts, drawn.first, out)
        for i in np.flatnonzero(out == OPEN).tolist():
            g, j = divmod(i, size)
            every = np.sort(placed(self.grid, part.some(g, g + 1).values))
            words = drawn.first[WORDS * i : WORDS * (i + 1)]
            out[i] = self._cells.exactly(every, words, drawn.more(g, j))
        return out
