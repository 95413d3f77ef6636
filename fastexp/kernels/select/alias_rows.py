"""Many draws from each of many rows: `alias.py` row after row, to the same bytes.

The steps and the roundings are those of one vector (`_selection/alias_table.py`): scan, scale,
certain cells, table, look-ups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import F64, I64, IN_F64, IN_U64, OUT_I64, as_words, helper, kernel
from ..bits.heights import BLOCK
from ..bits.words import philox
from .alias import DRAWS, build, fill, weigh_all
from .envelope import (
    NOT_FINITE,
    PRECISION,
    ROUNDING_MODE,
    TAIL,
    rounds_to_nearest,
    scan,
    settle,
)
from .rounds import HEADER, power

MARGIN = 1.0 - 2.0**-30  # of the cells, so that roundings cannot overfill the table
DOUBT = 16  # cells a candidate that are kept free for its doubtful part
OVERFULL = -6  # status: never seen; a wrong law must not pass


def work_size(k: int, column_bits: int) -> int:
    """Words of scratch for rows of k candidates."""
    return 2 + 2 * BLOCK + DRAWS + 3 * (-(-k // BLOCK)) + TAIL + 3 * (1 << column_bits)


@helper
def table_scale(high: Any, low: Any, cells: Any, k: Any) -> Any:
    """f / 2**lift, such that the bounds of all candidates just fit into the cells."""
    total = (np.float64(high) * 18446744073709551616.0 + np.float64(low)) / power(PRECISION)
    return np.float64(cells - DOUBT * k) * MARGIN / total


@kernel(I64(IN_U64, I64, IN_F64, F64, IN_U64, I64, I64, OUT_I64, OUT_I64))
def alias_rows(
    bits: Any, kind: Any, log_base: Any, rate: Any, seeds: Any, column_bits: Any, cell_bits: Any,
    out: Any, work: Any,
) -> Any:  # fmt: skip
    """out = draws of each row, k where one is slow; returns how many are, or an error.

    `seeds` as in `rows.py`.
    """
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    names = seeds[HEADER:]
    k, size, columns = bits.size // names.size, out.size // names.size, np.int64(1) << column_bits
    stream, scratch = as_words(work[:2]), work[2 : 2 + 2 * BLOCK]
    words = as_words(work[2 + 2 * BLOCK :])[:DRAWS]
    rest = work[2 + 2 * BLOCK + DRAWS :]
    weights, order = rest[:columns], rest[columns : 2 * columns]
    table = as_words(rest[2 * columns : 3 * columns])
    count, slow, cells = (k + BLOCK - 1) // BLOCK, 0, np.int64(1) << (column_bits + cell_bits)
    blocks, worst = rest[3 * columns : 3 * columns + 3 * count + TAIL], 0
    for r in range(names.size):
        row = bits[r * k : (r + 1) * k]
        if scan(row, kind, log_base, rate, power(PRECISION), blocks, scratch) < 0:
            return NOT_FINITE
        settle(kind, rate, blocks)
        tail = blocks[3 * count :]
        scale = table_scale(np.uint64(tail[0]), np.uint64(tail[1]), cells, k)
        certain, doubtful = weigh_all(row, kind, log_base, rate, scale, tail[2:4], weights, scratch)
        worst = OVERFULL if certain + doubtful > cells else worst
        weights[k] = cells - certain
        for i in range(k + 1, columns):
            weights[i] = 0
        build(weights, column_bits, cell_bits, order, table)
        stream[0], stream[1] = philox(names[r], seeds[2] ^ seeds[1], seeds[0])
        into = out[r * size : (r + 1) * size]
        slow += fill(table, column_bits, cell_bits, stream, 0, k, into, words)
    return slow if worst == 0 else worst
