"""The place of a number in a cell of grid points, and the coin that accepts it or not.

A cell's points are equally likely, so a place is a uniform integer below their count: one
64-bit word w gives floor(w * count / 2**64), unless the product's lower half is below
2**64 mod count (Lemire 2019); then the caller draws again, from words of its own.

Where a cell's weight is only a bound, a point is accepted with probability exp(-height). The
first 52 digits of a uniform V and a certified exp decide; if not, an exact test of the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_F64, IN_I64, IN_U64, OUT_I64, OUT_U64, helper, kernel
from ..bits.logexp import exp_one
from ..bits.words import WORD, fill_substream, multiply
from ..select.alias import DRAWS

REFUSED = np.int64(-(2**63))  # no index of a grid
ACCEPT, REJECT, UNSURE = np.int64(1), np.int64(0), np.int64(2)
DIGITS = np.uint64(12)  # a word's top 52 bits are exact in float64
SHARE = 2.0**-36  # relative error for each nat: exp's 2 ulp, heights' 2**-40


@helper
def place(word: Any, count: Any) -> Any:
    """(a uniform integer below `count`, whether it may have to be refused)."""
    n = np.uint64(count)
    high, _ = multiply(word, n, WORD)
    return np.int64(high), word * n < n


@helper
def refused(word: Any, count: Any) -> Any:
    """Whether the integer has to be refused: in at most count of 2**64 cases."""
    n = np.uint64(count)
    return word * n < (np.uint64(0) - n) % n


@kernel(I64(IN_I64, IN_I64, IN_I64, IN_U64, I64, OUT_I64, OUT_U64))
def place_fill(
    start: Any, count: Any, cells: Any, stream: Any, first: Any, out: Any, words: Any
) -> Any:
    """out[j] = a uniform point of cell cells[j], from word j % DRAWS of its substream.

    The first draw's substream is `first`. Returns how many were REFUSED.
    """
    total = 0
    for begin in range(0, out.size, DRAWS):
        part = out[begin : begin + DRAWS]
        block_words = words[: part.size + part.size % 2]
        fill_substream(stream, np.uint64(first + begin // DRAWS), np.uint64(0), block_words)
        any_doubt = False
        for j in range(part.size):
            cell = cells[begin + j]
            inside, doubt = place(block_words[j], count[cell])
            part[j] = start[cell] + inside
            any_doubt |= doubt
        if any_doubt:
            for j in range(part.size):
                if refused(block_words[j], count[cells[begin + j]]):
                    part[j] = REFUSED
                    total += 1
    return total


@kernel(I64(IN_F64, IN_U64, OUT_I64))
def coin_fill(heights: Any, words: Any, out: Any) -> Any:
    """out[j] = whether V < exp(-heights[j]), V beginning with words[j]; returns how many UNSURE.

    Heights are >= 0, within a relative 2**-40 or an absolute 2**-45.
    """
    unsure = 0
    for j in range(out.size):
        v = np.float64(np.int64(words[j] >> DIGITS)) * 2.0**-52
        h = heights[j]
        p = exp_one(-min(h, 600.0))
        slack = p * (1.0 + h) * SHARE
        verdict = UNSURE
        if v + 2.0**-52 <= p - slack:
            verdict = ACCEPT
        if v >= p + slack + 2.0**-60:
            verdict = REJECT
        out[j] = verdict
        unsure += 1 if verdict == UNSURE else 0
    return unsure
