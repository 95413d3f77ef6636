"""Does every record count at the grid point nearest to it, whatever way it comes?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastexp as fx
from tests.doors.grouped import placed
from tests.doors.numbers import rank_errors
from tests.doors.parameters import Grid, make_grid
from tests.support.altered import changed
from tests.support.checks.groups import restored_key
from tests.support.checks.records import SMALL_BUFFERS
from tests.support.each import each
from tests.twins.numbers import index_below, nearest_index

GRIDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "integers": ((-3, 17), {"step": 2}),
    "tenths": ((-0.5, 1.5), {"step": 0.1}),
    "thirds": ((0, 5), {"step": Fraction(1, 3)}),
    "quarters": ((-2, 2), {"step": 0.25}),
    "uneven": ((-10, 40), {"grid": [-7.5, -1.0, 0.0, 0.1, 0.3, 4.0, 5.0, 33.3]}),
    "large integers": ((2**60, 2**60 + 60), {"step": 5}),
    "odd lower bound": ((2**53 - 1, 2**53 + 20), {"step": 1}),
    "odd step": ((2**54 + 2, 2**54 + 62), {"step": 3}),
    "far below 0": ((-(2**60) - 1025, -(2**60) + 2559), {"step": 256}),
    "end of int64": ((2**63 - 1 - 20 * 513, 2**63 - 1), {"step": 513}),
    "large uneven integers": ((0, 2**62), {"grid": [3, 2**53 + 1, 2**53 + 4, 2**61 + 1, 2**62]}),
}
MECHANISMS: dict[str, Callable[..., Any]] = {
    "median": lambda bounds, **grid: fx.Median(0.3, bounds, **grid),
    "median, widened": lambda bounds, **grid: fx.Median(0.3, bounds, widen=2, **grid),
    "quantile": lambda bounds, **grid: fx.Quantile(0.3, 0.4, bounds, neighbors="replace", **grid),
    "third largest": lambda bounds, **grid: fx.OrderStatistic(3, 0.5, bounds, **grid),
    "maximum": lambda bounds, **grid: fx.Maximum(0.5, bounds, **grid),
    "mode": lambda bounds, **grid: fx.Mode(0.5, bounds, **grid),
}


def numbers_of(grid: Grid) -> list[Fraction]:
    return [grid.exact(t) for t in range(grid.size)]


def twins(grid: Grid, records: np.ndarray) -> list[int]:
    """The nearest points, by looking at all of them in fractions."""
    numbers = numbers_of(grid)
    return [nearest_index(Fraction(record), numbers) for record in records.tolist()]


def awkward(grid: Grid, seed: int = 0) -> np.ndarray:
    """Half-way between points and next to it, on points, anywhere and far outside."""
    numbers = numbers_of(grid)
    middles = [float((a + b) / 2) for a, b in itertools.pairwise(numbers)]
    beside = [math.nextafter(x, side) for x in middles for side in (-math.inf, math.inf)]
    low, high = float(numbers[0]), float(numbers[-1])
    anywhere = np.random.default_rng(seed).uniform(low - 1, high + 1, 40)
    return np.array([*middles, *middles, *beside, *map(float, numbers), *anywhere, -1e300, 1e300])


def awkward_integers(grid: Grid) -> np.ndarray:
    middles = [math.floor((a + b) / 2) for a, b in itertools.pairwise(numbers_of(grid))]
    near = [x + d for x in middles for d in (-1, 0, 1, 2)]
    return np.array([*near, *near[::3], -(2**63), 2**63 - 1])


def both_kinds(grid: Grid) -> list[np.ndarray]:
    return [awkward(grid), awkward_integers(grid)]


def index_and_least_are_the_twins(grid: Grid, low: int, step: int) -> None:
    """Of an evenly spaced grid of integers, at and beside its points and half-way points."""
    points = [low + t * step for t in range(grid.size)]
    middles = [Fraction(a + b, 2) for a, b in itertools.pairwise(points)]
    floats = [float(x) for x in (*points, *middles)]
    beside = [math.nextafter(x, side) for x in floats for side in (-math.inf, math.inf)]
    near = {math.floor(x) + d for x in (*points, *middles) for d in (-1, 0, 1)}
    inside = [x for x in near if -(2**63) <= x < 2**63]
    twin = nearest_index if grid.rule == "nearest" else index_below
    for records in (np.array([*floats, *beside]), np.array(inside)):
        wanted = [twin(Fraction(x), points) for x in records.tolist()]
        assert grid.index(records).tolist() == wanted
        assert placed(grid, records).tolist() == wanted
        for t in range(1, grid.size):
            least = grid.least(t, floats=records.dtype.kind == "f")
            assert [x >= least for x in records.tolist()] == [i >= t for i in wanted]
            assert grid.under(t, records).tolist() == [i < t for i in wanted]


class TestIndices:
    """`Grid.index`, blocks of records by group, and thresholds against the twin."""

    @pytest.mark.slow
    @each("name", GRIDS)
    def test_every_grid(self, name):
        bounds, form = GRIDS[name]
        grid = make_grid(bounds, **form)
        for records in both_kinds(grid):
            wanted = twins(grid, records)
            assert grid.index(records).tolist() == wanted
            assert placed(grid, records).tolist() == wanted
            for t in range(1, grid.size):
                least = grid.least(t, floats=records.dtype.kind == "f")
                assert [x >= least for x in records.tolist()] == [i >= t for i in wanted]

    @pytest.mark.slow
    @given(
        st.sampled_from([0, 2**52, 2**53, 2**60, 2**62, 2**63 - 1]),
        st.sampled_from([1, -1]),
        st.integers(-3000, 3000),
        st.integers(1, 12) | st.integers(1, 3000),
        st.integers(1, 20),
        st.sampled_from(["nearest", "below"]),
    )
    @settings(max_examples=300, deadline=None)
    def test_any_integers(self, about, sign, ahead, step, steps, rule):
        """Evenly spaced, of any size: doubles on, beside and between points, and integers."""
        low = min(max(sign * about + ahead, -(2**63)), 2**63 - 1 - step * steps)
        grid = make_grid((low, low + step * steps), step, rule=rule)
        index_and_least_are_the_twins(grid, low, step)

    @pytest.mark.slow
    @given(
        st.integers(-3, 3),
        st.integers(2**49, 2**58),
        st.integers(0, 5),
        st.sampled_from(["nearest", "below"]),
    )
    @settings(max_examples=100, deadline=None)
    def test_fractions_between_points_far_apart(self, ahead, step, t, rule):
        """Half-way is within 3 of 0: records with digits behind the point decide."""
        low = ahead - (2 * t + 1) * step // 2
        grid = make_grid((low, low + step * 16), step, rule=rule)
        index_and_least_are_the_twins(grid, low, step)

    @pytest.mark.slow
    @given(
        step=st.fractions(Fraction(1, 1000), 50, max_denominator=1000),
        first=st.integers(-200, 200),
        t=st.lists(st.integers(0, 29), min_size=1, max_size=20),
    )
    @settings(max_examples=150, deadline=None)
    def test_half_way_between_any_fractions(self, step, first, t):
        """Few of the middles are doubles: a record is then on one side of it, by any distance."""
        grid = make_grid((first * step, (first + 30) * step), step)
        numbers = numbers_of(grid)
        middles = [float((numbers[i] + numbers[i + 1]) / 2) for i in t]
        records = np.array(
            [math.nextafter(x, s) for x in middles for s in (-math.inf, x, math.inf)]
        )
        wanted = twins(grid, records)
        assert grid.index(records).tolist() == wanted
        assert placed(grid, records).tolist() == wanted

    @pytest.mark.slow
    @given(st.data())
    @settings(max_examples=150, deadline=None)
    def test_any_points(self, data):
        """Doubles or integers, however far apart or close."""
        ints = st.integers(-(2**63), 2**63 - 1)
        floats = st.floats(-1e300, 1e300) | st.floats(-1e-320, 1e-320)
        kind = data.draw(st.sampled_from([ints, floats]))
        points = sorted(set(data.draw(st.lists(kind, min_size=2, max_size=9, unique=True))))
        grid = make_grid((points[0], points[-1]), grid=points)
        sums = [Fraction(a) + Fraction(b) for a, b in itertools.pairwise(points)]
        near = [float(x / 2) for x in sums]
        beside = [math.nextafter(x, side) for x in near for side in (-math.inf, math.inf)]
        floor = [math.floor(x / 2) + d for x in sums for d in (-1, 0, 1, 2)]
        inside = [x for x in floor if -(2**63) <= x < 2**63]
        for records in (np.array([*near, *beside]), np.array(inside, np.int64)):
            assert grid.index(records).tolist() == twins(grid, records)
            prices = [index_below(Fraction(x), points) for x in records.tolist()]
            assert grid.below.index(records).tolist() == prices


def ways(records: np.ndarray, folder: Path) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The same records in every form, with what `sample` is told of it."""
    mixed = np.random.default_rng(3).permutation(records)
    path = folder / "sorted.npy"
    np.save(path, np.sort(records))
    values, counts = np.unique(records, return_counts=True)
    return {
        "list": (mixed.tolist(), {}),
        "array": (mixed, {}),
        "sorted file": (path, {"assume_sorted": True}),
        "parts": (lambda: [mixed[:7], mixed[7:]], {}),
        "counts": ((values, counts), {}),
    }


class TestWays:
    """Records have the draws of the points that the twin moves them to."""

    @pytest.mark.slow
    @each("kind", [0, 1], ids=["float64", "int64"])
    @each("name", GRIDS)
    @each("which", MECHANISMS)
    def test_of_all_data_sets(self, which, name, kind, tmp_path):
        bounds, form = GRIDS[name]
        mechanism = MECHANISMS[which](bounds, **form)
        grid = mechanism.grid
        records = both_kinds(grid)[kind]
        moved = grid.values(np.array(twins(grid, records)))
        wanted = mechanism.sample(moved, 30, rng=1).tolist()
        for way, (data, more) in ways(records, tmp_path).items():
            assert mechanism.sample(data, 30, rng=1, **more).tolist() == wanted, way
            with changed(*SMALL_BUFFERS):
                assert mechanism.sample(data, 30, rng=1, **more).tolist() == wanted, way
            law = mechanism.law(data, **more)
            assert law == mechanism.law(moved)
            assert law.sample(30, rng=1).tolist() == wanted

    @each("which", MECHANISMS)
    def test_many_doubles_beyond_2_to_the_53(self, which):
        """So many that they are not sorted; each is a point of odd index."""
        bounds = 2**60 - 1, 2**60 + 10**6
        mechanism = MECHANISMS[which](bounds, step=1)
        exact = 2**60 + 256 * (np.arange(6000) % 19)
        records = exact.astype(np.float64)
        assert mechanism.law(records) == mechanism.law(exact)
        wanted = mechanism.sample(exact, 9, rng=1).tolist()
        assert mechanism.sample(records, 9, rng=1).tolist() == wanted
        assert bounds[0] <= mechanism.release(records) <= bounds[1]

    @pytest.mark.slow
    @each("name", GRIDS)
    @each("which", MECHANISMS)
    def test_of_rows_and_groups(self, which, name):
        bounds, form = GRIDS[name]
        mechanism = MECHANISMS[which](bounds, **form)
        for records in both_kinds(mechanism.grid):
            moved = mechanism.grid.values(np.array(twins(mechanism.grid, records)))
            by = np.arange(records.size) % 3
            known = {"by": by, "groups": [2, 0, 7, 1]}
            draws = [mechanism.sample(x, 9, rng=1, **known).tolist() for x in (records, moved)]
            assert draws[0] == draws[1]
            known = {**known, "key": restored_key(), "label": "q"}
            answers = [mechanism.release(x, **known).tolist() for x in (records, moved)]
            assert answers[0] == answers[1]
            for size in (1, 300):
                sets = [x[: x.size // 4 * 4].reshape(4, -1) for x in (records, moved)]
                rows = [mechanism.sample(x, size, rng=1).tolist() for x in sets]
                assert rows[0] == rows[1]


FAR = {  # float grids beyond int64, whose middles are doubles, or half-way between two
    "steps": ((0.0, 2.0**64), {"step": 2.0**60}),
    "uneven": ((2.0**62, 2.0**64), {"grid": [2.0**62, 2.0**63, 2.0**63 + 2048, 1.8e19, 2.0**64]}),
    "no step": ((2.0**63 - 2.0**52, 2.0**63 + 2.0**52), {}),
}


class TestUnsignedIntegers:
    """uint64 beyond int64 count to the last bit, where a grid reaches there."""

    @each("name", FAR)
    @each("which", MECHANISMS)
    def test_of_all_data_sets_rows_and_groups(self, which, name, tmp_path):
        bounds, form = FAR[name]
        mechanism = MECHANISMS[which](bounds, **form)
        grid = mechanism.grid
        some = range(grid.size - 1) if grid.size < 99 else (0, 1, 2**12, 2**13 - 2)
        middles = [(grid.exact(t) + grid.exact(t + 1)) / 2 for t in some if t + 1 < grid.size]
        near = {math.floor(x) + d for x in middles for d in (-1, 0, 1, 2)}
        records = np.array([*near, 0, 2**63 - 1, 2**63, 2**64 - 1] * 3, np.uint64)
        moved = grid.values(grid.index(records))  # as `test_indices` has it
        draws = mechanism.sample(moved, 30, rng=1).tolist()
        for way, (data, more) in ways(records, tmp_path).items():
            if way == "list":  # NumPy makes no uint64 of it
                continue
            assert mechanism.sample(data, 30, rng=1, **more).tolist() == draws, way
            assert mechanism.law(data, **more) == mechanism.law(moved), way
        known = {"by": np.arange(records.size) % 3, "groups": [2, 0, 1]}
        by = [mechanism.sample(x, 9, rng=1, **known).tolist() for x in (records, moved)]
        assert by[0] == by[1]
        sets = [mechanism.sample(x.reshape(3, -1), 9, rng=1).tolist() for x in (records, moved)]
        assert sets[0] == sets[1]

    @pytest.mark.parametrize("name", ["steps", "uneven"])
    def test_indices(self, name):
        bounds, form = FAR[name]
        grid = make_grid(bounds, **form)
        middles = [math.floor((a + b) / 2) for a, b in itertools.pairwise(numbers_of(grid))]
        near = [x + d for x in middles for d in (-1, 0, 1, 2)]
        records = np.array([*near, 0, 2**64 - 1], np.uint64)
        assert grid.index(records).tolist() == twins(grid, records)


class TestAccuracy:
    """Answers are not low: what rounding down cost."""

    POINTS = (0, 25, 50, 75, 100)

    @pytest.mark.parametrize("records", [list(range(100)), [49, 49.5, 50.1] * 100])
    def test_a_coarse_grid_has_the_median_that_is_near(self, records):
        law = fx.Median(20.0, (0, 100), grid=self.POINTS).law(records)
        assert law.pmf(50) > 1 - 1e-9

    # Expected error and bias with ε = 1 of 150 data sets of 1,000 records of N(μ, 15).
    @each(("step", "error"), [(1, 0.264), (5, 1.19), (10, 2.55)])
    def test_errors_are_half_of_those_of_rounding_down(self, step, error):
        """Both figures are means of 150 data sets: they differ by less than 4 standard errors.

        Records that are rounded down first have the errors of rounding down, and fail.
        """
        rng = np.random.default_rng(14)
        rows = np.sort(rng.normal(rng.uniform(30, 70, (150, 1)), 15, (150, 1000)), axis=1)
        truths = np.median(rows, axis=1)
        mechanism = fx.Median(1.0, (0, 100), step=step)

        def as_stated(records: np.ndarray) -> bool:
            figures = rank_errors.figures(mechanism._statistic, records, truths)
            errors, bias = figures.error, figures.bias
            chance = 4 / math.sqrt(len(rows))
            near = abs(errors.mean() - error) < chance * math.sqrt(2) * errors.std()
            return bool(near and abs(bias.mean()) < chance * bias.std())

        assert as_stated(rows)
        assert not as_stated(np.floor(rows / step) * step)

    def test_prices_are_paid_by_bids_that_reach_them(self):
        """A bid of 2.99 does not pay 3."""
        law = fx.Price(50.0, (0, 4), step=1).law([2.99] * 40)
        assert law.pmf(2) > 1 - 1e-9
