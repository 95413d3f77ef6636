"""Mechanisms of records under study: for one number, and for many quantiles."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, cast

import numpy as np

from ..._numbers import rank_errors
from ..._numbers.distance import quantile_ranks
from ..._numbers.noise import medians, simulate
from ..._parameters import validate
from ..._parameters.grid import Grid, decimal
from ..._typing import AnyArray, FloatArray
from ...laws.bounds import error_bound
from ...laws.figures import Figures, of_laws
from ...laws.grid import GridLaw
from ...laws.noises import ClampedNoise, Noise
from ...mechanisms._noisy import NoisyMedian
from ...mechanisms._number import NumberMechanism
from ...mechanisms._ranked import QuantileMechanism, RankMechanism
from ...mechanisms._several import JointMechanism
from ...mechanisms.laplace import Laplace
from ...mechanisms.median import Median
from ...mechanisms.quantile import Quantile
from ...mechanisms.quantiles import Quantiles
from ...privacy import Guarantee, sequential
from .subject import MANY, Block, StudySubject, TrueNumber, one_of_units

STATISTICS: dict[str, Callable[[Block], AnyArray]] = {
    "value": lambda block: block.first,
    "sum": lambda block: block.ordered.sum(axis=1),
    "mean": lambda block: block.ordered.mean(axis=1),
}


def _drawn_by_row(sample: Callable[..., AnyArray], block: Block, size: int, key: int) -> AnyArray:
    """Draw from the sorted records of each data set, with the stream of the data set's number."""
    rows = zip(block.ordered, block.streams, strict=True)
    return np.array(
        [sample(row, size, rng=key, streams=[int(i)], assume_sorted=True) for row, i in rows]
    )


class ByLaw(TrueNumber):
    """A mechanism for a number, with an exact law for each data set."""

    @abstractmethod
    def law(self, block: Block, row: int) -> GridLaw:
        """Return the law of one data set."""

    def _laws(self, block: Block) -> Iterator[GridLaw]:
        """Yield the law of each data set."""
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
        return _drawn_by_row(self.mechanism.sample, block, size, key)


class PriceSubject(RecordsByLaw):
    """A price, measured by the revenue that is lost. Prices of equal revenue are equally good."""

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
        """Return the highest revenue of each data set, computed once for all epsilons."""
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
    """The most frequent record; of several, the lowest."""

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
    """A rank statistic: exact figures by one kernel pass over sorted rows, or by laws."""

    mechanism: RankMechanism

    def __init__(
        self, mechanism: RankMechanism, bounds: tuple[float, float], truth: str | None = None
    ) -> None:
        super().__init__(mechanism, bounds)
        self.target = mechanism._true_ranks  # from n to the two ranks whose mean is the truth
        if truth is not None and isinstance(mechanism, QuantileMechanism):
            word = validate.choice("truth", truth, ("lower", "upper", "midpoint"))
            self.target = partial(quantile_ranks, mechanism._q, word)
        statistic = mechanism._statistic
        plain = statistic.width == 0 and statistic.near is None
        if plain and statistic.grid.for_kernels is not None:  # the losses of draws are known
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
        return 1.0 if low == high else 0.5  # the mean of two integers is a multiple of 1/2

    def bound(self, block: Block, figure: str, failure: float) -> FloatArray:
        epsilon, bounds = self.mechanism.epsilon, (self.low, self.high)
        return np.array(
            [error_bound(row, epsilon, bounds=bounds, failure=failure) for row in block.ordered]
        )


def _of_theorem_1(median: Median) -> bool:
    """Whether Theorem 1 is about this median: that of the paper, not a variant."""
    paper = median.convention == "lower" and median.neighbors == "add-remove"
    return paper and not median.widen


class Noisy(TrueNumber):
    """A median T with noise, clamped T + scale * Z: figures of all data sets of a block at once."""

    mechanism: NoisyMedian

    def __init__(self, mechanism: NoisyMedian, bounds: tuple[float, float]) -> None:
        super().__init__(mechanism, bounds)
        self.closed: bool = mechanism._noise is not None

    @property
    def _noise(self) -> Noise:
        """The noise of a mechanism with closed forms."""
        return cast("Noise", self.mechanism._noise)

    def truths(self, block: Block) -> FloatArray:
        """Return the median; with records outside the bounds, noise has another centre."""
        midpoint = getattr(self.mechanism, "midpoint", False)
        return medians(np.asarray(block.ordered, dtype=np.float64), -np.inf, np.inf, midpoint)

    def _centres_and_scales(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """Return the centres and scales of the noise, computed once for each block."""
        if self not in block.shared:
            ordered = np.asarray(block.ordered, dtype=np.float64)
            block.shared[self] = self.mechanism._centres_and_scales(ordered)
        pairs: tuple[FloatArray, FloatArray] = block.shared[self]
        return pairs

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        return self._outputs(block).figures(self.truths(block), names)

    def _outputs(self, block: Block) -> ClampedNoise:
        return ClampedNoise(self._noise, *self._centres_and_scales(block), (self.low, self.high))

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        """Return what `sample` returns, from centres and scales that are computed once."""
        (centres, scales), mechanism = self._centres_and_scales(block), self.mechanism
        return simulate(
            mechanism._kind, centres, scales, mechanism._limits, key, block.streams, size, 1
        )

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        centres, scales = (part[:, None] for part in self._centres_and_scales(block))
        outputs = ClampedNoise(self._noise, centres, scales, (self.low, self.high))
        truths = self.truths(block)[:, None]
        return 1.0 - outputs.tails(truths + edges)[1] - outputs.before(truths - edges)[0]


MAX_EXACT_QUANTILES = 4  # the law of more joint quantiles takes seconds


@dataclass(frozen=True)
class Independent:
    """Quantiles that are drawn separately, each with an equal part of epsilon, or of rho.

    Parts of epsilon are ε/m. Under zero-concentrated privacy, m draws at ε/√m have the ρ = ε²/8
    of one draw at ε; their pure promise is ε·√m. Answers are sorted, which costs nothing and
    never makes their errors larger on average.
    """

    several: Quantiles
    unit: str  # "epsilon" or "rho", see `one_of_units`

    @cached_property
    def parts(self) -> list[Quantile]:
        """The mechanisms, one for each quantile."""
        several = self.several
        m = len(several._q)
        share: Any = decimal(several.epsilon)
        share /= m if self.unit == "epsilon" else decimal(math.sqrt(m))
        return [
            Quantile(
                q,
                share,
                several.bounds,
                step=several.step,
                grid=several.grid.parameter,
                neighbors=several.neighbors,
            )
            for q in several._q
        ]

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of all draws together."""
        return sequential(part.guarantee for part in self.parts)

    def sample(self, records: AnyArray, size: int, *, rng: int, **options: Any) -> AnyArray:
        """Draw all quantiles, each with its own streams."""
        draws = [
            part.sample(records, size, rng=[rng, j], **options) for j, part in enumerate(self.parts)
        ]
        return np.sort(np.stack(draws, axis=-1), axis=-1)


class ManyQuantiles(StudySubject):
    """Errors of m quantiles: their mean, and the error of the worst answer of each draw.

    The true quantile is defined as by the mechanisms: the record of rank ⌈q·n⌉, or, if q·n is an
    integer, any number from that record to the next one; `error` is measured from their middle.
    Ranks are those of the records on the mechanism's grid: an answer with L records below it and
    U records not above it has a rank error of max(0, L - q·n, q·n - U).

    If there is a joint law, mean errors are exact by its marginals. For many quantiles a law takes
    seconds, and there are only draws. With a `unit`, quantiles are `Independent`.
    """

    figures: tuple[str, ...] = ("error", *MANY)

    def __init__(
        self, mechanism: Any, bounds: tuple[float, float], unit: str | None = None
    ) -> None:
        rival = None if unit is None else Independent(mechanism, one_of_units(unit))
        super().__init__(rival or mechanism)
        self.low, self.high = bounds
        self.q: tuple[Fraction, ...] = mechanism._q
        self.grid: Grid = mechanism.grid
        is_joint = rival is None and isinstance(mechanism, JointMechanism)
        self.closed: bool = is_joint and len(self.q) <= MAX_EXACT_QUANTILES

    def _ends(self, block: Block) -> tuple[AnyArray, AnyArray]:
        """Return the records between which each true quantile lies: two arrays (rows, m)."""
        ranks = np.array([quantile_ranks(q, "weak", block.n) for q in self.q])
        return block.ordered[:, ranks[:, 0] - 1], block.ordered[:, ranks[:, 1] - 1]

    def truths(self, block: Block) -> FloatArray:
        low, high = self._ends(block)
        return (0.5 * low + 0.5 * high).astype(np.float64)

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        return _drawn_by_row(self.mechanism.sample, block, size, key)

    def values(
        self, block: Block, drawn: AnyArray, figures: tuple[str, ...]
    ) -> dict[str, FloatArray]:
        values: dict[str, FloatArray] = {}
        for name, errors_of in {"error": self._errors, "rank_error": self._rank_errors}.items():
            if name in figures or f"worst_{name}" in figures:
                errors = errors_of(block, drawn)
                values |= {name: errors.mean(axis=2), f"worst_{name}": errors.max(axis=2)}
        if "wrong" in figures:
            low, high = (self._on_grid(ends)[:, None, :] for ends in self._ends(block))
            values["wrong"] = ((drawn < low) | (drawn > high)).mean(axis=2)
        return values

    def _on_grid(self, records: AnyArray) -> AnyArray:
        return np.asarray(self.grid.values(self.grid.index(records)))

    def _errors(self, block: Block, drawn: AnyArray) -> FloatArray:
        return np.abs(drawn - self.truths(block)[:, None, :])

    def _rank_errors(self, block: Block, drawn: AnyArray) -> FloatArray:
        targets = np.array([float(q * block.n) for q in self.q])
        errors = np.empty(drawn.shape)
        for row, answers, out in zip(self._on_grid(block.ordered), drawn, errors, strict=True):
            below, upto = (np.searchsorted(row, answers, side) for side in ("left", "right"))
            out[:] = np.maximum(np.maximum(below - targets, targets - upto), 0.0)
        return errors

    def most(self, figure: str, n: int) -> float:
        most = {"rank_error": float(n), "worst_rank_error": float(n), "wrong": 1.0}
        return most.get(figure, self.high - self.low)

    def rounding(self, figure: str) -> float:
        return 4.0 * float(np.spacing(max(abs(self.low), abs(self.high), 1.0)))

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        figures: dict[str, list[float]] = {"error": [], "rank_error": [], "wrong": []}
        low, high = (self._on_grid(ends) for ends in self._ends(block))
        below = np.nextafter(low.astype(np.float64), -np.inf)
        ends = np.stack([below, high], axis=-1).tolist()
        for records, truths, pairs in zip(block.ordered, self.truths(block), ends, strict=True):
            law = self.mechanism.law(records, assume_sorted=True)
            right = [np.diff(law.marginal(j).cdf(pair)) for j, pair in enumerate(pairs)]
            figures["error"].append(float(np.mean(law.expected_error(truths))))
            figures["rank_error"].append(float(np.mean(law.expected_rank_error())))
            figures["wrong"].append(1.0 - float(np.mean(right)))
        return {name: np.array(means) for name, means in figures.items() if name in names}
