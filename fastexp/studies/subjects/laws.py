"""Exact figures by the law of each data set, one after the other: for whatever has a law."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import AnyArray, FloatArray
from .subject import Block, TrueNumber, squared

FIGURE_METHODS = {"loss": "expected_loss", "bias": "mean"}


class LawFigures:
    """The figures of a subject whose mechanism has `law(row)`."""

    def __init__(self, subject: TrueNumber) -> None:
        self.subject = subject

    def exact(self, block: Block, figures: tuple[str, ...]) -> dict[str, FloatArray]:
        """Expectations, a law a row."""
        truths = self.subject.truths(block)
        made: dict[str, list[float]] = {figure: [] for figure in figures}
        for row, truth in zip(block.ordered, truths, strict=True):
            law = self.law(row)
            for figure in figures:
                if figure == "error":
                    made[figure].append(law.expected_error(truth))
                else:
                    number = getattr(law, FIGURE_METHODS[figure])()
                    made[figure].append(number - truth if figure == "bias" else number)
        return {figure: np.array(numbers) for figure, numbers in made.items()}

    def variances(self, block: Block, exact: dict[str, FloatArray]) -> dict[str, FloatArray]:
        """Of errors, a law a row."""
        if not {"error", "bias"} & set(exact):
            return {}
        made = []
        for row, truth in zip(block.ordered, self.subject.truths(block), strict=True):
            law = self.law(row)
            made.append(law.var() + (law.mean() - truth) ** 2)
        return squared(np.array(made), exact)

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        """P(error or loss <= edge), a law a row."""
        truths = self.subject.truths(block)
        made = []
        for row, truth in zip(block.ordered, truths, strict=True):
            law = self.law(row)
            if figure == "loss_quantile":
                made.append(law.loss_cdf(edges))
            else:
                below = np.nextafter(truth - edges, -np.inf)
                made.append(law.cdf(truth + edges) - law.cdf(below))
        return np.array(made)

    def law(self, row: AnyArray) -> Any:
        """The law of one data set."""
        return self.subject.mechanism.law(row, assume_sorted=True)


class ByLaw(TrueNumber):
    """A mechanism of numbers without a kernel for many data sets: a law a row."""

    def exact(self, block: Block, figures: tuple[str, ...]) -> dict[str, FloatArray]:
        return LawFigures(self).exact(block, figures)

    def variances(self, block: Block, exact: dict[str, FloatArray]) -> dict[str, FloatArray]:
        return LawFigures(self).variances(block, exact)

    def draw(self, block: Block, size: int, key: int) -> AnyArray:
        how: dict[str, Any] = {"rng": key, "assume_sorted": True}
        numbered = zip(block.ordered, block.streams.tolist(), strict=True)
        draw = self.mechanism.sample
        return np.array([draw(row, size, streams=[i], **how) for row, i in numbered])

    def within(self, block: Block, figure: str, edges: FloatArray) -> FloatArray:
        return LawFigures(self).within(block, figure, edges)
