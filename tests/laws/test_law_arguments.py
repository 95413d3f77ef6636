"""Does a law on a grid take every number as it is: integers of 64 bits, and doubles beside them?"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fastexp as fx
from fastexp import GridLaw
from fastexp.errors import ParameterTypeError
from tests.doors.laws import added, differences, grid_cells
from tests.doors.parameters import make_grid
from tests.messages import raises, says
from tests.support.each import each

LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1
EDGES = [0, 1, 2**52, 2**53, 2**53 + 1, 2**60 + 3, 2**62, 2**62 + 77, HIGHEST, 2**63, 2**64 - 1]
INTEGERS = sorted({e for x in EDGES for e in (x - 1, x, x + 1, -x) if LOWEST <= e < 2**64})
FLOATS = [0.0, 0.5, -0.5, 1e-300, 5e-324, 0.1, 3.7, 2.0**52 + 0.5, 2.0**53, 2.0**62, 1e300]
FLOATS += [2.0**62 + 1024, 2.0**63, -(2.0**63), 1e19, 2.0**64]


def array_of(number: int | float) -> np.ndarray:
    """One number as the library holds it."""
    kind = np.float64 if isinstance(number, float) else np.int64 if number <= HIGHEST else np.uint64
    return np.array([number], kind)


integers = st.sampled_from(INTEGERS) | st.integers(LOWEST, 2**64 - 1) | st.integers(-9, 9)
eighths = st.integers(-99, 99).map(lambda n: n / 8)
doubles = st.sampled_from(FLOATS) | st.floats(-1e20, 1e20) | eighths
arguments = integers | doubles


class TestArithmetic:
    """The twin: Fractions."""

    @pytest.mark.slow
    @given(arguments, arguments)
    @settings(max_examples=500)
    @example(2**54 + 3, 0)
    @example(2**62 + 1, 0.5)
    @example(2**64 - 1, -(2**63))
    @example(2**53 + 1, 0.5)
    def test_differences_are_rounded_once(self, a, b):
        got = differences(array_of(a), array_of(b))
        assert got.tolist() == [float(Fraction(a) - Fraction(b))]

    def test_differences_of_many_kinds_at_once(self):
        for a in (np.array([2**62 + 1, -5]), np.array([2**64 - 1, 5], np.uint64)):
            for b in (np.array([0.25, 2.0**62]), np.array([2**62, -(2**63)]), np.array([1, 2])):
                exact = [
                    Fraction(x) - Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)
                ]
                assert differences(a, b).tolist() == [float(d) for d in exact]
        infinite = differences(np.array([math.inf, -math.inf]), np.array([2**62 + 1, 3]))
        assert infinite.tolist() == [math.inf, -math.inf]

    @pytest.mark.slow
    @given(arguments, doubles.map(abs), st.booleans())
    @settings(max_examples=500)
    @example(2**62 + 77, 77.0, False)
    @example(HIGHEST, 1.0, False)
    @example(LOWEST, 0.5, True)
    @example(2**53 + 1, 0.5, True)
    @example(2**64 - 1, 2.0**63, True)
    def test_sums_are_rounded_down(self, x, r, negative):
        exact = Fraction(r) + (-Fraction(x) if negative else Fraction(x))
        total = added(array_of(x), np.array([r]), negative=negative)
        below = Fraction(float(total.double_below()[0]))
        assert below <= exact < Fraction(math.nextafter(float(below), math.inf))
        number, outside = (int(item[0]) for item in total.integer_below())
        floor = math.floor(exact)
        assert outside == (floor > HIGHEST) - (floor < LOWEST)
        assert outside or number == floor


class Brute:
    """The law as sums over all points, exactly except for the weights."""

    def __init__(self, law: GridLaw) -> None:
        self.points, self.p = [Fraction(x) for x in law.points.tolist()], law.probabilities

    def error(self, truth: int | float) -> float:
        distances = [abs(x - Fraction(truth)) for x in self.points]
        return math.fsum(p * float(d) for p, d in zip(self.p, distances, strict=True))

    def cdf(self, x: int | float) -> float:
        return math.fsum(p for p, point in zip(self.p, self.points, strict=True) if point <= x)

    def pmf(self, x: int | float) -> float:
        return math.fsum(p for p, point in zip(self.p, self.points, strict=True) if point == x)

    def within(self, truth: int | float, r: float) -> float:
        near = [abs(point - Fraction(truth)) <= Fraction(r) for point in self.points]
        return math.fsum(p for p, yes in zip(self.p, near, strict=True) if yes)


BASE = 2**62
ENDS = [LOWEST, -BASE - 1, -1, 0, 1, BASE + 1, HIGHEST - 1, HIGHEST]
WIDE = 2.0**60 + 2.0**8 * np.arange(33)


def median(epsilon: float, low: int | float, high: int | float, **grid: object) -> fx.Median:
    return fx.Median(epsilon, bounds=(low, high), **grid)


LAWS = {
    "beyond 2**62": median(1.0, BASE, BASE + 100, step=1).law([BASE + 77] * 9),
    "at the top": median(0.4, HIGHEST - 60, HIGHEST, step=3).law([HIGHEST - 1, HIGHEST]),
    "at the bottom": median(0.4, LOWEST, LOWEST + 80, step=2).law([LOWEST + 9] * 3),
    "from end to end": median(2.0, LOWEST, HIGHEST, grid=ENDS).law([BASE + 5, BASE + 6, HIGHEST]),
    "noise": fx.Laplace(1.0, sensitivity=2, step=1, bounds=(BASE, BASE + 50)).law(BASE + 7),
    "prices": fx.Price(1.0, bounds=(BASE, BASE + 40), step=1).law([BASE + 30, BASE + 35]),
    "floats": median(1.0, WIDE[0], WIDE[-1], grid=WIDE).law([2**60 + 2**11 + 1] * 3),
    "small floats": median(1.0, -1, 1, step=0.125).law([0.3, 0.1]),
    "small integers": median(1.0, -9, 20, step=1).law([3, 4, 8]),
}


def near(law: GridLaw) -> list[int | float]:
    """Numbers on the points, beside them, between them and far away, of every type."""
    found: set[int | float] = {0, -1, 0.5, LOWEST, HIGHEST, 2**64 - 1, 1e30, -1e30, 2.0**62}
    for point in law.points[:: max(law.points.size // 9, 1)].tolist() + law.points[-1:].tolist():
        number = float(point)
        found |= {number, math.nextafter(number, -math.inf), math.nextafter(number, math.inf)}
        whole = math.floor(point)
        found |= {n for n in range(whole - 2, whole + 3) if LOWEST <= n < 2**64}
    return sorted(found)


def kinds(numbers: list[int | float]) -> list[np.ndarray]:
    """Arrays of one type each."""
    whole = [n for n in numbers if isinstance(n, int)]
    return [
        np.array([x for x in numbers if isinstance(x, float)]),
        np.array([n for n in whole if n <= HIGHEST], np.int64),
        np.array([n for n in whole if n >= 0], np.uint64),
    ]


@pytest.mark.slow
@each("name", LAWS)
def test_all_questions_agree_with_sums_over_exact_points(name):
    law, brute = LAWS[name], Brute(LAWS[name])
    for array in kinds(near(law)):
        listed = array.tolist()
        assert law.cdf(array) == pytest.approx([brute.cdf(x) for x in listed], rel=1e-12)
        assert law.pmf(array) == pytest.approx([brute.pmf(x) for x in listed], rel=1e-12)
        errors = [brute.error(x) for x in listed]
        assert law.expected_error(array) == pytest.approx(errors, rel=1e-12)
        assert [law.cdf(x) for x in listed] == law.cdf(array).tolist()
        assert [law.expected_error(x) for x in listed] == law.expected_error(array).tolist()


@pytest.mark.slow
@each("name", LAWS)
def test_error_quantiles_are_exact(name):
    law, brute = LAWS[name], Brute(LAWS[name])
    for array in kinds(near(law)[::5]):
        for p in (0.0, 0.1, 0.5, 0.9, 0.999):
            for truth, r in zip(array.tolist(), law.error_quantile(p, array).tolist(), strict=True):
                assert law.error_quantile(p, truth) == r
                assert brute.within(truth, r) >= p * (1 - 1e-12)
                assert r == 0.0 or brute.within(truth, math.nextafter(r, 0.0)) < p * (1 + 1e-12)


@each("name", LAWS)
def test_points_are_given_back_as_they_are(name):
    law = LAWS[name]
    levels = [0.0, 0.01, 0.3, 0.5, 0.7, 0.99, 1.0]
    points = law.ppf(levels)
    assert points.dtype == (np.int64 if law.grid.whole else np.float64)
    mass = dict(zip(law.points.tolist(), law.probabilities.tolist(), strict=True))
    assert law.pmf(points).tolist() == [mass[x] for x in points.tolist()]
    for level, point in zip(levels, points.tolist(), strict=True):
        assert type(law.ppf(level)) is type(point) is (int if law.grid.whole else float)
        assert law.pmf(point) == mass[point]
        assert law.cdf(point) >= min(level, 1 - 1e-9)


def test_timestamps_in_nanoseconds():
    start, minute = 1_600_000_000_123_456_789, 60 * 10**9
    times = start + np.arange(2001) * minute
    law = fx.Median(1.0, bounds=(start, start + 2000 * minute), step=minute).law(times)
    middle = start + 1000 * minute
    assert law.ppf(0.5) == middle
    # t points away, |L - U| = 2|t| and E = 1 record: 2|t| - 1 records are to be moved past it
    weights = [math.exp(-max(0, 2 * abs(t) - 1) / 2) for t in range(-700, 701)]
    assert law.pmf(middle) == pytest.approx(weights[700] / math.fsum(weights), rel=1e-9)
    error = math.fsum(abs(t) * w for t, w in zip(range(-700, 701), weights, strict=True))
    assert law.expected_error(middle) == pytest.approx(
        minute * error / math.fsum(weights), rel=1e-9
    )
    assert law.error_quantile(0.9, middle) % minute == 0


def test_the_law_of_equal_records_beyond_doubles():
    law = fx.Median(50.0, bounds=(BASE, BASE + 100), step=1).law([BASE + 77] * 9)
    assert law.cdf(BASE + 100) == 1.0
    assert law.cdf(BASE + 76) < 1e-90
    assert law.expected_error(BASE + 77) < 1e-90
    assert law.expected_error(BASE) == pytest.approx(77.0, rel=1e-15)
    assert law.expected_error(float(BASE)) == pytest.approx(77.0, rel=1e-15)
    assert law.error_quantile([0.5, 1e-99], BASE + 70).tolist() == [7.0, 0.0]


def test_digits_before_a_heavy_point_far_from_zero():
    """A truth between points of a cell of 2**51 of them: its distance to the next cell."""
    n, at = 2**52 - 2, 2**51 + 12345
    grid = make_grid((0, n - 1), step=1)
    start, count = np.array([0, at, at + 1]), np.array([at, 1, n - at - 1])
    loss = np.array([10**4, 0, 10**4])
    cells = grid_cells(grid, start, count, loss, 0.0)
    law = GridLaw(grid, cells, Fraction(1), Fraction(1), 1.0, None)
    assert law.expected_error(at - 0.5) == 0.5
    far = make_grid((-BASE, BASE), grid=[-BASE, BASE])
    one = np.ones(2, np.int64)
    cells = grid_cells(far, np.arange(2), one, np.array([10**4, 0]), 0.0)
    law = GridLaw(far, cells, Fraction(1), Fraction(1), 1.0, None)
    assert law.expected_error(BASE - 1) == 1.0


INEXACT = [2**64, [2**62 + 1, 0.5], [2**63, -1, 2**53 + 1], np.longdouble(1)]


@each("wrong", INEXACT)
def test_what_would_be_rounded_is_refused(wrong):
    law = LAWS["small integers"]
    for call in (law.cdf, law.pmf):
        with pytest.raises(ParameterTypeError, match=says("numbers of one type", name="x")):
            call(wrong)
    for call in (law.expected_error, lambda truth: law.error_quantile(0.5, truth)):
        with pytest.raises(ParameterTypeError, match=says("numbers of one type", name="truth")):
            call(wrong)
    with raises("truth that is finite"):
        law.expected_error(math.inf)


@each(
    ("mechanism", "data"),
    [
        (fx.Median(1.0, (0, 10), step=1), [1, 2]),
        (fx.Quantiles(count=2, epsilon=1.0, bounds=(0, 10), step=1), [1, 2]),
        (fx.Exponential(1.0, 1.0), [1.0, 2.0]),
        (fx.TopK(2, epsilon=1.0, sensitivity=1.0), [1.0, 2.0, 3.0]),
        (fx.LaplaceMedian(1.0, (0, 10)), [1, 2]),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_a_probability_may_be_an_array_without_an_axis(mechanism, data):
    one, same = (mechanism.accuracy(data, probability=p) for p in (0.5, np.array(0.5)))
    assert one == same
    with raises("probability: from 0 to 1, got 3.0"):
        mechanism.accuracy(data, probability=np.array(3))
    for wrong in (np.array("a"), np.ma.masked, np.array(None)):
        with raises("numbers of one type", name="probability"):
            mechanism.accuracy(data, probability=wrong)
    with raises("real number", name="probability"):
        mechanism.accuracy(data, probability=np.eye(2))
