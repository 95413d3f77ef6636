"""Sorted records to distinct grid points: the map of `Grid.index`, and run lengths.

Point t is the number (A + t * S) / D, released as float64(A + t * S) / D, correctly rounded on
the grids of this module. A record's point is estimated; then exact comparisons decide
(`reaches`), whatever the estimate was:

* nearest: a record is compared with the middle of two points, N / (2 * D) with an integer N,
  by the sign of record * 2 * D - N. The product is the sum of a double and its rounding error,
  another double (Dekker 1971), so the sign is that of the exact numbers;
* below: a record is compared with the points as they are released.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._compiler.jit import (
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

# Of a unit (`new_unit`). FLOATS: whether records are doubles; ODD: 0, or D without its factors of
# 2; BELOW: whether a record counts at the largest point not above it.
A, S, LAST, FLOATS, ODD, BELOW = 0, 1, 2, 3, 4, 5
# Of a scale (`new_scale`). D: without its factor ODD; SHARE: points for each unit of the records;
# TWICE: 2 * D, with its factor ODD.
D, LOW, HIGH, SHARE, TWICE = 0, 1, 2, 3, 4
SPLIT = np.float64((1 << 27) + 1)  # splits a double into two of 26 bits
MAX_EXACT = np.int64(1 << 53)
LEAST_QUOTIENT = np.int64(1 << 55)
FARTHEST = np.int64(1 << 42)  # points below which the places of a grid are estimated
MARGIN = 2.0**-7  # steps: estimates are off by less


def new_unit(
    a: int, s: int, last: int, *, floats: bool, odd: int, below: bool
) -> npt.NDArray[np.int64]:
    """The integers of a grid."""
    return np.array((a, s, last, floats, odd, below), np.int64)


def new_scale(
    d: float, low: float, high: float, share: float, twice: float
) -> npt.NDArray[np.float64]:
    """The doubles of a grid."""
    return np.array((d, low, high, share, twice))


@helper
def wide_point(number: Any, odd: Any) -> Any:
    """number / odd, correctly rounded, for |number| < 2**62 and odd < 2**29.

    Either both are doubles, or the quotient is computed to 55 to 62 bits, the last of which is 1
    if there is a remainder, and rounded once.
    """
    n = abs(number)
    if n <= MAX_EXACT:
        y = np.float64(n) / np.float64(odd)
    else:
        quotient, rest = n // odd, n % odd
        shift = np.int64(0)
        while (quotient << shift) < LEAST_QUOTIENT:
            shift += 1
        scaled_rest = rest << shift
        whole = (quotient << shift) + scaled_rest // odd
        if scaled_rest % odd != 0:
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
def product_error(x: Any, y: Any, product: Any) -> Any:
    """x * y minus its rounding `product`, exactly, for factors far from overflow."""
    a, b = SPLIT * x, SPLIT * y
    x1, y1 = a - (a - x), b - (b - y)
    x0, y0 = x - x1, y - y1
    return ((x1 * y1 - product) + x1 * y0 + x0 * y1) + x0 * y0


@helper
def number(bits: Any, unit: Any) -> Any:
    """A record as a double; integers beyond 2**53 stay beyond every point."""
    if unit[FLOATS] != 0:
        return bits_float(np.uint64(bits))
    return np.float64(min(max(bits, -MAX_EXACT), MAX_EXACT))


@helper
def reaches(x: Any, t: Any, unit: Any, scale: Any) -> Any:
    """Whether a record counts at point t or beyond, for 0 < t <= LAST."""
    if unit[BELOW] != 0:
        return point(t, unit, scale) <= x
    middle = (unit[A] + (t - 1) * unit[S]) + (unit[A] + t * unit[S])
    product, rounded = x * scale[TWICE], np.float64(middle)
    if product != rounded:
        return product > rounded
    rounding_loss = product_error(x, scale[TWICE], product)
    excess = np.float64(np.int64(rounded) - middle) + rounding_loss
    return excess > 0.0 or (excess == 0.0 and t & 1 == 0)


@helper
def rounding(unit: Any) -> Any:
    """The number of steps that is added to a place on the grid before it is rounded down."""
    return 0.5 if unit[BELOW] == 0 else 0.0


@helper
def index_of(bits: Any, unit: Any, scale: Any) -> Any:
    """The grid point that a record counts at."""
    x = min(max(number(bits, unit), scale[LOW]), scale[HIGH])
    place = (x - scale[LOW]) * scale[SHARE]
    t = min(max(np.int64(place + rounding(unit)), 0), unit[LAST])
    while t < unit[LAST] and reaches(x, t + 1, unit, scale):
        t += 1
    while t > 0 and not reaches(x, t, unit, scale):
        t -= 1
    return t


@helper
def estimates(unit: Any, scale: Any) -> Any:
    """Whether estimated places are off by less than MARGIN.

    In steps, the ends of the grid are rounded by at most 2**-9, and each of the five roundings
    of places below 2**42 takes at most 2**-11.
    """
    reach = max(abs(scale[LOW]), abs(scale[HIGH])) * scale[SHARE]
    return reach < MAX_EXACT >> 10 and unit[LAST] < FARTHEST


@helper
def index_all(bits: Any, unit: Any, scale: Any, out: Any) -> None:
    """out[i] = the grid index of record i: the estimate, if that is certain."""
    wide_vectors()
    low, high, share, shift = scale[LOW], scale[HIGH], scale[SHARE], rounding(unit)
    margin = MARGIN if estimates(unit, scale) else 1.0
    floats, doubts = unit[FLOATS] != 0, np.int64(0)
    for i in range(out.size):
        x = bits_float(np.uint64(bits[i])) if floats else np.float64(bits[i])
        guess = (min(max(x, low), high) - low) * share + shift
        t = np.int64(guess)
        fraction = guess - np.float64(t)
        is_certain = margin < fraction < 1.0 - margin
        out[i] = t if is_certain else -1
        doubts += 0 if is_certain else 1
    if doubts > 0:
        for i in range(out.size):
            if out[i] < 0:
                out[i] = index_of(bits[i], unit, scale)


@helper
def distinct(bits: Any, unit: Any, scale: Any, points: Any, records: Any) -> Any:
    """Distinct grid points of sorted records and how many lie on each; returns how many."""
    index_all(bits, unit, scale, points[: bits.size])
    m = -1
    before = np.int64(-1)
    for i in range(bits.size):
        t = points[i]
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
    index_all(bits, unit, scale, out)


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
