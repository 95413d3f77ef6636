"""The integer envelope: one exact selection in one pass over the utilities.

For each candidate with weight w <= 1 (the mechanism's weight over the greatest weight) and
f = 2**s there are certified integers L <= f*w <= U. Integers add exactly in any order. A
uniform integer R below the sum of the U picks a candidate, and the remainder rho of R is
the acceptance coin: accept at once if rho < L; else `exact.accept` decides with exact
arithmetic whether rho + V < f*w for a uniform V. Given the candidate, rho is uniform below
U, so a round returns i with probability f*w_i / sum(U): the mechanism's law, whatever the
bounds were.

Each block is scanned while it lies in the cache, at a scale of its own (that of its best
candidate), so the utilities are read from memory once; `settle` turns a block's sum into a
certified bound at the common scale. A drawn block is computed again at the common scale; if R
falls between the block's sum and its bound, the round is void and drawn afresh.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    I64,
    IN_F64,
    IN_U64,
    NOTHING,
    OUT_I64,
    U64,
    as_floats,
    bits_float,
    float_bits,
    helper,
    kernel,
    stack,
    wide_vectors,
)
from ..bits.heights import (
    BLOCK,
    NONE,
    best_key,
    block_height,
    block_top,
    fill_heights,
    height_of,
    lowest_height,
)
from ..bits.logexp import LN2, MANTISSA_BITS, ROUND, ROUND_BITS, exp_scaled
from ..bits.words import ONE_WORD, WORD, below

PRECISION = 50  # fractional bits: 1,024 bounds of at most 2**50 * (1 + 2**-36) fit int64
SCALE = 2.0**PRECISION
SLACK = np.int64(36)
GROUP = 32  # candidates; the square root of a block
DEEPEST = 60.0  # greater heights count as this one, as 2**(50 - 60) rounds to 0
INTEGER = 4503599627370496.0  # 2**52: added, it leaves the rounded number in the sum's low bits
INTEGER_BITS = np.uint64(0x4330000000000000)
# Statuses of a round that gives no index (>= 0).
NOT_FINITE, UNSURE, AGAIN, ROUNDING_MODE = -1, -2, -3, -4
TAIL = 6  # words behind the blocks' triples: total (2), best key, lift, drawn index, rho


@helper
def rounded_weight(height: Any, scale: Any) -> Any:
    """2**-height * scale rounded to an integer, within a relative 2**-39 and 1/2.

    The polynomial is a minimax fit of 2**r on [-1/2, 1/2] with relative error 2**-45.9.
    """
    y = min(height, DEEPEST)
    rounded = ROUND - y
    r = -y - (rounded - ROUND)
    q = 1.0148339450112299e-07 * r + 1.325833551846685e-06
    q = q * r + 1.5252990022350025e-05
    q = q * r + 0.0001540344088402222
    q = q * r + 0.0013333557625458167
    q = q * r + 0.0096181291811644
    q = q * r + 0.05550410866841582
    q = q * r + 0.24022650695722816
    q = q * r + 0.6931471805598851
    p = (1.0 + q * r) * scale
    exponent = (float_bits(rounded) - ROUND_BITS) << MANTISSA_BITS
    v = bits_float(float_bits(p) + exponent)
    return np.int64(float_bits(v + INTEGER) - INTEGER_BITS)


@helper
def upper(r: Any) -> Any:
    """U >= f*w, from the rounded weight: relative slack 2**-36 and three units."""
    return r + (r >> SLACK) + 3


@helper
def lower(r: Any) -> Any:
    """L <= f*w, from the rounded weight."""
    return max(r - (r >> SLACK) - 2, np.int64(0))


@helper
def fill_upper(heights: Any, lift: Any, scale: Any, log_base: Any, out: Any) -> Any:
    """out[i] = U of candidate i, 0 where its base is 0; returns their sum."""
    wide_vectors()
    total = np.int64(0)
    for i in range(heights.size):
        u = upper(rounded_weight(heights[i] - lift, scale))
        out[i] = u
        total += u
    if log_base.size > 0:
        for i in range(heights.size):
            if log_base[i] == -np.inf:
                total -= out[i]
                out[i] = 0
    return total


@helper
def scan(bits: Any, kind: Any, log_base: Any, rate: Any, scale: Any, blocks: Any, work: Any) -> Any:
    """blocks[3b:3b+3] = (sum of U, top key, lowest height) of block b, at its own scale.

    The sum is 0 if no candidate of the block has a positive base. Afterwards `work` holds the
    U and the heights of the last block.
    """
    status = 0
    for b in range((bits.size + BLOCK - 1) // BLOCK):
        part = bits[b * BLOCK : (b + 1) * BLOCK]
        base = log_base[b * BLOCK : (b + 1) * BLOCK]
        top, has_positive, finite = block_top(part, kind, base)
        if not finite:
            status = NOT_FINITE
        total, lowest = np.int64(0), 0.0
        if has_positive:
            heights = as_floats(work[BLOCK : BLOCK + part.size])
            fill_heights(part, kind, top, rate, base, heights)
            lowest = lowest_height(heights) if base.size > 0 else 0.0
            total = fill_upper(heights, np.floor(lowest), scale, base, work[: part.size])
        blocks[3 * b] = total
        blocks[3 * b + 1] = np.int64(top)
        blocks[3 * b + 2] = np.int64(float_bits(lowest))
    return status


@helper
def settle(kind: Any, rate: Any, blocks: Any) -> None:
    """Bring the blocks to one scale: each sum becomes a certified bound of its candidates' U.

    Let the common scale be 2**-e of the block's own (e has an absolute error of 2**-38). The
    sum at the common scale is at most sum * 2**-e * (1 + 2**-34), plus 5 for each candidate.
    Writes the total (two words), the best key and the common lift behind the blocks. Lifts are
    whole numbers, so that the scale f = scale * 2**lift is exactly known; f * w <= 2**50.
    """
    count = (blocks.size - TAIL) // 3
    best = NONE
    for b in range(count):
        if blocks[3 * b] > 0:
            best = max(best, np.uint64(blocks[3 * b + 1]))
    lift = np.inf
    for b in range(count):
        if blocks[3 * b] > 0:
            lowest = bits_float(np.uint64(blocks[3 * b + 2]))
            height = block_height(kind, rate, best, np.uint64(blocks[3 * b + 1]))
            lift = min(lift, height + lowest)
    lift = np.floor(lift)
    high, low = NONE, NONE
    for b in range(count):
        bound = blocks[3 * b]
        if bound > 0 and count > 1:
            lowest = np.floor(bits_float(np.uint64(blocks[3 * b + 2])))
            e = block_height(kind, rate, best, np.uint64(blocks[3 * b + 1])) + lowest - lift
            scaled = np.float64(bound) * exp_scaled(-min(e, 100.0) * LN2, NONE)
            bound = np.int64(scaled * (1.0 + 2.0**-34)) + 5 * BLOCK
            blocks[3 * b] = bound
        low += np.uint64(bound)
        if low < np.uint64(bound):
            high += ONE_WORD
    blocks[3 * count] = np.int64(high)
    blocks[3 * count + 1] = np.int64(low)
    blocks[3 * count + 2] = np.int64(best)
    blocks[3 * count + 3] = np.int64(float_bits(lift))


@helper
def add(values: Any) -> Any:
    """The sum of integers."""
    wide_vectors()
    total = np.int64(0)
    for i in range(values.size):
        total += values[i]
    return total


@helper
def find(uppers: Any, rho: Any) -> Any:
    """(index of the candidate on whose U rho falls, sum of the U before it); size if none.

    The group (of GROUP) is found first, then the candidate in it; wherever rho falls, all groups
    and all candidates of the group are read.
    """
    seen, group, before = np.int64(0), 0, np.int64(0)
    for start in range(0, uppers.size, GROUP):
        seen += add(uppers[start : start + GROUP])
        passed = seen <= rho
        group += 1 if passed else 0
        before = seen if passed else before
    index, seen = group * GROUP, before
    for i in range(group * GROUP, min((group + 1) * GROUP, uppers.size)):
        seen += uppers[i]
        passed = seen <= rho
        index += 1 if passed else 0
        before = seen if passed else before
    return min(index, uppers.size), before


@helper
def draw(
    bits: Any,
    kind: Any,
    log_base: Any,
    rate: Any,
    scale: Any,
    length: Any,
    blocks: Any,
    work: Any,
    words: Any,
) -> Any:
    """One round from settled blocks of `length` and 128 bits: an index, UNSURE or AGAIN.

    Whatever is drawn, all blocks and all candidates of the drawn block are read.
    """
    count = (blocks.size - TAIL) // 3
    tail = blocks[3 * count :]
    total_high, total_low = np.uint64(tail[0]), np.uint64(tail[1])
    r1, r0, counts = below(words[1], words[0], total_high, total_low, WORD)
    if not counts:
        return AGAIN
    # The number of the drawn block is the number of blocks whose cumulative sums are <= R.
    high, low, chosen, rho = NONE, NONE, 0, np.int64(r0)
    for b in range(count):
        bound = np.uint64(blocks[3 * b])
        low += bound
        if low < bound:
            high += ONE_WORD
        passed = high < r1 or (high == r1 and low <= r0)
        chosen += 1 if passed else 0
        rho = np.int64(r0 - low) if passed else rho
    start = chosen * length
    part = bits[start : start + length]
    base = log_base[start : start + length]
    uppers = work[: part.size]
    heights = as_floats(work[BLOCK : BLOCK + part.size])
    lift = bits_float(np.uint64(tail[3]))
    if count > 1:
        fill_heights(part, kind, np.uint64(tail[2]), rate, base, heights)
        fill_upper(heights, lift, scale, base, uppers)
    index, before = find(uppers, rho)
    if index == part.size:  # between the block's sum and its bound
        return AGAIN
    rho -= before
    tail[4] = start + index
    tail[5] = rho
    if rho < lower(rounded_weight(heights[index] - lift, scale)):
        return start + index
    return UNSURE


@helper
def rounds_to_nearest(rate: Any) -> Any:
    """Whether the processor rounds to nearest, as the proofs assume."""
    tiny = 2.0**-60 + (rate - rate)  # not a constant, or the compiler would fold it
    return 1.0 + tiny == 1.0 and -1.0 - tiny == -1.0 and 1.0 - tiny == 1.0


@kernel(I64(IN_U64, I64, IN_F64, F64, F64, OUT_I64, IN_U64))
def envelope_one(
    bits: Any, kind: Any, log_base: Any, rate: Any, scale: Any, store: Any, words: Any
) -> Any:
    """One round of the exponential mechanism from two words: an index >= 0 or a status.

    `store` is two blocks of work, then the blocks' triples and tail.
    """
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    work, blocks = store[: 2 * BLOCK], store[2 * BLOCK :]
    status = scan(bits, kind, log_base, rate, scale, blocks, work)
    if status < 0:
        return status
    settle(kind, rate, blocks)
    return draw(bits, kind, log_base, rate, scale, BLOCK, blocks, work, words)


@kernel(I64(IN_U64, I64, F64, U64, U64))
def envelope_block(bits: Any, kind: Any, rate: Any, low: Any, high: Any) -> Any:
    """`envelope_one` for up to a block, without a base and at 2**PRECISION, in half the time."""
    wide_vectors()
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    top, finite = best_key(bits, kind)
    if not finite:
        return NOT_FINITE
    uppers, total = stack(BLOCK)[: bits.size], np.int64(0)
    for i in range(bits.size):
        u = upper(rounded_weight(height_of(bits[i], kind, top, rate), SCALE))
        uppers[i] = u
        total += u
    _, r, counts = below(high, low, NONE, np.uint64(total), WORD)
    if not counts:
        return AGAIN
    index, before = find(uppers, np.int64(r))
    weight = rounded_weight(height_of(bits[index], kind, top, rate), SCALE)
    return index if np.int64(r) - before < lower(weight) else UNSURE


@kernel(I64(IN_U64, I64, IN_F64, F64, F64, IN_U64, OUT_I64, OUT_I64))
def envelope_rows(
    bits: Any, kind: Any, log_base: Any, rate: Any, scale: Any, words: Any, out: Any, store: Any
) -> Any:
    """out[r] = one round of row r from its two words, or a status; returns 0 or an error."""
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    work, blocks, k = store[: 2 * BLOCK], store[2 * BLOCK :], bits.size // out.size
    for r in range(out.size):
        row = bits[r * k : (r + 1) * k]
        status = scan(row, kind, log_base, rate, scale, blocks, work)
        if status < 0:
            return status
        settle(kind, rate, blocks)
        row_words = words[2 * r : 2 * r + 2]
        out[r] = draw(row, kind, log_base, rate, scale, BLOCK, blocks, work, row_words)
    return 0


@kernel(I64(IN_U64, I64, IN_F64, F64, F64, OUT_I64, OUT_I64))
def envelope_scan(
    bits: Any, kind: Any, log_base: Any, rate: Any, scale: Any, blocks: Any, work: Any
) -> Any:
    """`scan` of whole blocks, for one thread; returns NOT_FINITE, ROUNDING_MODE or 0."""
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    return scan(bits, kind, log_base, rate, scale, blocks, work)


@kernel(NOTHING(I64, F64, OUT_I64))
def envelope_settle(kind: Any, rate: Any, blocks: Any) -> None:
    """`settle` after the threads' scans."""
    settle(kind, rate, blocks)


@kernel(I64(IN_U64, I64, IN_F64, F64, F64, OUT_I64, OUT_I64, IN_U64))
def envelope_draw(
    bits: Any, kind: Any, log_base: Any, rate: Any, scale: Any, blocks: Any, work: Any, words: Any
) -> Any:
    """A further round from settled blocks: an index >= 0, UNSURE or AGAIN."""
    return draw(bits, kind, log_base, rate, scale, BLOCK, blocks, work, words)
