"""Cells by rank distance of many small data sets at once: sorted rows of equal length.

The steps are those of one data set (`Sorted.window`, `runs.py`), so that a row has
the same cells alone and among others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    I64,
    IN_F64,
    IN_I64,
    NOTHING,
    OUT_I64,
    helper,
    kernel,
    wide_vectors,
)
from .grid_points import distinct, index_of
from .runs import LEFT, RIGHT, distance, fill_cells, least


@helper
def window(
    row: Any, first: Any, last: Any, unit: Any, scale: Any, points: Any, records: Any
) -> Any:
    """Distinct grid points of the ranks `first` to `last` and all their records.

    Returns how many points there are, and how many records lie below them.
    """
    m = distinct(row[first : last + 1], unit, scale, points, records)
    below = first
    for side in range(2):  # find the ends of equal records, from the first record outside
        low, high = (0, first) if side == 0 else (last + 1, row.size)
        t, i = (points[0], first - 1) if side == 0 else (points[m - 1] + 1, last + 1)
        while low < high:
            if index_of(row[i], unit, scale) >= t:
                high = i
            else:
                low = i + 1
            i = (low + high) >> 1
        if side == 0:
            records[0] += first - high
            below = high
        else:
            records[m - 1] += high - 1 - last
    return m, below


@helper
def fill_keys(first: Any, total: Any, form: Any, keys: Any) -> None:
    """The keys of gaps and records in turn, from the gap above `first` records on, if none tie.

    The keys of the two ends are lower bounds if records lie beyond them.
    """
    ranks = keys.size >> 1
    for j in range(ranks + 1):
        below = first + j
        keys[2 * j] = 2 * distance(below, 0, total - below, form)
        if j < ranks:
            keys[2 * j + 1] = 2 * distance(below, 1, total - below - 1, form)
    if first > 0:
        keys[0] = 2 * least(total - first, form, RIGHT) + 1
    if first + ranks < total:
        keys[2 * ranks] = 2 * least(first + ranks, form, LEFT) + 1


@helper
def spread_cells(points: Any, size: Any, keys: Any, start: Any, count: Any, key: Any) -> Any:
    """`fill_cells` if no records tie and no gap is empty; else returns 0."""
    wide_vectors()
    last, close = points.size - 1, np.int64(0)
    for j in range(last):
        close += 1 if points[j + 1] - points[j] < 2 else 0
    if close > 0 or points[0] == 0 or points[last] == size - 1:
        return 0
    start[0], count[0] = 0, points[0]
    for j in range(last):
        start[2 * j + 1], count[2 * j + 1] = points[j], 1
        start[2 * j + 2], count[2 * j + 2] = points[j] + 1, points[j + 1] - points[j] - 1
    start[2 * last + 1], count[2 * last + 1] = points[last], 1
    start[2 * last + 2], count[2 * last + 2] = points[last] + 1, size - 1 - points[last]
    for k in range(keys.size):
        key[k] = keys[k]
    return keys.size


@kernel(NOTHING(IN_I64, I64, I64, I64, I64, IN_I64, IN_F64, IN_I64, OUT_I64, OUT_I64, OUT_I64))
def rank_cells(
    rows: Any, length: Any, first: Any, last: Any, size: Any, unit: Any, scale: Any, form: Any,
    work: Any, cells: Any, ends: Any,
) -> None:  # fmt: skip
    """Cells of each row, one row after the other: starts, counts and keys, a third each.

    The ranks `first` to `last` of each row of `length` records matter; the grid has `size`
    points. Row r's cells are those from ends[r] to ends[r + 1]. `work`: four words for each rank
    that matters, and one more; `cells`: three times (2 * ranks + 1) for each row.
    """
    ranks, room = last - first + 1, cells.size // 3
    points, records, keys = work[:ranks], work[ranks : 2 * ranks], work[2 * ranks : 4 * ranks + 1]
    fill_keys(first, length, form, keys)
    ends[0] = 0
    for r in range(ends.size - 1):
        row = rows[r * length : (r + 1) * length]
        m, below = window(row, first, last, unit, scale, points, records)
        at = ends[r]
        start, count = cells[at:room], cells[room + at : 2 * room]
        key = cells[2 * room + at :]
        cell_count = 0
        if m == ranks and below == first and records[0] == records[m - 1] == 1:
            cell_count = spread_cells(points, size, keys, start, count, key)
        if cell_count == 0:
            cell_count = fill_cells(
                points[:m], records[:m], below, length, size, form, start, count, key
            )
        ends[r + 1] = at + cell_count
