"""The exact law of a private number on a public grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Protocol, Self, TypeAlias, overload

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake.record_sources import Counted, RecordSource
from .._numbers import rank_errors
from .._numbers.distance_statistic import DistanceStatistic, StatisticSampler
from .._numbers.laplace import Truth
from .._numbers.rank import RankStatistic
from .._numbers.revenue import Demand, Prices
from .._parameters import validate
from .._parameters.grid import Grid
from .._parameters.validate import MAX_EXACT
from .._randomness.sampling import Sampling
from .._typing import AnyArray, ArrayLike, FloatArray, IntArray, Scalar, Values
from ..errors import ParameterError
from ..pictures.law_painters import Laws
from .elementary import (
    Tails,
    added,
    differences,
    elementwise,
    exp,
    frozen,
    least,
    quiet,
    reached,
)
from .pieces import POINTS, Distances, PiecePosition, Pieces
from .piecewise import PiecewiseLaw
from .privacy_loss import LossPieces, Steps
from .targets import Target

MAX_LISTED = 1 << 24  # most points that `probabilities` lists
LARGE = 1 << 62
FAR = 745.0  # nats below the largest term at which terms are 0 in float64
WAYS = 128  # parts into which a search for a point cuts its interval at a time


def grid_cells(
    grid: Grid,
    start: IntArray,
    count: IntArray,
    loss: AnyArray,
    best: float,
    slope: FloatArray | None = None,
) -> Pieces:
    """Return cells of evenly spaced points whose loss changes by a constant from point to point.

    `start` holds the index of each cell's first point, increasing from 0, `count` its number of
    points, `loss` the least loss of its points (the least of all is 0), and `slope` the change of
    the loss from one point to the next (None: no change). `best` is the best utility.
    """
    if not grid.even and start.size < grid.size:  # the points of a given grid are not evenly spaced
        single = np.ones_like(grid.points)  # raises if the points are too many
        start, loss, count = np.arange(grid.size), np.repeat(loss, count), single
    if slope is not None and bool((count == 1).all()):
        slope = None
    gap = size = count.astype(np.float64)
    if not grid.even:  # the last gap counts as 1
        gap = np.append(differences(grid.points[1:], grid.points[:-1]), 1.0)
    return Pieces(POINTS, size, gap, loss.astype(np.float64), slope, start, best)


class DistanceCells:
    """Cells of equal distance from records, computed when they are first needed.

    `unit`: a distance of 1 in units of the utility.
    """

    def __init__(self, statistic: DistanceStatistic, source: RecordSource, unit: Fraction) -> None:
        self._statistic, self._source, self._unit = statistic, source, unit

    @cached_property
    def pieces(self) -> Pieces:
        """All cells."""
        start, count, distance = self._statistic.cells(self._source)
        nearest = int(distance.min())
        distance -= nearest
        best = -float(nearest * self._unit)
        return grid_cells(self._statistic.grid, start, count, distance, best)

    @cached_property
    def _distances(self) -> tuple[IntArray, IntArray]:
        start, _, distance = self._statistic.cells(self._source)
        return start, distance

    def utilities(self, points: IntArray) -> AnyArray:
        """Return minus the distance of each point, exactly."""
        start, distance = self._distances
        cell = np.searchsorted(start, points, "right") - 1
        return multiples(-distance[cell], self._unit)

    def errors(self, rate: Fraction, places: IntArray, shares: FloatArray) -> FloatArray | None:
        """Return expected errors by the cells of the ranks that matter; None without ranks."""
        statistic = self._statistic
        if not isinstance(statistic, RankStatistic):
            return None
        if rate != statistic.weighting.rate:
            statistic = statistic.with_rate(rate)
        cells = partial(rank_errors.cells_that_matter, statistic, self._source)
        nats = statistic.weighting.rate_nats
        return rank_errors.errors_by_cells(nats, cells, places, shares)


LawCells: TypeAlias = Pieces | DistanceCells


def multiples(numbers: AnyArray, unit: Fraction) -> AnyArray:
    """Return integers times a unit: int64 if all products are integers of 64 bits, else float64."""
    over, under = unit.numerator, unit.denominator
    most = int(np.abs(numbers).max(initial=0)) * over
    if under == 1 and most < LARGE:
        return np.asarray(numbers * over, np.int64)
    if max(most, under) <= MAX_EXACT:
        return np.asarray(numbers * over, np.float64) / under
    return np.array([number * over / under for number in numbers.tolist()], np.float64)


def revenues(prices: Prices, runs: Demand, t: IntArray) -> AnyArray:
    """Return the revenue of the prices with grid indices t."""
    bids = runs.bids[np.searchsorted(runs.last, t)]
    if not prices.grid.even and not prices.grid.whole:
        return np.asarray(bids * prices.grid.points[t])
    if prices.fits(runs.total()):
        return multiples(bids * prices.ticks(t), prices.tick)
    pairs = zip(bids.tolist(), t.tolist(), strict=True)
    exact = [paying * prices.grid.exact(i) / prices.tick for paying, i in pairs]
    return multiples(np.array([ticks.numerator for ticks in exact], object), prices.tick)


def minus_distances(truth: Truth, first: int, t: IntArray) -> AnyArray:
    """Return minus the distance of points from a statistic.

    Point 0 is `first` steps above the point below the statistic.
    """
    _, step, under = truth.grid.unit
    steps = t + first
    if (int(np.abs(steps).max(initial=0)) + 1) * truth.under >= LARGE:
        steps = steps.astype(object)
    numbers = -np.abs(steps * truth.under - truth.rest)
    return multiples(numbers, Fraction(step, under * truth.under))


class Sampler(Protocol):
    """An object that draws from the law; the mechanism makes it of the same data."""

    def sample(self, sampling: Sampling, /) -> Any:
        """Return the draws of ``mechanism.sample``, byte for byte."""
        ...

    def with_rate(self, rate: Fraction) -> Sampler:
        """Return a sampler of the same data at another rate."""
        ...


class GridLaw(PiecewiseLaw):
    """The exact distribution of a private number that is released on a public grid.

    Made by ``mechanism.law(records)``. It holds the records, or the cells that they make (runs
    of grid points between records): **it is private data**, and so is a pickle of it, for
    analysis and simulation only; its repr shows nothing of them.

    Parameters
    ----------
    grid : Grid
        The public points.
    cells : LawCells
        Runs of grid points with their losses.
    unit : Fraction
        What a loss of 1 is, in units of the utility.
    rate : Fraction
        The weight of a point is exp(-rate * loss).
    epsilon : float
        In nats.
    sampler : Sampler
        Draws from this law.

    Notes
    -----
    Masses, moments, errors and quantiles are closed forms in each cell: sums over evenly spaced
    points, with weights that are constant or geometric.

    **Numerics**: float64; a weight of exp(-y) carries a relative error of a few y * 2**-53 (y of
    its cell's first point, where losses are not integers), each sum is compensated, tails are
    summed from their own end and keep their digits; probabilities below 1e-307 are given as 0.
    `cdf`, `pmf` and `ppf` compare with the points as they are released; in `mean`, `var` and
    `expected_error` evenly spaced points are the exact numbers before they are rounded to float64.
    Arguments are taken exactly, integers of 64 bits too; so are their distances from points,
    which are then rounded once. With m cells, statistics cost O(m) once for each epsilon
    and then O(log m) for each argument; the losses are sorted once for all epsilon. Loss
    statistics of a law whose losses vary within a cell take O(m) for each t.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy", CCS
    2012 (why a release is a point of a public grid). Ghosh, Roughgarden and Sundararajan,
    "Universally utility-maximizing privacy mechanisms", STOC 2009 (geometric weights).

    Examples
    --------
    >>> import fastexp as fx
    >>> law = fx.Median(epsilon=1.0, bounds=(0, 10), step=1).law([1, 2, 4, 7])
    >>> law
    GridLaw(Median(epsilon=1.0, bounds=(0, 10), step=1))
    >>> law.ppf([0.25, 0.5, 0.75])
    array([2, 4, 5])
    >>> round(law.mean(), 6), round(law.expected_error(3), 6)
    (3.918674, 1.773183)
    >>> law.pmf([2, 2.5, 3]).round(6)
    array([0.199487, 0.      , 0.199487])
    """

    def __init__(
        self,
        grid: Grid,
        cells: LawCells,
        unit: Fraction,
        rate: Fraction,
        epsilon: float,
        sampler: Sampler,
    ) -> None:
        self._grid, self._sampler = grid, sampler
        super().__init__(cells, unit, rate, epsilon)

    _utility: Callable[[IntArray], AnyArray] | None = None  # of points, by their index
    _by_distance: bool = False  # whether losses are distances from the statistic: errors

    def _with_rate(self, rate: Fraction, epsilon: float) -> Self:
        law = super()._with_rate(rate, epsilon)
        law._sampler = self._sampler.with_rate(rate)
        return law

    def _subject(self) -> Laws:
        return replace(super()._subject(), grid=self._grid)

    def _identity(self) -> tuple[object, ...]:
        return self._grid, *super()._identity()

    @property
    def grid(self) -> Grid:
        """The public points."""
        return self._grid

    @property
    def points(self) -> AnyArray:
        """All points in increasing order, shape (G,); at most 2**24."""
        check_rounding()
        return np.asarray(self._grid.values(self._all()))

    @property
    def probabilities(self) -> FloatArray:
        """P(point), shape (G,), read-only; at most 2**24 points."""
        check_rounding()
        return frozen(exp(self.log_probabilities))

    @cached_property
    def log_probabilities(self) -> FloatArray:
        """ln P(point), shape (G,), read-only; at most 2**24 points."""
        check_rounding()
        return frozen(self._log_pmf(self._all()))

    def as_dict(self) -> dict[int | float, float]:
        """Each point and its probability; at most 2**24 points."""
        return dict(zip(self.points.tolist(), self.probabilities.tolist(), strict=True))

    def _all(self) -> IntArray:
        if self._grid.size > MAX_LISTED:
            raise ParameterError(
                "points and probabilities are listed for grids of at most 2**24 points, got "
                f"{self._grid.size}; use pmf, cdf and ppf"
            )
        return np.arange(self._grid.size)

    @quiet
    def _log_pmf(self, points: IntArray) -> FloatArray:
        return -(float(self._rate) * self._heights(points)[0] + self._weights.log_total)

    @overload
    def pmf(self, x: Scalar) -> float: ...
    @overload
    def pmf(self, x: Values) -> FloatArray: ...
    def pmf(self, x: ArrayLike) -> float | FloatArray:
        """P(output = x), elementwise: 0 off the grid.

        Parameters
        ----------
        x

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `x`.
        """
        return elementwise(self._pmf, self._numbers("x", x))

    def _pmf(self, x: AnyArray) -> FloatArray:
        points, on_grid = self._points_at(x)
        return np.where(on_grid, exp(self._log_pmf(points)), 0.0)

    def _points_at(self, x: AnyArray) -> tuple[IntArray, AnyArray]:
        """Return the index of the point at or below each number (or 0), and whether it is equal."""
        points = np.maximum(self._grid.places(x) - 1, 0)
        return points, differences(x, self._grid.values(points)) == 0.0

    @overload
    def utility(self, points: Scalar) -> int | float: ...
    @overload
    def utility(self, points: Values) -> AnyArray: ...
    def utility(self, points: ArrayLike) -> int | float | AnyArray:
        """The utility of points of the grid, elementwise: weights are exp(c * utility).

        Of `Median`, `Quantile`, `OrderStatistic`, `Maximum` and `Mode` it is minus the distance d
        that the mechanism documents (with `widen` the least one around the point), of `Price` the
        revenue, of `Laplace` minus the distance from the statistic, within the bounds if there are
        any. c is the mechanism's: epsilon / 2 of a median, for instance.

        Parameters
        ----------
        points : array_like
            Points of the grid, as they are released.

        Returns
        -------
        int, float or ndarray of int64 or float64
            The shape of `points`. Exact: integers where all utilities are integers (of 64 bits),
            else each of them rounded to float64 once.

        Raises
        ------
        ParameterError, ParameterTypeError
            If `points` are not numbers, one of them is no point of the grid (of `Laplace` without
            bounds also if it is so far away that its probability counts as 0), or the law is of
            one of several quantiles.

        Examples
        --------
        >>> import fastexp as fx
        >>> law = fx.Median(epsilon=1.0, bounds=(0, 10), step=1).law([1, 2, 4, 7])
        >>> law.utility([0, 1, 2, 3, 4])
        array([-4, -2,  0,  0,  0])
        >>> price = fx.Price(epsilon=5.0, bounds=(0, 3.5), step=0.01).law([1, 1, 1, 3.01])
        >>> price.utility([1, 3, 3.01, 3.02])
        array([4.  , 3.  , 3.01, 0.  ])
        """
        if self._utility is None:
            raise ParameterError("utility needs a law that a mechanism computed from data")
        return elementwise(self._utilities, self._numbers("points", points))

    def _utilities(self, x: AnyArray) -> AnyArray:
        index, on_grid = self._points_at(x)
        if not bool(on_grid.all()) or self._utility is None:
            raise ParameterError("points must be points of the grid: other numbers have no utility")
        return self._utility(index)

    def _outputs(self) -> tuple[object, ...]:
        return self._epsilon, self._rate, self._unit, self._grid

    def _against(self, other: Self) -> LossPieces:
        """Return runs of points within one cell of each law, on which both losses are linear."""
        start = np.union1d(self._pieces.start, other._pieces.start)
        size = np.diff(np.append(start, self._grid.size)).astype(np.float64)
        rate, totals = float(self._rate), (self._weights.log_total, other._weights.log_total)
        (loss, growth), (others, other_growth) = self._heights(start), other._heights(start)
        first, second = -(rate * loss + totals[0]), -(rate * others + totals[1])
        steps = Steps(-rate * growth, -rate * other_growth, rate * (other_growth - growth))
        ratio = rate * (others - loss) + (totals[1] - totals[0])
        return LossPieces(size, first, second, ratio, start, steps)

    def _output_at(self, index: int) -> int | float:
        return self._grid.value(index)

    def _heights(self, points: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the loss of each point, and its change to the next point."""
        cell, p = self._cells(points), self._pieces
        if p.slope is None:
            return p.loss[cell], np.zeros(points.size)
        slope, y = p.slope[cell], (points - p.start[cell]).astype(np.float64)
        y = np.where(slope < 0, p.size[cell] - 1.0 - y, y)
        return p.loss[cell] + np.abs(slope) * y, slope

    def _draw(self, sampling: Sampling) -> Any:
        return self._sampler.sample(sampling)

    def _cells(self, points: IntArray) -> IntArray:
        return np.searchsorted(self._pieces.start, points, "right") - 1

    @property
    def _size(self) -> Fraction:
        return step_size(self._grid)

    def _ends(self) -> AnyArray:
        p = self._pieces
        if not self._grid.even:
            return self._grid.points
        falls = False if p.slope is None else p.slope < 0
        return p.start + falls * (p.size.astype(np.int64) - 1)

    def _exact(self, end: Any) -> Fraction:
        return Fraction(end if not self._grid.even else self._grid.exact(end))

    def _support(self) -> AnyArray:
        return np.asarray(self._grid.values(np.array([0, self._grid.size - 1])))

    def _numbers(self, name: str, value: ArrayLike) -> AnyArray:
        return validate.exact_reals(name, value)

    def _split(self, x: AnyArray) -> Tails:
        return self._split_at(self._grid.places(x))

    def _split_at(self, places: IntArray) -> Tails:
        """Return P(output is one of the first `places` points) and P(it is another point)."""
        cell = self._cells(np.maximum(places - 1, 0))
        low = (places - self._pieces.start[cell]).astype(np.float64)
        return self._weights.split(PiecePosition(cell, low, self._pieces.size[cell] - low))

    def _invert(self, p: FloatArray) -> AnyArray:
        cell = self._weights.find(p)
        first = self._pieces.start[cell]
        last = first + self._pieces.size[cell].astype(np.int64)
        places = least(first + 1, last, lambda n, i: reached(*self._split_at(n), p[i]))
        return np.asarray(self._grid.values(places - 1))

    def _expected_errors(self, truth: AnyArray) -> FloatArray:
        if self._grid.even and isinstance(self._body, DistanceCells):
            points = np.maximum(self._grid.places(truth) - 1, 0)
            off = differences(truth, self._grid.values(points))
            outside = np.where((off < 0.0) | (points == self._grid.size - 1), off, 0.0)
            shares = (off - outside) / self._scale
            if (errors := self._body.errors(self._rate, points, shares)) is not None:
                return errors * self._scale + np.abs(outside)
        return super()._expected_errors(truth)

    @quiet
    def _around(self, x: AnyArray) -> tuple[PiecePosition, Distances]:
        places = self._grid.places(x)
        points = np.maximum(places - 1, 0)
        cell = self._cells(points)
        from_first = (points - self._pieces.start[cell]).astype(np.float64)
        offset = differences(x, self._grid.values(points)) / self._scale
        has_below = places > 0
        low = np.where(has_below, from_first + 1, 0.0)
        at = PiecePosition(cell, low, self._pieces.size[cell] - low)
        if self._grid.even:
            after = (self._pieces.gap[cell] - from_first) - offset
        else:
            following = np.minimum(cell + 1, self._grid.size - 1)
            after = differences(self._grid.values(following), x)
        over, under = np.where(has_below, offset, 0.0), np.where(has_below, 1.0 - offset, -offset)
        return at, Distances(from_first + offset, after, over, under)

    def _error_quantiles(self, p: FloatArray, truth: AnyArray) -> FloatArray:
        """Return the distance of the nearest point that is far enough, by a search on each side."""
        below, size, m = self._grid.places(truth), self._grid.size, p.size
        end = np.concatenate([below, size - below])  # how many points there are on each side

        def distance(n: IntArray, i: IntArray) -> FloatArray:
            """Return the distance of the n-th point, from 0, on a side; inf beyond the last."""
            row, left = i % m, i < m
            place = np.where(left, below[row] - 1 - n, below[row] + n)
            points = self._grid.values(np.clip(place, 0, size - 1))
            return np.where(n < end[i], np.abs(differences(points, truth[row])), np.inf)

        def near_enough(n: IntArray, i: IntArray) -> AnyArray:
            r = np.nextafter(distance(n, i), np.inf)  # the distance was rounded
            return np.asarray(self._within(truth[i % m], r, p[i % m]))

        number = least(np.zeros(2 * m, np.int64), end, near_enough, WAYS)
        r = distance(number, np.arange(2 * m)).reshape(2, m).min(axis=0)
        r = np.where(self._within(truth, r, p), r, np.nextafter(r, np.inf))
        return np.where(p > 0.0, r, 0.0)

    def _window(self, x: AnyArray, r: FloatArray) -> tuple[Tails, Tails]:
        before, upto = places_within(self._grid, x, r)
        return self._split_at(before), self._split_at(upto)

    def _holds(self, target: Target) -> Callable[[float], bool]:
        """Return the test; for errors, one sum for all rates if losses are constant in cells."""
        p = self._pieces
        if not target.of_errors or p.slope is not None:
            return super()._holds(target)
        target = target.about(lambda: self.truth)
        truth = self._numbers("truth", np.array([target.truth]))
        nearest = self._grid.places(truth)
        limits = nearest - 1, nearest  # this point is a part of its own: its error may be 0
        if target.probability is not None:
            limits = places_within(self._grid, truth, np.array([target.limit]))
        low, high = limits
        start = np.unique(np.concatenate([p.start, np.clip([*low, *high], 0, self._grid.size - 1)]))
        last = np.append(start[1:], self._grid.size) - 1
        if target.probability is not None:
            gains = ((start >= low) & (start < high)) - target.probability
        else:
            away = [np.abs(steps_from(self._grid, truth, at)) / 2.0 for at in (start, last)]
            gains = target.limit / self._scale - (away[0] + away[1])
        meets = gains_at(p.loss[self._cells(start)], gains * (last - start + 1.0))
        unit = float(self._rate_at(1.0))
        return lambda epsilon: meets(unit * epsilon)

    def _rises(self, target: Target) -> bool:
        """Losses fall in distribution as epsilon grows, and so do errors that are losses."""
        of_losses = self._by_distance and target.truth in (None, self.truth)
        return of_losses or super()._rises(target)


@quiet
def places_within(grid: Grid, x: AnyArray, r: FloatArray) -> tuple[IntArray, IntArray]:
    """Return how many points are < x - r and how many are <= x + r, by exact differences."""
    below, above = added(x, r, negative=True), added(x, r)
    if not grid.whole:
        before = np.nextafter(-below.double_below(), -np.inf)
        return grid.places(before), grid.places(above.double_below())
    number, outside = below.integer_below()
    before = _places_of(grid, ~number, -outside)  # the integer below -number
    return before, _places_of(grid, *above.integer_below())


def _places_of(grid: Grid, numbers: IntArray, outside: IntArray) -> IntArray:
    """Return how many points are <= each number; `outside` is 1 above int64, -1 below it."""
    return np.where(outside > 0, grid.size, np.where(outside < 0, 0, grid.places(numbers)))


def steps_from(grid: Grid, truth: AnyArray, at: IntArray) -> FloatArray:
    """Return points minus a number, in steps; in units of the data if the grid lists its points."""
    if not grid.even:
        return differences(grid.points[at], truth)
    point = np.maximum(grid.places(truth) - 1, 0)
    return (at - point) - differences(truth, grid.values(point)) / float(step_size(grid))


def step_size(grid: Grid) -> Fraction:
    """Return the size of a step; 1 if the grid lists its points."""
    return Fraction(*grid.unit[1:]) if grid.even else Fraction(1)


def gains_at(losses: FloatArray, gains: FloatArray) -> Callable[[float], bool]:
    """Return a test of a rate: whether the sum of gains * exp(-rate * losses) is at least 0.

    Equal losses become one term, so that their gains of opposite sign cancel.
    """
    distinct, place = np.unique(losses, return_inverse=True)
    net, ahead = np.bincount(place, gains), distinct - distinct[0]

    @quiet
    def meets(rate: float) -> bool:
        near = ahead[: ahead.searchsorted(FAR / rate, "right")]
        return bool(np.exp(-rate * near) @ net[: near.size] >= 0.0)

    return meets


def distance_law(
    grid: Grid,
    statistic: DistanceStatistic,
    source: RecordSource,
    unit: Fraction | int,
    epsilon: float,
    truth: Callable[[RecordSource], Any],
) -> GridLaw:
    """Return the law of a statistic by distance; it holds the records.

    `unit`: a distance of 1 in units of the utility. `truth` computes the statistic: later, from
    the held records, or now, from `source`, if only grid points are held.
    """
    records, exact = source.held(grid), Fraction(unit)
    cells, rate = DistanceCells(statistic, records, exact), statistic.weighting.rate
    law = GridLaw(grid, cells, exact, rate, epsilon, StatisticSampler(statistic, records))
    law._utility = cells.utilities
    if isinstance(records, Counted) and records.grid is not None:
        law.truth = truth(source)
    law._statistic = partial(truth, records)
    return law
