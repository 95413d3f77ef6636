"""One pass over unsorted records: how many lie below a range, and which lie in it.

Vector code compares a block of 1,024 and leaves a byte for each record; the bytes are read eight
at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    I64,
    IN_F64,
    IN_I64,
    OUT_F64,
    OUT_I64,
    OUT_U64,
    as_bytes,
    helper,
    kernel,
    wide_vectors,
)

BLOCK = 1024
EIGHT = 8
BELOW, INSIDE, NAN = 0, 1, 2  # of a tally: records below, records inside, whether one is NaN


@helper
def compare(part: Any, low: Any, high: Any, flags: Any) -> Any:
    """flags[i] = record i is in [low, high]; returns (how many are below, whether any is NaN)."""
    wide_vectors()
    below, bad = np.int64(0), np.int64(0)
    for i in range(part.size):
        x = part[i]
        below += 1 if x < low else 0
        flags[i] = 1 if (x >= low) & (x <= high) else 0
        bad |= 1 if x != x else 0
    return below, bad


@helper
def gather(records: Any, low: Any, high: Any, work: Any, out: Any, tally: Any) -> Any:
    """out = the records in [low, high], in order, as far as there is room.

    tally: how many records lie below, how many inside (also those without room), whether there
    is a NaN. `work`: 128 words. Returns how many are in `out`, whose last 8 places may stay
    free.
    """
    flags = as_bytes(work)
    below, missed, size, bad = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for begin in range(0, records.size, BLOCK):
        part = records[begin : begin + BLOCK]
        under, nan = compare(part, low, high, flags)
        below += under
        bad |= nan
        full = part.size // EIGHT
        for g in range(full):
            if work[g] != 0:
                if size + EIGHT <= out.size:  # eight stores, no branch: a misprediction costs more
                    for i in range(EIGHT * g, EIGHT * g + EIGHT):
                        out[size] = part[i]
                        size += np.int64(flags[i])
                else:
                    for i in range(EIGHT * g, EIGHT * g + EIGHT):
                        missed += np.int64(flags[i])
        for i in range(EIGHT * full, part.size):
            if flags[i] != 0 and size < out.size:
                out[size] = part[i]
                size += 1
            else:
                missed += np.int64(flags[i])
    tally[BELOW], tally[INSIDE], tally[NAN] = below, size + missed, bad
    return size


@kernel(I64(IN_F64, F64, F64, OUT_U64, OUT_F64, OUT_I64))
def gather_floats(records: Any, low: Any, high: Any, work: Any, out: Any, tally: Any) -> Any:
    """`gather` of doubles."""
    return gather(records, low, high, work, out, tally)


@kernel(I64(IN_I64, I64, I64, OUT_U64, OUT_I64, OUT_I64))
def gather_integers(records: Any, low: Any, high: Any, work: Any, out: Any, tally: Any) -> Any:
    """`gather` of integers."""
    return gather(records, low, high, work, out, tally)
