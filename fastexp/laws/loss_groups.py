"""Equal losses grouped: the distinct ones with their masses, and what laws say of them."""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray, WordArray
from ..kernels.bits.heights import FLOAT, SIGNED, UNSIGNED
from .elementary import exp, log
from .law import LossLaw, Many_co, One_co

SIGN = np.uint64(1 << 63)
LARGEST = float(np.finfo(np.float64).max)


class Levels:
    """Distinct losses."""

    losses: FloatArray  # increasing


class LossGroups(Levels):
    """Distinct losses in increasing order, and the base mass of each. Independent of epsilon.

    A loss is best utility minus utility, over candidates with base > 0: exact for integers
    and rounded once to float64 (capped at the largest one).
    """

    masses: FloatArray

    def __init__(self, bits: WordArray, kind: int, base: FloatArray | None) -> None:
        if base is not None:
            bits, base = bits[base > 0], base[base > 0]
        distinct, group = np.unique(_sortable(bits, kind), return_inverse=True)
        with np.errstate(over="ignore"):
            gaps = np.asarray(distinct[-1] - distinct, np.float64)
        self.losses: FloatArray = np.minimum(gaps[::-1], LARGEST)
        self.masses = np.bincount(group, weights=base, minlength=gaps.size)[::-1].astype(np.float64)
        self._log_masses = log(self.masses)

    def members(self, bits: WordArray, kind: int) -> IntArray:
        """For each candidate the number of its distinct loss; without a base."""
        values = _sortable(bits, kind)
        distinct = np.unique(values)
        return np.asarray(distinct.size - 1 - np.searchsorted(distinct, values), np.int64)

    def probabilities(self, rate: float) -> FloatArray:
        """The probability of each distinct loss at a rate."""
        with np.errstate(over="ignore"):
            heights = rate * self.losses - self._log_masses
        weights = exp(heights.min() - heights)
        return np.asarray(weights / weights.sum(), np.float64)


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


class GroupedLosses(LossLaw[One_co, Many_co]):
    """A law whose losses are few enough to be listed."""

    @property
    def _groups(self) -> Levels:
        raise NotImplementedError

    @property
    def _loss_probabilities(self) -> FloatArray:
        raise NotImplementedError

    def _expected_loss(self) -> float:
        return float((self._loss_probabilities * self._groups.losses).sum())

    def loss_variance(self) -> float:
        """The variance of the loss, in squared units of the utility."""
        mean = self.expected_loss()
        losses = np.where(self._loss_probabilities > 0, self._groups.losses, 0.0)
        with np.errstate(over="ignore"):  # a warning would depend on the data
            return float((self._loss_probabilities * (losses - mean) ** 2).sum())

    def _loss_cdf(self, t: FloatArray) -> FloatArray:
        sums = np.concatenate([[0.0], np.cumsum(self._loss_probabilities)])
        losses_up_to = np.searchsorted(self._groups.losses, t, "right")
        all_of_them = losses_up_to == self._groups.losses.size
        return np.where(all_of_them, 1.0, np.minimum(sums[losses_up_to], 1.0))

    def _loss_tail(self, t: FloatArray) -> FloatArray:
        sums = np.concatenate([np.cumsum(self._loss_probabilities[::-1])[::-1], [0.0]])
        losses_below = np.searchsorted(self._groups.losses, t, "left")
        return np.where(losses_below == 0, 1.0, np.minimum(sums[losses_below], 1.0))

    def _loss_quantile(self, p: FloatArray) -> FloatArray:
        possible = self._loss_probabilities > 0
        losses, p_loss = self._groups.losses[possible], self._loss_probabilities[possible]
        low = np.searchsorted(np.cumsum(p_loss), np.minimum(p, 0.5), "left")
        # Above 1/2: P(loss > t) <= 1 - p, with tails that keep their digits.
        tails_from_last = np.cumsum(np.append(0.0, p_loss[:0:-1]))
        high = losses.size - np.searchsorted(tails_from_last, 1.0 - p, "right")
        return np.asarray(losses[np.where(p <= 0.5, low, high)])
