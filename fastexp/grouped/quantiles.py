"""Draws of several quantiles for each of many segments, group after group."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

import numpy as np

from .._intake.record_sources import Counted, runs
from .._numbers import quantile_few
from .._numbers.quantile_tree import QuantileTree
from .._numbers.quantiles import QuantilesStatistic
from .._parameters.grid import Grid
from .._typing import IntArray, WordArray
from ..kernels.groups import few_quantiles as kernel
from ..reference.exact import NextWord
from .segments import Draws, DrawWords, Exact, Segments
from .words import WORDS, WordSource

ATTEMPTS = 2  # attempts of a draw whose words are taken together


class QuantilesDraws(Draws):
    """Joint quantiles: m grid indices, and the total where there are m + 1 entries."""

    grid: Grid | None
    shape: tuple[int, ...]

    order = "sorted"

    def __init__(
        self,
        statistic: QuantilesStatistic,
        segments: Segments,
        words: WordSource,
        size: int,
        entries: int,
    ) -> None:
        super().__init__(segments, words, size)
        self._statistic, self.grid, self.shape = statistic, statistic.grid, (entries,)
        self.words: int = -(-ATTEMPTS * statistic.words // WORDS) * WORDS
        lengths, fewest = np.diff(segments.offsets), quantile_few.fewest(len(statistic.q))
        few = lengths[(lengths >= fewest) & (lengths <= quantile_few.MAX_RECORDS)]
        self._tables = statistic.tables(int(few.max())) if few.size else None

    def _fill(
        self,
        first: int,  # noqa: ARG002  # all that draws need of a group is in its records
        chunk: Segments,
        points: Any,
        words: WordArray,
        out: IntArray,
    ) -> None:
        statistic, known = self._statistic, self._tables
        if known is not None:
            kernel.draw_segments(
                points, chunk.offsets, statistic.grid.size, known.line, float(statistic.rate),
                statistic.log_ways, known.weights, known.wholes, statistic.words, words,
                self.shape[0], out, np.empty(known.numbers, np.int64),
                np.empty(known.floats + known.rows),
            )  # fmt: skip

    def _exactly_all(self, _: int, points: Any, draw_words: list[DrawWords]) -> IntArray:
        statistic, count = self._statistic, self._statistic.words
        of_group = statistic.chain(Counted(*runs(points), statistic.grid))
        supplies = [next_word for _, next_word in draw_words]
        streams = [
            chain(early[: ATTEMPTS * count].tolist(), iter(next_word, None))
            for early, next_word in draw_words
        ]
        out, tried = np.empty((len(supplies), len(statistic.q) + 1), np.int64), 0
        waiting = np.arange(len(supplies))
        while waiting.size:
            attempt_words = np.array([[*islice(streams[d], count)] for d in waiting], np.uint64)
            remaining = [supplies[d] for d in waiting.tolist()]
            out[waiting], refused = of_group.attempt(attempt_words, remaining.__getitem__)
            waiting, tried = waiting[refused], tried + 1
            of_group = statistic.after(of_group, tried) if waiting.size else of_group
        return out[:, : self.shape[0]]


class TreeDraws(Draws):
    """Quantiles by recursion: m grid indices."""

    grid: Grid | None
    shape: tuple[int, ...]

    order = "sorted"

    def __init__(
        self, tree: QuantileTree, segments: Segments, words: WordSource, size: int
    ) -> None:
        super().__init__(segments, words, size)
        self._tree, self.grid, self.shape = tree, tree.grid, (tree.m,)

    def _exactly(self, _: int, points: Any) -> Exact:
        def draw(words: WordArray, next_word: NextWord) -> IntArray:
            stream = chain(words.tolist(), iter(next_word, None))
            return self._tree.draw(
                points, lambda count: np.array([*islice(stream, count)], np.uint64)
            )

        return draw
