"""One or more draws of a grid point for each of many segments, from integer weights.

The steps are those of `reference/exact_groups.py`: weights by distance come from a table that the
caller computed exactly, so there is neither an exponential nor rounding here. Draws that the bounds
leave undecided, and points of cells with only a bound of their distance, are left to the caller
(OPEN).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import as_words, helper, wide_product
from ..bits.words import ONE_WORD, ZERO

OPEN = np.int64(-1)  # in place of a draw that is left to the caller
WORDS = 4  # words of a draw


@helper
def add_weights(count: Any, key: Any, table: Any, high: Any, low: Any) -> Any:
    """high, low = the sums of count * U through each cell; returns the least distance."""
    least = key[0] >> 1
    for i in range(1, count.size):
        least = min(least, key[i] >> 1)
    sum_high, sum_low = ZERO, ZERO
    for i in range(count.size):
        e = (key[i] >> 1) - least
        weight = table[min(e, table.size - 1)]
        above, under = wide_product(np.uint64(count[i]), weight)
        sum_low += under
        sum_high += above + (ONE_WORD if sum_low < under else ZERO)
        high[i], low[i] = sum_high, sum_low
    return least


@helper
def below_sum(x1: Any, x0: Any, s1: Any, s0: Any) -> Any:
    """Return (high, low, whether it surely counts), the upper half of (x1, x0) * (s1, s0).

    It is uniform below the sum (s1, s0) once the few products are refused whose lower half is below
    2**128 mod the sum (`words.below`). It counts surely if the lower half is at least the sum.
    """
    p1, p0 = wide_product(x0, s0)
    q1, q0 = wide_product(x0, s1)
    r1, r0 = wide_product(x1, s0)
    t1, t0 = wide_product(x1, s1)
    first = p1 + q0
    carry = ONE_WORD if first < p1 else ZERO
    second = first + r0
    carry += ONE_WORD if second < r0 else ZERO
    low = q1 + carry
    over = ONE_WORD if low < carry else ZERO
    low += r1
    over += ONE_WORD if low < r1 else ZERO
    low += t0
    over += ONE_WORD if low < t0 else ZERO
    is_accepted = second > s1 or (second == s1 and p0 >= s0)
    return t1 + over, low, is_accepted


@helper
def choose(high: Any, low: Any, r1: Any, r0: Any) -> Any:
    """Return the first cell whose sum is above (r1, r0)."""
    first, size = 0, high.size
    while size > 1:  # the answer lies in first .. first + size - 1
        half = size >> 1
        at = first + half - 1
        passed = high[at] < r1 or (high[at] == r1 and low[at] <= r0)
        first = first + half if passed else first
        size = size - half if passed else half
    return first


@helper
def draw_point(
    start: Any, count: Any, key: Any, least: Any, high: Any, low: Any, words: Any
) -> Any:
    """Draw a grid point from the words of one round, or return OPEN."""
    m = count.size
    r1, r0, is_accepted = below_sum(words[1], words[0], high[m - 1], low[m - 1])
    if not is_accepted:
        return OPEN
    i = choose(high, low, r1, r0)
    n = np.uint64(count[i])
    inside, rest = wide_product(words[2], n)
    left = low[i] - r0  # count * U - rho; if more than `count`, rho < count * L
    wide = high[i] - r1 - (ONE_WORD if low[i] < r0 else ZERO) > ZERO
    passes = wide or left > n or (key[i] >> 1) == least
    if rest < n or not passes or key[i] & 1:
        return OPEN
    return start[i] + np.int64(inside)


@helper
def draw_points(
    start: Any, count: Any, key: Any, table: Any, words: Any, out: Any, sums: Any
) -> Any:
    """out = draws from one list of cells; returns how many are OPEN. sums: 2 words a cell."""
    m = count.size
    high, low = as_words(sums[:m]), as_words(sums[m : 2 * m])
    least = add_weights(count, key, table, high, low)
    total = 0
    for j in range(out.size):
        draw_words = words[WORDS * j : WORDS * (j + 1)]
        out[j] = draw_point(start, count, key, least, high, low, draw_words)
        total += 1 if out[j] == OPEN else 0
    return total
