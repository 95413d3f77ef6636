"""Laplace noise on grid points by inversion, where a word of 64 bits decides a draw.

The twin, `reference/exact_laplace.py`, says what is drawn and decides each draw that is left OPEN
here, with the same words. In float64, with a = rate, T = exp(lean), V = word / 2**64 and
Q = exp(-a * points) of each side:

    s = Q + V * ((1 - Q) + (1 - Q of the right) / T) on the left, where that is below 1;
    else s = Q + (1 - V) * ((1 - Q) + (1 - Q of the left) * T), on the right;
    block = floor(x), x = -ln(s) / width, width = a * block.

**Errors.** Let the word, or on the right its complement, be at least 2**44. Then s >= 2**-20, so
-ln(s) < 14. Its errors are:

* of V, whose further digits are not known: 2**-44, and 2**-53 of its conversion;
* of T: lean has three roundings and exp 2 ulp, so |lean| * 2**-51.4 + 2**-51. That is 2**-45.3 for
  |lean| <= 64. Beyond, a > 64: where T or 1 / T is below 2**-92, it is next to nothing beside
  1 - Q; where it is above 2**92, s is far above 1, and x is negative;
* of Q: at most Q * (a * points * 2**-51.9 + 2**-51), which is below s * 2**-47.9, since Q <= s and
  Q * ln(1 / Q) <= max(1, ln(1 / s)) * s;
* of 1 - Q: 2**-49.9, times V. Since s is at least 1/2 or at least V / 2: below s * 2**-48.9;
* of 1 - Q of the other side: if that is at least 1/2, below 2**-48.9 of a term of s; else a < 0.7,
  so 1 / T or T is below 2.02, and it is below s * 2**-47.8;
* of the logarithm, 2 ulp: 2**-47; of the products and sums in s: 2**-51.

That is less than 2**-43.2. Width has three roundings with the division, x one more: 14 * 2**-50.9.
So x is off by less than 2**-43 / width, and it decides the block unless it is within
MARGIN / width of an integer. That holds at 0 too, where s of the wrong side would be above 1.

A draw is left open in some 2**-19 + 2**-41 / width of cases, and also if its coin may refuse it:
in a share `width` of cases.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import F64, I64, IN_U64, OUT_I64, helper, kernel, wide_product, wide_vectors
from ..bits.logexp import exp_one, log_one

OPEN = np.int64(-(2**63))  # no index of a point
WORDS = 3  # of a draw from blocks: V, a place, a coin
MIN_WORD = np.uint64(1 << 44)  # smaller words have too few digits of V
UNIT = 2.0**-64
MARGIN = 2.0**-42
STEEPEST = 700.0  # nats, at which exp neither underflows nor overflows
SLACK = 2.0**-48  # of a coin and its bound, whose rounding errors are below 2**-51


@helper
def shares(rate: Any, lean: Any, left: Any, right: Any) -> Any:
    """Q of the left, Q of the right, Z of the left, Z of the right."""
    q_left = exp_one(-(rate * np.float64(left))) if left >= 0 else 0.0
    q_right = exp_one(-(rate * np.float64(right))) if right >= 0 else 0.0
    t = exp_one(min(max(lean, -STEEPEST), STEEPEST))
    z_left = (1.0 - q_left) + (1.0 - q_right) / t
    return q_left, q_right, z_left, (1.0 - q_right) + (1.0 - q_left) * t


@helper
def block_number(word: Any, sides: Any, share: Any, margin: Any) -> Any:
    """The block: 0, 1, ... outwards on the right, -1, -2, ... on the left; or OPEN."""
    s = sides[0] + np.float64(word) * UNIT * sides[2]
    on_left = s < 1.0
    lead = word if on_left else ~word
    s = s if on_left else sides[1] + np.float64(lead) * UNIT * sides[3]
    x = -log_one(max(s, UNIT)) * share
    number = np.int64(x)
    part = x - np.float64(number)
    is_certain = (lead >= MIN_WORD) & (part >= margin) & (part <= 1.0 - margin)
    number = ~number if on_left else number
    return number if is_certain else OPEN


@kernel(I64(IN_U64, F64, F64, I64, I64, I64, OUT_I64))
def laplace_fill(
    words: Any, rate: Any, lean: Any, left: Any, right: Any, block: Any, out: Any
) -> Any:
    """out[j] = the point of draw j, from its word, or from its WORDS words if block > 1; or OPEN.

    `lean` is rate * (1 - 2 * phase); `left` and `right` count points, -1: no end. Returns how many
    are OPEN.
    """
    wide_vectors()
    sides = shares(rate, lean, left, right)
    width = rate * np.float64(block)
    share = 1.0 / width
    margin = MARGIN * share
    open_draws = 0
    if block == 1:
        for j in range(out.size):
            number = block_number(words[j], sides, share, margin)
            out[j] = number + 1 if number != OPEN else OPEN
            open_draws += 1 if number == OPEN else 0
        return open_draws
    whole = left >= 0 and left + right <= block
    coins = 1.0 - width - SLACK  # exp(-a * place) is at least 1 - width
    for j in range(out.size):
        number, count, start = np.int64(0), left + right if whole else 1, 1 - left
        if not whole:
            number = block_number(words[WORDS * j], sides, share, margin)
        is_certain = number != OPEN
        if is_certain and not whole:
            passed = block * (number if number >= 0 else ~number)
            points = right if number >= 0 else left
            count = min(block, points - passed) if points >= 0 else block
            start = passed + 1
        place, rest = wide_product(words[WORDS * j + 1], np.uint64(count))
        is_certain &= rest >= np.uint64(count) and np.float64(words[WORDS * j + 2]) * UNIT < coins
        index = start + np.int64(place)
        out[j] = (index if number >= 0 else 1 - index) if is_certain else OPEN
        open_draws += 0 if is_certain else 1
    return open_draws
