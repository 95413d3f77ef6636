"""One pass over unsorted records: how many lie in each of several regions, and the records of some.

Vector code compares a block of 1,024 with a few cuts at a time and leaves a byte for each record,
the number of its region; records are then counted and gathered by these bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    I64,
    IN_F64,
    IN_I64,
    OUT_F64,
    OUT_I64,
    OUT_U64,
    helper,
    kernel,
    wide_vectors,
)
from ..bits.words import ZERO
from .select_rank import BLOCK, EIGHT

FOUR = 4
CODES = 256  # values of a byte: at most CODES - 1 regions
TABLES = FOUR * CODES  # four tables in turn: in one, equal records in a row wait for each other


@helper
def add_codes(part: Any, a: Any, b: Any, c: Any, d: Any, codes: Any) -> None:
    """codes[i] += how many of the four are >= record i."""
    wide_vectors()
    for i in range(part.size):
        x = part[i]
        reached = (1 if x <= a else 0) + (1 if x <= b else 0)
        codes[i] += reached + (1 if x <= c else 0) + (1 if x <= d else 0)


@helper
def add_code(part: Any, cut: Any, codes: Any) -> None:
    """codes[i] += 1 where record i is <= cut."""
    wide_vectors()
    for i in range(part.size):
        codes[i] += 1 if part[i] <= cut else 0


@helper
def gather(records: Any, cuts: Any, keep: Any, work: Any, out: Any, counts: Any) -> Any:
    """counts[c] = how many records have c cuts that are not below them; c = 0 is for NaN alone.

    out = records with keep[c] = 1, not 0, in order, as far as there is room; returns how many.
    There are fewer than CODES cuts; the last one is the greatest number there is. `work`: 128
    words; `counts`: TABLES zeros, all but CODES of them scratch. 8 places of `out` may stay free.
    """
    codes, size = work.view(np.uint8), np.int64(0)
    for begin in range(0, records.size, BLOCK):
        part = records[begin : begin + BLOCK]
        for g in range(BLOCK // EIGHT):
            work[g] = ZERO
        whole = cuts.size // FOUR * FOUR
        for j in range(0, whole, FOUR):
            add_codes(part, cuts[j], cuts[j + 1], cuts[j + 2], cuts[j + 3], codes)
        for j in range(whole, cuts.size):
            add_code(part, cuts[j], codes)
        full = part.size // EIGHT
        for i in range(0, EIGHT * full, FOUR):
            counts[codes[i]] += 1
            counts[CODES + np.int64(codes[i + 1])] += 1
            counts[2 * CODES + np.int64(codes[i + 2])] += 1
            counts[3 * CODES + np.int64(codes[i + 3])] += 1
        for g in range(full):
            if size + EIGHT <= out.size:
                for i in range(EIGHT * g, EIGHT * g + EIGHT):
                    out[size] = part[i]
                    size += keep[codes[i]]
        for i in range(EIGHT * full, part.size):
            counts[codes[i]] += 1
            if size < out.size:
                out[size] = part[i]
                size += keep[codes[i]]
    for c in range(CODES):
        counts[c] += counts[CODES + c] + counts[2 * CODES + c] + counts[3 * CODES + c]
    return size


@kernel(I64(IN_F64, IN_F64, IN_I64, OUT_U64, OUT_F64, OUT_I64))
def gather_floats(records: Any, cuts: Any, keep: Any, work: Any, out: Any, counts: Any) -> Any:
    """`gather` of doubles."""
    return gather(records, cuts, keep, work, out, counts)


@kernel(I64(IN_I64, IN_I64, IN_I64, OUT_U64, OUT_I64, OUT_I64))
def gather_integers(records: Any, cuts: Any, keep: Any, work: Any, out: Any, counts: Any) -> Any:
    """`gather` of integers."""
    return gather(records, cuts, keep, work, out, counts)
