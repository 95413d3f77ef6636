"""Top-k: a data set is the utilities of candidates, an answer k of them, in order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..._typing import AnyArray, FloatArray
from ...laws.figures import Figures
from ...privacy import Guarantee, pure_guarantee, selection_rate
from .selections import Utilities
from .subject import Block, Random, one_of_units, random_of


class TopSelection(Utilities):
    """`TopK`. Its losses compare utilities: of the i-th place with the i-th greatest of all.

    The error is the share of the answer that is in no set of k best; the loss the greatest of
    all places, the total loss the sum of their sizes, and the last loss that of the worst
    candidate of the answer against the k-th best (l-infinity, l1 and k-relative errors in
    Gillenwater, Joseph, Muñoz Medina and Ribero 2022).
    """

    figures: tuple[str, ...] = ("error", "loss", "total_loss", "last_loss", "loss_quantile")
    closed = False

    def __init__(self, mechanism: Any, unit: str = "epsilon") -> None:
        if one_of_units(unit) == "rho":
            mechanism = replace(mechanism, epsilon=None, rho=mechanism.epsilon**2 / 8)
        super().__init__(mechanism)

    @property
    def k(self) -> int:
        """How many candidates an answer has."""
        return int(self.mechanism.k)

    def values(
        self, block: Block, drawn: AnyArray, figures: tuple[str, ...]
    ) -> dict[str, FloatArray]:
        best = np.sort(block.rows, axis=1)[:, None, : -self.k - 1 : -1]
        chosen = np.take_along_axis(block.rows[:, None], drawn, axis=2)
        gaps, last = best - chosen, best[..., -1]
        tied = (chosen == last[..., None]).sum(axis=2)  # as many of them are right as have a place
        places = (best == last[..., None]).sum(axis=2)
        right = (chosen > last[..., None]).sum(axis=2) + np.minimum(tied, places)
        every = {
            "error": 1.0 - right / self.k,
            "loss": gaps.max(axis=2),
            "total_loss": np.abs(gaps).sum(axis=2),
            "last_loss": last - chosen.min(axis=2),
        }
        return {figure: every[figure].astype(np.float64) for figure in figures}

    def reach(self, block: Block, figure: str) -> float:
        return super().reach(block, figure) * (self.k if figure == "total_loss" else 1)

    def truths(self, block: Block) -> AnyArray:
        return np.argsort(-block.rows, axis=1, kind="stable")[:, : self.k]


class JointSelection(TopSelection):
    """`JointTopK`, whose loss has a law."""

    closed = True

    def _laws(self, block: Block) -> list[Any]:
        return [self.mechanism.law(row) for row in self._taken(block.rows)]

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        if "loss" not in names:
            return {}
        return {"loss": np.array([law.expected_loss() for law in self._laws(block)])}

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        return np.array([law.loss_cdf(edges) for law in self._laws(block)])


@dataclass(frozen=True)
class Rival:
    """A top-k of other papers in floats: it is simulated, and never released."""

    k: int
    epsilon: float
    sensitivity: float
    monotonic: bool

    @property
    def rate(self) -> float:
        """The c of a round's weight, or one over the scale of the noise: epsilon / k for each."""
        return float(selection_rate(self.epsilon, self.sensitivity, self.monotonic) / self.k)

    @cached_property
    def guarantee(self) -> Guarantee:
        """Pure, for the relation of the sensitivity."""
        return pure_guarantee(self.epsilon, None, "noise without roundings")


class RivalSelection(TopSelection):
    """Draws of a rival, whose generator depends on the number of the data set alone."""

    def __init__(self, top: Any) -> None:
        super().__init__(Rival(top.k, top.epsilon, top.sensitivity, top.monotonic))

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        pairs = zip(block.rows, block.streams.tolist(), strict=True)
        return np.array([self._answers(row, size, random_of(key, name)) for row, name in pairs])

    @abstractmethod
    def _answers(self, row: AnyArray, size: int, random: Random) -> AnyArray:
        """Draws for one data set: shape (size, k)."""


class PeeledFlips(RivalSelection):
    """k rounds of permute-and-flip at epsilon / k, each among the candidates that are left.

    A round is the greatest of utilities with exponential noise (Ding et al. 2021).
    """

    def _answers(self, row: AnyArray, size: int, random: Random) -> AnyArray:
        heights = np.repeat(self.mechanism.rate * (row - row.max())[None], size, axis=0)
        answers = np.empty((size, self.k), np.int64)
        for place in range(self.k):
            noisy = heights + random.standard_exponential(heights.shape)
            answers[:, place] = noisy.argmax(axis=1)
            heights[np.arange(size), answers[:, place]] = -np.inf
        return answers


class NoisySelection(RivalSelection):
    """The k greatest utilities with Laplace noise, in the order of the noisy ones.

    Epsilon-DP with the scale k * range sensitivity / epsilon: noise that makes up, in each of the
    k selected ones, for the most that any other can gain costs epsilon / k (Qiao, Su and Zhang
    2021).
    """

    def _answers(self, row: AnyArray, size: int, random: Random) -> AnyArray:
        noisy = self.mechanism.rate * (row - row.max()) + random.laplace(size=(size, row.size))
        return np.argsort(-noisy, axis=1)[:, : self.k]
