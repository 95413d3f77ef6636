"""Cheap certified bounds of weights: the chord of 2**x between neighbouring powers of two.

A simulation may reject draws, so its bounds need not be tight; with these, case `rows` of 10,000
rows of 1,000 takes half the time that it takes with the envelope's. Between whole numbers 2**x
lies below its chord. The bits of a float encode that chord: a fixed-point number, shifted up to
the exponent's place, *is* the chord's value. So a bound costs some ten operations and no
polynomial, and is at most 6.2 % too large (1.0615 is the greatest ratio of the chord to 2**x).

With f = 2**precision and w = 2**-height the bound is an integer B >= f*w. The fixed-point number
has 22 fractional bits. Two units of its last place are added, because a height errs by less than
2**-38 and its rounding to fixed point by half a unit; one unit of B makes up for B's own rounding.
Every step is monotone, so candidates of lower utility never have a greater bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import as_floats, bits_float, float_bits, helper, wide_vectors
from ..bits.heights import BLOCK, NONE, fill_heights
from ..bits.words import WORD, multiply
from .envelope import DEEPEST, INTEGER, INTEGER_BITS, UNSURE, lower, rounded_weight, upper

FRACTION = 22  # fractional bits of the fixed-point number: those of 1.5 * 2**30 as a double
FIXED = 1610612736.0 + 2.0**-21  # 1.5 * 2**30, and two units of its last place
EXPONENT = np.uint64(52 - FRACTION)
# The bits of 1.5 * 2**30, less the exponent's bias above the fixed point's fraction.
FIXED_BIAS = np.uint64(0x41D8000000000000 - (1023 << FRACTION))
ONE_UP = np.uint64(INTEGER_BITS - np.uint64(1))  # subtracted, it leaves one more than the integer
LANES, FOLDED = 32, 128  # FOLDED: words in which the lanes' sums are made
ACCEPTED, REJECTED = 1, 0


@helper
def chord(height: Any, deepest: Any, fixed: Any) -> Any:
    """An integer B >= 2**(s - height), with fixed = FIXED + s; higher ones count as `deepest`."""
    y = min(height, deepest)
    v = bits_float((float_bits(fixed - y) - FIXED_BIAS) << EXPONENT)
    return np.int64(float_bits(v + INTEGER) - ONE_UP)


@helper
def fill_chords(
    bits: Any, kind: Any, top: Any, rate: Any, log_base: Any, lift: Any, fixed: Any, work: Any
) -> Any:
    """Fill `work` with bounds B, heights and the sums of the lanes; returns the sum of all B.

    `work` is a block of B (0 where the base is 0), a block of heights and FOLDED words for sums.
    Lane l has the candidates l, l + LANES, ..., so that no sum goes across a vector.
    """
    wide_vectors()
    size, deepest, shifted = bits.size, DEEPEST + lift, fixed + lift
    heights = as_floats(work[BLOCK : BLOCK + size])
    fill_heights(bits, kind, top, rate, log_base, heights)
    fill_bounds(heights, deepest, shifted, work[:size])
    for i in range(log_base.size):
        if log_base[i] == -np.inf:
            work[i] = 0
    return fill_lanes(work, size)


@helper
def fill_bounds(heights: Any, deepest: Any, fixed: Any, out: Any) -> None:
    """out[i] = B of heights[i]."""
    wide_vectors()
    for i in range(heights.size):
        out[i] = chord(heights[i], deepest, fixed)


@helper
def fill_lanes(work: Any, size: Any) -> Any:
    """Sum the lanes of a block of B by folding it in halves; returns the sum of all."""
    width = LANES
    while width < size:
        width *= 2
    for i in range(size, width):
        work[i] = 0
    lanes = work[2 * BLOCK : 2 * BLOCK + FOLDED]
    if width > 4 * LANES:
        width //= 8
        fold_eight(work, width, lanes[:width])
    else:
        for i in range(width):
            lanes[i] = work[i]
    while width > LANES:
        width //= 2
        fold(lanes[:width], lanes[width : 2 * width])
    total = np.int64(0)
    for lane in range(LANES):
        total += lanes[lane]
    return total


@helper
def fold_eight(x: Any, w: Any, out: Any) -> None:
    """out = the sum of the eight parts of length w of x."""
    wide_vectors()
    a, b, c, d = x[:w], x[w : 2 * w], x[2 * w : 3 * w], x[3 * w : 4 * w]
    e, f, g, h = x[4 * w : 5 * w], x[5 * w : 6 * w], x[6 * w : 7 * w], x[7 * w : 8 * w]
    for i in range(out.size):
        out[i] = ((a[i] + b[i]) + (c[i] + d[i])) + ((e[i] + f[i]) + (g[i] + h[i]))


@helper
def fold(left: Any, right: Any) -> None:
    """left += right."""
    wide_vectors()
    for i in range(left.size):
        left[i] += right[i]


@helper
def find_lane(work: Any, size: Any, rho: Any) -> Any:
    """(candidate on whose B rho falls, sum of the B before it), lane after lane."""
    lane, before, seen = 0, np.int64(0), np.int64(0)
    for i in range(LANES):
        seen += work[2 * BLOCK + i]
        passed = seen <= rho
        lane += 1 if passed else 0
        before = seen if passed else before
    index, seen = lane, before
    while index < size and seen + work[index] <= rho:
        seen += work[index]
        index += LANES
    return np.int64(index), seen


@helper
def judge(height: Any, scale: Any, rho: Any) -> Any:
    """ACCEPTED if rho + V < f*w for certain, whatever V in [0, 1); REJECTED if never; or UNSURE."""
    r = rounded_weight(height, scale)
    return ACCEPTED if rho < lower(r) else REJECTED if rho >= upper(r) else UNSURE


@helper
def below_word(word: Any, bound: Any) -> Any:
    """(a uniform integer below `bound` from one uniform word, whether the word counts).

    Lemire (2019), as `words.below`, for bounds of one limb.
    """
    high, low = multiply(word, bound, WORD)
    counts = True
    if low < bound:
        counts = low >= (NONE - bound) % bound
    return high, counts
