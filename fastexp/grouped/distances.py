"""Draws of modes, and of ranks with a width, for each of many segments."""

from __future__ import annotations

import numpy as np

from .._numbers.distance_statistic import DistanceStatistic
from .._numbers.few_cells import SegmentCells
from .._parameters.grid import Grid
from .._typing import IntArray
from ..kernels.groups.segment_draws import OPEN, WORDS
from ..kernels.groups.segment_ranks import ALL, FORM, LENGTH, PART, START
from .forms import distinct_lengths
from .ranks import narrowed
from .segments import Draws, Segments, placed, sorted_points
from .words import Words


class DistanceDraws(Draws):
    """A statistic of distances: cells and draws of a chunk in a few kernel calls."""

    grid: Grid
    segments: Segments

    def __init__(
        self, statistic: DistanceStatistic, segments: Segments, words: Words, size: int
    ) -> None:
        self.segments, self._words, self._size = segments, words, size
        self.grid = statistic.grid
        lengths = np.diff(segments.offsets)
        distinct, which = distinct_lengths(lengths)
        self._parts = np.zeros((lengths.size, PART), np.int64)
        self._parts[:, LENGTH], self._parts[:, ALL], self._parts[:, FORM] = lengths, lengths, which
        self._cells = SegmentCells(statistic, distinct.tolist())

    def chunk(self, first: int, last: int) -> IntArray:
        """Map, sort what matters, draw; the few that are open once more, exactly."""
        part = self.segments.some(first, last)
        if self._words.keyed or not self._cells.forms.size:
            return self.sorted_chunk(first, last, sorted_points(self.grid, part))
        parts = self._parts_of(first, last, part)
        points = narrowed(self.grid, self._cells.forms, parts, part.values)
        return self._drawn(first, last, part, parts, points)

    def sorted_chunk(self, first: int, last: int, points: IntArray) -> IntArray:
        """Draw; the few that are open once more, exactly."""
        part = self.segments.some(first, last)
        return self._drawn(first, last, part, self._parts_of(first, last, part), points)

    def _parts_of(self, first: int, last: int, part: Segments) -> IntArray:
        parts: IntArray = self._parts[first:last].copy()
        parts[:, START] = part.offsets[:-1]
        return parts

    def _drawn(
        self, first: int, last: int, part: Segments, parts: IntArray, points: IntArray
    ) -> IntArray:
        size = self._size
        drawn = self._words.round(first, last, size, points, part.offsets)
        out = np.empty((last - first) * size, np.int64)
        self._cells.fill(points, parts, drawn.first, out)
        for i in np.flatnonzero(out == OPEN).tolist():
            g, j = divmod(i, size)
            every = np.sort(placed(self.grid, part.some(g, g + 1).values))
            words = drawn.first[WORDS * i : WORDS * (i + 1)]
            out[i] = self._cells.exactly(every, words, drawn.more(g, j))
        return out
