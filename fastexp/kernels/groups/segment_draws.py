"""One or more draws of a grid point for each of many segments, from integer weights.

The steps are those of `reference/exact_groups.py`: weights by distance come from a table that the
caller made exactly, so there is no exponential here, and no rounding. What the bounds leave
open, and points of cells that are only bounded, is left to the caller (OPEN).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import as_words, helper, wide_product
from ..bits.words import ONE_WORD, ZERO

OPEN = np.int64(-1)
WORDS = 4  # of a draw


@helper
def add_weights(count: Any, key: Any, table: Any, high: Any, low: Any) -> Any:
    """high, low = sums of count * U up to and with each cell; returns the least distance."""
    least = key[0] >> 1
    for i in range(1, count.size):
        least = min(least, key[i] >> 1)
    one, zero = ZERO, ZERO
    for i in range(count.size):
        e = (key[i] >> 1) - least
        weight = table[min(e, table.size - 1)]
        above, under = wide_product(np.uint64(count[i]), weight)
        zero += under
        one += above + (ONE_WORD if zero < under else ZERO)
        high[i], low[i] = one, zero
    return least


@helper
def below_sum(x1: Any, x0: Any, s1: Any, s0: Any) -> Any:
    """(high, low, whether it may count): the upper half of (x1, x0) * (s1, s0).

    It is uniform below the sum but for the few products whose lower half is below 2**128 mod
    the sum (`words.below`); all that are below the sum itself are said to be doubtful.
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
    sure = second > s1 or (second == s1 and p0 >= s0)
    return t1 + over, low, sure


@helper
def choose(high: Any, low: Any, r1: Any, r0: Any) -> Any:
    """The first cell whose sum is above (r1, r0)."""
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
    """A grid point from the words of one round, or OPEN."""
    m = count.size
    r1, r0, counts = below_sum(words[1], words[0], high[m - 1], low[m - 1])
    if not counts:
        return OPEN
    i = choose(high, low, r1, r0)
    n = np.uint64(count[i])
    inside, rest = wide_product(words[2], n)
    left = low[i] - r0  # of count * U: more than `count` of them are below count * L
    wide = high[i] - r1 - (ONE_WORD if low[i] < r0 else ZERO) > ZERO
    sure = wide or left > n or (key[i] >> 1) == least
    if rest < n or not sure or key[i] & 1:
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
