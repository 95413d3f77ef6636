"""Draws of the most common candidate for each of many segments."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

import numpy as np

from .._numbers.weights import table
from .._selection.joint_top_k import Slices
from .._selection.weighting import Weighting
from .._typing import AnyArray, IntArray, WordArray
from ..kernels.groups import segment_counts
from ..kernels.groups.segment_draws import OPEN, WORDS
from ..reference.exact_groups import coin_bits, flip_draw, flip_words, group_draw
from .segments import Draws, Segments, sort_all
from .words import More, Words


class CountDraws(Draws):
    """Draws from segments of candidates' numbers: no records are anything else."""

    segments: Segments

    def __init__(self, k: int, rate: Fraction, segments: Segments, words: Words, size: int) -> None:
        self.segments, self._k, self._rate = segments, k, rate
        self._words, self._size = words, size
        self._table = table(rate, int(np.diff(segments.offsets).max(initial=0)))

    def chunk(self, first: int, last: int) -> IntArray:
        """Count and draw; the few that are open once more, exactly."""
        part, fours = self.segments.some(first, last), self.words // WORDS
        labels = np.ascontiguousarray(part.values)
        if self._words.keyed:
            labels = labels.copy()
            sort_all(labels, part.offsets)
        drawn = self._words.round(first, last, fours * self._size, labels, part.offsets)
        out = np.empty((last - first) * self._size, np.int64)
        self._by_kernel(labels, part.offsets, drawn.first, out)
        for i in np.flatnonzero(out == OPEN):
            g, j = divmod(int(i), self._size)
            counts = np.bincount(part.some(g, g + 1).values, minlength=self._k)
            first_words = drawn.first[self.words * i : self.words * (i + 1)].tolist()
            more = drawn.more(g, fours * j)
            out[i] = self._exactly((counts.max() - counts).tolist(), first_words, more)
        return out

    @abstractmethod
    def _by_kernel(
        self, labels: AnyArray, offsets: IntArray, words: WordArray, out: IntArray
    ) -> None:
        """out = draws of these segments, some of them OPEN."""

    @abstractmethod
    def _exactly(self, distances: list[int], words: list[int], more: More) -> int:
        """A draw that the kernel left open, from the same words."""


class ExponentialCountDraws(CountDraws):
    """Draws by the exponential mechanism."""

    def _by_kernel(
        self, labels: AnyArray, offsets: IntArray, words: WordArray, out: IntArray
    ) -> None:
        work = np.empty(5 * self._k, np.int64)
        segment_counts.counts_draw(labels, offsets, self._k, self._table, words, out, work)

    def _exactly(self, distances: list[int], words: list[int], more: More) -> int:
        cells = [(c, 1, distance, False) for c, distance in enumerate(distances)]
        return group_draw(cells, self._rate, words, more, distances.__getitem__)


class FlipCountDraws(CountDraws):
    """Draws by permute-and-flip."""

    def __init__(self, k: int, rate: Fraction, segments: Segments, words: Words, size: int) -> None:
        super().__init__(k, rate, segments, words, size)
        self.words = flip_words(k)

    def _by_kernel(
        self, labels: AnyArray, offsets: IntArray, words: WordArray, out: IntArray
    ) -> None:
        work, bits = np.empty(2 * self._k, np.int64), coin_bits(self._k)
        segment_counts.counts_flip(labels, offsets, self._k, self._table, bits, words, out, work)

    def _exactly(self, distances: list[int], words: list[int], more: More) -> int:
        return flip_draw(distances, self._rate, words, more)


class JointCountDraws(Draws):
    """Ordered selections of several candidates: a segment's counts are read once for all draws."""

    segments: Segments

    def __init__(
        self, k: int, places: int, rate: Fraction, segments: Segments, words: Words, size: int
    ) -> None:
        self.segments, self.shape, self._words = segments, (places,), words
        self._k, self._places, self._size = k, places, size
        self._weighting = Weighting(rate, None)
        self.words = WORDS * (places // WORDS + 1)  # one for the slice, one a place

    def chunk(self, first: int, last: int) -> IntArray:
        """Count and draw, by the segment's words and then by more of them."""
        part, each = self.segments.some(first, last), self.words * self._size
        labels = part.values.copy()
        if self._words.keyed:
            sort_all(labels, part.offsets)
        drawn = self._words.round(first, last, each // WORDS, labels, part.offsets)
        out = np.empty((last - first, self._size, *self.shape), np.int64)
        for g in range(last - first):
            counts = np.bincount(part.group(g), minlength=self._k)
            slices = Slices(counts, self._places, self._weighting)
            for j in range(self._size):
                start = each * g + self.words * j
                early = drawn.first[start : start + self.words].copy()
                more = drawn.more(g, self.words // WORDS * j)
                out[g, j] = slices.draw(early, more)
        return out
