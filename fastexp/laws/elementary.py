"""Arithmetic of arrays: the kernels' exponentials and sums, searches, exact differences.

Laws must tell integers above 2**53 apart, which doubles cannot: differences and sums of 64-bit
numbers (int64, uint64 and float64) are exact before they are rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._compiler.rounding import check_rounding
from .._numbers.revenue import double_double
from .._parameters.validate import MAX_EXACT
from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.bits.logexp import exp_fill, log_fill
from ..kernels.numbers.density import expm1_fill, log1p_fill, running_sums

CANDIDATES = 1 << 12  # candidates that all searches together test at a time
TOP = 2.0**63  # 1 more than the greatest int64
LARGEST = float(np.finfo(np.float64).max)
quiet = np.errstate(all="ignore")  # a warning would depend on the data


Elementwise: TypeAlias = Callable[[Any], FloatArray]
Tails: TypeAlias = tuple[FloatArray, FloatArray]  # the probabilities below and above a number


def _filled(kernel: Any, x: Any) -> FloatArray:
    numbers = np.asarray(x, np.float64, order="C")
    out = np.empty(numbers.size)
    kernel(numbers.reshape(-1), out)
    return out.reshape(numbers.shape)


exp: Elementwise = partial(_filled, exp_fill)  # 0 below -708
log: Elementwise = partial(_filled, log_fill)  # for numbers >= 0
expm1: Elementwise = partial(_filled, expm1_fill)
log1p: Elementwise = partial(_filled, log1p_fill)


def sums(x: AnyArray, *, back: bool = False) -> FloatArray:
    """Return the sums of x[:i], i = 0, ..., or with `back` of x[i:], to about an ulp; x >= 0."""
    out = np.empty(x.size + 1)
    running_sums(np.ascontiguousarray(x), int(back), out)
    return out


def log_sum_exp(x: FloatArray) -> float:
    """Return ln of the sum of exp(x); all x are below infinity."""
    top = float(x.max())
    return top + float(log(exp(x - top).sum()))


def frozen(values: FloatArray) -> FloatArray:
    """Make an array read-only, and return it."""
    values.flags.writeable = False
    return values


def least(
    low: IntArray,
    high: IntArray,
    passes: Callable[[IntArray, IntArray], AnyArray],
    ways: int = 256,
) -> IntArray:
    """Return the least integer of each [low, high] that passes a test.

    `passes` is a monotone test that `high` passes. It takes candidates and the indices of their
    searches. If there are few searches, each interval is cut into up to `ways` parts at a time, as
    a call costs more than its candidates.
    """
    ways = max(2, min(ways, CANDIDATES // max(low.size, 1)))
    low, high, cuts = low.copy(), high.copy(), np.arange(1, ways)
    while (rows := np.flatnonzero(low < high)).size:
        gap = (high - low)[rows, None]
        middle: IntArray = low[rows, None] + gap // ways * cuts + gap % ways * cuts // ways
        yes = np.asarray(passes(middle.reshape(-1), np.repeat(rows, ways - 1)))
        no = (~yes.reshape(middle.shape)).sum(axis=1)  # the first candidates fail
        lows = np.column_stack([low[rows], middle + 1])
        highs = np.column_stack([middle, high[rows]])
        every = np.arange(rows.size)
        low[rows], high[rows] = lows[every, no], highs[every, no]
    return high


def least_number(
    high: FloatArray, passes: Callable[[FloatArray, IntArray], AnyArray], ways: int = 256
) -> FloatArray:
    """Return the least double of each [0, high] that passes a test: bits sort as doubles do."""
    top = np.ascontiguousarray(high + 0.0).view(np.int64)  # -0 becomes 0
    bits = least(np.zeros_like(top), top, lambda n, i: passes(n.view(np.float64), i), ways)
    return bits.view(np.float64)


def elementwise(rule: Callable[[Any], AnyArray], argument: AnyArray) -> float | AnyArray:
    """Apply a rule for 1-D arrays to an array of any shape; a number gives a Python number."""
    check_rounding()
    values = rule(argument.reshape(-1))
    if argument.ndim:
        return values.reshape(argument.shape)
    number: float = values[0].item()
    return number


def cdf_of(below: FloatArray, above: FloatArray) -> FloatArray:
    """Return P(X <= x), rounded down, from P(X <= x) and P(X > x), each to its own digits.

    It is the greatest double p for which `reached(below, above, p)` holds.
    """
    up = 1.0 - above
    up = np.where(1.0 - up < above, np.nextafter(up, 0.0), up)
    return np.where(below < 0.5, below, np.where(above < 0.5, up, 0.5))


def reached(below: FloatArray, above: FloatArray, p: FloatArray) -> AnyArray:
    """Whether P(X <= x) >= p, decided by the smaller of the two tails."""
    return np.where(p <= 0.5, below >= p, (below >= 0.5) & (above <= 1.0 - p))


def first_reaching(below: FloatArray, above: FloatArray, p: FloatArray) -> IntArray:
    """Return the index of the first P(X <= x) that reaches p; `above` are the P(X > x)."""
    last = below.size - 1
    lower, upper = below.searchsorted(p), (-above).searchsorted(p - 1.0)
    return np.minimum(np.where(p > 0.5, upper, lower), last)


class Sum(NamedTuple):
    """An exact sum, total + part + rest; |part| <= ulp(total) / 2, and rest only breaks ties."""

    total: FloatArray
    part: FloatArray
    rest: FloatArray

    def double_below(self) -> FloatArray:
        """Return the greatest double <= the sum."""
        down = (self.part < 0.0) | ((self.part == 0.0) & (self.rest < 0.0))
        return np.where(down, np.nextafter(self.total, -np.inf), self.total)

    @quiet
    def integer_below(self) -> tuple[IntArray, IntArray]:
        """Return the greatest integer <= the sum, and 1 if it is above int64, -1 below, else 0."""
        whole, floor = np.floor(self.total), np.floor(self.part)
        under = np.where((self.part == floor) & (self.rest < 0.0), floor - 1.0, floor)
        under = np.where(self.total == whole, under, 0.0)
        inside = np.clip(whole, -TOP, TOP - 1024.0)
        number = inside.astype(np.int64) + (whole - inside + under).astype(np.int64)
        high, low = (whole - TOP) + under >= 0.0, (whole + TOP) + under < 0.0
        return number, high.astype(np.int64) - low


@quiet
def added(x: AnyArray, r: FloatArray, *, negative: bool = False) -> Sum:
    """Return x + r, or with `negative` r - x, exactly."""
    high, low = double_double(x)
    if negative:
        high, low = -high, -low
    total, error = _two_sum(high, r)
    part, rest = _two_sum(error, low)
    total, part = _two_sum(total, part)
    return Sum(total, part, rest)


def _two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a + b as a double and its exact rounding error (Knuth), 0 if the sum is infinite."""
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)
    return total, np.where(np.isfinite(total), error, 0.0)


def differences(a: AnyArray, b: AnyArray) -> FloatArray:
    """Return a - b, elementwise: exact, then rounded once."""
    a, b = np.broadcast_arrays(_as_doubles(a), _as_doubles(b))
    if a.dtype.kind == b.dtype.kind == "f":
        return np.asarray(a - b)
    if a.dtype.kind == b.dtype.kind == "i":
        ahead = a.astype(np.uint64) - b.astype(np.uint64)  # modulo 2**64: right if a >= b
        return np.where(a >= b, ahead.astype(np.float64), -(-ahead).astype(np.float64))
    pairs = zip(a.reshape(-1).tolist(), b.reshape(-1).tolist(), strict=True)
    return np.array([_difference(x, y) for x, y in pairs], np.float64).reshape(a.shape)


def _difference(x: float, y: float) -> float:
    infinite = math.isinf(x) or math.isinf(y)
    return x - y if infinite else float(Fraction(x) - Fraction(y))


def _as_doubles(x: AnyArray) -> AnyArray:
    """Convert numbers to float64 if all of them stay exact; otherwise return them as they are."""
    if x.dtype.kind == "f" or not bool(((x >= -MAX_EXACT) & (x <= MAX_EXACT)).all()):
        return x
    return x.astype(np.float64)
