"""Differences and sums of 64-bit numbers as if without rounding: int64, uint64 and float64.

A double cannot tell integers beyond 2**53 apart, and a law on them has to.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .._numbers.revenue import twofold
from .._typing import AnyArray, FloatArray, IntArray
from .elementary import quiet

EXACT = 1 << 53  # integers up to here are doubles
TOP = 2.0**63  # int64 ends here


class Sum(NamedTuple):
    """total + part + rest, exactly; |part| <= ulp(total) / 2, and rest only tips it."""

    total: FloatArray
    part: FloatArray
    rest: FloatArray

    def double_below(self) -> FloatArray:
        """The greatest double <= the sum."""
        down = (self.part < 0.0) | ((self.part == 0.0) & (self.rest < 0.0))
        return np.where(down, np.nextafter(self.total, -np.inf), self.total)

    @quiet
    def integer_below(self) -> tuple[IntArray, IntArray]:
        """The greatest integer <= the sum; 1 or -1 where it is above or below int64, else 0."""
        whole, floor = np.floor(self.total), np.floor(self.part)
        under = np.where((self.part == floor) & (self.rest < 0.0), floor - 1.0, floor)
        under = np.where(self.total == whole, under, 0.0)
        inside = np.clip(whole, -TOP, TOP - 1024.0)
        number = inside.astype(np.int64) + (whole - inside + under).astype(np.int64)
        high, low = (whole - TOP) + under >= 0.0, (whole + TOP) + under < 0.0
        return number, high.astype(np.int64) - low


@quiet
def added(x: AnyArray, r: FloatArray, *, negative: bool = False) -> Sum:
    """x + r, or with `negative` r - x."""
    high, low = twofold(x)
    if negative:
        high, low = -high, -low
    total, lost = _two_sum(high, r)
    part, rest = _two_sum(lost, low)
    total, part = _two_sum(total, part)
    return Sum(total, part, rest)


def _two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a + b as a double, and what is lost, exactly (Knuth); nothing of what is infinite."""
    total = a + b
    part = total - a
    lost = (a - (total - part)) + (b - part)
    return total, np.where(np.isfinite(total), lost, 0.0)


def differences(a: AnyArray, b: AnyArray) -> FloatArray:
    """a - b, elementwise: exact, then rounded once."""
    a, b = np.broadcast_arrays(_as_doubles(a), _as_doubles(b))
    if a.dtype.kind == b.dtype.kind == "f":
        return np.asarray(a - b)
    (left, known), (right, also) = _as_integers(a), _as_integers(b)
    ahead = left.view(np.uint64) - right.view(np.uint64)  # modulo 2**64: as left >= right
    out = np.where(left >= right, ahead.astype(np.float64), -(-ahead).astype(np.float64))
    for i in np.flatnonzero(~(known & also)).tolist():
        x, y = a[i].item(), b[i].item()
        infinite = math.isinf(x) or math.isinf(y)
        out[i] = x - y if infinite else float(Fraction(x) - Fraction(y))
    return out


def _as_doubles(x: AnyArray) -> AnyArray:
    """The same numbers as float64, if all of them are."""
    if x.dtype.kind == "f" or not bool(((x >= -EXACT) & (x <= EXACT)).all()):
        return x
    return x.astype(np.float64)


def _as_integers(x: AnyArray) -> tuple[IntArray, AnyArray]:
    """The same numbers as int64, and which of them are."""
    if x.dtype.kind == "i":
        return x, np.ones(x.shape, bool)
    if x.dtype.kind == "u":
        return x.astype(np.int64), x < 1 << 63
    known = (x >= -TOP) & (x < TOP) & (x == np.floor(x))
    return np.where(known, x, 0.0).astype(np.int64), known
