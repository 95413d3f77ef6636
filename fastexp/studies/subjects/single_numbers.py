"""Mechanisms of one number under study: by the law of each data set, or many data sets at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import ClassVar, cast

import numpy as np

from ..._numbers import rank_errors
from ..._numbers.distance import quantile_ranks
from ..._numbers.noise import medians, simulate
from ..._parameters import validate
from ..._typing import AnyArray, FloatArray
from ...laws.bounds import error_bound
from ...laws.figures import Figures, of_laws
from ...laws.grid import GridLaw
from ...laws.noises import ClampedNoise, Noise
from ...mechanisms._noisy import NoisyMedian
from ...mechanisms._number import NumberMechanism
from ...mechanisms._ranked import QuantileMechanism, RankMechanism
from ...mechanisms.laplace import Laplace
from ...mechanisms.median import Median
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

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        return self.mechanism._figures(block.ordered, self.truths(block), names)

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


class Noisy(TrueNumber):
    """Clamped T + scale * Z: figures of all data sets of a block at once."""

    mechanism: NoisyMedian

    def __init__(self, mechanism: NoisyMedian, bounds: tuple[float, float]) -> None:
        super().__init__(mechanism, bounds)
        self.closed: bool = mechanism._noise is not None

    @property
    def _noise(self) -> Noise:
        """The noise of a mechanism with closed forms."""
        return cast("Noise", self.mechanism._noise)

    def truths(self, block: Block) -> FloatArray:
        """The median: of records beyond the bounds it is not the centre of the noise."""
        midpoint = getattr(self.mechanism, "midpoint", False)
        return medians(np.asarray(block.ordered, dtype=np.float64), -np.inf, np.inf, midpoint)

    def _placed(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """Centres and scales, computed once a block."""
        if self not in block.shared:
            ordered = np.asarray(block.ordered, dtype=np.float64)
            block.shared[self] = self.mechanism._centres_and_scales(ordered)
        pairs: tuple[FloatArray, FloatArray] = block.shared[self]
        return pairs

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        return self._outputs(block).figures(self.truths(block), names)

    def _outputs(self, block: Block) -> ClampedNoise:
        return ClampedNoise(self._noise, *self._placed(block), (self.low, self.high))

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        """What `sample` gives, with the centres and scales that are known."""
        (centres, scales), mechanism = self._placed(block), self.mechanism
        return simulate(
            mechanism._kind, centres, scales, mechanism._limits, key, block.streams, size, 1
        )

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        centres, scales = (part[:, None] for part in self._placed(block))
        outputs = ClampedNoise(self._noise, centres, scales, (self.low, self.high))
        truths = self.truths(block)[:, None]
        return 1.0 - outputs.tails(truths + edges)[1] - outputs.before(truths - edges)[0]
