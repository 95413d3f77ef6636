"""Finite selections, from utilities as bits to indices: releases, or reproducible draws.

A release of one row takes two words of the operating system and one call of `envelope_block` or
`envelope_one`, or the threads of `scan.py`; a draw that its bounds leave open takes the exact test.
Simulated draws are made by `rows.py` (one or a few a row), by a call for each row (`_single`, a few
short rows), by an alias table (`alias_table.py`, many draws), or by the largest Gumbel key.
"""

from __future__ import annotations

import numpy as np

from .._parameters import validate
from .._randomness.sampling import Sampling
from .._randomness.streams import (
    ROW,
    UINT64,
    key_of_seed,
    os_pair,
    os_word,
    os_words,
    seed_words,
    seeds_of,
    some_seeds,
    stream_of,
)
from .._threads import in_parts
from .._typing import IntArray, WordArray
from ..kernels.bits.heights import BLOCK
from ..kernels.select import alias, envelope, single
from . import alias_table, plan
from .rows import Rows
from .scan import INT64, Scan, check, storage
from .weighting import Weighting


def release(bits: WordArray, kind: int, weighting: Weighting, threads: int = 1) -> int:
    if bits.size <= BLOCK and weighting.base is None:
        return _block(bits, kind, weighting, *os_pair())
    if threads > 1 and bits.size >= plan.THREADED_CANDIDATES:
        scan = Scan(bits, kind, weighting, plan.PRECISION)
        scan.fill(threads)
        return scan.resolve(envelope.AGAIN, os_words, os_word)
    return _first_round(bits, kind, weighting, os_words())


def _block(bits: WordArray, kind: int, weighting: Weighting, low: int, high: int) -> int:
    """The index of a first round of a block without a base, with further rounds if need be."""
    status: int = envelope.envelope_block(bits, kind, weighting.rate_log2, low, high)
    if status >= 0:
        return status
    check(status)
    scan = Scan(bits, kind, weighting, plan.PRECISION)
    scan.fill(1)
    return scan.first(np.array([low, high], UINT64), os_word)


def release_rows(bits: WordArray, kind: int, weighting: Weighting, threads: int) -> IntArray:
    """One index a row of a matrix, each from two words of the operating system."""
    rows, w = Rows(bits, kind, weighting), weighting
    words = os_words(2 * rows.rows)
    if w.base is None and rows.k <= BLOCK and rows.rows <= plan.FEW_ROWS:
        pairs = enumerate(words.reshape(-1, 2).tolist())
        return np.array([_block(rows.row(r), rows.kind, w, *pair) for r, pair in pairs], INT64)
    out = np.empty(rows.rows, np.int64)

    def part(first: int, last: int) -> int:
        part_bits, part_words = rows.some(first, last), words[2 * first : 2 * last]
        chosen, store = out[first:last], storage(rows.k)
        status: int = envelope.envelope_rows(
            part_bits, rows.kind, w.log2_base, w.rate_log2, plan.SCALE, part_words, chosen, store
        )
        return status

    check(min(rows.parts(part, rows.threads(threads))))
    for row in np.flatnonzero(out < 0):  # about one row in 1e7
        row_words = words[2 * row : 2 * row + 2]
        out[row] = _first_round(rows.row(int(row)), rows.kind, w, row_words)
    return out


def _first_round(bits: WordArray, kind: int, weighting: Weighting, words: WordArray) -> int:
    """The index of a first round from these words, with further rounds if need be."""
    store, w = storage(bits.size), weighting
    status: int = envelope.envelope_one(
        bits, kind, w.log2_base, w.rate_log2, plan.SCALE, store, words
    )
    if status >= 0:
        return status
    scan = Scan(bits, kind, weighting, plan.PRECISION, store)
    return scan.resolve(status, os_words, os_word)


def simulate(
    bits: WordArray, kind: int, weighting: Weighting, sampling: Sampling
) -> int | IntArray:
    size, rng, streams, threads, method = sampling
    is_one_draw = size is None and method is None and weighting.base is None
    workers = 1 if type(threads) is int and threads == 1 else validate.threads(threads)
    if is_one_draw and bits.size <= BLOCK and bits.ndim == 1:
        name = 0 if streams is None else validate.streams(streams, 1).item()
        return _single(bits, kind, weighting, seed_words(rng), name)
    rows = Rows(bits, kind, weighting)
    if is_one_draw and rows.k <= BLOCK and rows.rows <= plan.FEW_ROWS:
        names, seed = validate.streams(streams, rows.rows).tolist(), seed_words(rng)
        each = enumerate(names)
        return np.array(
            [_single(rows.row(r), rows.kind, weighting, seed, name) for r, name in each], INT64
        )
    way, draws = validate.method(method), validate.size(size)
    return rows.shaped(drawn(rows, rows.seeds(rng, streams), draws, workers, way), draws)


def _single(bits: WordArray, kind: int, weighting: Weighting, seed: WordArray, name: int) -> int:
    """One draw from a row of at most a block without a base, which has a kernel of its own."""
    status: int = single.single_draw(bits, kind, weighting.rate_log2, seed, ROW, name)
    if status >= 0:
        return status
    check(status)
    seeds = seeds_of(key_of_seed(seed), np.array([name], UINT64))
    return int(Rows(bits, kind, weighting).draw(seeds, None, 1)[0])


def drawn(rows: Rows, seeds: WordArray, size: int | None, threads: int, way: str) -> IntArray:
    """`size` draws of each row (None: one), row after row, from the streams of `seeds`."""
    if way == "gumbel":
        return rows.noisy_max(seeds, size, threads).reshape(-1)
    if plan.by_table(rows.k, size):
        return _by_tables(rows, seeds, size or 0, threads)
    return rows.draw(seeds, size, threads)


def _by_tables(rows: Rows, seeds: WordArray, size: int, threads: int) -> IntArray:
    out, shape = np.empty(rows.rows * size, np.int64), plan.table_shape(rows.k)

    def fill(first: int, last: int, start: int, chosen: IntArray) -> int:
        work = np.empty(alias.work_size(rows.k, shape[0]), np.int64)
        part_bits, names = rows.some(first, last), some_seeds(seeds, first, last)
        return alias_table.fill(
            part_bits, rows.kind, rows.weighting, names, shape, start, chosen, work
        )

    def part(first: int, last: int) -> int:
        return fill(first, last, 0, out[first * size : last * size])

    def blocks(first: int, last: int) -> int:
        """Draws of a single row: each thread has a table of its own."""
        return fill(0, 1, first, out[first * alias.DRAWS : last * alias.DRAWS])

    if rows.rows == 1 and threads > 1 and size >= plan.THREADED_DRAWS:
        out.fill(0)  # else threads wait for each other at new pages: twice the time over all
        slow_draws = in_parts(blocks, -(-size // alias.DRAWS), threads)
    else:
        slow_draws = rows.parts(part, rows.threads(threads, size))
    if any(slow_draws):
        for row in np.unique(np.flatnonzero(out == rows.k) // size):
            scan = Scan(rows.row(int(row)), rows.kind, rows.weighting, plan.PRECISION)
            scan.fill(1)
            chosen = out[row * size : (row + 1) * size]
            alias_table.Table(scan, *shape).settle(chosen, stream_of(seeds, int(row)))
    return out
