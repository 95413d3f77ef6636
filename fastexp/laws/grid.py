"""The exact law of a private number on a public grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Protocol, Self, overload

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake.record_sources import Counted, Source
from .._numbers.distance_statistic import DistanceStatistic, StatisticSampler
from .._parameters import validate
from .._parameters.grid import Grid
from .._randomness.sampling import Sampling
from .._typing import AnyArray, ArrayLike, FloatArray, IntArray, Scalar, Values
from ..errors import ParameterError
from ..pictures.law_painters import Laws
from .cut_pieces import Parts
from .elementary import exp, frozen, least, quiet, reached
from .exact_differences import added, differences
from .grid_cells import DistanceCells, LawCells
from .law import shaped_as
from .loss_pieces import LossPieces, Steps
from .number import Tails
from .pieces import Distances, Pieces, Place
from .piecewise import PiecewiseLaw

LISTED = 1 << 24  # points that `probabilities` lists at most
WAYS = 128  # into which a search for a point is cut at a time


class Sampler(Protocol):
    """What draws from the law: made by the mechanism, of the same data."""

    def sample(self, sampling: Sampling, /) -> Any:
        """The bytes of ``mechanism.sample``."""
        ...

    def with_rate(self, rate: Fraction) -> Sampler:
        """The same data at another rate."""
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
        self._body: LawCells = cells

    _utility: Callable[[IntArray], AnyArray] | None = None  # of points, by their index

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

    @property
    def log_probabilities(self) -> FloatArray:
        """ln P(point), shape (G,), read-only; at most 2**24 points."""
        check_rounding()
        return self._log_masses

    @cached_property
    def _log_masses(self) -> FloatArray:
        points, count = self._all(), self._pieces.size.astype(np.int64)
        return frozen(self._log_pmf(np.repeat(np.arange(count.size), count), points))

    def as_dict(self) -> dict[int | float, float]:
        """Each point and its probability; at most 2**24 points."""
        return dict(zip(self.points.tolist(), self.probabilities.tolist(), strict=True))

    def _all(self) -> IntArray:
        if self._grid.size > LISTED:
            raise ParameterError(
                "points and probabilities are listed for grids of at most 2**24 points, got "
                f"{self._grid.size}; use pmf, cdf and ppf"
            )
        return np.arange(self._grid.size)

    @quiet
    def _log_pmf(self, cell: IntArray, points: IntArray) -> FloatArray:
        p, fall = self._pieces, self._weights.fall
        heights = (float(self._rate) * p.loss + self._weights.log_total)[cell]
        if fall is not None and p.flip is not None:
            y = (points - self._body.start[cell]).astype(np.float64)
            y = np.where(p.flip[cell], p.size[cell] - 1 - y, y)
            heights += np.where(y > 0, fall[cell] * y, 0.0)
        return -heights

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
        check_rounding()
        at = self._numbers("x", x)
        points, on_grid = self._points_at(at.reshape(-1))
        p = exp(self._log_pmf(self._cells(points), points))
        return shaped_as(at, np.where(on_grid, p, 0.0))

    def _points_at(self, x: AnyArray) -> tuple[IntArray, AnyArray]:
        """The point at or below each number (the first one at least), and whether it is there."""
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
        check_rounding()
        if self._utility is None:
            raise ParameterError("utility needs a law that a mechanism made of data")
        at = self._numbers("points", points)
        index, on_grid = self._points_at(at.reshape(-1))
        if not bool(on_grid.all()):
            raise ParameterError("points must be of the grid: no other number has a utility")
        return shaped_as(at, self._utility(index))

    def _outputs(self) -> tuple[object, ...]:
        return self._epsilon, self._rate, self._unit, self._grid

    def _against(self, other: GridLaw) -> LossPieces:
        """Runs of points that are in one cell of either law: their losses are linear."""
        start = np.union1d(self._body.start, other._body.start)
        size = np.diff(np.append(start, self._grid.size)).astype(np.float64)
        rate, totals = float(self._rate), (self._weights.log_total, other._weights.log_total)
        (loss, growth), (others, other_growth) = self._heights(start), other._heights(start)
        first, second = -(rate * loss + totals[0]), -(rate * others + totals[1])
        steps = None
        if growth.any() or other_growth.any():
            steps = Steps(-rate * growth, -rate * other_growth, rate * (other_growth - growth))
        ratio = rate * (others - loss) + (totals[1] - totals[0])
        return LossPieces(size, first, second, ratio, start, steps)

    def _output_at(self, index: int) -> int | float:
        return self._grid.value(index)

    def _heights(self, points: IntArray) -> tuple[FloatArray, FloatArray]:
        """The loss of utility at points, and its change from there to the next one."""
        cell = self._cells(points)
        p = self._pieces.some(cell)
        if p.steep is None or p.flip is None:
            return p.loss, np.zeros(points.size)
        y = (points - self._body.start[cell]).astype(np.float64)
        y = np.where(p.flip, p.size - 1.0 - y, y)
        return p.loss + p.steep * y, np.where(p.flip, -p.steep, p.steep)

    def _draw(self, sampling: Sampling) -> Any:
        return self._sampler.sample(sampling)

    def _cells(self, points: IntArray) -> IntArray:
        return np.searchsorted(self._body.start, points, "right") - 1

    @property
    def _scale(self) -> float:
        _, s, d = self._grid.unit
        return float(Fraction(s, d)) if self._grid.points is None else 1.0

    @property
    def _origin(self) -> int:
        return int(self._body.start[int(self._weights.masses.argmax())])

    @quiet
    def _offsets(self) -> FloatArray:
        points = self._grid.points
        if points is None:
            return (self._body.start - self._origin) + self._weights.to_left
        return differences(points, points[self._origin])

    def _absolute(self, offset: float) -> float:
        exact = self._grid.exact(self._origin)
        if self._grid.points is not None:
            return float(exact + Fraction(offset))
        _, s, d = self._grid.unit
        return float(exact + Fraction(offset) * Fraction(s, d))

    def _support(self) -> tuple[float, float]:
        return float(self._grid.value(0)), float(self._grid.value(self._grid.size - 1))

    def _numbers(self, name: str, value: ArrayLike) -> AnyArray:
        return validate.exact_reals(name, value)

    def _farthest(self, x: AnyArray) -> FloatArray:
        low, high = self._grid.values(np.array([0, self._grid.size - 1]))
        farthest = np.maximum(np.abs(differences(x, low)), np.abs(differences(x, high)))
        return np.asarray(np.nextafter(farthest, np.inf))

    def _split(self, x: AnyArray) -> tuple[FloatArray, FloatArray]:
        return self._split_at(self._grid.places(x))

    def _split_at(self, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """P(output is one of the first `places` points) and the rest."""
        cell = self._cells(np.maximum(places - 1, 0))
        low = (places - self._body.start[cell]).astype(np.float64)
        return self._weights.split(Place(cell, low, self._pieces.size[cell] - low))

    def _invert(self, p: FloatArray) -> AnyArray:
        cell = self._weights.find(p)
        first = self._body.start[cell]
        last = first + self._pieces.size[cell].astype(np.int64)
        places = least(first + 1, last, lambda n, i: reached(*self._split_at(n), p[i]))
        return np.asarray(self._grid.values(places - 1))

    def _expected_errors(self, truth: AnyArray) -> FloatArray:
        if self._grid.points is None and isinstance(self._body, DistanceCells):
            points = np.maximum(self._grid.places(truth) - 1, 0)
            off = differences(truth, self._grid.values(points))
            outside = np.where((off < 0.0) | (points == self._grid.size - 1), off, 0.0)
            shares = (off - outside) / self._scale
            if (errors := self._body.errors(self._rate, points, shares)) is not None:
                return errors * self._scale + np.abs(outside)
        return super()._expected_errors(truth)

    @quiet
    def _around(self, x: AnyArray) -> tuple[Place, Distances]:
        places, listed_points = self._grid.places(x), self._grid.points
        points = np.maximum(places - 1, 0)
        cell = self._cells(points)
        from_first = (points - self._body.start[cell]).astype(np.float64)
        beyond = differences(x, self._grid.values(points)) / self._scale
        some = places > 0
        low = np.where(some, from_first + 1, 0.0)
        at = Place(cell, low, self._pieces.size[cell] - low)
        if listed_points is None:
            after = (self._pieces.gap[cell] - from_first) - beyond
        else:
            after = differences(listed_points[np.minimum(cell + 1, listed_points.size - 1)], x)
        over, under = np.where(some, beyond, 0.0), np.where(some, 1.0 - beyond, -beyond)
        return at, Distances(from_first + beyond, after, over, under)

    def _error_quantiles(self, p: FloatArray, truth: AnyArray) -> FloatArray:
        """The distances of points: searched for on either side, and checked by their neighbours."""
        below, size, m = self._grid.places(truth), self._grid.size, p.size
        end = np.concatenate([below, size - below])  # how many points there are on each side

        def distance(n: IntArray, i: IntArray) -> FloatArray:
            """That of point n, from 0, beside the truth on a side; infinite if there is none."""
            which, left = i % m, i < m
            place = np.where(left, below[which] - 1 - n, below[which] + n)
            points = self._grid.values(np.clip(place, 0, size - 1))
            return np.where(n < end[i], np.abs(differences(points, truth[which])), np.inf)

        def near_enough(n: IntArray, i: IntArray) -> AnyArray:
            r = np.nextafter(distance(n, i), np.inf)  # the difference was rounded
            return np.asarray(self._within(truth[i % m], r, p[i % m]))

        sides: IntArray = np.arange(2 * m)
        number = least(np.zeros(2 * m, np.int64), end, near_enough, WAYS)
        r = distance(number, sides).reshape(2, m).min(axis=0)
        several = np.maximum(np.array([np.nextafter(r, 0), r, np.nextafter(r, np.inf)]), 0.0)
        yes = self._within(np.tile(truth, 3), several.reshape(-1), np.tile(p, 3)).reshape(3, m)
        sure = (several[1] == 0.0) | ~yes[0]
        sure &= yes[1] | yes[2]
        out: FloatArray = np.where(yes[1], several[1], several[2])
        if not sure.all():
            rest = np.flatnonzero(~sure)
            out[rest] = super()._error_quantiles(p[rest], truth[rest])
        return out

    def _window(self, x: AnyArray, r: FloatArray) -> tuple[Tails, Tails]:
        before, upto = self._places_within(x, r)
        return self._split_at(before), self._split_at(upto)

    @quiet
    def _places_within(self, x: AnyArray, r: FloatArray) -> tuple[IntArray, IntArray]:
        """How many points are < x - r and <= x + r: exact differences, not rounded ones."""
        below, above = added(x, r, negative=True), added(x, r)
        if not self._grid.whole:
            before = np.nextafter(-below.double_below(), -np.inf)
            return self._grid.places(before), self._grid.places(above.double_below())
        number, outside = below.integer_below()
        before = self._places_of(~number, -outside)  # the integer below -number
        return before, self._places_of(*above.integer_below())

    def _row(self) -> tuple[Pieces, AnyArray, int]:
        return self._pieces, self._body.start, self._grid.size

    def _limits(self, truth: AnyArray, error: FloatArray | None) -> IntArray:
        if error is None:  # the nearest point is a part of its own: its error may be 0
            places = self._grid.places(truth)
            return np.concatenate([places - 1, places])
        return np.concatenate(self._places_within(truth, error))

    def _distances(self, parts: Parts, truth: AnyArray) -> tuple[FloatArray, FloatArray]:
        if self._grid.points is not None:
            away = np.abs(differences(self._grid.points[parts.start], truth))
            return away, away  # of one point each
        point = np.maximum(self._grid.places(truth) - 1, 0)
        share = differences(truth, self._grid.values(point)) / self._scale
        return np.abs((parts.start - point) - share), np.abs((parts.last - point) - share)

    def _places_of(self, numbers: IntArray, outside: IntArray) -> IntArray:
        """How many points are <= each number; `outside`: 1 above all of int64, -1 below."""
        places = self._grid.places(numbers)
        return np.where(outside > 0, self._grid.size, np.where(outside < 0, 0, places))


def distance_law(
    grid: Grid,
    statistic: DistanceStatistic,
    source: Source,
    unit: Fraction | int,
    epsilon: float,
    truth: Callable[[Source], Any],
) -> GridLaw:
    """The law of a statistic by distance, which holds the records.

    `unit`: one integer of the distance in units of the utility. `truth`: what the statistic of
    records is; of those that are held, unless only their grid points are.
    """
    records, exact = source.held(grid), Fraction(unit)
    cells, rate = DistanceCells(statistic, records, exact), statistic.weighting.rate
    law = GridLaw(grid, cells, exact, rate, epsilon, StatisticSampler(statistic, records))
    law._utility = cells.utilities
    if isinstance(records, Counted) and records.grid is not None:
        law.truth = truth(source)
    law._statistic = partial(truth, records)
    return law
