"""From the sorted records of one window to cells with their base, in one call.

`grid_points.py` and `runs.py` together, for the many small data sets where calls cost more
than work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    I64,
    IN_F64,
    IN_I64,
    NOTHING,
    OUT_F64,
    OUT_I64,
    helper,
    kernel,
    wide_vectors,
)
from ..bits.logexp import LOG2E, log_one
from .grid_points import distinct
from .runs import fill_cells

TIED = -1  # status: a tie goes on outside


@helper
def finish(count: Any, key: Any, base: Any, log2_base: Any) -> None:
    """Keys become minus distances; base and its logarithm from counts."""
    wide_vectors()
    for i in range(count.size):
        key[i] = -(key[i] >> 1)
        base[i] = np.float64(count[i])
    for i in range(count.size):
        log2_base[i] = log_one(base[i]) * LOG2E


@kernel(NOTHING(IN_I64, OUT_I64, OUT_F64, OUT_F64))
def finish_fill(count: Any, key: Any, base: Any, log2_base: Any) -> None:
    """`finish` of many cells."""
    finish(count, key, base, log2_base)


@kernel(I64(IN_I64, IN_I64, IN_F64, I64, I64, I64, I64, I64, IN_I64, OUT_I64, OUT_I64, OUT_F64))
def window_cells(
    bits: Any, unit: Any, scale: Any, below: Any, total: Any, size: Any, before: Any, after: Any,
    form: Any, work: Any, cells: Any, base: Any,
) -> Any:  # fmt: skip
    """cells: starts, counts, minus distances, a third each; base: counts and their log2.

    `below`, `total`, `size`: as for `fill_cells`. `before`, `after`: whether the first and the
    last record lie outside the ranks that matter, and only show whether a tie goes on there.
    Only the first cell is loose, if records lie below it, and the last, if above.
    Returns how many cells there are, or TIED. work: two words a record; room in a third of
    `cells`, and in a half of `base`: 2 * bits.size + 1.
    """
    n, room = bits.size, cells.size // 3
    points, records = work[:n], work[n:]
    first, last = 0, distinct(bits, unit, scale, points, records)
    if before != 0:
        if records[0] > 1:
            return TIED
        first = 1
    if after != 0:
        if records[last - 1] > 1:
            return TIED
        last -= 1
    start, count, key = cells[:room], cells[room : 2 * room], cells[2 * room :]
    inner_points, inner_records = points[first:last], records[first:last]
    m = fill_cells(inner_points, inner_records, below, total, size, form, start, count, key)
    finish(count[:m], key[:m], base[:m], base[room : room + m])
    return m
