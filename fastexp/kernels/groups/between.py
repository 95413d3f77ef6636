"""Rows whose records lie between the two edges of their group, in the order of rows.

One pass counts every row, and also counts those below the low edge; it appends those between the
edges. If a fifth of the rows of long groups is left, the pass takes half of the time of sorting all
rows by group.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    I64,
    IN_F64,
    IN_I64,
    IN_U64,
    OUT_I64,
    OUT_U64,
    as_floats,
    as_words,
    bits_float,
    helper,
    kernel,
)
from ..bits.heights import FLOAT
from ..numbers.histogram import BLOCK, fill_floats
from .grouping import slot_of

NO_EDGE = np.nan  # no high edge: no record compares >= NaN, but one may be infinite
BELOW = 32  # the lowest bit of the part of a count that counts records below the low edge


@helper
def append_between(
    codes: Any, bits: Any, floats: Any, edges: Any, counts: Any, slots: Any, values: Any, m: Any
) -> Any:
    """Append the rows of a block that lie between, from place m on; return the next place."""
    groups = counts.size - 1
    for i in range(codes.size):
        slot, x = slot_of(codes[i], groups), bits_float(floats[i])
        under = x < edges[2 * slot]
        counts[slot] += 1 + (np.int64(under) << BELOW)
        slots[m], values[m] = np.int64(slot), bits[i]  # no branch: mispredicted ones cost more
        m += np.uint64(not (under | (x >= edges[2 * slot + 1])))
    return m


@kernel(I64(IN_I64, IN_U64, I64, IN_F64, OUT_I64, OUT_I64, OUT_U64, OUT_I64))
def keep_between(
    codes: Any, bits: Any, kind: Any, edges: Any, counts: Any, slots: Any, values: Any, work: Any
) -> Any:
    """slots, values = the codes and records of the rows with low edge <= record < high edge.

    edges: the low and the high edge of each group, then those of rows without a group. A high edge
    NO_EDGE means none; NaN lies between any edges. counts[c] grows by 1 for each row with code c,
    and by 1 << BELOW more if it lies below. slots, values: room for all rows; work: BLOCK words.
    Returns how many rows lie between.
    """
    m = np.uint64(0)
    for start in range(0, codes.size, BLOCK):
        block = bits[start : start + BLOCK]
        block_codes, floats = codes[start : start + BLOCK], block
        if kind != FLOAT:
            floats = as_words(work[: block.size])
            fill_floats(block, kind, as_floats(floats))
        m = append_between(block_codes, block, floats, edges, counts, slots, values, m)
    return np.int64(m)
