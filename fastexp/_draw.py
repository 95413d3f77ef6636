"""Finite selections, from utilities as bits to indices: releases, or reproducible draws.

A release of one row: `envelope_one` in one call, or the threads of `_scan.py`, two words of
the operating system, and an index or the exact test. Simulated draws: one or a few a row by
`_rows.py`, many by an alias table (`_table.py`), or the largest Gumbel key (`_gumbel.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _plan, _validate
from ._gumbel import gumbel_draws
from ._randomness import os_word, os_words, seeds_of, stream_of
from ._rows import Rows
from ._scan import Scan, check, in_parts, storage
from ._table import Table
from ._typing import IntArray, WordArray
from ._weighting import Weighting
from .kernels import envelope


def release(bits: WordArray, kind: int, weighting: Weighting, threads: int = 1) -> int:
    """One index from the operating system's randomness."""
    if threads > 1 and bits.size >= _plan.THREADED_CANDIDATES:
        scan = Scan(bits, kind, weighting, _plan.PRECISION)
        scan.fill(threads)
        return scan.resolve(envelope.AGAIN, os_words, os_word)
    store, w = storage(bits.size), weighting
    args = bits, kind, w.log2_base, w.rate_log2, _plan.SCALE, store, os_words()
    status: int = envelope.envelope_one(*args)
    if status >= 0:
        return status
    scan = Scan(bits, kind, weighting, _plan.PRECISION, store)
    return scan.resolve(status, os_words, os_word)


def release_rows(bits: WordArray, kind: int, weighting: Weighting, threads: int) -> IntArray:
    """One index a row of a matrix, each from two words of the operating system."""
    rows, k = bits.shape
    out, words, flat = np.empty(rows, dtype=np.int64), os_words(2 * rows), bits.reshape(-1)
    w = weighting

    def part(first: int, last: int) -> int:
        chosen, own = out[first:last], words[2 * first : 2 * last]
        args = flat[first * k : last * k], kind, w.log2_base, w.rate_log2, _plan.SCALE
        status: int = envelope.envelope_rows(*args, own, chosen, storage(k))
        return status

    check(min(in_parts(part, rows, threads if flat.size >= _plan.THREADED_CANDIDATES else 1)))
    for row in np.flatnonzero(out < 0):  # some 1e-7 of them
        out[row] = _settle(bits[row], kind, weighting, words[2 * row : 2 * row + 2])
    return out


def _settle(bits: WordArray, kind: int, weighting: Weighting, words: WordArray) -> int:
    """The index of a first round from these words, with further rounds if need be."""
    store, w = storage(bits.size), weighting
    args = bits, kind, w.log2_base, w.rate_log2, _plan.SCALE, store, words
    status: int = envelope.envelope_one(*args)
    scan = Scan(bits, kind, weighting, _plan.PRECISION, store)
    return scan.resolve(status, os_words, os_word)


def simulate(
    bits: WordArray,
    kind: int,
    weighting: Weighting,
    size: Any,
    rng: Any,
    streams: Any,
    threads: Any,
    method: Any,
) -> int | IntArray:
    """`sample`, from the public arguments of the verb; bits of shape (k,) or (rows, k)."""
    way = _validate.method(method)
    draws, workers = _validate.size(size), _validate.threads(threads)
    rows = Rows(bits, kind, weighting)
    seeds = seeds_of(rng, _validate.streams(streams, rows.rows))
    if way == "gumbel":
        found = gumbel_draws(rows, seeds, draws, workers)
    elif _plan.by_table(rows.k, draws):
        found = _by_tables(rows, seeds, draws or 0, workers)
    else:
        found = rows.draw(seeds, draws, workers)
    return rows.shaped(found, bits.ndim, draws)


def _by_tables(rows: Rows, seeds: WordArray, size: int, threads: int) -> IntArray:
    def draws(row: WordArray, number: int) -> IntArray:
        scan = Scan(row, rows.kind, rows.weighting, _plan.PRECISION)
        scan.fill(threads if row.size >= _plan.THREADED_CANDIDATES else 1)
        table = Table(scan, *_plan.table_shape(row.size))
        return table.draws(size, stream_of(seeds, number), threads)

    return rows.each(draws)
