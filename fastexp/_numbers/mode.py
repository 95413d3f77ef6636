"""Cells by the mode's distance: one for each distinct record, and the gaps between them."""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn

import numpy as np

from .._intake.record_sources import RecordSource
from .._selection.weighting import Weighting
from .._typing import IntArray, WordArray
from ..errors import FastexpError
from ..kernels.bits.heights import SIGNED
from . import distance as _distance
from .cells import Cells
from .distance_statistic import DistanceStatistic, utilities
from .few_cells import FewCells
from .rank_cells import widened

EXACT_ONLY = "a coin for an exact cell: please report this"


class ModeShape:
    """Cells of one data set, all of them exact; see `cells.Shape`."""

    def __init__(self, cells: Cells, weighting: Weighting) -> None:
        self.cells, self.weighting = cells, weighting

    def heights(self, *_: object) -> NoReturn:
        """Never called: no cell is loose."""
        raise FastexpError(EXACT_ONLY)

    accepts = distance = heights


class ModeStatistic(DistanceStatistic):
    """A statistic by the mode's distance."""

    def cells(self, source: RecordSource) -> tuple[IntArray, IntArray, IntArray]:
        points, records = source.counts(self.grid)
        gap = int(_distance.mode_distance(records, -1))
        starts = np.concatenate([[0], points + 1])
        counts = np.concatenate([points, [self.grid.size]]) - starts
        distances = _distance.mode_distance(records, np.arange(points.size))
        start = np.concatenate([starts, points])
        count = np.concatenate([counts, np.ones_like(points)])
        key = 2 * np.concatenate([np.full(starts.size, gap), distances])
        filled = np.flatnonzero(count > 0)
        order = filled[np.argsort(start[filled], kind="stable")]
        start, count, key = widened(start[order], count[order], key[order], self.width)
        return self.near_cells(start, count, key >> 1)

    def shape(self, source: RecordSource) -> ModeShape:
        start, count, distance = self.cells(source)
        cells = Cells(start, count, utilities(distance), SIGNED, None)
        return ModeShape(cells, self.weighting)

    def farthest(self, n: int) -> int:
        """Return the distance of a point without records when all are at another point."""
        return n + 1

    def of_few(self, weights: WordArray) -> FewCells:
        return FewCells(self, weights)

    def with_rate(self, rate: Fraction) -> ModeStatistic:
        return ModeStatistic(rate, self.grid, self.width, self.near)
