"""Do samplers draw from the exact law, and would a wrong one be noticed?

Each test fails with a probability of at most 1e-9 for a right sampler; seeds are fixed.
"""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.kernels import alias
from tests.doors.randomness import row_stream, seeds_of
from tests.doors.selection import Table, alias_table
from tests.support.cases import CASES, IDS, Case
from tests.support.checks import sampler as checks
from tests.support.each import each
from tests.support.goodness import fits, two_sample_fits
from tests.twins import selection

pytestmark = pytest.mark.statistical

N = 1_000_000  # rejects an epsilon wrong by 2 % (see the power test)
COARSE = 2_500  # draws at forced coarseness, where each costs an exact test

TEN = Case("ten", fx.Exponential(1.0, 1.0), np.array([9.0, 8, 7, 6.5, 6, 5, 4, 3, 2, 0]))


@each("case", CASES, ids=IDS)
def test_many_draws_follow_the_law(case):
    probabilities = case.probabilities()
    draws = case.mechanism.sample(case.utilities, 200_000, rng=1)
    if probabilities.max() > 1 - 1e-9:
        assert (draws == probabilities.argmax()).all()
    else:
        assert fits(draws, probabilities)


@each("scale", [1.0, 1.02, 0.98])
@each("what", ["epsilon", "sensitivity"])
def test_power_two_percent_is_noticed(what, scale):
    """The right epsilon and sensitivity are accepted, 2 % more or less rejected."""
    wrong = {"epsilon": 1.0, "sensitivity": 1.0}
    wrong[what] *= scale
    draws = fx.Exponential(**wrong).sample(TEN.utilities, N, rng=2)
    assert fits(draws, TEN.probabilities()) == (scale == 1.0)


@each("precision", [0, 1, 3, 6, 20])
@each("case", [CASES[0], CASES[15]], ids=lambda c: c.name)
def test_the_envelope_is_exact_however_coarse(case, precision):
    """With few fractional bits the exact test decides most draws, and the law is the same."""
    scan = checks.scanned(case, precision)
    draws = checks.scan_draws(scan, COARSE, row_stream(3, precision))
    assert fits(draws, case.probabilities())


@pytest.mark.parametrize(
    "shape", [(8, 0), (7, 1), (6, 3), pytest.param((5, 6), marks=pytest.mark.fast), (4, 20)]
)
@pytest.mark.parametrize("case", [CASES[0], CASES[15]], ids=lambda c: c.name)
def test_tables_are_exact_however_coarse(case, shape):
    scan = checks.scanned(case, 50)
    table, seeds = Table(scan, *shape), seeds_of(4, np.zeros(1, np.uint64))
    draws, room = np.empty(COARSE, np.int64), alias.work_size(scan.bits.size, shape[0])
    work = np.empty(room, np.int64)
    alias_table.fill(scan.bits, scan.kind, scan.weighting, seeds, shape, 0, draws, work)
    table.settle(draws, row_stream(4, 0))
    assert fits(draws, case.probabilities())
    slow = table.weights[case.utilities.size] / table.cells
    assert slow > (0.1 if shape[1] < 6 else 0)  # the exact path was really on the way


@each("kind", ["float", "int", "uint", "base"])
@each("precision", [0, 3, 20])
def test_many_blocks_are_exact_however_coarse(kind, precision):
    """Three blocks, the last one short: blocks are settled, and rounds are void, too."""
    rng = np.random.default_rng(13)
    u = np.round(6 * rng.random(2100))
    base = rng.integers(0, 3, 2100).astype(float)
    base[1024:2048] = 0  # a whole block without candidates
    m = fx.Exponential(1.0, 1.0, base=base if kind == "base" else None)
    u = u.astype({"int": np.int64, "uint": np.uint64}.get(kind, np.float64))
    draws = checks.scan_draws(checks.scanned(Case(kind, m, u), precision), 1000, row_stream(3, 0))
    probabilities = m.law(u).probabilities
    assert fits(draws // 100, probabilities.reshape(21, 100).sum(axis=1))
    values = u.astype(int)
    assert fits(values[draws], np.bincount(values, weights=probabilities))


def test_releases_follow_the_law():
    m, u = TEN.mechanism, TEN.utilities
    draws = np.array([m.release(u) for _ in range(100_000)])
    assert fits(draws, TEN.probabilities())


def test_single_samples_over_streams_follow_the_law():
    m, u = TEN.mechanism, TEN.utilities
    draws = np.array([m.sample(u, rng=5, streams=[i]) for i in range(30_000)])
    assert fits(draws, TEN.probabilities())


@pytest.mark.parametrize("size", [20_000, 3_000_000])
def test_many_blocks_follow_the_law(size):
    """5,000 candidates in five blocks, by scans (20,000 draws) and by tables."""
    rng = np.random.default_rng(7)
    u = 8 * rng.random(5000)
    m = fx.Exponential(1.0, 1.0)
    law = m.law(u)
    if size == 20_000:
        scan = checks.scanned(Case("blocks", m, u), 50)
        draws = checks.scan_draws(scan, size, row_stream(1, 0))
    else:
        draws = m.sample(u, size, rng=1)
    blocks, p = draws // 50, law.probabilities.reshape(100, 50).sum(axis=1)
    assert fits(blocks, p)


def test_consecutive_draws_and_streams_are_independent():
    m, u = fx.Exponential(2.0, 1.0), np.array([1.0, 0.5, 0.0])
    p = m.law(u).probabilities
    pairs = np.outer(p, p).ravel()
    draws = m.sample(u, N, rng=8)
    assert fits(3 * draws[:-1:2] + draws[1::2], pairs)
    other = m.sample(u, N, rng=8, streams=[1])
    assert fits(3 * draws + other, pairs)
    assert not fits(3 * draws + draws, pairs)  # power


def canonne_kamath_steinke(case: Case, size: int, rng: np.random.Generator) -> np.ndarray:
    """An independent exact sampler: propose uniformly, accept by coins of bias exp(-gamma).

    Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020),
    Algorithm 1, on rationals: the coins are comparisons of integers.
    """

    def coin(p: Fraction) -> bool:
        return int(rng.integers(0, p.denominator)) < p.numerator

    def exponential_coin(gamma: Fraction) -> bool:
        while gamma > 1:
            if not exponential_coin(Fraction(1)):
                return False
            gamma -= 1
        n = 1
        while coin(gamma / n):
            n += 1
        return n % 2 == 1

    values = [Fraction(u) for u in case.utilities.tolist()]
    gammas = [case.mechanism._weighting.rate * (max(values) - v) for v in values]
    counts = np.zeros(len(values), dtype=np.int64)
    while counts.sum() < size:
        i = int(rng.integers(0, len(values)))
        if exponential_coin(gammas[i]):
            counts[i] += 1
    return counts


@pytest.mark.slow
def test_an_independent_exact_sampler_agrees():
    rng = np.random.default_rng(9)
    counts = canonne_kamath_steinke(TEN, 20_000, rng)
    ours = np.bincount(TEN.mechanism.sample(TEN.utilities, 200_000, rng=10), minlength=10)
    assert two_sample_fits(counts, ours)
    wrong = fx.Exponential(1.2, 1.0).sample(TEN.utilities, 200_000, rng=10)
    assert not two_sample_fits(counts, np.bincount(wrong, minlength=10))


MUTANTS = {
    "low bits reused": lambda u, r, coin: (u, r, 0),
    "wrong side of the search": lambda u, r, coin: ((u + 1) % 5, r, coin),
    "always accepted": lambda u, r, coin: (u, -1, coin),
    "coin below the bound": lambda u, r, coin: (u, r + 1, coin),
}


def rejection_sampler(case: Case, size: int, mutate) -> np.ndarray:
    """The sampler's idea in Python, with a place to break it."""
    scan = checks.scanned(case, 2)
    uppers = scan.work[: case.utilities.size].tolist()
    words = iter(np.random.default_rng(11).integers(0, 2**64, 60 * size, dtype=np.uint64).tolist())
    out = []
    while len(out) < size:
        picked = selection.envelope_round(uppers, next(words) << 64 | next(words))
        assert picked is not None
        index, rho, coin = mutate(*picked, next(words))
        if rho < 0 or scan.accepts(index, scan.scale, rho, lambda c=coin: c):
            out.append(index)
    return np.array(out)


@each("name", [None, *MUTANTS])
def test_broken_samplers_are_noticed(name):
    mutate = MUTANTS[name] if name else lambda u, r, coin: (u, r, coin)
    draws = rejection_sampler(CASES[0], COARSE, mutate)
    assert fits(draws, CASES[0].probabilities()) == (name is None)


def test_operating_system_words_are_used_whole(monkeypatch):
    """A release takes its bits from os.urandom and nowhere else: same bytes, same draw."""
    supply = np.random.default_rng(12).bytes(10**6)
    position = 0

    def urandom(count):
        nonlocal position
        position += count
        return supply[position - count : position]

    monkeypatch.setattr(os, "urandom", urandom)
    m, u = TEN.mechanism, TEN.utilities
    first = [m.release(u) for _ in range(500)]
    used, position = position, 0
    assert [m.release(u) for _ in range(500)] == first
    assert used == position == 500 * 16
