"""Draws of the most common candidate, or of several in order, for each of many segments."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .._numbers.weights import table
from .._selection.joint_top_k import Slices
from .._selection.weighting import Weighting
from .._typing import IntArray, WordArray
from ..kernels.groups import segment_counts
from ..reference.exact_groups import coin_bits, flip_draw, flip_words, group_draw
from .segments import Draws, Exact, Segments
from .words import WORDS, WordSource


class ExponentialCountDraws(Draws):
    """Draws by the exponential mechanism; all records are numbers of candidates."""

    def __init__(
        self, k: int, rate: Fraction, segments: Segments, words: WordSource, size: int
    ) -> None:
        super().__init__(segments, words, size)
        self._k, self._rate = k, rate
        self._table = table(rate, int(np.diff(segments.offsets).max(initial=0)))

    def _fill(self, _: int, chunk: Segments, points: Any, words: WordArray, out: IntArray) -> None:
        work = np.empty(5 * self._k, np.int64)
        segment_counts.counts_draw(points, chunk.offsets, self._k, self._table, words, out, work)

    def _exactly(self, _: int, points: Any) -> Exact:
        distances = self._distances(points)
        cells = [(c, 1, distance, False) for c, distance in enumerate(distances)]
        return lambda words, next_word: group_draw(
            cells, self._rate, words.tolist(), next_word, distances.__getitem__
        )

    def _distances(self, points: IntArray) -> list[int]:
        """Return by how many records each candidate is behind the first."""
        counts = np.bincount(points, minlength=self._k)
        distances: list[int] = (counts.max() - counts).tolist()
        return distances


class FlipCountDraws(ExponentialCountDraws):
    """Draws by permute-and-flip."""

    def __init__(
        self, k: int, rate: Fraction, segments: Segments, words: WordSource, size: int
    ) -> None:
        super().__init__(k, rate, segments, words, size)
        self.words: int = flip_words(k)

    def _fill(self, _: int, chunk: Segments, points: Any, words: WordArray, out: IntArray) -> None:
        work, bits = np.empty(2 * self._k, np.int64), coin_bits(self._k)
        segment_counts.counts_flip(
            points, chunk.offsets, self._k, self._table, bits, words, out, work
        )

    def _exactly(self, _: int, points: Any) -> Exact:
        distances = self._distances(points)
        return lambda words, next_word: flip_draw(distances, self._rate, words.tolist(), next_word)


class JointCountDraws(Draws):
    """Ordered selections of several candidates: a segment's counts are read once for all draws."""

    def __init__(
        self, k: int, places: int, rate: Fraction, segments: Segments, words: WordSource, size: int
    ) -> None:
        super().__init__(segments, words, size)
        self._k, self._places, self._weighting = k, places, Weighting(rate, None)
        self.shape: tuple[int, ...] = (places,)
        self.words: int = WORDS * (places // WORDS + 1)  # one for the slice, one for each place

    def _exactly(self, _: int, points: Any) -> Exact:
        slices = Slices(np.bincount(points, minlength=self._k), self._places, self._weighting)
        return lambda words, next_word: slices.draw(words.copy(), next_word)
