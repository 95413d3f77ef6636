"""Sorted records to distinct grid points: the map of `_grid.Grid.index`, and run lengths.

Point t is float64(A + t * S) / D, correctly rounded on the grids that come here. A record's
point is estimated, then compared with the points around it, so that it is the largest point
that is not above the record, whatever the estimate was.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import I64, IN_F64, IN_I64, OUT_I64, bits_float, helper, kernel

A, S, LAST, FLOATS = 0, 1, 2, 3  # of `unit`; FLOATS: whether records are doubles
D, LOW, HIGH, SHARE = 0, 1, 2, 3  # of `scale`; SHARE: points a unit of the records
EXACT = np.int64(1 << 53)


@helper
def point(t: Any, unit: Any, scale: Any) -> Any:
    """The double nearest to grid point t."""
    return np.float64(unit[A] + t * unit[S]) / scale[D]


@helper
def index_of(bits: Any, unit: Any, scale: Any) -> Any:
    """The largest grid point <= a record, clamped to the grid."""
    if unit[FLOATS] != 0:
        x = bits_float(np.uint64(bits))
    else:
        x = np.float64(min(max(bits, -EXACT), EXACT))
    x = min(max(x, scale[LOW]), scale[HIGH])
    t = min(np.int64((x - scale[LOW]) * scale[SHARE]), unit[LAST])
    while t < unit[LAST] and point(t + 1, unit, scale) <= x:
        t += 1
    while t > 0 and point(t, unit, scale) > x:
        t -= 1
    return t


@helper
def distinct(bits: Any, unit: Any, scale: Any, points: Any, records: Any) -> Any:
    """Distinct grid points of sorted records and how many lie on each; returns how many."""
    m = -1
    before = np.int64(-1)
    for i in range(bits.size):
        t = index_of(bits[i], unit, scale)
        if t != before:
            m += 1
            points[m] = t
            records[m] = 0
            before = t
        records[m] += 1
    return m + 1


@kernel(I64(IN_I64, IN_I64, IN_F64, OUT_I64, OUT_I64))
def grid_runs(bits: Any, unit: Any, scale: Any, points: Any, records: Any) -> Any:
    """`distinct` of one data set."""
    return distinct(bits, unit, scale, points, records)
