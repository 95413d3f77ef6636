"""The inputs of the cases of answers by group: rows with keys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..harness.workload import EPSILON, SEED, FloatArray, IntArray, Work

BOUNDS = (0.0, 10_000.0)


@dataclass(frozen=True, eq=False)
class GroupWork(Work):
    """`rows` groups of k records on average: each record has a random group."""

    epsilon: float = EPSILON
    bounds: tuple[float, float] = BOUNDS

    @cached_property
    def keys(self) -> IntArray:
        """The group of each record, in random order; no group is empty."""
        keys = np.random.default_rng(SEED).integers(0, self.rows, self.rows * self.k)
        keys[:: self.k] = np.arange(self.rows)
        return keys

    @cached_property
    def records(self) -> FloatArray:
        """Lognormal records, a few of which are beyond the bounds."""
        return np.random.default_rng(SEED + 1).lognormal(7.0, 1.0, self.rows * self.k)

    @cached_property
    def offsets(self) -> IntArray:
        """The offsets at which the records of each group begin and end in `ragged`."""
        ends = np.cumsum(np.bincount(self.keys, minlength=self.rows))
        return np.concatenate([[0], ends]).astype(np.int64)

    @cached_property
    def ragged(self) -> FloatArray:
        """The records, group after group."""
        return self.records[np.argsort(self.keys, kind="stable")]

    @cached_property
    def medians(self) -> FloatArray:
        """The exact medians of the unclamped records: the mean of the middle two."""
        x = self.ragged
        return np.array([np.median(x[first:last]) for first, last in pairwise(self.offsets)])
