"""Draws of rank statistics (medians, quantiles, ...) for each of many segments."""

from __future__ import annotations

import numpy as np

from .._numbers.distance import RanksThatMatter, farthest
from .._numbers.few_records import exact_draw
from .._numbers.rank import RankStatistic
from .._numbers.weights import size_of, table
from .._typing import IntArray, WordArray
from ..kernels.groups import segment_ranks as kernel
from ..kernels.groups import segment_sort, segment_window
from ..kernels.groups.segment_draws import OPEN, WORDS
from .segments import Draws, Segments, placed, sorted_points
from .words import Round, Words

SHORT = 1 << 9  # records up to which keys are listed: a few KiB for each number of records


class RankDraws(Draws):
    """A statistic without `widen`: cells and draws of a chunk in a few kernel calls."""

    segments: Segments

    def __init__(
        self, statistic: RankStatistic, segments: Segments, words: Words, size: int
    ) -> None:
        self.segments, self._statistic, self._words, self._size = segments, statistic, words, size
        self.grid = statistic.grid
        lengths, offsets = np.diff(segments.offsets), segments.offsets
        distinct, which = _distinct(lengths)
        self._parts = np.zeros((lengths.size, kernel.PART), np.int64)
        self._parts[:, kernel.START], self._parts[:, kernel.LENGTH] = offsets[:-1], lengths
        self._parts[:, kernel.ALL], self._parts[:, kernel.FORM] = lengths, which
        self._forms, self._ranks, self._table = forms_of(statistic, distinct.tolist())

    def chunk(self, first: int, last: int) -> IntArray:
        """Map, sort what matters, draw; the few that are open once more, exactly."""
        part = self.segments.some(first, last)
        if self._words.keyed:
            return self.sorted_chunk(first, last, sorted_points(self._statistic.grid, part))
        mapped = placed(self._statistic.grid, part.values)
        parts = self._parts_of(first, last, part)
        longest = int(parts[:, kernel.LENGTH].max(initial=0))
        scratch = np.empty(segment_window.SCRATCH, np.int64)
        other = np.empty(max(longest, segment_sort.ROOM), np.int64)
        segment_window.narrow_segments(self._forms, parts.reshape(-1), mapped, other, scratch)
        return self._drawn(first, last, part, parts, mapped)

    def sorted_chunk(self, first: int, last: int, points: IntArray) -> IntArray:
        """Draw; the few that are open once more, exactly."""
        part = self.segments.some(first, last)
        return self._drawn(first, last, part, self._parts_of(first, last, part), points)

    def _parts_of(self, first: int, last: int, part: Segments) -> IntArray:
        parts: IntArray = self._parts[first:last].copy()
        parts[:, kernel.START] = part.offsets[:-1]
        return parts

    def _drawn(
        self, first: int, last: int, part: Segments, parts: IntArray, mapped: IntArray
    ) -> IntArray:
        flat, forms, size = parts.reshape(-1), self._forms, self._size
        drawn = self._words.round(first, last, size, mapped, part.offsets)
        out, work = np.empty((last - first) * size, np.int64), np.empty(8 * self._ranks + 8, int)
        kernel.ranks_draw(
            mapped, flat, forms, self._statistic.grid.size, self._ranks, self._table, drawn.first,
            out, work,
        )  # fmt: skip
        for i in np.flatnonzero(out == OPEN):
            out[i] = self._exactly(part, drawn, int(parts[i // size, kernel.FORM]), int(i))
        return out

    def _exactly(self, part: Segments, drawn: Round, form: int, i: int) -> int:
        """Draw i of a chunk, which the kernel left open, from the same cells and words."""
        g, j = divmod(i, self._size)
        mapped = np.sort(placed(self._statistic.grid, part.some(g, g + 1).values))
        header = self._forms[kernel.FORM_SIZE * form :][: kernel.FORM_SIZE]
        low, high = int(header[kernel.FIRST]), int(header[kernel.LAST])
        ranks = RanksThatMatter(header[kernel.NUMBERS :], low, high)
        words = drawn.first[WORDS * i : WORDS * (i + 1)]
        statistic = self._statistic
        return exact_draw(
            mapped, ranks, statistic.grid.size, statistic.weighting.rate, words, drawn.more(g, j)
        )


def _distinct(lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Distinct lengths in order, and which of them each one is."""
    longest = int(lengths.max(initial=0))
    if longest > 4 * lengths.size + 1_000:  # counting would take more memory than sorting
        return np.unique(lengths, return_inverse=True)
    distinct = np.flatnonzero(np.bincount(lengths, minlength=1))
    place = np.zeros(longest + 1, np.int64)
    place[distinct] = np.arange(distinct.size)
    return distinct, place[lengths]


def weights_of_one(statistic: RankStatistic) -> int:
    """How many weights a single record has computed, which is public; none has few."""
    return max(
        size_of(statistic.weighting.rate, farthest(statistic.form_of(n), n)) for n in range(2)
    )


def forms_of(statistic: RankStatistic, lengths: list[int]) -> tuple[IntArray, int, WordArray]:
    """Forms of segments of these lengths, with keys behind them; how many ranks matter at most.

    Then the table of weights.
    """
    forms = np.empty((len(lengths), kernel.FORM_SIZE), np.int64)
    ranks, most = 1, 0
    for row, n in zip(forms, lengths, strict=True):
        distances, first, last = statistic.ranks_that_matter(n)
        row[: kernel.NUMBERS], row[kernel.NUMBERS :] = (first, last, -1, -1), distances
        ranks = max(ranks, last - first + 1)
        most = max(most, farthest(distances, n))
    weights, keys, at = table(statistic.weighting.rate, most), [], forms.size
    for row, n in zip(forms, lengths, strict=True):
        if n <= SHORT and row[kernel.LAST] - row[kernel.FIRST] + 1 == n:
            cells, below = np.empty(4 * n + 2, np.int64), np.empty(n + 1, np.int64)
            nearest = kernel.keys_fill(row[kernel.NUMBERS :], weights, below, cells)
            if nearest >= 0:
                row[kernel.KEYS], row[kernel.NEAREST] = at, nearest
                keys.append(cells)
                at += cells.size
    return np.concatenate([forms.reshape(-1), *keys]), ranks, weights
