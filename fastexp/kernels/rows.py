"""Simulated draws: one or a few from each row of utilities, with the chord's bounds.

As in `envelope.py` a uniform integer below the sum of integer bounds picks a candidate, and
what is left of it is the coin; here the bounds are the chords of `chords.py`, so some 3 % of
rounds reject and are drawn afresh. An accepted draw has the mechanism's law whatever the
bounds were, and whatever was refined in earlier rounds.

A row of up to a block (1,024) is drawn by `rounds.py`, many rows of few candidates in tiles
of 64 (`tiles.py`, the same bytes), a longer row by `two_level.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import F64, I64, IN_F64, IN_U64, OUT_I64, helper, kernel
from .chords import FIXED
from .envelope import NOT_FINITE, ROUNDING_MODE, rounds_to_nearest
from .heights import BLOCK, FLOAT
from .rounds import FIRST, HEADER, PRECISION, SCRATCH, draw_block, draw_float_rows, power
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
from .words import philox


def work_size(k: int) -> int:
    """Words of scratch for rows of k candidates."""
    return 4 + SCRATCH + max(2 * (-(-k // BLOCK)), (2 * WIDEST + 6) * TILE)


@helper
def draw_row(
    bits: Any, kind: Any, log_base: Any, rate: Any, stream: Any, first: Any, control: Any,
    out: Any, work: Any,
) -> Any:  # fmt: skip
    """Draws of one row; returns how many are UNSURE, or NOT_FINITE."""
    if bits.size <= BLOCK:
        return draw_block(bits, kind, log_base, rate, stream, first, control, out, work)
    return draw_blocks(bits, kind, log_base, rate, stream, first, control, out, work)


@helper
def draw_tile(
    bits: Any, k: Any, kind: Any, log_base: Any, rate: Any, seeds: Any, names: Any, control: Any,
    out: Any, work: Any,
) -> Any:  # fmt: skip
    """One or a few draws from each of at most TILE rows; returns as `draw_row`."""
    rows = names.size
    size, scratch = out.size // rows, work[SCRATCH:]
    heights = scratch[: k * TILE].view(np.uint64)
    sums = scratch[k * TILE : 2 * k * TILE]
    rests, found = scratch[2 * k * TILE :][:rows], scratch[(2 * k + 1) * TILE :][:rows]
    words = scratch[(2 * k + 2) * TILE :].view(np.uint64)[:rows]
    streams = scratch[(2 * k + 3) * TILE :].view(np.uint64)[: 2 * TILE]
    transpose(bits, k, kind, heights)
    if not tops(heights, k, kind, words):
        return NOT_FINITE
    fill_heights_of(heights, k, kind, rate, words)
    cumulate(heights, k, rows, FIXED + np.float64(control[PRECISION]), sums)
    scale, unsure = power(control[PRECISION]), 0
    for t in range(size):
        first = control[FIRST] + t
        fill_words(seeds, names, np.uint64(first), streams, words)
        fill_rests(words, sums[(k - 1) * TILE :], rests)
        search(sums, k, rests, found)
        pick(heights, sums, found, rests, words)
        accept(words, scale, rests, found)
        for r in range(rows):
            out[r * size + t] = found[r]
            if found[r] < 0:  # rejected, refused or unsure: by the row's own rounds
                row, one = bits[r * k : (r + 1) * k], out[r * size + t : r * size + t + 1]
                stream = streams[2 * r : 2 * r + 2]
                unsure += draw_block(row, kind, log_base, rate, stream, first, control, one, work)
    return unsure


@kernel(I64(IN_U64, I64, IN_F64, F64, IN_U64, OUT_I64, OUT_I64, OUT_I64))
def rows_draw(
    bits: Any, kind: Any, log_base: Any, rate: Any, seeds: Any, control: Any, out: Any, work: Any
) -> Any:
    """out = draws of each row, or UNSURE; returns how many are unsure, or an error's status.

    `seeds` is the key (two words), the tag and a name for each row. `work` is two blocks,
    then two words for each block of a row, and at least `work_size` in all.
    """
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    names = seeds[HEADER:]
    k, size = bits.size // names.size, out.size // names.size
    tiled = k <= WIDEST and log_base.size == 0 and names.size > 1
    if not tiled and kind == FLOAT and k <= BLOCK and log_base.size == 0:
        return draw_float_rows(bits, k, log_base, rate, seeds, control, out, work)
    step = TILE if tiled else 1
    unsure = 0
    stream = work[:2].view(np.uint64)
    for r in range(0, names.size, step):
        last = min(r + step, names.size)
        part, into = bits[r * k : last * k], out[r * size : last * size]
        if tiled:
            tile = names[r:last]
            found = draw_tile(part, k, kind, log_base, rate, seeds, tile, control, into, work)
        else:
            stream[0], stream[1] = philox(names[r], seeds[2] ^ seeds[1], seeds[0])
            rest, first = work[2:], control[FIRST]
            found = draw_row(part, kind, log_base, rate, stream, first, control, into, rest)
        if found < 0:
            return found
        unsure += found
    return unsure
