"""Unsorted records: pivots of a sample, one counting pass, and a small sort.

Pivots only locate the ranks that matter; bad ones cost a further pass and change nothing
(after Floyd and Rivest, "Expected time bounds for selection", 1975). They are moved to the
edges of grid points, so that records on one point stay together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from .._parameters.grid import Grid
from .._threads import in_parts
from .._typing import AnyArray
from ..errors import InvalidRecords
from ..kernels.numbers.histogram import is_fast
from ..kernels.numbers.select_ranges import CODES
from . import arrays
from .pivots import Edges, Middle, Tally, edges_of, gathered, gathered_regions, pivots
from .record_sources import NOTHING, SMALL, OnGrid, Sorted, Source, Window, cut
from .regions import Pieces, pieces_of, windows_from

SAMPLE = 1 << 15  # at most; the middle is then some 2 % of the records
ROOM = 24  # a buffer for a share of the records, 4 % of their memory
THREADED = 1 << 20  # records
COARSE = 6  # points that hold the middle: then counting records on each is faster than a sort
PIECE = 1 << 17  # records whose middle is counted at once: 1 MiB
MOST_COUNTED = 1 << 22  # points of a grid: 32 MiB of counts
FEWEST = 3  # windows that one pass pays for
FEW_POINTS = 1 << 17  # of a grid: to count records on each is faster than to select some
SHARE = 0.5  # of the records, that are gathered at once
SORTED = 1 << 20  # records of which so many are rather sorted all
CHANGED = "records: a callable must yield the same records at each call"


class Unsorted(Source):
    """Arrays in any order, from a callable that gives them anew for each pass."""

    def __init__(
        self,
        again: Callable[[], Iterator[AnyArray]],
        threads: int = 1,
        total: int | None = None,
    ) -> None:
        self._again, self._threads, self._total = again, threads, total
        self._sample: AnyArray | None = None
        self._checked = False

    def parts(self) -> Iterator[AnyArray]:
        """The arrays, without NaN."""
        total = 0
        for part in self._again():
            if part.dtype.kind == "f" and not self._checked:
                _refuse_nan(part)
            total += part.size
            yield part
        if self._total not in (None, total):
            raise InvalidRecords(CHANGED)
        self._total, self._checked = total, True

    def raw_parts(self) -> Iterator[AnyArray]:
        """The arrays as they are."""
        return self._again()

    def total(self) -> int:
        """How many records there are; a pass that counts takes the sample of `window` too."""
        if self._total is None:
            self._total, self._sample = self._sampled()
        return self._total

    def held(self, grid: Grid) -> Source:
        """Counts, where the grid has few points for so many records; else a copy."""
        if grid.size <= MOST_COUNTED and self.total() >= grid.size:
            records = self.histogram(grid)
            points = records.nonzero()[0]
            return OnGrid(grid, points, records[points])
        parts = [part.copy() for part in self.parts()]
        values = _joined(parts) if parts else np.zeros(0)
        same = Unsorted(partial(iter, (values,)), 1, values.size)
        same._checked = True
        return same

    def window(self, grid: Grid, low: int, high: int) -> Window:
        middle = self.middle(grid, low, high)
        if isinstance(middle, Window):
            return middle
        return _window(grid, *middle, self.total(), low, high)

    def middle(self, grid: Grid, low: int, high: int) -> Window | tuple[AnyArray, int]:
        """Sorted records that hold these ranks, whole points of them, and how many lie below.

        The array is nobody else's. Of one point that holds all the ranks, its window.
        """
        total, sample = self.total(), self._of_all()
        if total == 0:
            return Window(NOTHING, NOTHING, 0, 0)
        if sample.size == total:
            return sample.copy(), 0
        middle, edges = self._located(grid, total, sample, low, high)
        if edges.points <= COARSE:
            on = np.flatnonzero(middle.values)
            low, high, first = low - middle.below, high - middle.below, on + edges.first
            window = cut(first, middle.values[on], middle.inside, low, high)
            return Window(window.points, window.records, middle.below + window.below, total)
        if middle.values.size < middle.inside:  # more than room: once more, by one thread
            middle = self._gather(edges, middle.inside, total, 1)
        if middle.values.size != middle.inside:  # never seen; a wrong law must not pass
            raise InvalidRecords(CHANGED)
        values, below = _narrowed(grid, middle, low, high)
        return values, below

    def windows(self, grid: Grid, ranges: list[tuple[int, int]]) -> list[Window]:
        """The same of each range of ranks, where it pays by one pass for all of them."""
        total, sample = self.total(), self._of_all()
        if len(ranges) < FEWEST or sample.size == total:
            return super().windows(grid, ranges)
        if grid.size <= min(FEW_POINTS, total) and is_fast(grid):
            return self.held(grid).windows(grid, ranges)
        pieces = pieces_of(grid, sample, total, ranges)
        if pieces.share > SHARE or pieces.cuts.size >= CODES:
            if total <= SORTED:
                return Sorted(np.sort(_joined(list(self.parts())))).windows(grid, ranges)
            half = len(ranges) // 2
            return self.windows(grid, ranges[:half]) + self.windows(grid, ranges[half:])
        tally = self._tallied(pieces)
        wanted = int((tally.inside * pieces.keep).sum())
        if tally.values.size < wanted or 4 * wanted > 3 * total:  # an order that misled the sample
            return super().windows(grid, ranges)
        inner = Unsorted(partial(iter, (tally.values,)), self._threads, tally.values.size)
        windows = windows_from(pieces, tally, inner, grid, ranges)
        pairs = zip(windows, ranges, strict=True)
        return [self.window(grid, *ends) if window is None else window for window, ends in pairs]

    def _tallied(self, pieces: Pieces) -> Tally:
        """One pass that gathers or counts what lies in each of these pieces."""
        total = self.total()
        room, seen = int(1.1 * pieces.share * total) + 4 * SMALL, 0
        threads = self._threads if total >= THREADED else 1
        tallies = list[Tally]()
        for part in self._again():
            seen += part.size
            space = min(room, part.size)
            tally = gathered_regions(part, pieces.cuts, pieces.keep, space, threads)
            room -= tally.values.size
            tallies.append(tally)
        if seen != total:
            raise InvalidRecords(CHANGED)
        values = _joined([tally.values for tally in tallies])
        return Tally(values, np.sum([tally.inside for tally in tallies], axis=0))

    def _of_all(self) -> AnyArray:
        """A sample, sorted; it depends on the order of the records."""
        if self._sample is None:
            total = self.total()
            if self._sample is None:
                counted, self._sample = self._sampled()
                if counted != total:
                    raise InvalidRecords(CHANGED)
        return self._sample

    def _sampled(self) -> tuple[int, AnyArray]:
        """How many records there are, and some of them, sorted: all, if they are few."""
        total, step, size = 0, 1, 0
        parts: list[AnyArray] = []
        if self._total is not None and self._total > SMALL:
            wanted = min(SAMPLE, max(SMALL // 8, int(2 * self._total ** (2 / 3))))
            step = max(self._total // wanted, 1)
        for part in self._again():
            parts.append(part[(-total) % step :: step])
            total, size = total + part.size, size + parts[-1].size
            while self._total is None and size > 2 * SAMPLE:
                parts, step = [np.concatenate(parts)[::2]], 2 * step
                size = parts[0].size
        self._total = total
        sample = np.sort(_joined(parts)) if parts else np.zeros(0)
        if sample.size and sample[-1] != sample[-1]:  # NaN is sorted to the end
            raise InvalidRecords(arrays.MISSING)
        return total, sample

    def _located(
        self, grid: Grid, total: int, sample: AnyArray, low: int, high: int
    ) -> tuple[Middle, Edges]:
        """Records that hold the ranks from low to high, as far as there is room."""
        left, right = pivots(sample.size, total, low, high)
        while True:
            edges = edges_of(grid, sample, left, right)
            if edges.points <= COARSE:
                middle = self._counted(grid, edges, total)
            else:
                share = int(1.1 * total * (right - left) / sample.size)
                middle = self._gather(edges, max(total // ROOM, 4 * SMALL, share), total)
            short = middle.below > low, middle.below + middle.inside <= high
            if not any(short):
                return middle, edges
            if left < 0 and right >= sample.size:
                raise InvalidRecords(CHANGED)
            reach = max(right - left, 16)
            left = max(left - reach, -1) if short[0] else left
            right = min(right + reach, sample.size) if short[1] else right

    def _gather(self, edges: Edges, room: int, total: int, threads: int | None = None) -> Middle:
        threads = threads or (self._threads if total >= THREADED else 1)
        parts, below, inside, seen = [], 0, 0, 0
        for part in self._again():
            seen += part.size
            middle = gathered(part, edges.low, edges.high, min(room, part.size), threads)
            parts.append(middle.values)
            room -= middle.values.size
            below, inside = below + middle.below, inside + middle.inside
        if seen != total:
            raise InvalidRecords(CHANGED)
        return Middle(_joined(parts), below, inside)

    def _counted(self, grid: Grid, edges: Edges, total: int) -> Middle:
        """One pass that counts records on each point: of a coarse grid, a sort takes longer."""
        threads = self._threads if total >= THREADED else 1
        counts, seen, below = np.zeros(edges.points, np.int64), 0, 0
        for part in self._again():
            seen += part.size
            tally = _on_points(part, grid, edges, threads)
            below, counts = below + tally[0], counts + tally[1]
        if seen != total:
            raise InvalidRecords(CHANGED)
        return Middle(counts, below, int(counts.sum()))


def _on_points(part: AnyArray, grid: Grid, edges: Edges, threads: int) -> tuple[int, AnyArray]:
    """How many records lie below the edges, and on each point between them."""
    if threads > 1:
        tallies = dict[int, tuple[int, AnyArray]]()

        def some(first: int, last: int) -> int:
            tallies[first] = _on_points(part[first * PIECE : last * PIECE], grid, edges, 1)
            return 0

        in_parts(some, -(-part.size // PIECE), threads)
        counts = np.sum([tally[1] for tally in tallies.values()], axis=0)
        return sum(tally[0] for tally in tallies.values()), counts
    inner = range(edges.first + 1, edges.last + 1)
    below, room = 0, PIECE if inner else 0  # all that are inside one point lie on it
    ends = np.zeros(len(inner) + 2, np.int64)
    for begin in range(0, part.size, PIECE):
        middle = gathered(part[begin : begin + PIECE], edges.low, edges.high, room)
        below += middle.below
        ends[-1] += middle.inside
        for i, t in enumerate(inner):
            ends[i + 1] += np.count_nonzero(grid.under(t, middle.values))
    return below, np.diff(ends)


def _joined(parts: list[AnyArray]) -> AnyArray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _narrowed(grid: Grid, middle: Middle, low: int, high: int) -> tuple[AnyArray, int]:
    """Sorted records that hold the ranks from low to high, and how many lie below them.

    From many, once more by pivots: they are records like others.
    """
    values, below = middle.values, middle.below
    while values.size > 4 * SMALL and values.size > 4 * (high - low + 1):
        step = values.size // max(SMALL // 2, int(values.size ** (2 / 3)))
        sample = np.sort(values[::step])
        left, right = pivots(sample.size, values.size, low - below, high - below)
        edges = edges_of(grid, sample, left, right)
        inner = gathered(values, edges.low, edges.high, values.size // 4)
        outside = inner.below > low - below or inner.below + inner.inside <= high - below
        if outside or inner.values.size < inner.inside:
            break
        values, below = inner.values, below + inner.below
    values.sort()
    return values, below


def _window(grid: Grid, values: AnyArray, below: int, total: int, low: int, high: int) -> Window:
    """The window from sorted records that hold it whole, `below` of all before them."""
    window = Sorted(values).window(grid, low - below, high - below)
    return Window(window.points, window.records, window.below + below, total)


def _refuse_nan(part: AnyArray) -> None:
    for begin in range(0, part.size, arrays.CHUNK):
        if bool(np.isnan(part[begin : begin + arrays.CHUNK]).any()):
            raise InvalidRecords(arrays.MISSING)
