"""Does the noise keep its promise for every shift and scale that its smoothness allows?

Z is compared with s + exp(t)*Z for |t| <= beta and |s| <= alpha * min(1, exp(t)), on fine grids
of densities that are written down here anew.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastexp.errors import ParameterTypeError
from fastexp.privacy import zcdp_epsilon
from tests.doors.privacy import cauchy_alpha, laplace_alpha
from tests.doors.privacy import smooth_noise as sn
from tests.messages import raises
from tests.support.each import each

pytestmark = pytest.mark.proof

PURE_LOG = {
    "cauchy": lambda z: -np.log1p(z * z),
    "student-t": lambda z: -2 * np.log1p(z * z / 3),
    "pareto-tail": lambda z: np.where(
        np.abs(z) <= 3, -np.abs(z), -3 - 3 * np.log(np.maximum(np.abs(z), 3) / 3)
    ),
}
EPSILONS = (0.05, 0.5, 1.0, 2.5, 8.0)


def neighbours(alpha: float, beta: float, parts: int = 12):
    """(s, t) over what neighbouring data sets allow; by symmetry s >= 0."""
    for t in np.linspace(-beta, beta, 2 * parts + 1):
        for s in np.linspace(0, alpha * min(1, math.exp(t)), 4):
            yield s, t


def worst_ratio(log_density, alpha: float, beta: float) -> float:
    size = np.concatenate([[0.0], np.geomspace(1e-6, 1e9, 8000), 3 * np.exp([-beta, 0, beta])])
    z = np.concatenate([-size, size])
    here = log_density(z)
    found = 0.0
    for s, t in neighbours(alpha, beta):
        for x in (z, z + s, s + z * math.exp(t)):
            p = here if x is z else log_density(x)
            found = max(found, np.abs(p + t - log_density((x - s) * math.exp(-t))).max())
    return found


class TestPureNoise:
    @each("noise", sn.PURE)
    @each("calibration", sn.CALIBRATIONS)
    @each("epsilon", EPSILONS)
    def test_no_log_ratio_exceeds_epsilon(self, noise, calibration, epsilon):
        alpha, beta, sigma = sn.calibrate(noise, calibration, epsilon, 0.0)
        worst = worst_ratio(PURE_LOG[noise], alpha, beta)
        assert worst <= epsilon * (1 + 1e-9)
        assert sigma == 0
        if calibration == "tight" and not (noise == "pareto-tail" and alpha > 3):
            assert worst >= epsilon * (1 - 1e-5)

    @each("noise", sn.PURE)
    def test_the_check_finds_too_little_noise(self, noise):
        alpha, beta, _ = sn.calibrate(noise, "tight", 1.0, 0.0)
        assert worst_ratio(PURE_LOG[noise], 1.05 * alpha, beta) > 1.001
        assert worst_ratio(PURE_LOG[noise], alpha, 1.2 * beta + 0.1) > 1.001

    @each("noise", sn.PURE)
    def test_a_tight_pair_needs_no_more_noise_than_a_published_one(self, noise):
        for epsilon in EPSILONS[1:]:
            paper = sn.calibrate(noise, "paper", epsilon, 0.0)
            tight = sn.calibrate(noise, "tight", epsilon, 0.0)
            costs = [sn.spread_out(c.beta) / c.alpha for c in (tight, paper)]
            assert costs[0] < costs[1]


def hockey_stick(epsilon: float, s: float, t: float) -> float:
    """The integral of (p - exp(epsilon) * q)+ for Laplace laws, by many small pieces."""
    ends = np.unique(np.concatenate([np.linspace(-60, 60, 6001), [0.0, s]]))
    x, w = np.polynomial.legendre.leggauss(4)
    half = np.diff(ends)[:, None] / 2
    z = ends[:-1, None] + half * (x + 1)
    p = np.exp(-np.abs(z)) / 2
    q = np.exp(-np.abs(z - s) * math.exp(-t) - t) / 2
    return float((np.maximum(p - math.exp(epsilon) * q, 0) * w * half).sum())


class TestLaplaceNoise:
    @each("epsilon", [0.2, 0.5, 1.0, 2.0, 5.0])
    @each("delta", [1e-9, 1e-3, 0.05, 0.9])
    @each("calibration", sn.CALIBRATIONS)
    def test_delta_holds(self, epsilon, delta, calibration):
        alpha, beta, _ = sn.calibrate("laplace", calibration, epsilon, delta)
        worst = max(hockey_stick(epsilon, s, t) for s, t in neighbours(alpha, beta, 6))
        assert worst <= delta * (1 + 1e-3)
        if calibration == "tight" and delta <= 1e-3:
            assert worst >= delta * (1 - 1e-2)

    def test_the_check_finds_too_little_noise(self):
        alpha, beta, _ = sn.calibrate("laplace", "tight", 1.0, 1e-3)
        assert hockey_stick(1.0, 1.2 * alpha * math.exp(-beta), -beta) > 1.1e-3
        assert hockey_stick(1.0, alpha * math.exp(-1.05 * beta), -1.05 * beta) > 1.1e-3

    def test_published_numbers(self):
        """Proposition 2 with its delta' = 2 delta / (exp(epsilon/2) + 1)."""
        published = {
            (0.5, 0.001): 0.0323260756643031,
            (0.5, 0.9): 0.268441981428824,
            (1.0, 0.001): 0.0634370262276295,
            (1.0, 0.9): 0.463204215227904,
            (2.0, 0.001): 0.121639452159615,
            (2.0, 0.9): 0.704909311133841,
        }
        for (epsilon, delta), beta in published.items():
            found = sn.calibrate("laplace", "paper", epsilon, delta)
            assert found.beta == pytest.approx(beta, rel=1e-11)
            assert found.alpha == pytest.approx(epsilon / 2, rel=1e-11)

    def test_a_greater_beta_leaves_a_smaller_alpha(self):
        pairs = [laplace_alpha(beta, 1.0, 1e-3) for beta in (0.05, 0.1, 0.15, 0.18, 0.3)]
        assert pairs[0] < 0.95 * math.exp(0.05)
        assert pairs == sorted(pairs, reverse=True)
        assert pairs[-1] == 0


def mixture(base, sigma):
    """The density of B * exp(sigma * N), by the trapezoidal rule over N."""
    n = np.linspace(-9, 30, 601)
    weights = np.exp(-n * n / 2) * (n[1] - n[0]) / math.sqrt(2 * math.pi)
    shrink = np.exp(-sigma * n)
    grid = np.geomspace(1e-9, 1e6, 4000)
    values = np.log((base(np.outer(grid, shrink)) * shrink) @ weights + 1e-280)
    return lambda z: np.exp(np.interp(np.log(np.maximum(np.abs(z), 1e-9)), np.log(grid), values))


def uniform_mixture(sigma):
    from scipy.special import erfc

    def density(z):  # E exp(-sigma*N) / 2 over |z| <= exp(sigma*N)
        cut = np.log(np.maximum(np.abs(z), 1e-300)) / sigma
        return math.exp(sigma**2 / 2) * 0.25 * erfc((cut + sigma) / math.sqrt(2)) + 1e-300

    return density


def arsinh_density(sigma):
    def density(z):
        n = np.arcsinh(sigma * z) / sigma
        return np.exp(-n * n / 2) / math.sqrt(2 * math.pi) / np.sqrt(1 + (sigma * z) ** 2) + 1e-300

    return density


CONCENTRATED = {
    "laplace-lognormal": lambda sigma: mixture(lambda x: np.exp(-x) / 2, sigma),
    "uniform-lognormal": uniform_mixture,
    "arsinh-normal": arsinh_density,
}


def renyi(density, order: float, s: float, t: float) -> float:
    size = np.geomspace(1e-8, 1e5, 3000)
    z = np.unique(np.concatenate([-size, size, s - size, s + size, [0.0, s]]))
    p, q = density(z), density((z - s) * math.exp(-t)) * math.exp(-t)
    y = np.exp(order * np.log(p) + (1 - order) * np.log(q))
    return math.log(np.trapezoid(y, z)) / (order - 1)


class TestConcentratedNoise:
    @each("noise", sn.CONCENTRATED)
    def test_the_densities_are_densities(self, noise):
        density = CONCENTRATED[noise](sn.calibrate(noise, "paper", 1.0, 0.0).sigma)
        z = np.concatenate([[0.0], np.geomspace(1e-8, 1e5, 20_000)])
        assert 2 * np.trapezoid(density(z), z) == pytest.approx(1, abs=1e-3)

    @each("noise", sn.CONCENTRATED)
    @each("epsilon", [0.3, 1.0, 3.0])
    def test_divergences_are_within_half_of_the_square(self, noise, epsilon):
        alpha, beta, sigma = sn.calibrate(noise, "paper", epsilon, 0.0)
        assert sn.calibrate(noise, "tight", epsilon, 0.0) == (alpha, beta, sigma)
        density = CONCENTRATED[noise](sigma)
        worst = max(
            renyi(density, order, s, t) / order
            for order in (1.1, 2.0, 5.0)
            for s, t in neighbours(alpha, beta, 1)
        )
        assert epsilon**2 / 200 < worst <= epsilon**2 / 2

    @each("epsilon", [0.1, 1.0, 4.0])
    def test_sigma_is_the_published_root(self, epsilon):
        alpha, t, sigma = sn.calibrate("laplace-lognormal", "paper", epsilon, 0.0)
        assert 5 * epsilon / t * sigma**3 - 5 * sigma**2 - 1 == pytest.approx(0, abs=1e-6)
        assert alpha == pytest.approx(math.exp(-1.5 * sigma**2) * (epsilon - t / sigma))

    def test_the_published_costs(self):
        """Bun and Steinke's formulas, written anew."""
        for epsilon in (0.1, 1.0, 4.0):
            alpha, t, sigma = sn.calibrate("uniform-lognormal", "paper", epsilon, 0.0)
            shift = math.exp(1.5 * sigma**2) * math.sqrt(2 / (math.pi * sigma**2))
            assert t / sigma + shift * alpha == pytest.approx(epsilon)
            assert sigma == pytest.approx(math.sqrt(2))
            alpha, t, sigma = sn.calibrate("arsinh-normal", "paper", epsilon, 0.0)
            scaling = math.sqrt(t * (t / sigma**2 + 1 / sigma + 2))
            assert scaling + alpha * (2 / (3 * sigma) + sigma / 2) == pytest.approx(epsilon)
            assert sigma == pytest.approx(2 / math.sqrt(3))


class TestConstants:
    def test_cauchy(self):
        published = {
            0.5: (0.505224633616337, 0.227336293802646),
            1.0: (1.04219061098749, 0.735325664055519),
            2.0: (2.3504023872876, 1.87554767409476),
        }
        for epsilon, pair in published.items():
            alpha, beta = pair
            assert cauchy_alpha(beta, epsilon) == pytest.approx(alpha)
            assert cauchy_alpha(0.9 * beta, epsilon) == pytest.approx(alpha)
            assert cauchy_alpha(min(1.1 * beta, epsilon), epsilon) < alpha
            chosen = sn.calibrate("cauchy", "tight", epsilon, 0.0)
            assert cauchy_alpha(chosen.beta, epsilon) == pytest.approx(chosen.alpha)
            costs = [sn.spread_out(b) / a for a, b in (chosen[:2], pair)]
            assert costs[0] <= costs[1] * (1 + 1e-9)
            paper = sn.calibrate("cauchy", "paper", epsilon, 0.0)
            assert paper[:2] == pytest.approx((epsilon / 6, epsilon / 6))
            assert paper.alpha <= epsilon / 6

    def test_published_sums(self):
        alpha, beta, _ = sn.calibrate("student-t", "paper", 1.0, 0.0)
        assert 4 * beta + 4 * alpha / (2 * math.sqrt(3)) == pytest.approx(1)
        alpha, beta, _ = sn.calibrate("pareto-tail", "paper", 1.0, 0.0)
        assert alpha + 2 * beta == pytest.approx(1)

    @each("noise", sn.NOISES)
    @each("calibration", sn.CALIBRATIONS)
    def test_extreme_epsilons_have_finite_pairs(self, noise, calibration):
        for epsilon in (1e-9, 1e-4, 700.0, 1e6):
            alpha, beta, sigma = sn.calibrate(noise, calibration, epsilon, 1e-6)
            assert 0 < alpha < math.inf
            assert 0 < beta < math.inf
            assert 0 <= sigma < 2

    @each("noise", ["student-t", "pareto-tail", "laplace"])
    def test_best_pairs_are_best(self, noise):
        """No pair of the same cost has less noise on evenly spaced records."""
        divisor, alpha = sn.TIGHT[noise]
        found = sn.calibrate(noise, "tight", 1.0, 1e-4)
        cost = sn.spread_out(found.beta) / found.alpha
        betas = np.linspace(0.001, 0.999, 400) / divisor
        others = [alpha(b, 1.0, 1e-4) / sn.spread_out(b) for b in betas]
        assert 1 / cost >= max(others) * (1 - 1e-8)


class TestPromises:
    def test_what_each_noise_promises(self):
        pure = sn.smooth_guarantee("cauchy", 1.0, 0.0, "replace", "")
        assert (pure.epsilon, pure.delta, pure.neighbors) == (1.0, 0.0, "replace")
        laplace = sn.smooth_guarantee("laplace", 1.0, 1e-3, "add-remove", "")
        assert (laplace.epsilon, laplace.delta, laplace.rho) == (1.0, 1e-3, None)
        zcdp = sn.smooth_guarantee("arsinh-normal", 0.6, 0.0, "replace", "")
        assert (zcdp.epsilon, zcdp.rho, zcdp.delta) == (None, 0.18, 0.0)
        both = sn.smooth_guarantee("arsinh-normal", 0.6, 1e-6, "replace", "")
        assert (both.epsilon, both.delta) == (zcdp_epsilon(0.18, 1e-6), 1e-6)
        for promise in (pure, laplace, zcdp, both):
            assert promise.bounded_range is None

    @each("noise", sn.NOISES)
    def test_delta_must_fit(self, noise):
        wrong = [-0.1, 1.0, 2.0, math.nan] + [0.0] * (noise == "laplace")
        wrong += [1e-6] * (noise in sn.PURE)
        for delta in wrong:
            with raises("delta of pure noise", "delta of noise"):
                sn.noise_delta(noise, delta)
        with pytest.raises(ParameterTypeError):
            sn.noise_delta(noise, "a")
