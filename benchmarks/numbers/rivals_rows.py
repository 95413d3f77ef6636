"""Peers for many simulated medians: one data set and many draws, or many data sets.

The law is that of `rivals.py`: gap i of n records has weight length *
exp(-epsilon * |i - n/2|), and a draw is uniform in its gap. All of them sort the records once.
"""

from __future__ import annotations

import numpy as np

from ..harness.workload import DRAW_SEED, Call, FloatArray
from .rivals import UNDERFLOW, clamped
from .workload import STUDY, NumberWork


def counted(work: NumberWork) -> Call:
    """Draw all at once: the number of draws of each gap, then a shuffle."""
    rng, shape = np.random.default_rng(DRAW_SEED), (work.rows, work.size)
    places = np.arange(work.rows * (work.k + 2)).reshape(work.rows, -1)[:, :-1].ravel()
    from_middle = np.abs(np.arange(work.k + 1) - work.k / 2)

    def draws(knots: FloatArray, gaps: FloatArray, epsilon: float) -> FloatArray:
        weights = gaps * np.exp(-epsilon * from_middle)
        weights /= weights.sum(axis=1, keepdims=True)
        place = np.repeat(places, rng.multinomial(work.size, weights).ravel()).reshape(shape)
        rng.permuted(place, axis=1, out=place)
        flat = knots.ravel()
        low = flat[place]
        return low + (flat[place + 1] - low) * rng.random(shape)

    def call() -> list[FloatArray]:
        knots = np.empty((work.rows, work.k + 2))
        knots[:, 0], knots[:, -1] = work.bounds
        inner = knots[:, 1:-1]
        np.clip(work.records, *work.bounds, out=inner)
        inner.sort(axis=1)
        gaps = np.diff(knots, axis=1)
        return [draws(knots, gaps, epsilon) for epsilon in STUDY]

    return call


def raced(work: NumberWork) -> Call:
    """Draw once for each row: all gaps of a row race, with one exponential each."""
    rng, knots = np.random.default_rng(DRAW_SEED), np.empty((work.rows, work.k + 2))
    knots[:, 0], knots[:, -1] = work.bounds
    weights = np.exp(-work.epsilon * np.abs(np.arange(work.k + 1) - work.k / 2))
    rows = np.arange(work.rows)

    def call() -> FloatArray:
        inner = knots[:, 1:-1]
        np.clip(work.records, *work.bounds, out=inner)
        inner.sort(axis=1)
        gaps = np.diff(knots, axis=1)
        times = rng.standard_exponential(gaps.shape)
        with np.errstate(divide="ignore"):  # a gap without weight never arrives
            times /= gaps * weights
        place = np.argmin(times, axis=1)
        draws: FloatArray = knots[rows, place] + gaps[rows, place] * rng.random(work.rows)
        return draws

    return call


def many_alias(work: NumberWork) -> Call:
    """Draw many times from one data set by SciPy's alias urn of the gaps with weights above 0."""
    from scipy.stats.sampling import DiscreteAliasUrn

    rng, knots = np.random.default_rng(DRAW_SEED), np.empty(work.k + 2)
    middle, reach = work.k // 2, int(UNDERFLOW / work.epsilon) + 1
    first, last = max(middle - reach, 0), min(middle + reach, work.k) + 1
    weights = np.exp(-work.epsilon * np.abs(np.arange(first, last) - work.k / 2))

    def call() -> FloatArray:
        window = clamped(work.records, work.bounds, knots)[first : last + 1]
        gaps = np.diff(window)
        place = DiscreteAliasUrn(gaps * weights, random_state=rng).rvs(work.size)
        draws: FloatArray = window[place] + gaps[place] * rng.random(work.size)
        return draws

    return call
