"""Texts of numbers, many at once, to the same integers and doubles as one after the other.

A number is written in ASCII as 12, -0.5, .5, 5. or 1e3, with or without blanks around it.
What has neither point nor exponent is an integer and stays one (beyond 64 bits: a double); a
decimal is the nearest double. Nothing, NA, null and nan are gaps, inf and -inf infinite. Each
text is read for itself: what others hold does not change its number.
"""

from __future__ import annotations

import math
import re
from typing import Any, TypeAlias

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray

INTEGER = re.compile(rb"[+-]?[0-9]+")
GAPS = (b"", b"nan", b"na", b"null")  # in any case
INFINITE = re.compile(rb"[+-]?inf(inity)?", re.IGNORECASE)
DECIMAL = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LONGEST = 400  # characters; no number that people mean has more, and int() has a limit
INT64 = range(-(2**63), 2**63)
WIDE = 20  # characters that are read side by side: a sign, 18 digits (within int64), a point
PADDING = bytes(WIDE + 1)  # what follows the last part of a buffer, at least
EXACT = 1 << 53
POWERS = np.array([10.0**k for k in range(WIDE)])  # exact doubles
SPLIT = 134217729.0  # 2**27 + 1: cuts a double into halves whose products are exact
ZERO, POINT, PLUS, MINUS, SPACE, TAB = b"0.+- \t"


Aligned: TypeAlias = tuple[IntArray, FloatArray, AnyArray]


def aligned(buffer: AnyArray, start: IntArray, end: IntArray) -> Aligned | None:
    """The numbers that are written in parts of a buffer.

    Parameters
    ----------
    buffer : ndarray of uint8
        Bytes; at least `WIDE` of them follow the last part.
    start, end : ndarray of int64, shape (n,)
        Where each part begins and ends.

    Returns
    -------
    tuple of ndarray, or None
        Integers; decimals, with NaN for gaps; which of the parts are integers. None if some part
        is neither a number nor a gap.
    """
    start, end = _trimmed(buffer, start, end)
    value, places, whole, odd = _digits(buffer, start, end - start)
    decimals = np.full(start.size, np.nan)  # as gaps are
    real = np.flatnonzero(~(odd | whole))
    decimals[real] = _quotients(value[real], places[real])
    negative = (end > start) & (buffer.take(start) == MINUS)
    np.negative(value, out=value, where=negative)
    np.negative(decimals, out=decimals, where=negative)
    rest = np.flatnonzero(odd & (end > start))
    whole[odd] = False
    text = buffer.tobytes() if rest.size else b""
    for i, first, last in zip(*(x.tolist() for x in (rest, start[rest], end[rest])), strict=True):
        value_read = number(text[first:last])
        if value_read is None:
            return None
        whole[i] = isinstance(value_read, int)
        (value if whole[i] else decimals)[i] = value_read
    return value, decimals, whole


def number(text: bytes) -> int | float | None:
    """One number; NaN for a gap, None for what is neither."""
    bare = text.strip(b" \t")
    if bare.lower() in GAPS:
        return math.nan
    if INFINITE.fullmatch(bare):
        return float(bare)
    if len(bare) > LONGEST:
        return None
    if INTEGER.fullmatch(bare) and int(bare) in INT64:
        return int(bare)
    decimal = float(bare) if DECIMAL.fullmatch(bare) else math.inf
    return decimal if math.isfinite(decimal) else None


def _trimmed(buffer: AnyArray, start: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
    """Without a blank at either end; where there are more, `number` sees to it."""
    first, last = buffer.take(start), buffer.take(np.maximum(end - 1, 0))
    some = end > start
    start = start + (some & ((first == SPACE) | (first == TAB)))
    return start, end - ((end > start) & ((last == SPACE) | (last == TAB)))


def _digits(buffer: AnyArray, start: IntArray, width: IntArray) -> Any:
    """(value of the digits, digits after the point, no point?, to be read one by one?)."""
    n = start.size
    value, short = np.zeros(n, np.int64), np.minimum(width, WIDE + 1).astype(np.uint8)
    seen, places, points = (np.zeros(n, np.uint8) for _ in range(3))
    odd = (short == 0) | (short > WIDE)
    for j in range(int(short.max(initial=0)) - int(bool((short > WIDE).any()))):
        mark = buffer[j:].take(start)
        inside = short > j
        figure = mark - ZERO  # wraps around: 0 to 9 for digits alone
        digit, point = (figure <= 9) & inside, (mark == POINT) & inside
        value = np.where(digit, value * 10 + figure, value)
        seen += digit
        places += digit & (points > 0)
        points += point
        known = digit | point
        if j == 0:
            known |= (mark == MINUS) | (mark == PLUS)
        odd |= inside & ~known
    odd |= (seen == 0) | (seen > 18) | (points > 1)
    return value, places, points == 0, odd


def _quotients(value: IntArray, places: AnyArray) -> FloatArray:
    """The doubles nearest to value / 10**places, for values of up to 18 digits."""
    power = POWERS.take(places)
    high = value.astype(np.float64)
    first: FloatArray = high / power  # exact operands: correctly rounded
    large = np.flatnonzero(value > EXACT)
    if large.size:
        low = (value[large] - high[large].astype(np.int64)).astype(np.float64)
        first[large] = _long_quotients(high[large], low, power[large], first[large])
    return first


def _long_quotients(
    high: FloatArray, low: FloatArray, power: FloatArray, first: FloatArray
) -> FloatArray:
    """The doubles nearest to (high + low) / power, a dividend of more than 53 bits.

    The rest of the first quotient is exact (Dekker 1971), so the second is off by 2**-105 of
    the sum at most. If that is not half-way between two doubles, it is farther from there
    than 2**-97 of it (an odd number of 55 bits over a power of two, against m / 10**18); if
    it is, both are exact. So their sum is rounded as the quotient is.
    """
    product = first * power
    rest = (high - product) - _error_of(first, power, product)
    nearest: FloatArray = first + (rest + low) / power
    return nearest


def _error_of(a: FloatArray, b: FloatArray, product: FloatArray) -> FloatArray:
    """a * b - product, exactly (Veltkamp's splitting, Dekker's product)."""
    a_high = (wide := a * SPLIT) - (wide - a)
    b_high = (wide := b * SPLIT) - (wide - b)
    a_low, b_low = a - a_high, b - b_high
    error: FloatArray = a_low * b_low - (
        ((product - a_high * b_high) - a_low * b_high) - a_high * b_low
    )
    return error
