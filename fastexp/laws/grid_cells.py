"""What a law on a grid holds: rows of points and their losses, made when they are first needed."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np

from .._intake.record_sources import Source
from .._numbers import rank_errors
from .._numbers.distance_statistic import DistanceStatistic
from .._numbers.laplace import Truth
from .._numbers.rank import RankStatistic
from .._numbers.rank_cells import RowCells
from .._numbers.revenue import Demand, Prices
from .._parameters.grid import Grid
from .._typing import AnyArray, FloatArray, IntArray
from .exact_differences import EXACT, differences
from .piece_shapes import Points
from .pieces import Pieces

LARGE = 1 << 62


class GridCells:
    """Cells that are known.

    `start` has the index of each cell's first point, increasing from 0, `count` how many points it
    has, `loss` the loss at its first point (the least of all points is 0), `slope` the change of
    the loss from one point to the next; None: none. `best` is the best utility.
    """

    best: float
    start: IntArray

    def __init__(
        self,
        grid: Grid,
        start: IntArray,
        count: IntArray,
        loss: AnyArray,
        slope: FloatArray | None,
        best: float,
    ) -> None:
        if grid.points is not None and start.size < grid.size:
            start, count, loss, slope = _singles(start, count, loss, slope)
        self.start, self.best = start, best
        if slope is not None and bool((count == 1).all()):
            slope = None
        size = count.astype(np.float64)
        at, steep, flip = loss.astype(np.float64), None, None
        if slope is not None:
            flip, steep = slope < 0, np.abs(slope)
            at = np.where(flip, _last_losses(loss, slope, count), at)
        gap = size
        if grid.points is not None:  # the last one counts as one
            gap = np.append(differences(grid.points[1:], grid.points[:-1]), 1.0)
        self.pieces: Pieces = Pieces(Points(), size, gap, at, steep, flip)


class DistanceCells:
    """Cells by distance of records that are held: all of them are seldom needed.

    `unit`: one integer of the distance in units of the utility.
    """

    def __init__(self, statistic: DistanceStatistic, source: Source, unit: Fraction) -> None:
        self._statistic, self._source, self._unit = statistic, source, unit
        self._some: dict[tuple[Fraction, int], RowCells] = {}  # by rate and bits

    @cached_property
    def _cells(self) -> GridCells:
        start, count, distance = self._statistic.cells(self._source)
        nearest = int(distance.min())
        distance -= nearest
        best = -float(nearest * self._unit)
        return GridCells(self._statistic.grid, start, count, distance, None, best)

    @cached_property
    def _distances(self) -> tuple[IntArray, IntArray]:
        start, _, distance = self._statistic.cells(self._source)
        return start, distance

    def utilities(self, points: IntArray) -> AnyArray:
        """Minus the distances of points, exactly."""
        start, distance = self._distances
        cell = np.searchsorted(start, points, "right") - 1
        return multiples(-distance[cell], self._unit)

    @property
    def start(self) -> IntArray:
        """The index of each cell's first point, increasing from 0."""
        return self._cells.start

    @property
    def pieces(self) -> Pieces:
        """The cells, as laws sum them."""
        return self._cells.pieces

    @property
    def best(self) -> float:
        """The best utility."""
        return self._cells.best

    def errors(self, rate: Fraction, places: IntArray, shares: FloatArray) -> FloatArray | None:
        """Of rank statistics by the cells of the ranks that count."""
        statistic = self._statistic
        if not isinstance(statistic, RankStatistic):
            return None
        if rate != statistic.weighting.rate:
            statistic = statistic.with_rate(rate)

        def cells(bits: int) -> RowCells:
            key = rate, bits
            if key not in self._some:
                some = rank_errors.cells_that_matter(statistic, self._source, bits)
                self._some[key] = some
            return self._some[key]

        nats = statistic.weighting.rate_nats
        return rank_errors.errors_by_cells(nats, cells, places, shares)


LawCells: TypeAlias = GridCells | DistanceCells


def _singles(
    start: IntArray, count: IntArray, loss: AnyArray, slope: FloatArray | None
) -> tuple[IntArray, IntArray, AnyArray, None]:
    """Cells of one point each: the points of a given grid are not evenly spaced."""
    points = np.arange(int(count.sum()))
    loss = np.repeat(loss, count)
    if slope is not None:
        loss = np.maximum(loss + np.repeat(slope, count) * (points - np.repeat(start, count)), 0)
    return points, np.ones(points.size, np.int64), loss, None


def _last_losses(loss: AnyArray, slope: FloatArray, count: IntArray) -> FloatArray:
    """The losses at the cells' last points: exact, then rounded once, where all are integers."""
    whole = loss.dtype.kind == "i" and bool((slope == np.rint(slope)).all())
    if whole and bool((np.abs(slope) < 2.0**63).all()):
        return np.asarray(loss + slope.astype(np.int64) * (count - 1), np.float64)  # mod 2**64
    with np.errstate(over="ignore"):
        return np.asarray(np.maximum(loss + slope * (count - 1), 0.0), np.float64)


def multiples(numbers: AnyArray, unit: Fraction) -> AnyArray:
    """Integers times a unit: int64 where all products are integers of 64 bits, else float64."""
    over, under = unit.numerator, unit.denominator
    most = int(np.abs(numbers).max(initial=0)) * over
    if under == 1 and most < LARGE:
        return np.asarray(numbers * over, np.int64)
    if max(most, under) <= EXACT:
        return np.asarray(numbers * over, np.float64) / under
    return np.array([number * over / under for number in numbers.tolist()], np.float64)


def revenues(prices: Prices, runs: Demand, t: IntArray) -> AnyArray:
    """The revenue of prices t."""
    bids, points = runs.bids[np.searchsorted(runs.last, t)], prices.grid.points
    if points is not None and not prices.grid.whole:
        return np.asarray(bids * points[t])
    if prices.fits(runs.total()):
        return multiples(bids * prices.ticks(t), prices.tick)
    pairs = zip(bids.tolist(), t.tolist(), strict=True)
    exact = [paying * prices.grid.exact(i) / prices.tick for paying, i in pairs]
    return multiples(np.array([ticks.numerator for ticks in exact], object), prices.tick)


def minus_distances(truth: Truth, first: int, t: IntArray) -> AnyArray:
    """Minus the distance from a statistic; point 0 is `first` steps above the one below it."""
    _, step, under = truth.grid.unit
    steps = t + first
    if (int(np.abs(steps).max(initial=0)) + 1) * truth.under >= LARGE:
        steps = steps.astype(object)
    numbers = -np.abs(steps * truth.under - truth.rest)
    return multiples(numbers, Fraction(step, under * truth.under))
