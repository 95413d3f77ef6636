"""Sorted records to distinct grid points: the map of `_grid.Grid.index`, and run lengths.

Point t is float64(A + t * S) / D, correctly rounded on the grids that come here. A record's
point is estimated, then compared with the points around it, so that it is the largest point
that is not above the record, whatever the estimate was.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import (
    I64,
    IN_F64,
    IN_I64,
    NOTHING,
    OUT_F64,
    OUT_I64,
    bits_float,
    helper,
    kernel,
    wide_vectors,
)

# of `unit`; FLOATS: whether records are doubles; ODD: 0, or D without its factors of 2
A, S, LAST, FLOATS, ODD = 0, 1, 2, 3, 4
D, LOW, HIGH, SHARE = 0, 1, 2, 3  # of `scale`; SHARE: points a unit of the records
EXACT = np.int64(1 << 53)
LEAST_QUOTIENT = np.int64(1 << 55)


@helper
def wide_point(number: Any, odd: Any) -> Any:
    """number / odd, correctly rounded, for |number| < 2**62 and odd < 2**29.

    Both are doubles, or the quotient is made of 55 to 62 bits, the last of which says whether
    something is left, and is rounded once.
    """
    n = abs(number)
    if n <= EXACT:
        y = np.float64(n) / np.float64(odd)
    else:
        quotient, rest = n // odd, n % odd
        shift = np.int64(0)
        while (quotient << shift) < LEAST_QUOTIENT:
            shift += 1
        more = rest << shift
        whole = (quotient << shift) + more // odd
        if more % odd != 0:
            whole |= 1
        y = np.float64(whole) / np.float64(np.int64(1) << shift)
    return -y if number < 0 else y


@helper
def point(t: Any, unit: Any, scale: Any) -> Any:
    """The double nearest to grid point t."""
    number = unit[A] + t * unit[S]
    if unit[ODD] != 0:
        return wide_point(number, unit[ODD]) / scale[D]
    return np.float64(number) / scale[D]


@helper
def index_of(bits: Any, unit: Any, scale: Any) -> Any:
    """The largest grid point <= a record, clamped to the grid."""
    if unit[FLOATS] != 0:
        x = bits_float(np.uint64(bits))
    else:
        x = np.float64(min(max(bits, -EXACT), EXACT))
    x = min(max(x, scale[LOW]), scale[HIGH])
    t = min(max(np.int64((x - scale[LOW]) * scale[SHARE]), 0), unit[LAST])
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


@kernel(NOTHING(IN_I64, IN_I64, IN_F64, OUT_I64))
def index_fill(bits: Any, unit: Any, scale: Any, out: Any) -> None:
    """out[i] = the grid index of record i."""
    for i in range(bits.size):
        out[i] = index_of(bits[i], unit, scale)


@helper
def plain_points(t: Any, start: Any, step: Any, parts: Any, out: Any) -> None:
    """out[i] = float64(start + t[i] * step) / parts."""
    wide_vectors()
    for i in range(t.size):
        out[i] = np.float64(start + t[i] * step) / parts


@kernel(NOTHING(IN_I64, IN_I64, IN_F64, OUT_F64))
def points_fill(t: Any, unit: Any, scale: Any, out: Any) -> None:
    """out[i] = the double nearest to grid point t[i]."""
    if unit[ODD] == 0:
        plain_points(t, unit[A], unit[S], scale[D], out)
    else:
        for i in range(t.size):
            out[i] = point(t[i], unit, scale)
