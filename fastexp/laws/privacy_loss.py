"""The privacy loss of one law against another: how well an outcome tells their data apart.

With P and Q the laws, the loss of an outcome x is ln P(x)/Q(x). On a piece of outcomes ln P and
ln Q are linear, and sums are geometric.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..parameters import checks
from ..types import Floats
from .runs import log_sum, quiet


class PrivacyLoss:
    """One direction of the privacy loss of two laws, P against Q: not private.

    Attributes
    ----------
    least : float
        `epsilon` without what roundings may have added, in nats: logarithms of large utilities have
        few digits left.

    Notes
    -----
    A promise of epsilon holds for these two data sets if `epsilon()` is at most that in both
    directions. A pair can refute a promise, and cannot prove one.

    References
    ----------
    Dwork and Rothblum, "Concentrated differential privacy", 2016. Mironov, "Rényi differential
    privacy", CSF 2017.

    Examples
    --------
    >>> import fastexp as fx
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 10), step=1)
    >>> loss = median.law([1, 2, 4, 7]).privacy_loss(median.law([1, 2, 4]))
    >>> round(loss.epsilon(), 6), round(loss.reverse.epsilon(), 6)
    (0.365385, 0.634615)
    >>> round(loss.delta(0.1), 6), round(loss.epsilon(0.01), 6), round(loss.renyi(2), 6)
    (0.144314, 0.349102, 0.150775)
    """

    def __init__(self, size: Floats, first: Any, second: Any) -> None:
        """Take sizes of pieces; of P and Q ln of the first outcome's probability, and its fall."""
        is_possible = (first[0] > -np.inf) | (second[0] > -np.inf)
        self._first, self._second = (tuple(x[is_possible] for x in y) for y in (first, second))
        self._size = size = size[is_possible]
        (p, fall), (q, other_fall) = self._first, self._second
        self._loss, self._step = p - q, other_fall - fall
        highest = np.maximum(self._loss, self._loss + self._step * (size - 1))
        self._most = max(float(highest.max()), 0.0)
        # Of each outcome for itself: a forbidden one of utility -1e17 must not hide the others.
        self.least = max(float((highest - 1e-15 * np.abs(p)).max()), 0.0)

    @property
    def reverse(self) -> PrivacyLoss:
        """The loss of Q against P."""
        return PrivacyLoss(self._size, self._second, self._first)

    def epsilon(self, delta: float = 0.0) -> float:
        """Return the least epsilon >= 0 whose delta is at most this one.

        Parameters
        ----------
        delta : float
            In [0, 1]. At 0 the result is the greatest loss of any outcome.
        """
        most = float(checks.numbers_of("delta", delta, 0, 1))
        low, high = 0.0, self._most
        if most == 0 or self.delta(0.0) <= most:
            return high if most == 0 else 0.0
        while low < (middle := low / 2 + high / 2) < high:
            low, high = (low, middle) if self.delta(middle) <= most else (middle, high)
        return high

    @quiet
    def delta(self, epsilon: float) -> float:
        """Return the sum of max(0, P - exp(epsilon) * Q) over all outcomes.

        Parameters
        ----------
        epsilon : float
            In nats.
        """
        e, size = float(checks.numbers_of("epsilon", epsilon)), self._size
        loss, step = self._loss, self._step
        cross = (e - loss) / step
        before = np.where(step > 0, np.floor(cross) + 1, np.where(loss > e, 0.0, size))
        after = np.where(step < 0, np.ceil(cross), size)
        before = np.where(step < 0, 0.0, before).clip(0, size)
        k = np.maximum(after.clip(0, size) - before, 0.0)
        p, q = (
            log - z * before + log_sum(z, np.maximum(k, 1.0))
            for log, z in (self._first, self._second)
        )
        above = np.exp(p) * np.maximum(-np.expm1(e + q - p), 0.0)
        return float(above[k > 0].sum())

    @quiet
    def renyi(self, order: float) -> float:
        """Return the Rényi divergence of an order, in nats.

        Parameters
        ----------
        order : float
            > 1, or infinite: then it is the greatest loss.
        """
        b = float(checks.numbers_of("order", order, np.nextafter(1, 2))) - 1
        first, fall = self._first
        logs = first + b * self._loss + log_sum(fall - b * self._step, self._size)
        top = float(logs.max())
        if not top < np.inf:  # also for an infinite order
            return self._most
        return max(0.0, (top + float(np.log(np.exp(logs - top).sum()))) / b)
