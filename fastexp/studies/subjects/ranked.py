"""The exponential mechanism's median, quantiles and order statistics, many data sets at once."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import numpy as np

from ..._numbers import rank_errors
from ..._numbers.distance import quantile_ranks
from ..._parameters import validate
from ..._typing import AnyArray, FloatArray
from ...laws.bounds import error_bound
from ...laws.figures import Figures
from ...mechanisms._ranked import QuantileMechanism, RankMechanism
from ...mechanisms.median import Median
from .by_law import RecordsByLaw
from .subject import Block


class Ranked(RecordsByLaw):
    """Exact figures by one kernel pass over sorted rows, else by the law of each row."""

    mechanism: RankMechanism

    def __init__(
        self, mechanism: RankMechanism, bounds: tuple[float, float], truth: str | None = None
    ) -> None:
        super().__init__(mechanism, bounds)
        self.target = mechanism._true_ranks  # of n the two ranks whose mean is the truth
        if truth is not None and isinstance(mechanism, QuantileMechanism):
            word = validate.choice("truth", truth, ("lower", "upper", "midpoint"))
            self.target = partial(quantile_ranks, mechanism._q, word)
        statistic = mechanism._statistic
        plain = statistic.width == 0 and statistic.near is None
        if plain and statistic.grid.for_kernels is not None:  # else losses of draws are not known
            self.figures: tuple[str, ...] = (*self.figures, "loss", "loss_quantile")
        if isinstance(mechanism, Median) and _of_theorem_1(mechanism):
            self.figures = (*self.figures, "theorem_1")

    def truths(self, block: Block) -> FloatArray:
        low, high = self.target(block.n)
        ordered = block.ordered
        return (0.5 * ordered[:, low - 1] + 0.5 * ordered[:, high - 1]).astype(np.float64)

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        return self.mechanism._figures(block.ordered, self.truths(block), names)

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        statistic = self.mechanism._statistic
        if figure == "loss_quantile" or not rank_errors.is_regular(statistic, block.ordered):
            return super().within(block, figure, edges)
        return rank_errors.masses(statistic, block.ordered, self.truths(block), edges)

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        return np.asarray(
            self.mechanism.sample(
                block.ordered, size, rng=key, streams=block.streams, assume_sorted=True
            )
        )

    def values(
        self, block: Block, drawn: AnyArray, figures: tuple[str, ...]
    ) -> dict[str, FloatArray]:
        values = super().values(block, drawn, figures)
        if "loss" in figures:
            statistic, unit = self.mechanism._statistic, self.mechanism._unit
            values["loss"] = rank_errors.distances(statistic, block.ordered, drawn, unit)
        return values

    def resolution(self, figure: str, n: int, whole: bool) -> float:
        if figure == "loss_quantile":
            return float(self.mechanism._unit)
        step, (low, high) = self.mechanism.step, self.target(n)
        if not whole or step is None or not float(step).is_integer():
            return 0.0
        return 1.0 if low == high else 0.5  # the mean of two records has a half

    def bound(self, block: Block, figure: str, failure: float) -> FloatArray:
        epsilon, bounds = self.mechanism.epsilon, (self.low, self.high)
        return np.array(
            [error_bound(row, epsilon, bounds=bounds, failure=failure) for row in block.ordered]
        )


def _of_theorem_1(median: Median) -> bool:
    """Whether the theorem is about this median: the paper's, and none of its kin."""
    paper = median.convention == "lower" and median.neighbors == "add-remove"
    return paper and not median.widen
