"""Selections: a data set is the utilities of k candidates, and what counts is the loss."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, ClassVar

import numpy as np

from ..._parameters.descriptions import name_of
from ..._typing import AnyArray, FloatArray
from ...errors import StudyError
from ...laws.bounds import loss_bound
from ...laws.figures import SQUARES, Figures
from ...mechanisms._counting import CountsMechanism
from .laplace_max import noisy_max_losses
from .subject import Block, StudySubject


class Utilities(StudySubject):
    """A mechanism whose `sample` takes rows of utilities."""

    takes: ClassVar[str] = "utilities"
    is_bounded: ClassVar[bool] = False

    def _taken(self, rows: AnyArray) -> AnyArray:
        """Utilities as the mechanism takes them: perhaps as integers only."""
        if not isinstance(self.mechanism, CountsMechanism):
            return np.ascontiguousarray(rows)
        counts = np.ascontiguousarray(rows, dtype=np.int64)
        if not np.array_equal(counts, rows):
            name = name_of(self.mechanism)
            raise StudyError(f"{name} takes counts: the utilities of its data must be integers")
        return counts

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        rows = self._taken(block.rows)
        return np.asarray(self.mechanism.sample(rows, size, rng=key, streams=block.streams))

    def most(self, figure: str, n: int) -> float:
        return float(self.mechanism.sensitivity) * 2.0**20

    def resolution(self, figure: str, n: int, whole: bool) -> float:
        return 1.0 if whole else 0.0

    def reach(self, block: Block, figure: str) -> float:
        rows = block.rows
        return 1.0 if figure == "error" else float((rows.max(axis=1) - rows.min(axis=1)).max())


class Selection(Utilities):
    """`Exponential`, `PermuteAndFlip`, `ReportNoisyMax`: the law of each row of utilities.

    With Laplace noise probabilities are by quadrature, to some 1e-12, and no theorem holds. The
    error of a draw is 1 where the candidate is not a best one, so that the expected error is the
    probability of that.
    """

    figures: tuple[str, ...] = (
        "error",
        "loss",
        "loss_quantile",
        "theorem_6",
        "corollary_7",
    )

    def __init__(self, mechanism: Any) -> None:
        super().__init__(mechanism)
        self.is_laplace = getattr(mechanism, "noise", "") == "laplace"
        if self.is_laplace:
            self.figures = self.figures[:3]

    def exact(self, block: Block, names: Collection[str]) -> Figures:
        columns: dict[str, list[float]] = {name: [] for name in names}
        for row in block.rows:
            losses, masses = self._losses(row)
            for name, column in columns.items():
                number = losses if name.startswith("loss") else (losses > 0).astype(np.float64)
                power = number * number if name in SQUARES.values() else number
                column.append(math.fsum((masses * power).tolist()))
        return {name: np.array(column) for name, column in columns.items()}

    def _losses(self, row: AnyArray) -> tuple[FloatArray, FloatArray]:
        """The loss of each candidate, and its probability."""
        losses = row.max() - row
        if self.is_laplace:
            return losses, noisy_max_losses(losses, float(self.mechanism._weighting.rate))
        return losses, self.mechanism.law(self._taken(row)).probabilities

    def values(
        self, block: Block, drawn: AnyArray, figures: tuple[str, ...]
    ) -> dict[str, FloatArray]:
        losses = block.rows.max(axis=1)[:, None] - np.take_along_axis(block.rows, drawn, axis=1)
        values = {"loss": losses} if "loss" in figures else {}
        if "error" in figures:
            values["error"] = (losses > 0).astype(np.float64)
        return values

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        below = []
        for row in block.rows:
            losses, masses = self._losses(row)
            order = np.argsort(losses, kind="stable")
            sums = np.concatenate([[0.0], np.cumsum(masses[order])])
            below.append(sums[np.searchsorted(losses[order], edges, "right")])
        return np.array(below)

    def bound(self, block: Block, figure: str, failure: float) -> FloatArray:
        m, t = self.mechanism, math.log(1 / failure)
        bounds = []
        for row in block.rows:
            best = int((row == row.max()).sum()) if figure == "theorem_6" else 1
            bounds.append(
                loss_bound(
                    t,
                    epsilon=m.epsilon,
                    sensitivity=m.sensitivity,
                    k=row.size,
                    optimal=best,
                    monotonic=m.monotonic,
                )
            )
        return np.array(bounds)


class Response(Selection):
    """`RandomizedResponse`: the bit is the better of two candidates; if equal, none is wrong."""

    figures: tuple[str, ...] = ("error",)

    def _losses(self, row: AnyArray) -> tuple[FloatArray, FloatArray]:
        return row.max() - row, self.mechanism.law(int(row[1] > row[0])).probabilities

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        bits = (block.rows[:, 1] > block.rows[:, 0]).astype(np.int64)
        pairs = zip(bits, block.streams.tolist(), strict=True)
        sample = self.mechanism.sample
        return np.array([sample(np.full(size, bit), rng=[key, number]) for bit, number in pairs])
