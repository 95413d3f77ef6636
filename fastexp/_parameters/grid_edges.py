"""The least record of each point of a given grid, so that a search among them finds a point."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray

Least = Callable[[int, bool], int | float]  # of a point's index; of doubles, or of integers
EXACT = 1 << 53  # integers up to here are doubles


def float_edges(points: AnyArray, below: bool, least: Least) -> FloatArray:
    """The least double of each point but the first.

    `below`: of records at or above the point itself, not nearest to it. Where float64 might
    round more than once, `least` is asked.
    """
    known, whole = points.astype(np.float64), points.dtype.kind == "i"
    left, right = known[:-1], known[1:]
    if below:
        edges = right.copy()
        hard = whole & (np.abs(right) >= EXACT)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            total = left + right
            back = total - left
            lost = (left - (total - back)) + (right - back)  # left + right = total + lost (Knuth)
        odd = (np.arange(left.size) & 1).astype(bool)
        more = (lost > 0.0) | ((lost == 0.0) & ~odd)
        edges = np.where(more, np.nextafter(total / 2, np.inf), total / 2)
        hard = (np.abs(total) < 2.0**-1000) | (np.abs(total) > 2.0**1000)
        hard |= whole & (np.maximum(np.abs(left), np.abs(right)) >= EXACT)
    for i in np.flatnonzero(hard).tolist():
        edges[i] = least(i + 1, True)
    return edges


def integer_edges(doubles: FloatArray, dtype: np.dtype[Any], least: Least) -> AnyArray:
    """The least int64 or uint64 of each point but the first, as far as there is one.

    `doubles` are the points' `float_edges`.
    """
    lowest, highest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    rounded = np.ceil(doubles)
    easy = np.abs(rounded) < EXACT
    edges = np.maximum(np.where(easy, rounded, 0.0), lowest).astype(dtype)
    for i in np.flatnonzero(~easy).tolist():
        edge = int(least(i + 1, False))
        if edge > highest:
            return edges[:i]
        edges[i] = max(edge, lowest)
    return edges


def at_least(over: int, under: int, floats: bool) -> tuple[int | float, bool]:
    """The least double or integer that is not below over / under, and whether it is equal."""
    if not floats:
        edge = -(-over // under)
        return edge, edge * under == over
    rounded = over / under  # of integers: rounded once
    numerator, denominator = rounded.as_integer_ratio()
    excess = numerator * under - over * denominator
    return (rounded if excess >= 0 else math.nextafter(rounded, math.inf)), excess == 0
