"""Draws of a price of high revenue for each of many segments of bids.

All prices of the grid are candidates. Their revenues are whole numbers of ticks or, if prices are
arbitrary doubles, upper bounds of them (`_numbers/revenue.py: Prices.bounds`), which a coin
corrects. A draw is one round of the integer envelope (`select/envelope.py`): the first two of its
four words are for the envelope and the third is for the coin. Draws that the bounds leave undecided
are left to the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    I64,
    IN_F64,
    IN_I64,
    IN_U64,
    OUT_I64,
    as_words,
    bits_float,
    float_bits,
    helper,
    kernel,
)
from ..bits.heights import BLOCK, FLOAT, SIGNED
from ..bits.words import ZERO
from ..select.envelope import PRECISION, ROUNDING_MODE, draw, rounds_to_nearest, scan, settle
from ..select.rounds import power
from .segment_draws import OPEN, WORDS

ABOVE = 1 + 2.0**-48  # factor of the bounds, as in `_numbers/revenue.py`
EXCESS, TWICE = 2.0**-47, 2.0**25  # a bound's relative excess; 2 * 2**24, as heights are rounded
COIN_SHIFT, COIN_VALUES = np.uint64(40), 2.0**24  # bits that a coin ignores; values of others


@helper
def fill_revenues(bids: Any, prices: Any, kind: Any, out: Any) -> None:
    """out[t] = the price of grid point t times the number of bids that are at least t.

    SIGNED: in ticks. FLOAT: the bits of a double above that, or 0 if nobody pays.
    """
    for t in range(out.size):
        out[t] = 0
    for i in range(bids.size):
        out[bids[i]] += 1
    paying = np.int64(0)
    for i in range(out.size):
        t = out.size - 1 - i
        paying += out[t]
        if kind == SIGNED:
            out[t] = paying * prices[t]
        else:
            bound = ABOVE * (np.float64(paying) * bits_float(np.uint64(prices[t])))
            out[t] = np.int64(float_bits(bound)) + 1 if paying > 0 else 0


@helper
def passes(bits: Any, nats: Any, word: Any) -> Any:
    """Whether a coin surely passes: V < exp(-nats * (bound - revenue)) for V that begins with word.

    The bound with these bits is too high by at most 2**-47 of itself, or by 2**-1073, which is
    negligible for rates below 2**900.
    """
    height = nats * (EXCESS * bits_float(bits))
    return bits == ZERO or np.float64(word >> COIN_SHIFT) + 2.0 + TWICE * height < COIN_VALUES


@kernel(I64(IN_I64, IN_I64, IN_I64, I64, F64, F64, IN_F64, IN_U64, OUT_I64, OUT_I64))
def prices_draw(
    bids: Any, offsets: Any, prices: Any, kind: Any, rate: Any, nats: Any, base: Any, words: Any,
    out: Any, work: Any,
) -> Any:  # fmt: skip
    """out = grid points, or statuses below 0; returns 0, or the status of a wrong rounding mode.

    prices: in ticks (SIGNED), or the bits of doubles >= 0 (FLOAT); rate, nats: per unit of price,
    in bits and in nats; base: empty; work: a word for each price, then the words that
    `_selection/scan.py: storage` has.
    """
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    segments, k = offsets.size - 1, prices.size
    size = out.size // segments
    revenue, scratch, blocks = work[:k], work[k : k + 2 * BLOCK], work[k + 2 * BLOCK :]
    bits = as_words(revenue)
    for s in range(segments):
        fill_revenues(bids[offsets[s] : offsets[s + 1]], prices, kind, revenue)
        scan(bits, kind, base, rate, power(PRECISION), blocks, scratch)
        settle(kind, rate, blocks)
        for j in range(size * s, size * (s + 1)):
            first_two = words[WORDS * j : WORDS * j + 2]
            t = draw(bits, kind, base, rate, power(PRECISION), BLOCK, blocks, scratch, first_two)
            if t >= 0 and kind == FLOAT and not passes(bits[t], nats, words[WORDS * j + 2]):
                t = np.int64(OPEN)
            out[j] = t
    return 0


@kernel(I64(IN_I64, IN_I64, I64, OUT_I64))
def revenues_fill(bids: Any, prices: Any, kind: Any, out: Any) -> Any:
    """`fill_revenues` of one segment; returns 0."""
    fill_revenues(bids, prices, kind, out)
    return 0
