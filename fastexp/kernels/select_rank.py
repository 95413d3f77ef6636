"""One pass over unsorted records: how many lie below a range, and which lie in it.

Records become order keys, int64 that compare as the numbers do: the bits of a double, with
all but the sign flipped where it is negative; integers are their own. A block of 1,024 is
compared by vector code, which leaves a byte a record; the bytes are looked at eight at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import I64, IN_I64, OUT_I64, OUT_U64, helper, kernel, wide_vectors

BLOCK = 1024
FLIP = np.int64(0x7FFFFFFFFFFFFFFF)
INFINITY = 0x7FF0000000000000  # of a double's key; NaNs lie beyond it on both sides
BELOW, INSIDE, NAN = 0, 1, 2  # what the kernel tells
EIGHT = 8


@helper
def order_key(bits: Any, flip: Any) -> Any:
    """The order key of a record; flip: FLIP for doubles, 0 for integers."""
    return bits ^ ((bits >> 63) & flip)


@helper
def compare(part: Any, flip: Any, low: Any, width: Any, flags: Any) -> Any:
    """flags[i] = whether key i lies in [low, low + width]; how many lie below; any NaN."""
    wide_vectors()
    below, beyond = np.int64(0), np.uint64(0)
    edge, span = np.int64(INFINITY + 1), np.uint64(2 * INFINITY + 1)  # key(-inf) = ~key(inf)
    for i in range(part.size):
        key = order_key(part[i], flip)
        below += 1 if key < low else 0
        flags[i] = 1 if np.uint64(key - low) <= width else 0
        beyond |= np.uint64(1) if np.uint64(key + edge) > span else np.uint64(0)
    return below, beyond


@kernel(I64(IN_I64, I64, I64, I64, OUT_U64, OUT_I64, OUT_I64))
def gather(bits: Any, flip: Any, low: Any, high: Any, work: Any, out: Any, told: Any) -> Any:
    """out = the records with keys in [low, high], in order, as far as there is room.

    told: how many keys lie below, how many inside (also those without room), whether there is
    a NaN. `work`: 128 words. Returns how many are in `out`, whose last 8 places may stay free.
    """
    flags = work.view(np.uint8)
    width = np.uint64(high - low)
    below, missed, found, beyond = np.int64(0), np.int64(0), np.int64(0), np.uint64(0)
    for begin in range(0, bits.size, BLOCK):
        part = bits[begin : begin + BLOCK]
        work[(part.size - 1) // EIGHT] = 0  # flags beyond a short block
        under, bad = compare(part, flip, low, width, flags)
        below += under
        beyond |= bad
        for g in range((part.size + EIGHT - 1) // EIGHT):
            if work[g] != 0:
                stop = min(EIGHT * g + EIGHT, part.size)
                if found + EIGHT <= out.size:  # no branch: a wrong guess takes longer
                    for i in range(EIGHT * g, stop):
                        out[found] = part[i]
                        found += np.int64(flags[i])
                else:
                    for i in range(EIGHT * g, stop):
                        missed += np.int64(flags[i])
    told[BELOW], told[INSIDE] = below, found + missed
    told[NAN] = 1 if flip != 0 and beyond != 0 else 0
    return found
