"""Equal utilities grouped: the distinct losses of a vector and their base masses."""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray, WordArray
from ..kernels.bits.heights import FLOAT, SIGNED, UNSIGNED
from ..kernels.bits.logexp import exp_fill, log_fill

SIGN = np.uint64(1 << 63)
LARGEST = float(np.finfo(np.float64).max)


class LossGroups:
    """Distinct losses in increasing order, and the base mass of each. Independent of epsilon.

    A loss is best utility minus utility, over candidates with base > 0: exact for integers
    and rounded once to float64 (capped at the largest one).
    """

    __slots__ = ("_log_masses", "losses", "masses")
    losses: FloatArray
    masses: FloatArray

    def __init__(self, bits: WordArray, kind: int, base: FloatArray | None) -> None:
        if base is not None:
            bits, base = bits[base > 0], base[base > 0]
        distinct, group = np.unique(_sortable(bits, kind), return_inverse=True)
        with np.errstate(over="ignore"):
            gaps = np.asarray(distinct[-1] - distinct, dtype=np.float64)
        self.losses = np.minimum(gaps[::-1], LARGEST)
        self.masses = np.bincount(group, weights=base, minlength=gaps.size)[::-1].astype(np.float64)
        self._log_masses = np.empty(self.masses.size)
        log_fill(np.ascontiguousarray(self.masses), self._log_masses)

    def members(self, bits: WordArray, kind: int) -> IntArray:
        """For each candidate the number of its distinct loss; without a base."""
        values = _sortable(bits, kind)
        distinct = np.unique(values)
        return np.asarray(distinct.size - 1 - np.searchsorted(distinct, values), dtype=np.int64)

    def probabilities(self, rate: float) -> FloatArray:
        """The probability of each distinct loss at a rate."""
        with np.errstate(over="ignore"):
            heights = rate * self.losses - self._log_masses
        weights = heights.min() - heights
        exp_fill(weights, weights)
        return np.asarray(weights / weights.sum(), dtype=np.float64)


def exact_values(bits: WordArray, kind: int) -> AnyArray:
    """Utilities in the first of int64, uint64 and float64 that holds them all exactly.

    Vectors of equal numbers so are equal arrays.
    """
    if kind == SIGNED:
        return bits.view(np.int64)
    if kind == UNSIGNED:
        return bits if bool((bits >= SIGN).any()) else bits.view(np.int64)
    values = bits.view(np.float64) + 0.0  # -0 becomes 0
    if bool((values != np.floor(values)).any()):
        return values
    if bool((values >= -(2.0**63)).all() and (values < 2.0**63).all()):
        return values.astype(np.int64)
    inside = bool((values >= 0.0).all() and (values < 2.0**64).all())
    return values.astype(np.uint64) if inside else values


def _sortable(bits: WordArray, kind: int) -> AnyArray:
    """What sorts as the utilities do, with exact differences of integers."""
    if kind == FLOAT:
        return np.asarray(bits.view(np.float64) + 0.0)  # -0 becomes 0
    return np.asarray(bits ^ (SIGN if kind == SIGNED else np.uint64(0)))
