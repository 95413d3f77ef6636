"""Rows whose records lie between two numbers of their groups, in the order of rows.

One look at each row: it is counted, also if it lies below, and appended if it lies between.
Where that leaves a fifth of long groups, it takes half of the time of putting all rows into the
order of groups.
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

NO_EDGE = np.nan  # a high edge that nothing reaches: at infinity there may be records
BELOW = 32  # the bit of a count from which on it has the records below


@helper
def append_between(
    codes: Any, bits: Any, floats: Any, edges: Any, counts: Any, slots: Any, values: Any, m: Any
) -> Any:
    """The rows of a block from place m on; returns the next place."""
    groups = counts.size - 1
    for i in range(codes.size):
        slot, x = slot_of(codes[i], groups), bits_float(floats[i])
        under = x < edges[2 * slot]
        counts[slot] += 1 + (np.int64(under) << BELOW)
        slots[m], values[m] = np.int64(slot), bits[i]  # no branch: a wrong guess costs more
        m += np.uint64(not (under | (x >= edges[2 * slot + 1])))
    return m


@kernel(I64(IN_I64, IN_U64, I64, IN_F64, OUT_I64, OUT_I64, OUT_U64, OUT_I64))
def keep_between(
    codes: Any, bits: Any, kind: Any, edges: Any, counts: Any, slots: Any, values: Any, work: Any
) -> Any:
    """slots, values = the codes and records of rows from their group's low edge on, below its high.

    edges: both of each group, and of rows without one. counts[c] += 1 for each row with code c,
    and 1 << BELOW if it lies below. NO_EDGE is no high edge. NaN lies between all edges. slots,
    values: room for all rows; work: a block. Returns how many rows lie between.
    """
    m = np.uint64(0)
    for start in range(0, codes.size, BLOCK):
        part = bits[start : start + BLOCK]
        some, floats = codes[start : start + BLOCK], part
        if kind != FLOAT:
            floats = as_words(work[: part.size])
            fill_floats(part, kind, as_floats(floats))
        m = append_between(some, part, floats, edges, counts, slots, values, m)
    return np.int64(m)
