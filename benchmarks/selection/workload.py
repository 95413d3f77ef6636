"""The inputs of the cases of selection: utilities, counts or bits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from ..harness.workload import EPSILON, SEED, SENSITIVITY, FloatArray, IntArray, Work

RATE = EPSILON / (2 * SENSITIVITY)  # the weight of utility u is exp(RATE * u)
SPREAD = 20.0  # utilities are SPREAD * U(0, 1)


@dataclass(frozen=True, eq=False)
class SelectionWork(Work):
    """k utilities, or rows of k, or k counts or bits."""

    chosen: int = 1  # candidates in a draw: the k of top-k

    def at_most(self, k: int, size: int, rows: int) -> Self:
        """Return the work at most of these sizes; at most a tenth of the candidates is chosen."""
        toy = super().at_most(k, size, rows)
        return replace(toy, chosen=min(self.chosen, toy.k // 10 or 1))

    @property
    def rate(self) -> float:
        """The rate of one of the `chosen` selections, which share epsilon."""
        return RATE / self.chosen

    @cached_property
    def utilities(self) -> FloatArray:
        """k utilities, or rows of k, from SPREAD * U(0, 1) with a fixed seed."""
        shape = self.k if self.rows == 1 else (self.rows, self.k)
        return SPREAD * np.random.default_rng(SEED).random(shape)

    @cached_property
    def counts(self) -> IntArray:
        """k counts, the j-th greatest about 50,000 / j**1.1, in an order from a fixed seed."""
        counts = (5e4 / np.arange(1, self.k + 1) ** 1.1).astype(np.int64)
        return np.random.default_rng(SEED).permutation(counts)

    @cached_property
    def utility_list(self) -> list[float]:
        """The utilities for peers that take lists only, made before the clock starts."""
        values: list[float] = self.utilities.tolist()
        return values

    @cached_property
    def bits(self) -> npt.NDArray[np.bool_]:
        """k fair bits from a fixed seed."""
        return np.random.default_rng(SEED).random(self.k) < 0.5
