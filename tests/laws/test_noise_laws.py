"""Are the noises' closed forms the integrals that they stand for, however large or small?"""

from __future__ import annotations

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy import stats

from tests.doors.laws import ArsinhNormal, Cauchy, ClampedNoise, Laplace, ParetoTail, StudentT

SIGMA = 2 / np.sqrt(3)
NOISES = [Laplace(), Cauchy(), StudentT(), ParetoTail(), ArsinhNormal(SIGMA)]
names = [type(noise).__name__ for noise in NOISES]


def cdf(noise, z):
    """P(Z <= z)."""
    half = 0.5 * noise.tail(np.abs(z))
    return np.where(z < 0, half, 1.0 - half)


each = pytest.mark.parametrize("noise", NOISES, ids=names)


def density(noise):
    """The density, from its definition, for mpmath."""
    mp = mpmath.mp
    root = mpmath.mpf(3) ** 0.5

    def arsinh(z):
        s = mp.mpf(SIGMA)
        return mp.npdf(mp.asinh(s * z) / s) / mp.sqrt(1 + (s * z) ** 2)

    def pareto(z):
        core = mp.exp(-z) if z <= 3 else mp.exp(-3) * (3 / z) ** 3
        return core / (2 * (1 - mp.exp(-3) + 1.5 * mp.exp(-3)))

    return {
        "Laplace": lambda z: mp.exp(-z) / 2,
        "Cauchy": lambda z: 1 / (mp.pi * (1 + z * z)),
        "StudentT": lambda z: 2 / (mp.pi * root * (1 + z * z / 3) ** 2),
        "ParetoTail": pareto,
        "ArsinhNormal": arsinh,
    }[type(noise).__name__]


def integral(f, low, high):
    """The integral of f over [low, high], pieces a factor of 3 apart; 3 is an end."""
    low, high = mpmath.mpf(low), mpmath.mpf(high)
    cuts = [mpmath.mpf(3) * mpmath.mpf(3) ** k for k in range(-8, 40)]
    ends = [low, *(c for c in cuts if low < c < high), high]
    return mpmath.quad(f, ends)


@pytest.mark.slow
@each
def test_tails_and_truncated_moments_are_integrals(noise):
    with mpmath.workdps(25):
        h, inside, last = density(noise), [mpmath.mpf(0)] * 3, 0.0
        for r in (1e-9, 1e-3, 0.2, 0.95, 1.1, 2.2, 3.1, 9.0, 900.0):
            more = [2 * integral(lambda z, k=k: z**k * h(z), last, r) for k in (0, 1, 2)]
            inside, last = [a + b for a, b in zip(inside, more, strict=True)], r
            tail = 1 - inside[0]
            want = [tail, inside[1] + r * tail, inside[2] + mpmath.mpf(r) ** 2 * tail]
            at = np.array([r])
            found = [noise.tail(at), noise.mean_min(at), noise.square_min(at)]
            for f, w in zip(found, want, strict=True):
                slack = 1e-20 * max(1, r * r)  # of 1 - inside, at 25 digits
                assert abs(f[0] - w) <= 1e-13 * w + slack


def test_far_tails_have_their_digits():
    z = np.array([1e5, 1e12, 1e80])
    with mpmath.workdps(300):
        root = mpmath.sqrt(3)
        student = [
            2 / mpmath.pi * (mpmath.acot(x / root) - (x / root) / (1 + x * x / 3))
            for x in map(mpmath.mpf, z)
        ]
        normal = [
            mpmath.erfc(mpmath.asinh(SIGMA * mpmath.mpf(x)) / SIGMA / mpmath.sqrt(2)) for x in z[:2]
        ]
    np.testing.assert_allclose(StudentT().tail(z), np.array(student, float), rtol=1e-14)
    np.testing.assert_allclose(ArsinhNormal(SIGMA).tail(z[:2]), np.array(normal, float), rtol=1e-13)
    np.testing.assert_allclose(Cauchy().tail(z), 2 / np.pi / z, rtol=1e-9)
    np.testing.assert_allclose(ParetoTail().tail(z), ParetoTail().tail(z / 10) / 100, rtol=1e-14)


def test_known_laws():
    z = np.array([-30.0, -2.0, -1e-5, 0.0, 0.3, 4.0, 11.0])
    for noise, law in (
        (Laplace(), stats.laplace),
        (Cauchy(), stats.cauchy),
        (StudentT(), stats.t(3)),
    ):
        np.testing.assert_allclose(cdf(noise, z), law.cdf(z), rtol=1e-13)
        p = np.array([1e-12, 0.03, 0.3, 0.5, 0.51, 0.999])
        np.testing.assert_allclose(noise.quantile(p), law.ppf(p), rtol=1e-12, atol=1e-15)


def test_moments_without_a_limit():
    far = np.array([1e300, np.inf])
    moments = {Laplace: (1, 2), StudentT: (2 * np.sqrt(3) / np.pi, 3)}
    for noise, (mean, square) in moments.items():
        np.testing.assert_allclose(noise().mean_min(far), mean, rtol=1e-13)
        np.testing.assert_allclose(noise().square_min(far), square, rtol=1e-13)
    np.testing.assert_allclose(ParetoTail().mean_min(far), 1.21860007911337, rtol=1e-13)
    even = (np.exp(2 * SIGMA**2) - 1) / (2 * SIGMA**2)
    np.testing.assert_allclose(ArsinhNormal(SIGMA).square_min(far), even, rtol=1e-13)
    assert np.isfinite(Cauchy().mean_min(far)).all()


@each
def test_quantiles_invert_the_cdf(noise):
    p = np.array([1e-300, 1e-40, 1e-9, 0.01, 0.2, 0.26, 0.49, 0.5 - 2**-40, 0.5, 0.6, 0.75, 0.99])
    z = noise.quantile(p)
    assert (np.diff(z) > 0).all()
    np.testing.assert_allclose(cdf(noise, z), p, rtol=2e-13)
    slope = (0.5 - cdf(noise, np.array([-1e-4]))[0]) / 1e-4
    assert noise.quantile(np.array([0.5 + 2**-40]))[0] == pytest.approx(2**-40 / slope, rel=1e-3)
    np.testing.assert_array_equal(noise.quantile(np.array([0.0, 0.5, 1.0])), [-np.inf, 0, np.inf])


@each
def test_nothing_is_at_zero(noise):
    zero = np.zeros(1)
    assert noise.tail(zero) == 1
    assert noise.mean_min(zero) == noise.square_min(zero) == 0


CASES = [  # centre, scale, bounds
    (0.3, 0.2, (-1.0, 2.0)),
    (-1.0, 1.5, (-1.0, 2.0)),
    (1.99, 40.0, (-1.0, 2.0)),
    (0.5, 1e-3, (-1.0, 2.0)),
]


@pytest.mark.slow
@each
@pytest.mark.parametrize(("centre", "scale", "bounds"), CASES)
def test_clamped_moments_are_integrals(noise, centre, scale, bounds):
    """Against E g(clamp(T + s*Z)) as the integral of g' * P(output > x), from the cdf alone."""
    low, high = bounds
    where = np.array([centre]), np.array([scale])

    def above(x):
        return float(1 - cdf(noise, np.array([(float(x) - centre) / scale]))[0])

    steps = [scale * sign * 3.0**k for k in range(-3, 9) for sign in (-1, 1)]
    cuts = sorted({low, high, centre, *(centre + d for d in steps if low < centre + d < high)})

    def mean(slope, at_low, extra=()):
        ends = sorted({*cuts, *(t for t in extra if low < t < high)})
        x, w = np.polynomial.legendre.leggauss(24)
        total = at_low
        for a, b in pairwise(ends):
            nodes = (a + b) / 2 + (b - a) / 2 * x
            total += (
                (b - a) / 2 * sum(wi * slope(n) * above(n) for wi, n in zip(w, nodes, strict=True))
            )
        return total

    first = mean(lambda x: 1.0, low)
    second = mean(lambda x: 2 * (x - centre), (low - centre) ** 2)
    law = ClampedNoise(noise, *where, bounds)
    bias = law.bias()[0]
    assert bias == pytest.approx(first - centre, rel=1e-9, abs=1e-12)
    spread = law.variance()[0]
    assert spread == pytest.approx(second - (first - centre) ** 2, rel=1e-7)
    for truth in (centre, low, high, 0.7, -0.2, -4.0, 5.5):
        want = mean(lambda x, t=truth: np.sign(x - t), abs(low - truth), (truth,))
        assert law.expected_error(np.array([truth]))[0] == pytest.approx(want, rel=1e-8)
    assert law.expected_error(where[0])[0] == sum(law.sides())[0]


@each
def test_no_scale_is_no_noise(noise):
    centres, scales = np.array([0.5, 0.0, 0.5]), np.array([0.0, 0.0, 5e-324])
    law = ClampedNoise(noise, centres, scales, (0.0, 2.0))
    errors = law.expected_error(centres)
    assert errors.tolist()[:2] == [0.0, 0.0]
    assert errors[2] <= 1e-19
    np.testing.assert_allclose(law.variance(), 0, atol=1e-15)
    truths = np.array([0.75, 3.0, -1.0])
    np.testing.assert_allclose(law.expected_error(truths), [0.25, 3.0, 1.5], rtol=1e-15)
