"""From runs of prices to cells for draws.

* `Ticks`: whole numbers of ticks, one cell a price: exact;
* `Points`: prices that are any doubles, one cell a price, a product rounded up as its bound;
* `Runs`: many prices. Along a run the weight grows by a constant factor, so it is cut from
  its right end into cells, whose bound is the weight of their last price: the deeper below the
  best revenue, the wider. Hopeless runs are merged.

Cells and bounds steer only the effort: the exact coin makes the law the mechanism's.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from fractions import Fraction
from typing import Self

import numpy as np

from .._selection.weighting import Weighting
from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.bits.heights import FLOAT, SIGNED
from .cells import Cells, Words, coin, simulate
from .distance_statistic import valued
from .revenue import TABLE, Demand, Prices
from .twofold import times

EXACT = 1 << 53
# A product of bids and a price errs by less than 2**-50; this makes an upper bound of it.
ABOVE = 1 + 2.0**-48
FLAT = 2.0**-200  # nats a price: 2**52 of them come to nothing


def _levels() -> tuple[float, ...]:
    """Where runs are cut, in nats below the best revenue.

    Cells are an eighth of a nat wide at the top, then a quarter of their depth: where most
    of the weight is near the top, a coin passes in 5 of 6 cases. Below the last level, even
    2**52 prices weigh less than 2**-97.
    """
    levels = [0.125]
    while levels[-1] < 104.0:
        levels.append(levels[-1] * 1.25 + 0.125)
    return tuple(levels)


LEVELS = _levels()


class RevenueShape:
    """Cells of revenue, see `cells.Shape`: the exact test of a price against its bound."""

    __slots__ = ("cells", "prices", "runs", "weighting")

    cells: Cells

    def __init__(self, prices: Prices, runs: Demand, weighting: Weighting) -> None:
        self.prices, self.runs, self.weighting = prices, runs, weighting

    def with_rate(self, rate: Fraction) -> Self:
        """The same cells at another rate."""
        shape = copy(self)
        shape.weighting = self.weighting.with_rate(rate)
        return shape

    def heights(self, cell: IntArray, index: IntArray) -> FloatArray:
        """-ln P(a price passes), as floats; by fractions where nothing is faster."""
        pairs = zip(cell.tolist(), index.tolist(), strict=True)
        return np.array([float(self.exponent(c, i)) for c, i in pairs], np.float64)

    def accepts(self, cell: int, index: int, lead: int, bits: int, words: Words) -> bool:
        """Whether V < exp(-exponent), exactly; V begins with the `bits` digits of `lead`."""
        return coin(self.exponent(cell, index), lead, bits, words)

    def exponent(self, cell: int, index: int) -> Fraction:
        """rate * (bound - revenue), exactly, of a price in a loose cell."""
        bound = Fraction(float(self.cells.bits[cell].view(np.float64)))
        bids = int(self.runs.bids[np.searchsorted(self.runs.last, index)])
        return self.weighting.rate * (bound - self.prices.revenue(index, bids))

    def _bounds(self, bids: IntArray, t: IntArray) -> FloatArray:
        return np.asarray(ABOVE * (bids * self.prices.about(t)))

    def _excess(self, cell: IntArray, bids: FloatArray, t: IntArray) -> FloatArray:
        """The bound of each cell minus the revenue of a price t."""
        high, low = times(bids, *self.prices.in_units(t))
        return np.asarray((self.cells.bits[cell].view(np.float64) - high) - low)


class Ticks(RevenueShape):
    """Revenues in ticks, one cell a price; no cell is loose."""

    __slots__ = ()

    def __init__(self, prices: Prices, runs: Demand, weighting: Weighting) -> None:
        super().__init__(prices, runs, weighting)
        t = np.arange(prices.grid.size)
        revenue = prices.ticks(t)
        revenue *= runs.spread()
        self.cells = Cells(t, np.ones_like(t), revenue.view(np.uint64), SIGNED, None)


class Points(RevenueShape):
    """Prices from a grid of points: each is a cell, with a bound of its revenue."""

    __slots__ = ("_paying",)

    def __init__(self, prices: Prices, runs: Demand, weighting: Weighting) -> None:
        super().__init__(prices, runs, weighting)
        t, self._paying = np.arange(prices.grid.size), runs.spread()
        bound = self._bounds(self._paying, t)
        bound = np.where(self._paying > 0, np.nextafter(bound, np.inf), 0.0)  # tiny prices
        self.cells = Cells(t, np.ones_like(t), bound.view(np.uint64), FLOAT, self._paying > 0)

    def heights(self, cell: IntArray, index: IntArray) -> FloatArray:
        """-ln P(a price passes): by how much its bound is too high."""
        excess = self._excess(cell, self._paying[index].astype(np.float64), index)
        return self.weighting.rate_nats * excess


class Runs(RevenueShape):
    """The prices of an evenly spaced grid: parts of runs, or several hopeless runs together.

    `run` and `stop` are the first run and the last price of each cell, `single` says whether
    it lies in one run.
    """

    __slots__ = ("run", "single", "stop")

    def __init__(self, prices: Prices, runs: Demand, weighting: Weighting) -> None:
        super().__init__(prices, runs, weighting)
        first, last, bids = runs.first(), runs.last, runs.bids
        revenue = self._bounds(bids, last)
        depth = np.asarray(weighting.rate_nats * (revenue.max() - revenue), np.float64)
        hopeless = depth > LEVELS[-1]
        opens = ~(hopeless & np.append(False, hopeless[:-1]))  # the others continue a cell
        slope = np.asarray(weighting.rate_nats * (bids * prices.step[0]), np.float64)
        start = np.sort(np.concatenate([first[opens], *_cuts(first, last, depth, slope)]))
        start = start[np.diff(start, prepend=-1) > 0]
        self.stop = np.append(start[1:] - 1, prices.grid.size - 1)
        self.run = np.searchsorted(last, start)
        self.single = self.stop <= last[self.run]
        greatest = np.maximum.reduceat(revenue, np.flatnonzero(opens))
        merged = greatest[np.cumsum(opens)[self.run] - 1]
        bound = np.where(self.single, self._bounds(bids[self.run], self.stop), merged)
        loose = ~self.single | (bids[self.run] > 0)
        self.cells = Cells(start, self.stop - start + 1, bound.view(np.uint64), FLOAT, loose)

    def with_rate(self, rate: Fraction) -> Runs:
        """The same runs at another rate, cut anew."""
        return Runs(self.prices, self.runs, self.weighting.with_rate(rate))

    def heights(self, cell: IntArray, index: IntArray) -> FloatArray:
        """-ln P(a price passes): by how much the bound is too high, and the steps to its price.

        For merged runs, whose prices are hardly ever drawn, it is computed in fractions.
        """
        bids, stop = self.runs.bids[self.run[cell]].astype(np.float64), self.stop[cell]
        down = bids * (stop - index) * self.prices.step[0]
        out = np.asarray(self.weighting.rate_nats * (self._excess(cell, bids, stop) + down))
        merged = np.flatnonzero(~self.single[cell])
        out[merged] = super().heights(cell[merged], index[merged])
        return out


def _cuts(
    first: IntArray, last: IntArray, depth: FloatArray, slope: FloatArray
) -> Iterator[IntArray]:
    """Where cells begin inside runs: the first price within each level."""
    alive = np.flatnonzero((depth < LEVELS[-1]) & (slope > FLAT))
    for level in LEVELS:
        steps = np.floor((level - depth[alive]) / slope[alive])
        cut = last[alive] - np.minimum(steps, float(EXACT))
        inside = cut > first[alive]
        yield cut[inside & (steps >= 0)].astype(np.int64)
        alive = alive[inside]


def shape_of(prices: Prices, runs: Demand, table: int = TABLE) -> RevenueShape:
    """Revenues as cells; up to `table` evenly spaced prices have a cell each."""
    fits = prices.fits(runs.total())
    if prices.grid.points is None and (prices.grid.size > table or not fits):
        return Runs(prices, runs, prices.roughly)
    return Ticks(prices, runs, prices.exactly) if fits else Points(prices, runs, prices.roughly)


class RevenueSampler:
    """Draws of a law: the bytes of the mechanism's own.

    `faster` is the law's rate over the mechanism's; cells are made at the first draw.
    """

    __slots__ = ("_faster", "_prices", "_rate", "_runs", "_shape")

    def __init__(
        self, prices: Prices, runs: Demand, rate: Fraction, faster: Fraction | int = 1
    ) -> None:
        self._prices, self._runs, self._rate, self._faster = prices, runs, rate, Fraction(faster)
        self._shape: RevenueShape | None = None

    def sample(
        self, size: object, rng: object, streams: object, threads: object, method: object
    ) -> int | float | AnyArray:
        """Values; see the mechanism's `sample`."""
        if self._shape is None:
            shape = shape_of(self._prices, self._runs)
            self._shape = shape.with_rate(shape.weighting.rate * self._faster)
        index = simulate(self._shape, size, rng, streams, threads, method)
        return valued(self._prices.grid, index)

    def with_rate(self, rate: Fraction) -> RevenueSampler:
        """The same bids at another rate of the law; its unit may differ from the cells'."""
        faster = self._faster * rate / self._rate
        return RevenueSampler(self._prices, self._runs, rate, faster)
