"""Are our exp and log within 2 ulp, and the same bits on every CPU?"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tests.doors.kernels import logexp
from tests.doors.reference import exact as exact_twin
from tests.support.each import each

POINTS = 1_000_000
EXTENDED = np.finfo(np.longdouble).nmant >= 63  # x87: checks a million points in a second
LN2 = np.log(2.0)


def exp_points() -> np.ndarray:
    """Random points, the ties of the range reduction and their neighbours, and the ends."""
    rng = np.random.default_rng(1)
    n = np.arange(-1021, 1023)
    ties = (n + 0.5) * LN2
    near = [ties + ulps * np.spacing(ties) for ulps in (-2, -1, 0, 1, 2)]
    ends = [-708.0, np.nextafter(-708.0, 0), 709.0, 0.0, -0.0, 5e-324, -5e-324, 1e-300]
    points = np.concatenate([n * LN2, *near, ends, rng.uniform(-708, 709, POINTS // 2)])
    small = rng.uniform(-1, 1, POINTS - points.size) * 10.0 ** rng.integers(-20, 1)
    points = np.concatenate([points, small])
    return points[(points >= -708.0) & (points <= 709.0)]


def log_points() -> np.ndarray:
    """Random points, powers of two and sqrt(2) times them, near 1, and the ends."""
    rng = np.random.default_rng(2)
    powers = 2.0 ** np.arange(-1074, 1024)
    roots = (powers[60:-1] * np.sqrt(2.0)).repeat(5).reshape(-1, 5)
    roots += np.arange(-2, 3) * np.spacing(roots)
    near_one = 1.0 + rng.uniform(-1, 1, 100_000) * 10.0 ** rng.integers(-16, 0, 100_000)
    ends = [5e-324, 2.2e-308, np.finfo(float).max, 1.0]
    rest = POINTS - powers.size - roots.size - near_one.size - len(ends)
    random = np.exp2(rng.uniform(-1074, 1024, rest))
    return np.concatenate([powers, roots.ravel(), near_one, ends, random])


def ulps(got: np.ndarray, exact: np.ndarray) -> float:
    """The largest error in units of the last place of the result."""
    unit = np.spacing(np.abs(got.astype(np.float64)))
    return float((np.abs(got - exact) / unit).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "twin", "points"),
    [(logexp.exp_fill, np.exp, exp_points()), (logexp.log_fill, np.log, log_points())],
    ids=["exp", "log"],
)
def test_a_million_points_are_within_two_ulp(kernel, twin, points):
    out = np.empty(points.size)
    kernel(points, out)
    if EXTENDED:
        exact = twin(points.astype(np.longdouble))
        assert ulps(out.astype(np.longdouble), exact) < 2
        assert ulps((out * (1 + 3 * 2.0**-52)).astype(np.longdouble), exact) > 2  # can fail
    with mpmath.workprec(120):
        slow = mpmath.exp if kernel is logexp.exp_fill else mpmath.log
        for i in range(0, points.size, 499):
            error = abs(mpmath.mpf(out[i]) - slow(mpmath.mpf(points[i])))
            assert error <= 2 * abs(np.spacing(out[i]))


def test_special_values():
    out = np.empty(7)
    logexp.exp_fill(np.array([np.nan, np.inf, -np.inf, -708.1, 709.1, 0.0, -0.0]), out)
    assert np.array_equal(out, [np.nan, np.inf, 0, 0, np.inf, 1, 1], equal_nan=True)
    logexp.log_fill(np.array([0.0, 1.0, 5e-324]), out[:3])
    assert out[:3].tolist() == [-np.inf, 0.0, float(mpmath.log(mpmath.mpf(5e-324)))]


@each("x", [0.0, 1e-9, 0.3466, 3.7, 40.0, 700.0])
@each("precision", [20, 64, 300])
def test_exact_exp_bounds_hold_and_are_tight(x, precision):
    lo, hi = exact_twin.exp_bounds(Fraction(x), precision)
    with mpmath.workprec(precision + 1200):
        exact = mpmath.exp(-mpmath.mpf(x)) * mpmath.mpf(2) ** precision
        assert lo <= exact <= hi
    assert hi - lo <= 3


@pytest.mark.slow
def test_exact_exp_bounds_of_random_rationals():
    rng = np.random.default_rng(3)
    for _ in range(3000):
        gamma = Fraction(
            int(rng.integers(0, 2**62)), int(rng.integers(1, 2 ** rng.integers(1, 62)))
        )
        precision = int(rng.integers(20, 600))
        lo, hi = exact_twin.exp_bounds(gamma, precision)
        with mpmath.workprec(precision + 400):
            exact = mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator)
            exact *= mpmath.mpf(2) ** precision
            assert lo <= exact <= hi
        assert hi - lo <= 3


@each("x", [5e-324, 0.1, 0.70710678, 1.0, 1.5, 2.0, 3e8, 1.7e308])
def test_exact_log_bounds_hold_and_are_tight(x):
    lo, hi = exact_twin.log_bounds(Fraction(x), 100)
    with mpmath.workprec(2000):
        exact = mpmath.log(mpmath.mpf(x)) * mpmath.mpf(2) ** 100
        assert lo <= exact <= hi
    assert hi - lo <= 4


# The loops over whole arrays, which are packed: their code differs most between CPUs.
PACKED = """
import hashlib, numpy as np
import fastexp as fx
from tests.doors.kernels import logexp
rng = np.random.default_rng(11)
digest = hashlib.blake2b(digest_size=16)
x = rng.uniform(-710, 710, 100_003)
out = np.empty(x.size)
logexp.exp_fill(x, out); digest.update(out.tobytes())
logexp.log_fill(np.abs(x), out); digest.update(out.tobytes())
u = 20 * rng.random(5003)
base = np.where(rng.random(5003) < 0.1, 0, np.ldexp(u, rng.integers(-35, 25, 5003)))
for m in (fx.Exponential(1.0, 1.0), fx.Exponential(1.0, 1.0, base=base)):
    digest.update(m.law(u).probabilities.tobytes() + m.law(u).log_probabilities.tobytes())
    digest.update(m.sample(u, 9001, rng=1).tobytes() + m.sample(u, 7, rng=2).tobytes())
    digest.update(m.sample(u.astype(np.int64), 3, rng=1).tobytes())
print(digest.hexdigest())
"""
ALL = """
plain, flip, top = fx.Exponential(1.0, 1.0), fx.PermuteAndFlip(1.0, 1.0), fx.TopK(9, 1.0, 1.0)
for shape in ((130, 7), (9, 700), (3, 2500)):
    v = 20 * rng.random(shape)
    for draws in (plain.sample(v, rng=1), plain.sample(v, 600, rng=1), flip.sample(v, 40, rng=1),
                  plain.sample(v, 3, rng=1, method="gumbel")):
        digest.update(draws.tobytes())
digest.update(plain.sample(u, rng=1).to_bytes(8, "little") + top.sample(u, 20, rng=1).tobytes())
digest.update(flip.law(u).probabilities.tobytes())
x = np.round(rng.normal(size=20_000), 3)
for m in (fx.Median(1.0, (-4, 4)), fx.Quantile(0.9, 0.1, (-4, 4), step=0.125, widen=0.25)):
    for draws in (m.sample(x, 5000, rng=1), m.sample(x, 3, rng=1),
                  m.sample(x.reshape(20, 1000), 50, rng=1)):
        digest.update(draws.tobytes())
for m, data in ((fx.Price(1.0, (0, 4)), np.abs(x)), (fx.Laplace(1.0, 1.0, step=0.01), 0.123)):
    digest.update(m.sample(data, 5000, rng=1).tobytes())
ends = [0, 0, 7, 40, 700, 20_000]
for m in (fx.Median(1.0, (-4, 4)), fx.Price(1.0, (0, 4), step=0.5)):
    digest.update(m.sample(x, 40, offsets=ends, rng=1).tobytes())
print(digest.hexdigest())
"""
PINNED = ["347db7e9a1de5f5dc02b04a4d8b23bf7", "22bb161ed90cdfa0e29e70a6a9543c48"]
AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma,+bmi,+bmi2,+sse4.2"}
SSE2 = {"NUMBA_CPU_NAME": "generic"}


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "code", "pinned"),
    [({}, PACKED + ALL, PINNED), (AVX2, PACKED, PINNED[:1]), (SSE2, PACKED + ALL, PINNED)],
    ids=["native", "AVX2", "SSE2"],
)
def test_bits_do_not_depend_on_the_cpu(target, code, pinned):
    """exp, log, laws, and draws by both kernels: hashes, pinned.

    What is compiled for a CPU that is not the one here takes most of the time. Between the
    baseline and a CPU with 512 bits, AVX2 has little of its own.
    """
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **target},
        capture_output=True,
        text=True,
        check=True,
        timeout=1800,  # where nothing is cached
    )
    assert run.stdout.split() == pinned


def test_hashes_notice_one_bit():
    a, b = np.ones(3), np.ones(3)
    b[1] = np.nextafter(1, 2)
    assert hashlib.blake2b(a.tobytes()).digest() != hashlib.blake2b(b.tobytes()).digest()
