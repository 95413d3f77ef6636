"""What a law on a grid holds: rows of points and their losses, made when they are first needed."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from .._intake.record_sources import Source
from .._numbers import rank_errors
from .._numbers.distance_statistic import DistanceStatistic
from .._numbers.rank import RankStatistic
from .._numbers.row_cells import RowCells
from .._parameters.grid import Grid
from .._typing import AnyArray, FloatArray, IntArray
from .exact_differences import differences
from .piece_shapes import Points
from .pieces import Pieces
from .piecewise import Body
from .point_utilities import multiples


class LawCells(Body, Protocol):
    """The cells of a data set, as laws sum them. Private data."""

    @property
    def start(self) -> IntArray:
        """The index of each cell's first point, increasing from 0."""
        ...

    def errors(self, rate: Fraction, places: IntArray, shares: FloatArray) -> FloatArray | None:
        """E|output - truth| in steps, for truths `shares` of a step above points `places`.

        They lie within the grid. None where the sums of all cells are to say it.
        """
        ...


class GridCells:
    """Cells that are known.

    `start` has the index of each cell's first point, increasing from 0, `count` how many points it
    has, `loss` the loss at its first point (the least of all points is 0), `slope` the change of
    the loss from one point to the next; None: none. `best` is the best utility.
    """

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
        gap = size if grid.points is None else _gaps(grid.points)
        self.pieces = Pieces(Points(), size, gap, at, steep, flip)

    def errors(self, rate: Fraction, places: IntArray, shares: FloatArray) -> FloatArray | None:
        """None."""
        del rate, places, shares  # the sums of all cells are there
        return None


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


def _gaps(points: AnyArray) -> FloatArray:
    """From each point of a given grid to the next; the last counts as one."""
    return np.append(differences(points[1:], points[:-1]), 1.0)
