"""Cells by rank distance of many small data sets at once: sorted rows of equal length.

The steps are those of one data set (`_records.Sorted.window`, `runs.py`), so that a row has
the same cells alone and among others.
"""

from __future__ import annotations

from typing import Any

from ..._compiler.jit import IN_F64, IN_I64, NOTHING, OUT_I64, helper, kernel
from .grid_points import distinct, index_of
from .runs import BELOW, SIZE, TOTAL, fill_cells

LENGTH, FIRST, LAST, POINTS = 0, 1, 2, 3  # of what the kernel is told


@helper
def window(
    row: Any, told: Any, unit: Any, scale: Any, points: Any, records: Any, found: Any
) -> Any:
    """Distinct grid points of the ranks FIRST to LAST and all their records; how many points.

    found[BELOW] = the number of records below them.
    """
    first, last = told[FIRST], told[LAST]
    m = distinct(row[first : last + 1], unit, scale, points, records)
    while first > 0 and index_of(row[first - 1], unit, scale) == points[0]:
        first -= 1
        records[0] += 1
    while last < row.size - 1 and index_of(row[last + 1], unit, scale) == points[m - 1]:
        last += 1
        records[m - 1] += 1
    found[BELOW] = first
    return m


@kernel(NOTHING(IN_I64, IN_I64, IN_I64, IN_F64, IN_I64, OUT_I64, OUT_I64, OUT_I64))
def rank_cells(
    rows: Any, told: Any, unit: Any, scale: Any, form: Any, work: Any, cells: Any, ends: Any
) -> None:
    """Cells of each row, one row after the other: starts, counts and keys, a third each.

    Row r's cells are those from ends[r] to ends[r + 1]. `work`: 3 words, then two for each
    rank that matters; `cells`: three times (2 * ranks + 1) for each row.
    """
    length, ranks, room = told[LENGTH], told[LAST] - told[FIRST] + 1, cells.size // 3
    found, points, records = work[:3], work[3 : 3 + ranks], work[3 + ranks :]
    found[TOTAL] = length
    found[SIZE] = told[POINTS]
    ends[0] = 0
    for r in range(ends.size - 1):
        row = rows[r * length : (r + 1) * length]
        m = window(row, told, unit, scale, points, records, found)
        at = ends[r]
        start, count = cells[at:room], cells[room + at : 2 * room]
        key = cells[2 * room + at :]
        ends[r + 1] = at + fill_cells(points[:m], records[:m], found, form, start, count, key)
