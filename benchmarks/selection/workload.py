"""What the cases of selection work on: utilities, bits, and the moments of the laws of draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from ..harness.workload import EPSILON, SEED, SENSITIVITY, FloatArray, Work

RATE = EPSILON / (2 * SENSITIVITY)  # weight exp(RATE * u)
SPREAD = 20.0  # utilities are SPREAD * U(0, 1)
Moments = tuple[FloatArray, FloatArray]  # means and variances


@dataclass(frozen=True, eq=False)
class SelectionWork(Work):
    """k utilities, or rows of k, or k bits."""

    chosen: int = 1  # of each draw: a top-k's k

    def at_most(self, k: int, size: int, rows: int) -> Self:
        """As of any work; a tenth of the candidates are chosen, at most."""
        toy = super().at_most(k, size, rows)
        return replace(toy, chosen=min(self.chosen, toy.k // 10 or 1))

    @property
    def rate(self) -> float:
        """The rate of one selection: `chosen` ones share epsilon."""
        return RATE / self.chosen

    @cached_property
    def utilities(self) -> FloatArray:
        """k utilities, or rows of k, SPREAD * U(0, 1), from a fixed seed."""
        shape = self.k if self.rows == 1 else (self.rows, self.k)
        return SPREAD * np.random.default_rng(SEED).random(shape)

    @cached_property
    def utility_list(self) -> list[float]:
        """The utilities for peers that take nothing else; made outside the clock."""
        values: list[float] = self.utilities.tolist()
        return values

    @cached_property
    def bits(self) -> npt.NDArray[np.bool_]:
        """k fair bits from a fixed seed."""
        return np.random.default_rng(SEED).random(self.k) < 0.5

    @cached_property
    def moments(self) -> Moments:
        """Mean and variance of the drawn utility, row by row, by plain NumPy."""
        u = self.utilities.reshape(self.rows, self.k)
        return moments(np.exp(RATE * (u - u.max(axis=1, keepdims=True))), u)

    @cached_property
    def flip_moments(self) -> Moments:
        """The same of permute-and-flip, one row, by quadrature.

        Candidates arrive at uniform times t and are accepted with probability q, so r is the
        first with density q_r prod(1 - t q_s, s != r).
        """
        u = self.utilities
        q = np.exp(RATE * (u - u.max()))
        nodes, weights = np.polynomial.legendre.leggauss(100)
        end = min(1.0, 60.0 / float(q.sum()))  # nobody yet: a probability below e**-60
        p = np.zeros(self.k)
        for t, weight in zip(end * (nodes + 1) / 2, end * weights / 2, strict=True):
            p += weight * np.exp(np.log1p(-t * q).sum()) * q / (1 - t * q)
        assert abs(float(p.sum()) - 1) < 1e-9
        return moments(p, u)


def moments(weights: FloatArray, values: FloatArray) -> Moments:
    """Means and variances of values that are drawn by weights, along the last axis."""
    p = weights / weights.sum(axis=-1, keepdims=True)
    mean = (p * values).sum(axis=-1)
    return mean, (p * (values - mean[..., None]) ** 2).sum(axis=-1)
