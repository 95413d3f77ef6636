"""Top-k: a data set is the utilities of candidates, an answer k of them, in order."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ..._typing import AnyArray, FloatArray, WordArray
from ...laws.figures import Figures, of_laws
from ...mechanisms.joint_top_k import JointTopK
from ...privacy import Guarantee, pure_guarantee, selection_rate
from .selections import Utilities
from .subject import Block, Random, one_of_units, random_of

Noise: TypeAlias = Callable[[FloatArray, int, int, Random], AnyArray]


def flips(heights: FloatArray, k: int, size: int, random: Random) -> AnyArray:
    """k rounds of permute-and-flip at epsilon / k, each among the candidates that are left.

    A round is the greatest of utilities with exponential noise (Ding et al. 2021).
    """
    left = np.repeat(heights[None], size, axis=0)
    answers = np.empty((size, k), np.int64)
    for place in range(k):
        answers[:, place] = (left + random.standard_exponential(left.shape)).argmax(axis=1)
        left[np.arange(size), answers[:, place]] = -np.inf
    return answers


def laplace(heights: FloatArray, k: int, size: int, random: Random) -> AnyArray:
    """The k greatest utilities with Laplace noise, in the order of the noisy ones.

    Epsilon-DP with the scale k * range sensitivity / epsilon: noise that makes up, in each of the
    k selected ones, for the most that any other can gain costs epsilon / k (Qiao, Su and Zhang
    2021).
    """
    noisy = heights + random.laplace(size=(size, heights.size))
    return np.argsort(-noisy, axis=1)[:, :k]


@dataclass(frozen=True)
class Rival:
    """A top-k of other papers in floats: it is simulated, and never released."""

    k: int
    epsilon: float
    sensitivity: float
    monotonic: bool
    noise: Noise  # draws of shape (size, k), from utilities in units of their noise

    @cached_property
    def guarantee(self) -> Guarantee:
        """Pure, for the relation of the sensitivity."""
        return pure_guarantee(self.epsilon, None, "noise without roundings")

    def sample(self, rows: AnyArray, size: int, *, rng: int, streams: WordArray) -> AnyArray:
        """Draws for each row, whose generator depends on the row's stream alone."""
        rate = float(selection_rate(self.epsilon, self.sensitivity, self.monotonic) / self.k)
        pairs = zip(rate * (rows - rows.max(axis=1, keepdims=True)), streams.tolist(), strict=True)
        draws = [self.noise(row, self.k, size, random_of(rng, name)) for row, name in pairs]
        return np.array(draws)


RIVALS: dict[str, Noise] = {"flips": flips, "laplace": laplace}


class TopSelection(Utilities):
    """`TopK`, `JointTopK`, whose loss has a law, or a `rival`.

    Its losses compare utilities: of the i-th place with the i-th greatest of all. The error is the
    share of the answer that is in no set of k best; the loss the greatest of
    all places, the total loss the sum of their sizes, and the last loss that of the worst
    candidate of the answer against the k-th best (l-infinity, l1 and k-relative errors in
    Gillenwater, Joseph, Muñoz Medina and Ribero 2022).
    """

    figures: tuple[str, ...] = ("error", "loss", "total_loss", "last_loss", "loss_quantile")

    def __init__(self, m: Any, unit: str = "epsilon", rival: str = "") -> None:
        self.closed, self.k = isinstance(m, JointTopK), int(m.k)
        if one_of_units(unit) == "rho":
            m = replace(m, epsilon=None, rho=m.epsilon**2 / 8)
        if rival:
            m = Rival(m.k, m.epsilon, m.sensitivity, m.monotonic, RIVALS[rival])
        super().__init__(m)

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

    def _laws(self, block: Block) -> list[Any]:
        return [self.mechanism.law(row) for row in self._taken(block.rows)]

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        return of_laws(self._laws(block), None, {"loss"}.intersection(names))

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        return np.array([law.loss_cdf(edges) for law in self._laws(block)])
