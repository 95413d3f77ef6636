"""Draws of several quantiles for each of many segments."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from itertools import chain, islice

import numpy as np

from .._intake.record_sources import Counted, runs
from .._numbers.quantile_tree import QuantileTree
from .._numbers.quantiles import QuantilesStatistic
from .._parameters.grid import Grid
from .._typing import IntArray, WordArray
from .segments import Draws, Segments, sorted_points
from .words import WORDS, More, Words


class SeveralDraws(Draws):
    """Group after group; a draw has `words` words at first."""

    segments: Segments
    grid: Grid

    def __init__(
        self, grid: Grid, segments: Segments, words: Words, size: int, first_words: int
    ) -> None:
        self.segments, self.grid, self._words, self._size = segments, grid, words, size
        self.words = -(-first_words // WORDS) * WORDS

    def chunk(self, first: int, last: int) -> IntArray:
        """Map and sort all records, and draw."""
        points = sorted_points(self.grid, self.segments.some(first, last))
        return self.sorted_chunk(first, last, points)

    def sorted_chunk(self, first: int, last: int, points: IntArray) -> IntArray:
        """Draw, of one group at a time."""
        offsets, size = self.segments.some(first, last).offsets, self._size
        fours = self.words // WORDS
        drawn = self._words.round(first, last, fours * size, points, offsets)
        words = drawn.first.reshape(last - first, size, self.words)
        out = np.empty((last - first, size, *self.shape), np.int64)
        for g in range(last - first):
            more = [drawn.more(g, fours * j) for j in range(size)]
            out[g] = self._of_group(points[offsets[g] : offsets[g + 1]], words[g], more)
        return out

    @abstractmethod
    def _of_group(self, points: IntArray, words: WordArray, more: list[More]) -> IntArray:
        """A draw for each row of words, from sorted grid indices; `more` has further words."""


class QuantilesDraws(SeveralDraws):
    """Joint quantiles: m grid indices, and the total where there are m + 1 entries."""

    def __init__(
        self,
        statistic: QuantilesStatistic,
        segments: Segments,
        words: Words,
        size: int,
        entries: int,
    ) -> None:
        super().__init__(statistic.grid, segments, words, size, statistic.words)
        self._statistic, self.shape = statistic, (entries,)

    def _of_group(self, points: IntArray, words: WordArray, more: list[More]) -> IntArray:
        count = self._statistic.words
        of_group = self._statistic.chain(Counted(*runs(points), self.grid))
        out, tried = np.empty((len(more), len(self._statistic.q) + 1), np.int64), 0
        waiting, some = np.arange(len(more)), words[:, :count]
        while waiting.size:
            left = [more[d] for d in waiting.tolist()]
            out[waiting], refused = of_group.attempt(some, left.__getitem__)
            waiting, tried = waiting[refused], tried + 1
            of_group = self._statistic.after(of_group, tried) if waiting.size else of_group
            some = np.array([[more[d]() for _ in range(count)] for d in waiting], np.uint64)
        return out[:, : self.shape[0]]


class TreeDraws(SeveralDraws):
    """Quantiles by recursion: m grid indices."""

    def __init__(self, tree: QuantileTree, segments: Segments, words: Words, size: int) -> None:
        super().__init__(tree.grid, segments, words, size, WORDS)
        self._tree, self.shape = tree, (tree.m,)

    def _of_group(self, points: IntArray, words: WordArray, more: list[More]) -> IntArray:
        rows = (self._tree.draw(points, _fill(*pair)) for pair in zip(words, more, strict=True))
        return np.array([*rows], np.int64).reshape(-1, self._tree.m)


def _fill(first: WordArray, more: More) -> Callable[[int], WordArray]:
    """So many of the first words, then of the others, at each call."""
    all_words = chain(first.tolist(), iter(more, None))
    return lambda count: np.array([*islice(all_words, count)], np.uint64)
