"""From records to cells by the mode's distance: one a distinct record, and the gaps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from .._intake.record_sources import OnGrid, Source
from .._parameters.grid import Grid
from .._selection.weighting import Weighting
from .._typing import IntArray
from ..errors import FastexpError
from ..kernels.bits.heights import SIGNED
from . import cells as _cells
from . import distance as _distance
from .cells import Cells
from .rank import single_points, utilities, valued, widened

EXACT_ONLY = "a coin for an exact cell: please report this"


class ModeShape:
    """Cells of one data set, all of them exact; see `_cells.Shape`."""

    __slots__ = ("cells", "weighting")

    def __init__(self, cells: Cells, weighting: Weighting) -> None:
        self.cells, self.weighting = cells, weighting

    def heights(self, *_: object) -> NoReturn:
        """Never asked for: no cell is loose."""
        raise FastexpError(EXACT_ONLY)

    def accepts(self, *_: object) -> NoReturn:
        """Never asked for: no cell is loose."""
        raise FastexpError(EXACT_ONLY)


class ModeStatistic:
    """What does not depend on data: the exact rate, the grid and the width (`_numbers/rank.py`)."""

    __slots__ = ("grid", "near", "weighting", "width")

    def __init__(
        self,
        rate: Fraction,
        grid: Grid,
        width: int = 0,
        near: tuple[IntArray, IntArray] | None = None,
    ) -> None:
        self.grid, self.width, self.weighting = grid, width, Weighting(rate, None)
        self.near = near

    def cells(self, source: Source) -> tuple[IntArray, IntArray, IntArray]:
        """Starts, counts and distances of all cells."""
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
        if self.near is None:
            return start, count, key >> 1
        return single_points(count, key >> 1, self.near)

    def shape(self, source: Source) -> ModeShape:
        """Cells for draws."""
        start, count, distance = self.cells(source)
        cells = Cells(start, count, utilities(distance), SIGNED, None)
        return ModeShape(cells, self.weighting)

    def sampler(self, source: OnGrid) -> ModeSampler:
        """What a law draws with."""
        return ModeSampler(self, source)


class ModeSampler:
    """Draws of a law: the bytes of the mechanism's own."""

    __slots__ = ("_source", "_statistic")

    def __init__(self, statistic: ModeStatistic, source: OnGrid) -> None:
        self._statistic, self._source = statistic, source

    def sample(self, size: Any, rng: Any, streams: Any, threads: Any, method: Any) -> Any:
        """Values; see the mechanism's `sample`."""
        shape = self._statistic.shape(self._source)
        index = _cells.simulate(shape, size, rng, streams, threads, method)
        return valued(self._statistic.grid, index)

    def with_rate(self, rate: Fraction) -> ModeSampler:
        """The same data at another rate."""
        s = self._statistic
        return ModeSampler(ModeStatistic(rate, s.grid, s.width, s.near), self._source)
