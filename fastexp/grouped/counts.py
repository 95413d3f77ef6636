"""Draws of the most common candidate for each of many segments."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .._typing import IntArray
from ..kernels import segment_counts
from ..kernels.segment_draws import OPEN, WORDS
from ..reference_groups import group_draw
from .segments import Draws, Segments, sort_all
from .weights import table
from .words import Round, Words


class CountDraws(Draws):
    """Of segments of candidates' numbers: no records are anything else."""

    def __init__(self, k: int, rate: Fraction, segments: Segments, words: Words, size: int) -> None:
        self.segments, self._k, self._rate = segments, k, rate
        self._words, self._size = words, size
        self._table = table(rate, int(np.diff(segments.offsets).max(initial=0)))

    def chunk(self, first: int, last: int) -> IntArray:
        """Count and draw; the few that are open once more, exactly."""
        part = self.segments.some(first, last)
        labels = np.ascontiguousarray(part.values)
        if self._words.keyed:
            labels = labels.copy()
            sort_all(labels, part.offsets)
        drawn = self._words.round(first, last, self._size, labels, part.offsets)
        out, work = np.empty((last - first) * self._size, np.int64), np.empty(5 * self._k, np.int64)
        args = labels, part.offsets, self._k, self._table, drawn.first
        segment_counts.counts_draw(*args, out, work)
        for i in np.flatnonzero(out == OPEN):
            g = int(i) // self._size
            counts = np.bincount(part.some(g, g + 1).values, minlength=self._k)
            out[i] = self._exactly(counts, drawn, int(i))
        return out

    def _exactly(self, counts: IntArray, drawn: Round, i: int) -> int:
        """Draw i of a chunk, which the kernel left open, from the same words."""
        bounds = (counts.max() - counts).tolist()
        cells = [(c, 1, bound, False) for c, bound in enumerate(bounds)]
        words = drawn.first[WORDS * i : WORDS * (i + 1)].tolist()
        more = drawn.more(*divmod(i, self._size))
        return group_draw(cells, self._rate, words, more, bounds.__getitem__)
