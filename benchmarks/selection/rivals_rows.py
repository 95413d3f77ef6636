"""Peers for rows of utilities: NumPy, also in tiles that stay in a cache and reuse their buffers.

Tile sizes are from a trial of 2**13 to 2**21 values at both shapes of the case `rows`, on a Xeon
with AVX-512: each is within about 10% of its best at both shapes, or chosen by k. The maximum of
each row is subtracted: with that of a tile, weights would underflow if rows are far apart.
"""

from __future__ import annotations

import numpy as np

from ..harness.workload import DRAW_SEED, Call
from .workload import RATE
from .workload import SelectionWork as Work

# A transposed tile has NARROW_TILE values for k up to NARROW, otherwise WIDE_TILE.
NARROW, NARROW_TILE, WIDE_TILE = 100, 1 << 16, 1 << 19


def cumsum(work: Work) -> Call:
    """Invert the cumulative weights, as most people write it."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)

    def call() -> object:
        sums = np.cumsum(np.exp(RATE * (u - u.max(axis=1, keepdims=True))), axis=1)
        return (sums > rng.random((work.rows, 1)) * sums[:, -1:]).argmax(axis=1)

    return call


def transposed_tiled(work: Work) -> Call:
    """Do the same in tiles with candidates along the first axis, for all rows at once."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    values = NARROW_TILE if work.k <= NARROW else WIDE_TILE
    high = max(1, min(values // work.k, -(-work.rows // 2)))
    parts = [slice(start, start + high) for start in range(0, work.rows, high)]
    count = np.min_scalar_type(-work.k)  # bytes add up faster than int64
    buffer, flags = np.empty((work.k, high)), np.empty((work.k, high), dtype=np.bool_)

    def call() -> object:
        out = np.empty(work.rows, dtype=np.int64)
        for part in parts:
            rows = u[part].T
            w, before = buffer[:, : rows.shape[1]], flags[:, : rows.shape[1]]
            np.copyto(w, rows)
            w -= w.max(axis=0)
            w *= RATE
            np.exp(w, out=w)
            for i in range(1, work.k):  # equal to np.cumsum(axis=0), in half its time
                w[i] += w[i - 1]
            np.less_equal(w, rng.random(rows.shape[1]) * w[-1], out=before)
            out[part] = np.add.reduce(before.view(np.int8), axis=0, dtype=count)
        return out

    return call


def counts_shuffled(work: Work) -> Call:
    """Draw many times: first the count of each candidate, then the order."""
    rng, numbers = np.random.default_rng(DRAW_SEED), np.tile(np.arange(work.k), work.rows)

    def call() -> object:
        u = work.utilities
        w = np.exp(RATE * (u - u.max(axis=1, keepdims=True)))
        counts = rng.multinomial(work.size, w / w.sum(axis=1, keepdims=True))
        drawn = np.repeat(numbers, counts.ravel()).reshape(work.rows, work.size)
        return rng.permuted(drawn, axis=1, out=drawn)

    return call
