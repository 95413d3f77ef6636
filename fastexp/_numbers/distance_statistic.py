"""What statistics by distance have in common: a grid, a width around its points, and draws."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

import numpy as np

from .._intake.record_sources import MAX_SORTED_RECORDS, RecordSource
from .._parameters.grid import Grid
from .._randomness.sampling import Sampling
from .._selection import plan
from .._selection.weighting import Weighting
from .._typing import FloatArray, IntArray, WordArray
from . import cells as _cells
from .cells import Shape
from .few_records import MAX_WEIGHTS, Few
from .weights import size_of, table

# So many records have a table of weights of their own: that of more may be too large.
MAX_TABLE_RECORDS = 1 << 12
NONE: IntArray = np.zeros(0, np.int64)


class DistanceShape(Shape, Protocol):
    """Cells whose utilities are minus distances, or minus bounds of them."""

    def distance(self, t: int, /) -> int:
        """The distance of grid point t, of a loose cell."""
        ...


class DistanceStatistic(ABC):
    """What does not depend on data: the exact rate a unit of distance, grid, width.

    A width is in steps of the grid; of a grid of points it is `near`, the first and the last
    point that are within it of each point.
    """

    grid: Grid
    near: tuple[IntArray, IntArray] | None
    width: int

    def __init__(
        self,
        rate: Fraction,
        grid: Grid,
        width: int = 0,
        near: tuple[IntArray, IntArray] | None = None,
    ) -> None:
        self.grid, self.width, self.near = grid, width, near
        self.weighting: Weighting = Weighting(rate, None)
        self._few: dict[int, Few | None] = {}  # by the most records of a data set

    @abstractmethod
    def shape(self, source: RecordSource) -> DistanceShape:
        """Cells for draws."""

    def header(self, n: int) -> IntArray:  # noqa: ARG002  # of ranks
        """What kernels know of n records (`kernels/groups/segment_ranks.py`); nothing of modes."""
        return NONE

    @abstractmethod
    def farthest(self, n: int) -> int:
        """A distance that no point exceeds among n records."""

    @abstractmethod
    def of_few(self, weights: WordArray) -> Few:
        """What draws from few records, by the weights of their distances."""

    def few(self, n: int, size: int | None) -> Few | None:
        """What draws `size` numbers from n records, where both are few; public."""
        if n > MAX_SORTED_RECORDS or plan.by_table(1, size):
            return None
        most = MAX_TABLE_RECORDS if n <= MAX_TABLE_RECORDS else MAX_SORTED_RECORDS
        if most not in self._few:  # that there is none is kept too: to see it takes 50 µs
            rate = self.weighting.rate
            farthest = max(map(self.farthest, (0, 1, most - 1, most)))  # it grows with n
            fits = size_of(rate, farthest) <= MAX_WEIGHTS
            self._few[most] = self.of_few(table(rate, farthest)) if fits else None
        return self._few[most]

    def release(self, source: RecordSource) -> int:
        few = self.few(source.total(), None)
        return _cells.release(self.shape(source)) if few is None else few.release(source)

    def draws(
        self, source: RecordSource, seeds: WordArray, size: int | None, threads: int, way: str
    ) -> IntArray:
        """`size` grid indices from the stream that `seeds` name; one for None."""
        few = None if way == "gumbel" else self.few(source.total(), size)
        if few is None:
            return _cells.Simulation(self.shape(source), seeds, threads, way).draw(size)
        return few.simulate(source, seeds, 1 if size is None else size)

    def simulate(self, source: RecordSource, sampling: Sampling) -> int | IntArray:
        return _cells.reproducible(partial(self.draws, source), sampling)

    @abstractmethod
    def cells(self, source: RecordSource) -> tuple[IntArray, IntArray, IntArray]:
        """Starts, counts and distances of all cells."""

    @abstractmethod
    def with_rate(self, rate: Fraction) -> DistanceStatistic:
        """The same statistic at another rate."""

    def near_cells(
        self, start: IntArray, count: IntArray, distance: IntArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Cells; with `near` one for each point, of the least distance there."""
        if self.near is None:
            return start, count, distance
        first, last = self.near
        least = range_least(np.repeat(distance, count), first, last)
        return np.arange(least.size), np.ones(least.size, np.int64), least


class StatisticSampler:
    """Draws of a law: the bytes of the mechanism's own."""

    def __init__(self, statistic: DistanceStatistic, source: RecordSource) -> None:
        self._statistic, self._source = statistic, source

    def sample(self, sampling: Sampling) -> Any:
        return valued(self._statistic.grid, self._statistic.simulate(self._source, sampling))

    def with_rate(self, rate: Fraction) -> StatisticSampler:
        return StatisticSampler(self._statistic.with_rate(rate), self._source)


def utilities(distance: IntArray) -> WordArray:
    return np.negative(distance).view(np.uint64)


def valued(grid: Grid, index: int | IntArray) -> Any:
    return grid.value(index) if isinstance(index, int) else grid.values(index)


def range_least(values: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """min(values[first[i] : last[i] + 1]) for each i, with first <= last.

    A range is covered by two of a power of two's length; the minima of each length are made
    from those of half of it, and used before the next ones replace them.
    """
    out = np.empty(first.size, np.int64)
    size = last - first + 1
    length, table = 1, values
    while True:
        ranges = np.flatnonzero((size >= length) & (size < 2 * length))
        out[ranges] = np.minimum(table[first[ranges]], table[last[ranges] - length + 1])
        if ranges.size == 0 and not bool((size >= 2 * length).any()):
            return out
        if table.size <= length:
            return out
        table = np.minimum(table[:-length], table[length:])
        length *= 2


def within(points: Sequence[Fraction], width: Fraction) -> tuple[IntArray, IntArray]:
    """The first and the last of increasing points that lie within `width` of each point."""
    common = math.lcm(*{point.denominator for point in points})
    units = [point.numerator * (common // point.denominator) for point in points]
    reach = math.floor(width * common)
    first, last = np.zeros(len(units), np.int64), np.zeros(len(units), np.int64)
    left = right = 0
    for i, unit in enumerate(units):
        while units[left] < unit - reach:
            left += 1
        while right + 1 < len(units) and units[right + 1] <= unit + reach:
            right += 1
        first[i], last[i] = left, right
    return first, last


def widened_pieces(
    knots: FloatArray, gaps: IntArray, records: IntArray, width: float
) -> tuple[FloatArray, IntArray]:
    """Knots and distances of the least distance within `width`, on a continuous range.

    knots: n + 2 increasing numbers, bounds first and last; gaps: the n + 1 distances between
    them; records: the n distances at the inner knots, which on a range that is not widened
    have no mass.
    """
    starts = np.empty(gaps.size + records.size)
    starts[0::2], starts[1::2] = knots[:-1], knots[1:-1]
    ends = np.empty_like(starts)
    ends[0::2], ends[1::2] = knots[1:], knots[1:-1]
    values = np.empty(starts.size, np.int64)
    values[0::2], values[1::2] = gaps, records
    low, high = knots[0], knots[-1]
    edges = np.unique(np.clip(np.concatenate([starts - width, ends + width]), low, high))
    middle = (edges[:-1] + edges[1:]) / 2
    first = np.searchsorted(ends, middle - width, "left").astype(np.int64)
    last = np.searchsorted(starts, middle + width, "right").astype(np.int64) - 1
    return edges, range_least(values, first, last)
