"""Sums of task results, the same in any order: floats as fractions, and counts in bins.

Quantiles are computed from bins with fixed edges, which merge by adding integers. A bin is 1/256 of
an octave, 0.27 % wide. A quantile is interpolated linearly within its bin. The same edges serve
drawn errors (counts) and exact laws (probabilities).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray
from ...errors import StudyError
from ..design.design import Cell, Design

BINS_PER_OCTAVE, OCTAVES = 256, 40
BINS = BINS_PER_OCTAVE * OCTAVES + 3  # and one for 0, one below all octaves, one above them
GROUP = 16  # bins: see `masses`
UNIT = 1 << 30  # units in a bin for one expected data set
OCTAVE_STEPS = np.array([2.0 ** (i / BINS_PER_OCTAVE) for i in range(BINS_PER_OCTAVE)])


@lru_cache(maxsize=64)
def edges_below(most: float) -> FloatArray:
    """Return the edges for errors up to `most`: 0, then 40 octaves that end at or above `most`.

    Bin 0 holds the errors that are exactly 0, and bin j those in (edge j - 1, edge j].
    """
    top = math.frexp(most)[1]
    octaves = [np.ldexp(OCTAVE_STEPS, top - OCTAVES + o) for o in range(OCTAVES)]
    edges = np.concatenate([[0.0], *octaves, [math.ldexp(1.0, top)]])
    edges.flags.writeable = False
    return edges


def edges_of(cell: Cell, figure: str) -> FloatArray:
    """Return the edges of the bins for the quantiles of a figure of a cell."""
    return edges_below(cell.subject.most(figure, cell.n))


def counts(values: FloatArray, edges: FloatArray) -> IntArray:
    """Return the number of values >= 0 in each bin; one more bin is for those above all edges."""
    bin_index = np.searchsorted(edges, values.reshape(-1), "left")
    return np.bincount(bin_index, minlength=edges.size + 1).astype(np.int64)


def quantile(
    cumulative: FloatArray,
    edges: FloatArray,
    p: float,
    resolution: float,
    part: float | None = None,
) -> float | None:
    """Return the p-quantile of bins from their cumulative sums; p is a share of the last sum.

    If all values are multiples of a `resolution` > 0, it is a multiple in the bin (if there is
    one). If the quantile is above all edges, it is None. With `part` 0 or 1 it is not interpolated:
    it is the lower or the upper end of the bin.
    """
    level = p * float(cumulative[-1])
    j = int(np.searchsorted(cumulative, level * (1 - 1e-12), "left"))
    if j == 0:
        return 0.0
    if j >= edges.size:
        return None
    low, high = float(edges[j - 1]), float(edges[j])
    before, mass = float(cumulative[j - 1]), float(cumulative[j] - cumulative[j - 1])
    if part is None:
        part = min(1.0, max(0.0, (level - before) / mass)) if mass > 0 else 1.0
    if resolution > 0.0:
        first, last = math.floor(low / resolution) + 1, math.floor(high / resolution)
        if last >= first:
            step = max(1, math.ceil(part * (last - first + 1) - 1e-9))
            return (first + step - 1) * resolution
    return low + part * (high - low)


def masses(
    below: Callable[[FloatArray], FloatArray], rows: int, edges: FloatArray, least: float
) -> IntArray:
    """Return the expected number of data sets in each bin, as `counts` does, in quanta.

    `below(edges)` is the sum over `rows` data sets of P(value <= edge). It is evaluated at each
    edge only in groups of 16 bins that have at least the share `least` of the mass; in the others
    the mass is spread evenly.
    """
    index = np.arange(edges.size)
    known = (index % GROUP == 0) | (index == edges.size - 1)
    sums = np.zeros(edges.size)
    sums[known] = below(edges[known])
    full = np.diff(sums[known]) >= least * rows
    fine = ~known & full[index // GROUP]
    sums[fine] = below(edges[fine])
    known |= fine
    sums = np.interp(edges, edges[known], sums[known])
    return np.diff(quanta(np.append(sums, rows)), prepend=0)


def quanta(masses: FloatArray) -> IntArray:
    """Return expected numbers of data sets as integers in units of 2**-30, to add in any order."""
    return np.rint(np.maximum(masses, 0.0) * float(UNIT)).astype(np.int64)


def packed(values: IntArray) -> list[Any]:
    """Return bins in the form that is saved: the indices of those that are not 0, and these."""
    indices = np.flatnonzero(values)
    return [indices.tolist(), values[indices].tolist()]


FigureSums: TypeAlias = dict[str, Any]  # moments, sums and bins of one figure, as JSON values
TaskResult: TypeAlias = dict[str, Any]  # "task", "rows" and "cells": for each, sums by figure

FOREIGN_RESULT = "a task's result is not one of this study"
NOT_FINITE = "a figure is infinite or not a number: are bounds too wide?"


class ExactMoments:
    """Mean and standard deviation of numbers, from the sum and the centred squares of each group.

    The mean of its group is subtracted from each number before it is squared, so that equal
    numbers have no spread. The spread between groups is added from their exact sums.
    """

    __slots__ = ("_between", "_total", "_within", "count")

    def __init__(self) -> None:
        self.count: int = 0
        self._total, self._within, self._between = Fraction(), Fraction(), Fraction()

    def add(self, count: int, total: float, squares: float) -> None:
        """Add a group: its size, its sum, and the sum of squares about its mean."""
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
        """The standard deviation of a sample; None for a single number."""
        if self.count < 2:
            return None
        between = self._between - self._total**2 / self.count
        return root((self._within + between) / (self.count - 1))


def root(x: Fraction) -> float:
    """Return the square root of a number that may be below 0 by a rounding error."""
    return math.sqrt(max(0.0, float(x)))


class Figure:
    """The sums of one figure of one cell, over the tasks that are finished."""

    __slots__ = ("bins", "moments", "most", "sums")

    def __init__(self) -> None:
        self.moments: dict[str, ExactMoments] = defaultdict(ExactMoments)
        self.sums: dict[str, Fraction] = defaultdict(Fraction)
        self.most: float = 0.0
        self.bins: dict[str, AnyArray] = defaultdict(lambda: np.zeros(BINS, object))

    def add(self, part: FigureSums, rows: int) -> None:
        """Add the sums of a task of `rows` data sets."""
        for name, (total, squares) in part.get("moments", {}).items():
            self.moments[name].add(rows, total, squares)
        for name, total in part.get("sums", {}).items():
            self.sums[name] += Fraction(total)
        self.most = max(self.most, part.get("most", 0.0))
        for name, (indices, values) in part.get("bins", {}).items():
            self.bins[name][indices] += np.array(values, object)


class Totals:
    """The sums of all cells of a study. Their size does not grow with the number of data sets."""

    def __init__(self, design: Design) -> None:
        self.cells = design.cells
        self.figures: list[dict[str, Figure]] = [defaultdict(Figure) for _ in design.cells]
        self.rows: Counter[int] = Counter()  # the number of data sets, by scenario

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
