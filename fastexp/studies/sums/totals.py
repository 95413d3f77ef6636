"""Results of tasks added up, in whatever order they come: exact sums, integer counts."""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from ...errors import StudyError
from ..design.design import Design
from .exact_sums import ExactMoments, ExactSum
from .sketch import BINS, unpacked

FigureSums: TypeAlias = dict[str, Any]  # of one figure: moments, sums and bins, as JSON has them
TaskResult: TypeAlias = dict[str, Any]  # "task", "rows", and a list "cells" of figures' sums

FEW = 1 << 12  # tasks whose bins int64 can add
NOT_OF_IT = "a task's result is not one of this study"
NOT_FINITE = "a figure is infinite or not a number: are bounds too wide?"


class Bins:
    """A sketch's bins, added exactly: int64 for a while, then Python's integers."""

    __slots__ = ("_added", "_recent", "_totals")

    def __init__(self) -> None:
        self._recent, self._added = np.zeros(BINS, np.int64), 0
        self._totals = np.zeros(BINS, object)

    def add(self, pack: list[Any]) -> None:
        """Add the bins of one task, of less than 2**50 each."""
        first, values = unpacked(pack)
        self._recent[first : first + values.size] += values
        self._added += 1
        if self._added == FEW:
            self._settle()

    def _settle(self) -> None:
        self._totals += self._recent
        self._recent[:], self._added = 0, 0

    def sums(self) -> list[int]:
        """The running sums of all bins, exact."""
        self._settle()
        return list(accumulate(self._totals.tolist()))


class Figure:
    """What is known of one figure of one cell so far."""

    __slots__ = ("bins", "moments", "most", "sums")
    most: float

    def __init__(self) -> None:
        self.moments: dict[str, ExactMoments] = defaultdict(ExactMoments)
        self.sums: dict[str, ExactSum] = defaultdict(ExactSum)
        self.most = 0.0
        self.bins: dict[str, Bins] = {}

    def add(self, part: FigureSums, rows: int) -> None:
        """Add the sums of a task with so many data sets."""
        for name, (total, squares) in part.get("moments", {}).items():
            self.moments[name].add(rows, total, squares)
        for name, total in part.get("sums", {}).items():
            self.sums[name].add(total)
        self.most = max(self.most, part.get("most", 0.0))
        for kind in ("exact", "drawn"):
            if kind in part:
                self.bins.setdefault(kind, Bins()).add(part[kind])


class Totals:
    """All cells of a study. Its size does not depend on the number of data sets."""

    rows: list[int]

    def __init__(self, design: Design) -> None:
        self.cells: dict[int, list[int]] = defaultdict(list)
        for index, cell in enumerate(design.cells):
            self.cells[cell.scenario].append(index)
        self.figures: list[dict[str, Figure]] = [{} for _ in design.cells]
        self.rows = [0] * len(design.cells)

    def add(self, result: TaskResult, scenario: int) -> None:
        """Add the result of a task of a scenario."""
        places = self.cells[scenario]
        if len(places) != len(result["cells"]):
            raise StudyError(NOT_OF_IT)
        try:
            for index, parts in zip(places, result["cells"], strict=True):
                self.rows[index] += result["rows"]
                for figure, part in parts.items():
                    self.figures[index].setdefault(figure, Figure()).add(part, result["rows"])
        except (OverflowError, ValueError):
            raise StudyError(NOT_FINITE) from None
