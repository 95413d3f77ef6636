"""Many draws from each of many lists of cells: `select/alias.py` for lists of any length.

A draw is a cell, by an alias table whose base is the cells' numbers of points, and a place in
that cell. Words, steps and roundings are those of a single list (`_selection/alias_table.py`,
`_numbers/cells.py`). A list with a draw that its bounds leave open is marked, and the caller
draws that list again alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    I64,
    IN_F64,
    IN_I64,
    IN_U64,
    OUT_I64,
    as_words,
    helper,
    kernel,
)
from ..bits.heights import BLOCK, SIGNED
from ..bits.words import fill_substream, philox
from ..select.alias import DRAWS, build, fill, table_scale, weigh
from ..select.envelope import (
    PRECISION,
    ROUNDING_MODE,
    TAIL,
    rounds_to_nearest,
    scan,
    settle,
)
from ..select.rounds import HEADER, power
from .places import place

CELL_BITS, EXACT_BITS = 32, 52  # as `plan.table_shape` has them


def ragged_work(k: int) -> int:
    """Words of scratch for lists of at most k cells."""
    return 2 + 2 * BLOCK + DRAWS + 3 * (-(-k // BLOCK)) + TAIL + 6 * (k + 1)


@helper
def bit_length(k: Any) -> Any:
    """How many bits k has."""
    n = np.int64(0)
    while (np.int64(1) << n) <= k:
        n += 1
    return n


@kernel(I64(IN_U64, IN_F64, IN_I64, F64, IN_U64, OUT_I64, OUT_I64))
def ragged_cells(
    bits: Any, log_base: Any, ends: Any, rate: Any, seeds: Any, out: Any, work: Any
) -> Any:
    """out = cells, numbered from 0 in each row; a slow draw is the row's number of cells.

    bits: minus distances, SIGNED. Returns 0, or the status of a wrong rounding mode.
    """
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    rows = ends.size - 1
    size = out.size // rows
    stream, scratch = as_words(work[:2]), work[2 : 2 + 2 * BLOCK]
    words = as_words(work[2 + 2 * BLOCK :])[:DRAWS]
    for r in range(rows):
        row, base = bits[ends[r] : ends[r + 1]], log_base[ends[r] : ends[r + 1]]
        k = row.size
        column_bits = bit_length(k)
        cell_bits = min(CELL_BITS, EXACT_BITS - column_bits)
        columns, cells = np.int64(1) << column_bits, np.int64(1) << (column_bits + cell_bits)
        rest = work[2 + 2 * BLOCK + DRAWS :]
        weights, order = rest[:columns], rest[columns : 2 * columns]
        table = as_words(rest[2 * columns : 3 * columns])
        count = (k + BLOCK - 1) // BLOCK
        blocks = rest[3 * columns : 3 * columns + 3 * count + TAIL]
        scan(row, SIGNED, base, rate, power(PRECISION), blocks, scratch)
        settle(SIGNED, rate, blocks)
        tail = blocks[3 * count :]
        scale = table_scale(np.uint64(tail[0]), np.uint64(tail[1]), cells, k)
        certain, _ = weigh(row, SIGNED, base, rate, scale, tail[2:4], weights, scratch)
        weights[k] = cells - certain
        for i in range(k + 1, columns):
            weights[i] = 0
        build(weights, column_bits, cell_bits, order, table)
        stream[0], stream[1] = philox(seeds[HEADER + r], seeds[2] ^ seeds[1], seeds[0])
        into = out[r * size : (r + 1) * size]
        fill(table, column_bits, cell_bits, stream, 0, k, into, words)
    return 0


@kernel(I64(IN_I64, IN_I64, IN_U64, OUT_I64, OUT_I64, OUT_I64))
def ragged_places(cells: Any, ends: Any, seeds: Any, out: Any, again: Any, work: Any) -> Any:
    """Turn the cells in `out` into grid indices; again[r] = whether row r must be drawn alone.

    cells: starts, counts, and keys that are odd for a loose cell, a third each. Returns how many
    rows must be drawn alone.
    """
    rows, room, total = ends.size - 1, cells.size // 3, 0
    size = out.size // rows
    stream, words = as_words(work[:2]), as_words(work[2 : 2 + DRAWS])
    for r in range(rows):
        stream[0], stream[1] = philox(seeds[HEADER + r], seeds[2] ^ seeds[1], seeds[0])
        at, k = ends[r], ends[r + 1] - ends[r]
        must_redraw: Any = np.int64(0)
        for begin in range(0, size, DRAWS):
            part = out[r * size + begin : r * size + min(begin + DRAWS, size)]
            block_words = words[: part.size + part.size % 2]
            fill_substream(stream, np.uint64(begin // DRAWS), np.uint64(0), block_words)
            slow, any_doubt = False, False
            for j in range(part.size):
                cell = at + min(part[j], k - 1)
                inside, doubt = place(block_words[j], cells[room + cell])
                slow |= part[j] == k
                any_doubt |= doubt
                must_redraw |= cells[2 * room + cell] & 1
                part[j] = cells[cell] + inside
            must_redraw |= 1 if slow | any_doubt else 0
        again[r] = must_redraw
        total += must_redraw
    return total
