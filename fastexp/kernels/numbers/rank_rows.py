"""Cells by rank distance of many small data sets at once: sorted rows of equal length.

The steps are those of one data set (`Sorted.window`, `runs.py`), so that a row has
the same cells alone and among others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_F64, IN_I64, NOTHING, OUT_I64, helper, kernel
from .grid_points import index_of
from .runs import fill_cells


@helper
def window(
    row: Any, first: Any, last: Any, unit: Any, scale: Any, points: Any, records: Any
) -> Any:
    """Distinct grid points of the ranks `first` to `last` and all their records.

    Returns how many points there are, and how many records lie below them. One loop, first down
    through the records that are equal to the first rank, then up, is compiled in half the time.
    """
    i, below, before, m = first, np.int64(-1), np.int64(-1), np.int64(-1)
    while i < row.size:
        t = index_of(row[i], unit, scale)
        if below < 0:
            before = t if i == first else before
            if t == before and i > 0:
                i -= 1
            else:
                i += 0 if t == before else 1
                below, before = i, np.int64(-1)
        else:
            if t != before:
                if i > last:
                    break
                m += 1
                points[m], records[m], before = t, 0, t
            records[m] += 1
            i += 1
    return m + 1, below


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
