"""Draws of a price of high revenue for each of many segments of bids.

All prices of the grid are candidates; their revenues are whole numbers of ticks. A draw is one
round of the integer envelope (`select/envelope.py`) from the first two of its four words; what its
bounds leave open is left to the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import F64, I64, IN_F64, IN_I64, IN_U64, OUT_I64, helper, kernel
from ..bits.heights import BLOCK, SIGNED
from ..select.envelope import PRECISION, ROUNDING_MODE, draw, rounds_to_nearest, scan, settle
from ..select.rounds import power
from .segment_draws import WORDS


@helper
def fill_revenues(bids: Any, ticks: Any, out: Any) -> None:
    """out[t] = how many bids lie on grid point t or beyond, times its price."""
    for t in range(out.size):
        out[t] = 0
    for i in range(bids.size):
        out[bids[i]] += 1
    paying = np.int64(0)
    for i in range(out.size):
        t = out.size - 1 - i
        paying += out[t]
        out[t] = paying * ticks[t]


@kernel(I64(IN_I64, IN_I64, IN_I64, F64, IN_F64, IN_U64, OUT_I64, OUT_I64))
def prices_draw(
    bids: Any,
    offsets: Any,
    ticks: Any,
    rate: Any,
    base: Any,
    words: Any,
    out: Any,
    work: Any,
) -> Any:
    """out = grid points, or a status below 0; returns 0, or the status of a rounding mode.

    base: empty; work: a word a price, then what `_selection/scan.py: storage` has.
    """
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    segments, k = offsets.size - 1, ticks.size
    size = out.size // segments
    revenue, scratch, blocks = work[:k], work[k : k + 2 * BLOCK], work[k + 2 * BLOCK :]
    bits = revenue.view(np.uint64)
    for s in range(segments):
        fill_revenues(bids[offsets[s] : offsets[s + 1]], ticks, revenue)
        scan(bits, SIGNED, base, rate, power(PRECISION), blocks, scratch)
        settle(SIGNED, rate, k, blocks)
        for j in range(size * s, size * (s + 1)):
            two = words[WORDS * j : WORDS * j + 2]
            out[j] = draw(bits, SIGNED, base, rate, power(PRECISION), blocks, scratch, two)
    return 0


@kernel(I64(IN_I64, IN_I64, OUT_I64))
def revenues_fill(bids: Any, ticks: Any, out: Any) -> Any:
    """`fill_revenues` of one segment; returns 0."""
    fill_revenues(bids, ticks, out)
    return 0
