"""Is a grid of digits the list of its points, to the byte? And is the promise that of any grid?"""

from __future__ import annotations

import itertools
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import InvalidRecords
from tests.doors.parameters import encoded_mechanism, make_grid
from tests.messages import raises
from tests.support.each import each

SIGNS = [*itertools.product((True, False), repeat=2)]
GRIDS = [(1, -2, 3), (1, 0, 1), (2, 0, 3), (3, -12, 15), (3, 2, 5), (2, 22, 30), (1, -30, -20)]


def grid_of(digits, low, high, negative=True, zero=True):
    ends = {"low": float(f"1e{low}"), "high": float(f"1e{high}")}
    return fx.digits(digits, **ends, negative=negative, zero=zero)


def fractions_of(digits, low, high, negative, zero):
    """The exact decimals, in order."""
    positive = [
        m * Fraction(10) ** (e - digits + 1)
        for e in range(low, high)
        for m in range(10 ** (digits - 1), 10**digits)
    ]
    return [*(-x for x in positive[::-1] if negative), *([Fraction(0)] if zero else []), *positive]


def records_near(points, rng):
    """Points, what is half-way between them, doubles beside these, and numbers of all sizes."""
    middle = points[:-1] + (points[1:] - points[:-1]) / 2
    near = [np.nextafter(x, to) for x in (points, middle) for to in (-np.inf, np.inf)]
    anywhere = rng.normal(size=3000) * 10.0 ** rng.integers(-40, 40, 3000)
    ends = [0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 2.0**63, 1e308, -1e308, 1.0]
    return np.concatenate([points, middle, *near, anywhere, ends])


class TestPoints:
    @each("negative, zero", SIGNS)
    @each("digits, low, high", GRIDS)
    def test_are_the_doubles_nearest_to_the_decimals(self, digits, low, high, negative, zero):
        grid = grid_of(digits, low, high, negative, zero)
        exact = fractions_of(digits, low, high, negative, zero)
        assert len(grid) == len(exact)
        points = [grid[i] for i in range(len(grid))]
        whole = digits <= low + 1 and high <= 18
        assert points == [int(x) if whole else x.numerator / x.denominator for x in exact]
        assert {type(point) for point in points} == {int if whole else float}
        values = grid.values(np.arange(len(grid)))
        assert values.tolist() == points
        assert grid[-1] == points[-1]

    def test_no_index_beyond_the_last(self):
        with pytest.raises(IndexError):
            fx.digits(1)[10**6]

    def test_of_thirteen_digits(self):
        """Far too many to list: each point is looked up by arithmetic."""
        grid = fx.digits(13)
        for t in (0, 1, 12345678901, len(grid) // 2, len(grid) - 1):
            assert grid.nearest(grid[t]) == grid[t]
        assert grid.nearest(1234.567890123456) == 1234.567890123
        with raises("digits that are listed"):
            fx.Median(1.0, grid=grid).law([1.0]).mean()


class TestNearest:
    @each("negative, zero", SIGNS)
    @each("digits, low, high", GRIDS)
    def test_is_that_of_the_list(self, digits, low, high, negative, zero):
        grid = grid_of(digits, low, high, negative, zero)
        points = np.array([grid[i] for i in range(len(grid))])
        rng = np.random.default_rng(digits)
        listed, records = make_grid(None, grid=points), records_near(points.astype(float), rng)
        integers = rng.integers(-(2**63), 2**63 - 1, 3000) >> rng.integers(0, 63, 3000)
        both = (grid, listed), (make_grid(None, grid=grid, rule="below"), listed.below)
        for one, other in both:
            assert np.array_equal(one.index(records), other.index(records))
            for numbers in (integers, integers.view(np.uint64)):
                assert np.array_equal(one.index(numbers), other.index(numbers))
        assert np.array_equal(grid.nearest(records), listed.values(listed.index(records)))

    @each("digits, low, high", [(3, -290, -270), (13, -12, 15), (15, -300, -299), (12, 200, 201)])
    def test_by_fractions_where_points_are_too_many_to_list(self, digits, low, high):
        grid = grid_of(digits, low, high)
        rng = np.random.default_rng(1)
        some = rng.integers(1, len(grid) - 1, 300).tolist()
        middles = [float((grid.exact(t) + grid.exact(t + 1)) / 2) for t in some]
        around = [math.nextafter(x, to) for x in middles for to in (-math.inf, math.inf)]
        for x in (*middles, *around, *(grid[t] * 1.0001 for t in some)):
            index = int(grid.index(np.array([x]))[0])
            off = [abs(Fraction(x) - grid.exact(t)) for t in (index - 1, index, index + 1)]
            assert off[1] <= min(off)
            assert off[1] not in (off[0], off[2]) or index % 2 == 0

    def test_ties_go_to_the_even_point(self):
        """Also where the decimal is half-way but the double is not: 9.95 is a little less."""
        grid = fx.digits(1, low=1, high=10, negative=False, zero=False)
        assert grid.nearest([1.5, 2.5, 8.5]).tolist() == [1, 3, 9]
        assert fx.digits(2).nearest(9.95) == 9.9
        assert fx.digits(2).nearest(math.nextafter(9.95, 10)) == 10.0

    def test_nan_counts_nowhere(self):
        median, numbers = fx.Median(1.0, grid=fx.digits(3)), [1.0, math.nan]
        for data in (numbers, np.repeat(numbers, 40_000)):
            with pytest.raises(InvalidRecords):
                median.release(data)
        with pytest.raises(InvalidRecords):
            median.release(numbers * 9, by=[0, 1] * 9, groups=[0, 1])


def mechanisms(grid):
    return [
        fx.Median(1.0, grid=grid),
        fx.Median(1.0, grid=grid, widen=20, neighbors="replace"),
        fx.Quantile(0.9, 0.5, grid=grid, convention="lower"),
        fx.OrderStatistic(3, 1.0, grid=grid),
        fx.Maximum(1.0, grid=grid),
        fx.Mode(1.0, grid=grid),
        fx.Quantiles(count=3, epsilon=1.0, grid=grid),
        fx.ApproximateQuantiles(count=3, epsilon=1.0, grid=grid),
    ]


class TestDraws:
    """The bytes are those of the list of points."""

    GRID = fx.digits(2, low=1e-3, high=1e6)

    @each("which", range(8))
    @each("n", [0, 1, 40, 5000, 40_000])
    def test_of_a_data_set_and_by_group(self, which, n):
        listed = np.array([self.GRID[i] for i in range(len(self.GRID))])
        here, there = mechanisms(self.GRID)[which], mechanisms(listed)[which]
        rng = np.random.default_rng(n)
        x = (rng.lognormal(5, 3, n) * rng.choice([1, -1], n)).round(2)
        by = rng.integers(0, 3, n)
        for numbers in (x, x.astype(np.int64), np.sort(x)):
            for options in ({}, {"by": by, "groups": range(4)}):
                draws = [m.sample(numbers, size=5, rng=1, **options) for m in (here, there)]
                assert np.array_equal(*draws)

    def test_of_rows_and_of_long_groups(self):
        listed = np.array([self.GRID[i] for i in range(len(self.GRID))])
        here, there = (fx.Median(1.0, grid=grid) for grid in (self.GRID, listed))
        x = np.random.default_rng(2).lognormal(5, 3, 150_000)
        by = np.arange(x.size) % 3
        for options in ({"by": by, "groups": range(3)}, {}):
            data = x if options else x.reshape(-1, 50)
            assert np.array_equal(*(m.sample(data, rng=1, **options) for m in (here, there)))

    def test_of_prices(self):
        grid = fx.digits(2, low=1e-3, high=1e4, negative=False)
        bids = np.random.default_rng(3).lognormal(3, 2, 500)
        listed = [grid[i] for i in range(len(grid))]
        prices = [fx.Price(1.0, (0, 1e4), grid=points) for points in (grid, listed)]
        assert np.array_equal(*(price.sample(bids, size=50, rng=1) for price in prices))


class TestLaw:
    def test_is_that_of_the_points(self):
        """Weights are summed one by one, in fractions of what exp gives."""
        grid = fx.digits(2, low=1, high=1000)
        assert len(grid) == 541
        records = np.random.default_rng(4).lognormal(3, 1, 30).round(1)
        counted = [grid.nearest(x) for x in records.tolist()]
        points = [grid[i] for i in range(541)]
        distance = [
            max(0, 2 * sum(x < r for x in counted) - 30, 2 * sum(x > r for x in counted) - 30)
            for r in points
        ]
        weights = [Fraction(math.exp(-d / 2)) for d in distance]
        wanted = [float(weight / sum(weights)) for weight in weights]
        law = fx.Median(1.0, grid=grid).law(records)
        assert law.points.tolist() == points
        assert law.probabilities == pytest.approx(wanted, rel=1e-12)

    @each("neighbors", ["add-remove", "replace"])
    def test_neighbours_differ_by_at_most_epsilon(self, neighbors):
        """All data of up to three records of a grid of nine points."""
        grid = fx.digits(1, low=1, high=10, negative=False, zero=False)
        median = fx.Median(0.7, grid=grid, neighbors=neighbors)
        data = [
            x for n in range(4) for x in itertools.combinations_with_replacement(range(1, 10), n)
        ]
        logs = {x: median.law(np.array(x, np.int64)).log_probabilities for x in data}
        worst = 0.0
        for x in data:
            fewer = {x[:i] + x[i + 1 :] for i in range(len(x))}
            others = fewer
            if neighbors == "replace":
                others = {tuple(sorted((*rest, y))) for rest in fewer for y in range(1, 10)}
            worst = max([worst, *(np.abs(logs[x] - logs[y]).max() for y in others)])
        assert 0.35 < worst <= 0.7 + 1e-12


class TestParameters:
    def test_words(self):
        assert repr(fx.digits()) == "digits(3): 48,601 numbers from -9.99e+14 to 9.99e+14"
        narrow = fx.digits(2, low="1e-2", high=10**7, negative=False)
        assert repr(fx.Median(1.0, grid=narrow)).endswith(
            "grid=digits(2, low=0.01, high=10000000.0, negative=False))"
        )

    @each("end", [1e-300, "1e-300", Decimal("1e-300"), Fraction(1, 10**300)])
    def test_the_outermost_powers(self, end):
        assert fx.digits(3, low=end, high=10**300).low == -300

    def test_equal_ones_are_one(self):
        grid, same = fx.digits(3), fx.digits(3, low="1e-12", high=1e15)
        assert grid == same
        assert hash(grid) == hash(same)
        assert grid != fx.digits(3, zero=False)
        assert grid != make_grid(None, grid=[0.0, 1.0])
        again = pickle.loads(pickle.dumps(grid))
        assert again == grid
        assert len(pickle.dumps(grid)) < 150
        median = fx.Median(1.0, grid=grid)
        assert median.grid is grid
        assert pickle.loads(pickle.dumps(median)) == median
        others = [fx.digits(3, low=1e-11), fx.digits(4), fx.digits(3, negative=False)]
        digests = {encoded_mechanism(fx.Median(1.0, grid=each)) for each in (grid, same, *others)}
        assert len(digests) == 4

    def test_a_rule_of_thumb(self):
        grid = fx.digits(3)
        assert grid.extra_ranks(1.0) == pytest.approx(math.log(48601))
        assert grid.extra_ranks(0.5, q=0.9) == pytest.approx(math.log(48601) * 1.8 / 0.5)

    def test_median_of_records_that_nobody_bounded(self):
        """A few ranks off, in each of five units."""
        x = np.random.default_rng(5).lognormal(0, 1, 1000)
        for unit in (1e-9, 1e-3, 1.0, 1e6, 1e11):
            draws = fx.Median(1.0, grid=fx.digits(3)).sample(x * unit, size=400, rng=6)
            ranks = np.abs(np.searchsorted(np.sort(x * unit), draws) - 500)
            assert ranks.mean() < 4
