"""Revenue: price * number of bids >= price, over a public grid of prices.

All prices between two consecutive distinct bids are paid by the same bids; these *runs* of prices
are all that is kept of the data. A revenue is never one rounded product: it is a whole number
of ticks, or a sum of two doubles beside an exact fraction.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._intake.record_sources import RecordSource
from .._parameters.grid import Grid, make_grid
from .._selection.weighting import Weighting
from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.numbers.histogram import runs_fill
from ..privacy.rates import price_rate

TABLE = 1 << 20  # most prices of a table: reading more of them would dominate the time
MAX_TICKS = 1 << 62  # revenues in ticks are below it
NONE: IntArray = np.zeros(0, np.int64)
BUCKETS = 1 << 11  # ranges of prices: their table lies in the L2 cache
# A product of bids and a price errs by less than 2**-50; this makes an upper bound of it.
ABOVE = 1 + 2.0**-48
# Numbers as sums of two doubles, the first of which is the sum, rounded: 2**-100 relative, with the
# same bits everywhere, by +, - and *, each rounded once (Dekker, "A floating-point technique for
# extending the available precision", 1971); nothing may overflow or become subnormal.
DoubleDouble: TypeAlias = tuple[FloatArray, FloatArray]


class Prices:
    """A grid of prices, with the exact rates of revenue in ticks, and in the unit of floats.

    `most` is the highest price in ticks, 0 if int64 does not hold the prices in ticks. `unit` is
    the highest price of an evenly spaced grid, else 1.
    """

    grid: Grid
    highest: Fraction

    def __init__(self, grid: Grid, epsilon: float, scaling: str) -> None:
        self.grid, self.highest = grid, grid.exact(grid.size - 1)
        self.tick: Fraction = Fraction(1, grid.unit[2])
        ticks = self.highest / self.tick
        known = (grid.even or grid.whole) and ticks < MAX_TICKS
        self.most: int = int(ticks) if known else 0
        self.unit: Fraction = self.highest if grid.even else Fraction(1)
        self.float_weighting: Weighting = Weighting(
            price_rate(epsilon, self.highest / self.unit, scaling), None
        )
        self.tick_weighting: Weighting = self.float_weighting
        if known:
            self.tick_weighting = Weighting(price_rate(epsilon, ticks, scaling), None)

    def fits(self, bids: int) -> bool:
        """Whether the revenue of this many bids is a whole number of ticks in int64."""
        return self.most > 0 and bids * self.most < MAX_TICKS

    def ticks(self, t: IntArray) -> IntArray:
        """Return prices t in ticks; `most` must be > 0."""
        if not self.grid.even:
            ticks: IntArray = self.grid.points[t]
            return ticks
        a, s, _ = self.grid.unit
        ticks = t * s
        ticks += a
        return ticks

    def about(self, t: IntArray) -> FloatArray:
        """Return prices t divided by `unit`, to 2**-51."""
        if not self.grid.even:
            return self.grid.points[t].astype(np.float64)
        even: FloatArray = float(self.grid.exact(0) / self.unit) + t * np.float64(self.step[0])
        return even

    def bounds(self, bids: IntArray, t: IntArray) -> FloatArray:
        """Return upper bounds of the revenue of prices t that `bids` pay, divided by `unit`."""
        bound = ABOVE * (bids * self.about(t))
        return np.where(bids > 0, np.nextafter(bound, np.inf), 0.0)  # prices may be tiny

    @cached_property
    def buckets(self) -> tuple[IntArray, Grid]:
        """The first price of each of BUCKETS ranges of prices, and the grid of these prices."""
        starts = np.arange(BUCKETS) * self.grid.size // BUCKETS
        points = self.grid.values(starts)
        return starts, make_grid((points[0], points[-1]), grid=points, rule="below")

    def in_units(self, t: IntArray) -> DoubleDouble:
        """Return prices t divided by `unit`, to 2**-100."""
        if not self.grid.even:
            return double_double(self.grid.points[t])
        lowest = split(self.grid.exact(0) / self.unit)
        high, low = self.step
        return plus(times(t.astype(np.float64), high, low), lowest)

    @property
    def step(self) -> tuple[float, float]:
        """The step of an evenly spaced grid divided by `unit`, in two doubles."""
        return split(Fraction(self.grid.unit[1], self.grid.unit[2]) / self.unit)

    def revenue(self, t: int, bids: int) -> Fraction:
        """Return the exact revenue of price t divided by `unit`."""
        return bids * self.grid.exact(t) / self.unit


class Demand(NamedTuple):
    """Runs of prices: the index of each run's last price, and the number of bids that pay it.

    `start` is the index of the first run's first price.
    """

    last: IntArray
    bids: IntArray
    start: int = 0

    def total(self) -> int:
        """Return the number of all bids; runs must start at the lowest price, which all pay."""
        return int(self.bids[0])

    def first(self) -> IntArray:
        """Return the index of each run's first price."""
        first = np.empty_like(self.last)
        first[0] = self.start
        np.add(self.last[:-1], 1, out=first[1:])
        return first

    def spread(self) -> IntArray:
        """Return the number of bids that pay each price; do not write to it."""
        if self.last.size == self.last[-1] + 1 - self.start:  # every price is a run
            return self.bids
        return np.repeat(self.bids, np.diff(self.last, prepend=self.start - 1))


def demand(source: RecordSource, grid: Grid) -> Demand:
    counts = (NONE, source.histogram(grid)) if grid.size <= TABLE else source.counts(grid)
    return runs_of(*counts, grid.size)


def runs_of(points: IntArray, number: IntArray, size: int) -> Demand:
    """Return the runs of `size` prices, for `number` bids at `points` (if empty, at each price)."""
    last, bids = np.empty(number.size + 1, np.int64), np.empty(number.size + 1, np.int64)
    first = runs_fill(points, number, size, last, bids)
    last, bids = last[first:], bids[first:]
    few = 2 * last.size < number.size  # then copies free the rest
    return Demand(last.copy(), bids.copy()) if few else Demand(last, bids)


class Losses(NamedTuple):
    """The best revenue minus that of each cell's last price, as `laws/grid.py` takes them."""

    start: IntArray
    size: IntArray
    loss: AnyArray
    slope: FloatArray | None
    best: float
    unit: Fraction
    rate: Fraction


def losses(prices: Prices, runs: Demand) -> Losses:
    """Return the losses of whole runs, or of each price on a grid of points."""
    even = prices.grid.even
    if not even:
        runs = Demand(np.arange(prices.grid.size), runs.spread())
    exact = prices.fits(runs.total())
    cells = _exact_losses(prices, runs) if exact else _losses(prices, runs)
    return cells if even else cells._replace(slope=None)


def _exact_losses(prices: Prices, runs: Demand) -> Losses:
    start, loss = runs.first(), prices.ticks(runs.last)
    loss *= runs.bids  # in place: pages of fresh arrays cost more than the arithmetic
    best = int(loss.max())
    np.subtract(best, loss, out=loss)
    slope = -(runs.bids * prices.grid.unit[1]).astype(np.float64)
    top, rate = float(best * prices.tick), prices.tick_weighting.rate
    return Losses(start, runs.last - start + 1, loss, slope, top, prices.tick, rate)


def _losses(prices: Prices, runs: Demand) -> Losses:
    start, even = runs.first(), prices.grid.even
    high, low = times(runs.bids.astype(np.float64), *prices.in_units(runs.last))
    at = int(np.lexsort((low, high))[-1])
    loss = (high[at] - high) + (low[at] - low)
    slope: FloatArray = -(runs.bids * np.float64(prices.step[0] if even else 0.0))
    best = float(prices.revenue(int(runs.last[at]), int(runs.bids[at])) * prices.unit)
    size, unit = runs.last - start + 1, prices.unit
    return Losses(start, size, loss, slope, best, unit, prices.float_weighting.rate)


def split(number: Fraction) -> tuple[float, float]:
    high = float(number)
    return high, float(number - Fraction(high))


def double_double(numbers: AnyArray) -> DoubleDouble:
    """Return float64 or int64 numbers as two doubles, exactly."""
    if numbers.dtype.kind == "f":
        return numbers, np.zeros_like(numbers)
    rest = numbers & 2047  # int64 without its last 11 bits is a double
    return _normal((numbers - rest).astype(np.float64), rest.astype(np.float64))


def times(x: Any, high: Any, low: Any) -> DoubleDouble:
    """Return x * (high + low) in two doubles."""
    product = x * high
    x_top, high_top = _top(x), _top(high)
    x_rest, high_rest = x - x_top, high - high_top
    rounding_error = x_top * high_top - product
    rounding_error = ((rounding_error + x_top * high_rest) + x_rest * high_top) + x_rest * high_rest
    return _normal(product, rounding_error + x * low)


def plus(x: DoubleDouble, y: tuple[float, float]) -> DoubleDouble:
    total = x[0] + y[0]
    other = total - x[0]
    rounding_error = (x[0] - (total - other)) + (y[0] - other)
    return _normal(total, rounding_error + (x[1] + y[1]))


def _top(x: Any) -> Any:
    """Return the upper 26 bits of a double."""
    scaled = x * 134217729.0  # 2**27 + 1
    return scaled - (scaled - x)


def _normal(high: FloatArray, low: FloatArray) -> DoubleDouble:
    total = high + low
    return total, low - (total - high)
