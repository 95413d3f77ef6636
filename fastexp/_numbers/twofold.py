"""Numbers as sums of two doubles, elementwise: 2**-100 relative, with the same bits everywhere.

Only +, - and *, each rounded once. Dekker, "A floating-point technique for extending the
available precision" (1971); nothing may overflow or become subnormal.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from .._typing import AnyArray, FloatArray

Twofold: TypeAlias = tuple[FloatArray, FloatArray]  # the first is the sum, rounded


def split(number: Fraction) -> tuple[float, float]:
    """The two doubles of an exact number."""
    high = float(number)
    return high, float(number - Fraction(high))


def twofold(numbers: AnyArray) -> Twofold:
    """The two doubles of float64 or int64, exactly."""
    if numbers.dtype.kind == "f":
        return numbers, np.zeros_like(numbers)
    rest = numbers & 2047  # int64 without its last 11 bits is a double
    return _normal((numbers - rest).astype(np.float64), rest.astype(np.float64))


def times(x: Any, high: Any, low: Any) -> Twofold:
    """x * (high + low)."""
    product = x * high
    x_top, high_top = _top(x), _top(high)
    x_rest, high_rest = x - x_top, high - high_top
    lost = x_top * high_top - product
    lost = ((lost + x_top * high_rest) + x_rest * high_top) + x_rest * high_rest
    return _normal(product, lost + x * low)


def plus(x: Twofold, y: tuple[float, float]) -> Twofold:
    """x + y, both >= 0."""
    total = x[0] + y[0]
    other = total - x[0]
    lost = (x[0] - (total - other)) + (y[0] - other)
    return _normal(total, lost + (x[1] + y[1]))


def _top(x: Any) -> Any:
    """The upper 26 bits of a double."""
    scaled = x * 134217729.0  # 2**27 + 1
    return scaled - (scaled - x)


def _normal(high: FloatArray, low: FloatArray) -> Twofold:
    total = high + low
    return total, low - (total - high)
