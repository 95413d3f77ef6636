"""Rounds of a simulated draw on at most a block of candidates, with the chord's bounds.

The words of draw t of a row: substream t of the row's stream. Round n takes word n; beyond
one block (`two_level.py`) words 2n and 2n + 1. An exact test in round n takes words
(n + 1) * 2**16, ...

`control` is, in this order: precision, the first draw's number, whether two levels are
wanted, the number of answers, up to eight answers of exact tests; then, for the test that is
wanted next: index, rho, round, best key, bits of the lift.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import bits_float, float_bits, helper
from .chords import ACCEPTED, FIXED, FOLDED, REJECTED, below_word, fill_chords, find_lane, judge
from .envelope import NOT_FINITE, UNSURE
from .heights import BLOCK, block_top, fill_heights, lowest_height
from .words import HALF, philox

PRECISION, FIRST, TWO_LEVELS, ANSWERS, ASKED, CONTROL = 0, 1, 2, 3, 12, 17
MOST_ANSWERS = 8
SCRATCH = 2 * BLOCK + FOLDED  # words of work for a block: bounds, heights, sums


@helper
def power(precision: Any) -> Any:
    """2.0**precision."""
    return bits_float(np.uint64(precision + 1023) << np.uint64(52))


@helper
def answer(verdict: Any, asked: Any, control: Any) -> Any:
    """`verdict`, or the answer that the caller has brought for exact test number `asked`."""
    if verdict == UNSURE and asked < control[ANSWERS]:
        return control[ANSWERS + 1 + asked]
    return verdict


@helper
def ask(control: Any, index: Any, rho: Any, number: Any, best: Any, lift: Any) -> None:
    """Write down which exact test is wanted."""
    control[ASKED] = index
    control[ASKED + 1] = rho
    control[ASKED + 2] = number
    control[ASKED + 3] = np.int64(best)
    control[ASKED + 4] = np.int64(float_bits(lift))


@helper
def draw_block(
    bits: Any, kind: Any, log_base: Any, rate: Any, stream: Any, first: Any, control: Any,
    out: Any, work: Any,
) -> Any:  # fmt: skip
    """Draws first, first + 1, ... of one row of at most a block.

    Returns how many of them are UNSURE, or NOT_FINITE.
    """
    top, _, finite = block_top(bits, kind, log_base)
    if not finite:
        return NOT_FINITE
    lift = 0.0
    if log_base.size > 0:
        heights = work[BLOCK : BLOCK + bits.size].view(np.float64)
        fill_heights(bits, kind, top, rate, log_base, heights)
        lift = np.floor(lowest_height(heights))
    total = fill_chords(
        bits, kind, top, rate, log_base, lift, FIXED + np.float64(control[PRECISION]), work
    )
    scale, unsure = power(control[PRECISION]), 0
    for t in range(out.size):
        substream = np.uint64(first + t) << HALF
        number, asked, verdict, index = 0, 0, REJECTED, np.int64(0)
        while verdict == REJECTED:
            word, other = philox(substream + np.uint64(number // 2), stream[1], stream[0])
            r, counts = below_word(word if number % 2 == 0 else other, np.uint64(total))
            if counts:
                index, before = find_lane(work, bits.size, np.int64(r))
                height = bits_float(np.uint64(work[BLOCK + index])) - lift
                rho = np.int64(r) - before
                verdict = judge(height, scale, rho)
                if verdict == UNSURE:
                    verdict = answer(verdict, asked, control)
                    asked += 1
                if verdict == UNSURE:
                    ask(control, index, rho, number, top, lift)
            number += 1
        out[t] = index if verdict == ACCEPTED else UNSURE
        unsure += 0 if verdict == ACCEPTED else 1
    return unsure
