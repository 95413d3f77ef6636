"""Results of tasks added up, in whatever order they come: floats as fractions, counts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ..._typing import AnyArray
from ...errors import StudyError
from ..design.design import Design
from .sketch import BINS

FigureSums: TypeAlias = dict[str, Any]  # of one figure: moments, sums and bins, as JSON has them
TaskResult: TypeAlias = dict[str, Any]  # "task", "rows", and a list "cells" of figures' sums

NOT_OF_IT = "a task's result is not one of this study"
NOT_FINITE = "a figure is infinite or not a number: are bounds too wide?"


class ExactMoments:
    """Mean and spread of numbers that come in groups: of each, their sum and centred squares.

    With the mean of its group taken off before squaring, equal numbers have no spread; what
    groups differ by is added from their exact sums.
    """

    __slots__ = ("_between", "_total", "_within", "count")

    def __init__(self) -> None:
        self.count: int = 0
        self._total, self._within, self._between = Fraction(), Fraction(), Fraction()

    def add(self, count: int, total: float, squares: float) -> None:
        """Add a group: how many numbers, their sum, their squares about their mean."""
        self.count += count
        self._total += Fraction(total)
        self._within += Fraction(squares)
        self._between += Fraction(total) ** 2 / count

    @property
    def mean(self) -> float:
        """The mean, rounded once."""
        return float(self._total / self.count)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of a sample; None of one number."""
        if self.count < 2:
            return None
        between = self._between - self._total**2 / self.count
        return root((self._within + between) / (self.count - 1))


def root(x: Fraction) -> float:
    """The square root of a number that rounding may have brought below 0."""
    return math.sqrt(max(0.0, float(x)))


class Figure:
    """What is known of one figure of one cell so far."""

    __slots__ = ("bins", "moments", "most", "sums")

    def __init__(self) -> None:
        self.moments: dict[str, ExactMoments] = defaultdict(ExactMoments)
        self.sums: dict[str, Fraction] = defaultdict(Fraction)
        self.most: float = 0.0
        self.bins: dict[str, AnyArray] = defaultdict(lambda: np.zeros(BINS, object))

    def add(self, part: FigureSums, rows: int) -> None:
        """Add the sums of a task with so many data sets."""
        for name, (total, squares) in part.get("moments", {}).items():
            self.moments[name].add(rows, total, squares)
        for name, total in part.get("sums", {}).items():
            self.sums[name] += Fraction(total)
        self.most = max(self.most, part.get("most", 0.0))
        for name, (first, values) in part.get("bins", {}).items():
            self.bins[name][first:] += np.array(values, object)


class Totals:
    """All cells of a study. Its size does not depend on the number of data sets."""

    def __init__(self, design: Design) -> None:
        self.cells = design.cells
        self.figures: list[dict[str, Figure]] = [defaultdict(Figure) for _ in design.cells]
        self.rows: Counter[int] = Counter()  # data sets of each scenario

    def add(self, result: TaskResult, scenario: int) -> None:
        """Add the result of a task of a scenario."""
        pairs = zip(self.cells, self.figures, strict=True)
        places = [figures for cell, figures in pairs if cell.scenario == scenario]
        if len(places) != len(result["cells"]):
            raise StudyError(NOT_OF_IT)
        self.rows[scenario] += result["rows"]
        try:
            for figures, parts in zip(places, result["cells"], strict=True):
                for figure, part in parts.items():
                    figures[figure].add(part, result["rows"])
        except (OverflowError, ValueError):
            raise StudyError(NOT_FINITE) from None
