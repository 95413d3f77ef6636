"""The exponential mechanism's median, quantiles and order statistics, many data sets at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._numbers import rank_errors
from ..._typing import AnyArray, FloatArray
from ...mechanisms.median import Median
from .laws import LawFigures
from .subject import Block, TrueNumber, squared


class Ranked(TrueNumber):
    """Exact figures by one kernel pass over sorted rows, else by the law of each row."""

    def __init__(self, mechanism: Any, bounds: tuple[float, float], target: Any) -> None:
        super().__init__(mechanism, bounds)
        self.target = target  # n -> the two ranks whose mean is the truth
        self.laws = LawFigures(self)
        statistic = mechanism._statistic
        plain = statistic.width == 0 and statistic.near is None
        if plain and statistic.grid.for_kernels is not None:  # else losses of draws are not known
            self.figures = (*self.figures, "loss", "loss_quantile")
        if isinstance(mechanism, Median) and _of_theorem_1(mechanism):
            self.figures = (*self.figures, "theorem_1")

    def truths(self, block: Block) -> FloatArray:
        low, high = self.target(block.n)
        ordered = block.ordered
        return (0.5 * ordered[:, low - 1] + 0.5 * ordered[:, high - 1]).astype(np.float64)

    def exact(self, block: Block, figures: tuple[str, ...]) -> dict[str, FloatArray]:
        statistic = self.mechanism._statistic
        if not rank_errors.regular(statistic, block.ordered):
            return self.laws.exact(block, figures)
        unit = self.mechanism._unit
        found = rank_errors.figures(statistic, block.ordered, self.truths(block), unit)
        block.shared[self] = found
        made = {"error": found.expected_error, "bias": found.mean, "loss": found.expected_loss}
        return {figure: made[figure] for figure in figures}

    def variances(self, block: Block, exact: dict[str, FloatArray]) -> dict[str, FloatArray]:
        if self not in block.shared:
            return self.laws.variances(block, exact)
        found = block.shared[self]
        made = squared(found.error_square, exact)
        if "loss" in exact:
            made["loss"] = found.loss_square - exact["loss"] ** 2
        return made

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        statistic = self.mechanism._statistic
        if figure == "loss_quantile" or not rank_errors.regular(statistic, block.ordered):
            return self.laws.within(block, figure, edges)
        return rank_errors.masses(statistic, block.ordered, self.truths(block), edges)

    def values(self, block: Block, drawn: AnyArray, figures: tuple[str, ...]) -> dict[str, Any]:
        made = super().values(block, drawn, figures)
        if "loss" in figures:
            statistic, unit = self.mechanism._statistic, self.mechanism._unit
            made["loss"] = rank_errors.distances(statistic, block.ordered, drawn, unit)
        return made

    def resolution(self, figure: str, n: int, whole: bool) -> float:
        if figure == "loss_quantile":
            return float(self.mechanism._unit)
        step, (low, high) = self.mechanism.step, self.target(n)
        if not whole or step is None or not float(step).is_integer():
            return 0.0
        return 1.0 if low == high else 0.5  # the mean of two records has a half

    def bound(self, block: Block, figure: str, failure: float) -> FloatArray:  # noqa: ARG002
        from ...laws.error_bound import error_bound

        how: dict[str, Any] = {"bounds": (self.low, self.high), "failure": failure}
        epsilon = self.mechanism.epsilon
        return np.array([error_bound(row, epsilon, **how) for row in block.ordered])


def _of_theorem_1(median: Median) -> bool:
    """Whether the theorem is about this median: the paper's, and none of its kin."""
    paper = median.convention == "lower" and median.neighbors == "add-remove"
    return paper and not median.widen
