"""Is a noisy maximum right: its noise to the far tail, its threshold, and the law of its draws?"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import fastexp as fx
from tests.doors.kernels import gumbel
from tests.doors.randomness import row_stream, seeds_of
from tests.doors.selection import Rows, Weighting, plan
from tests.messages import raises
from tests.proofs.interpreted.all import LONG_DRAW
from tests.support.cases import CASES, IDS
from tests.support.checks import selection as checks
from tests.support.each import each
from tests.support.goodness import fits, two_sample_fits

TEN = np.array([9.0, 8, 7, 6.5, 6, 5, 4, 3, 2, 0])
LAW = fx.Exponential(1.0, 1.0).law(TEN).probabilities
N = 1_000_000  # rejects an epsilon wrong by 2 %


def mpmath_share(name: str, g: float) -> Fraction:
    """P(noise > g) by mpmath, in 60 digits."""
    with mpmath.workdps(60):
        x = mpmath.mpf(g)
        below = mpmath.exp(x) / 2
        shares = {
            "gumbel": -mpmath.expm1(-mpmath.exp(-x)),
            "exponential": mpmath.exp(-x),
            "laplace": mpmath.exp(-x) / 2 if g > 0 else 1 - below,
        }
        return Fraction(*mpmath.libmp.to_rational(shares[name]._mpf_))


def test_tails_have_full_relative_precision():
    """P(noise > g) for g up to 60; 53 bits would end at 36.7, one word at 44.4."""
    gaps = [-3.7, -3.0, -1.0, -0.1, 0.0, 1e-9, 0.2, 1.0, 1.2462, 1.3862, 5.0, 20.0, 30.5]
    checks.tails_are_right([*gaps, 36.6, 36.8, 40.0, 44.0, 44.5, 50.0, 60.0], mpmath_share)


def test_power_a_billionth_of_a_tail_is_noticed():
    with pytest.raises(AssertionError):
        checks.tails_are_right([40.0], lambda name, g: mpmath_share(name, g) * (1 + 10**-9))


def test_noise_is_finite_and_falls():
    checks.noise_is_finite_and_falls(1)


@pytest.mark.slow
def test_thresholds_pass_by_no_winner():
    checks.thresholds_are_safe([*np.geomspace(1e-6, 90, 400), *np.linspace(0.1, 45, 200)])


@pytest.mark.slow
@each("size", [1, 2, 63, 64, 65, 1023, 1024, 1025, 3000])
def test_the_greatest_key_is_brute_force(size):
    checks.noisy_maxima_are_brute_force([size], 6)


@each("chosen", [2, 64, 65, 700])
def test_the_greatest_keys_in_order(chosen):
    rng = np.random.default_rng(chosen)
    for u in (5 * rng.random(3000), np.zeros(3000), np.round(rng.normal(0, 9, 1500))):
        for kind in checks.NOISES.values():
            weighting = Weighting(Fraction(3, 2), None)
            checks.noisy_max_is_brute_force(weighting, u, kind, chosen, 4, chosen)


def test_a_long_word_is_lengthened():
    """A draw known to have a word below 2**40: its noise is that of 128 bits."""
    stream, u = row_stream(1, 0), np.arange(64) / 8
    words = checks.stream_words(stream, LONG_DRAW, 0, 64)
    more = checks.stream_words(stream, LONG_DRAW, 1 << 32, 64)
    assert words.argmin() == 30
    assert words.min() < 2**40
    assert checks.noise(0, int(words[30]), int(more[30])) != checks.noise(0, int(words[30]), 0)
    draw, out = (gumbel.GUMBEL, LONG_DRAW, 64), np.empty(64, np.int64)
    args = u.view(np.uint64), 0, np.empty(0), 1.0, seeds_of(1, np.zeros(1, np.uint64))
    assert gumbel.gumbel_draw(*args, *draw, out, np.empty(1300, np.int64)) == 0
    keys = checks.keys(Weighting(Fraction(1), None), u, stream, LONG_DRAW, 0)
    assert out.tolist() == np.argsort(-keys).tolist()
    assert out[0] == 30  # a noise of 24.8


@pytest.mark.slow
def test_heaps_are_sorted():
    checks.heaps_are_sorted()


def test_too_coarse_keys_are_left_out():
    """Several winners where fewer lie within 2**20 nats: -1 for the whole row."""
    m, seeds = fx.TopK(2, 4.0, 1.0), seeds_of(1, np.arange(4, dtype=np.uint64))
    u = np.array([[0.0, 3.0, -1e7], [0.0, -2e6, -3e6], [5.0, 4.0, 3.0], [0.0, -(2.0**20), -1e9]])
    rows = Rows(u.view(np.uint64), 0, m._weighting)
    out = rows.noisy_max(seeds, 5, 1, 0, 2)
    assert (out[[1, 3]] == -1).all()
    assert set(out[0].ravel().tolist()) == {0, 1}
    assert (out[2] >= 0).all()


@pytest.mark.statistical
@each("case", CASES, ids=IDS)
def test_every_case_follows_the_law(case):
    draws = case.mechanism.sample(case.utilities, 100_000, rng=1, method="gumbel")
    probabilities = case.probabilities()
    if probabilities.max() > 1 - 1e-9:
        assert (draws == probabilities.argmax()).all()
    else:
        assert fits(draws, probabilities)


@pytest.mark.statistical
@each("scale", [1.0, 1.02, 0.98])
def test_power_two_percent_is_noticed(scale):
    draws = fx.Exponential(scale, 1.0).sample(TEN, N, rng=2, method="gumbel")
    assert fits(draws, LAW) == (scale == 1.0)


@pytest.mark.statistical
@pytest.mark.parametrize("size", [None, 4])
def test_rows_follow_the_law(size):
    u = np.tile(TEN, (60_000, 1))
    draws = fx.Exponential(1.0, 1.0).sample(u, size, rng=3, method="gumbel")
    assert draws.shape == ((60_000,) if size is None else (60_000, 4))
    assert fits(draws.ravel(), LAW)
    assert not fits(fx.Exponential(1.1, 1.0).sample(u, rng=3, method="gumbel"), LAW)


@pytest.mark.statistical
def test_many_blocks_follow_the_law_and_the_envelope():
    u = np.sort(8 * np.random.default_rng(7).random(3000))
    m = fx.Exponential(1.0, 1.0)
    p = m.law(u).probabilities.reshape(100, 30).sum(axis=1)
    draws = m.sample(u, 60_000, rng=1, method="gumbel") // 30
    assert fits(draws, p)
    other = m.sample(u, 60_000, rng=2, method="envelope") // 30
    counts = [np.bincount(x, minlength=100) for x in (draws, other)]
    assert two_sample_fits(*counts)
    wrong = fx.Exponential(1.3, 1.0).sample(u, 60_000, rng=1, method="gumbel") // 30
    assert not two_sample_fits(np.bincount(wrong, minlength=100), counts[1])


@pytest.mark.statistical
def test_consecutive_draws_and_rows_are_independent():
    m, u = fx.Exponential(2.0, 1.0), np.array([1.0, 0.5, 0.0])
    p = m.law(u).probabilities
    draws = m.sample(u, 300_000, rng=8, method="gumbel")
    assert fits(3 * draws[:-1:2] + draws[1::2], np.outer(p, p).ravel())
    rows = m.sample(np.tile(u, (100_000, 1)), rng=8, method="gumbel")
    assert fits(3 * rows[:-1:2] + rows[1::2], np.outer(p, p).ravel())
    assert not fits(3 * rows + rows, np.outer(p, p).ravel())


@each("size", [None, 5])
@each("k", [3, 1500])
def test_a_row_alone_gives_what_it_gives_among_others(k, size):
    u = 9 * np.random.default_rng(4).random((7, k))
    names = [5, 0, 2**63, 9, 1, 2**64 - 1, 3]
    how = {"rng": 6, "method": "gumbel"}
    m = fx.Exponential(1.0, 1.0)
    every = m.sample(u, size, streams=np.array(names, np.uint64), **how)
    for i, name in enumerate(names):
        alone = m.sample(u[i], size, streams=np.array([name], np.uint64), **how)
        assert np.array_equal(every[i], alone)


@pytest.mark.parametrize("threads", [2, 3, 0])
def test_threads_change_nothing(threads, monkeypatch):
    u = 9 * np.random.default_rng(4).random((7, 300))
    m, top = fx.Exponential(1.0, 1.0), fx.TopK(3, 3.0, 1.0)
    one = m.sample(u, 20, rng=1, method="gumbel"), top.sample(u, 20, rng=1)
    monkeypatch.setattr(plan, "THREADED_CANDIDATES", 1)
    assert (m.sample(u, 20, rng=1, method="gumbel", threads=threads) == one[0]).all()
    assert (top.sample(u, 20, rng=1, threads=threads) == one[1]).all()


def test_no_draws_and_bad_rows():
    m = fx.Exponential(1.0, 1.0)
    assert m.sample(TEN, 0, rng=1, method="gumbel").shape == (0,)
    bad = np.zeros((3, 4))
    bad[2, 3] = math.nan
    for u in (bad, bad[2], np.array([1.0, math.inf])):
        with raises("utilities that are finite"):
            m.sample(u, rng=1, method="gumbel")


def test_a_law_draws_what_its_mechanism_draws():
    m = fx.Exponential(1.0, 1.0)
    how = {"rng": 4, "method": "gumbel"}
    assert (m.law(TEN).sample(50, **how) == m.sample(TEN, 50, **how)).all()
