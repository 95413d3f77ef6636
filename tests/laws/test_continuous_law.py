"""Is a continuous law exact: densities, masses, moments, errors, quantiles, losses, draws?"""

from __future__ import annotations

import math
import pickle
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from scipy import stats

from fastexp import ContinuousLaw
from fastexp.errors import ParameterError, ParameterTypeError
from tests.doors.kernels import density
from tests.doors.laws import elementary, laplace_density, median_density, price_density
from tests.doors.laws import pieces as shapes
from tests.doors.randomness import row_stream
from tests.doors.reference import exact as exact_twin
from tests.messages import says
from tests.support.each import each
from tests.support.goodness import ALPHA

LOG_2 = Fraction(1, 2) * Fraction(2 * math.log(2))
BIDS, RANGE = [1, 1, 1, 3.01], (0, 3.5)
Z_VALUES = [0.0, *(10.0**e for e in range(-300, 7, 9)), 0.1, 0.24, 0.5, 0.999, 1.0, 1.001, 30.0]
Z_VALUES += [5e-324, 2.0**-54, 700.0, 708.5, 745.0, 1e6]


def tutorial(epsilon: float) -> ContinuousLaw:
    """The tutorial's prices: weight exp(epsilon * revenue / (2 * 3.5))."""
    return price_density(BIDS, RANGE, Fraction(epsilon) / 7, epsilon)


def duff(records: list[float], distances: list[int]) -> ContinuousLaw:
    """Weights 2**-distance on [0, 10]: epsilon = 2 ln 2."""
    knots = np.array([0.0, *records, 10.0])
    return median_density(knots, np.array(distances), LOG_2, Fraction(1), 2 * math.log(2))


def close(got: object, exact: object, rel: float = 1e-14) -> bool:
    return bool(abs(mp.mpf(float(got)) - exact) <= rel * abs(exact) + mp.mpf(1e-307))


class TestFunctions:
    """phi, G and V of one piece, and their counterparts for evenly spaced points."""

    @each("z", Z_VALUES)
    def test_a_stretch_is_exact(self, z):
        with mp.workdps(700):
            y = mp.mpf(z)
            weight = -mp.expm1(-y) / y if z else mp.mpf(1)
            centre = 1 / y - 1 / mp.expm1(y) if z else mp.mpf(1) / 2
            spread = 1 / y**2 - 1 / (4 * mp.sinh(y / 2) ** 2) if z else mp.mpf(1) / 12
            at = np.array([z])
            assert close(shapes.mean_weight(at)[0], weight, 1e-15)
            assert close(shapes.centre(at)[0], centre, 1e-15)
            assert close(shapes.spread(at)[0], spread, 1e-14)

    def test_printed_values(self):
        def phi(z: float) -> float:
            a = abs(z)
            return max(z, 0.0) + math.log(float(shapes.mean_weight(np.array([a]))[0]))

        printed = {-50: -3.9120230054281461, -1: -0.45867514538708189, 0.5: 0.26039505099275674}
        printed |= {1: 0.54132485461291811, 50: 46.087976994571854, 800: 793.31538827233207}
        for z, value in printed.items():
            assert phi(z) == pytest.approx(value, rel=1e-15)
        one, half = np.array([1.0]), np.array([0.5])
        assert 1 - shapes.centre(one)[0] == pytest.approx(0.58197670686932642, rel=1e-15)
        assert 1 - shapes.centre(half)[0] == pytest.approx(0.54149408253679828, rel=1e-15)
        assert shapes.spread(one)[0] == pytest.approx(0.079326405792207681, rel=1e-14)

    @pytest.mark.slow
    @each("n", [1, 2, 3, 1000, 2**40, 2**52])
    @each("z", [z for z in Z_VALUES if z > 1e-307])
    def test_points_are_exact(self, z, n):
        with mp.workdps(800):
            y, m = mp.mpf(z), mp.mpf(n)
            if n <= 3:
                weights = [mp.exp(-y * i) for i in range(n)]
                total = mp.fsum(weights)
                mean = mp.fsum(i * w for i, w in enumerate(weights)) / total
                variance = mp.fsum((i - mean) ** 2 * w for i, w in enumerate(weights)) / total
            else:
                total = mp.expm1(-y * m) / mp.expm1(-y)
                mean = 1 / mp.expm1(y) - m / mp.expm1(y * m)
                variance = 1 / (4 * mp.sinh(y / 2) ** 2) - (m / (2 * mp.sinh(y * m / 2))) ** 2
            row = np.array([z]), np.array([float(n)]), shapes.POINTS
            assert abs(shapes.log_weight(*row)[0] - mp.log(total)) < 2e-15 * (1 + mp.log(m))
            assert close(shapes.depth(*row)[0], mean, 3e-15)
            assert close(shapes.variance(*row)[0], variance, 2e-14)

    @each("z", [0.0, 1e-300, 1e-9, 1e-3, 1.0, 40.0, 1e6])
    @each("share", [1e-200, 1e-9, 0.3, 0.5, 1 - 2.0**-40])
    @each("flip", [False, True])
    def test_shares_keep_their_digits(self, z, share, flip):
        with mp.workdps(700):
            low, y = mp.mpf(share), mp.mpf(z)
            high = mp.mpf(1.0 - share)

            def mass(a, b):
                return (mp.exp(-y * a) - mp.exp(-y * b)) / y if z else b - a

            whole = mass(mp.mpf(0), low + high)
            near, far = (high, low) if flip else (low, high)
            exact_near, exact_far = mass(mp.mpf(0), near) / whole, mass(near, near + far) / whole
            row = -z if flip else z, share, 1.0 - share, 1.0
            got = shapes.shares(*(np.array([v]) for v in row))
            ours_near, ours_far = got[::-1] if flip else got
            assert close(ours_near[0], exact_near, 1e-15)
            assert close(ours_far[0], exact_far, 1e-15 * (4 + min(z, 1e3)))


class TestKernels:
    """expm1, log1p and running sums."""

    @pytest.mark.parametrize("name", ["expm1", "log1p"])
    def test_elementary_functions(self, name):
        rng = np.random.default_rng(2)
        x = rng.uniform(-1, 1, 30_000) * 10.0 ** rng.integers(-300, 1, 30_000)
        edges = np.array([0.35, 0.25, -0.35, -0.25])
        x = np.concatenate([x, edges, np.nextafter(edges, 9), [0.0, 5e-324, 5.0, 300.0, -0.999]])
        out = np.empty(x.size)
        getattr(density, f"{name}_fill")(x, out)
        exact = getattr(np, name)(x.astype(np.longdouble))
        assert float((np.abs(out - exact) / np.spacing(np.abs(out))).max()) < 5
        with mp.workdps(350):
            for i in range(0, x.size, 997):
                assert close(out[i], getattr(mpmath, name)(mp.mpf(x[i])), 1e-15)

    def test_special_values(self):
        out = np.empty(4)
        density.expm1_fill(np.array([-np.inf, -1e9, np.inf, 0.0]), out)
        assert out.tolist() == [-1.0, -1.0, np.inf, 0.0]
        density.log1p_fill(np.array([-1.0, 0.0, 1e300, 5e-324]), out)
        assert out.tolist() == [-np.inf, 0.0, pytest.approx(math.log(1e300)), 5e-324]

    @pytest.mark.parametrize("back", [False, True])
    def test_sums_are_rounded_once_or_nearly(self, back):
        x = np.exp(np.random.default_rng(3).uniform(-40, 40, 3000))
        got = elementary.sums(x, back=back)
        for i in [0, 1, 2, 17, 1500, 2999, 3000]:
            exact = math.fsum(x[i:] if back else x[:i])
            assert abs(got[i] - exact) <= math.ulp(exact)
        assert (np.diff(got) * (-1 if back else 1) >= 0).all()

    def test_products_pass_over_what_has_no_mass(self):
        rng = np.random.default_rng(4)
        a, b, c, d = rng.random((4, 50))
        a[::3], b[::3] = 0.0, np.inf
        c[::4], d[::4] = 0.0, np.nan
        x = [
            (0 if p == 0 else p * q) + (0 if r == 0 else r * (s + 2))
            for p, q, r, s in zip(a, b, c, d, strict=True)
        ]
        out = np.empty(51)
        density.running_products(a, b, c, d, 2.0, 0, out)
        assert out.tolist() == pytest.approx([math.fsum(x[:i]) for i in range(51)], rel=1e-15)
        density.running_products(a, b, c, d, 2.0, 1, out)
        assert out.tolist() == pytest.approx([math.fsum(x[i:]) for i in range(51)], rel=1e-15)
        assert density.sum_products(a, b) == pytest.approx((a[a > 0] * b[a > 0]).sum())
        squares = [p * ((q - 0.5) ** 2 + r) for p, q, r in zip(a, b, c, strict=True) if p > 0]
        assert density.sum_squares(a, b, 0.5, c) == pytest.approx(math.fsum(squares))
        signed = density.sum_products(np.ones(4), np.array([1e16, 1.0, -1e16, 1.0]))
        assert signed == 2.0


class TestTutorial:
    """The price example, computed elsewhere in 30 digits."""

    TABLE = (
        (0.01, 3.50862875264, (0.2858275023, 0.574516799, 0.1396556987),
         (0.286644930054, 0.285419080479, 0.286235729653, 0.286239818764, 0.285011630041),
         1.74981166274, 2.27561805838),
        (1, 4.52473886733, (0.2981146993, 0.5935917584, 0.1082935423),
         (0.391358485949, 0.254946203244, 0.339260022349, 0.339745025872, 0.221007229217),
         1.73433407052, 2.12863152971),
        (5, 15.3930816798, (0.3731610045, 0.5950065132, 0.03183248229),
         (1.13113854818, 0.132704231209, 0.553739442064, 0.557708883493, 0.0649642495765),
         1.70029706302, 1.607441246),
    )  # fmt: skip

    @each("row", TABLE, ids=lambda row: f"eps={row[0]}")
    def test_the_table(self, row):
        epsilon, z, masses, densities, mean, loss = row
        law = tutorial(epsilon)
        assert math.exp(law.log_normalizer) == pytest.approx(z, rel=5e-12)
        ends = law.cdf([0.0, 1.0, 3.01, 3.5])
        assert ends[[0, -1]].tolist() == [0.0, 1.0]
        assert np.diff(ends) == pytest.approx(masses, rel=5e-10)
        at = [1.0, np.nextafter(1.0, 2), 3.0, 3.01, np.nextafter(3.01, 4)]
        assert law.pdf(at) == pytest.approx(densities, rel=5e-12)
        assert law.pdf(0.0) == pytest.approx(densities[-1], rel=5e-12)
        assert law.mean() == pytest.approx(mean, rel=5e-12)
        assert law.expected_loss() == pytest.approx(loss, rel=5e-12)
        assert law.expected_utility() == pytest.approx(4 - loss, rel=5e-12)

    def test_cdf_and_quantiles(self):
        law = tutorial(5)
        points = {0.5: 0.0721399965488, 2: 0.56688501642, 3: 0.962610299707}
        for x, p in points.items():
            assert law.cdf(x) == pytest.approx(p, rel=5e-12)
        quantiles = {0.1: 0.590111493255, 0.5: 1.72857269479, 0.9: 2.88210422255}
        for p, x in (quantiles | {0.99: 3.3460691832}).items():
            assert law.ppf(p) == pytest.approx(x, rel=5e-12)

    def test_the_loss_curve(self):
        printed = {0.001: 2.27697750019, 0.1: 2.26204372401, 70.001: 0.100197195232}
        printed |= {80.001: 0.0875471988791, 90.001: 0.0777886539192}
        law = tutorial(1.0)
        for epsilon, loss in printed.items():
            assert tutorial(epsilon).expected_loss() == pytest.approx(loss, rel=1e-11)
            assert law.with_epsilon(epsilon).expected_loss() == pytest.approx(loss, rel=1e-11)

    @pytest.mark.slow
    @each("seed", range(8))
    def test_any_bids(self, seed):
        """Ties, bids outside the bounds and at them, in any order: from revenue's definition."""
        rng = np.random.default_rng(seed)
        bids = rng.permutation(np.append(rng.integers(-4, 16, 9) / 2, [1.0, 5.0, -3, 9]))
        law = price_density(bids, (1, 5), Fraction(1, 8), 1.0)
        x = np.append(rng.uniform(1, 5, 50), bids[(bids > 1) & (bids <= 5)])
        revenue = x * (bids >= x[:, None]).sum(axis=1)
        weights = np.exp(revenue / 8 - law.log_normalizer)
        assert law.pdf(x) == pytest.approx(weights, rel=1e-13)
        ends = np.linspace(1, 5, 40_001)
        fine = ends[1:] * (bids >= ends[1:, None]).sum(axis=1)
        assert law.expected_loss() >= 0
        assert law.expected_utility() == pytest.approx(np.diff(law.cdf(ends)) @ fine, rel=1e-3)
        assert law.expected_utility() + law.expected_loss() == pytest.approx(fine.max(), rel=1e-3)

    def test_the_law_of_the_loss(self):
        """P(loss <= t) by hand: revenue 4r, then r: intervals of prices."""
        law = tutorial(5)
        for t in (0.0, 0.3, 1.0, 2.5, 3.2, 3.999, 4.0):
            revenue = 4 - t
            first = law.cdf(1.0) - law.cdf(revenue / 4)
            second = law.cdf(3.01) - law.cdf(max(revenue, 1.0)) if revenue < 3.01 else 0.0
            third = 1 - law.cdf(3.01) if revenue <= 0 else 0.0
            assert law.loss_cdf(t) == pytest.approx(first + second + third, abs=2e-15)
            atom = third if t == 4.0 else 0.0  # nobody buys
            assert law.loss_tail(t) + law.loss_cdf(t) == pytest.approx(1 + atom, rel=1e-15)
        assert law.loss_cdf(-1e-9) == law.loss_tail(4.0001) == 0.0
        assert law.loss_tail(0.0) == law.loss_tail(-3) == law.loss_cdf(4.0) == 1.0
        assert law.loss_tail(4.0) == pytest.approx(1 - law.cdf(3.01))  # nobody buys


class TestMedian:
    """Exact fractions, at weights 2**-distance on [0, 10]."""

    CASES = (
        ([1, 2, 4, 7], [4, 2, 0, 2, 4], (1, 4, 32, 12, 3), (97, 26), (71, 52)),
        ([1, 2, 4, 7], [5, 3, 1, 3, 5], (1, 4, 32, 12, 3), (97, 26), (71, 52)),
        ([1, 2, 4, 7], [4, 2, 1, 3, 5], (2, 8, 32, 12, 3), (401, 114), (53, 38)),
        ([1, 2, 4, 7], [5, 3, 1, 2, 4], (1, 4, 32, 24, 6), None, (235, 134)),
        ([1, 2, 4, 7], [2, 1, 1, 2, 3], (2, 4, 8, 6, 3), (179, 46), (93, 46)),
        ([1, 2, 4, 7], [2, 1, 0, 1, 2], (1, 2, 8, 6, 3), (43, 10), None),
        ([3, 3, 3, 5], [4, 2, 0, 2, 4], (3, 0, 0, 8, 5), (37, 8), (35, 16)),
        ([0, 2, 2, 10], [4, 2, 0, 2, 4], (0, 1, 0, 4, 0), (5, 1), None),
    )  # fmt: skip

    @each("case", CASES)
    def test_vectors(self, case):
        records, distances, masses, mean, error = case
        law = duff(records, distances)
        exact = [Fraction(n, sum(masses)) for n in masses]
        ends = [float(sum(exact[:i])) for i in range(len(exact) + 1)]
        knots = [0.0, *records, 10.0]
        for i in range(len(exact)):
            if exact[i]:
                assert law.cdf(knots[i]) == pytest.approx(ends[i], rel=4e-16, abs=0)
                middle = (knots[i] + knots[i + 1]) / 2
                width = knots[i + 1] - knots[i]
                assert law.pdf(middle) == pytest.approx(float(exact[i]) / width, rel=1e-15)
                assert law.cdf(middle) == pytest.approx((ends[i] + ends[i + 1]) / 2, rel=1e-15)
        if mean:
            assert law.mean() == pytest.approx(mean[0] / mean[1], rel=4e-16)
        if error:
            assert law.expected_error(3) == pytest.approx(error[0] / error[1], rel=4e-16)
        second = sum(
            p * Fraction(a * a + a * b + b * b, 3)
            for p, a, b in zip(exact, map(int, knots), map(int, knots[1:]), strict=False)
        )
        first = sum(
            p * Fraction(a + b, 2)
            for p, a, b in zip(exact, map(int, knots), map(int, knots[1:]), strict=False)
        )
        assert law.var() == pytest.approx(float(second - first**2), rel=1e-15)

    def test_the_law_of_the_distance(self):
        law = duff([1, 2, 4, 7], [4, 2, 0, 2, 4])
        assert law.expected_loss() == pytest.approx((2 * 16 + 4 * 4) / 52, rel=1e-15)
        assert law.expected_utility() == -law.expected_loss()
        for t, p in [(0, 32), (1.9, 32), (2, 48), (3.5, 48), (4, 52), (9, 52)]:
            assert law.loss_cdf(t) == pytest.approx(p / 52, rel=1e-15)
        for t, p in [(0, 52), (0.1, 20), (2, 20), (2.1, 4), (4, 4), (4.1, 0)]:
            assert law.loss_tail(t) == pytest.approx(p / 52, rel=1e-15)
        levels = [0.0, 32 / 52 - 1e-9, 32 / 52 + 1e-9, 0.9, 48 / 52 + 1e-9, 1.0]
        assert law.loss_quantile(levels).tolist() == [0, 0, 2, 2, 4, 4]
        half = duff([1, 2, 4, 7], [4, 2, 0, 2, 4])
        scaled = ContinuousLaw(
            np.array([0.0, 1, 2, 4, 7, 10]), np.array([4.0, 2, 0, 2, 4]), None, 7.0,
            Fraction(1, 10), LOG_2, 1.0,
        )  # fmt: skip
        assert scaled.loss_quantile(0.9) == 0.2  # correctly rounded
        assert scaled.loss_cdf(0.4) == 1.0
        assert scaled.expected_loss() == pytest.approx(half.expected_loss() / 10)
        assert scaled.expected_utility() == pytest.approx(7 - half.expected_loss() / 10)

    @pytest.mark.parametrize("distances", [[4, 2, 0, 2, 4], [40, 2, 0, 2, 40]])
    def test_equal_records_give_the_uniform_law(self, distances):
        """The two gaps of positive width have one distance, whatever epsilon is."""
        law = duff([3, 3, 3, 3], distances)
        uniform = stats.uniform(0, 10)
        for epsilon in (1e-6, 1.0, 1e6):
            at = law.with_epsilon(epsilon)
            x = np.linspace(-1, 11, 97)
            assert at.cdf(x) == pytest.approx(uniform.cdf(x), rel=4e-16)
            assert at.pdf(x) == pytest.approx(uniform.pdf(x), rel=4e-16)
            assert (at.mean(), at.var()) == pytest.approx((5.0, 100 / 12), rel=4e-16)
            assert at.expected_loss() == 0.0
            assert at.log_normalizer == pytest.approx(
                math.log(10) - float(at._rate) * distances[0], rel=1e-15, abs=1e-15
            )

    def test_no_records_give_the_uniform_law(self):
        law = duff([], [1])
        assert law.cdf([2.5, 10, -1, 11]).tolist() == [0.25, 1.0, 0.0, 1.0]
        assert law.error_quantile([0.5, 1.0], 10).tolist() == [5.0, 10.0]
        empty = price_density([], (1, 3), Fraction(1), 1.0)
        assert empty.ppf(0.75) == pytest.approx(2.5, rel=4e-16)
        assert empty.expected_loss() == 0.0


class TestLaplace:
    """On the line and within bounds."""

    @pytest.mark.slow
    @each("f", [-7.25, 0.0, 1e6])
    @each("epsilon", [1e-9, 0.3, 1.0, 1e6])
    def test_on_the_line_it_is_the_textbook(self, f, epsilon):
        law, scale = laplace_density(f, Fraction(epsilon), None, epsilon), 1 / epsilon
        x = f + scale * np.array([-600.0, -30, -1, -1e-3, 0, 1e-9, 2, 40, 700])
        with mp.workdps(50):
            y = [mp.mpf(epsilon) * abs(mp.mpf(v) - mp.mpf(f)) for v in x]
            cdf = [
                mp.exp(-a) / 2 if v < f else 1 - mp.exp(-a) / 2 for a, v in zip(y, x, strict=True)
            ]
            for i in range(x.size):
                slack = 1e-15 * (4 + float(y[i]))
                assert close(law.cdf(x[i]), cdf[i], slack)
                assert close(law.pdf(x[i]), mp.mpf(epsilon) / 2 * mp.exp(-y[i]), slack)
                error = abs(mp.mpf(x[i]) - f) + mp.exp(-y[i]) / epsilon
                assert close(law.expected_error(x[i]), error, 1e-15)
        assert law.mean() == f
        assert law.var() == pytest.approx(2 * scale**2, rel=1e-15)
        assert law.log_normalizer == pytest.approx(math.log(2 * scale), rel=1e-15)
        assert law.expected_loss() == pytest.approx(scale, rel=1e-15)
        assert law.expected_utility() == -law.expected_loss()
        assert law.ppf([0.0, 0.5, 1.0]).tolist() == [-np.inf, f, np.inf]
        for p in (1e-300, 1e-9, 0.2, 0.7, 1 - 1e-9):
            ulps = epsilon * math.ulp(max(abs(f), 1e-300))
            assert (law.ppf(p) - f) * epsilon == pytest.approx(
                stats.laplace.ppf(p), rel=1e-15, abs=ulps
            )
            r = law.error_quantile(p, f) * epsilon
            assert r == pytest.approx(-math.log1p(-p), rel=1e-14 + 1e-16 / p, abs=2 * ulps)
            t = law.loss_quantile(p) * epsilon
            assert t == pytest.approx(-math.log1p(-p), rel=1e-14)
            assert law.loss_cdf(law.loss_quantile(p)) >= p
        for y in (0.0, 1e-9, 1.0, 300.0):
            assert law.loss_tail(y * scale) == pytest.approx(math.exp(-y), rel=1e-13)
        assert law.error_quantile(1.0, f) == law.loss_quantile(1.0) == np.inf

    @pytest.mark.slow
    @each("f", [-1.0, 0.0, 0.25, 7.0, 10.0, 12.0])
    @each("alpha", [1e-300, 1e-6, 0.5, 30.0, 1e6])
    def test_within_bounds(self, f, alpha):
        law = laplace_density(f, Fraction(alpha), (0, 10), 1.0)
        with mp.workdps(700):
            a, at = mp.mpf(alpha), mp.mpf(min(max(f, 0), 10))

            def mass(x):  # integral of exp(-a|y - f|) up to x
                def from_f(d):
                    return -mp.expm1(-a * d) / a

                low = from_f(at) - from_f(at - min(x, at))
                return low + from_f(max(x - at, 0))

            z = mass(mp.mpf(10))
            assert abs(law.log_normalizer - mp.log(z)) < 1e-14 * (1 + abs(mp.log(z)))
            for x in (0.0, 1e-9, 0.2, 0.25, 5.0, 7.5, 9.999, 10.0):
                exact = mass(mp.mpf(x)) / z
                assert close(law.cdf(x), exact, 1e-14 * (1 + min(10 * alpha, 1e3)))
                if 1e-9 < law.cdf(x) < 0.999 and law.pdf(x) > 1e-6:
                    assert law.ppf(law.cdf(x)) == pytest.approx(x, rel=1e-13, abs=1e-13)
        assert (law.cdf([-1, 11]) == [0, 1]).all()
        assert (law.pdf([-1e-9, 10.001, np.inf, -np.inf]) == 0).all()


def oracle(law: ContinuousLaw):
    """Integrals over a law by mpmath's quadrature of its definition, piece by piece."""
    p, rate = law._pieces, mp.mpf(law._rate.numerator) / law._rate.denominator
    parts = []
    for i in range(p.size.size):
        left, right = mp.mpf(law._left[i]), mp.mpf(law._right[i])
        slope = 0 if p.slope is None else mp.mpf(p.slope[i])
        steep, flip = abs(slope), slope < 0
        loss, end = mp.mpf(p.loss[i]), right if flip else left

        def weight(x, end=end, steep=steep, loss=loss):
            return mp.exp(-rate * (loss + steep * abs(x - end)))

        parts.append((left, right, weight))

    def integral(f, cuts=()):
        total = mp.mpf(0)
        for left, right, weight in parts:
            inner = sorted({left, right, *(c for c in cuts if left < c < right)})
            total += mp.quad(lambda x, w=weight: f(x) * w(x), inner)
        return total

    return integral


def random_law(rng: np.random.Generator, sloped: bool, rate: float = 1.0) -> ContinuousLaw:
    m = int(rng.integers(1, 7))
    knots = np.sort(rng.normal(size=m + 1) * 3)
    if m > 2:
        knots[1] = knots[2]  # a gap of no width
    slope = rng.normal(size=m) * 2 if sloped else None
    loss = rng.random(m) * 2
    return ContinuousLaw(knots, loss - loss.min(), slope, 1.5, Fraction(1, 4), Fraction(rate), 1.0)


class TestQuadrature:
    """Everything against integrals of the definition."""

    @pytest.mark.slow
    @each("seed", range(6))
    @each("sloped", [False, True])
    def test_it_is_its_definition(self, seed, sloped):
        rng = np.random.default_rng(seed)
        law = random_law(rng, sloped)
        low, high = float(law._left[0]), float(law._right[-1])
        with mp.workdps(25):
            integral = oracle(law)
            z = integral(lambda x: mp.mpf(1))
            mean = integral(lambda x: x) / z
            assert law.log_normalizer == pytest.approx(float(mp.log(z)) + 4 * 1.5, rel=1e-14)
            assert law.mean() == pytest.approx(float(mean), rel=1e-14, abs=1e-14)
            assert close(law.var(), integral(lambda x: (x - mean) ** 2) / z, 1e-13)
            for x in (low, (low + high) / 2, *law._right, high + 1, low - 2):
                t = mp.mpf(float(x))
                below = integral(lambda y, t=t: mp.mpf(y <= t), [t]) / z
                assert law.cdf(x) == pytest.approx(float(below), rel=1e-13, abs=1e-300)
                error = integral(lambda y, t=t: abs(y - t), [t]) / z
                assert close(law.expected_error(x), error, 1e-13)
                for r in (0.1, 1.0, 3.0):
                    inside = law.cdf(x + r) - law.cdf(x - r)
                    if 0.001 < inside < 0.999:
                        assert law.error_quantile(inside, x) == pytest.approx(r, rel=1e-11)

    @pytest.mark.slow
    @each("seed", range(4))
    def test_losses_are_the_definitions(self, seed):
        law = random_law(np.random.default_rng(seed), True)
        x = np.linspace(law._left[0], law._right[-1], 400_001)
        mids, p = (x[1:] + x[:-1]) / 2, np.diff(law.cdf(x))
        y = -(np.log(law.pdf(mids)) + law.log_normalizer - 4 * 1.5) / 4  # rate 1, unit 1/4
        assert law.expected_loss() == pytest.approx(float((p * y).sum()), rel=2e-5)
        for t in (0.05, 0.3, 0.7, 1.2):
            assert law.loss_cdf(t) == pytest.approx(p[y <= t].sum(), abs=2e-5)
            assert law.loss_tail(t) == pytest.approx(p[y >= t].sum(), abs=2e-5)
        for level in (0.1, 0.5, 0.9):
            assert law.loss_cdf(law.loss_quantile(level)) >= level
            assert law.loss_cdf(law.loss_quantile(level) * (1 - 1e-9)) < level

    @pytest.mark.slow
    @each("z", [1e-300, 1e-20, 1e-8, 1e-3, 0.7, 3.0, 50.0, 800.0, 1e6])
    @each("down", [False, True])
    @each("width", [1e-3, 1.0, 1e9])
    def test_slope_times_width_over_all_scales(self, z, down, width):
        """One piece, rising or falling, against closed forms in 700 digits."""
        slope, left = (-z if down else z) / width, 5.0
        law = ContinuousLaw(
            np.array([left, left + width]), np.zeros(1), np.array([slope]), 0.0,
            Fraction(1), Fraction(1), 1.0,
        )  # fmt: skip
        with mp.workdps(700):
            a, b = mp.mpf(left), mp.mpf(left + width)
            s = -mp.mpf(slope)  # of the log-density
            end = b if down else a

            def mass(x, y):
                return (mp.exp(s * (y - end)) - mp.exp(s * (x - end))) / s

            total = mass(a, b)
            mean = (b * mp.exp(s * (b - end)) - a * mp.exp(s * (a - end)) - total) / s / total
            scale = 1e-14 * max(1.0, min(z, 1e3))
            assert close(law.mean(), mean, 1e-15)
            assert abs(law.log_normalizer - mp.log(total)) < 1e-14 * (1 + abs(mp.log(total)))
            for u in (1e-12, 0.1, 0.5, 0.9, 1.0):
                x = min(left + u * width, left + width)
                below = mass(a, mp.mpf(x)) / total
                assert close(law.cdf(x), below, 4e-16 / u * left / width + scale)
                if below < 1:
                    slack = 4 * math.ulp(x) + 2e-16 / max(law.pdf(x), 1e-300) + 1e-14 * u * width
                    assert abs(law.ppf(float(below)) - x) <= slack


class TestFace:
    """Semantics that both laws share, at their edges."""

    LAW = tutorial(5)

    @pytest.mark.slow
    @given(st.integers(0, 2**32), st.booleans(), st.floats(-3, 3))
    @settings(max_examples=60, deadline=None)
    def test_cdf_and_ppf_are_inverse_and_monotone(self, seed, sloped, log_rate):
        rng = np.random.default_rng(seed)
        law = random_law(rng, sloped, 10**log_rate)
        p = np.sort(np.concatenate([rng.random(50), [0, 1, 1e-300, 1 - 2.0**-53]]))
        x = law.ppf(p)
        assert (np.diff(x) >= -1e-15 * np.abs(x[1:])).all()
        assert law._left[0] <= x[0]
        assert x[-1] <= law._right[-1]
        steep = np.maximum(law.pdf(x), law.pdf(np.nextafter(x, -np.inf)))
        slack = 4e-16 + 2 * np.spacing(np.abs(x)) * steep
        assert (np.abs(law.cdf(x) - p) <= slack).all()
        grid = np.linspace(law._left[0] - 1, law._right[-1] + 1, 101)
        assert (np.diff(law.cdf(grid)) >= 0).all()
        radii = law.error_quantile(p, float(x[20]))
        assert (np.diff(radii) >= 0).all()
        losses = law.loss_quantile(p[::9])
        assert (np.diff(losses) >= 0).all()
        assert (law.loss_cdf(losses) >= p[::9]).all()
        assert (np.diff(law.loss_tail(np.linspace(-1, 9, 30))) <= 1e-15).all()

    def test_the_ends(self):
        law = self.LAW
        assert law.ppf([0.0, 1.0]).tolist() == [0.0, 3.5]
        assert law.cdf([-np.inf, np.inf, 0.0, 3.5]).tolist() == [0, 1, 0, 1]
        assert law.loss_quantile([0.0, 1.0]) == pytest.approx([0.0, 4.0], abs=1e-300)
        assert law.error_quantile(0.0, 1.0) == 0.0
        assert law.error_quantile(1.0, 1.0) == pytest.approx(2.5, rel=1e-15)
        assert law.expected_error(100.0) == pytest.approx(100 - law.mean(), rel=1e-15)
        assert law.expected_error(-100.0) == pytest.approx(100 + law.mean(), rel=1e-15)

    def test_small_tails_keep_their_digits(self):
        law = laplace_density(0.0, Fraction(1), (-800, 800), 1.0)
        assert law.cdf(-300.0) == pytest.approx(math.exp(-300) / 2, rel=1e-12)
        assert law.loss_tail(300.0) == pytest.approx(math.exp(-300), rel=1e-12)
        far = price_density([100.0], (0, 101), Fraction(3), 3.0)
        assert far.cdf(1.0) == pytest.approx(math.expm1(3) * math.exp(-300), rel=1e-12)

    def test_shapes_and_types(self):
        law = self.LAW
        for call in (law.cdf, law.pdf, law.loss_cdf, law.loss_tail, law.expected_error):
            assert type(call(1)) is float
            assert call([[1, 2, 3]]).shape == (1, 3)
            assert call(np.empty((0, 2))).shape == (0, 2)
            assert call([1.0, 2.0])[1] == call(2)
        for call in (law.ppf, law.loss_quantile, lambda p: law.error_quantile(p, 1)):
            assert type(call(0.5)) is float
            assert call([[0.5, 0.25]]).shape == (1, 2)
            assert call([]).shape == (0,)
        assert law.error_quantile([[0.5], [0.75]], [1, 2, 3]).shape == (2, 3)
        assert type(law.mean()) is type(law.var()) is type(law.log_normalizer) is float

    WRONG = (
        (ParameterError, lambda law: law.cdf(math.nan), "x: not NaN"),
        (ParameterError, lambda law: law.pdf([0, math.nan]), "x: not NaN"),
        (ParameterTypeError, lambda law: law.cdf("1"), "x: numbers of one type"),
        (ParameterTypeError, lambda law: law.pdf([True]), "x: numbers of one type"),
        (ParameterError, lambda law: law.ppf(1.5), "p from 0 to 1"),
        (ParameterError, lambda law: law.ppf([0.5, -1e-9]), "p from 0 to 1"),
        (ParameterError, lambda law: law.ppf(math.nan), "p: not NaN"),
        (ParameterError, lambda law: law.loss_quantile(2), "p from 0 to 1"),
        (ParameterError, lambda law: law.loss_cdf(math.nan), "t: not NaN"),
        (ParameterError, lambda law: law.loss_tail(math.nan), "t: not NaN"),
        (ParameterError, lambda law: law.expected_error(math.inf), "truth that is finite"),
        (ParameterError, lambda law: law.expected_error(math.nan), "truth: not NaN"),
        (ParameterError, lambda law: law.error_quantile(0.5, math.inf), "truth that is finite"),
        (ParameterError, lambda law: law.error_quantile(-1, 0), "p from 0 to 1"),
        (ParameterError, lambda law: law.error_quantile([0.1] * 2, [1] * 3),
         "p: shapes that do not fit, got truth"),
        (ParameterError, lambda law: law.with_epsilon(0), "epsilon: finite and positive"),
        (ParameterError, lambda law: law.with_epsilon(1e9), "usual epsilon"),
        (ParameterTypeError, lambda law: law.with_epsilon(1, any_epsilon=1),
         "any_epsilon: true or false"),
        (ParameterError, lambda law: law.sample(-1), "size: at least a number"),
        (ParameterError, lambda law: law.sample(method="envelope"), "method: one of several words"),
        (ParameterError, lambda law: law.sample(streams=[1, 2]), "one stream a row"),
        (ParameterTypeError, lambda law: law.sample(threads=1.5), "threads: integer"),
        (ParameterTypeError, lambda law: law.sample(rng="a"), re.compile("rng")),
    )  # fmt: skip

    @each("case", WRONG)
    def test_wrong_input_is_refused(self, case):
        error, call, text = case
        with pytest.raises(error, match=says(text)):
            call(self.LAW)

    def test_with_epsilon_is_a_fresh_law_and_shares_the_data(self):
        law = tutorial(5)
        assert law.expected_loss() > 0  # sorts the losses
        for epsilon in (0.3, 1e-9, 1e6):
            other, fresh = law.with_epsilon(epsilon), tutorial(epsilon)
            assert other.epsilon == epsilon
            assert other._pieces is law._pieces
            assert other._left is law._left
            assert other._shared[0] is law._shared[0]
            for statistic in ("mean", "var", "expected_loss", "expected_utility"):
                assert getattr(other, statistic)() == pytest.approx(
                    getattr(fresh, statistic)(), rel=1e-15, abs=1e-300
                )
            assert other.cdf([0.5, 2]).tolist() == pytest.approx(fresh.cdf([0.5, 2]).tolist())
        assert law.with_epsilon(1e9, any_epsilon=True).mean() == pytest.approx(1, rel=1e-8)
        assert law.mean() == tutorial(5).mean()
        assert law.with_epsilon(2.5)._rate * 2 == law._rate  # exactly
        assert law.with_epsilon(0.3)._rate == Fraction(0.3) / 7

    def test_it_shows_no_data_and_can_be_pickled(self):
        law = tutorial(5)
        assert repr(law) == "ContinuousLaw(epsilon=5)"
        assert pickle.loads(pickle.dumps(law)).mean() == law.mean()


class TestDraws:
    """Simulation draws: quantiles of the words of a named stream."""

    def test_they_are_quantiles_of_the_streams_words(self):
        law = tutorial(5)
        words = exact_twin.substream(tuple(map(int, row_stream(7, 3))), 0, 0)
        uniform = [(2 * (next(words) >> 12) + 1) * 2.0**-53 for _ in range(100)]
        assert law.sample(100, rng=7, streams=[3]).tolist() == law.ppf(uniform).tolist()

    def test_they_are_pinned(self):
        """The same bytes on every CPU, for flat pieces, slopes and half-lines."""
        found = [
            duff([1, 2, 4, 7], [4, 2, 0, 2, 4]).sample(3, rng=1).tolist(),
            tutorial(5).sample(3, rng=1).tolist(),
            laplace_density(0.0, Fraction(1), None, 1.0).sample(3, rng=1).tolist(),
        ]
        assert found == PINNED

    def test_prefixes_streams_and_threads(self):
        law = tutorial(1)
        many = law.sample(1001, rng=5)
        assert many.shape == (1001,)
        for size in (0, 1, 2, 17, 1000):
            assert (law.sample(size, rng=5, threads=2) == many[:size]).all()
        assert law.sample(rng=5) == many[0]
        assert type(law.sample(rng=5)) is float
        assert (law.sample(1001, rng=5, method="inverse", threads=0) == many).all()
        assert not (law.sample(1001, rng=5, streams=[1]) == many).any()
        assert law.sample(5).tolist() != law.sample(5).tolist()
        generator = np.random.default_rng(1)
        assert law.sample(5, rng=generator).tolist() != law.sample(5, rng=generator).tolist()

    @pytest.mark.statistical
    @pytest.mark.slow
    @each("epsilon", [0.5, 5.0, 90.0])
    @each("wrong", [1.0, 1.3])
    def test_they_follow_the_law_and_no_other(self, epsilon, wrong):
        draws = tutorial(epsilon * wrong).sample(300_000, rng=2)
        p = stats.kstest(draws, tutorial(epsilon).cdf).pvalue
        assert (p > ALPHA) == (wrong == 1.0 or epsilon < 1)
        assert 0 <= draws.min() <= draws.max() <= 3.5

    @pytest.mark.statistical
    def test_their_moments_are_the_laws(self):
        law = laplace_density(3.0, Fraction(2), None, 2.0)
        draws = law.sample(400_000, rng=3)
        assert stats.kstest(draws, stats.laplace(3.0, 0.5).cdf).pvalue > ALPHA
        assert draws.mean() == pytest.approx(law.mean(), abs=6 * math.sqrt(law.var() / draws.size))
        assert np.abs(draws - 1).mean() == pytest.approx(law.expected_error(1), rel=0.01)
        assert np.quantile(np.abs(draws - 1), 0.9) == pytest.approx(
            law.error_quantile(0.9, 1), rel=0.02
        )


PINNED: list[list[float]] = [
    [1.242434571240451, 2.4604610397010047, 1.152440281174501],
    [0.343196540736907, 0.8536020139107657, 0.3007530128704311],
    [-2.5801958543701597, -0.7430344488683377, -2.7820107397857834],
]
