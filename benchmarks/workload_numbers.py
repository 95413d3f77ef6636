"""What the cases of private numbers work on: records, bids, and the exact laws of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .workload import EPSILON, SEED, Case, FloatArray, IntArray, Work

Shape = int | tuple[int, int]
Generator = np.random.Generator

# Bounds are public; some records of "lognormal" lie beyond them.
MAKERS: dict[str, tuple[tuple[float, float], Callable[[Generator, Shape], FloatArray]]] = {
    "uniform": ((0.0, 100.0), lambda rng, shape: 100.0 * rng.random(shape)),
    "lognormal": ((0.0, 1000.0), lambda rng, shape: rng.lognormal(3.0, 1.0, shape)),
    "normal": ((-10.0, 10.0), lambda rng, shape: rng.standard_normal(shape)),
}
STUDY = (0.5, 1.0, 2.0)  # the epsilons of the accuracy study
TICKS = 100  # of one unit of money: prices are 0.01, 0.02, ...
BIDS = 10  # a price
CENTER = 12.345678  # the statistic that noise is added to: no multiple of the step
STEP = 0.001  # of that noise


@dataclass(frozen=True, eq=False)
class NumberWork(Work):
    """k records (or rows of k), or k prices with `BIDS` bids each."""

    data: str = "uniform"
    epsilon: float = EPSILON

    @property
    def bounds(self) -> tuple[float, float]:
        """The public limits of the records."""
        return MAKERS[self.data][0]

    @cached_property
    def records(self) -> FloatArray:
        """Unsorted records from a fixed seed."""
        shape = self.k if self.rows == 1 else (self.rows, self.k)
        return MAKERS[self.data][1](np.random.default_rng(SEED), shape)

    @cached_property
    def knots(self) -> FloatArray:
        """The clamped records in order between the bounds, (rows, k + 2): gap i is after i."""
        out = np.empty((self.rows, self.k + 2))
        out[:, 0], out[:, -1] = self.bounds
        np.clip(self.records.reshape(self.rows, self.k), *self.bounds, out=out[:, 1:-1])
        out[:, 1:-1].sort(axis=1)
        return out

    @cached_property
    def _moments(self) -> dict[float, FloatArray]:
        return {}

    def median_moments(self, rate: float) -> FloatArray:
        """Of the density proportional to exp(-rate * |k - 2 i|) in gap i, row by row.

        Mean and variance of |k - 2 i|, then of k - 2 i; shape (4, rows).
        """
        if rate not in self._moments:
            self._moments[rate] = self._moments_at(rate)
        return self._moments[rate]

    def _moments_at(self, rate: float) -> FloatArray:
        signed = self.k - 2.0 * np.arange(self.k + 1)
        found = np.empty((4, self.rows))
        for row, knots in enumerate(self.knots):
            p = np.diff(knots) * np.exp(-rate * np.abs(signed))
            p /= p.sum()
            for at, value in ((0, np.abs(signed)), (2, signed)):
                mean = float((p * value).sum())
                found[at : at + 2, row] = mean, float((p * (value - mean) ** 2).sum())
        return found

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

    @cached_property
    def revenue(self) -> IntArray:
        """The exact revenue of every price, in ticks."""
        paying = self.bids.size - np.searchsorted(np.sort(self.bids), self.prices)
        return np.arange(1, self.k + 1) * paying.astype(np.int64)


@dataclass(frozen=True)
class NumberCase(Case):
    """A case of private numbers."""

    data: str = ""  # of `MAKERS`
    epsilon: float = EPSILON

    @property
    def id(self) -> str:
        """The name under which results are filed."""
        name, _, sizes = super().id.partition("/")
        epsilon = "" if self.epsilon == EPSILON else f"eps={self.epsilon:g}"
        return "/".join(part for part in (name, self.data, epsilon, sizes) if part)

    def work(self) -> NumberWork:
        """The inputs."""
        sizes = self.k, self.size, self.threads, self.is_toy, self.rows, self.chosen
        return NumberWork(*sizes, self.data or "uniform", self.epsilon)
