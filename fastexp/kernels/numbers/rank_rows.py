"""Cells by rank distance of many small data sets at once: sorted rows of equal length.

The steps are those of one data set (`Sorted.window`, `runs.py`), so that a row has
the same cells alone and among others.
"""

from __future__ import annotations

from typing import Any

from ..._compiler.jit import I64, IN_F64, IN_I64, NOTHING, OUT_I64, helper, kernel
from .grid_points import distinct, index_of
from .runs import fill_cells


@helper
def window(
    row: Any, first: Any, last: Any, unit: Any, scale: Any, points: Any, records: Any
) -> Any:
    """Distinct grid points of the ranks `first` to `last` and all their records.

    Returns how many points there are, and how many records lie below them.
    """
    m = distinct(row[first : last + 1], unit, scale, points, records)
    while first > 0 and index_of(row[first - 1], unit, scale) == points[0]:
        first -= 1
        records[0] += 1
    while last < row.size - 1 and index_of(row[last + 1], unit, scale) == points[m - 1]:
        last += 1
        records[m - 1] += 1
    return m, first


@kernel(NOTHING(IN_I64, I64, I64, I64, I64, IN_I64, IN_F64, IN_I64, OUT_I64, OUT_I64, OUT_I64))
def rank_cells(
    rows: Any, length: Any, first: Any, last: Any, size: Any, unit: Any, scale: Any, form: Any,
    work: Any, cells: Any, ends: Any,
) -> None:  # fmt: skip
    """Cells of each row, one row after the other: starts, counts and keys, a third each.

    The ranks `first` to `last` of each row of `length` records matter; the grid has `size`
    points. Row r's cells are those from ends[r] to ends[r + 1]. `work`: two words for each rank
    that matters; `cells`: three times (2 * ranks + 1) for each row.
    """
    ranks, room = last - first + 1, cells.size // 3
    points, records = work[:ranks], work[ranks:]
    ends[0] = 0
    for r in range(ends.size - 1):
        row = rows[r * length : (r + 1) * length]
        m, below = window(row, first, last, unit, scale, points, records)
        at = ends[r]
        start, count = cells[at:room], cells[room + at : 2 * room]
        key = cells[2 * room + at :]
        ends[r + 1] = at + fill_cells(
            points[:m], records[:m], below, length, size, form, start, count, key
        )
