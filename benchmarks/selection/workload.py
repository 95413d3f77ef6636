"""What the cases of selection work on: utilities, counts or bits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from ..harness.workload import EPSILON, SEED, SENSITIVITY, FloatArray, IntArray, Work

RATE = EPSILON / (2 * SENSITIVITY)  # weight exp(RATE * u)
SPREAD = 20.0  # utilities are SPREAD * U(0, 1)


@dataclass(frozen=True, eq=False)
class SelectionWork(Work):
    """k utilities, or rows of k, or k counts or bits."""

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
    def counts(self) -> IntArray:
        """k counts, the j-th greatest about 50,000 / j**1.1, in the order of a fixed seed."""
        counts = (5e4 / np.arange(1, self.k + 1) ** 1.1).astype(np.int64)
        return np.random.default_rng(SEED).permutation(counts)

    @cached_property
    def utility_list(self) -> list[float]:
        """The utilities for peers that take nothing else; made outside the clock."""
        values: list[float] = self.utilities.tolist()
        return values

    @cached_property
    def bits(self) -> npt.NDArray[np.bool_]:
        """k fair bits from a fixed seed."""
        return np.random.default_rng(SEED).random(self.k) < 0.5
