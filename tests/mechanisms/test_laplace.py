"""Is Laplace noise exact on the line and within bounds, and private wherever f lies?"""

# ruff: noqa: E501  (tables, a row a case)

from __future__ import annotations

import pickle
import re
from decimal import Decimal
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import fastexp as fx
from tests.doors.laws import LaplaceLaw
from tests.doors.numbers import laplace as _laplace
from tests.doors.privacy import (
    bounded_laplace_epsilon,
    bounded_laplace_rate,
    continuous_laplace_rate,
)
from tests.doors.reference import exact_laplace
from tests.doors.selection import Weighting
from tests.messages import raises, says
from tests.support.each import each
from tests.support.goodness import Fit, fits
from tests.twins import numbers as reference_numbers

N = 400_000  # rejects an epsilon wrong by 2 % (see the power tests)
LINE = fx.Laplace(1.0, 1, step=1)
FINE = fx.Laplace(0.5, 2, step=0.125)
BOUNDED = fx.Laplace(1.0, 2, step=1, bounds=(-3, 9))
PHASES = [
    0,
    7,
    Fraction(1, 2),
    2.5,
    0.3,
    1 / 3,
    -1e-9,
    3.141592653589793,
    -7.000000001,
    Fraction(2, 7),
]


def exact(x) -> mp.mpf:
    """A number to 35 digits, or as many as there are."""
    number = Fraction(x)
    return mp.mpf(number.numerator) / number.denominator


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(35):
        yield


def line_law(f, rate, step=1):
    """P(m * step) on the line, by the definition: the normaliser is summed, not derived."""
    x, a = exact(f) / exact(step), exact(rate)
    k, reach = int(mp.floor(x)), int(60 / a) + 2
    total = mp.fsum(mp.exp(-a * abs(x - m)) for m in range(k - reach, k + reach))
    return lambda m: mp.exp(-a * abs(x - m)) / total


def bounded_law(m: fx.Laplace, f) -> list[Fraction]:
    """The exact law within bounds, by the reference."""
    grid = m.grid
    points = [grid.exact(t) for t in range(grid.size)]
    _, s, d = grid.unit
    truth = min(max(Fraction(f), points[0]), points[-1])
    return reference_numbers.laplace_law(truth, points, m._weighting.rate / Fraction(s, d), 1000)


class TestTheCostOfARate:
    """The theorem on bounded Laplace noise against brute force over all phases."""

    @staticmethod
    def worst(a: Fraction, steps: int, reach: Fraction, parts: int) -> mp.mpf:
        """The greatest log-ratio over x, x' in multiples of 1/parts, and all points."""
        places = [Fraction(i, parts) for i in range(steps * parts + 1)]
        logs = [[-exact(a * abs(x - t)) for t in range(steps + 1)] for x in places]
        logs = [[v - mp.log(mp.fsum(map(mp.exp, row))) for v in row] for row in logs]
        near = [
            (i, j) for i, j in product(range(len(places)), repeat=2) if abs(i - j) <= reach * parts
        ]
        return max(max(u - v for u, v in zip(logs[i], logs[j], strict=True)) for i, j in near)

    @pytest.mark.slow
    @each("rate", [0.01, 0.3, 1.0, 2.5, 9.0])
    def test_it_is_the_worst_log_ratio(self, rate):
        for steps, reach in product(
            (1, 2, 3, 5), map(Fraction, ("1/6", "1/2", "1", "5/3", "2", "7/2", "5"))
        ):
            if reach <= steps:
                found = self.worst(Fraction(rate), steps, reach, 6)
                assert mp.almosteq(
                    found,
                    exact(bounded_laplace_epsilon(Fraction(rate), steps, reach)),
                    rel_eps=1e-27,
                )

    @pytest.mark.slow
    def test_no_phase_in_between_is_worse(self):
        rng = np.random.default_rng(1)
        for _ in range(300):
            steps, a = int(rng.integers(1, 9)), float(rng.exponential(1.5)) + 1e-3
            parts = 97 * steps
            reach = int(rng.integers(1, parts))
            x = np.arange(parts + 1) / 97
            z = np.log(np.exp(-a * abs(x[:, None] - np.arange(steps + 1))).sum(axis=1))
            worst = (z[reach:] - z[:-reach]).max() + a * reach / 97
            bound = float(bounded_laplace_epsilon(Fraction(a), steps, Fraction(reach, 97)))
            assert worst == pytest.approx(bound, rel=1e-11)

    def test_the_formula_of_the_interval_is_not_enough_on_a_grid(self):
        """The grid's cost tends to it, but may be more where the step is coarse."""
        a, steps, reach = 9.0, 4, 1.5
        r, w = a * reach, a * steps
        interval = r + np.log((2 - np.exp(-r) - np.exp(r - w)) / -np.expm1(-w))
        cost = float(bounded_laplace_epsilon(Fraction(9), steps, Fraction(3, 2)))
        assert cost > 1.2 * interval

    @pytest.mark.parametrize(
        ("epsilon", "width", "alpha"), [("0.8305531815816", 10, 0.5), ("0.7190701963798", 2, 0.5)]
    )
    def test_the_intervals_vectors(self, epsilon, width, alpha):
        rate = continuous_laplace_rate(Fraction(epsilon), Fraction(width), Fraction(1))
        assert float(rate) == pytest.approx(alpha, rel=2e-12)
        errors = []
        for n in (10**2, 10**4, 10**6):
            found = bounded_laplace_rate(Fraction(epsilon), width * n, Fraction(n)) * n
            errors.append(abs(float(found) - alpha))
        assert errors[0] > 20 * errors[1] > 400 * errors[2]
        assert errors[2] < 1e-6

    @pytest.mark.slow
    @each("epsilon", [1e-9, 1e-3, 0.1, 1.0, 7.0, 300.0, 1e6])
    @each("steps", [1, 3, 120, 10**7, 2**52 - 2])
    @each("share", [1e-15, 0.001, 0.3, 0.77])
    def test_the_rate_is_the_greatest_double_that_costs_no_more(self, epsilon, steps, share):
        e, reach = Fraction(epsilon), Fraction(share) * steps
        rate = bounded_laplace_rate(e, steps, reach)
        safe = e / (2 * reach)
        assert safe <= rate <= e / reach
        slack = Fraction(1, 10**30) if rate == safe else 0  # of the bound: 2*a*D is the slopes'
        assert bounded_laplace_epsilon(rate, steps, reach) <= e * (1 + slack)
        above = Fraction(np.nextafter(float(rate), np.inf))
        assert bounded_laplace_epsilon(above, steps, reach) > e * (1 - Fraction(1, 10**25))
        assert rate == safe or rate == float(rate)

    def test_a_record_that_moves_f_all_the_way(self):
        for sensitivity in (10, 11, 1e200):
            m = fx.Laplace(0.3, sensitivity, step=0.5, bounds=(0, 5))
            assert m._weighting.rate == Fraction(0.3) / 10
        cost = bounded_laplace_epsilon(Fraction(1, 7), 10, Fraction(10))
        assert 0 <= cost - Fraction(10, 7) < Fraction(1, 10**30)


class TestPromise:
    """No output's probability changes by more than exp(epsilon), and epsilon is used up."""

    CASES = (
        fx.Laplace(1.0, 2, step=1, bounds=(0, 5)),
        fx.Laplace(0.3, 1.5, step=1, bounds=(0, 4)),
        fx.Laplace(2.0, 0.75, step=0.5, bounds=(-1, 1)),
        fx.Laplace(5.0, 0.125, step=0.5, bounds=(-1, 1)),
        fx.Laplace(1.0, 99, step=1, bounds=(0, 3)),
    )

    @pytest.mark.slow
    @each("m", CASES, ids=repr)
    def test_within_bounds(self, m):
        low, high = map(Fraction, m.bounds)
        parts = 8  # a step; sensitivities are multiples of such a part
        places = [low + i * Fraction(m.step) / parts for i in range((m.grid.size - 1) * parts + 1)]
        laws = [[mp.log(exact(p)) for p in bounded_law(m, f)] for f in (low - 3, *places, high + 1)]
        places = [low, *places, high]
        worst = mp.mpf(0)
        for i, j in product(range(len(places)), repeat=2):
            if abs(places[i] - places[j]) <= Fraction(m.sensitivity):
                worst = max(worst, *(u - v for u, v in zip(laws[i], laws[j], strict=True)))
        assert 0.999999 * m.epsilon < worst <= exact(m.epsilon) * (1 + mp.mpf(10) ** -25)

    @pytest.mark.slow
    @each(("sensitivity", "step"), [(1, 1), (1, 0.25), (3, 1), (0.5, 0.5), (10, 2.5)])
    def test_on_the_line(self, sensitivity, step):
        m = fx.Laplace(0.7, sensitivity, step=step)
        parts, many = 3, int(sensitivity / step)
        places = [Fraction(i, parts) for i in range((many + 1) * parts + 1)]
        laws = [line_law(x, m._weighting.rate) for x in places]
        logs = [[mp.log(law(t)) for t in range(-3, 2 * many + 4)] for law in laws]
        worst = mp.mpf(0)
        for i, j in product(range(len(places)), repeat=2):
            if abs(i - j) <= many * parts:
                worst = max(worst, *(u - v for u, v in zip(logs[i], logs[j], strict=True)))
        assert 0.999999 * m.epsilon < worst <= exact(m.epsilon) * (1 + mp.mpf(10) ** -25)

    def test_a_step_that_does_not_divide_would_cost_more(self):
        """Why it is refused: f on a point against f' between two."""
        rate = Fraction(2, 3)  # epsilon 1, sensitivity 1.5
        here, there = line_law(0, rate), line_law(Fraction(3, 2), rate)
        worst = max(abs(mp.log(there(t) / here(t))) for t in range(-3, 6))
        assert worst > 1.04

    def test_stored_floats_that_exceed_their_decimals_count(self):
        """The float 0.1 is greater than 0.1: f = float 0.1 and f' = 0 are so far apart."""
        for step in ("0.1", "0.01"):
            rate = fx.Laplace(1.0, 0.1, step=float(step))._weighting.rate
            steps = Fraction(0.1) / Fraction(step)
            more = steps - round(steps)
            assert 0 < more < 1e-15
            assert rate * (steps + more) <= 1  # the distance, and at most as much by the normaliser
            assert float(rate * steps) == pytest.approx(1.0, rel=1e-15)
        assert fx.Laplace(1.0, 0.3, step=0.1)._weighting.rate == Fraction(1, 3)  # the float is less
        for number in (0.1, 1.1, 1.3):
            rate = fx.Laplace(1.0, number, step=0.1, bounds=(0, 10))._weighting.rate
            assert bounded_laplace_epsilon(rate, 100, Fraction(number) * 10) <= 1

    def test_the_guarantee_is_pure(self):
        for m in (LINE, BOUNDED):
            promise = m.guarantee
            assert (promise.epsilon, promise.neighbors, promise.bounded_range) == (1.0, None, None)
            assert promise.rho == pytest.approx(np.tanh(0.5), rel=1e-9)
        logs = [np.log(np.array(bounded_law(BOUNDED, f), float)) for f in (0, 2)]
        assert np.ptp(logs[0] - logs[1]) > 1.2  # more than epsilon

    def test_totals(self):
        m = fx.Laplace(0.1, 1, step=1)
        assert m.total() == m.guarantee
        assert (m.total(rows=3).epsilon, m.total(rows=3, disjoint=True).epsilon) == (0.3, 0.1)
        assert m.total(groups=True, neighbors="replace").epsilon == 0.2


class TestLawOnTheLine:
    """The law in closed form against sums of its definition."""

    @pytest.mark.slow
    @each("f", PHASES)
    @each("epsilon", [2.0, 9.0, 50.0])
    def test_it_is_the_definition(self, f, epsilon):
        m = fx.Laplace(epsilon, 2, step=0.5)
        law, p = m.law(f), line_law(f, m._weighting.rate, 0.5)
        k = int(mp.floor(exact(f) * 2))
        reach = int(50 / m._weighting.rate) + 2
        seen = [p(t) for t in range(k - reach, k + reach + 1)]
        near = range(k - min(reach, 12), k + min(reach, 12))
        np.testing.assert_allclose(
            law.pmf([t / 2 for t in near]), [float(p(t)) for t in near], rtol=1e-13
        )
        assert law.pmf([k / 2 + 0.1, np.inf]).tolist() == [0.0, 0.0]
        below = mp.mpf(0)
        for t, mass in zip(range(k - reach, k + reach + 1), seen, strict=True):
            below += mass
            if abs(t - k) < 5:
                assert law.cdf(t / 2) == pytest.approx(float(below), rel=1e-12)
                assert law.cdf(t / 2 + 0.2) == law.cdf(t / 2)
        values = [mp.mpf(t) / 2 for t in range(k - reach, k + reach + 1)]
        mean = mp.fsum(v * q for v, q in zip(values, seen, strict=True))
        var = mp.fsum((v - mean) ** 2 * q for v, q in zip(values, seen, strict=True))
        assert law.mean() == pytest.approx(float(mean), rel=1e-13, abs=1e-14)
        assert law.var() == pytest.approx(float(var), rel=1e-12)
        for truth in (float(f), float(f) + 3.1, k / 2, -1e6, 1e6):
            error = mp.fsum(abs(v - exact(truth)) * q for v, q in zip(values, seen, strict=True))
            assert law.expected_error(truth) == pytest.approx(float(error), rel=1e-12)
        losses = [abs(v - exact(f)) for v in values]
        loss = mp.fsum((x - min(losses)) * q for x, q in zip(losses, seen, strict=True))
        assert law.expected_loss() == pytest.approx(float(loss), rel=1e-12, abs=1e-300)
        total = mp.fsum(mp.exp(-exact(m._weighting.rate) * 2 * x) for x in losses)
        assert law.log_normalizer == pytest.approx(float(mp.log(total)), rel=1e-12, abs=1e-13)

    @each("epsilon", [0.01, 0.7, 5.0])
    def test_on_a_point_it_is_the_two_sided_geometric_law(self, epsilon):
        law = fx.Laplace(epsilon, 3, step=1).law(-4)
        at = np.arange(-60, 61)
        textbook = stats.dlaplace(epsilon / 3, loc=-4)
        np.testing.assert_allclose(law.pmf(at), textbook.pmf(at), rtol=1e-12)
        np.testing.assert_allclose(law.cdf(at), textbook.cdf(at), rtol=1e-12)
        q = mp.exp(-exact(epsilon) / 3)
        for t in (-4, -5, 3):
            assert law.pmf(t) == pytest.approx(
                float((1 - q) / (1 + q) * q ** abs(t + 4)), rel=1e-14
            )
        assert law.var() == pytest.approx(float(2 * q / (1 - q) ** 2), rel=1e-13)

    def test_a_fine_step_gives_the_textbooks_density(self):
        f, errors = 1.2345, []
        textbook = stats.laplace(f, 2.0)  # scale: sensitivity 1 over epsilon 0.5
        at = np.linspace(-9, 9, 50)
        for step in (1e-1, 1e-2, 1e-3):
            law = fx.Laplace(0.5, 1, step=step).law(f)
            errors.append(np.abs(law.cdf(at) - textbook.cdf(at)).max())
        assert errors[0] > 5 * errors[1] > 25 * errors[2]
        assert errors[2] < 2e-4
        continuous = LINE.continuous_law(f)
        np.testing.assert_allclose(continuous.pdf(at), stats.laplace(f, 1.0).pdf(at), rtol=1e-12)
        assert continuous.with_epsilon(0.5).ppf(0.9) == pytest.approx(textbook.ppf(0.9), rel=1e-13)
        assert fx.Laplace(0.5, 1, step=1e-3).law(f).pmf(1.234) / 1e-3 == pytest.approx(
            textbook.pdf(1.234), rel=1e-3
        )

    def test_quantiles_errors_and_losses(self):
        law = FINE.law(0.3)
        x = law.ppf([0.001, 0.2, 0.5, 0.9, 0.999])
        assert (law.cdf(x) >= [0.001, 0.2, 0.5, 0.9, 0.999]).all()
        assert (law.cdf(x - 0.125) < [0.001, 0.2, 0.5, 0.9, 0.999]).all()
        assert law.ppf([0, 1]).tolist() == [-np.inf, np.inf]
        r = law.error_quantile([0.5, 0.99], 0.3)
        points = np.arange(-400, 400) / 8
        distance = np.array([abs(Fraction(x) - Fraction(0.3)) for x in points])
        for level, found in zip([0.5, 0.99], r, strict=True):
            less, enough = (
                law.pmf(points)[distance <= Fraction(d)].sum()
                for d in (np.nextafter(found, 0), found)
            )
            assert less < level <= enough
        assert law.error_quantile(1.0, 0.3) == np.inf
        assert law.loss_cdf(0.0) == pytest.approx(law.pmf(0.25))  # 0.25 is nearer to 0.3 than 0.375
        assert law.loss_cdf(0.026) == pytest.approx(law.pmf(0.25) + law.pmf(0.375))
        assert law.loss_tail(1e9) == 0.0
        assert type(LINE.law(3).ppf(0.5)) is int
        assert LINE.law(3).ppf(1.0) == np.inf

    def test_far_from_zero(self):
        law = LINE.law(2**62 - 2**20)
        assert law.pmf(2.0**62 - 2.0**20) == pytest.approx(np.tanh(0.5))
        assert fx.Laplace(1.0, 1, step=1.0).law(2.0**52).pmf(2.0**52) == pytest.approx(np.tanh(0.5))

    def test_other_epsilons(self):
        law = FINE.law(0.3).with_epsilon(0.01)
        direct = fx.Laplace(0.01, 2, step=0.125).law(0.3)
        assert law.epsilon == 0.01
        assert repr(law) == "LaplaceLaw(Laplace(epsilon=0.01, sensitivity=2, step=0.125))"
        for x in (-900.0, 0.25, 17.0):
            assert law.pmf(x) == pytest.approx(direct.pmf(x), rel=1e-13)
        assert (law.sample(99, rng=1) == direct.sample(99, rng=1)).all()
        assert law.with_epsilon(1e7, any_epsilon=True).pmf(0.25) == 1.0

    def test_there_is_no_end_to_list(self):
        law = LINE.law(0)
        assert isinstance(law, LaplaceLaw)
        assert LINE.grid is None


class TestLawWithinBounds:
    """The law on a bounded grid against the reference, and against the interval's."""

    @pytest.mark.slow
    @each("f", [*PHASES, -3, 9, -3.0000001, 8.9999999, 1e9, -1e300])
    @each(
        "m",
        [
            BOUNDED,
            fx.Laplace(0.01, 0.3, step=0.25, bounds=(-3, 9)),
            fx.Laplace(40.0, 1, step=0.5, bounds=(-3, 9)),
        ],
        ids=repr,
    )
    def test_it_is_the_reference(self, m, f):
        law, p = m.law(f), bounded_law(m, f)
        assert isinstance(law, type(BOUNDED.law(0)))
        np.testing.assert_allclose(law.probabilities, np.array(p, float), rtol=1e-13)
        points = [m.grid.exact(t) for t in range(m.grid.size)]
        mean = sum(x * q for x, q in zip(points, p, strict=True))
        assert law.mean() == pytest.approx(float(mean), rel=1e-13)
        truth = min(max(Fraction(f), points[0]), points[-1])
        error = sum(abs(x - truth) * q for x, q in zip(points, p, strict=True))
        assert law.expected_error(float(truth)) == pytest.approx(float(error), rel=1e-12, abs=1e-15)
        nearest = min(abs(x - truth) for x in points)
        assert law.expected_loss() == pytest.approx(float(error - nearest), rel=1e-12, abs=1e-15)

    def test_probabilities_keep_their_digits_far_from_the_ends(self):
        """2**40 points, a rate near 1 a point: distances need more digits than the ends leave."""
        m = fx.Laplace(1.0, 1, step=1, bounds=(0, 2**40))
        a = exact(m._weighting.rate)
        for f in (2**39 + Fraction(1, 3), 2.0**39 + 0.9, 7e11 + 0.000244140625):
            x = exact(f)
            k = int(mp.floor(x))
            z = mp.fsum(mp.exp(-a * abs(x - t)) for t in range(k - 200, k + 200))
            law = m.law(f)
            for t in range(k - 30, k + 30, 7):
                assert law.pmf(t) == pytest.approx(float(mp.exp(-a * abs(x - t)) / z), rel=1e-13)

    def test_a_fine_step_gives_the_intervals_density(self):
        errors = []
        at = np.linspace(0, 10, 41)
        for step in (0.5, 0.05, 0.005):
            m = fx.Laplace(0.8305531815816, 1, step=step, bounds=(0, 10))
            errors.append(np.abs(m.law(2.7).cdf(at) - m.continuous_law(2.7).cdf(at)).max())
        assert errors[0] > 5 * errors[1] > 25 * errors[2]
        density = m.continuous_law(2.7)
        x = at[1:-1]
        z = (2 - np.exp(-0.5 * 2.7) - np.exp(-0.5 * 7.3)) / 0.5  # the rate is 1/2
        np.testing.assert_allclose(density.pdf(x), np.exp(-0.5 * abs(x - 2.7)) / z, rtol=1e-11)
        assert m.continuous_law(-5).pdf(0.0) == m.continuous_law(0).pdf(0.0)

    def test_other_epsilons_are_solved_anew(self):
        law = BOUNDED.law(0.3).with_epsilon(3.0)
        direct = fx.Laplace(3.0, 2, step=1, bounds=(-3, 9)).law(0.3)
        np.testing.assert_allclose(law.probabilities, direct.probabilities, rtol=1e-14)
        assert (law.sample(99, rng=1) == direct.sample(99, rng=1)).all()
        density = BOUNDED.continuous_law(0.3).with_epsilon(3.0)
        again = fx.Laplace(3.0, 2, step=1, bounds=(-3, 9)).continuous_law(0.3)
        assert density.pdf(0.5) == again.pdf(0.5)
        assert (density.epsilon, law.epsilon) == (3.0, 3.0)


# Nats that a block may have: as it is; few points; so many that coins often refuse one.
SHARES = {"as it is": (_laplace.BLOCK_NATS, 1), "blocks": (2.0**-6, 1), "coarse": (0.7, 40)}


class Forced:
    """Long blocks, so that places, coins and exact draws are what is drawn."""

    fewer = 1  # draws, where many are exact

    @pytest.fixture(params=SHARES, autouse=True)
    def _blocks(self, request, monkeypatch):
        share, self.fewer = SHARES[request.param]
        monkeypatch.setattr(_laplace, "BLOCK_NATS", share)


SHAPES = {
    "line, point": (LINE, 5), "line, half": (LINE, 2.5), "line, odd": (LINE, -0.3), "line, fine": (FINE, 1 / 3),
    "line, steep": (fx.Laplace(9.0, 1, step=1), Fraction(3, 7)), "line, near a half": (fx.Laplace(40.0, 1, step=1), 0.49999999999),
    "line, tiny rate": (fx.Laplace(0.25, 1, step=0.001), 0.77777),
    "within": (BOUNDED, 0.3), "at the end": (BOUNDED, 9), "beyond": (BOUNDED, -1e9), "near the end": (BOUNDED, 8.75),
    "few points": (fx.Laplace(0.1, 1, step=1, bounds=(0, 1)), 0.4), "long": (fx.Laplace(3.0, 1, step=0.01, bounds=(0, 100)), 99.123),
}  # fmt: skip


@pytest.mark.statistical
class TestDraws(Forced):
    """What is drawn follows the law, whatever the cells are."""

    @staticmethod
    def fits(m: fx.Laplace, f, draws, law=None) -> Fit:
        law = m.law(f) if law is None else law
        many = min(60, len(draws) // 20)
        at = np.unique(law.ppf(np.linspace(0.002, 0.998, many)))
        below = law.cdf(at)
        cells = np.searchsorted(at, np.asarray(draws), "left")
        return fits(cells, np.diff(np.concatenate([[0.0], below, [1.0]])))

    @each("name", SHAPES)
    def test_samples(self, name):
        m, f = SHAPES[name]
        draws = m.sample(f, N // 8 // self.fewer, rng=1)
        assert self.fits(m, f, draws)
        low, high = m.law(f).ppf([1e-12, 1 - 1e-12])
        assert ((low <= draws) & (draws <= high)).all()

    def test_single_samples(self):
        m, f = SHAPES["line, odd"]
        assert self.fits(m, f, [m.sample(f, rng=1, streams=[i]) for i in range(300)])

    @each("name", ["line, fine", "at the end"])
    def test_releases(self, name):
        m, f = SHAPES[name]
        draws = [m.release(f) for _ in range(600)]
        assert {type(x) for x in draws} == {int if m.step == 1 else float}
        assert self.fits(m, f, draws)

    def test_tails(self):
        """A distance of 8 e-folds or more."""
        many = 4 * N
        draws = LINE.sample(0.3, many, rng=5)
        law = LINE.law(0.3)
        geometric = np.append((1 - np.exp(-1)) * np.exp(-np.arange(9.0)), np.exp(-9.0))
        for far, p in ((draws - 8, 1 - law.cdf(7.0)), (-8 - draws, law.cdf(-8.0))):
            beyond = far[far >= 0]
            assert abs(beyond.size - many * p) < 7 * np.sqrt(many * p)
            assert fits(np.minimum(beyond, 9), geometric)

    def test_a_fine_step_has_all_its_digits(self):
        """The low digits of draws are uniform where a block has many points."""
        m = fx.Laplace(1.0, 1, step=1e-9)
        steps = np.rint(m.sample(0.3, 20_000 // self.fewer, rng=3) * 1e9).astype(np.int64)
        assert fits(steps % 16, np.full(16, 1 / 16))
        assert self.fits(m, 0.3, steps / 1e9)

    def test_hardly_any_weight(self):
        """A grid that is one block: all of its points are alike."""
        m = fx.Laplace(1e-8, 1, step=0.125, bounds=(0, 1))
        assert m._sampler(0.3).block > m.grid.size
        assert fits(np.rint(8 * m.sample(0.3, 20_000, rng=3)).astype(np.int64), np.full(9, 1 / 9))


@pytest.mark.statistical
class TestPower:
    """The tests above would notice."""

    @each("name", ["line, odd", "line, fine", "within"])
    @each("wrong", [1.02, 0.98])
    def test_an_epsilon_wrong_by_two_percent(self, name, wrong):
        m, f = SHAPES[name]
        law = m.law(f).with_epsilon(wrong * m.epsilon)
        assert not TestDraws.fits(m, f, m.sample(f, 4 * N, rng=1), law)

    def test_a_statistic_that_was_rounded_to_the_grid(self):
        assert not TestDraws.fits(LINE, 0, LINE.sample(0.05, N, rng=1))
        assert not TestDraws.fits(BOUNDED, 8, BOUNDED.sample(8.1, N, rng=1))

    def test_points_that_a_coin_refused(self, monkeypatch):
        """A mutant: of a long block, the first place is taken, whatever its coin says."""
        monkeypatch.setattr(_laplace, "BLOCK_NATS", 0.7)
        monkeypatch.setattr(exact_laplace, "accept", lambda *_: True)
        assert not TestDraws.fits(FINE, 0.3, FINE.sample(0.3, N // 20, rng=1))


class TestReproducibility:
    """The bytes depend on f, key, stream and size alone."""

    @each("m", [LINE, FINE, BOUNDED], ids=repr)
    def test_of_a_key(self, m):
        draws = m.sample(0.3, 70_000, rng=9)
        assert draws.dtype == (np.float64 if m is FINE else np.int64)
        assert (m.sample(0.3, 70_000, rng=9, threads=2) == draws).all()
        assert (m.law(0.3).sample(70_000, rng=9) == draws).all()
        assert (m.sample(0.3, 70_000, rng=np.random.SeedSequence(9), streams=[0]) == draws).all()
        assert (m.sample(0.3, 70_000, rng=9, streams=[1]) != draws).any()
        assert (m.sample(0.3, 70_000, rng=9, method="inversion") == draws).all()
        generator = np.random.default_rng(1)
        assert (m.sample(0.3, 100, rng=generator) != m.sample(0.3, 100, rng=generator)).any()
        assert (m.sample(0.3, 100) != m.sample(0.3, 100)).any()

    def test_shapes_and_types(self):
        assert type(LINE.sample(3, rng=1)) is int
        assert type(FINE.sample(3, rng=1)) is float
        assert type(BOUNDED.sample(3, rng=1)) is int
        assert LINE.sample(3, 0, rng=1).shape == (0,)
        assert LINE.sample(3, 1, rng=1).shape == (1,)
        assert type(fx.Laplace(1, 1, step=1.0).release(3)) is float
        assert type(fx.Laplace(1, 1, step=1, bounds=(0.0, 3.0)).release(3)) is float

    def test_the_form_of_f_changes_nothing(self):
        for forms in (
            [3, 3.0, np.int64(3), np.float32(3), np.array(3), Decimal(3), Fraction(3), np.uint8(3)],
            [0.1, np.float64(0.1), Fraction(0.1), Decimal.from_float(0.1), np.longdouble(0.1)],
        ):
            for m in (LINE, BOUNDED):
                first = m.sample(forms[0], 50, rng=3)
                assert all((m.sample(f, 50, rng=3) == first).all() for f in forms)

    def test_f_is_not_rounded(self):
        """A float is its exact binary value, a Decimal its own."""
        m = fx.Laplace(1e6, 1, step=Decimal(1))
        above, below = Decimal("0.50000000000000000000001"), Fraction(1, 2) - Fraction(1, 10**22)
        assert m._sampler(above).truth.phase > Fraction(1, 2) > m._sampler(below).truth.phase
        sharp = fx.Laplace(1e6, 1, step=1)
        assert {sharp.release(10**30 + Fraction(1, 3)) for _ in range(9)} == {10**30}
        assert {sharp.release(Decimal(f"1{30 * '0'}.75")) for _ in range(9)} == {10**30 + 1}
        assert sharp.release(-(10**300)) == -(10**300)


class TestBudget:
    def test_it_is_charged_before_f_is_looked_at(self):
        budget = fx.Budget(epsilon=3.0)
        LINE.release(3, budget=budget)
        assert budget.spent == 1.0
        with pytest.raises(fx.InvalidRecords):
            LINE.release(np.nan, budget=budget)
        with pytest.raises(fx.ParameterTypeError):
            LINE.release("3", budget=budget)
        assert budget.spent == 3.0
        with pytest.raises(fx.BudgetExceeded):
            LINE.release(3, budget=budget)
        replace = fx.Budget(epsilon=1.0, neighbors="replace")
        BOUNDED.release(3, budget=replace)
        assert replace.spent == 1.0  # the sensitivity is stated for the budget's relation

    def test_only_a_budget(self):
        with raises("budget of a type"):
            LINE.release(3, budget=1.0)


BAD = {
    "step missing": (lambda: fx.Laplace(1, 1), TypeError, re.compile("step")),
}  # fmt: skip


@each("name", BAD)
def test_bad_input_gets_a_clear_error(name):
    call, error, text = BAD[name]
    with pytest.raises(error, match=says(text)):
        call()


def test_equal_parameters_make_equal_mechanisms():
    assert fx.Laplace(1.0, 1, step=1) == LINE == fx.Laplace(1, 1, step=1, any_epsilon=True)
    assert fx.Laplace(1.0, 1, step=1.0) != LINE  # it gives floats
    assert fx.Laplace(1.0, 2, step=1, bounds=[-3, 9]) == BOUNDED
    half = fx.Laplace(1, np.float64(0.5), step=np.float64(0.5))
    assert repr(half) == "Laplace(epsilon=1.0, sensitivity=0.5, step=0.5)"
    for m in (LINE, FINE, BOUNDED):
        law = pickle.loads(pickle.dumps(m.law(0.3)))
        assert law.mean() == m.law(0.3).mean()
        assert law.with_epsilon(2.0).mean() == m.law(0.3).with_epsilon(2.0).mean()
        assert "0.3" not in repr(law)
    assert BOUNDED.grid.size == 13


def test_weightings_are_of_a_step():
    assert isinstance(LINE._weighting, Weighting)
    assert LINE._weighting.rate == 1
    assert FINE._weighting.rate == Fraction(1, 32)
