"""Prices, modes and Laplace noise: what is true of each, and what a draw loses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import AnyArray, FloatArray
from .laws import ByLaw
from .subject import Block, TrueNumber, squared


class PriceSubject(ByLaw):
    """A price: what counts is the revenue lost. Prices of equal revenue are equally good."""

    figures: tuple[str, ...] = ("loss", "loss_quantile")

    def truths(self, block: Block) -> FloatArray:
        return np.zeros(block.rows.shape[0])  # no price is the true one

    def values(self, block: Block, drawn: AnyArray, figures: tuple[str, ...]) -> dict[str, Any]:
        if "loss" not in figures:
            return {}
        made, best = np.empty(drawn.shape), self._best(block)
        for i, (bids, prices) in enumerate(zip(block.ordered, drawn, strict=True)):
            buyers = bids.size - np.searchsorted(bids, prices, "left")
            made[i] = np.maximum(best[i] - prices * buyers, 0.0)
        return {"loss": made}

    def _best(self, block: Block) -> list[float]:
        """The highest revenue of each data set: the same for every epsilon."""
        grid = self.mechanism.grid
        key = "best", grid.unit, grid.size, id(grid.points) if grid.points is not None else 0
        if key not in block.shared:
            laws = (self.mechanism.law(bids, assume_sorted=True) for bids in block.ordered)
            block.shared[key] = [law.expected_utility() + law.expected_loss() for law in laws]
        found: list[float] = block.shared[key]
        return found

    def most(self, figure: str, n: int) -> float:  # noqa: ARG002
        return self.high * n


class ModeSubject(ByLaw):
    """The most frequent record; the lowest one of several."""

    def truths(self, block: Block) -> FloatArray:
        made = []
        for row in block.ordered:
            found, counts = np.unique(row, return_counts=True)
            made.append(float(found[np.argmax(counts)]))
        return np.array(made)


class LaplaceSubject(TrueNumber):
    """A statistic f of the records with Laplace noise."""

    def __init__(self, mechanism: Any, bounds: tuple[float, float], statistic: Any) -> None:
        super().__init__(mechanism, bounds)
        self.statistic = statistic

    def truths(self, block: Block) -> FloatArray:
        return np.asarray(self.statistic(block), dtype=np.float64)

    def _laws(self, block: Block) -> Any:
        return ((self.mechanism.law(f), f) for f in self.truths(block).tolist())

    def exact(self, block: Block, figures: tuple[str, ...]) -> dict[str, FloatArray]:
        made: dict[str, list[float]] = {figure: [] for figure in figures}
        for law, f in self._laws(block):
            for figure in figures:
                made[figure].append(law.mean() - f if figure == "bias" else law.expected_error(f))
        return {figure: np.array(numbers) for figure, numbers in made.items()}

    def variances(self, block: Block, exact: dict[str, FloatArray]) -> dict[str, FloatArray]:
        square = [law.var() + (law.mean() - f) ** 2 for law, f in self._laws(block)]
        return squared(np.array(square), exact)

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:  # noqa: ARG002
        made = []
        for law, f in self._laws(block):
            below = np.nextafter(f - edges, -np.inf)
            made.append(law.cdf(f + edges) - law.cdf(below))
        return np.array(made)

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        truths = self.truths(block).tolist()
        drawn = [
            self.mechanism.sample(f, size, rng=key, streams=[int(i)])
            for f, i in zip(truths, block.streams, strict=True)
        ]
        return np.array(drawn)

    def most(self, figure: str, n: int) -> float:  # noqa: ARG002
        if self.mechanism.bounds is not None:
            return self.high - self.low
        scale = float(self.mechanism.sensitivity) / float(self.mechanism.epsilon)
        return 64.0 * scale + float(self.mechanism.step)
