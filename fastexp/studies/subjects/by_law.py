"""Mechanisms of numbers whose figures come from the law of each data set, one after the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator
from typing import ClassVar

import numpy as np

from ..._parameters import validate
from ..._typing import AnyArray, FloatArray
from ...laws.figures import Figures, of_laws
from ...laws.grid import GridLaw
from ...mechanisms._number import NumberMechanism
from ...mechanisms.laplace import Laplace
from .subject import Block, TrueNumber, drawn_from_records

STATISTICS: dict[str, Callable[[Block], AnyArray]] = {
    "value": lambda block: block.first,
    "sum": lambda block: block.ordered.sum(axis=1),
    "mean": lambda block: block.ordered.mean(axis=1),
}


class ByLaw(TrueNumber):
    """A mechanism of numbers with a law a data set."""

    @abstractmethod
    def law(self, block: Block, row: int) -> GridLaw:
        """The law of one data set."""

    def _laws(self, block: Block) -> Iterator[GridLaw]:
        """The law of each data set."""
        return (self.law(block, row) for row in range(block.rows.shape[0]))

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        return of_laws(self._laws(block), self.truths(block).tolist(), names)

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        if figure == "loss_quantile":
            return np.array([law.loss_cdf(edges) for law in self._laws(block)])
        masses = []
        for law, truth in zip(self._laws(block), self.truths(block).tolist(), strict=True):
            below = np.nextafter(truth - edges, -np.inf)
            masses.append(law.cdf(truth + edges) - law.cdf(below))
        return np.array(masses)


class RecordsByLaw(ByLaw):
    """A mechanism of sorted records."""

    mechanism: NumberMechanism

    def law(self, block: Block, row: int) -> GridLaw:
        return self.mechanism.law(block.ordered[row], assume_sorted=True)

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        return drawn_from_records(self.mechanism.sample, block, size, key)


class PriceSubject(RecordsByLaw):
    """A price: what counts is the revenue lost. Prices of equal revenue are equally good."""

    figures: tuple[str, ...] = ("loss", "loss_quantile")

    def truths(self, block: Block) -> FloatArray:
        return np.zeros(block.rows.shape[0])  # no price is the true one

    def values(
        self, block: Block, drawn: AnyArray, figures: tuple[str, ...]
    ) -> dict[str, FloatArray]:
        if "loss" not in figures:
            return {}
        losses, best = np.empty(drawn.shape), self._best(block)
        for i, (bids, prices) in enumerate(zip(block.ordered, drawn, strict=True)):
            buyers = bids.size - np.searchsorted(bids, prices, "left")
            losses[i] = np.maximum(best[i] - prices * buyers, 0.0)
        return {"loss": losses}

    def _best(self, block: Block) -> list[float]:
        """The highest revenue of each data set: the same for every epsilon."""
        grid = self.mechanism.grid
        key = "best", grid
        if key not in block.shared:
            laws = self._laws(block)
            block.shared[key] = [law.expected_utility() + law.expected_loss() for law in laws]
        best: list[float] = block.shared[key]
        return best

    def most(self, figure: str, n: int) -> float:
        return self.high * n


class ModeSubject(RecordsByLaw):
    """The most frequent record; the lowest one of several."""

    def truths(self, block: Block) -> FloatArray:
        modes = []
        for row in block.ordered:
            values, counts = np.unique(row, return_counts=True)
            modes.append(float(values[np.argmax(counts)]))
        return np.array(modes)


class LaplaceSubject(ByLaw):
    """A statistic f of the records with Laplace noise."""

    mechanism: Laplace
    is_bounded: ClassVar[bool] = False

    def __init__(
        self, mechanism: Laplace, bounds: tuple[float, float], statistic: str = "value"
    ) -> None:
        super().__init__(mechanism, bounds)
        self.statistic = validate.choice("statistic", statistic, tuple(STATISTICS))

    def truths(self, block: Block) -> FloatArray:
        return np.asarray(STATISTICS[self.statistic](block), dtype=np.float64)

    def law(self, block: Block, row: int) -> GridLaw:
        return self.mechanism.law(float(self.truths(block)[row]))

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        rows = zip(self.truths(block).tolist(), block.streams, strict=True)
        sample = self.mechanism.sample
        return np.array([sample(f, size, rng=key, streams=[int(i)]) for f, i in rows])

    def most(self, figure: str, n: int) -> float:
        if self.mechanism.bounds is not None:
            return self.high - self.low
        scale = float(self.mechanism.sensitivity) / float(self.mechanism.epsilon)
        return 64.0 * scale + float(self.mechanism.step)
