"""Peers for rows of utilities: NumPy, in tiles that stay in a cache and reuse their buffers.

Tile sizes are from a trial of 2**13 to 2**21 values at both shapes of the case `rows`, on a
Xeon with AVX-512: each is within about 10% of its best at both, or chosen by k. Each row's own
maximum is subtracted: a tile's would underflow where rows are far apart.
"""

from __future__ import annotations

import numpy as np

from ..harness.workload import DRAW_SEED, Call, FloatArray, IntArray
from .workload import RATE
from .workload import SelectionWork as Work

CUMSUM_TILE = 1 << 18
NARROW, NARROW_TILE, WIDE_TILE = 100, 1 << 16, 1 << 19  # of the transposed tiles, by k


def gumbel(work: Work) -> Call:
    """The Gumbel-max trick, as most people write it."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    return lambda: np.argmax(RATE * u + rng.gumbel(size=u.shape), axis=1)


def cumsum(work: Work) -> Call:
    """Inverse of the cumulated weights, as most people write it."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)

    def call() -> object:
        sums = np.cumsum(np.exp(RATE * (u - u.max(axis=1, keepdims=True))), axis=1)
        return (sums > rng.random((work.rows, 1)) * sums[:, -1:]).argmax(axis=1)

    return call


def tiles(work: Work, values: int) -> tuple[int, list[slice]]:
    """How many rows a tile of so many values has, and the tiles; two at least."""
    high = max(1, min(values // work.k, -(-work.rows // 2)))
    return high, [slice(start, start + high) for start in range(0, work.rows, high)]


def cumsum_tiled(work: Work) -> Call:
    """Inverse of the cumulated weights, row by row in a tile."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    high, parts = tiles(work, CUMSUM_TILE)
    buffer, flags = np.empty((high, work.k)), np.empty((high, work.k), dtype=np.bool_)

    def call() -> object:
        out = np.empty(work.rows, dtype=np.int64)
        for part in parts:
            w = weigh(u[part], buffer)
            np.cumsum(w, axis=1, out=w)
            passed = flags[: len(w)]
            np.greater(w, rng.random((len(w), 1)) * w[:, -1:], out=passed)
            np.argmax(passed, axis=1, out=out[part])
        return out

    return call


def weigh(u: FloatArray, buffer: FloatArray) -> FloatArray:
    """The weights of a tile, in the buffer."""
    w = buffer[: len(u)]
    np.subtract(u, u.max(axis=1, keepdims=True), out=w)
    w *= RATE
    np.exp(w, out=w)
    return w


def transposed_tiled(work: Work) -> Call:
    """The same with candidates along the first axis, so that all rows of a tile move together."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    high, parts = tiles(work, NARROW_TILE if work.k <= NARROW else WIDE_TILE)
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
            for i in range(1, work.k):  # as np.cumsum(axis=0), in half its time
                w[i] += w[i - 1]
            np.less_equal(w, rng.random(rows.shape[1]) * w[-1], out=before)
            out[part] = np.add.reduce(before.view(np.int8), axis=0, dtype=count)
        return out

    return call


def each_choice(work: Work) -> Call:
    """Many draws: `Generator.choice` row by row."""
    rng = np.random.default_rng(DRAW_SEED)

    def one(p: FloatArray) -> IntArray:
        return rng.choice(work.k, size=work.size, p=p)

    return lambda: np.stack([one(p) for p in probabilities(work.utilities)])


def counts_shuffled(work: Work) -> Call:
    """Many draws: how often each candidate comes, then the order."""
    rng, numbers = np.random.default_rng(DRAW_SEED), np.tile(np.arange(work.k), work.rows)

    def call() -> object:
        counts = rng.multinomial(work.size, probabilities(work.utilities))
        drawn = np.repeat(numbers, counts.ravel()).reshape(work.rows, work.size)
        return rng.permuted(drawn, axis=1, out=drawn)

    return call


def probabilities(u: FloatArray) -> FloatArray:
    """The law of each row."""
    w = np.exp(RATE * (u - u.max(axis=1, keepdims=True)))
    w /= w.sum(axis=1, keepdims=True)
    return w
