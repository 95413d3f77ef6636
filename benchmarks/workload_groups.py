"""What the cases of answers by group work on: rows with keys, and the exact laws of answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from .workload import EPSILON, SEED, Case, FloatArray, IntArray, Work

BOUNDS = (0.0, 10_000.0)


@dataclass(frozen=True, eq=False)
class GroupWork(Work):
    """`rows` groups of k records on average: each record has a random group."""

    epsilon: float = EPSILON
    bounds: tuple[float, float] = BOUNDS

    @cached_property
    def keys(self) -> IntArray:
        """The group of each record, in random order; every group has records."""
        keys = np.random.default_rng(SEED).integers(0, self.rows, self.rows * self.k)
        keys[:: self.k] = np.arange(self.rows)
        return keys

    @cached_property
    def records(self) -> FloatArray:
        """Lognormal records, a few of which are beyond the bounds."""
        return np.random.default_rng(SEED + 1).lognormal(7.0, 1.0, self.rows * self.k)

    @cached_property
    def offsets(self) -> IntArray:
        """Where the records of each group begin and end in `ragged`."""
        ends = np.cumsum(np.bincount(self.keys, minlength=self.rows))
        return np.concatenate([[0], ends]).astype(np.int64)

    @cached_property
    def ragged(self) -> FloatArray:
        """The records, group after group."""
        return self.records[np.argsort(self.keys, kind="stable")]

    @cached_property
    def starts(self) -> IntArray:
        """Where the gaps of each group begin: it has one more gap than records."""
        starts: IntArray = self.offsets[:-1] + np.arange(self.rows)
        return starts

    @cached_property
    def gaps(self) -> IntArray:
        """How many gaps each group has."""
        gaps: IntArray = np.diff(self.offsets) + 1
        return gaps

    @cached_property
    def in_order(self) -> FloatArray:
        """The clamped records of each group in order, group after group."""
        out = np.clip(self.ragged, *self.bounds)
        for first, last in pairwise(self.offsets.tolist()):
            out[first:last].sort()
        return out

    @cached_property
    def edges(self) -> tuple[FloatArray, FloatArray]:
        """The lower and the upper end of every gap of every group."""
        low, high = self.bounds
        lower = np.insert(self.in_order, self.offsets[:-1], low)
        return lower, np.insert(self.in_order, self.offsets[1:], high)

    @cached_property
    def signed(self) -> IntArray:
        """n - 2 i of every gap, where i of n records lie below."""
        below = np.arange(self.edges[0].size) - np.repeat(self.starts, self.gaps)
        signed: IntArray = np.repeat(self.gaps - 1, self.gaps) - 2 * below
        return signed

    @cached_property
    def moments_by_group(self) -> FloatArray:
        """Of the law of the median: mean and variance of |n - 2 i|, then of n - 2 i; (4, rows)."""
        lower, upper = self.edges
        p = (upper - lower) * np.exp(-self.epsilon / 2 * np.abs(self.signed))
        p /= np.repeat(np.add.reduceat(p, self.starts), self.gaps)
        found = np.empty((4, self.rows))
        for at, value in ((0, np.abs(self.signed)), (2, self.signed)):
            found[at] = np.add.reduceat(p * value, self.starts)
            apart = value - np.repeat(found[at], self.gaps)
            found[at + 1] = np.add.reduceat(p * apart**2, self.starts)
        return found

    @cached_property
    def medians(self) -> FloatArray:
        """The exact medians of the unclamped records: the mean of the middle two."""
        x = self.ragged
        return np.array([np.median(x[first:last]) for first, last in pairwise(self.offsets)])


@dataclass(frozen=True)
class GroupCase(Case):
    """A case of answers by group."""

    def work(self) -> GroupWork:
        """The inputs."""
        return GroupWork(self.k, self.size, self.threads, self.is_toy, self.rows)
