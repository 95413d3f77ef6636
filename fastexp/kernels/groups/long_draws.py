"""A draw from a long window of sorted grid indices, in three passes that do not keep its cells.

The passes find the least distance, the sum of count * W, and the cell in which a uniform number
below the sum lies. W is the integer weight of `reference/exact_groups.py: long_weight`, a product
of entries of two tables: a single table of all distances would take as much memory as the records.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_I64, IN_U64, helper, kernel, wide_product
from ..bits.words import ONE_WORD, ZERO
from ..numbers.runs import LEFT, RIGHT, distance, least
from .segment_draws import OPEN, below_sum

STRIDE_BITS = 12  # low bits of a distance: the index in `near`
MASK = np.int64((1 << STRIDE_BITS) - 1)
LACK = np.uint64(4)  # W exceeds the exact weight by less than this
UPPER_BITS, LOWER_BITS = np.uint64(4), np.uint64(60)  # shifts that divide a product by 2**60
FARTHEST = np.int64(0x3FFFFFFFFFFFFFFF)


@helper
def long_weight(e: Any, near: Any, far: Any) -> Any:
    """Return W of e, a distance minus the least distance."""
    weight = near[min(e & MASK, near.size - 1)]
    if e > MASK:
        high, low = wide_product(weight, far[min(e >> STRIDE_BITS, far.size - 1)])
        weight = ((high << UPPER_BITS) | (low >> LOWER_BITS)) + ONE_WORD
    return weight


@kernel(I64(IN_I64, I64, I64, I64, IN_I64, IN_U64, IN_U64, IN_U64))
def draw_long(
    points: Any, below: Any, total: Any, size: Any, form: Any, near: Any, far: Any, words: Any
) -> Any:
    """Return a grid index, or OPEN, from WORDS words.

    points: sorted grid indices; `below` of all `total` records lie below them, the others above;
    size: points of the grid; near, far: U of the distances below 2**12, and of the multiples of
    2**12.
    """
    n = points.size
    index, nearest, is_accepted = OPEN, FARTHEST, False
    r1, r0, sum_high, sum_low = ZERO, ZERO, ZERO, ZERO
    for phase in range(3):
        if phase == 2:
            r1, r0, is_accepted = below_sum(words[1], words[0], sum_high, sum_low)
        sum_high, sum_low = ZERO, ZERO
        i, j, free, under = np.int64(0), np.int64(0), np.int64(0), below
        while i < n or j == 0:  # a gap, a point, a gap, ...
            equal = np.int64(0)
            if j == 1:
                equal += 1
                while i + equal < n and points[i + equal] == points[i]:
                    equal += 1
            stop = points[i] + j if i < n else size
            if stop > free:
                loose = j == 0 and ((i == 0 and below > 0) or (i == n and under < total))
                d = distance(under, equal, total - under - equal, form)
                if loose:
                    known, side = (total - under, RIGHT) if i == 0 else (under, LEFT)
                    d = least(known, form, side)
                nearest = min(nearest, d)
                if phase > 0:
                    count = np.uint64(stop - free)
                    above, product = wide_product(count, long_weight(d - nearest, near, far))
                    sum_low += product
                    sum_high += above + (ONE_WORD if sum_low < product else ZERO)
                if phase == 2 and (sum_high > r1 or (sum_high == r1 and sum_low > r0)):
                    inside, rest = wide_product(words[2], count)
                    wide = sum_high - r1 - (ONE_WORD if sum_low < r0 else ZERO) > ZERO
                    passes = wide or sum_low - r0 > LACK * count or d == nearest
                    if loose or not is_accepted or not passes or rest < count:
                        return OPEN
                    index = free + np.int64(inside)
                    break
            if j == 0 and i == n:
                break
            under, i, free, j = under + equal, i + equal, stop, 1 - j
    return index
