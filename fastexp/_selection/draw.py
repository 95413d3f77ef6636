"""Finite selections, from utilities as bits to indices: releases, or reproducible draws.

A release of one row: `envelope_one` in one call, or the threads of `scan.py`, two words of
the operating system, and an index or the exact test. Simulated draws: one or a few a row by
`rows.py`, many by an alias table (`alias_table.py`), or the largest Gumbel key (`gumbel.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parameters import validate
from .._randomness.streams import os_word, os_words, seeds_of, some_seeds, stream_of
from .._threads import in_parts
from .._typing import IntArray, WordArray
from ..errors import FastexpError
from ..kernels.select import alias_rows, envelope
from . import plan
from .alias_table import Table
from .gumbel import gumbel_draws
from .rows import Rows
from .scan import Scan, check, storage
from .weighting import Weighting


def release(bits: WordArray, kind: int, weighting: Weighting, threads: int = 1) -> int:
    """One index from the operating system's randomness."""
    if threads > 1 and bits.size >= plan.THREADED_CANDIDATES:
        scan = Scan(bits, kind, weighting, plan.PRECISION)
        scan.fill(threads)
        return scan.resolve(envelope.AGAIN, os_words, os_word)
    store, w = storage(bits.size), weighting
    args = bits, kind, w.log2_base, w.rate_log2, plan.SCALE, store, os_words()
    status: int = envelope.envelope_one(*args)
    if status >= 0:
        return status
    scan = Scan(bits, kind, weighting, plan.PRECISION, store)
    return scan.resolve(status, os_words, os_word)


def release_rows(bits: WordArray, kind: int, weighting: Weighting, threads: int) -> IntArray:
    """One index a row of a matrix, each from two words of the operating system."""
    rows, k = bits.shape
    out, words, flat = np.empty(rows, dtype=np.int64), os_words(2 * rows), bits.reshape(-1)
    w = weighting

    def part(first: int, last: int) -> int:
        chosen, own = out[first:last], words[2 * first : 2 * last]
        args = flat[first * k : last * k], kind, w.log2_base, w.rate_log2, plan.SCALE
        status: int = envelope.envelope_rows(*args, own, chosen, storage(k))
        return status

    check(min(in_parts(part, rows, threads if flat.size >= plan.THREADED_CANDIDATES else 1)))
    for row in np.flatnonzero(out < 0):  # some 1e-7 of them
        out[row] = _settle(bits[row], kind, weighting, words[2 * row : 2 * row + 2])
    return out


def _settle(bits: WordArray, kind: int, weighting: Weighting, words: WordArray) -> int:
    """The index of a first round from these words, with further rounds if need be."""
    store, w = storage(bits.size), weighting
    args = bits, kind, w.log2_base, w.rate_log2, plan.SCALE, store, words
    status: int = envelope.envelope_one(*args)
    scan = Scan(bits, kind, weighting, plan.PRECISION, store)
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
    way = validate.method(method)
    draws, workers = validate.size(size), validate.threads(threads)
    rows = Rows(bits, kind, weighting)
    seeds = seeds_of(rng, validate.streams(streams, rows.rows))
    return rows.shaped(drawn(rows, seeds, draws, workers, way), bits.ndim, draws)


def drawn(rows: Rows, seeds: WordArray, size: int | None, threads: int, way: str) -> IntArray:
    """`size` draws of each row (None: one), row after row, from the streams of `seeds`."""
    if way == "gumbel":
        return gumbel_draws(rows, seeds, size, threads)
    if plan.by_table(rows.k, size):
        return _by_tables(rows, seeds, size or 0, threads)
    return rows.draw(seeds, size, threads)


def _by_tables(rows: Rows, seeds: WordArray, size: int, threads: int) -> IntArray:
    if rows.rows == 1:
        table = _table_of(rows, 0, threads)
        return table.draws(size, stream_of(seeds, 0), threads)
    out = np.empty(rows.rows * size, dtype=np.int64)
    column_bits, _ = shape = plan.table_shape(rows.k)

    def part(first: int, last: int) -> int:
        work = np.empty(alias_rows.work_size(rows.k, column_bits), dtype=np.int64)
        chosen, form = out[first * size : last * size], np.array(shape, dtype=np.int64)
        own = rows.weighting.log2_base, rows.weighting.rate_log2
        args = rows.some(first, last), rows.kind, *own, some_seeds(seeds, first, last)
        status: int = alias_rows.alias_rows(*args, form, chosen, work)
        return status

    found = in_parts(part, rows.rows, rows.threads(threads, size))
    check(min(found))
    if min(found) == alias_rows.OVERFULL:  # the margin rules it out; see `alias_table.py`
        raise FastexpError("an alias table overflowed: please report this")
    if any(found):
        for row in np.unique(np.flatnonzero(out == rows.k) // size):
            chosen = out[row * size : (row + 1) * size]
            _table_of(rows, int(row), 1).settle(chosen, stream_of(seeds, int(row)))
    return out


def _table_of(rows: Rows, row: int, threads: int) -> Table:
    scan = Scan(rows.row(row), rows.kind, rows.weighting, plan.PRECISION)
    scan.fill(threads if rows.k >= plan.THREADED_CANDIDATES else 1)
    return Table(scan, *plan.table_shape(rows.k))
