"""One draw of each of many rows of a few candidates, by the envelope.

A row of ten is too short for a vector unit: the rows of a tile stand side by side.
"""

from __future__ import annotations

import numpy as np

from .bits import (
    FLOAT,
    INFINITE,
    ZERO,
    below,
    chord,
    is_exact,
    key_height,
    order_key,
    power,
    rounded_weight,
)
from .envelope import DONE, NOT_EXACT, NOT_FINITE, PRECISION, lower
from .jit import kernel, wide_vectors

SHORT, TILE = 32, 64  # candidates of a short row; rows of a tile


@kernel("i64(in_u64, i64, f64, i64, in_u64, out_i64, out_i64)")
def draw_short(values, kind, rate, k, words, out, work):
    """out = the first round of `draw_few` of each row of k candidates; -1 unless it accepts.

    work: 2 * k + 3 tiles.
    """
    wide_vectors()
    bad, size, scale = ZERO, k * TILE, power(PRECISION)
    keys, sums = work[:size].view(np.uint64), work[size:]
    tops, rest = work[-TILE:].view(np.uint64), work[-2 * TILE :]
    for at in range(0, out.size, TILE):
        chosen, tile = out[at : at + TILE], values[at * k : (at + TILE) * k]
        rows = chosen.size
        for r in range(rows):
            tops[r], sums[r], chosen[r] = ZERO, 0, 0
        for r in range(rows):  # transposed in a loop of its own: the next one has vectors
            for j in range(k):
                keys[j * TILE + r] = tile[r * k + j]
        for j in range(k):
            lane = keys[j * TILE : j * TILE + rows]
            for r in range(rows):
                bad |= np.uint64(lane[r] & INFINITE == INFINITE)
                key = order_key(lane[r], kind)
                lane[r], tops[r] = key, max(tops[r], key)
        for j in range(k):
            lane, last, into = keys[j * TILE :], sums[j * TILE :], sums[(j + 1) * TILE :]
            for r in range(rows):
                h = key_height(lane[r], kind, tops[r], rate)
                into[r] = last[r] + chord(h, np.float64(PRECISION))
        for r in range(rows):
            x, counts = below(words[2 * (at + r)], words[2 * (at + r) + 1], np.uint64(into[r]))
            rest[r] = np.int64(x) if counts else into[r]
        for j in range(1, k):
            into = sums[j * TILE :]
            for r in range(rows):
                chosen[r] += np.int64(into[r] <= rest[r])
        for r in range(rows):
            i = np.uint64(chosen[r] * TILE + r)
            h = key_height(keys[i], kind, tops[r], rate)
            is_sure = rest[r] - sums[i] < lower(rounded_weight(h, scale))
            chosen[r] = chosen[r] if is_sure else np.int64(-1)
    finite = kind != FLOAT or bad == ZERO
    return NOT_FINITE if not finite else DONE if is_exact(rate) else NOT_EXACT
