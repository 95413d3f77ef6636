"""Results of tasks added up, in whatever order they come: floats as fractions, counts in bins.

Quantiles come from bins of fixed edges, which merge by adding integers. A bin is 1/16 of an
octave: 4.4 % wide. A quantile is read by going linearly through the bin that holds it, which for a
smooth distribution errs by some 0.1 %. The same edges serve drawn errors (counts) and exact laws
(probabilities).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray
from ...errors import StudyError
from ..design.design import Cell, Design

BINS_PER_OCTAVE, OCTAVES = 16, 40
BINS = BINS_PER_OCTAVE * OCTAVES + 3  # with those of 0 and of all that is beyond the last edge
UNIT = 1 << 30  # of expected numbers
OCTAVE_STEPS = np.array([2.0 ** (i / BINS_PER_OCTAVE) for i in range(BINS_PER_OCTAVE)])


@lru_cache(maxsize=64)
def edges_below(most: float) -> FloatArray:
    """The edges for errors up to `most`: 0, then 40 octaves, the last at or above `most`.

    Bin 0 holds the errors of exactly 0, bin j those in (edge j - 1, edge j].
    """
    top = math.frexp(most)[1]
    octaves = [np.ldexp(OCTAVE_STEPS, top - OCTAVES + o) for o in range(OCTAVES)]
    edges = np.concatenate([[0.0], *octaves, [math.ldexp(1.0, top)]])
    edges.flags.writeable = False
    return edges


def edges_of(cell: Cell, figure: str) -> FloatArray:
    """The edges of the bins for quantiles of a figure of a cell."""
    return edges_below(cell.subject.most(figure, cell.n))


def counts(values: FloatArray, edges: FloatArray) -> IntArray:
    """How many of the values >= 0 fall in each bin; what is beyond the last edge, in one more."""
    bin_index = np.searchsorted(edges, values.reshape(-1), "left")
    return np.bincount(bin_index, minlength=edges.size + 1).astype(np.int64)


def quantile(
    cumulative: FloatArray, edges: FloatArray, p: float, resolution: float
) -> float | None:
    """The p-quantile of bins whose running sums are given, relative to their last one.

    Where values are multiples of a `resolution` > 0, one of these in the bin is given. None
    where it is beyond all edges.
    """
    level = p * float(cumulative[-1])
    j = int(np.searchsorted(cumulative, level * (1 - 1e-12), "left"))
    if j == 0:
        return 0.0
    if j >= edges.size:
        return None
    low, high = float(edges[j - 1]), float(edges[j])
    before, mass = float(cumulative[j - 1]), float(cumulative[j] - cumulative[j - 1])
    part = min(1.0, max(0.0, (level - before) / mass)) if mass > 0 else 1.0
    if resolution > 0.0:
        first, last = math.floor(low / resolution) + 1, math.floor(high / resolution)
        if last >= first:
            step = max(1, math.ceil(part * (last - first + 1) - 1e-9))
            return (first + step - 1) * resolution
    return low + part * (high - low)


def quanta(masses: FloatArray) -> IntArray:
    """Expected numbers of data sets in bins, in units of 2**-30: integers add in any order."""
    return np.rint(np.maximum(masses, 0.0) * float(UNIT)).astype(np.int64)


def packed(values: IntArray) -> list[Any]:
    """Bins as they are written: the first that is not 0, and what it and those after it hold."""
    first = int((values != 0).argmax())
    return [first, values[first:].tolist()]


FigureSums: TypeAlias = dict[str, Any]  # of one figure: moments, sums and bins, as JSON has them
TaskResult: TypeAlias = dict[str, Any]  # "task", "rows", and a list "cells" of figures' sums

FOREIGN_RESULT = "a task's result is not one of this study"
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
            raise StudyError(FOREIGN_RESULT)
        self.rows[scenario] += result["rows"]
        try:
            for figures, parts in zip(places, result["cells"], strict=True):
                for figure, part in parts.items():
                    figures[figure].add(part, result["rows"])
        except (OverflowError, ValueError):
            raise StudyError(NOT_FINITE) from None
