"""Is the private price exact on every route, private as promised, and the tutorial's example?"""

# ruff: noqa: E501  (tables, a row a case)

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from fastexp import Price
from tests.doors.intake import Records
from tests.doors.kernels import FLOAT, SIGNED, UNSIGNED
from tests.doors.kernels import histogram as kernels
from tests.doors.numbers import (
    Demand,
    Points,
    Prices,
    Runs,
    Ticks,
    demand,
    double_double,
    losses,
    revenue_cells,
    shape_of,
    shape_of_bids,
)
from tests.doors.numbers import cells as _cells
from tests.doors.numbers import revenue as _revenue
from tests.doors.parameters import make_grid
from tests.doors.privacy import price_rate
from tests.doors.randomness import Sampling, seeds_of
from tests.messages import says
from tests.support.altered import changed
from tests.support.checks import numbers as checks
from tests.support.each import each
from tests.support.goodness import fits
from tests.twins import selection

TUTORIAL = [1, 1, 1, 3.01]
WIDE = 2**33 + 1
N = 200_000  # draws; reject a rate that is 6 % wrong (see the power tests)


def revenues(grid, bids):
    """The exact revenue of each price, from the definition."""
    clamped = [min(max(bid, grid.value(0)), grid.value(grid.size - 1)) for bid in bids]
    points = [grid.value(t) for t in range(grid.size)]
    return [grid.exact(t) * sum(b >= p for b in clamped) for t, p in enumerate(points)]


def exact_law(mechanism, bids):
    """Probabilities of all prices, from fractions."""
    grid = mechanism.grid
    rate = price_rate(mechanism.epsilon, grid.exact(grid.size - 1), mechanism.scaling)
    found = selection.probabilities(rate, revenues(grid, bids), [Fraction(1)] * grid.size, 300)
    return np.array(found, dtype=float)


def runs_of(mechanism, bids):
    """The runs of prices of a few bids."""
    return demand(Records(bids).source(), mechanism.grid)


def large(mechanism, bids):
    """The cells that a large grid would have, of a small one."""
    return shape_of(mechanism._prices, runs_of(mechanism, bids), table=0)


def draws(shape, size=N, key=1):
    """Grid indices."""
    return _cells.simulate(shape, Sampling(size, key, None, 1, None))


class TestHistogram:
    """Counting on evenly spaced grids is `Grid.index`, record by record."""

    GRIDS = (
        make_grid((0, 3.5), 0.01),
        make_grid((0, 3.5), 0.001),
        make_grid((-7, 13), 0.1),
        make_grid((-5, 1000), 1),
        make_grid((3, 3 + 7 * 1000), 7),
        make_grid((10**9, 10**9 + 500), 1),
        make_grid((-(10**11), -(10**11) + 64), 0.25),
        make_grid((1e6, 1e6 + 1e-3), 1e-5),
        make_grid((0.0, 0.7), Fraction(7, 10 << 12)),
        make_grid((0.5, 0.75), 0.25),
        make_grid((0, 2**40), 2**22),
        make_grid((0, 9), grid=[0, 0.1, 1 / 3, 9]),
        make_grid((0, 9), grid=[1, 2, 9]),
        make_grid((0, 9), grid=np.geomspace(1e-9, 9, 700), rule="below"),
        make_grid((-9, 9), grid=np.sort(np.random.default_rng(0).uniform(-9, 9, 999))),
        make_grid((-1, 1), grid=[-1.0, -5e-324, 0.0, 5e-324, 1e-323, 1.0], rule="below"),
    )

    @staticmethod
    def near(grid):
        """Points, their neighbours, and what lies far away."""
        points = grid.values(np.arange(grid.size)).astype(float)
        beyond = points[[0, -1]] + (points[-1] - points[0]) * np.array([-0.5, 0.5])
        spread = np.random.default_rng(1).uniform(*beyond, 999)
        far = [np.inf, -np.inf, 1.7e308, -1.7e308, 0.0, -0.0, 5e-324, 2.0**63, -(2.0**63)]
        beside = (np.nextafter(points, way) for way in (np.inf, -np.inf))
        return np.concatenate([points, *beside, spread, far])

    @pytest.mark.slow
    @each("grid", GRIDS, ids=str)
    def test_it_is_the_index_of_each_record(self, grid):
        assert kernels.is_fast(grid)
        floats = self.near(grid)
        edges = [2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1]
        inside = np.abs(floats) < 2**62
        ints = np.concatenate([np.rint(floats[inside]).astype(np.int64), edges])
        ints = np.concatenate([ints, ints[inside.sum() :], ints[: inside.sum()] - 1])
        unsigned = np.concatenate([ints[ints >= 0].astype(np.uint64), [2**64 - 1, 2**63]])
        for records, kind in ((floats, FLOAT), (ints, SIGNED), (unsigned.astype("u8"), UNSIGNED)):
            out = np.zeros(grid.size, np.int64)
            assert kernels.histogram(records, kind, grid, out)
            # Both maps are monotone, so that equal counts mean equal indices.
            assert np.array_equal(out, np.bincount(grid.index(records), minlength=grid.size))

    @each("size", [0, 1, 1023, 1024, 1025, 5000])
    def test_it_adds_parts_of_any_size(self, size):
        grid = self.GRIDS[0]
        records = np.random.default_rng(size).uniform(-1, 5, size)
        out = np.arange(grid.size)
        assert kernels.histogram(records.view(np.uint64), FLOAT, grid, out)
        counts = np.bincount(grid.index(records), minlength=grid.size)
        assert np.array_equal(out - np.arange(grid.size), counts)

    @each(
        "grid",
        [
            make_grid((0, 2**60), grid=[0, 2**59 - 1, 2**60]),
            make_grid((2**60, 2**60 + 5), 1),
            make_grid((2.0**52, 2.0**52 + 9), 1),
            make_grid((1e284, 2e284), 1e283),
            make_grid((0.0, 1e-300), 1e-302),
            make_grid((2.0**41, 2.0**41 + 1), 0.25),
            make_grid((-(2**19) * WIDE, 2**19 * WIDE), WIDE),  # distances beyond 2**53
        ],
        ids=str,
    )
    def test_other_grids_go_by_their_index(self, grid):
        assert not kernels.is_fast(grid)
        for records, kind in ((self.near(grid), FLOAT), (np.arange(-9, 99), SIGNED)):
            out = np.zeros(grid.size, np.int64)
            assert kernels.histogram(records, kind, grid, out)
            assert np.array_equal(out, np.bincount(grid.index(records), minlength=grid.size))

    @each("grid", [GRIDS[0], make_grid((0, 1), grid=[0, 1])], ids=str)
    @each("place", [0, 1023, 1024, 2999])
    def test_nan_is_told(self, grid, place):
        records = np.ones(3000)
        records[place] = np.nan
        assert not kernels.histogram(records, FLOAT, grid, np.zeros(grid.size, np.int64))

    @each(
        ("counts", "last", "sums"),
        [
            ([0, 0], [1], [0]),
            ([5, 0], [0, 1], [5, 0]),
            ([0, 5], [1], [5]),
            ([1, 0, 4, 0, 0], [0, 2, 4], [5, 4, 0]),
            ([1, 2, 3], [0, 1, 2], [6, 5, 3]),
            ([0, 0, 7, 0, 2], [2, 4], [9, 2]),
        ],
    )
    def test_runs(self, counts, last, sums):
        every = np.array(counts, np.int64)
        points = np.flatnonzero(every)
        for given in ((np.zeros(0, np.int64), every), (points, every[points])):
            out = np.full((2, given[1].size + 1), -9)
            first = kernels.runs_fill(*given, len(counts), out[0], out[1])
            assert out[:, first:].tolist() == [last, sums]


class TestRevenue:
    """Utilities are the definition's, exactly."""

    GRIDS = (
        {"bounds": (0, 5), "step": 1},
        {"bounds": (2, 8), "step": 2},
        {"bounds": (0, 3.5), "step": 0.5},
        {"bounds": (1, 2), "step": 0.25},
        {"bounds": (0, 9), "grid": [0, 0.1, 1 / 3, 7.7, 9]},
        {"bounds": (0, 9), "grid": [1, 2, 5, 9]},
        {"bounds": (0, 2**62), "grid": [1, 2**53 + 1, 2**62]},
        {"bounds": (0, 1e285), "grid": [5e-324, 1e-300, 1.0, 1e200]},
    )
    BIDS = ([], [0], [9], [-1, 99], [1, 1, 1, 3.01], [5, 2, 2, 0, 7.7], [0.1] * 5 + [1 / 3] * 2)

    @each("given", GRIDS, ids=str)
    @each("bids", BIDS, ids=str)
    def test_losses_and_draws_know_it(self, given, bids):
        mechanism = Price(1.0, **given)
        prices, runs = mechanism._prices, runs_of(mechanism, bids)
        exact = revenues(mechanism.grid, bids)
        for t, revenue in enumerate(exact):
            assert prices.revenue(t, int(runs.spread()[t])) * prices.unit == revenue
        found = losses(prices, runs)
        assert found.best == float(max(exact))
        assert found.rate * max(exact) / found.unit == mechanism._prices.float_weighting.rate * max(
            exact
        ) / (prices.unit)
        for k, start in enumerate(found.start):
            for i in range(found.size[k]):
                back = 0 if found.slope is None else (i + 1 - found.size[k]) * found.slope[k]
                loss = found.loss[k] + back
                true = float((max(exact) - exact[start + i]) / found.unit)
                assert loss == pytest.approx(true, rel=1e-12, abs=1e-13 * float(max(exact)))

    @each("given", GRIDS, ids=str)
    @each("bids", BIDS, ids=str)
    def test_cells_bound_it(self, given, bids):
        mechanism = Price(3.0, **given)
        shapes = [shape_of(mechanism._prices, runs_of(mechanism, bids))]
        if mechanism.grid.even:
            assert type(shapes[0]) is Ticks
            shapes.append(large(mechanism, bids))
        for shape in shapes:
            check_cells(shape, revenues(mechanism.grid, bids))

    def test_which_cells_when(self):
        few, many = Records([1, 2]).source(), Records(([1, 2], [1 << 50, 1])).source()
        for given, kinds in (
            ({"bounds": (0, 5), "step": 0.01}, (Ticks, Ticks)),
            ({"bounds": (0, 5), "step": 1e-5}, (Ticks, Runs)),
            ({"bounds": (0, 5), "step": 1e-6}, (Runs, Runs)),
            ({"bounds": (0, 5)}, (Runs, Runs)),
            ({"bounds": (0, 5), "grid": [0, 5]}, (Ticks, Ticks)),
            ({"bounds": (0, 2**62 + 1), "grid": [0, 2**60, 2**60 + 1]}, (Ticks, Points)),
            ({"bounds": (0, 5), "grid": [0.0, 5.0]}, (Ticks, Ticks)),
            ({"bounds": (0, 5), "grid": [0.0, 1.0, 5.0]}, (Points, Points)),
        ):
            mechanism = Price(1.0, **given)
            for source, kind in zip((few, many), kinds, strict=True):
                shape = shape_of(mechanism._prices, demand(source, mechanism.grid))
                assert type(shape) is kind, given

    def test_the_slip_at_a_bid_that_is_a_price(self):
        """A bid of 3.01 pays the price 3.01; so does every bid in cents or mills its own."""
        for step, digits in ((0.01, 2), (0.001, 3)):
            mechanism = Price(1.0, (0, 3.5), step=step)
            bids = [float(f"{t * step:.{digits}f}") for t in range(mechanism.grid.size)]
            runs = runs_of(mechanism, bids)
            assert np.array_equal(runs.last, np.arange(mechanism.grid.size))
            at = round(3.01 / step)
            tutorial = shape_of(mechanism._prices, runs_of(mechanism, TUTORIAL)).cells
            ticks = tutorial.bits.view(np.int64)
            assert ticks[at] == at  # in ticks of the step: once the price
            assert ticks[at + 1] == 0
            assert ticks[at - 1] == at - 1

    def test_clamping(self):
        mechanism = Price(1.0, (1, 4), step=1)
        runs = runs_of(mechanism, [-5, 0.5, 2.5, 4, 99, np.inf, -np.inf])
        assert runs.spread().tolist() == [7, 4, 3, 3]


def check_cells(shape, exact):
    """Cells partition the grid, bound each revenue (in units), and heights are right."""
    start, count, bits, kind, loose = shape.cells
    assert start[0] == 0
    assert np.array_equal(start[1:], (start + count)[:-1])
    assert (start + count)[-1] == len(exact)
    unit = shape.prices.tick if kind == SIGNED else shape.prices.unit
    values = bits.view(np.int64 if kind == SIGNED else np.float64).tolist()
    cells, indices, true = [], [], []
    for cell, value in enumerate(values):
        for t in range(int(start[cell]), int(start[cell] + count[cell])):
            gap = Fraction(value) * unit - exact[t]
            assert gap >= 0
            if loose is None or not loose[cell]:
                assert gap == 0
                continue
            assert shape.exponent(cell, t) == shape.weighting.rate * gap / unit
            cells.append(cell)
            indices.append(t)
            true.append(float(shape.exponent(cell, t)))
    check_heights(shape.heights(np.array(cells, int), np.array(indices, int)), np.array(true))


def check_heights(found, true):
    assert found.shape == true.shape
    error = np.abs(found - true)
    assert (error <= np.maximum(2.0**-40 * true, 2.0**-45)).all()


class TestLargeGrids:
    """Bounds, heights and the number of cells where grids are too large to list."""

    CASES = (
        (1.0, {"bounds": (0, 10)}, 1000),
        (1e-6, {"bounds": (0, 10)}, 1000),
        (50.0, {"bounds": (0, 10)}, 1000),
        (1.0, {"bounds": (0, 3.14159)}, 300),  # points are not simple
        (1.0, {"bounds": (2.5, 10), "step": 1e-9}, 1000),
        (1.0, {"bounds": (1000, 1000 + 10)}, 1000),
        (0.1, {"bounds": (0, 2**62), "step": 2**20}, 500),
        (1.0, {"bounds": (0, 1e-200)}, 200),
        (1.0, {"bounds": (0, 1e288)}, 200),
    )

    @staticmethod
    def bids(mechanism, n):
        low, high = (float(mechanism.grid.value(t)) for t in (0, mechanism.grid.size - 1))
        return low + (high - low) * np.random.default_rng(n).beta(2, 3, n)

    @pytest.mark.slow
    @each(("epsilon", "given", "n"), CASES)
    @each("times", [1, 1 << 40])
    def test_heights_are_right_and_bounds_are_bounds(self, epsilon, given, n, times):
        mechanism = Price(epsilon, **given)
        source = Records((self.bids(mechanism, n), np.full(n, times))).source()
        runs = demand(source, mechanism.grid)
        shape = shape_of(mechanism._prices, runs)
        assert type(shape) is Runs
        start, count, _, _, loose = shape.cells
        assert start[0] == 0
        assert (count > 0).all()
        assert np.array_equal(np.append(start[1:], mechanism.grid.size), start + count)
        rng = np.random.default_rng(1)
        cell = np.sort(rng.choice(np.flatnonzero(loose), 300))
        index = start[cell] + (rng.random(300) * count[cell]).astype(np.int64)
        index[::3], index[1::3] = start[cell[::3]], (start + count)[cell[1::3]] - 1
        true = [shape.exponent(*pair) for pair in zip(cell.tolist(), index.tolist(), strict=True)]
        assert min(true) >= 0
        check_heights(shape.heights(cell, index), np.array(true, float))

    def test_few_bids_make_few_cells(self):
        for n, most in ((0, 1), (1, 26), (4, 60), (1000, 2500)):
            mechanism = Price(1.0, (0, 10))
            shape = shape_of(mechanism._prices, runs_of(mechanism, self.bids(mechanism, n)))
            assert shape.cells.start.size <= most
        steep = Price(1e6, (0, 10))
        shape = shape_of(steep._prices, runs_of(steep, self.bids(steep, 1000)))
        assert shape.cells.start.size <= 50  # except for the best run, all is merged

    def test_most_coins_pass(self):
        mechanism = Price(1.0, (0, 10))
        shape = shape_of(mechanism._prices, runs_of(mechanism, self.bids(mechanism, 1000)))
        tight = _cells.Simulation(shape, seeds_of(1, np.zeros(1, "u8")), 1, "envelope")
        _, passed = tight._round(0, 20_000)
        assert passed.mean() > 0.75

    def test_a_cut_is_at_most_a_level_deep(self):
        """Cells of a run are as wide as LEVELS say."""
        mechanism = Price(20.0, (0, 10))
        shape = shape_of(mechanism._prices, runs_of(mechanism, [7.0]))
        start, count = shape.cells.start[:-1], shape.cells.count[:-1]  # the last one pays nothing
        deep = [float(shape.exponent(i, int(t))) for i, t in enumerate(start)]
        above = 20.0 * 0.1 * (7.0 - np.array([mechanism.grid.value(int(t)) for t in start + count]))
        for down, at in zip(deep, above, strict=True):
            assert down <= 0.125 + at / 4 + 1e-6
        assert count.size > 10


class TestManyBids:
    """Of many bids most are counted in ranges; cells are bounds, and the law is the same."""

    def test_cells_are_bounds(self):
        assert checks.sections_of_prices_are_bounded() > 200

    @each("low", [0.0, 0.01])
    @each("points", [True, False])
    def test_they_have_the_cells_of_all_runs_in_any_form(self, low, points):
        rng = np.random.default_rng(2)
        given = {"grid": np.sort(rng.uniform(low, 50, 20_000))} if points else {}
        mechanism = Price(1.0, (low, 50), **given)
        bids = 50 * rng.beta(2, 3, 40_000)
        values, counts = np.unique(bids.round(3), return_counts=True)
        bids = np.repeat(values, counts)
        rng.shuffle(bids)
        runs = runs_of(mechanism, bids)
        cells = shape_of(mechanism._prices, runs).cells
        assert cells.start.size < 0.5 * min(runs.last.size, mechanism.grid.size)
        forms = bids, (values, counts), lambda: [bids[:1000], bids[1000:]], np.float32(0) + bids
        for form in forms:
            other = shape_of_bids(mechanism._prices, Records(form).source()).cells
            assert all(np.array_equal(*pair) for pair in zip(cells, other, strict=True))
        drawn = mechanism.sample(bids, 50, rng=3)
        assert np.array_equal(drawn, mechanism.law(bids).sample(50, rng=3))
        flat = Price(2.0, (low, 50), **given)
        again = mechanism.law(bids).with_epsilon(2.0).sample(50, rng=3)
        assert np.array_equal(flat.sample(bids, 50, rng=3), again)

    @pytest.mark.statistical
    @pytest.mark.parametrize("given", [{"step": 0.5}, {"grid": [1, 1.5, 2.25, 5, 5.5, 6, 9, 12.5]}])
    def test_ranges_without_hope_are_drawn_as_they_should(self, given):
        """Where so little is hopeless that what lies outside is drawn all the time."""
        mechanism = Price(1.0, (0, 13), **given)
        bids = [1, 2, 3, 9, 9, 9, 10.5, 12, 12.5, 5.5, 5.5]
        p = exact_law(mechanism, bids)
        with changed(*checks.SHALLOW):
            for shape in checks.price_shapes(mechanism, bids):
                runs = shape.section.runs
                assert p[: runs.start].sum() + p[int(runs.last[-1]) + 1 :].sum() > 0.05
                assert fits(draws(shape, 10_000), p)
                shape.section = shape.section._replace(paying=lambda _: 0)
                assert not fits(draws(shape, 10_000), p)


@pytest.mark.statistical
class TestDraws:
    """Every route draws from the law of the definition."""

    CASES = (
        ({"bounds": (0, 3.5), "step": 0.125}, [1, 1, 1, 3.01], 5.0),
        ({"bounds": (0, 20), "step": 1}, [3, 3, 9, 9, 9, 14, 20], 4.0),
        ({"bounds": (5, 15), "step": 1}, [0, 7, 7, 12], 30.0),
        ({"bounds": (0, 40), "step": 1}, [40], 60.0),
        ({"bounds": (0, 40), "step": 1}, [], 1.0),
        ({"bounds": (0, 12), "step": 0.5}, [0.2, 3.3, 5.5, 5.5, 11.9] * 20, 2.0),
    )

    @each(("given", "bids", "epsilon"), CASES)
    @each("scaling", ["tight", "textbook"])
    def test_exact_cells_and_runs(self, given, bids, epsilon, scaling):
        mechanism = Price(epsilon, scaling=scaling, **given)
        p = exact_law(mechanism, bids)
        np.testing.assert_allclose(mechanism.law(bids).probabilities, p, rtol=1e-12)
        assert fits(draws(shape_of(mechanism._prices, runs_of(mechanism, bids))), p)
        runs = large(mechanism, bids)
        assert type(runs) is Runs
        assert fits(draws(runs), p)

    @pytest.mark.parametrize("levels", [(0.5, 1.5), (3.0,), (0.01, 0.02)])
    def test_merged_runs(self, levels, monkeypatch):
        """With levels so shallow that cells without hope are drawn all the time."""
        monkeypatch.setattr(revenue_cells, "LEVELS", levels)
        mechanism = Price(3.0, (0, 20), step=1)
        bids = [1, 2, 3, 9, 9, 9, 15, 16, 17, 18]
        shape, p = large(mechanism, bids), exact_law(mechanism, bids)
        check_cells(shape, revenues(mechanism.grid, bids))
        if levels[-1] < 2:
            assert not shape.single.all()
            assert p[np.isin(np.arange(21), np.flatnonzero(~shape.single))].sum() > 0
        assert fits(draws(shape, 10_000), p)

    def test_exact_coins(self, monkeypatch):
        """Where floats never decide, fractions do."""
        mechanism = Price(5.0, (0, 3.5), step=0.125)
        p = exact_law(mechanism, TUTORIAL)
        unknown = lambda self, cell, index: np.full(cell.shape, np.nan)  # noqa: E731
        monkeypatch.setattr(Runs, "heights", unknown)
        assert fits(draws(large(mechanism, TUTORIAL), 20_000), p)

    def test_grids_of_points(self):
        for points, bids in (
            ([0.1, 0.5, 1 / 3 + 1 / 3, 0.7, 0.99], [0.7, 0.2, 0.99, 0.5, 0.5]),
            ([0, 1, 2**61, 2**61 + 2**60], [2**61] * 3 + [1] * 9),
            ([5e-324, 1e-310, 3.0], [1.0, 5.0]),
        ):
            mechanism = Price(4.0, (0, 2**62), grid=points)
            p = exact_law(mechanism, bids)
            np.testing.assert_allclose(mechanism.law(bids).probabilities, p, rtol=1e-12)
            assert type(shape_of(mechanism._prices, runs_of(mechanism, bids))) is Points
            assert fits(np.searchsorted(points, mechanism.sample(bids, N, rng=1)), p)

    @each("wrong", [1.0, 1.06, 0.94])
    def test_power_a_wrong_rate_is_noticed(self, wrong):
        mechanism = Price(5.0, (0, 3.5), step=0.125)
        p = exact_law(mechanism, TUTORIAL)
        for table in (1 << 20, 0):
            runs = runs_of(mechanism, TUTORIAL)
            other = shape_of(mechanism._prices, runs, table, Fraction(wrong))
            assert fits(draws(other), p) == (wrong == 1.0)

    def test_releases(self):
        mechanism = Price(5.0, (0, 3.5), step=0.125)
        p = exact_law(mechanism, TUTORIAL)
        found = [mechanism.release(TUTORIAL) for _ in range(4000)]
        assert fits(np.rint(np.array(found) / 0.125).astype(int), p)
        shape = large(mechanism, TUTORIAL)
        assert fits(np.array([_cells.release(shape) for _ in range(4000)]), p)

    def test_a_large_grid_by_its_cdf(self):
        mechanism = Price(5.0, (0, 3.5))
        law = mechanism.law(TUTORIAL)
        values = mechanism.sample(TUTORIAL, N, rng=2)
        bins = np.minimum((law.cdf(values) * 50).astype(int), 49)
        assert fits(bins, np.full(50, 0.02))
        wrong = mechanism.law(TUTORIAL).with_epsilon(5.3)
        assert not fits(np.minimum((wrong.cdf(values) * 50).astype(int), 49), np.full(50, 0.02))


@pytest.mark.proof
class TestPromise:
    """The worst log-ratio and range over all small data sets, of both relations."""

    GRIDS = (
        {"bounds": (0, 4), "step": 1},
        {"bounds": (1, 3), "step": 0.5},
        {"bounds": (0, 9), "grid": [0, 0.25, 0.3, 8, 9]},
        {"bounds": (0, 7), "grid": [2, 7]},
    )

    @staticmethod
    def worst(mechanism, most):
        """(greatest log-ratio, greatest range of log-ratios) over pairs of neighbours."""
        size = mechanism.grid.size
        values = mechanism.grid.values(np.arange(size))
        many = [0, 40]  # of one price beside the small data sets, so that one bid hardly counts

        def log_law(chosen, t, heavy):
            bids = [*values[list(chosen)], *[values[t]] * heavy]
            return mechanism.law(np.array(bids)).log_probabilities

        ratio = spread = 0.0
        for heavy, t in itertools.product(many, range(size)):
            laws = {
                chosen: log_law(chosen, t, heavy)
                for n in range(most + 1)
                for chosen in itertools.combinations_with_replacement(range(size), n)
            }
            for one in laws:
                grown = [tuple(sorted((*one, new))) for new in range(size)]
                pairs = [(one, other) for other in grown if other in laws]
                pairs += list(itertools.combinations([g for g in grown if g in laws], 2))
                for first, second in pairs:  # added, or one replaced by another
                    gap = laws[first] - laws[second]
                    ratio = max(ratio, np.abs(gap).max())
                    spread = max(spread, np.ptp(gap))
        return ratio, spread

    @each("given", GRIDS, ids=str)
    @each("scaling", ["tight", "textbook"])
    @each("epsilon", [0.5, 6.0])
    def test_it_is_kept_and_used_up(self, given, scaling, epsilon):
        mechanism = Price(epsilon, scaling=scaling, **given)
        promise = mechanism.guarantee
        ratio, spread = self.worst(mechanism, 3)
        assert promise.epsilon == promise.bounded_range == epsilon / (1 + (scaling == "textbook"))
        assert promise.neighbors == "both"
        assert promise.rho == pytest.approx(promise.epsilon**2 / 8)
        assert ratio <= promise.epsilon * (1 + 1e-12)
        assert spread <= promise.bounded_range * (1 + 1e-12)
        highest = float(mechanism.grid.exact(mechanism.grid.size - 1))
        lowest = float(mechanism.grid.exact(0))
        # All of it is used where the lowest price is 0.
        assert spread > 0.999 * promise.epsilon * (1 - lowest / highest)
        if epsilon > 5 and lowest == 0:
            assert ratio > 0.99 * promise.epsilon

    def test_power_a_rate_twice_as_high_breaks_it(self, monkeypatch):
        twice = lambda epsilon, highest, scaling: 2 * price_rate(epsilon, highest, scaling)  # noqa: E731
        monkeypatch.setattr(_revenue, "price_rate", twice)
        ratio, spread = self.worst(Price(6.0, (0, 4), step=1), 2)
        assert min(ratio, spread) > 6.1

    def test_below_zero_it_would_be_twice_epsilon(self):
        """Revenue at -1 and 1 moves both ways: the range of one bid is twice the highest."""
        monotone = [Fraction(p) * n for p, n in ((-1, 1), (1, 1))]
        assert max(monotone) - min(monotone) == 2

    def test_totals_and_budgets(self):
        mechanism = Price(0.3, (0, 5), step=1, scaling="textbook")
        assert mechanism.guarantee.epsilon == 0.15
        assert mechanism.total(rows=2).epsilon == 0.3
        for neighbors in ("add-remove", "replace"):
            budget = fx.Budget(epsilon=0.3, neighbors=neighbors)
            mechanism.release([1, 2], budget=budget)
            assert budget.spent == 0.15
            Price(0.15, (0, 5), step=1).release([1, 2], budget=budget)
            with pytest.raises(fx.BudgetExceeded):
                mechanism.release([1, 2], budget=budget)


class TestTutorial:
    """The bids 1, 1, 1 and 3.01 between 0 and 3.5, with the weight exp(epsilon * u / 7)."""

    @staticmethod
    def law(epsilon):
        mechanism = Price(epsilon, (0, 3.5), scaling="textbook")
        return mechanism.continuous_law(TUTORIAL)

    # theory: Z, pdf at 1, 3, 3.01 and 0, masses below 1 and above 3.01, mean, expected loss
    TABLE = (
        (0.01, 3.50862875264, 0.286644930054, 0.286235729653, 0.286239818764, 0.285011630041, 0.2858275023, 0.1396556987, 1.74981166274, 2.27561805838),
        (1.0, 4.52473886733, 0.391358485949, 0.339260022349, 0.339745025872, 0.221007229217, 0.2981146993, 0.1082935423, 1.73433407052, 2.12863152971),
        (5.0, 15.3930816798, 1.13113854818, 0.553739442064, 0.557708883493, 0.0649642495765, 0.3731610045, 0.03183248229, 1.70029706302, 1.607441246),
    )  # fmt: skip

    @each("row", TABLE, ids=lambda row: f"epsilon {row[0]}")
    def test_the_density(self, row):
        epsilon, z, *densities, below, above, mean, loss = row
        law = self.law(epsilon)
        assert np.exp(law.log_normalizer) == pytest.approx(z, rel=1e-11)
        np.testing.assert_allclose(law.pdf([1, 3, 3.01, 0]), densities, rtol=1e-11)
        assert law.cdf(1) == pytest.approx(below, rel=1e-9)
        assert 1 - law.cdf(3.01) == pytest.approx(above, rel=1e-9)
        assert law.mean() == pytest.approx(mean, rel=1e-11)
        assert law.expected_loss() == pytest.approx(loss, rel=1e-11)

    def test_the_default_grid_is_next_to_it(self):
        law = Price(5.0, (0, 3.5), scaling="textbook").law(TUTORIAL)
        cdf, quantiles = (
            (0.0721399965488, 0.56688501642, 0.962610299707),
            (0.590111493255, 1.72857269479, 2.88210422255, 3.3460691832),
        )
        np.testing.assert_allclose(self.law(5.0).cdf([0.5, 2, 3]), cdf, rtol=1e-11)
        np.testing.assert_allclose(self.law(5.0).ppf([0.1, 0.5, 0.9, 0.99]), quantiles, rtol=1e-11)
        np.testing.assert_allclose(law.cdf([0.5, 2, 3]), cdf, rtol=1e-10)
        np.testing.assert_allclose(law.ppf([0.1, 0.5, 0.9, 0.99]), quantiles, rtol=1e-10)
        assert law.expected_loss() == pytest.approx(1.607441246, rel=1e-10)

    @each(
        ("epsilon", "loss"),
        [
            (0.001, 2.27697750019),
            (0.1, 2.26204372401),
            (70.001, 0.100197195232),
            (80.001, 0.0875471988791),
            (90.001, 0.0777886539192),
        ],
    )
    def test_the_loss_against_epsilon(self, epsilon, loss):
        assert self.law(epsilon).expected_loss() == pytest.approx(loss, rel=1e-11)

    def test_tight_is_textbook_at_half_of_epsilon(self):
        for tight, textbook in (
            (Price(1.0, (0, 3.5)), Price(2.0, (0, 3.5), scaling="textbook")),
            (Price(1.0, (0, 3.5), step=0.5), Price(2.0, (0, 3.5), step=0.5, scaling="textbook")),
        ):
            assert tight.guarantee == textbook.guarantee
            assert np.array_equal(
                tight.sample(TUTORIAL, 99, rng=1), textbook.sample(TUTORIAL, 99, rng=1)
            )
            points = [0, 1, 3, 3.5]
            densities = [m.continuous_law(TUTORIAL).pdf(points) for m in (tight, textbook)]
            np.testing.assert_allclose(*densities, rtol=1e-14)


BOTH = [{"step": 0.01}, {}, {"grid": [0.0, 0.3, 1.7, 3.2, 9.9]}]


class TestReproducibility:
    """The bytes depend on bids, key, stream and size alone."""

    @each("given", BOTH, ids=str)
    def test_the_form_of_the_bids_changes_nothing(self, given):
        mechanism = Price(0.01, (0, 10), **given)
        bids = np.round(np.random.default_rng(1).lognormal(0.5, 0.6, 5000), 2)
        plain = mechanism.sample(bids, 500, rng=3)
        values, counts = np.unique(bids, return_counts=True)
        for other in (
            np.sort(bids),
            bids[::-1],
            bids.tolist(),
            (values, counts),
            lambda: np.array_split(bids, 7),
        ):
            assert np.array_equal(mechanism.sample(other, 500, rng=3), plain)
        assert np.array_equal(
            mechanism.sample(np.sort(bids), 500, rng=3, assume_sorted=True), plain
        )
        assert np.array_equal(mechanism.sample(bids, 500, rng=3, threads=2), plain)
        assert np.array_equal(mechanism.law(bids).sample(500, rng=3), plain)
        assert not np.array_equal(mechanism.sample(bids, 500, rng=4), plain)
        assert not np.array_equal(mechanism.sample(bids, 500, rng=3, streams=[1]), plain)

    def test_ints_and_floats(self):
        mechanism = Price(2.0, (0, 10), step=1)
        bids = np.array([1, 3, 3, 8, 12, -1])
        plain = mechanism.sample(bids, 300, rng=1)
        assert plain.dtype == np.int64
        assert type(mechanism.sample(bids, rng=1)) is type(mechanism.release(bids)) is int
        for dtype in ("f8", "f4", "i1", "i8", ">i4"):
            assert np.array_equal(mechanism.sample(bids.astype(dtype), 300, rng=1), plain)
        floats = Price(2.0, (0, 10), step=1.0)
        assert type(floats.release(bids)) is float
        assert np.array_equal(floats.sample(bids, 300, rng=1), plain)

    def test_huge_integers(self):
        for given in ({"step": 2**20}, {"grid": [0, 1, 2**53 + 1, 2**62]}):
            mechanism = Price(9.0, (0, 2**62), **given)
            found = mechanism.sample([2**62, 2**53 + 1, 2**63 - 1, -(2**63)], 200, rng=1)
            assert found.dtype == np.int64
            assert (found % given.get("step", 1) == 0).all()
            assert set(found.tolist()) <= set(given.get("grid", found.tolist()))

    @each("last", [2**62, 2**63 - 513, 2**63 - 1])
    def test_integers_up_to_the_end_of_int64(self, last):
        points = [last - 3000, last - 2000, last - 512, last]
        mechanism = Price(9.0, (0, last), grid=points)
        bids = [points[1], points[3], points[2], 2**63 - 1]
        found = mechanism.law(bids).probabilities
        np.testing.assert_allclose(found, exact_law(mechanism, bids), rtol=1e-12)
        assert set(mechanism.sample(bids, 50, rng=1).tolist()) <= set(points)

    def test_integers_are_two_doubles_exactly(self):
        near = [
            sign * 2**k + d for k in (0, 11, 53, 62, 63) for sign in (-1, 1) for d in (-1, 0, 1)
        ]
        numbers = [x for x in (*near, 2**63 - 512, 2**63 - 513) if -(2**63) <= x < 2**63]
        high, low = double_double(np.array(numbers))
        assert high.tolist() == [float(x) for x in numbers]
        pairs = zip(high.tolist(), low.tolist(), strict=True)
        assert [Fraction(a) + Fraction(b) for a, b in pairs] == numbers

    @each("epsilon", [0.5, 3.0])
    @each("given", BOTH, ids=str)
    def test_a_law_at_another_epsilon_is_its_mechanisms(self, epsilon, given):
        law = Price(1.0, (0, 10), **given).law(TUTORIAL).with_epsilon(2.0).with_epsilon(epsilon)
        other = Price(epsilon, (0, 10), **given)
        np.testing.assert_allclose(law.cdf([1, 3.01]), other.law(TUTORIAL).cdf([1, 3.01]))

    def test_pinned(self):
        """A change of these is a change of the stream format."""
        assert Price(5.0, (0, 3.5), step=0.01).sample(TUTORIAL, 6, rng=7).tolist() == PINNED[0]
        assert Price(5.0, (0, 3.5)).sample(TUTORIAL, 4, rng=7).tolist() == PINNED[1]
        points = Price(5.0, (0, 3.5), grid=[0.5, 0.99, 3.01])
        assert points.sample(TUTORIAL, 6, rng=7).tolist() == PINNED[2]


PINNED = (
    [0.96, 2.97, 2.96, 2.88, 2.54, 0.98],
    [2.3887590389604156, 1.8881619569169743, 1.8352882332746958, 1.3661945898470549],
    [0.99, 3.01, 0.99, 0.99, 0.99, 0.99],
)


class TestEdges:
    """No bids, one bid, equal bids."""

    @each("given", BOTH, ids=str)
    def test_no_bids(self, given):
        mechanism = Price(2.0, (0, 10), **given)
        law = mechanism.law([])
        assert law.expected_loss() == 0.0
        assert law.cdf(5) == pytest.approx(
            np.searchsorted(law.points, 5) / law.points.size if given else 0.5, rel=0.01
        )
        assert mechanism.sample([], 5, rng=1).shape == (5,)
        assert 0 <= mechanism.release([]) <= 10
        uniform = mechanism.continuous_law([])
        assert uniform.cdf(uniform.ppf(0.3)) == pytest.approx(0.3)

    def test_a_sure_thing(self):
        """So many equal bids that nothing else is possible."""
        for given in ({"step": 1}, {"step": 0.01}, {"grid": [0.5, 4.0, 7.0]}):
            mechanism = Price(1.0, (0, 10), **given)
            bids = ([7.0], [100_000])
            assert mechanism.release(bids) == 7.0
            assert set(mechanism.sample(bids, 50, rng=1).tolist()) == {7.0}
            assert mechanism.law(bids).pmf(7.0) == pytest.approx(1.0)

    def test_one_bid(self):
        law = Price(4.0, (0, 4), step=1).law([3])
        weights = np.exp([0, 1, 2, 3, 0])
        np.testing.assert_allclose(law.probabilities, weights / weights.sum(), rtol=1e-14)


class TestMechanism:
    """Public parameters: what they must be, and how they look."""

    @each(
        ("given", "error", "match"),
        [
            ({"bounds": (0, 1), "neighbors": "replace"}, TypeError, re.compile("neighbors")),
        ],
    )
    def test_wrong_parameters(self, given, error, match):
        with pytest.raises(error, match=says(match)):
            Price(1.0, **given)

    def test_an_epsilon_at_which_no_coin_would_pass(self):
        assert Price(1e6, (0, 1e6)).release([1e6] * 1000) > 999_999

    def test_prices_below_zero_are_refused_though_bounds_allow_them(self):
        assert Price(1.0, (-9, 9), grid=[0, 2]).grid.size == 2

    @each("bids", [["a"], [[1.0]], 3, None, "12", [1j]])
    def test_wrong_bids(self, bids):
        with pytest.raises((fx.ParameterTypeError, fx.ParameterError)):
            Price(1.0, (0, 1)).sample(bids)

    @each("given", [{"step": 0.5}, {}, {"grid": [1, 2]}], ids=str)
    def test_missing_bids(self, given):
        mechanism = Price(1.0, (0, 10), **given)
        with pytest.raises(fx.InvalidRecords):
            mechanism.release([1.0, np.nan])
        for nan, same in (("drop", [1.0]), ("lower", [1.0, 0.0]), ("upper", [1.0, 10.0])):
            found = mechanism.sample([1.0, np.nan], 50, rng=1, nan=nan)
            assert np.array_equal(found, mechanism.sample(same, 50, rng=1))

    def test_demand_of_no_bids_is_one_run(self):
        grid = make_grid((0, 5), 1)
        assert demand(Records([]).source(), grid).last.tolist() == [5]
        assert Demand(np.array([5]), np.array([0])).total() == 0
        assert Prices(grid, 1.0, "tight").most == 5


def test_prices_beyond_all_money():
    """Their revenue would not be a double."""
    law = fx.Price(1.0, (0, 1e288)).law([1e288] * 5)
    assert 0 < law.expected_utility() < math.inf
