"""Peers for medians by group, in NumPy: all groups at once, or one after the other.

They draw from the exponential mechanism on the gaps between records in floats, like the peers for
one data set: gap i of n records has weight length * exp(-epsilon * |i - n/2|). The keys of peers
are codes of groups, which they need not look up in a list.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..harness.workload import DRAW_SEED, Call, FloatArray, IntArray
from ..numbers.rivals import windowed
from .workload import GroupWork

Rows = tuple[IntArray, FloatArray]


def shuffled(work: GroupWork) -> Callable[[], Rows]:
    """Return rows in any order."""
    keys, records = work.keys, work.records
    return lambda: (keys, records)


def segmented(work: GroupWork) -> Callable[[], Rows]:
    """Return rows in the order of groups: keys are numbers that are repeated by offsets."""
    offsets, records = work.offsets, work.ragged
    return lambda: (np.repeat(np.arange(work.rows), np.diff(offsets)), records)


def packed(work: GroupWork, rows: Any = shuffled) -> Call:
    """Tuned by hand: sort words with the group in the high bits and the record in the low bits.

    Records have 46 bits here. Then one cumulative sum over the weights of all groups is searched
    once. Draws of a group with weights below 1e-16 of all others' would be wrong. Arrays are
    reused.
    """
    given, groups, rng = rows(work), work.rows, np.random.default_rng(DRAW_SEED)
    low, high = work.bounds
    bits = 63 - (groups - 1).bit_length()
    scale, mask = (2.0**bits - 1) / (high - low), (1 << bits) - 1
    n = work.records.size
    words, gaps, weights = np.empty(n + groups, np.int64), *(np.empty(n + groups) for _ in "gw")
    floors = np.arange(groups + 1) << bits

    def call() -> FloatArray:
        keys, records = given()
        places = np.subtract(np.clip(records, low, high, out=weights[:n]), low, out=weights[:n])
        places *= scale
        np.left_shift(keys, bits, out=words[:n])
        words[:n] += places.astype(np.int64)
        words[n:] = floors[:-1]  # the lower bound, which begins a group
        words.sort()
        counts = np.bincount(keys, minlength=groups) + 1
        ends = np.cumsum(counts)
        starts = ends - counts
        np.subtract(words[1:], words[:-1], out=gaps[:-1])
        gaps[ends - 1] = floors[1:] - words[ends - 1]
        np.subtract(
            np.arange(n + groups), np.repeat(starts + (counts - 1) / 2, counts), out=weights
        )
        np.abs(weights, out=weights)
        np.multiply(weights, -work.epsilon, out=weights)
        np.exp(weights, out=weights)
        np.multiply(weights, gaps, out=weights)
        sums = np.cumsum(weights, out=weights)
        before = np.where(starts > 0, sums[starts - 1], 0.0)
        at = np.searchsorted(sums, before + rng.random(groups) * (sums[ends - 1] - before), "right")
        np.clip(at, starts, ends - 1, out=at)
        return low + ((words[at] & mask) + rng.random(groups) * gaps[at]) / scale

    return call


def one_group(work: GroupWork) -> Callable[[FloatArray], float]:
    """Return a function that draws the median of one group."""
    return windowed(work.bounds, work.epsilon, int(np.diff(work.offsets).max()))


def looped_segments(work: GroupWork) -> Call:
    """Draw for group after group, with given offsets."""
    records, median = work.ragged, one_group(work)
    pairs = list(pairwise(work.offsets.tolist()))
    return lambda: np.array([median(records[first:last]) for first, last in pairs])


def looped(work: GroupWork) -> Call:
    """Draw for group after group, once SciPy has sorted records by group, by counting."""
    from scipy.sparse import csr_array

    median = one_group(work)
    one_a_row = np.arange(work.records.size + 1)
    shape = work.records.size, work.rows

    def call() -> FloatArray:
        columns = csr_array((work.records, work.keys, one_a_row), shape=shape).tocsc()
        records, pairs = columns.data, pairwise(columns.indptr.tolist())
        return np.array([median(records[first:last]) for first, last in pairs])

    return call
