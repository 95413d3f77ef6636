"""Draws of several quantiles for each of many segments, group after group."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

import numpy as np

from .._intake.record_sources import Counted, runs
from .._numbers.quantile_tree import QuantileTree
from .._numbers.quantiles import QuantilesStatistic
from .._parameters.grid import Grid
from .._typing import IntArray, WordArray
from .segments import Draws, Exact, Given, Segments
from .words import WORDS, More, Words


class QuantilesDraws(Draws):
    """Joint quantiles: m grid indices, and the total where there are m + 1 entries."""

    grid: Grid | None
    shape: tuple[int, ...]

    order = "sorted"

    def __init__(
        self,
        statistic: QuantilesStatistic,
        segments: Segments,
        words: Words,
        size: int,
        entries: int,
    ) -> None:
        super().__init__(segments, words, size)
        self._statistic, self.grid, self.shape = statistic, statistic.grid, (entries,)
        self.words: int = -(-statistic.words // WORDS) * WORDS

    def _exactly_all(self, _: int, points: Any, given: list[Given]) -> IntArray:
        statistic, count, more = self._statistic, self._statistic.words, [more for _, more in given]
        of_group = statistic.chain(Counted(*runs(points), statistic.grid))
        out, tried = np.empty((len(more), len(statistic.q) + 1), np.int64), 0
        waiting, some = np.arange(len(more)), np.array([words[:count] for words, _ in given])
        while waiting.size:
            left = [more[d] for d in waiting.tolist()]
            out[waiting], refused = of_group.attempt(some, left.__getitem__)
            waiting, tried = waiting[refused], tried + 1
            of_group = statistic.after(of_group, tried) if waiting.size else of_group
            some = np.array([[more[d]() for _ in range(count)] for d in waiting], np.uint64)
        return out[:, : self.shape[0]]


class TreeDraws(Draws):
    """Quantiles by recursion: m grid indices."""

    grid: Grid | None
    shape: tuple[int, ...]

    order = "sorted"

    def __init__(self, tree: QuantileTree, segments: Segments, words: Words, size: int) -> None:
        super().__init__(segments, words, size)
        self._tree, self.grid, self.shape = tree, tree.grid, (tree.m,)

    def _exactly(self, _: int, points: Any) -> Exact:
        def draw(words: WordArray, more: More) -> IntArray:
            stream = chain(words.tolist(), iter(more, None))
            return self._tree.draw(
                points, lambda count: np.array([*islice(stream, count)], np.uint64)
            )

        return draw
