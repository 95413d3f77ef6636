"""From windows of ranks to cells of grid points, for one data set or for many rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._intake.record_sources import Window
from .._parameters.grid import Grid
from .._typing import AnyArray, FloatArray, IntArray
from ..errors import ParameterTypeError
from ..kernels.numbers import rank_rows, runs
from .distance import RanksThatMatter


def widened(
    start: IntArray, count: IntArray, key: IntArray, width: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the cells with the least key within `width` points of each point."""
    if width == 0:
        return start, count, key
    m = start.size
    queue = np.empty(m, np.int64)
    wide_start, wide_count, wide_key = (np.empty(2 * m + 1, np.int64) for _ in range(3))
    n = runs.widen_fill(start, count, key, width, queue, wide_start, wide_count, wide_key)
    return wide_start[:n], wide_count[:n], wide_key[:n]


def cells_of(
    window: Window, form: IntArray, size: int, width: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the starts, counts and keys of cells: see `kernels/numbers/runs.py`."""
    points, records, below, total = window
    room = 2 * points.size + 1
    start, count, key = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    m = runs.cells_fill(points, records, below, total, size, form, start, count, key)
    return widened(start[:m], count[:m], key[:m], width)


class RowCells(NamedTuple):
    """Starts, counts and keys (`kernels/numbers/runs.py`), a third each; and the rows' ends.

    Row r has the entries from ends[r] to ends[r + 1] of each third, whose end may be unused.
    """

    parts: IntArray
    ends: IntArray

    @property
    def most(self) -> int:
        return int(np.diff(self.ends).max())


def kernel_form(grid: Grid) -> tuple[IntArray, IntArray, FloatArray]:
    """Return a grid in the form that kernels take, for float and for integer records."""
    if grid.for_kernels is None:
        raise ParameterTypeError("rows must be of a statistic on a grid that kernels take")
    return grid.for_kernels


def row_cells(grid: Grid, ranks: RanksThatMatter, rows: AnyArray) -> RowCells:
    """Return the cells of non-empty sorted rows without NaN, on a grid that kernels take."""
    floats, integers, scale = kernel_form(grid)
    (m, n), width = rows.shape, ranks.high - ranks.low + 1
    cells, ends = np.empty(3 * m * (2 * width + 1), np.int64), np.empty(m + 1, np.int64)
    rank_rows.rank_cells(
        np.ascontiguousarray(rows).view(np.int64).reshape(-1), n, ranks.low, ranks.high, grid.size,
        floats if rows.dtype.kind == "f" else integers, scale, ranks.form,
        np.empty(4 * width + 1, np.int64), cells, ends,
    )  # fmt: skip
    return RowCells(cells, ends)
