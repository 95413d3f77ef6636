"""Does each mechanism keep its promise? Exact probabilities on all small neighbouring data."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from fastexp.privacy import count_rate, selection_guarantee, selection_rate
from tests.doors.kernels import envelope
from tests.doors.randomness import streams
from tests.doors.selection import draw
from tests.support.each import each
from tests.twins import selection

EPSILONS = (0.1, 1.0, 4.0)
SLACK = 1e-12


def log_ratios(rate: Fraction, first: tuple, second: tuple, base=None) -> np.ndarray:
    """ln P(r | first) - ln P(r | second) for all outputs r."""
    base = base or [Fraction(1)] * len(first)
    laws = [selection.probabilities(rate, [Fraction(u) for u in x], base) for x in (first, second)]
    return np.array([math.log(p / q) for p, q in zip(*laws, strict=True)])


def worst(rate: Fraction, pairs, base=None) -> tuple[float, float]:
    """The worst log-ratio and the worst span of log-ratios over neighbouring utilities."""
    all_ratios = [log_ratios(rate, *pair, base) for pair in pairs]
    return (
        max(float(np.abs(r).max()) for r in all_ratios),
        max(float(r.max() - r.min()) for r in all_ratios),
    )


def count_pairs(k: int, n: int, neighbors: str):
    """All pairs of neighbouring count vectors with up to n records over k candidates."""
    for counts in itertools.product(range(n + 1), repeat=k):
        if sum(counts) > n:
            continue
        for i in range(k):
            if neighbors == "add-remove":
                yield counts, (*counts[:i], counts[i] + 1, *counts[i + 1 :])
            elif counts[i]:
                for j in set(range(k)) - {i}:
                    moved = list(counts)
                    moved[i] -= 1
                    moved[j] += 1
                    yield counts, tuple(moved)
                gone = list(counts)  # a record may also change to a value that is not a candidate
                gone[i] -= 1
                yield counts, tuple(gone)


@pytest.mark.slow
@each("epsilon", EPSILONS)
@each("neighbors", ["add-remove", "replace"])
@each("k", [2, 3])
def test_most_common_keeps_its_promise_and_wastes_little(epsilon, neighbors, k):
    promise = fx.MostCommon(epsilon, range(k), neighbors=neighbors).guarantee
    ratio, span = worst(count_rate(epsilon, neighbors), count_pairs(k, 4, neighbors))
    assert ratio <= promise.epsilon + SLACK
    assert span <= promise.bounded_range + SLACK
    assert span >= 0.99 * promise.bounded_range


@pytest.mark.slow
@each("epsilon", EPSILONS)
def test_counts_are_not_monotonic_under_replace(epsilon):
    """Power: the warning in the docstring is true, the check notices a doubled epsilon."""
    rate = selection_rate(epsilon, 1.0, monotonic=True)
    _, span = worst(rate, count_pairs(3, 4, "replace"))
    assert span > 1.9 * epsilon


@pytest.mark.slow
@each("epsilon", EPSILONS)
@each("base", [None, [Fraction(1), Fraction(3), Fraction(1, 7)]])
def test_exponential_keeps_its_promise(epsilon, base):
    """Any change of up to sensitivity in each utility; monotonic: all in one direction."""
    start = [(0, 0, 0), (0, 1, 3), (5, 5, -2)]
    shifts = list(itertools.product((-2, 0, 2), repeat=3))
    rises = list(itertools.product((0, 2), repeat=3))
    for monotonic, moves in [(False, shifts), (True, rises)]:
        promise = fx.Exponential(epsilon, 2.0, monotonic=monotonic).guarantee
        pairs = [
            (u, tuple(a + b for a, b in zip(u, move, strict=True))) for u in start for move in moves
        ]
        ratio, span = worst(selection_rate(epsilon, 2.0, monotonic), pairs, base)
        assert ratio <= promise.epsilon + SLACK
        assert 0.99 * promise.bounded_range <= span <= promise.bounded_range + SLACK


@each("epsilon", EPSILONS)
def test_rho_bounds_the_divergences(epsilon):
    """zCDP: the Renyi divergence of order a is at most a * rho, for neighbouring counts."""
    rho = selection_guarantee(epsilon, None, "").rho
    rate = count_rate(epsilon, "add-remove")
    for first, second in count_pairs(2, 3, "add-remove"):
        p, q = (
            np.array(
                [
                    float(x)
                    for x in selection.probabilities(rate, [*map(Fraction, u)], [Fraction(1)] * 2)
                ]
            )
            for u in (first, second)
        )
        for a in (1.01, 2.0, 5.0, 20.0):
            divergence = math.log(float((p**a * q ** (1 - a)).sum())) / (a - 1)
            assert divergence <= a * rho + SLACK


NEIGHBOURS = [
    (np.array([0.0, 5.0, 3.0]), np.array([1.0, 4.0, 3.5])),
    (np.zeros(2000), np.linspace(-1, 1, 2000)),
    (np.arange(5000.0), np.arange(5000.0) + np.tile([1.0, -1.0], 2500)),
    (np.array([0, 2**53], dtype=np.int64), np.array([1, 2**53 + 1], dtype=np.int64)),
]


@pytest.mark.parametrize("pair", NEIGHBOURS, ids=lambda p: f"k={p[0].size}")
def test_the_same_words_on_neighbours_take_the_same_branches(pair, monkeypatch):
    """Record and replay: equal words are consumed, equal kernels called with equal shapes."""
    m = fx.Exponential(1.0, 1.0)

    def trace(utilities, seed):
        supply, seen = np.random.default_rng(seed), []

        def urandom(count):
            seen.append(("words", count))
            return supply.bytes(count)

        real = envelope.envelope_block.__call__

        def one(*args):
            status = real(*args)
            seen.append(("round", [getattr(a, "shape", a) for a in args], status >= 0))
            return status

        monkeypatch.setattr(streams.os, "urandom", urandom)
        monkeypatch.setattr(envelope, "envelope_block", one)
        result = m.release(utilities)
        monkeypatch.undo()
        return seen, type(result)

    for seed in range(50):
        assert trace(pair[0], seed) == trace(pair[1], seed)

    # Power: a release that takes a word more for some data is noticed.
    def leaky(bits, *rest):
        if bits[0] == pair[0].view(np.uint64)[0]:
            streams.os_words(1)
        return release(bits, *rest)

    release = draw.release
    monkeypatch.setattr(draw, "release", leaky)
    assert trace(pair[0], 1) != trace(pair[1], 1)
