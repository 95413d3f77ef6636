"""Rounds of a simulated draw on at most a block of candidates, with the chord's bounds.

Draw t of a row takes the words of substream t of the row's stream. Round n takes word n; in a
row of more than a block (`two_level.py`) words 2n and 2n + 1. An exact test in round n takes
words (n + 1) * 2**16, ...

A draw's *control* (`new_control`) has, in this order: precision, the first draw's number, whether
two levels are wanted, whether only draws that are LEFT are wanted, the number of answers, up to
MOST_ANSWERS answers of exact tests; then, from TEST on, index, rho, round, best key and bits of
the lift of the test that is wanted next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._compiler.jit import (
    as_floats,
    bits_float,
    float_bits,
    helper,
)
from ..bits.heights import (
    BLOCK,
    block_top,
    fill_heights,
    lowest_height,
)
from ..bits.words import HALF, philox
from .chords import (
    ACCEPTED,
    FIXED,
    FOLDED,
    REJECTED,
    below_word,
    fill_chords,
    find_lane,
    judge,
)
from .envelope import NOT_FINITE, UNSURE

PRECISION, FIRST, TWO_LEVELS, LEFT_ONLY, ANSWERS, MOST_ANSWERS = 0, 1, 2, 3, 4, 60
TEST = ANSWERS + 1 + MOST_ANSWERS
CONTROL = TEST + 5
SCRATCH = 2 * BLOCK + FOLDED + 1  # words of work for a block: bounds, heights, sums, one height
LEFT = -7  # instead of a draw that a tile has not settled
HEADER = 3  # of `seeds`, before the names of the rows: the key's two words and the tag


def new_control(precision: int, two_levels: bool) -> npt.NDArray[np.int64]:
    """The control of draws 0, 1, ..., without answers."""
    control = np.zeros(CONTROL, dtype=np.int64)
    control[PRECISION], control[TWO_LEVELS] = precision, two_levels
    return control


@helper
def power(precision: Any) -> Any:
    """2.0**precision."""
    return bits_float(np.uint64(precision + 1023) << np.uint64(52))


@helper
def answer(verdict: Any, tests: Any, control: Any) -> Any:
    """`verdict`, or the answer that the caller has for exact test number `tests`."""
    if verdict == UNSURE and tests < control[ANSWERS]:
        return control[ANSWERS + 1 + tests]
    return verdict


@helper
def ask(control: Any, index: Any, rho: Any, number: Any, best: Any, lift: Any) -> None:
    """Write down which exact test is wanted."""
    control[TEST] = index
    control[TEST + 1] = rho
    control[TEST + 2] = number
    control[TEST + 3] = np.int64(best)
    control[TEST + 4] = np.int64(float_bits(lift))


@helper
def settled(
    verdict: Any, tests: Any, control: Any, index: Any, rho: Any, number: Any, best: Any, lift: Any
) -> Any:
    """(the verdict after `answer`, exact tests so far); a test that is open is written down."""
    if verdict == UNSURE:
        verdict = answer(verdict, tests, control)
        tests += 1
        if verdict == UNSURE:
            ask(control, index, rho, number, best, lift)
    return verdict, tests


@helper
def draw_block(
    bits: Any, kind: Any, log_base: Any, rate: Any, stream: Any, control: Any, out: Any, work: Any
) -> Any:
    """Draws from one row of at most a block.

    Returns how many of them are UNSURE, or NOT_FINITE.
    """
    top, _, finite = block_top(bits, kind, log_base)
    if not finite:
        return NOT_FINITE
    lift = 0.0
    if log_base.size > 0:
        heights = as_floats(work[BLOCK : BLOCK + bits.size])
        fill_heights(bits, kind, top, rate, log_base, heights)
        lift = np.floor(lowest_height(heights))
    fixed = FIXED + np.float64(control[PRECISION])
    total = fill_chords(bits, kind, top, rate, log_base, lift, fixed, work)
    return draw_rounds(bits, kind, log_base, rate, top, lift, total, stream, control, out, work)


@helper
def draw_rounds(
    bits: Any, kind: Any, log_base: Any, rate: Any, top: Any, lift: Any, total: Any, stream: Any,
    control: Any, out: Any, work: Any,
) -> Any:  # fmt: skip
    """Draws from filled bounds and lanes; returns how many are UNSURE."""
    scale, unsure = power(control[PRECISION]), 0
    height = as_floats(work[2 * BLOCK + FOLDED :])[:1]
    for t in range(out.size):
        if control[LEFT_ONLY] > 0 and out[t] != LEFT:
            continue
        substream = np.uint64(control[FIRST] + t) << HALF
        number, tests, verdict, index = 0, 0, REJECTED, np.int64(0)
        while verdict == REJECTED:
            word, other = philox(substream + np.uint64(number // 2), stream[1], stream[0])
            r, counts = below_word(word if number % 2 == 0 else other, np.uint64(total))
            if counts:
                index, before = find_lane(work, bits.size, np.int64(r))
                rho, chosen = np.int64(r) - before, slice(index, index + 1)
                fill_heights(bits[chosen], kind, top, rate, log_base[chosen], height)
                verdict = judge(height[0] - lift, scale, rho)
                verdict, tests = settled(verdict, tests, control, index, rho, number, top, lift)
            number += 1
        out[t] = index if verdict == ACCEPTED else UNSURE
        unsure += 0 if verdict == ACCEPTED else 1
    return unsure
