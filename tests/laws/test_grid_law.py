"""Is a grid law exact: against sums over all points, closed forms, and its own inverse?"""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp

import fastexp as fx
from fastexp import GridLaw
from fastexp.errors import ParameterError, ParameterTypeError
from tests.doors.laws import NumberLaw, grid_cells, pieces
from tests.doors.parameters import Grid, make_grid
from tests.doors.randomness import Sampling
from tests.messages import raises, says
from tests.support.each import each

RATES = (1e-3, 0.05, 0.7, 4.0)
ONE = Fraction(1)


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(30):
        yield


class Drawn:
    """A sampler that tells what it was asked for."""

    def __init__(self, rate: Fraction) -> None:
        self.rate = rate

    def with_rate(self, rate: Fraction) -> Drawn:
        return Drawn(rate)

    def sample(self, sampling: Sampling) -> Any:
        return self.rate, sampling


class Cells(NamedTuple):
    """What a law is made of, apart from its rate."""

    grid: Grid
    start: np.ndarray
    count: np.ndarray
    loss: np.ndarray
    slope: np.ndarray | None
    best: float = 2.5
    unit: Fraction = Fraction(1, 2)

    def law(self, rate: float | Fraction, epsilon: float = 1.0) -> GridLaw:
        exact = Fraction(rate)
        start, count, least, slope = self.start, self.count, self.loss, self.slope
        if slope is not None and not self.grid.even:
            start, count, slope = np.arange(self.grid.size), np.ones(self.grid.size), None
            least = np.array([float(loss) for loss in self.losses()])
        elif slope is not None:
            rows = zip(least.tolist(), slope.tolist(), (count - 1).tolist(), strict=True)
            least = np.array([float(min(a, a + Fraction(b) * n)) for a, b, n in rows])
        cells = grid_cells(self.grid, start, count, least, self.best, slope)
        return GridLaw(self.grid, cells, self.unit, exact, epsilon, Drawn(exact))

    def losses(self) -> list[Fraction]:
        """Every point's loss, in the cells' own unit."""
        slope = np.zeros(self.start.size) if self.slope is None else self.slope
        rows = zip(self.loss.tolist(), slope.tolist(), self.count.tolist(), strict=True)
        return [Fraction(a) + i * Fraction(b) for a, b, n in rows for i in range(n)]


def number(x: Fraction | float) -> Any:
    exact = Fraction(x)
    return mp.mpf(exact.numerator) / exact.denominator


class Brute:
    """The law as sums over all points, in 40 digits."""

    def __init__(self, cells: Cells, rate: float) -> None:
        self.losses = cells.losses()
        weights = [mp.exp(-number(rate) * number(x)) for x in self.losses]
        self.total = mp.fsum(weights)
        self.p = [w / self.total for w in weights]
        self.points = [Fraction(cells.grid.value(t)) for t in range(cells.grid.size)]
        self.x = [number(v) for v in self.points]

    def mean(self, values: list[Any]) -> Any:
        return mp.fsum(p * v for p, v in zip(self.p, values, strict=True))

    def probability(self, where: list[bool]) -> Any:
        return mp.fsum(p for p, yes in zip(self.p, where, strict=True) if yes)

    def quantile(self, values: list[Fraction], level: float) -> Fraction | None:
        """The least value with P(<= value) >= level; None if rounding could decide."""
        total = mp.mpf(0)
        for value in sorted(set(values)):
            total += self.probability([v == value for v in values])
            if abs(total - level) < 1e-13:
                return None
            if total > level:
                return value
        return max(values)


def any_cells(seed: int, sloped: str = "any", points: int = 40) -> Cells:
    """Random cells on a random grid: integers, decimals, or given points of either type."""
    rng = np.random.default_rng(seed)
    size, how = int(rng.integers(2, points)), int(rng.integers(4))
    if how == 0:
        grid = make_grid((-3, size - 4), step=1)
    elif how == 1:
        ends = Fraction(-3, 2), Fraction(-3, 2) + Fraction(size - 1, 10)
        grid = make_grid(ends, step=Fraction(1, 10))
    elif how == 2:
        grid = make_grid((-9, 9), grid=np.sort(np.clip(rng.normal(size=size) * 2, -9, 9)))
    else:
        grid = make_grid((-500, 500), grid=np.sort(rng.permutation(np.arange(-300, 300))[:size]))
    m = int(rng.integers(1, size + 1))
    inner = np.sort(rng.permutation(np.arange(1, size))[: m - 1])
    start = np.concatenate([[0], inner]).astype(np.int64)
    count = np.diff(np.append(start, size))
    loss, slope = rng.integers(0, 20, m), None
    if sloped != "no" and (sloped == "yes" or rng.random() < 0.6):
        slope = rng.integers(-3, 4, m).astype(np.float64)
        if rng.random() < 0.5:  # multiples of 1/8, so that sums of floats are exact
            slope, loss = slope + rng.integers(0, 8, m) / 8, loss + rng.integers(0, 8, m) / 8
    last = loss if slope is None else loss + slope * (count - 1)
    loss = loss - np.minimum(loss, last).min()
    loss = loss.astype(np.int64) if (loss == np.rint(loss)).all() else loss
    return Cells(
        grid, start, count, loss, slope, float(rng.normal()), Fraction(1, int(size % 3 + 1))
    )


def close(got: float, exact: Any, rel: float = 1e-13, scale: float = 0.0) -> bool:
    limit = max(rel * abs(exact), scale * 1e-13, 1e-307)
    return bool(abs(mp.mpf(float(got)) - exact) <= limit)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        fx.Median(1.0, (0, 100)),
        fx.Median(0.2, (-3.7, 3.3), step=0.1),
        fx.Quantile(0.9, 1.0, (0, 5000), step=10),
        fx.Mode(1.0, (0, 100), step=1, widen=2),
        fx.Price(1.0, (0, 100), step=0.5),
        fx.Median(1.0, (0, 100), grid=[0, 0.1, 7, 7.25, 50, 99, 100]),
        fx.Median(0.01, (-(2**62), 2**62), step=2**30),
    ],
    ids=lambda m: repr(m)[:40],
)
def test_quantiles_of_errors_are_distances_of_points(mechanism, monkeypatch):
    """Found among these they are what a search of all doubles finds; which is seldom needed."""
    rng, searched = np.random.default_rng(1), []
    low, high = (float(b) for b in mechanism.bounds)
    levels = np.array([0.0, 0.05, 0.5, 0.95, 0.999, 1.0])
    for n in (0, 1, 2, 30):
        law = mechanism.law(rng.uniform(low, high, n).round(1))
        inside = rng.uniform(low, high, 3)
        for truth in (*inside, *inside.round(), low, high, low - 1.5, 2 * high):
            truths = np.full(levels.size, truth)
            wanted = NumberLaw._error_quantiles(law, levels, truths)
            assert (law._error_quantiles(levels, truths) == wanted).all()
            with monkeypatch.context() as counted:
                counted.setattr(NumberLaw, "_error_quantiles", lambda *_: searched.append(1))
                assert (law._error_quantiles(levels[1:], truths[1:]) == wanted[1:]).all()
    assert searched == []


@pytest.mark.slow
@each("rate", RATES)
@each("seed", range(24))
def test_it_is_the_sum_over_all_points(seed, rate):
    cells = any_cells(seed)
    law, all_ = cells.law(rate), Brute(cells, rate)
    points, width = [float(x) for x in all_.points], float(all_.x[-1] - all_.x[0])
    assert law.points.tolist() == all_.points
    assert law.points.dtype == (np.int64 if cells.grid.whole else np.float64)
    below = mp.mpf(0)
    for t, x in enumerate(points):
        below += all_.p[t]
        assert close(law.probabilities[t], all_.p[t])
        assert close(law.log_probabilities[t], mp.log(all_.p[t]), scale=1.0)
        assert law.pmf(x) == law.probabilities[t]
        assert law.pmf(np.nextafter(x, 1e9)) == law.pmf(np.nextafter(x, -1e9)) == 0
        assert close(law.cdf(x), below)
        before = np.nextafter(x, -np.inf)
        assert law.cdf(before) == (law.cdf(points[t - 1]) if t else 0.0)
    mean = all_.mean(all_.x)
    assert close(law.mean(), mean, scale=width)
    assert close(law.var(), all_.mean([(x - mean) ** 2 for x in all_.x]), scale=width**2)
    assert close(
        law.log_normalizer,
        mp.log(all_.total) + number(Fraction(rate) / cells.unit) * number(cells.best),
        scale=9,
    )
    loss = all_.mean([number(x * cells.unit) for x in all_.losses])
    assert close(law.expected_loss(), loss)
    assert close(law.expected_utility(), number(cells.best) - loss, scale=9)


@pytest.mark.slow
@each("rate", RATES)
@each("seed", range(30, 38))
def test_errors_are_sums_over_all_points(seed, rate):
    cells = any_cells(seed)
    law, all_ = cells.law(rate), Brute(cells, rate)
    low, high = float(all_.x[0]), float(all_.x[-1])
    truths = [low, high, float(all_.x[len(all_.x) // 2]), low - 3, high + 0.3]
    truths += np.random.default_rng(seed).uniform(low, high, 4).tolist()
    assert law.expected_error(truths).tolist() == [law.expected_error(t) for t in truths]
    for truth in truths:
        distances = [abs(Fraction(truth) - x) for x in all_.points]
        error = all_.mean([number(d) for d in distances])
        assert close(law.expected_error(truth), error, scale=high - low)
        for p in (0.001, 0.1, 0.5, 0.77, 0.999):
            exact = all_.quantile(distances, p)
            if exact is not None:
                r = law.error_quantile(p, truth)
                assert Fraction(r) >= exact > Fraction(np.nextafter(r, -1))
        assert law.error_quantile(0.0, truth) == 0.0
        if rate < 1:  # where float64 tells every probability from 0
            farthest = law.error_quantile(1.0, truth)
            assert farthest == pytest.approx(float(max(distances)), rel=1e-15)


@pytest.mark.slow
@each("rate", RATES)
@each("seed", range(50, 62))
def test_losses_are_sums_over_all_points(seed, rate):
    cells = any_cells(seed)
    law, all_ = cells.law(rate), Brute(cells, rate)
    losses = [float(x * cells.unit) for x in all_.losses]
    for t in sorted({*losses, -1.0, 0.3, 1e9}):
        cdf, tail = [x <= t for x in losses], [x >= t for x in losses]
        assert close(law.loss_cdf(t), all_.probability(cdf))
        assert close(law.loss_tail(t), all_.probability(tail))
        assert law.loss_cdf(np.nextafter(t, 1e300)) == law.loss_cdf(t)
    for p in (0.0, 0.01, 0.3, 0.5, 0.8, 0.99, 1.0):
        t = law.loss_quantile(p)
        assert t in losses
        assert law.loss_cdf(t) >= p or p == 1.0
        assert t == 0 or law.loss_cdf(np.nextafter(t, 0)) < p


def test_many_losses_go_in_parts(monkeypatch):
    cells, t = any_cells(20), np.linspace(-1, 12, 77)
    whole = cells.law(0.3)
    assert whole._losses._losses.sloped.size > 1
    expected = whole.loss_cdf(t), whole.loss_tail(t)
    monkeypatch.setattr(pieces, "PAIRS", 3 * whole._losses._losses.sloped.size)
    law = cells.law(0.3)
    assert np.array_equal((law.loss_cdf(t), law.loss_tail(t)), expected)


@pytest.mark.slow
@given(st.integers(0, 2**32), st.floats(-4, 2), st.lists(st.floats(0, 1), max_size=9))
@example(16339, 1.25, [])
@settings(max_examples=100, deadline=None)
def test_cdf_and_ppf_are_a_galois_connection(seed, log_rate, levels):
    """ppf(p) <= x if and only if p <= cdf(x), to the last bit, for all points x."""
    law = any_cells(seed).law(10**log_rate)
    cdf = law.cdf(law.points)
    assert (np.diff(cdf) >= 0).all()
    levels = [p for p in [*levels, 0.0, 0.5, *cdf.tolist()] if p < 1.0]
    levels += np.nextafter(cdf, 2)[cdf < 1 - 1e-15].tolist()
    for p, x in zip(levels, law.ppf(levels).tolist(), strict=True):
        assert ((law.points >= x) == (cdf >= p)).all()
    last = law.ppf(1.0)
    assert law.probabilities[law.points > last].sum() < 1e-290
    # the least doubles that points share may leave 0 for each
    assert law.pmf(float(last)) > 0 or not law.probabilities[law.points >= last].any()


@pytest.mark.slow
@given(st.integers(0, 2**32), st.floats(-4, 2))
@settings(max_examples=30, deadline=None)
def test_quantities_are_monotone(seed, log_rate):
    law = any_cells(seed).law(10**log_rate)
    p = np.linspace(0, 1, 41)
    assert (np.diff(law.ppf(p)) >= 0).all()
    for truth in (0.0, float(law.points[0])):
        assert (np.diff(law.error_quantile(p, truth)) >= 0).all()
    assert (np.diff(law.loss_quantile(p)) >= 0).all()
    t = np.linspace(-1, 30, 80)
    assert (np.diff(law.loss_cdf(t)) >= -1e-15).all()
    assert (np.diff(law.loss_tail(t)) <= 1e-15).all()
    losses = [law.with_epsilon(e).expected_loss() for e in (0.1, 0.5, 1, 3, 10)]
    assert (np.diff(losses) <= 1e-13).all()  # d E[loss] / d rate is minus its variance


class TestLargeCells:
    """Cells of up to 2**40 points, where nothing can be added up one by one."""

    @pytest.mark.slow
    @each("z", [1e-300, 1e-30, 1e-13, 1e-12, 1e-6, 0.3, 1.0, 40.0, 1e6])
    @each("down", [False, True])
    @each("n", [2, 3, 2**40, 2**52 - 2])
    def test_geometric_cells_are_exact(self, z, down, n):
        """One cell with the weights exp(-z*i), rate * slope * count from 1e-300 to 1e21."""
        grid = Grid(n, True, (10, 7, 1), None, ("even", n))
        first = np.array([float(n - 1) if down else 0.0])
        cells = Cells(
            grid, np.zeros(1, np.int64), np.array([n]), first, np.array([-1.0 if down else 1.0])
        )
        law = cells.law(z)
        with mp.workdps(800):
            y, m = mp.mpf(z), mp.mpf(n)
            total = mp.expm1(-y * m) / mp.expm1(-y)
            index = 1 / mp.expm1(y) - m / mp.expm1(y * m)
            var = 1 / (4 * mp.sinh(y / 2) ** 2) - (m / (2 * mp.sinh(y * m / 2))) ** 2
            at = m - 1 - index if down else index
            assert close(law.mean(), 10 + 7 * at, 1e-15)
            assert close(law.var(), 49 * var, 1e-13)
            assert close(law.expected_loss(), index / 2, 1e-14)
            assert abs(law.log_normalizer - mp.log(total) - 5 * y) < 1e-14 * (1 + mp.log(m) + 5 * y)
            for t in {0, 1, n // 3, n - 2, n - 1}:
                i = n - 1 - t if down else t
                x = float(10 + 7 * t)
                if int(x) != 10 + 7 * t:
                    continue
                low = mp.expm1(-y * (t + 1)) / mp.expm1(-y * m)
                if down:
                    low = mp.exp(-y * (n - 1 - t)) * low
                slack = 1e-15 * (9 + float(min(y * i, 800)))
                assert close(law.cdf(x), low, slack)
                assert close(law.pmf(x), mp.exp(-y * i) / total, slack)
                error = sum_of_errors(y, n, i) / total
                assert close(law.expected_error(x), 7 * error, 1e-13)

    def test_uniform_cells_are_exact(self):
        n = 2**40 + 1
        grid = make_grid((0, 1))
        assert grid.size == n
        law = Cells(grid, np.array([0, 5]), np.array([5, n - 5]), np.array([3, 0]), None).law(ONE)
        w = [5 * mp.exp(-3), mp.mpf(n - 5)]
        assert close(law.cdf(4 * 2.0**-40), w[0] / sum(w), 1e-15)
        mean = (w[0] * 2 + w[1] * (mp.mpf(5 + n - 1) / 2)) / sum(w) / 2**40
        assert close(law.mean(), mean, 1e-15)
        assert close(law.expected_error(1.0), 1 - mean, 1e-15)
        assert law.ppf(0.5) == grid.value(int(mp.ceil(sum(w) / 2 - w[0])) + 4)

    def test_digits_of_a_narrow_law_far_from_zero(self):
        """A mean to an ulp, a variance and errors to theirs, though indices are above 2**50."""
        n, at = 2**52 - 2, 2**51 + 12345
        grid = Grid(n, False, (0, 1, 1), None, ("even", n))
        start, count = np.array([0, at, at + 2]), np.array([at, 2, n - at - 2])
        law = Cells(grid, start, count, np.array([10**4, 0, 10**4]), None).law(ONE)
        assert law.mean() == at + 0.5
        assert law.var() == 0.25
        assert law.expected_error(at) == 0.5
        assert law.expected_error(at + 0.25) == 0.5
        assert law.error_quantile([0.5, 0.6], at).tolist() == [0.0, 1.0]

    @pytest.mark.parametrize("factor", [1, 10**280])
    def test_huge_losses_neither_overflow_nor_warn(self, factor):
        """rate * loss up to 1e300; int64 losses up to 2**62."""
        grid = make_grid((0, 9), step=1)
        start, count = np.array([0, 4, 7]), np.array([4, 3, 3])
        for loss in (np.array([2**62, 0, 2**62 - 1]), np.array([1e20, 0.0, 1e19])):
            law = Cells(grid, start, count, loss, None).law(factor)
            assert law.probabilities.tolist() == pytest.approx([0] * 4 + [1 / 3] * 3 + [0] * 3)
            assert (law.mean(), law.expected_loss()) == (5.0, 0.0)
            assert law.var() == pytest.approx(2 / 3)
            assert law.loss_quantile(1.0) == 0.0
            assert law.expected_error(5) == pytest.approx(2 / 3)
            sloped = Cells(grid, start, count, loss, np.array([1.0, 0.0, 1e18])).law(factor)
            assert sloped.probabilities.tolist() == law.probabilities.tolist()
            assert sloped.loss_cdf([0.0, 1e18]).tolist() == [1.0, 1.0]

    def test_integer_losses_are_exact_at_both_ends(self):
        """A falling cell whose best end is 1 and whose first loss is 2**61."""
        n, k = 2**40 - 1, 3 * 2**19 + 1
        grid = Grid(n + 1, True, (0, 1, 1), None, ("even", n))
        loss = np.array([k * (n - 1) + 1, 0])
        slope = np.array([-float(k), 0.0])
        law = Cells(grid, np.array([0, n]), np.array([n, 1]), loss, slope).law(1)
        assert law.pmf(float(n - 1)) == pytest.approx(1 / (1 + math.e), rel=1e-15)
        assert law.loss_quantile([0.0, 0.9]).tolist() == [0.0, 0.5]

    @pytest.mark.slow
    def test_a_million_cells_share_and_agree(self):
        """Sums over 1e6 cells keep their digits; equal cells merged give the same law."""
        m = 1_000_000
        grid = make_grid((0, 4 * m - 1), step=1)
        loss = np.abs(np.arange(m) - m // 2) // 1000
        many = Cells(grid, np.arange(m) * 4, np.full(m, 4), loss, None).law(Fraction(1, 100))
        start = np.flatnonzero(np.diff(loss, prepend=-1))
        count = np.diff(np.append(start, m)) * 4
        few = Cells(grid, start * 4, count, loss[start], None).law(Fraction(1, 100))
        for law in (many, many.with_epsilon(2.0)):
            other = few if law is many else few.with_epsilon(2.0)
            for name in ("mean", "var", "expected_loss"):
                assert getattr(law, name)() == pytest.approx(getattr(other, name)(), rel=4e-16)
            assert law.expected_error(1.5e6) == pytest.approx(
                other.expected_error(1.5e6), rel=1e-15
            )
            x = np.linspace(0, 4 * m, 1001)
            assert law.cdf(x) == pytest.approx(other.cdf(x), rel=1e-15)
            assert (law.ppf([0.1, 0.5, 0.9]) == other.ppf([0.1, 0.5, 0.9])).all()
            assert law.loss_cdf(100.0) == pytest.approx(other.loss_cdf(100.0), rel=1e-15)
            assert law.log_normalizer == pytest.approx(other.log_normalizer, rel=1e-15)


def sum_of_errors(y: Any, n: int, i: int) -> Any:
    """Sum over j of exp(-y*j) * |j - i| for j < n, in closed form."""

    def first(k: Any) -> Any:  # sums of exp(-y*j) and j * exp(-y*j), j < k
        q = mp.exp(-y)
        total = mp.expm1(-y * k) / mp.expm1(-y)
        return total, (q * (1 - k * q ** (k - 1) + (k - 1) * q**k)) / (1 - q) ** 2

    (all_, all_j), (part, part_j) = first(mp.mpf(n)), first(mp.mpf(i + 1))
    return (i * part - part_j) + ((all_j - part_j) - i * (all_ - part))


class TestGoldberg:
    """Her two data sets, on integer grids; scores are minus distances."""

    @pytest.mark.parametrize(
        ("epsilon", "z", "p"),
        [(1.0, 28.374946846581839, 0.0352423567665807), (math.log(4), 11.9375, 1 / 11.9375)],
    )
    def test_seven_numbers(self, epsilon, z, p):
        """1, 100, 102, 104, 105, 200, 365 on 1..365: score 0 once, -2 3 times, -4 97, -6 264."""
        ends = {1: 6, 99: 6, 101: 4, 103: 2, 104: 0, 105: 2, 200: 4, 365: 6}
        start = np.array([1, 2, 100, 102, 104, 105, 106, 201]) - 1
        loss = np.array([ends[x] for x in (1, 99, 101, 103, 104, 105, 200, 365)])
        count = np.diff(np.append(start, 365))
        cells = Cells(make_grid((1, 365), step=1), start, count, loss, None, 0.0, ONE)
        law = cells.law(Fraction(epsilon) / 2, epsilon)
        assert math.exp(law.log_normalizer) == pytest.approx(z, rel=1e-14)
        assert law.pmf(104) == pytest.approx(p, rel=1e-14)
        scores = [(0, 1), (2, 3), (4, 97), (6, 264)]
        tails = [sum(n * math.exp(-epsilon * s / 2) for s, n in scores[i:]) / z for i in range(4)]
        assert law.loss_tail([0, 2, 4, 6]) == pytest.approx(tails, rel=1e-14)

    @pytest.mark.parametrize(("epsilon", "p"), [(1, 2.718274439423e-6), (10, 0.0215517567616776)])
    def test_the_worst_case(self, epsilon, p):
        """0 four times and 10**6 three times: one good value among 10**6 + 1."""
        cells = Cells(
            make_grid((0, 10**6), step=1), np.array([0, 1]), np.array([1, 10**6]),
            np.array([0, 2]), None, 0.0, ONE,
        )  # fmt: skip
        law = cells.law(Fraction(epsilon, 2))
        assert law.pmf(0) == pytest.approx(p, rel=1e-12)
        assert law.expected_error(0) == pytest.approx((1 - p) * (10**6 + 1) / 2, rel=1e-12)


class TestEdges:
    """Grids at the ends of their types, and what is refused."""

    LAW = any_cells(0).law(0.7)  # floats

    def test_integers_beyond_2_to_the_53(self):
        """Comparisons are exact, though a double cannot tell neighbours apart."""
        top = 2**62
        grid = make_grid((top, top + 6), step=1)
        law = Cells(grid, np.array([0, 3]), np.array([3, 4]), np.array([0, 1]), None).law(1)
        assert law.points.tolist() == list(range(top, top + 7))
        assert law.pmf(float(top)) == law.probabilities[0] > 0
        assert law.pmf(float(top + 1024)) == law.cdf(float(top - 1024)) == 0
        assert law.cdf(float(top)) == pytest.approx(law.probabilities[0])
        assert [law.ppf(p) for p in (0.0, 1.0)] == [top, top + 6]
        assert type(law.ppf(0.5)) is int
        assert law.expected_error(float(top)) == pytest.approx(
            float((law.probabilities * np.arange(7)).sum())
        )
        far = make_grid((-(2**62), 2**62), grid=[-(2**62), 0, 2**62])
        law = Cells(far, np.array([0]), np.array([3]), np.array([0]), None).law(1)
        assert law.mean() == 0.0
        assert law.expected_error(0.0) == pytest.approx(2.0**63 / 3)
        assert law.expected_error(2.0**62) == pytest.approx(2.0**62)

    def test_infinite_arguments(self):
        law = self.LAW
        assert law.cdf([-np.inf, np.inf]).tolist() == [0.0, 1.0]
        assert law.pmf([-np.inf, np.inf]).tolist() == [0.0, 0.0]
        assert law.loss_cdf([-np.inf, np.inf]).tolist() == [0.0, 1.0]
        assert law.loss_tail([-np.inf, np.inf]).tolist() == [1.0, 0.0]

    def test_shapes_and_types(self):
        law = self.LAW
        for call in (law.cdf, law.pmf, law.loss_cdf, law.loss_tail, law.expected_error):
            assert type(call(1)) is float
            assert call([[1, 2, 3]]).shape == (1, 3)
            assert call(np.empty((0, 2))).shape == (0, 2)
        for call in (law.ppf, law.loss_quantile, lambda p: law.error_quantile(p, 1)):
            assert type(call(0.5)) is float
            assert call([[0.5, 0.25]]).shape == (1, 2)
        assert law.error_quantile(0.5, [[1], [2]]).shape == (2, 1)
        whole = any_cells(34).law(1)
        assert whole.grid.whole
        assert type(whole.ppf(0.5)) is int
        assert whole.ppf([0.5]).dtype == np.int64

    def test_cells_of_one_point_have_no_slope(self):
        """Their laws cost no more than those of a median."""
        grid, ones = make_grid((0, 4), step=1), np.ones(5, np.int64)
        cells = Cells(grid, np.arange(5), ones, np.array([4, 3, 0, 2, 1]), None)
        law = cells._replace(slope=-1.0 * ones).law(1)
        assert law._pieces.slope is None
        assert law.probabilities.tolist() == cells.law(1).probabilities.tolist()

    def test_lists_are_read_only_and_limited(self):
        law = self.LAW
        assert law.probabilities.sum() == pytest.approx(1, rel=1e-15)
        for array in (law.probabilities, law.log_probabilities):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        large = Cells(make_grid((0, 1)), np.array([0]), np.array([2**40 + 1]), np.array([0]), None)
        for name in ("points", "probabilities", "log_probabilities"):
            with raises("grid too fine to list"):
                getattr(large.law(1), name)

    WRONG = (
        (ParameterError, lambda law: law.cdf(math.nan), "x: not NaN"),
        (ParameterError, lambda law: law.pmf([0, math.nan]), "x: not NaN"),
        (ParameterTypeError, lambda law: law.pmf("1"), "x: numbers of one type"),
        (ParameterError, lambda law: law.ppf(1.5), "p from 0 to 1"),
        (ParameterError, lambda law: law.error_quantile(0.5, math.nan), "truth: not NaN"),
        (ParameterError, lambda law: law.expected_error(-math.inf), "truth that is finite"),
        (ParameterError, lambda law: law.loss_quantile(-0.1), "p from 0 to 1"),
        (ParameterTypeError, lambda law: law.loss_cdf(None), "t: numbers of one type"),
        (ParameterError, lambda law: law.with_epsilon(math.nan), "epsilon: finite and positive"),
    )

    @each("case", WRONG)
    def test_wrong_input_is_refused(self, case):
        error, call, text = case
        with pytest.raises(error, match=says(text)):
            call(self.LAW)

    @each("seed", range(70, 80))
    def test_with_epsilon_is_a_fresh_law_and_shares_the_cells(self, seed):
        cells = any_cells(seed)
        rate = Fraction(1, 3)
        law = cells.law(rate)
        assert law.probabilities.sum() == pytest.approx(law.loss_cdf(1e9))  # kept, and sorted
        for epsilon in (0.1, 2.0, 7e-9):
            scaled = rate * Fraction(epsilon)
            other, fresh = law.with_epsilon(epsilon), cells.law(scaled, epsilon)
            assert other._rate == other.sample()[0] == scaled
            assert (other.epsilon, type(other)) == (epsilon, GridLaw)
            assert other._pieces is law._pieces
            assert other._shared[0] is law._shared[0]
            assert other.probabilities.tolist() == fresh.probabilities.tolist()
            assert other.loss_quantile(0.7) == fresh.loss_quantile(0.7)
            assert other.expected_error(1.0) == fresh.expected_error(1.0)
        again = cells.law(rate)
        assert law.mean() == again.mean()
        assert law.probabilities.tolist() == again.probabilities.tolist()
        assert law.with_epsilon(1e9, any_epsilon=True).epsilon == 1e9

    def test_it_passes_on_what_sample_is_given(self):
        law = any_cells(1).law(Fraction(1, 7))
        assert law.sample() == (Fraction(1, 7), (None, None, None, 1, None))
        asked = law.sample(5, rng=1, streams=[2], threads=3, method="envelope")
        assert asked == (Fraction(1, 7), (5, 1, [2], 3, "envelope"))

    def test_it_shows_no_data_and_can_be_pickled(self):
        cells = Cells(
            make_grid((0, 120), step=1), np.array([0]), np.array([121]), np.array([0]), None
        )
        law = cells.law(1)
        assert repr(law) == "GridLaw(epsilon=1.0)"
        assert pickle.loads(pickle.dumps(law)).mean() == law.mean() == 60.0


def test_a_variance_that_is_no_double_is_infinite():
    m = fx.Median(1.0, (-8e307, 8e307))
    assert m.law([1e307, 2e307]).var() == math.inf
