"""Draws of rank statistics (medians, quantiles, ...) for each of many segments."""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache

import numpy as np

from .._intake import arrays
from .._numbers.few_records import exact_draw
from .._numbers.rank import RankStatistic
from .._parameters.grid import Grid
from .._typing import AnyArray, FloatArray, IntArray
from ..errors import InvalidRecords
from ..kernels.bits.heights import FLOAT, SIGNED
from ..kernels.groups import segment_ranks as kernel
from ..kernels.groups import segment_sort, segment_window
from ..kernels.groups.segment_draws import OPEN, WORDS
from ..kernels.numbers import histogram
from .forms import forms_of
from .segments import Draws, Segments, Windows, placed, sorted_points
from .words import Round, Words

NO_LINE = np.empty(0)


class PartDraws(Draws):
    """Draws of segments as parts (`segment_ranks.py`): of a chunk in a few kernel calls."""

    segments: Segments
    grid: Grid

    def __init__(
        self, grid: Grid, segments: Segments, words: Words, size: int, forms: IntArray
    ) -> None:
        self.segments, self.grid, self._words, self._size = segments, grid, words, size
        self._flat = forms
        self._parts = np.zeros((segments.offsets.size - 1, kernel.PART), np.int64)
        self._parts[:, kernel.LENGTH] = np.diff(segments.offsets)

    def chunk(self, first: int, last: int) -> IntArray:
        """Map, sort what matters, draw; the few that are open once more, exactly."""
        part = self.segments.some(first, last)
        if self._words.keyed or not self._flat.size:
            return self.sorted_chunk(first, last, sorted_points(self.grid, part))
        parts = self._parts_of(first, last, part)
        points = narrowed(self.grid, self._flat, parts, part.values)
        return self._drawn(first, part, parts, points)

    def sorted_chunk(self, first: int, last: int, points: IntArray) -> IntArray:
        """Draw; the few that are open once more, exactly."""
        part = self.segments.some(first, last)
        return self._drawn(first, part, self._parts_of(first, last, part), points)

    def _parts_of(self, first: int, last: int, part: Segments) -> IntArray:
        parts: IntArray = self._parts[first:last].copy()
        parts[:, kernel.START] = part.offsets[:-1]
        return parts

    @abstractmethod
    def _drawn(self, first: int, part: Segments, parts: IntArray, points: IntArray) -> IntArray:
        """Draws of these segments, the first of which has this number."""


class RankDraws(PartDraws):
    """A statistic without `widen`."""

    def __init__(
        self, statistic: RankStatistic, segments: Segments, words: Words, size: int
    ) -> None:
        windows = segments.windows
        if windows is None:
            taken = np.diff(segments.offsets)
            windows = Windows(0, taken, forms_of(statistic, taken), segments.group)
        super().__init__(statistic.grid, segments, words, size, windows.forms.flat)
        self._statistic, self._windows, self._forms = statistic, windows, windows.forms
        self._parts[:, kernel.UNDER], self._parts[:, kernel.ALL] = windows.under, windows.lengths
        self._parts[:, kernel.FORM] = windows.forms.which

    def _drawn(self, first: int, part: Segments, parts: IntArray, points: IntArray) -> IntArray:
        flat, forms, size, groups = parts.reshape(-1), self._forms, self._size, len(parts)
        drawn = self._words.round(first, first + groups, size, points, part.offsets)
        out, work = np.empty(groups * size, np.int64), np.empty(8 * forms.most + 8, int)
        kernel.ranks_draw(
            points, flat, forms.flat, self._statistic.grid.size, forms.most, forms.weights,
            drawn.first, out, work,
        )  # fmt: skip
        for i in np.flatnonzero(out == OPEN):
            out[i] = self._exactly(first, drawn, int(i))
        return out

    def _exactly(self, first: int, drawn: Round, i: int) -> int:
        """Draw i of a chunk, which the kernel left open, from the same cells and words."""
        g, j = divmod(i, self._size)
        statistic = self._statistic
        mapped = np.sort(placed(statistic.grid, self._windows.records(first + g)))
        ranks, words = statistic.ranks_that_matter(mapped.size), drawn.first[WORDS * i :][:WORDS]
        return exact_draw(
            mapped, ranks, statistic.grid.size, statistic.weighting.rate, words, drawn.more(g, j)
        )


def narrowed(grid: Grid, forms: IntArray, parts: IntArray, values: AnyArray) -> IntArray:
    """Grid indices, sorted where they matter of long parts; `parts` says what is left of them."""
    line, kind = line_of(grid), FLOAT if values.dtype.kind == "f" else SIGNED
    if line is None:
        kind, values = segment_window.INDICES, placed(grid, values)
    longest = int(parts[:, kernel.LENGTH].max(initial=0))
    points, scratch = np.empty(values.size, np.int64), np.empty(segment_window.SCRATCH, np.int64)
    other = np.empty(max(longest, segment_sort.ROOM), np.int64)
    if segment_window.narrow_segments(
        forms, parts.reshape(-1), values.view(np.uint64), kind, NO_LINE if line is None else line,
        points, other, scratch,
    ):  # fmt: skip
        raise InvalidRecords(arrays.MISSING)
    return points


@lru_cache(maxsize=64)
def line_of(grid: Grid) -> FloatArray | None:
    """How kernels find the points of records; None: they do not."""
    return histogram.form_of(grid) if histogram.is_near(grid) else None
