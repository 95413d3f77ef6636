"""The inputs of the cases of private numbers: records and bids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..harness.workload import EPSILON, SEED, FloatArray, Generator, Work

Shape = int | tuple[int, int]

# Bounds are public; some records of "lognormal" lie beyond them.
MAKERS: dict[str, tuple[tuple[float, float], Callable[[Generator, Shape], FloatArray]]] = {
    "uniform": ((0.0, 100.0), lambda rng, shape: 100.0 * rng.random(shape)),
    "lognormal": ((0.0, 1000.0), lambda rng, shape: rng.lognormal(3.0, 1.0, shape)),
    "normal": ((-10.0, 10.0), lambda rng, shape: rng.standard_normal(shape)),
}
STUDY = (0.5, 1.0, 2.0)  # the epsilons of the accuracy study
TICKS = 100  # in one unit of money: prices are 0.01, 0.02, ...
BIDS = 10  # for each price
CENTER = 12.345678  # the statistic that gets noise: not a multiple of the step
STEP = 0.001  # of the noise


@dataclass(frozen=True, eq=False)
class NumberWork(Work):
    """k records (or rows of k), or k prices with `BIDS` bids each."""

    data: str = ""  # a key of `MAKERS`; "": uniform, which the case's name does not say
    epsilon: float = EPSILON

    @property
    def label(self) -> str:
        """The kind of records, and epsilon if it is not 1."""
        epsilon = "" if self.epsilon == EPSILON else f"eps={self.epsilon:g}"
        return "/".join(part for part in (self.data, epsilon) if part)

    @property
    def bounds(self) -> tuple[float, float]:
        """The public limits of the records."""
        return MAKERS[self.data or "uniform"][0]

    @cached_property
    def records(self) -> FloatArray:
        """Unsorted records from a fixed seed."""
        shape = self.k if self.rows == 1 else (self.rows, self.k)
        return MAKERS[self.data or "uniform"][1](np.random.default_rng(SEED), shape)

    @cached_property
    def medians(self) -> FloatArray:
        """The median of each data set, in a shape that broadcasts with draws."""
        return np.median(self.records, axis=-1, keepdims=self.rows > 1 and self.size > 1)

    @cached_property
    def prices(self) -> FloatArray:
        """k prices: the doubles nearest to 0.01, 0.02, ..."""
        return np.arange(1, self.k + 1) / TICKS

    @cached_property
    def bids(self) -> FloatArray:
        """Bids within the prices, from a fixed seed."""
        low, high = self.prices[0], self.prices[-1]
        share = np.random.default_rng(SEED).random(BIDS * self.k)
        bids: FloatArray = np.minimum(low + (high - low) * share, high)
        return bids
