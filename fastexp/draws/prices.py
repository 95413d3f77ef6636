"""Draws of prices by their revenue, in whole ticks: prices are candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.grid import Grid
from ..data.segments import Segments
from ..errors import InvalidRecords
from ..kernels.bits import SIGNED
from ..kernels.prices import fill_revenues
from ..types import Floats, Integers, Words
from . import choose
from .ranks import MISSING
from .words import some_seeds

ROOM = 1 << 20  # revenues of rows that are held at a time, 8 MiB


@dataclass(frozen=True)
class PriceStatistic:
    """The public side of a draw: prices of `unit / grid.parts`, their ticks, and the weighting."""

    grid: Grid
    unit: int
    weighting: choose.Weighting

    def revenues(self, bids: Floats, offsets: Integers) -> Segments:
        """Return the revenue of each price in ticks, for each data set."""
        grid, sets = self.grid, offsets.size - 1
        out = np.empty(sets * grid.size, np.int64)
        start, step = grid.start // self.unit, grid.step // self.unit
        if fill_revenues(bids, offsets, grid.form, start, step, out):
            raise InvalidRecords(MISSING)
        return Segments(out.view(np.uint64), SIGNED, sets)


def draw(data: Segments, statistic: PriceStatistic, seeds: Words, size: int | None) -> Any:
    """Return grid indices: an int, or int64 of shape (size,), (rows,) or (rows, size)."""
    bids, offsets, weighting = data.values, data.offsets, statistic.weighting
    if data.rows is None:
        revenues = statistic.revenues(bids, np.array((0, bids.size)))
        return choose.draw(revenues._replace(rows=None), weighting, seeds, size)
    if offsets is None:
        offsets = np.arange(data.rows + 1) * (bids.size // data.rows)
    some, parts = max(ROOM // statistic.grid.size, 1), []
    for at in range(0, data.rows, some):
        revenues = statistic.revenues(bids, offsets[at : at + some + 1])
        own = some_seeds(seeds, slice(at, at + some))
        parts.append(choose.draw(revenues, weighting, own, size))
    return np.concatenate(parts)
