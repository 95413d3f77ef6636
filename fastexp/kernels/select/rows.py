"""Simulated draws: one or a few from each row of utilities, with the chord's bounds.

As in `envelope.py` a uniform integer below the sum of integer bounds picks a candidate, and
its remainder is the coin; here the bounds are the chords of `chords.py`, so some 3 % of
rounds reject and are drawn afresh. An accepted draw has the mechanism's law whatever the
bounds were, and whatever was refined in earlier rounds.

Each shape has a kernel, so that each compiles in seconds: rows of up to a block (1,024) by
`rounds.py`; many rows of few candidates in tiles of 64 (`tiles.py`), with the draws that are LEFT
by `block_rows`, to the same bytes; longer rows by `two_level.py`. `seeds` has the key (two words),
the tag and a name for each row. All return how many draws are UNSURE (or LEFT), or an error's
status.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    I64,
    IN_F64,
    IN_U32,
    IN_U64,
    OUT_I64,
    as_words,
    helper,
    kernel,
)
from ..bits.heights import BLOCK
from ..bits.words import philox
from .chords import FIXED
from .envelope import NOT_FINITE, ROUNDING_MODE, rounds_to_nearest
from .rounds import (
    FIRST,
    HEADER,
    LEFT,
    LEFT_ONLY,
    PRECISION,
    SCRATCH,
    draw_block,
    power,
)
from .tiles import (
    TILE,
    WIDEST,
    accept,
    cumulate,
    fill_heights_of,
    fill_rests,
    fill_words,
    pick,
    search,
    tops,
    transpose,
)
from .two_level import draw_blocks


def work_size(k: int) -> int:
    """Words of scratch for rows of k candidates."""
    return 2 + max(SCRATCH + 2 * (-(-k // BLOCK)) + BLOCK, (2 * WIDEST + 6) * TILE)


@helper
def any_left(out: Any, first: Any, last: Any) -> Any:
    """Whether one of the draws first, ..., last - 1 is LEFT."""
    left = False
    for t in range(first, last):
        left = left | (out[t] == LEFT)
    return left


@kernel(I64(IN_U64, I64, IN_F64, F64, IN_U64, OUT_I64, OUT_I64, OUT_I64))
def block_rows(
    bits: Any, kind: Any, log_base: Any, rate: Any, seeds: Any, control: Any, out: Any, work: Any
) -> Any:
    """Draws from rows of up to a block: all draws, or those that are LEFT."""
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    names, stream, scratch = seeds[HEADER:], as_words(work[:2]), work[2:]
    k, size, unsure = bits.size // names.size, out.size // names.size, 0
    for r in range(names.size):
        if control[LEFT_ONLY] == 0 or any_left(out, r * size, (r + 1) * size):
            row, into = bits[r * k : (r + 1) * k], out[r * size : (r + 1) * size]
            stream[0], stream[1] = philox(names[r], seeds[2] ^ seeds[1], seeds[0])
            status = draw_block(row, kind, log_base, rate, stream, control, into, scratch)
            if status < 0:
                return status
            unsure += status
    return unsure


@kernel(I64(IN_U64, IN_U32, I64, IN_F64, F64, IN_U64, OUT_I64, OUT_I64, OUT_I64))
def long_rows(
    bits: Any, narrow: Any, kind: Any, log_base: Any, rate: Any, seeds: Any, control: Any,
    out: Any, work: Any,
) -> Any:  # fmt: skip
    """Draws from rows of more than a block, in `bits` or (float32, without a base) in `narrow`."""
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    names, stream, scratch = seeds[HEADER:], as_words(work[:2]), work[2:]
    k, size, unsure = max(bits.size, narrow.size) // names.size, out.size // names.size, 0
    for r in range(names.size):
        row, into = bits[r * k : (r + 1) * k], out[r * size : (r + 1) * size]
        stream[0], stream[1] = philox(names[r], seeds[2] ^ seeds[1], seeds[0])
        narrow_row = narrow[r * k : (r + 1) * k]
        status = draw_blocks(row, narrow_row, kind, log_base, rate, stream, control, into, scratch)
        if status < 0:
            return status
        unsure += status
    return unsure


@kernel(I64(IN_U64, I64, IN_F64, F64, IN_U64, OUT_I64, OUT_I64, OUT_I64))
def tile_rows(
    bits: Any, kind: Any, no_base: Any, rate: Any, seeds: Any, control: Any, out: Any, work: Any
) -> Any:
    """Draws from rows of at most WIDEST candidates without a base; some 2 % stay LEFT."""
    if not rounds_to_nearest(rate + no_base.size):
        return ROUNDING_MODE
    names, left = seeds[HEADER:], 0
    k, size = bits.size // names.size, out.size // names.size
    heights = as_words(work[: k * TILE])
    sums, rest = work[k * TILE : 2 * k * TILE], work[2 * k * TILE :]
    fixed, scale = FIXED + np.float64(control[PRECISION]), power(control[PRECISION])
    streams = as_words(rest[3 * TILE : 5 * TILE])
    for start in range(0, names.size, TILE):
        tile_names = names[start : start + TILE]
        rows = tile_names.size
        rests, chosen = rest[:rows], rest[TILE : TILE + rows]
        words = as_words(rest[2 * TILE : 2 * TILE + rows])
        transpose(bits[start * k : (start + rows) * k], k, kind, heights)
        if not tops(heights, k, kind, words):
            return NOT_FINITE
        fill_heights_of(heights, k, kind, rate, words)
        cumulate(heights, k, rows, fixed, sums)
        for t in range(size):
            fill_words(seeds, tile_names, np.uint64(control[FIRST] + t), streams, words)
            fill_rests(words, sums[(k - 1) * TILE : (k - 1) * TILE + rows], rests)
            search(sums, k, rests, chosen)
            pick(heights, sums, chosen, rests, words)
            accept(words, scale, rests, chosen)
            for r in range(rows):
                out[(start + r) * size + t] = chosen[r]
                left += 1 if chosen[r] < 0 else 0
    return left
