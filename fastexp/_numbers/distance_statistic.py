"""What statistics by distance have in common: a grid, a width around its points, and draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import partial
from typing import Any, Protocol, overload

import numpy as np

from .._intake.record_sources import SMALL, Source, Window
from .._parameters.grid import Grid
from .._randomness.sampling import Sampling
from .._selection import plan
from .._selection.weighting import Weighting
from .._typing import AnyArray, IntArray, WordArray
from ..kernels.numbers import runs
from . import cells as _cells
from .cells import Shape
from .nearest import range_least

NONE: IntArray = np.zeros(0, np.int64)


class DistanceShape(Shape, Protocol):
    """Cells whose utilities are minus distances, or minus bounds of them."""

    def distance(self, t: int, /) -> int:
        """The distance of grid point t, of a loose cell."""
        ...


class FewDraws(Protocol):
    """What draws from few records: `few_records.Few`."""

    def release(self, source: Source, /) -> int:
        """One grid index from the operating system's randomness."""
        ...

    def simulate(self, source: Source, seeds: WordArray, size: int, /) -> IntArray:
        """`size` grid indices from the stream that `seeds` name."""
        ...

    def simulate_rows(self, rows: AnyArray, seeds: WordArray, size: int, /) -> IntArray:
        """The same of each sorted row, row after row, from the rows' streams."""
        ...


class DistanceStatistic(ABC):
    """What does not depend on data: the exact rate a unit of distance, grid, width.

    A width is in steps of the grid; of a grid of points it is `near`, the first and the last
    point that are within it of each point.
    """

    __slots__ = ("_few", "grid", "near", "weighting", "width")

    def __init__(
        self,
        rate: Fraction,
        grid: Grid,
        width: int = 0,
        near: tuple[IntArray, IntArray] | None = None,
    ) -> None:
        self.grid, self.width, self.near = grid, width, near
        self.weighting = Weighting(rate, None)
        self._few: tuple[FewDraws | None, ...] = ()

    @abstractmethod
    def shape(self, source: Source) -> DistanceShape:
        """Cells for draws."""

    def header(self, n: int) -> IntArray:  # noqa: ARG002  # of ranks
        """What kernels know of n records (`kernels/groups/segment_ranks.py`); nothing of modes."""
        return NONE

    @abstractmethod
    def farthest(self, n: int) -> int:
        """A distance that no point exceeds among n records."""

    @abstractmethod
    def of_few(self) -> FewDraws | None:
        """What draws from few records, where its table is not too large."""

    def few(self, n: int, size: int | None) -> FewDraws | None:
        """What draws `size` numbers from n records, where both are few; public."""
        if n > SMALL or plan.by_table(1, size):
            return None
        if not self._few:  # that there is none is kept too: to see it takes 50 µs
            self._few = (self.of_few(),)
        return self._few[0]

    def release(self, source: Source) -> int:
        """One grid index from the operating system's randomness."""
        few = self.few(source.total(), None)
        return _cells.release(self.shape(source)) if few is None else few.release(source)

    def draws(
        self, source: Source, seeds: WordArray, size: int | None, threads: int, way: str
    ) -> IntArray:
        """`size` grid indices from the stream that `seeds` name; one for None."""
        few = None if way == "gumbel" else self.few(source.total(), size)
        if few is None:
            return _cells.Simulation(self.shape(source), seeds, threads, way).draw(size)
        return few.simulate(source, seeds, 1 if size is None else size)

    def simulate(self, source: Source, sampling: Sampling) -> int | IntArray:
        """Grid indices of `sample`."""
        return _cells.reproducible(partial(self.draws, source), sampling)

    @abstractmethod
    def cells(self, source: Source) -> tuple[IntArray, IntArray, IntArray]:
        """Starts, counts and distances of all cells."""

    @abstractmethod
    def with_rate(self, rate: Fraction) -> DistanceStatistic:
        """The same statistic at another rate."""

    def sampler(self, source: Source) -> StatisticSampler:
        """What draws from a law."""
        return StatisticSampler(self, source)

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

    __slots__ = ("_source", "_statistic")

    def __init__(self, statistic: DistanceStatistic, source: Source) -> None:
        self._statistic, self._source = statistic, source

    def sample(self, sampling: Sampling) -> Any:
        """Values; see the mechanism's `sample`."""
        return valued(self._statistic.grid, self._statistic.simulate(self._source, sampling))

    def with_rate(self, rate: Fraction) -> StatisticSampler:
        """The same data at another rate."""
        return StatisticSampler(self._statistic.with_rate(rate), self._source)


def widened(
    start: IntArray, count: IntArray, key: IntArray, width: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The same cells with the least key within `width` points of each point."""
    if width == 0:
        return start, count, key
    m = start.size
    queue = np.empty(m, np.int64)
    wide_start, wide_count, wide_key = (np.empty(2 * m + 1, np.int64) for _ in range(3))
    n = runs.widen_fill(start, count, key, width, queue, wide_start, wide_count, wide_key)
    return wide_start[:n], wide_count[:n], wide_key[:n]


def cells_of(
    window: Window, form: IntArray, size: int, width: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Starts, counts and keys of cells: see `kernels/numbers/runs.py`."""
    points, records, below, total = window
    room = 2 * points.size + 1
    start, count, key = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    m = runs.cells_fill(points, records, below, total, size, form, start, count, key)
    return widened(start[:m], count[:m], key[:m], width)


def utilities(distance: IntArray) -> WordArray:
    """Minus distances, as bits."""
    return np.negative(distance).view(np.uint64)


@overload
def valued(grid: Grid, index: int) -> int | float: ...
@overload
def valued(grid: Grid, index: IntArray) -> AnyArray: ...
def valued(grid: Grid, index: int | IntArray) -> int | float | AnyArray:
    """The numbers of grid indices: an int or float, or an array."""
    return grid.value(index) if isinstance(index, int) else grid.values(index)
