"""Peers for many simulated medians: one data set and many draws, or many data sets.

The law is that of `rivals.py`: gap i of n records has weight length *
exp(-epsilon * |i - n/2|), and a draw is uniform in its gap. All of them sort the records once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..harness.workload import DRAW_SEED, Call, FloatArray, Generator, IntArray
from .rivals import UNDERFLOW, clamped
from .workload import STUDY, NumberWork


def ordered(work: NumberWork) -> FloatArray:
    """Every data set clamped, in order, between the bounds."""
    x = work.records.reshape(work.rows, work.k)
    knots = np.empty((work.rows, work.k + 2))
    knots[:, 0], knots[:, -1] = work.bounds
    inner = knots[:, 1:-1]
    np.clip(x, *work.bounds, out=inner)
    inner.sort(axis=1)
    return knots


def counted(work: NumberWork, *, shuffled: bool) -> Call:
    """All at once by how often each gap comes: shuffled, or in order, which is less than draws."""
    rng, shape = np.random.default_rng(DRAW_SEED), (work.rows, work.size)
    places = np.arange(work.rows * (work.k + 2)).reshape(work.rows, -1)[:, :-1].ravel()

    def one(knots: FloatArray, gaps: FloatArray, epsilon: float) -> FloatArray:
        weights = gaps * rank_weights(work.k, epsilon)
        weights /= weights.sum(axis=1, keepdims=True)
        place = np.repeat(places, rng.multinomial(work.size, weights).ravel()).reshape(shape)
        if shuffled:
            rng.permuted(place, axis=1, out=place)
        flat = knots.ravel()
        low = flat[place]
        return low + (flat[place + 1] - low) * rng.random(shape)

    return lambda: every_epsilon(work, one)


def rank_weights(n: int, epsilon: float) -> FloatArray:
    """exp(-epsilon * |i - n/2|) of every gap."""
    weights: FloatArray = np.exp(-epsilon * np.abs(np.arange(n + 1) - n / 2))
    return weights


def every_epsilon(
    work: NumberWork, one: Callable[[FloatArray, FloatArray, float], FloatArray]
) -> list[FloatArray]:
    """Draws for each epsilon of the study, from records that are sorted once."""
    knots = ordered(work)
    gaps = np.diff(knots, axis=1)
    return [one(knots, gaps, epsilon) for epsilon in STUDY]


def gaps_that_count(
    work: NumberWork, knots: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One data set's gaps whose weights are above 0: left ends, lengths, weights."""
    sorted_ = clamped(work.records, work.bounds, knots)
    middle, reach = work.k // 2, int(UNDERFLOW / work.epsilon) + 1
    first, last = max(middle - reach, 0), min(middle + reach, work.k) + 1
    gaps = np.diff(sorted_[first : last + 1])
    ranks = np.abs(np.arange(first, last) - work.k / 2)
    return sorted_[first:last], gaps, gaps * np.exp(-work.epsilon * ranks)


def _many(work: NumberWork, draw: Callable[[FloatArray, Generator], IntArray]) -> Call:
    rng, knots = np.random.default_rng(DRAW_SEED), np.empty(work.k + 2)

    def call() -> FloatArray:
        low, gaps, weights = gaps_that_count(work, knots)
        gap = draw(weights, rng)
        return low[gap] + gaps[gap] * rng.random(work.size)

    return call


def many_choice(work: NumberWork) -> Call:
    """Many draws of one data set by `Generator.choice`."""

    def draw(weights: FloatArray, rng: Generator) -> IntArray:
        return rng.choice(weights.size, size=work.size, p=weights / weights.sum())

    return _many(work, draw)


def many_cumsum(work: NumberWork) -> Call:
    """The same by a search in the cumulated weights."""

    def draw(weights: FloatArray, rng: Generator) -> IntArray:
        sums = np.cumsum(weights)
        return np.searchsorted(sums, rng.random(work.size) * sums[-1], side="right")

    return _many(work, draw)


def many_alias(work: NumberWork) -> Call:
    """The same by SciPy's alias urn."""
    from scipy.stats.sampling import DiscreteAliasUrn

    def draw(weights: FloatArray, rng: Generator) -> IntArray:
        gaps: IntArray = DiscreteAliasUrn(weights, random_state=rng).rvs(work.size)
        return gaps

    return _many(work, draw)
