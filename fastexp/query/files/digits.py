"""Texts of numbers, to the same integers and doubles as Python's.

A number is written in ASCII as 12, -0.5, .5, 5. or 1e3, with or without blanks around it.
What has neither point nor exponent is an integer and stays one (beyond 64 bits: a double); a
decimal is the nearest double. Nothing, NA, null and nan are gaps, inf and -inf infinite. Each
text is read for itself: what others hold does not change its number.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray

INTEGER = re.compile(rb"[+-]?[0-9]+")
GAPS = (b"", b"nan", b"na", b"null")  # in any case
INFINITE = re.compile(rb"[+-]?inf(inity)?", re.IGNORECASE)
DECIMAL = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LONGEST = 400  # characters; no number that people mean has more, and int() has a limit
INT64 = range(-(2**63), 2**63)
EXACT = 1 << 53


class Read(NamedTuple):
    """Numbers that are integers, numbers that are not, NaN for gaps; and which are integers."""

    integers: IntArray
    decimals: FloatArray
    whole: AnyArray


def numbers_in(buffer: AnyArray, start: IntArray, end: IntArray) -> Read | None:
    """The numbers that are written from each start to its end; None if one is neither nor a gap."""
    text, places = buffer.tobytes(), zip(start.tolist(), end.tolist(), strict=True)
    numbers = [number(text[first:last]) for first, last in places]
    if None in numbers:
        return None
    whole = np.array([isinstance(x, int) for x in numbers], np.bool_)
    integers = [x if isinstance(x, int) else 0 for x in numbers]
    return Read(np.array(integers, np.int64), np.array(numbers, np.float64), whole)


def number(text: bytes) -> int | float | None:
    """One number; NaN for a gap, None for what is neither."""
    bare = text.strip(b" \t")
    if len(bare) > LONGEST:
        return None
    if not DECIMAL.fullmatch(bare):
        if bare.lower() in GAPS:
            return math.nan
        return float(bare) if INFINITE.fullmatch(bare) else None
    if INTEGER.fullmatch(bare) and int(bare) in INT64:
        return int(bare)
    decimal = float(bare)
    return decimal if math.isfinite(decimal) else None
