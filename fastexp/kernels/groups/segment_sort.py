"""Grid indices of the records of many segments, and the sort of each segment's indices.

Short runs are sorted by counting, for each index, how many are smaller: no branch depends
on the records, and 8 comparisons are one instruction. Longer ones are merged from these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    I64,
    IN_F64,
    IN_I64,
    IN_U64,
    NOTHING,
    OUT_I64,
    as_floats,
    as_words,
    helper,
    kernel,
    wide_vectors,
)
from ..numbers.histogram import BLOCK, fill_floats, fill_indices

SHORT = 64  # indices that are sorted by counting
EIGHT = 8
SCRATCH_WORDS = SHORT + EIGHT  # words of scratch that are always enough for SHORT indices
LARGEST_KEY = np.int64(0x7FFFFFFFFFFFFFFF)
PLACE = np.int64(6)  # bits of a place among SHORT indices


@helper
def fill_points(bits: Any, kind: Any, form: Any, out: Any, work: Any) -> Any:
    """out[i] = the grid index of record i, by the rule of `histogram.py`; returns how many are NaN.

    work: BLOCK words.
    """
    nans = np.int64(0)
    for start in range(0, bits.size, BLOCK):
        part = bits[start : start + BLOCK]
        records = as_floats(work[: part.size])
        nans += fill_floats(part, kind, records)
        fill_indices(records, form, as_words(out[start : start + BLOCK]))
    return nans


@kernel(I64(IN_U64, I64, IN_F64, OUT_I64, OUT_I64))
def place_records(bits: Any, kind: Any, form: Any, out: Any, work: Any) -> Any:
    """`fill_points` of all records."""
    return fill_points(bits, kind, form, out, work)


@helper
def eight_ranks(keys: Any, at: Any, n: Any, ranks: Any) -> None:
    """ranks[i] = how many of n keys are below keys[at + i], for 8 of them."""
    wide_vectors()
    a, b, c, d = keys[at], keys[at + 1], keys[at + 2], keys[at + 3]
    e, f, g, h = keys[at + 4], keys[at + 5], keys[at + 6], keys[at + 7]
    ra = rb = rc = rd = re = rf = rg = rh = np.int64(0)
    for j in range(n):
        k = keys[j]
        ra += np.int64(k < a)
        rb += np.int64(k < b)
        rc += np.int64(k < c)
        rd += np.int64(k < d)
        re += np.int64(k < e)
        rf += np.int64(k < f)
        rg += np.int64(k < g)
        rh += np.int64(k < h)
    ranks[0], ranks[1], ranks[2], ranks[3] = ra, rb, rc, rd
    ranks[4], ranks[5], ranks[6], ranks[7] = re, rf, rg, rh


@helper
def sort_short(t: Any, work: Any) -> None:
    """Sort up to SHORT indices below 2**57; work: SCRATCH_WORDS words."""
    n = t.size
    keys, ranks = work[:SHORT], work[SHORT : SHORT + EIGHT]
    for i in range(n):
        keys[i] = (t[i] << PLACE) | i  # distinct, in the order of the indices
    for i in range(n, (n + 7) & -8):
        keys[i] = LARGEST_KEY
    for at in range(0, n, EIGHT):
        eight_ranks(keys, at, n, ranks)
        for i in range(min(EIGHT, n - at)):
            t[ranks[i]] = keys[at + i] >> PLACE


@helper
def merge(source: Any, half: Any, out: Any) -> None:
    """Merge source[:half] and source[half:], both sorted, into `out`."""
    i, j, k, n = np.int64(0), np.int64(half), np.int64(0), np.int64(source.size)
    while (i < half) & (j < n):
        x, y = source[i], source[j]
        later = np.int64(y < x)  # no branch: a wrong guess costs more than both ways
        out[k] = min(x, y)
        i += 1 - later
        j += later
        k += 1
    while i < half:
        out[k] = source[i]
        i, k = i + 1, k + 1
    while j < n:
        out[k] = source[j]
        j, k = j + 1, k + 1


@helper
def sort_indices(t: Any, work: Any) -> None:
    """Sort indices below 2**57; work: t.size words, at least SCRATCH_WORDS."""
    n, width = t.size, SHORT
    for begin in range(0, n, SHORT):
        sort_short(t[begin : begin + SHORT], work)
    while width < n:
        for begin in range(0, n, 2 * width):
            part = t[begin : begin + 2 * width]
            if part.size > width and part[width - 1] > part[width]:
                merge(part, width, work[: part.size])
                for i in range(part.size):
                    part[i] = work[i]
        width *= 2


@kernel(NOTHING(IN_I64, I64, OUT_I64, OUT_I64))
def sort_segments(offsets: Any, most: Any, t: Any, work: Any) -> None:
    """Sort each segment of at most `most` indices; work: `most` words, at least SCRATCH_WORDS."""
    for s in range(offsets.size - 1):
        part = t[offsets[s] : offsets[s + 1]]
        if part.size > 1 and part.size <= most:
            sort_indices(part, work)
