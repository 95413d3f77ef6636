"""The common part of statistics by distance: a grid, a width around its points, and draws."""

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

# Data sets of up to this size share a table of weights; that of larger ones may be too large.
MAX_TABLE_RECORDS = 1 << 12
NONE: IntArray = np.zeros(0, np.int64)


class DistanceShape(Shape, Protocol):
    """Cells whose utilities are minus distances, or minus lower bounds of distances."""

    def distance(self, t: int, /) -> int:
        """Return the distance of grid point t, which is in a loose cell."""
        ...


class DistanceStatistic(ABC):
    """A statistic without data: the exact rate per unit of distance, the grid and the width.

    The width is in steps of the grid. On a grid of points `near` replaces it: the first and the
    last point within the width of each point.
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
        self._few: dict[int, Few | None] = {}  # by the largest number of records

    @abstractmethod
    def shape(self, source: RecordSource) -> DistanceShape:
        """Cells for draws."""

    def header(self, n: int) -> IntArray:  # noqa: ARG002  # used by ranks
        """What kernels need for n records (`kernels/groups/segment_ranks.py`); none for modes."""
        return NONE

    @abstractmethod
    def farthest(self, n: int) -> int:
        """Return an upper bound of all distances among n records."""

    @abstractmethod
    def of_few(self, weights: WordArray) -> Few:
        """Return the sampler for few records, given the weights of their distances."""

    def few(self, n: int, size: int | None) -> Few | None:
        """Return the sampler of `size` draws from n records, None if either is large; public."""
        if n > MAX_SORTED_RECORDS or plan.by_table(1, size):
            return None
        most = MAX_TABLE_RECORDS if n <= MAX_TABLE_RECORDS else MAX_SORTED_RECORDS
        if most not in self._few:  # None is cached too: finding it takes 50 µs
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
        """Return `size` grid indices from the stream that `seeds` name; one if `size` is None."""
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
        """Return the cells; with `near`, one for each point, with the least distance near it."""
        if self.near is None:
            return start, count, distance
        first, last = self.near
        least = range_least(np.repeat(distance, count), first, last)
        return np.arange(least.size), np.ones(least.size, np.int64), least


class StatisticSampler:
    """Draws of a law: byte for byte those of the mechanism."""

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
    """Return min(values[first[i] : last[i] + 1]) for each i, with first <= last.

    Two ranges whose length is a power of two cover each range. The minima of each length are made
    from those of half the length, and used before those of the next length replace them.
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
    """Return the first and the last of the increasing points within `width` of each point."""
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
    """Return knots and distances of the least distance within `width`, on a continuous range.

    `knots` are n + 2 increasing numbers, bounds first and last; `gaps` are the n + 1 distances
    between them; `records` are the n distances at the inner knots, which have no mass unless the
    range is widened.
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
