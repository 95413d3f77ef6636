"""Is every released number a point that public parameters fix, and every record on one?"""

from __future__ import annotations

import dataclasses
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastexp as fx
from fastexp.errors import ParameterError, ParameterTypeError
from tests.doors.parameters import DEFAULT_STEPS, decimal, make_grid
from tests.messages import raises, says
from tests.support.checks import records as checks
from tests.support.each import each

FINITE = st.floats(-1e300, 1e300)


class TestPoints:
    """Against bisection in fractions."""

    @pytest.mark.slow
    def test_every_kind_of_grid(self):
        checks.grids_are_fractions()

    def test_bounds_are_kept_exactly(self):
        checks.bounds_are_kept_exactly()

    @pytest.mark.slow
    @given(low=FINITE, high=FINITE, data=st.data())
    @settings(max_examples=150, deadline=None)
    def test_any_bounds(self, low, high, data):
        try:
            grid = make_grid((low, high))
        except ParameterError:
            assert not low < high
            return
        assert (grid.value(0), grid.value(grid.size - 1)) == (low, high)
        records = np.array(data.draw(st.lists(st.floats(low, high), min_size=1, max_size=9)))
        wanted = [checks.index_by_search(grid, x) for x in records.tolist()]
        assert grid.index(records).tolist() == wanted
        points = grid.values(np.array([0, *wanted])).tolist()
        assert points == [grid.value(t) for t in (0, *wanted)]
        down = grid.values(grid.below.index(records)).tolist()
        assert all(p <= x for p, x in zip(down, records.tolist(), strict=True))

    @pytest.mark.slow
    @given(
        ticks=st.integers(1, 10**6),
        first=st.integers(-(10**6), 10**6),
        digits=st.integers(0, 6),
        data=st.data(),
    )
    @settings(max_examples=150, deadline=None)
    def test_any_decimal_step(self, ticks, first, digits, data):
        """Bounds and step are the decimals that print, though no double is one of them."""
        unit = Fraction(1, 10**digits)
        width = data.draw(st.integers(1, 50))
        low, high, step = (float(x * unit) for x in (first, first + ticks * width, width))
        grid = make_grid((low, high), step)
        assert grid.size == ticks + 1
        some = np.unique(np.array([0, ticks // 3, ticks // 2, ticks]))
        exact = [(first + t * width) * unit for t in some.tolist()]
        assert grid.values(some).tolist() == [float(x) for x in exact]
        assert grid.index(grid.values(some)).tolist() == some.tolist()
        under = np.nextafter(grid.values(some), -np.inf)
        assert grid.index(under).tolist() == some.tolist()
        assert grid.below.index(under).tolist() == np.maximum(some - 1, 0).tolist()

    def test_points_increase_strictly(self):
        for bounds in ((0, 1), (-1e-300, 1e300), (1.0, 1.0 + 2.0**-45), (2.0**60, 2.0**60 + 4096)):
            grid = make_grid(bounds)
            rng = np.random.default_rng(1)
            some = np.unique(np.append(rng.integers(0, grid.size - 1, 2000), [0, grid.size - 2]))
            assert (grid.values(some + 1) > grid.values(some)).all()

    def test_what_is_released_is_a_point(self):
        grid = make_grid((0, 1), 0.1)
        points = {float(Fraction(i, 10)) for i in range(11)}
        m = fx.Median(0.01, (0, 1), step=0.1)
        found = {m.release([0.123, 0.456]) for _ in range(500)}
        assert found == points == set(m.sample([0.123, 0.456], 2000, rng=1).tolist())
        assert grid == m.grid

    def test_ints_stay_ints(self):
        m = fx.Median(0.5, (2**60, 2**60 + 9), step=3)
        assert {m.release([2**60 + 4]) for _ in range(200)} == {2**60 + i for i in (0, 3, 6, 9)}
        assert type(m.release([])) is int
        assert m.sample([], 3, rng=1).dtype == np.int64

    def test_equal_numbers_of_other_types_are_other_grids(self):
        """Grids are kept by their numbers: 0, 0.0 and a decimal are equal and hash alike."""
        for bounds, step, kind in (((0, 7), 1, int), ((0.0, 7.0), 1.0, float), ((0, 7), 1, int)):
            assert type(make_grid(bounds, step).value(3)) is kind
        assert type(make_grid((0, 7), Decimal(1)).value(3)) is float

    @given(FINITE)
    @settings(max_examples=200, deadline=None)
    def test_floats_are_the_decimals_that_print(self, number):
        assert decimal(number) == Fraction(repr(number))

    def test_points_that_are_given_are_kept(self):
        points = np.array([0.5, 2.0, 7.25])
        m = fx.Median(1.0, (0, 10), grid=points)
        points[:] = 0
        assert m.grid.points.tolist() == [0.5, 2.0, 7.25]
        with pytest.raises(ValueError, match="read-only"):
            m.grid.points[0] = 1
        assert {m.release([1.0]) for _ in range(100)} == {0.5, 2.0, 7.25}


class TestIdentity:
    """Grids are values: equal, hashable, picklable."""

    SAME: ClassVar = [
        (((0, 1), 0.5), ((0.0, 1.0), Fraction(1, 2))),
        (((0, 10), 1), ((np.int64(0), np.int32(10)), np.int8(1))),
        (((0, Decimal("0.3")), 0.1), ((0, 0.3), Decimal("0.1"))),
        (((0, 2), 2), ((0, 2), None, [0, 2])),
        (((0.0, 2.5), 0.5), (None, None, np.linspace(0, 2.5, 6))),
    ]

    @each(("one", "two"), SAME)
    def test_equal(self, one, two):
        first, second = make_grid(*one), make_grid(*two)
        assert first == second
        assert hash(first) == hash(second)
        assert pickle.loads(pickle.dumps(first)) == first

    def test_different(self):
        made = [
            make_grid((0, 1), 1), make_grid((0, 1), 1.0), make_grid((0, 2), 1),
            make_grid((0, 2), 2), make_grid((0, 3), grid=[0, 1, 3]), make_grid((0, 2)),
            make_grid((0, 2), grid=[0.0, 2.0]), make_grid((0, 3), grid=[0.0, 1.0, 3.0]),
        ]  # fmt: skip
        assert len(set(made)) == len(made)
        assert made[0] != "grid"

    def test_a_replaced_parameter_makes_a_new_grid(self):
        m = fx.Median(1.0, (0, 120), step=1)
        assert dataclasses.replace(m, bounds=(0, 10)) == fx.Median(1.0, (0, 10), step=1)
        assert dataclasses.replace(m, step=10).grid.size == 13
        assert dataclasses.replace(m, epsilon=2.0) == fx.Median(2.0, (0, 120), step=1)
        points = fx.Median(1.0, (0, 120), grid=[1, 5, 9])
        assert dataclasses.replace(points, epsilon=2.0).grid.size == 3

    EVEN: ClassVar = [
        (np.arange(0, 101.0), (0.0, 100.0), 1.0),
        (np.arange(-7, 90, 4), (-7, 89), 4),
        (np.linspace(-1, 1, 65), (-1.0, 1.0), 0.03125),
    ]

    @each(("points", "bounds", "step"), EVEN)
    def test_points_that_are_even_are_as_by_their_step(self, points, bounds, step):
        """The same draws, laws and promise; a list stays one where it is shown or built again."""
        data = np.random.default_rng(1).uniform(bounds[0], bounds[1], 300)
        low = max(0, bounds[0])
        for build, where in (
            (fx.Median, points >= bounds[0]),
            (partial(fx.Quantile, 0.3), points >= bounds[0]),
            (partial(fx.Median, widen=2 * step), points >= bounds[0]),
            (fx.Mode, points >= bounds[0]),
            (fx.Price, points >= low),
        ):
            listed = build(0.5, grid=points[where])
            evenly = build(0.5, (points[where][0].item(), bounds[1]), step=step)
            assert listed.grid == evenly.grid
            assert listed.guarantee == evenly.guarantee
            draws = [m.sample(data, 50, rng=3).tolist() for m in (listed, evenly)]
            assert draws[0] == draws[1]
            assert np.array_equal(*(m.law(data).probabilities for m in (listed, evenly)))
            again = dataclasses.replace(listed, epsilon=2.0)
            assert "grid=" in repr(again)
            assert again == build(2.0, grid=points[where])

    @each(
        "points",
        [
            np.arange(0, 101) / 100,  # doubles near to hundredths
            np.array([0.0, 1.0, 2.0 + 2**-51]),
            np.array([0, 2**53, 2**54 + 1]),
            np.array([0, 1, 2**53 + 1]),
            np.array([5e-324, 1e-323]),
            np.array([0.5, 0.75, 1e308]),
            np.linspace(0, 1, (1 << 16) + 1),  # 2**-16 has more than 15 digits with others
        ],
    )
    def test_points_that_are_nearly_even_are_points(self, points):
        assert np.array_equal(make_grid(None, grid=points).points, points)

    @each("bounds", [(0, 5e-324), (-5e-324, 5e-324), (0, 1e-323), (0, 1e-310)])
    def test_bounds_that_are_hardly_apart(self, bounds):
        grid = make_grid(bounds)
        ends = np.array([bounds[0], bounds[1], -1.0, 1.0])
        assert grid.index(ends).tolist() == [0, grid.size - 1, 0, grid.size - 1]
        assert bounds[0] <= fx.Median(1.0, bounds).release([0.0]) <= bounds[1]

    def test_any_type_of_points(self):
        """Differences of their own type would wrap around."""
        for wrong in (np.array([5, 3, 7], np.uint8), np.array([100, -100], np.int8)):
            with raises("grid in order"):
                make_grid((-128, 127), grid=wrong)
        assert make_grid((-128, 127), grid=np.array([-128, 127], np.int8)).size == 2
        ends = [-(2**63), 0, 2**63 - 1]
        assert make_grid((ends[0], ends[-1]), grid=ends).points.tolist() == ends
        with raises("array of points"):
            make_grid((0, 10), grid=np.array([1, 2], np.longdouble))

    @each("low", [2**53 + 1, 2**62 + 1, -(2**62) - 1])
    def test_places_below_integers_that_are_no_doubles(self, low):
        for grid in (make_grid((low, low + 8), 2), make_grid((low, low + 8), grid=[low, low + 8])):
            points = [grid.exact(t) for t in range(grid.size)]
            near = [math.nextafter(float(low), s * math.inf) for s in (-1, 1)] + [float(low)]
            found = grid.places(np.array(near)).tolist()
            assert found == [sum(p <= Fraction(x) for p in points) for x in near]

    def test_numbers_of_numpy(self):
        one = fx.Median(1.0, (np.float64(0), np.float64(1)))
        assert one == fx.Median(1.0, (0.0, 1.0))
        assert repr(one) == "Median(epsilon=1.0, bounds=(0.0, 1.0))"
        assert 0 < one.continuous_law([0.2]).mean() < 1


class TestSteps:
    """Without a step the grid is as fine as is of use."""

    def test_default(self):
        assert DEFAULT_STEPS == 2**40
        assert fx.Median(1.0, (0, 100)).grid.size == 2**40 + 1

    def test_fewer_where_doubles_are_too_few(self):
        for bounds, most in (((1.0, 1.0 + 2.0**-40), 2**12), ((2.0**60, 2.0**60 + 2.0**20), 2**12)):
            grid = make_grid(bounds)
            assert 2 <= grid.size <= most + 1
            values = grid.values(np.arange(grid.size))
            assert (np.diff(values) > 0).all()


BAD = [
    ({"bounds": None}, ParameterTypeError, "no bounds"),
    ({"bounds": 5}, ParameterTypeError, "two bounds"),
    ({"bounds": (1,)}, ParameterTypeError, "two bounds"),
    ({"bounds": (1, 2, 3)}, ParameterTypeError, "two bounds"),
    ({"bounds": "01"}, ParameterTypeError, "bounds: real number"),
    ({"bounds": (0, "1")}, ParameterTypeError, "bounds: real number"),
    ({"bounds": (0, True)}, ParameterTypeError, "bounds: real number"),
    ({"bounds": (0, 1j)}, ParameterTypeError, "bounds: real number"),
    ({"bounds": (0, None)}, ParameterTypeError, "bounds: real number"),
    ({"bounds": (1, 1)}, ParameterError, "bounds in order"),
    ({"bounds": (2, 1)}, ParameterError, "bounds in order"),
    ({"bounds": (0, float("inf"))}, ParameterError, "finite"),
    ({"bounds": (float("-inf"), 0)}, ParameterError, "finite"),
    ({"bounds": (0, float("nan"))}, ParameterError, "finite"),
    ({"bounds": (float("nan"), 0)}, ParameterError, "finite"),
    ({"bounds": (-1.7e308, 1.7e308)}, ParameterError, "bounds in order"),
    ({"bounds": (0, 2**64)}, ParameterError, "integers of 64 bits"),
    ({"bounds": (0, 10**400)}, ParameterError, "finite"),
    ({"bounds": (0, 1), "step": 0}, ParameterError, "step: positive"),
    ({"bounds": (0, 1), "step": -0.5}, ParameterError, "step: positive"),
    ({"bounds": (0, 1), "step": float("nan")}, ParameterError, "step: finite"),
    ({"bounds": (0, 1), "step": float("inf")}, ParameterError, "step: finite"),
    ({"bounds": (0, 1), "step": True}, ParameterTypeError, "step: real number"),
    ({"bounds": (0, 1), "step": "0.1"}, ParameterTypeError, "step: real number"),
    ({"bounds": (0, 1), "step": 0.3}, ParameterError, "step that divides the bounds"),
    ({"bounds": (0, 10), "step": 3}, ParameterError, "step that divides the bounds"),
    ({"bounds": (0, 10), "step": 11}, ParameterError, "step that divides the bounds"),
    ({"bounds": (0, 1 / 3), "step": 0.1}, ParameterError, "step that divides the bounds"),
    ({"bounds": (0, 2**60), "step": 1}, ParameterError, "step with too many points"),
    ({"bounds": (2.0**60, 2.0**60 + 4096), "step": 1.0}, ParameterError, "step with equal points"),
    ({"bounds": (0, 1), "step": 0.5, "grid": [0, 1]}, ParameterError, "step or grid"),
    ({"bounds": (0, 1), "grid": [0.5]}, ParameterError, "grid in order"),
    ({"bounds": (0, 1), "grid": []}, (ParameterError, ParameterTypeError), "grid in order"),
    ({"bounds": (0, 1), "grid": [0.5, 0.5]}, ParameterError, "grid in order"),
    ({"bounds": (0, 1), "grid": [0.5, 0.25]}, ParameterError, "grid in order"),
    ({"bounds": (0, 1), "grid": [0.5, float("nan")]}, ParameterError, "grid in order"),
    ({"bounds": (0, 1), "grid": [0.5, float("inf")]}, ParameterError, "grid in order"),
    ({"bounds": (0, 1), "grid": [0.5, 1.5]}, ParameterError, "grid within the bounds"),
    ({"bounds": (0, 1), "grid": [-0.1, 0.5]}, ParameterError, "grid within the bounds"),
    ({"bounds": (0, 1), "grid": [[0.1, 0.5]]}, ParameterTypeError, "array of points"),
    ({"bounds": (0, 1), "grid": ["0", "1"]}, ParameterTypeError, "array of points"),
    ({"bounds": (0, 1), "grid": [False, True]}, ParameterTypeError, "array of points"),
    ({"bounds": (0, 1), "grid": 3}, ParameterTypeError, "array of points"),
    ({"bounds": (0, 2**63 - 1), "grid": np.array([1, 2**63], "u8")}, ParameterError,
     "grid within the bounds"),
    ({"bounds": None, "step": 1}, ParameterTypeError, "no bounds"),
    ({"bounds": None, "grid": [0.5]}, ParameterError, "grid in order"),
    ({"bounds": None, "grid": [-1.7e308, 1.7e308]}, ParameterError, "bounds in order"),
    ({"bounds": None, "grid": [0, 1], "step": 1}, ParameterError, "step or grid"),
    ({"bounds": (0, 1), "widen": -1}, ParameterError, "widen: finite and at least"),
    ({"bounds": (0, 1), "widen": float("nan")}, ParameterError, "widen: finite and at least"),
    ({"bounds": (0, 1), "widen": float("inf")}, ParameterError, "widen: finite and at least"),
    ({"bounds": (0, 1), "widen": "1"}, ParameterTypeError, "widen: real number"),
    ({"bounds": (0, 1), "epsilon": 0}, ParameterError, "epsilon: finite and positive"),
    ({"bounds": (0, 1), "epsilon": float("nan")}, ParameterError, "epsilon: finite and positive"),
    ({"bounds": (0, 1), "epsilon": float("inf")}, ParameterError, "epsilon: finite and positive"),
    ({"bounds": (0, 1), "epsilon": 1e7}, ParameterError, "usual epsilon"),
    ({"bounds": (0, 1), "epsilon": "1"}, ParameterTypeError, "epsilon: real number"),
    ({"bounds": (0, 1), "neighbors": "swap"}, ParameterError, "neighbors: one of several words"),
    ({"bounds": (0, 1), "convention": "middle"}, ParameterError,
     "convention: one of several words"),
    ({"bounds": (0, 1), "any_epsilon": 1}, ParameterTypeError, "any_epsilon: true or false"),
]  # fmt: skip


NUMBERS = {
    fx.Median: {},
    fx.Quantile: {"q": 0.9},
    fx.OrderStatistic: {"r": 2},
    fx.Maximum: {},
    fx.Mode: {},
    fx.Price: {},
}


@each("points", [[0, 1, 4, 9], [0.5, 1.25, 80.0]], ids=["integers", "floats"])
@each("kind", NUMBERS, ids=lambda kind: kind.__name__)
def test_points_without_bounds_have_their_ends_as_bounds(kind, points):
    alone = kind(epsilon=1, grid=points, **NUMBERS[kind])
    ends = points[0], points[-1]
    bounded = kind(epsilon=1, bounds=ends, grid=points, **NUMBERS[kind])
    assert alone == bounded
    assert repr(alone) == repr(bounded)
    assert alone.bounds == ends
    assert alone.law([-3, 2, 100]) == bounded.law([-3, 2, 100])
    again = dataclasses.replace(alone, epsilon=2)
    assert (again.bounds, again.grid) == (ends, bounded.grid)


class TestWhatIsRefused:
    """Public parameters get precise messages, when the mechanism is built."""

    @each(("given_", "error", "text"), BAD, ids=lambda x: str(x)[:50])
    def test_median(self, given_, error, text):
        with pytest.raises(error, match=says(text)):
            fx.Median(**{"epsilon": 1.0, **given_})

    @each("make", [fx.Maximum, fx.Mode])
    @each(("given_", "error", "text"), BAD[:30:3], ids=lambda x: str(x)[:50])
    def test_others(self, make, given_, error, text):
        with pytest.raises(error, match=says(text)):
            make(**{"epsilon": 1.0, **given_})


WIDENED = {
    "median": partial(fx.Median, 1.0),
    "median, replace": partial(fx.Median, 1.0, neighbors="replace"),
    "quantile": partial(fx.Quantile, 0.3, 1.0),
    "second largest": partial(fx.OrderStatistic, 2, 1.0),
    "maximum": partial(fx.Maximum, 1.0),
    "mode": partial(fx.Mode, 1.0),
}


class TestWidths:
    """`widen` is what it says, in steps or between points."""

    def test_they_are_whole_steps(self):
        """A width of 0.3 in steps of 0.1 is three of them, though no double is 0.3."""
        for widen, steps in ((0.3, 3), (0.29, 2), (0, 0), (Fraction(3, 10), 3), (5, 10), (0.05, 0)):
            m = fx.Median(1.0, (0, 1), step=0.1, widen=widen)
            assert m._statistic.width == steps

    @each("which", WIDENED)
    @each("widen", [1, 1.5, Fraction(5, 2), Decimal(3)], ids=str)
    def test_integers_of_any_size(self, which, widen):
        """A grid far from 0 has the law of the same one at 0."""
        points, records = np.array([0, 1, 2, 5, 6, 9]), np.array([0, 0, 0, 5, 9, 9, 9, 6, 2])
        laws = [
            WIDENED[which]((a, a + 9), grid=points + a, widen=widen).law(records + a)
            for a in (0, 2**53 + 3, 2**60 + 3, 2**63 - 10, -(2**63))
        ]
        own = [abs(x - y) <= widen for x in points.tolist() for y in points.tolist()]
        logs = WIDENED[which]((0, 9), grid=points).law(records).log_probabilities
        best = np.where(np.reshape(own, (6, 6)), logs, -np.inf).max(axis=1)
        wanted = np.exp(best) / np.exp(best).sum()
        for law in laws:
            np.testing.assert_allclose(law.probabilities, wanted, rtol=1e-12)

    @pytest.mark.slow
    @given(
        st.lists(
            st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9),
            min_size=2,
            max_size=9,
            unique=True,
        )
        | st.lists(
            st.decimals(-9, 9, places=1).map(float) | st.floats(-1e300, 1e300),
            min_size=2,
            max_size=9,
            unique=True,
        ),
        st.integers(0, 2**64 - 1) | st.decimals(0, 9, places=1).map(float) | st.fractions(0, 9),
    )
    @settings(max_examples=200, deadline=None)
    def test_any_points(self, points, widen):
        """The first and the last point that is as near, as the decimals that they print."""
        points.sort()
        exact = [Fraction(str(x)) for x in points]
        width = Fraction(str(widen))
        near = [[t for t, y in enumerate(exact) if abs(x - y) <= width] for x in exact]
        median = fx.Median(1.0, (points[0], points[-1]), grid=points)
        steps, found = median._reach(widen)
        if median.grid.even:
            t = np.arange(len(points))
            found = np.maximum(t - steps, 0), np.minimum(t + steps, len(points) - 1)
        else:
            assert steps == 0
        wanted = [x[0] for x in near], [x[-1] for x in near]
        assert width == 0 or tuple(ends.tolist() for ends in found) == wanted
