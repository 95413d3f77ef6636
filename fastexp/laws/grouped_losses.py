"""What is said of losses that are grouped: their expectation, distribution and quantiles."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._typing import FloatArray
from .law import LossLaw, Many_co, One_co


class Levels(Protocol):
    """Distinct losses."""

    losses: FloatArray  # increasing


class GroupedLosses(LossLaw[One_co, Many_co]):
    """A law whose losses are few enough to be listed."""

    @property
    def _groups(self) -> Levels:
        """The distinct losses."""
        raise NotImplementedError

    @property
    def _loss_probabilities(self) -> FloatArray:
        """P of each."""
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
