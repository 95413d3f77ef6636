"""Draws by distance (medians, quantiles, modes, ...) for each of many segments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .._intake import arrays
from .._numbers.distance import HIGH, LOW
from .._numbers.distance_statistic import DistanceStatistic
from .._numbers.few_cells import SegmentCells
from .._numbers.few_records import exact_draw
from .._numbers.rank import RankStatistic
from .._numbers.weights import MAX_TABLE as MAX_WEIGHTS
from .._numbers.weights import size_of, table
from .._parameters.grid import Grid
from .._typing import IntArray, WordArray
from ..errors import InvalidRecords
from ..kernels.groups import segment_ranks as kernel
from ..kernels.groups import segment_sort, segment_window
from ..kernels.numbers import histogram
from .segments import Draws, Exact, Forms, Segments, Windows, kind_of, placed
from .words import WordSource

# Keys are listed for up to this many records: a few KiB for each number of records.
MAX_LISTED_RECORDS = 1 << 9
# Weights that each record may add to a table, whatever their total.
WEIGHTS_PER_RECORD = 1 << 4
NO_LINE = np.empty(0)


class PartDraws(Draws):
    """Draws of segments as parts (`segment_ranks.py`): a few kernel calls for each chunk."""

    grid: Grid

    def __init__(
        self,
        statistic: DistanceStatistic,
        segments: Segments,
        words: WordSource,
        size: int,
        forms: IntArray,
        columns: Sequence[IntArray],
    ) -> None:
        """`columns` are UNDER, ALL and FORM of each segment."""
        super().__init__(segments, words, size)
        self.grid, self._forms, self._columns = statistic.grid, forms, columns
        self.order = "narrowed" if forms.size else "sorted"
        self._line = histogram.form_of(self.grid) if histogram.is_near(self.grid) else NO_LINE

    def _narrowed(
        self, first: int, chunk: Segments, points: IntArray | None
    ) -> tuple[IntArray, IntArray]:
        """Return grid indices, sorted where draws need it, and the numbers of the parts."""
        start, length = chunk.offsets[:-1], np.diff(chunk.offsets)
        columns = (column[first : first + start.size] for column in self._columns)
        parts = np.array([start, length, *columns]).T.reshape(-1)
        if points is not None:
            return points, parts
        values, kind = chunk.values, kind_of(chunk.values)
        longest = max(int(length.max()), segment_sort.SCRATCH_WORDS)
        other = np.empty(longest, int)
        if longest < segment_window.LONG or not self._line.size:  # a call for each takes longer
            points, kind = placed(self.grid, values), segment_window.INDICES
            values = points
        else:
            points = np.empty(values.size, int)
        if longest <= segment_window.ENOUGH:
            segment_sort.sort_segments(chunk.offsets, longest, points, other)
        elif segment_window.narrow_segments(
            self._forms, parts, values.view(np.uint64), kind, self._line, points, other,
            np.empty(segment_window.SCRATCH, int),
        ):  # fmt: skip
            raise InvalidRecords(arrays.MISSING)
        return points, parts


class RankDraws(PartDraws):
    """Draws of a rank statistic without `widen`."""

    def __init__(
        self, statistic: RankStatistic, segments: Segments, words: WordSource, size: int
    ) -> None:
        windows = segments.windows
        if windows is None:
            lengths = np.diff(segments.offsets)
            forms = forms_of(statistic, lengths)
            windows = Windows(np.zeros_like(lengths), lengths, forms, segments.group)
        self._statistic, self._windows, forms = statistic, windows, windows.forms
        columns = windows.under, windows.lengths, forms.form_index
        super().__init__(statistic, segments, words, size, forms.flat, columns)

    def _fill(
        self, first: int, chunk: Segments, points: Any, words: WordArray, out: IntArray
    ) -> None:
        forms, (points, parts) = self._windows.forms, self._narrowed(first, chunk, points)
        most, work = forms.most, np.empty(8 * forms.most + 8, int)
        kernel.ranks_draw(
            points, parts, forms.flat, self.grid.size, most, forms.weights, words, out, work
        )

    def _exactly(self, g: int, _: Any) -> Exact:
        statistic, points = self._statistic, np.sort(placed(self.grid, self._windows.records(g)))
        ranks = statistic.ranks_that_matter(points.size)
        return partial(exact_draw, points, ranks, self.grid.size, statistic.weighting.rate)


class DistanceDraws(PartDraws):
    """Draws of modes, and of ranks with a width."""

    def __init__(
        self, statistic: DistanceStatistic, segments: Segments, words: WordSource, size: int
    ) -> None:
        lengths = np.diff(segments.offsets)
        distinct, form_index = distinct_lengths(lengths)
        self._cells = SegmentCells(statistic, distinct.tolist())
        columns = np.zeros_like(lengths), lengths, form_index
        super().__init__(statistic, segments, words, size, self._cells.forms, columns)

    def _fill(
        self, first: int, chunk: Segments, points: Any, words: WordArray, out: IntArray
    ) -> None:
        points, parts = self._narrowed(first, chunk, points)
        self._cells.fill(points, parts, words, out)

    def _exactly(self, g: int, _: Any) -> Exact:
        return partial(self._cells.exactly, np.sort(placed(self.grid, self.segments.group(g))))


def forms_of(statistic: RankStatistic, lengths: IntArray) -> Forms:
    """Return the forms of segments of these lengths."""
    distinct, form_index = distinct_lengths(lengths)
    distances = distances_of(statistic, distinct)
    ranks = ranks_of(distances, distinct, statistic.reach)
    longest = int(distinct.max(initial=1))
    most = max(map(statistic.farthest, {0, 1, longest - 1, longest}))  # it grows with the length
    weights = table(statistic.weighting.rate, most)
    headers = np.full((distinct.size, kernel.FORM_SIZE), -1, np.int64)
    headers[:, : kernel.KEYS], headers[:, kernel.NUMBERS :] = ranks, distances
    keys, at = [], headers.size
    matter = ranks[:, 1] - ranks[:, 0] + 1
    for i in np.flatnonzero((distinct <= MAX_LISTED_RECORDS) & (matter == distinct)):
        row, n = headers[i], int(distinct[i])
        cells, below = np.empty(4 * n + 2, np.int64), np.empty(n + 1, np.int64)
        nearest = kernel.keys_fill(row[kernel.NUMBERS :], weights, below, cells)
        if nearest >= 0:
            row[kernel.KEYS], row[kernel.NEAREST] = at, nearest
            keys.append(cells)
            at += cells.size
    flat = np.concatenate([headers.reshape(-1), *keys])
    return Forms(flat, form_index, ranks, int(matter.max(initial=1)), weights)


def distances_of(statistic: RankStatistic, lengths: IntArray) -> IntArray:
    """Return the form, 16 numbers, of each of these numbers of records."""
    statistic.form_of(int(lengths.max(initial=0)))  # refuses too many
    if not statistic.form.linear:
        distinct, index = distinct_lengths(lengths)
        return np.array([statistic.form(n) for n in distinct.tolist()])[index]
    one, two = statistic.form(1), statistic.form(2)
    forms: IntArray = one + (lengths[:, None] - 1) * (two - one)
    forms[lengths == 0] = statistic.form(0)
    return forms


def ranks_of(forms: IntArray, lengths: IntArray, reach: int) -> IntArray:
    """Return `RankStatistic.ranks_that_matter` for each of these numbers of records."""
    (s, gate), (t, other) = forms[:, LOW][:, :2].T, forms[:, HIGH][:, :2].T
    left = np.clip(lengths + -other // t, 0, lengths)
    right = np.clip(-(-gate // s), 0, lengths)
    low = np.minimum(np.maximum(np.minimum(left, right - 1) - reach, 0), lengths - 1)
    high = np.maximum(np.minimum(np.maximum(left + 1, right) + reach, lengths) - 1, low)
    low[lengths == 0], high[lengths == 0] = 0, -1
    return np.stack([low, high], axis=1)


def has_table(statistic: DistanceStatistic) -> bool:
    """Whether a table has all weights, or few for each record, as few digits give; public."""
    rate = statistic.weighting.rate
    of_one = max(size_of(rate, statistic.farthest(n)) for n in range(2))
    return size_of(rate, MAX_WEIGHTS) <= MAX_WEIGHTS or of_one <= WEIGHTS_PER_RECORD


def distinct_lengths(lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct lengths in order, and the index of each length among them."""
    longest = int(lengths.max(initial=0))
    if longest > 4 * lengths.size + 1_000:  # counting would take more memory than sorting
        return np.unique(lengths, return_inverse=True)
    distinct = np.flatnonzero(np.bincount(lengths, minlength=1))
    place = np.zeros(longest + 1, np.int64)
    place[distinct] = np.arange(distinct.size)
    return distinct, place[lengths]
