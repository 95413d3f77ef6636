"""Results of tasks added up, in whatever order they come: exact sums, integer counts."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import StudyError
from .sketch import unpacked
from .sums import UNIT, ExactMoments, ExactSum, exact

NOT_OF_IT = "a task's result is not one of this study"
NOT_FINITE = "a figure is infinite or not a number: are bounds too wide?"


class Bins:
    """A sketch's bins, added exactly: integers in units of 2**-1074."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: dict[int, int] = defaultdict(int)

    def add(self, pack: list[Any]) -> None:
        """Add the bins of one task."""
        first, values = unpacked(pack)
        for at, value in enumerate(values, first):
            self.held[at] += exact(value)

    def dense(self, size: int) -> FloatArray:
        """All bins as floats, each rounded once."""
        made = np.zeros(size)
        for at, of in self.held.items():
            made[at] = of / (1 << UNIT)
        return made


class Figure:
    """What is known of one figure of one cell so far."""

    __slots__ = ("bins", "moments", "most", "sums")

    def __init__(self) -> None:
        self.moments: dict[str, ExactMoments] = defaultdict(ExactMoments)
        self.sums: dict[str, ExactSum] = defaultdict(ExactSum)
        self.most = 0.0
        self.bins: dict[str, Bins] = {}

    def add(self, part: dict[str, Any], rows: int) -> None:
        """Add what a task found on so many data sets."""
        for name, (total, squares) in part.get("moments", {}).items():
            self.moments[name].add(rows, total, squares)
        for name, total in part.get("sums", {}).items():
            self.sums[name].add(total)
        self.most = max(self.most, part.get("most", 0.0))
        for kind in ("exact", "variance", "drawn"):
            if kind in part:
                self.bins.setdefault(kind, Bins()).add(part[kind])


class Totals:
    """All cells of a study. Its size does not depend on the number of data sets."""

    def __init__(self, study: Any) -> None:
        self.cells: dict[int, list[Any]] = defaultdict(list)
        for index, cell in enumerate(study._cells):
            self.cells[cell.group].append(index)
        self.figures: list[dict[str, Figure]] = [{} for _ in study._cells]
        self.rows = [0] * len(study._cells)

    def add(self, result: dict[str, Any], group: int) -> None:
        """Add the result of a task of a group."""
        places = self.cells[group]
        if len(places) != len(result["cells"]):
            raise StudyError(NOT_OF_IT)
        try:
            for index, parts in zip(places, result["cells"], strict=True):
                self.rows[index] += result["rows"]
                for figure, part in parts.items():
                    self.figures[index].setdefault(figure, Figure()).add(part, result["rows"])
        except (OverflowError, ValueError):
            raise StudyError(NOT_FINITE) from None
