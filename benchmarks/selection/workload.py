"""What the cases of selection work on: utilities, bits, and the moments of the laws of draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..harness.workload import EPSILON, SEED, SENSITIVITY, FloatArray, IntArray, Work

RATE = EPSILON / (2 * SENSITIVITY)  # weight exp(RATE * u)
SPREAD = 20.0  # utilities are SPREAD * U(0, 1)
CANDIDATES = 10  # among texts
Moments = tuple[FloatArray, FloatArray]  # means and variances


def polars_series(texts: list[str]) -> Any:
    """A series of Polars."""
    import polars as pl

    return pl.Series(texts)


def arrow_dictionary(texts: list[str]) -> Any:
    """A column of Arrow that has each text once, and a code for each record."""
    import pyarrow as pa

    return pa.array(texts).dictionary_encode()


FORMS: dict[str, Callable[[list[str]], Any]] = {
    "list": list,
    "numpy": np.array,
    "polars": polars_series,
    "arrow": arrow_dictionary,
}


@dataclass(frozen=True, eq=False)
class SelectionWork(Work):
    """k utilities, or rows of k, or k bits or texts."""

    chosen: int = 1  # of each draw: a top-k's k
    form: str = ""  # of texts, one of `FORMS`

    def at_most(self, k: int, size: int, rows: int) -> Self:
        """As of any work; a tenth of the candidates are chosen, at most."""
        toy = super().at_most(k, size, rows)
        return replace(toy, chosen=min(self.chosen, toy.k // 10 or 1))

    @property
    def label(self) -> str:
        """The form of the texts."""
        return self.form

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

    @property
    def candidates(self) -> list[str]:
        """The texts that can be the answer."""
        return [f"candidate {i}" for i in range(CANDIDATES)]

    @property
    def text_counts(self) -> IntArray:
        """How often each is there: each one time more than the one before."""
        base = (self.k - CANDIDATES**2) // CANDIDATES
        return base + np.arange(CANDIDATES)

    @cached_property
    def texts(self) -> Any:
        """k texts in random order; what is left over is no candidate."""
        texts = np.repeat(self.candidates, self.text_counts).tolist()
        texts += ["no candidate"] * (self.k - len(texts))
        order = np.random.default_rng(SEED).permutation(self.k)
        return FORMS[self.form]([texts[i] for i in order.tolist()])

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
