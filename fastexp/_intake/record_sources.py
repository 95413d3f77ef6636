"""Records behind one interface, however they are stored: sorted, counted, or as grid points.

A *window* is all that a draw reads: the distinct grid points that hold records of the ranks
that matter, the number of records on each point, and the number below. It does not depend on
the order of the records, on their parts, or on the method that found it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._parameters.grid import INT64, Grid
from .._typing import AnyArray, IntArray
from ..errors import InvalidRecords
from ..kernels.bits.heights import FLOAT, SIGNED
from ..kernels.numbers import grid_points
from ..kernels.numbers.histogram import histogram
from . import arrays
from .arrays import CHUNK_RECORDS

# Up to this many records are sorted at once: for these, passes are not worth their calls.
MAX_SORTED_RECORDS = 1 << 14
MAX_REPEATED = 1 << 27  # most records with counts that are listed one by one: 1 GiB
NOTHING: IntArray = np.zeros(0, np.int64)


class Window(NamedTuple):
    """Distinct grid points, and the numbers of records on each, below the first, and in all."""

    points: IntArray
    records: IntArray
    below: int
    total: int


class RecordSource(ABC):
    """Records as numbers; missing ones are already dropped or replaced."""

    @abstractmethod
    def total(self) -> int:
        """Return the number of records."""

    @abstractmethod
    def parts(self) -> Iterator[AnyArray]:
        """Yield arrays of records, float64 or int64."""

    @abstractmethod
    def window(self, grid: Grid, low: int, high: int) -> Window:
        """Return the window of the ranks from low to high: 0 <= low <= high < total."""

    def windows(self, grid: Grid, ranges: list[tuple[int, int]]) -> list[Window]:
        """Return the window of each range of ranks; ranges may touch or overlap."""
        return [self.window(grid, low, high) for low, high in ranges]

    @abstractmethod
    def ranked(self, low: int, high: int) -> AnyArray:
        """Return the records of the ranks from low to high, in order."""

    def counts(self, grid: Grid) -> tuple[IntArray, IntArray]:
        """Return all distinct grid points that hold records, and the number on each."""
        return merged([grid_runs(np.sort(part), grid) for part in self.parts()])

    def histogram(self, grid: Grid) -> IntArray:
        """Return the number of records on each point of a grid that fits into memory."""
        out = np.zeros(grid.size, np.int64)
        for part in self.raw_parts():
            kind = FLOAT if part.dtype.kind == "f" else SIGNED
            if not histogram(part, kind, grid, out):
                raise InvalidRecords(arrays.MISSING)
        return out

    @abstractmethod
    def held(self, grid: Grid) -> RecordSource:
        """Return the same records in memory of their own, for this grid only."""

    def raw_parts(self) -> Iterator[AnyArray]:
        """Yield `parts` without a search for NaN, which the caller refuses."""
        return self.parts()

    def below(self, grid: Grid, t: int) -> int:
        """Return the number of records with a grid index < t."""
        if t <= 0:
            return 0
        if t >= grid.size:
            return self.total()
        below = 0
        for part in self.parts():
            below += int(np.count_nonzero(grid.under(t, part)))
        return below


class Sorted(RecordSource):
    """A sorted array, possibly mapped from a file: only binary searches read it."""

    def __init__(self, values: AnyArray) -> None:
        self.values, self.floats = values, values.dtype.kind == "f"
        if values.size and not (values[0] == values[0] and values[-1] == values[-1]):
            raise InvalidRecords(arrays.MISSING)

    def total(self) -> int:
        return self.values.size

    def parts(self) -> Iterator[AnyArray]:
        yield self.values

    def held(self, grid: Grid) -> Sorted:
        return Sorted(self.values.copy())

    def ranked(self, low: int, high: int) -> AnyArray:
        return self.values[low : high + 1]

    def counts(self, grid: Grid) -> tuple[IntArray, IntArray]:
        return grid_runs(self.values, grid)

    def below(self, grid: Grid, t: int) -> int:
        if t <= 0 or t >= grid.size:
            return 0 if t <= 0 else self.values.size
        edge = grid.least(t, self.floats)
        if isinstance(edge, int) and edge not in INT64:
            return self.values.size if edge > 0 else 0
        return int(np.searchsorted(self.values, self.values.dtype.type(edge), "left"))

    def window(self, grid: Grid, low: int, high: int) -> Window:
        n = self.values.size
        if n == 0:
            return Window(NOTHING, NOTHING, 0, 0)
        # One more record on each side tells whether equal records continue there.
        first, last = max(low - 1, 0), min(high + 2, n)
        points, records = grid_runs(self.values[first:last], grid)
        below, stop = low, high + 1
        if low > first and records[0] > 1:
            below = self.below(grid, int(points[0]))
            records[0] += first - below
        elif low > first:
            points, records = points[1:], records[1:]
        if stop < last and records[-1] > 1:
            stop = self.below(grid, int(points[-1]) + 1)
            records[-1] += stop - last
        elif stop < last:
            points, records = points[:-1], records[:-1]
        return Window(points, records, below, n)


class Counted(RecordSource):
    """Numbers and their counts; with a grid, distinct indices of its points, as laws hold them."""

    def __init__(self, numbers: AnyArray, often: IntArray, grid: Grid | None = None) -> None:
        self.numbers, self.often, self.grid = numbers, often, grid

    @property
    def values(self) -> AnyArray:
        """The numbers themselves."""
        return self.numbers if self.grid is None else self.grid.values(self.numbers)

    def total(self) -> int:
        return int(self.often.sum())

    def parts(self) -> Iterator[AnyArray]:
        if self.total() > MAX_REPEATED:
            raise InvalidRecords("records with counts are too many to list: use law")
        for value, number in zip(self.values, self.often.tolist(), strict=True):
            for begin in range(0, number, CHUNK_RECORDS):
                yield np.full(min(CHUNK_RECORDS, number - begin), value)

    def held(self, grid: Grid) -> Counted:
        return self

    def ranked(self, low: int, high: int) -> AnyArray:
        order = np.argsort(self.values, kind="stable")
        often = self.often[order]
        ends = np.cumsum(often)
        inside = np.minimum(ends, high + 1) - np.maximum(ends - often, low)
        return np.repeat(self.values[order], np.maximum(inside, 0))

    def counts(self, grid: Grid) -> tuple[IntArray, IntArray]:
        if self.grid is not None:
            return self.numbers, self.often
        return merged([(grid.index(self.numbers), self.often)])

    def histogram(self, grid: Grid) -> IntArray:
        out = np.zeros(grid.size, np.int64)
        np.add.at(out, grid.index(self.values), self.often)
        return out

    def window(self, grid: Grid, low: int, high: int) -> Window:
        return cut(*self.counts(grid), self.total(), low, high)

    def below(self, grid: Grid, t: int) -> int:
        points, records = self.counts(grid)
        return int(records[: np.searchsorted(points, t)].sum())


def cut(points: IntArray, records: IntArray, total: int, low: int, high: int) -> Window:
    """Return the window of a range of ranks, from all distinct points and their records."""
    if total == 0:
        return Window(NOTHING, NOTHING, 0, 0)
    ends = np.cumsum(records)
    first, last = np.searchsorted(ends, [low, high], "right")
    below = int(ends[first] - records[first])
    return Window(points[first : last + 1], records[first : last + 1], below, total)


def grid_runs(values: AnyArray, grid: Grid) -> tuple[IntArray, IntArray]:
    """Return the distinct grid points of sorted records, and the number on each."""
    form = grid.for_kernels
    if form is None:
        return runs(grid.index(values))
    unit = form[0] if values.dtype.kind == "f" else form[1]
    points, records = np.empty(values.size, np.int64), np.empty(values.size, np.int64)
    m = grid_points.grid_runs(values.view(np.int64), unit, form[2], points, records)
    return points[:m], records[:m]


def runs(points: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct values of a sorted array, and their counts."""
    starts = np.flatnonzero(np.append(True, points[1:] != points[:-1])[: points.size])
    return points[starts], np.diff(np.append(starts, points.size))


def merged(parts: list[tuple[IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
    """Return the same for several such pairs together, which need not be sorted."""
    if not parts:
        return NOTHING, NOTHING
    points = np.concatenate([p for p, _ in parts])
    records = np.concatenate([r for _, r in parts])
    if len(parts) == 1 and bool((points[1:] > points[:-1]).all()):
        return points, records
    order = np.argsort(points, kind="stable")
    distinct, starts = np.unique(points[order], return_index=True)
    return distinct, np.add.reduceat(records[order], starts)
