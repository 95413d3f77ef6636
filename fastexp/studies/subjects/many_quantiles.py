"""Many quantiles at once under study: a draw has an answer for each of them."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..._numbers.distance import quantile_ranks
from ..._parameters.grid import Grid, decimal
from ..._typing import AnyArray, FloatArray
from ...laws.figures import Figures
from ...mechanisms._several import JointMechanism
from ...mechanisms.quantile import Quantile
from ...mechanisms.quantiles import Quantiles
from ...privacy import Guarantee, sequential
from .subject import MANY, Block, StudySubject, drawn_from_records, one_of_units

MOST_EXACT = 4  # quantiles


@dataclass(frozen=True)
class Independent:
    """Each quantile by a `Quantile` of its own with an equal part of epsilon, or of rho.

    Parts of epsilon are ε/m. By zero-concentrated privacy m draws of ε/√m have the ρ = ε²/8 of
    one draw of ε; their pure promise is ε·√m. Answers are put in order, which costs nothing and
    never makes their errors larger on average.
    """

    several: Quantiles
    unit: str  # of `one_of_units`

    @cached_property
    def parts(self) -> list[Quantile]:
        """The mechanism of each quantile."""
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
        """What all draws together promise."""
        return sequential(part.guarantee for part in self.parts)

    def sample(self, records: AnyArray, size: int, *, rng: int, **options: Any) -> AnyArray:
        """Draws of all quantiles, each with streams of its own."""
        draws = [
            part.sample(records, size, rng=[rng, j], **options) for j, part in enumerate(self.parts)
        ]
        return np.sort(np.stack(draws, axis=-1), axis=-1)


class ManyQuantiles(StudySubject):
    """Errors of m answers: their mean, and that of the worst one of each draw.

    The true quantile is what the mechanisms take for it: the record of rank q·n, or any number
    from the record of this rank to the next one, and their middle for `error`. Ranks are those
    of the records on the mechanism's grid: an answer with L records below it and U not above it
    has a rank error of max(0, L - q·n, q·n - U).

    Where there is a joint law, mean errors are exact by its marginals; of many quantiles a law
    takes seconds, and there are only draws. With a `unit` quantiles are `Independent`.
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
        self.closed: bool = is_joint and len(self.q) <= MOST_EXACT

    def _ends(self, block: Block) -> tuple[AnyArray, AnyArray]:
        """Between which records each true quantile lies: two arrays (rows, m)."""
        ranks = np.array([quantile_ranks(q, "weak", block.n) for q in self.q])
        return block.ordered[:, ranks[:, 0] - 1], block.ordered[:, ranks[:, 1] - 1]

    def truths(self, block: Block) -> FloatArray:
        low, high = self._ends(block)
        return (0.5 * low + 0.5 * high).astype(np.float64)

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        return drawn_from_records(self.mechanism.sample, block, size, key)

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
