"""From runs of prices to cells for draws.

* `Ticks`: whole numbers of ticks, one cell per price; exact.
* `Points`: prices that are any doubles, one cell per price, bounded by a product rounded up.
* `Runs`: many prices. Along a run the weight grows by a constant factor. So a run is cut from
  its right end into cells, whose bound is the weight of their last price. The deeper a cell lies
  below the best revenue, the wider it is. Hopeless runs are merged.

Cells and bounds steer only the effort: the exact coin makes the law the mechanism's.

**Many bids.** Bids at hopeless prices are only counted. One pass counts the bids of `BUCKETS`
ranges of prices. A revenue in a range is at most its highest price times the bids that pay its
lowest one; the best revenue is at least that of any range's lowest price. Ranges so far below that
a draw hardly ever takes them become two cells, each with a bound of its revenue; only the bids
between them are sorted. All of this depends on the bids alone, not on how they are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._intake.record_sources import NOTHING, RecordSource
from .._parameters.validate import MAX_EXACT
from .._randomness.sampling import Sampling
from .._selection.weighting import Weighting
from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.bits.heights import FLOAT, SIGNED
from .cells import Cells, ExactCoins, simulate
from .distance_statistic import valued
from .revenue import TABLE, Demand, Prices, demand, runs_of, times

MAX_BIDS = 1 << 32  # if the revenue of this many bids fits, bids are not counted first
MANY = 1 << 14  # bids, and prices, from which on counting ranges pays
HOPELESS = 104.0  # nats below the best revenue: 2**52 such prices weigh less than 2**-97
MIN_BIDS_RATIO = 4  # up to a quarter of the bids is sorted; else bids at each price are counted
FLAT = 2.0**-200  # nats per price: 2**52 such prices are negligible


def _levels() -> tuple[float, ...]:
    """Return the depths at which runs are cut, in nats below the best revenue.

    Cells are an eighth of a nat wide at the top, then a quarter of their depth: if most of the
    weight is near the top, a coin passes in 5 of 6 cases. Below the last level, even 2**52
    prices weigh less than 2**-97.
    """
    levels = [0.125]
    while levels[-1] < 104.0:
        levels.append(levels[-1] * 1.25 + 0.125)
    return tuple(levels)


LEVELS = _levels()


class Section(NamedTuple):
    """Runs of the prices that matter, and bounds of the revenue at prices below and above them.

    Bounds are divided by the unit of revenue. `paying(t)` is the number of bids that pay price t.
    """

    runs: Demand
    below: float
    above: float
    paying: Callable[[int], int]


class _Limits(NamedTuple):
    """The first price that matters, the one after the last, the bids that pay each; and bounds."""

    start: int
    stop: int
    paying: int
    paying_above: int
    below: float
    above: float


class RevenueShape(ExactCoins):
    """Cells of revenue, see `cells.Shape`: the exact test of a price against its bound."""

    cells: Cells

    def __init__(self, prices: Prices, section: Section, weighting: Weighting) -> None:
        self.prices, self.section, self.weighting = prices, section, weighting

    def exponent(self, cell: int, index: int) -> Fraction:
        """rate * (bound - revenue), exactly, of a price in a loose cell."""
        bound = Fraction(float(self.cells.bits[cell].view(np.float64)))
        revenue = self.prices.revenue(index, self.section.paying(index))
        return self.weighting.rate * (bound - revenue)

    def _starts(self, inner: IntArray) -> IntArray:
        """Return the first prices of all cells: inside, before and behind the section."""
        first, stop = self.section.runs.start, int(self.section.runs.last[-1]) + 1
        before = [0] if first > 0 else []
        behind = [stop] if stop < self.prices.grid.size else []
        return np.concatenate([before, inner, behind]).astype(np.int64)

    def _bounded(self, start: IntArray, bound: FloatArray, loose: AnyArray) -> Cells:
        """Return the cells; those outside the section have the bounds of the section's outside."""
        outside = self._outside(start)
        bound = np.where(outside < 0, self.section.below, bound)
        bound = np.where(outside > 0, self.section.above, bound)
        count = np.diff(start, append=self.prices.grid.size)
        return Cells(start, count, bound.view(np.uint64), FLOAT, loose | (outside != 0))

    def _outside(self, t: IntArray) -> IntArray:
        """-1 for prices below the section, 1 above it, 0 inside."""
        runs = self.section.runs
        return np.asarray((t > runs.last[-1]).astype(np.int64) - (t < runs.start))

    def _excess(self, cell: IntArray, bids: FloatArray, t: IntArray) -> FloatArray:
        """Return the bound of each cell minus the revenue of a price t."""
        high, low = times(bids, *self.prices.in_units(t))
        return np.asarray((self.cells.bits[cell].view(np.float64) - high) - low)


class Ticks(RevenueShape):
    """Revenues in ticks, one cell a price; no cell is loose."""

    def __init__(self, prices: Prices, section: Section, weighting: Weighting) -> None:
        super().__init__(prices, section, weighting)
        t = np.arange(prices.grid.size)
        revenue = prices.ticks(t)
        revenue *= section.runs.spread()
        self.cells = Cells(t, np.ones_like(t), revenue.view(np.uint64), SIGNED, None)


class Points(RevenueShape):
    """Prices of a grid of points: each one that matters is a cell, with a bound of its revenue."""

    def __init__(self, prices: Prices, section: Section, weighting: Weighting) -> None:
        super().__init__(prices, section, weighting)
        runs = section.runs
        start = self._starts(np.arange(runs.start, int(runs.last[-1]) + 1))
        self._paying = np.zeros(start.size, np.int64)
        self._paying[self._outside(start) == 0] = runs.spread()
        self.cells = self._bounded(start, prices.bounds(self._paying, start), self._paying > 0)

    def heights(self, cell: IntArray, index: IntArray) -> FloatArray:
        """-ln P(a price passes): the excess of its bound; by fractions outside the section."""
        excess = self._excess(cell, self._paying[cell].astype(np.float64), index)
        out = np.asarray(self.weighting.rate_nats * excess)
        outside = np.flatnonzero(self._outside(index))
        out[outside] = super().heights(cell[outside], index[outside])
        return out


class Runs(RevenueShape):
    """Prices of an evenly spaced grid: a cell is a part of a run, or several hopeless runs.

    `run` and `stop` are the first run and the last price of each cell; `single` is whether it
    lies in one run.
    """

    def __init__(self, prices: Prices, section: Section, weighting: Weighting) -> None:
        super().__init__(prices, section, weighting)
        runs = section.runs
        first, last, bids = runs.first(), runs.last, runs.bids
        revenue = prices.bounds(bids, last)
        depth = np.asarray(weighting.rate_nats * (revenue.max() - revenue), np.float64)
        hopeless = depth > LEVELS[-1]
        opens = ~(hopeless & np.append(False, hopeless[:-1]))  # the others continue a cell
        slope = np.asarray(weighting.rate_nats * (bids * prices.step[0]), np.float64)
        inner = np.sort(np.concatenate([first[opens], *_cuts(first, last, depth, slope)]))
        start = self._starts(inner[np.diff(inner, prepend=-1) > 0])
        self.stop = np.append(start[1:] - 1, prices.grid.size - 1)
        self.run = np.minimum(np.searchsorted(last, start), last.size - 1)
        self.single = (self.stop <= last[self.run]) & (self._outside(start) == 0)
        greatest = np.maximum.reduceat(revenue, np.flatnonzero(opens))
        merged = greatest[np.cumsum(opens)[self.run] - 1]
        bound = np.where(self.single, prices.bounds(bids[self.run], self.stop), merged)
        self.cells = self._bounded(start, bound, ~self.single | (bids[self.run] > 0))

    def heights(self, cell: IntArray, index: IntArray) -> FloatArray:
        """-ln P(a price passes): the excess of the bound, and the steps down to the price.

        For merged runs, whose prices are hardly ever drawn, it is computed in fractions.
        """
        bids, stop = self.section.runs.bids[self.run[cell]].astype(np.float64), self.stop[cell]
        down = bids * (stop - index) * self.prices.step[0]
        out = np.asarray(self.weighting.rate_nats * (self._excess(cell, bids, stop) + down))
        merged = np.flatnonzero(~self.single[cell])
        out[merged] = super().heights(cell[merged], index[merged])
        return out


def _cuts(
    first: IntArray, last: IntArray, depth: FloatArray, slope: FloatArray
) -> Iterator[IntArray]:
    """Yield where cells begin inside runs: the first price within each level."""
    alive, levels = np.flatnonzero((depth < LEVELS[-1]) & (slope > FLAT)), np.array(LEVELS)
    level = np.searchsorted(levels, depth[alive])  # most runs do not reach the next one
    while alive.size:
        steps = np.floor((levels[level] - depth[alive]) / slope[alive])
        cut = last[alive] - np.minimum(steps, float(MAX_EXACT))
        inside = cut > first[alive]
        yield cut[inside].astype(np.int64)
        inside &= level + 1 < levels.size
        alive, level = alive[inside], level[inside] + 1


def shape_of(
    prices: Prices, runs: Demand, table: int = TABLE, rate_factor: Fraction | int = 1
) -> RevenueShape:
    """Return revenues as cells; up to `table` evenly spaced prices have a cell each.

    `rate_factor` is the rate divided by that of the prices.
    """
    if prices.fits(runs.total()) and (not prices.grid.even or prices.grid.size <= table):
        section = whole(runs)
        weighting = prices.tick_weighting
        return Ticks(prices, section, weighting.with_rate(weighting.rate * rate_factor))
    weighting = prices.float_weighting.with_rate(prices.float_weighting.rate * rate_factor)
    return _loose(prices, section_of_runs(prices, runs, weighting), weighting)


def shape_of_bids(prices: Prices, source: RecordSource) -> RevenueShape:
    """Return the cells of `shape_of` for bids; if there are many, most are only counted."""
    grid = prices.grid
    few_points = not grid.even or grid.size <= TABLE
    if few_points and (prices.fits(MAX_BIDS) or prices.fits(source.total())):
        return shape_of(prices, demand(source, grid))
    weighting = prices.float_weighting
    return _loose(prices, section_of(prices, source, weighting), weighting)


def _loose(prices: Prices, section: Section, weighting: Weighting) -> RevenueShape:
    kind = Runs if prices.grid.even else Points
    return kind(prices, section, weighting)


class RevenueSampler:
    """Draws of a law: byte for byte those of the mechanism.

    `rate_factor` is the law's rate divided by the mechanism's; cells are made at the first draw.
    """

    def __init__(
        self, prices: Prices, runs: Demand, rate: Fraction, rate_factor: Fraction | int = 1
    ) -> None:
        self._prices, self._runs, self._rate = prices, runs, rate
        self._rate_factor = Fraction(rate_factor)

    @cached_property
    def _shape(self) -> RevenueShape:
        return shape_of(self._prices, self._runs, rate_factor=self._rate_factor)

    def sample(self, sampling: Sampling) -> Any:
        return valued(self._prices.grid, simulate(self._shape, sampling))

    def with_rate(self, rate: Fraction) -> RevenueSampler:
        """Return the sampler at another rate of the law; its unit may differ from the cells'."""
        rate_factor = self._rate_factor * rate / self._rate
        return RevenueSampler(self._prices, self._runs, rate, rate_factor)


def whole(runs: Demand) -> Section:
    return Section(runs, 0.0, 0.0, lambda t: int(runs.bids[np.searchsorted(runs.last, t)]))


def section_of_runs(prices: Prices, runs: Demand, weighting: Weighting) -> Section:
    every = whole(runs)
    if not _many(prices, runs.total()):
        return every
    starts = prices.buckets[0]
    limits = _limits(prices, runs.bids[np.searchsorted(runs.last, starts)], weighting)
    first, last = np.searchsorted(runs.last, [limits.start, limits.stop - 1]).tolist()
    ends = runs.last[first : last + 1].copy()
    ends[-1] = limits.stop - 1
    some = Demand(ends, runs.bids[first : last + 1], limits.start)
    return Section(some, limits.below, limits.above, every.paying)


def section_of(prices: Prices, source: RecordSource, weighting: Weighting) -> Section:
    grid, total = prices.grid, source.total()
    if not _many(prices, total):
        return section_of_runs(prices, demand(source, grid), weighting)
    counts = source.histogram(prices.buckets[1])
    start, stop, paying, paying_above, below, above = _limits(
        prices, counts[::-1].cumsum()[::-1], weighting
    )
    points, number = NOTHING, NOTHING
    if not grid.even and MIN_BIDS_RATIO * (paying - paying_above) > total:
        number = source.histogram(grid)[start:stop]
    elif paying > paying_above:
        points, number, *_ = source.window(grid, total - paying, total - paying_above - 1)
        points = points - start
    runs = runs_of(points, number, stop - start)
    moved = Demand(runs.last + start, runs.bids + paying_above, start)
    return Section(moved, below, above, lambda t: total - source.below(grid, t))


def _many(prices: Prices, bids: int) -> bool:
    return bids >= MANY and prices.grid.size >= MANY


def _limits(prices: Prices, paying: IntArray, weighting: Weighting) -> _Limits:
    """Return the limits, from the number of bids that pay the first price of each bucket."""
    starts, size = prices.buckets[0], prices.grid.size
    stops = np.append(starts[1:], size)
    most = prices.bounds(paying, stops - 1)
    best = float((paying * prices.about(starts)).max())
    hopeful = np.flatnonzero(weighting.rate_nats * (best - most) < HOPELESS)
    first, last = int(hopeful[0]), int(hopeful[-1])
    return _Limits(
        int(starts[first]),
        int(stops[last]),
        int(paying[first]),
        int(np.append(paying, 0)[last + 1]),
        float(most[:first].max(initial=0.0)),
        float(most[last + 1 :].max(initial=0.0)),
    )
