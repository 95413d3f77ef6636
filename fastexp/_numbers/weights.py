"""Certified integer weights by rank distance: the lookup table of draws.

It is exact and data-independent: entry e is U(e) of `reference/exact_groups.py` for the rate.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .._typing import WordArray
from ..reference import exact
from ..reference.exact_groups import PRECISION, upper

MAX_TABLE = 1 << 22  # weights in a table if there is another method: 32 MiB, made in 1.5 s
GUARD = 96  # bits of a bound beyond those of a weight: products of bounds lose some


@lru_cache(maxsize=64)  # public: a function of the rate, and of a size that is rounded up
def _table(rate: Fraction, size: int) -> WordArray:
    """Return U(0), ..., U(size - 1), by products of two bounds; exactly if they leave a doubt."""
    bits, stride = PRECISION + GUARD, math.isqrt(size)  # the fewest exponentials
    near = [exact.exp_bounds(rate * e, bits) for e in range(stride)]
    far = [exact.exp_bounds(rate * e, bits) for e in range(0, size, stride)]
    out = np.ones(size, np.uint64)
    for e in range(size):
        (lo, hi), (low, high) = near[e % stride], far[e // stride]
        floor, top = lo * low >> bits + GUARD, hi * high >> bits + GUARD
        if top == 0:  # from here on all are 1
            break
        out[e] = floor + 1 if floor == top else upper(rate, e)
    out[0] = 1 << PRECISION
    out.flags.writeable = False
    return out


def table(rate: Fraction, farthest: int) -> WordArray:
    """Return weights of distances up to `farthest` above the least, or up to where all are 1."""
    return _table(rate, size_of(rate, farthest))


def size_of(rate: Fraction, farthest: int) -> int:
    """Return the number of entries of `table`."""
    ends = PRECISION * 7 // (10 * rate) + 2  # ln 2 < 0.7: from there on 2**60 * w < 1
    wanted = min(int(farthest) + 1, int(ends) + 1)
    return min(1 << (wanted - 1).bit_length(), int(ends) + 1)
