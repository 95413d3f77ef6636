"""Unsorted records: pivots of a sample, one counting pass, and a small sort.

Pivots are places in a sorted sample. They only locate the ranks that matter; bad ones cost a
further pass and change nothing (after Floyd and Rivest, "Expected time bounds for selection",
1975). They are moved to the edges of grid points, so that records on one point stay together.

For several ranges of ranks a single pass gathers the records around each. Points that hold much of
the sample are only counted, and so are the records between the ranges. A range that is not wholly
inside these pieces of the grid gets no window here, but a pass of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from .._parameters.grid import INT64, Grid
from .._threads import in_parts
from .._typing import AnyArray, IntArray
from ..errors import InvalidRecords
from ..kernels.numbers import select_ranges
from ..kernels.numbers.histogram import is_fast
from ..kernels.numbers.select_ranges import CODES, TABLES
from ..kernels.numbers.select_rank import BLOCK, gather_floats, gather_integers
from . import arrays
from .record_sources import Counted, RecordSource, Sorted, Window, cut, merged, runs

SPREAD = 1.4  # pivots lie 2.8 standard deviations of a sample's median outside the ranks
SPARE = 8  # places that a gathering kernel may leave free
SAMPLE = 1 << 15  # most records of a sample; the middle is then about 2 % of the records
BUFFER_SHARE = 24  # a buffer holds 1 in 24 records, 4 % of their memory
MIN_PASS = 1 << 12  # fewer records are not worth a pass
THREADED = 1 << 20  # records from which on threads are used
# If at most this many points hold the middle, counting the records on each is faster than a sort.
FEW_MIDDLE_POINTS = 6
PIECE = 1 << 17  # records whose middle is counted at once: 1 MiB
MOST_COUNTED = 1 << 22  # points of a grid whose records are counted: 32 MiB
HEAVY = 32  # a point that holds 1/32 of the sample is counted
MIN_RANGES = 3  # for fewer windows a common pass does not pay
FEW_POINTS = 1 << 17  # points of a grid up to which counting on each is faster than selecting
MAX_GATHERED_SHARE = 0.5  # largest share of the records that is gathered at once
MAX_SORTED = 1 << 20  # up to this many records are all sorted instead
CHANGED = "records: a callable must yield the same records at each call"
Ranges = list[tuple[int, int]]


class Gathered(NamedTuple):
    """Records of some regions, as far as there was room, and the number in each region."""

    values: AnyArray
    counts: IntArray


class Pieces(NamedTuple):
    """The whole grid in pieces, in order.

    Attributes
    ----------
    last : ndarray of int64
        The last point of each piece.
    cuts : ndarray of float64 or int64
        The greatest record on that point.
    keep : ndarray of int64
        1 where records are gathered, 0 where they are counted.
    share : float
        The share of the sample in pieces that are gathered.
    """

    last: IntArray
    cuts: AnyArray
    keep: IntArray
    share: float


class Unsorted(RecordSource):
    """Arrays in any order, from a callable that yields them again for each pass."""

    def __init__(
        self,
        produce: Callable[[], Iterator[AnyArray]],
        threads: int = 1,
        total: int | None = None,
    ) -> None:
        self._produce, self._threads, self._total = produce, threads, total
        self._sample: AnyArray | None = None

    def raw_parts(self) -> Iterator[AnyArray]:
        """Yield the arrays as they are; each pass must have as many records as the first."""
        total = 0
        for part in self._produce():
            total += part.size
            yield part
        if self._total not in (None, total):
            raise InvalidRecords(CHANGED)
        self._total = total

    def parts(self) -> Iterator[AnyArray]:
        """Yield the arrays; NaN is refused."""
        for part in self.raw_parts():
            if part.dtype.kind == "f":
                _refuse_nan(part)
            yield part

    def total(self) -> int:
        """Return the number of records; a pass that counts them takes the sample, too."""
        if self._total is None:
            self._sampled()
        return self._total or 0

    def held(self, grid: Grid) -> RecordSource:
        """Return counts if the grid is small, with no more points than records; else a copy."""
        if grid.size <= MOST_COUNTED and self.total() >= grid.size:
            records = self.histogram(grid)
            points = records.nonzero()[0]
            return Counted(points, records[points], grid)
        return _of_array(_joined([part.copy() for part in self.parts()]))

    def window(self, grid: Grid, low: int, high: int) -> Window:
        middle = self.middle(grid, low, high)
        if isinstance(middle, Window):
            return middle
        values, below = middle
        points, records, before, _ = Sorted(values).window(grid, low - below, high - below)
        return Window(points, records, below + before, self.total())

    def ranked(self, low: int, high: int) -> AnyArray:
        values, below = self.middle(None, low, high)[:2]
        return values[low - below : high - below + 1]

    def middle(self, grid: Grid | None, low: int, high: int) -> Window | tuple[AnyArray, int]:
        """Return sorted records that hold these ranks, of whole points, and the number below.

        The caller owns the array. If few points hold all the ranks, return their window.
        """
        total, sample = self.total(), self._sampled()
        if sample.size == total:
            return sample.copy(), 0
        left, right = pivots(sample.size, total, low, high)
        while True:
            first, last = points_of(grid, sample, left, right)
            least, most = edges_at(grid, sample, first, last)
            gather = partial(gathered, low=least, high=most)
            few = grid is not None and last - first < FEW_MIDDLE_POINTS
            if grid is not None and few:
                points = range(first, last + 1)
                counted = partial(on_points, grid=grid, points=points, gather=gather)
                taken = self._gathered(counted, PIECE)
            else:
                share = int(1.1 * total * (right - left) / sample.size)
                taken = self._gathered(gather, max(total // BUFFER_SHARE, 4 * MIN_PASS, share))
            below, *within = taken.counts.tolist()
            inside = sum(within)
            short = below > low, below + inside <= high
            if not any(short):
                break
            if (short[0] and left < 0) or (short[1] and right >= sample.size):
                raise InvalidRecords(CHANGED)
            reach = max(right - left, 16)
            left = max(left - reach, -1) if short[0] else left
            right = min(right + reach, sample.size) if short[1] else right
        if few:
            on = taken.counts[1:].nonzero()[0]
            window = cut(on + first, taken.counts[1:][on], inside, low - below, high - below)
            return window._replace(below=window.below + below, total=total)
        if taken.values.size < inside:  # more than there was room for: again, by one thread
            taken = self._gathered(gather, inside, 1)
        if taken.values.size != inside:  # never seen; a wrong law must not pass
            raise InvalidRecords(CHANGED)
        if 4 * max(MIN_PASS, high - low + 1) < inside <= total // 2:  # select among them
            inner = _of_array(taken.values).middle(grid, low - below, high - below)
            if isinstance(inner, Window):
                return inner._replace(below=inner.below + below, total=total)
            return inner[0], inner[1] + below
        taken.values.sort()
        return taken.values, below

    def windows(self, grid: Grid, ranges: Ranges) -> list[Window]:
        """Return the window of each range of ranks, if it pays by one pass for all of them."""
        total, sample = self.total(), self._sampled()
        if len(ranges) < MIN_RANGES or sample.size == total:
            return super().windows(grid, ranges)
        if grid.size <= min(FEW_POINTS, total) and is_fast(grid):
            return self.held(grid).windows(grid, ranges)
        pieces = pieces_of(grid, sample, total, ranges)
        if pieces.share > MAX_GATHERED_SHARE or pieces.cuts.size >= CODES:
            if total <= MAX_SORTED:
                return Sorted(np.sort(_joined(list(self.parts())))).windows(grid, ranges)
            half = len(ranges) // 2
            return self.windows(grid, ranges[:half]) + self.windows(grid, ranges[half:])
        gather = partial(gathered_regions, cuts=pieces.cuts, keep=pieces.keep)
        taken = self._gathered(gather, int(1.1 * pieces.share * total) + 4 * MIN_PASS)
        wanted = int((taken.counts * pieces.keep).sum())
        if taken.values.size < wanted or 4 * wanted > 3 * total:  # their order misled the sample
            return super().windows(grid, ranges)
        inner = _of_array(taken.values, self._threads)
        windows = windows_from(pieces, taken.counts, inner, grid, ranges)
        pairs = zip(windows, ranges, strict=True)
        return [self.window(grid, *ends) if window is None else window for window, ends in pairs]

    def _sampled(self) -> AnyArray:
        """Return a sorted sample, or all of few records; it depends on the records' order."""
        if self._sample is not None:
            return self._sample
        seen, step, size = 0, 1, 0
        parts: list[AnyArray] = []
        known = self._total
        if known is not None and known > MIN_PASS:
            step = max(known // min(SAMPLE, max(MIN_PASS // 8, int(2 * known ** (2 / 3)))), 1)
        for part in self.raw_parts():
            parts.append(part[(-seen) % step :: step])
            seen, size = seen + part.size, size + parts[-1].size
            while size > 2 * SAMPLE:
                parts, step = [np.concatenate(parts)[::2]], 2 * step
                size = parts[0].size
        sample = np.sort(_joined(parts))
        if sample.size and sample[-1] != sample[-1]:  # NaN is sorted to the end
            raise InvalidRecords(arrays.MISSING)
        self._sample = sample
        return sample

    def _gathered(
        self, gather: Callable[[AnyArray, int], Gathered], room: int, threads: int | None = None
    ) -> Gathered:
        """Run `gather` on each array, in several threads."""
        threads = threads or (self._threads if self.total() >= THREADED else 1)
        taken: list[Gathered] = []
        for part in self.raw_parts():
            taken.append(passed(part, gather, min(room, part.size), threads))
            room -= taken[-1].values.size
        return together(taken)


def pivots(size: int, total: int, low: int, high: int) -> tuple[int, int]:
    """Return places in a sorted sample that most likely lie outside the ranks low to high."""
    slack = SPREAD * size**0.5 + 2
    left = int(size * (low / total) - slack)
    right = int(size * ((high + 1) / total) + slack) + 1
    return max(left, -1), min(right, size)


def points_of(grid: Grid | None, sample: AnyArray, left: int, right: int) -> tuple[int, int]:
    """Return the grid points of two places in the sample, or the grid's ends for places outside.

    Without a grid, return the places themselves.
    """
    if grid is None:
        return left, right
    ends = sample[[max(left, 0), min(right, sample.size - 1)]]
    first, last = grid.index(ends).tolist()
    return 0 if left < 0 else first, grid.size - 1 if right >= sample.size else last


def edges_at(
    grid: Grid | None, sample: AnyArray, first: int, last: int
) -> tuple[int | float, int | float]:
    """Return the least and the greatest number, of the sample's type, on these grid points.

    Without a grid, return the records at these places of the sample.
    """
    floats = sample.dtype.kind == "f"
    low: int | float = -math.inf if floats else INT64[0]
    high: int | float = math.inf if floats else INT64[-1]
    if grid is None:
        ends = sample[[max(first, 0), min(last, sample.size - 1)]].tolist()
        return low if first < 0 else ends[0], high if last >= sample.size else ends[1]
    if first > 0:
        low = max(grid.least(first, floats), low)
    if last + 1 < grid.size:
        above = grid.least(last + 1, floats)
        high = min(math.nextafter(above, -math.inf) if floats else int(above) - 1, high)
    return low, high


def passed(
    part: AnyArray, gather: Callable[[AnyArray, int], Gathered], room: int, threads: int
) -> Gathered:
    """Run `gather` on a piece of an array in each thread, with its share of the room."""
    if threads == 1:
        return gather(part, room)
    ends, taken = [part.size * i // threads for i in range(threads + 1)], dict[int, Gathered]()

    def work(first: int, last: int) -> int:
        for i in range(first, last):
            taken[i] = gather(part[ends[i] : ends[i + 1]], -(-room // threads))
        return 0

    in_parts(work, threads, threads)
    return together([taken[i] for i in range(threads)])


def together(taken: list[Gathered]) -> Gathered:
    """Join what was gathered from several arrays."""
    if len(taken) == 1:
        return taken[0]
    counts: IntArray = np.sum([each.counts for each in taken], axis=0)
    return Gathered(np.concatenate([each.values for each in taken]), counts)


def gathered(part: AnyArray, room: int, low: int | float, high: int | float) -> Gathered:
    """Gather the records of an array from low to high, and count those below and inside."""
    kernel = gather_floats if part.dtype.kind == "f" else gather_integers
    space, tally = np.empty(room + SPARE, part.dtype), np.zeros(3, np.int64)
    size = kernel(part, low, high, np.empty(BLOCK // 8, np.uint64), space, tally)
    if tally[2]:
        raise InvalidRecords(arrays.MISSING)
    return Gathered(space[:size], tally[:2])


def gathered_regions(part: AnyArray, room: int, cuts: AnyArray, keep: IntArray) -> Gathered:
    """Gather the records of some regions of an array, in its order, and count those of all.

    A region ends with its cut; the last cut is the greatest number of the type.
    """
    floats = part.dtype.kind == "f"
    kernel = select_ranges.gather_floats if floats else select_ranges.gather_integers
    codes, counts = np.zeros(CODES, np.int64), np.zeros(TABLES, np.int64)
    codes[1 : keep.size + 1] = keep[::-1]
    space, work = np.empty(room + SPARE, part.dtype), np.empty(BLOCK // 8, np.uint64)
    size = kernel(part, cuts, codes, work, space, counts)
    if counts[0]:
        raise InvalidRecords(arrays.MISSING)
    return Gathered(space[:size], counts[cuts.size : 0 : -1].copy())


def on_points(
    part: AnyArray,
    room: int,
    grid: Grid,
    points: range,
    gather: Callable[[AnyArray, int], Gathered],
) -> Gathered:
    """Count the records below some points, and on each of these; return no records.

    `gather` gathers those on all the points.
    """
    needed = room if len(points) > 1 else 0
    ends = np.zeros(len(points) + 1, np.int64)
    for begin in range(0, part.size, max(room, 1)):  # no room is given for an array without records
        values, counts = gather(part[begin : begin + room], needed)
        under = [np.count_nonzero(grid.under(t, values)) for t in points[1:]]
        ends += counts[0] + np.array([0, *under, counts[1]])
    return Gathered(part[:0], np.diff(ends, prepend=0))


def pieces_of(grid: Grid, sample: AnyArray, total: int, ranges: Ranges) -> Pieces:
    """Return pieces of the grid that most likely hold all the ranges."""
    points, floats = grid.index(sample), sample.dtype.kind == "f"
    distinct, records = runs(points)
    heavy = distinct[HEAVY * records >= points.size].tolist()
    places = (pivots(sample.size, total, low, high) for low, high in ranges)
    ends: list[tuple[int, bool]] = []  # last points, and whether to gather
    for first, last in sorted(points_of(grid, sample, *pair) for pair in places):
        ends.append((first - 1, False))
        for point in heavy:
            if first <= point <= last:
                ends += [(point - 1, True), (point, False)]
        ends.append((last, True))
    pieces: list[tuple[int, int | float, bool]] = []
    at = -1
    for last, gather in [*ends, (grid.size - 1, False)]:
        if last > at:  # ranges may overlap
            cut = edges_at(grid, sample, 0, last)[1]
            if floats or cut >= INT64[0]:  # else no integer lies there
                pieces.append((last, cut, gather))
            at = last
    last_points, cuts, gathers = zip(*pieces, strict=True)
    inside = np.diff(np.searchsorted(points, last_points, "right"), prepend=0)
    keep = np.array(gathers, np.int64)
    share = float((inside * keep).sum()) / points.size
    return Pieces(np.array(last_points), np.array(cuts, sample.dtype), keep, share)


def windows_from(
    pieces: Pieces, counts: IntArray, inner: RecordSource, grid: Grid, ranges: Ranges
) -> list[Window | None]:
    """Return the window of each range, None if pieces hold only a part of it.

    `inner` has the gathered records.
    """
    keep, ends = pieces.keep, np.cumsum(counts)
    begins, ahead = ends - counts, np.cumsum(counts * keep) - counts * keep
    unknown = (keep == 0) & (counts > 0) & (np.diff(pieces.last, prepend=-1) > 1)
    place = np.searchsorted(ends, ranges, "right")  # the pieces of the first and the last rank
    inside = np.array(ranges) - begins[place] + np.array([0, 1])
    stops = (ahead[place] + keep[place] * inside).tolist()
    gathered = iter(inner.windows(grid, [(low, high - 1) for low, high in stops if low < high]))
    windows: list[Window | None] = []
    for (i, j), (low, high) in zip(place.tolist(), stops, strict=True):
        counted = i + np.flatnonzero((counts * (1 - keep))[i : j + 1])
        parts, below = [(pieces.last[counted], counts[counted])], begins[i]
        if low < high:
            points, records, before, _ = next(gathered)
            parts.append((points, records))
            below += (before - ahead[i]) * keep[i]
        window = *merged([part for part in parts if part[0].size]), int(below), int(ends[-1])
        windows.append(None if unknown[i : j + 1].any() else Window(*window))
    return windows


def _of_array(values: AnyArray, threads: int = 1) -> Unsorted:
    return Unsorted(partial(iter, (values,)), threads, values.size)


def _joined(parts: list[AnyArray]) -> AnyArray:
    if not parts:
        return np.zeros(0)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _refuse_nan(part: AnyArray) -> None:
    for begin in range(0, part.size, arrays.CHUNK_RECORDS):
        if bool(np.isnan(part[begin : begin + arrays.CHUNK_RECORDS]).any()):
            raise InvalidRecords(arrays.MISSING)
