"""Many draws of each row by an alias table (Walker 1977, Vose 1991) of certified cells.

The table's cells are the L of all candidates: at most f * w of each. What is left over, some 2**-24
of all cells, belongs to an outcome of its own: such a draw is open, and `choose.settle` decides it
in Fractions from doubts D with L + D >= f * w, so the law is exact.
"""

from __future__ import annotations

import numpy as np

from .bits import ONE, bit_length, is_exact, philox, power, word_of
from .envelope import HEADER, NOT_EXACT, NOT_FINITE, SLACK, shifted, survey, weigh
from .jit import BLOCK, helper, kernel, wide_vectors

DRAWS = 2048  # draws whose random words are made at once
HEAD = 5  # of scratch for open draws: best, lift, scale, k, cells; then L of each candidate
CELL_BITS, ALL_BITS = 32, 52  # of an alias table's cell; of all its cells


@helper
def fill_lowers(values, kind, base, rate, best, lift, scale, work):
    """Fill the head of `work`, and L of each candidate, whose sum is returned.

    U <= r + (r >> 36) + 3, so U less 2**-35 of it and six units is at most L.
    """
    wide_vectors()
    work[0], work[1] = np.int64(best), np.int64(word_of(lift))
    work[2], work[3] = np.int64(word_of(scale)), values.size
    total, out = np.int64(0), work[HEAD : HEAD + values.size]
    weigh(values, kind, base, rate, best, lift, scale, True, out)
    for i in range(values.size):
        out[i] = max(out[i] - shifted(out[i], SLACK - 1) - 6, 0)
        total += out[i]
    return total


@helper
def fill_alias(weights, capacity, column_bits, order, table):
    """Fill columns of cells: those below table[i] >> column_bits are i's, the others an alias's.

    The weights add to as many cells; each heavy one fills up light ones until it is light itself.
    """
    shift, light, at = np.uint64(column_bits), np.int64(0), weights.size
    for i in range(weights.size):  # light ones from the front, heavy ones from the back: no branch
        is_light = np.int64(weights[i] <= capacity)
        order[light] = order[at - 1] = i
        light += is_light
        at += is_light - 1
    at = weights.size - 1
    giver = order[at]
    rest = weights[giver]
    for j in range(light):
        i = order[j]
        table[i] = (np.uint64(weights[i]) << shift) | np.uint64(giver)
        rest -= capacity - weights[i]
        while rest <= capacity and at > light:
            at -= 1
            table[giver] = (np.uint64(rest) << shift) | np.uint64(order[at])
            giver = order[at]
            rest += weights[giver] - capacity
    table[giver] = (np.uint64(capacity) << shift) | np.uint64(giver)


@helper
def fill_blocks(first, prefix, key, out):
    """out = the blocks first, first + 1, ... of a stream, of two words each."""
    wide_vectors()
    for i in range(out.size // 2):
        out[2 * i], out[2 * i + 1] = philox(first + np.uint64(i), prefix, key)


@helper
def look_up(table, column_bits, cell_bits, k, words, out):
    """out = the outcome of each word, -1 - k if it is k; returns how many these are.

    Entries are loaded in a loop of their own: of a large table, many at the same time.
    """
    wide_vectors()
    entries = out.view(np.uint64)
    to_column, shift, few = np.uint64(64 - column_bits), np.uint64(column_bits), np.int64(0)
    to_cell, columns = np.uint64(64 - cell_bits), np.uint64(table.size - 1)
    for i in range(out.size):
        entries[i] = table[words[i] >> to_column]
    for i in range(out.size):
        column, entry = words[i] >> to_column, entries[i]
        is_inside = (words[i] << shift) >> to_cell < entry >> shift
        chosen = np.int64(column if is_inside else entry & columns)
        out[i] = chosen if chosen < k else -1 - k
        few += 1 if chosen == k else 0
    return few


@helper
def draw_alias(values, kind, base, rate, best, lift, key, prefix, first, out, work):
    """out = draws of a row, -1 - k if open; returns how many are open.

    Draw t takes word `first` + t of its stream, with an even `first`.
    """
    k = values.size
    column_bits = bit_length(k)
    cell_bits, columns = min(CELL_BITS, ALL_BITS - column_bits), np.int64(1) << column_bits
    weights, cells = work[HEAD : HEAD + columns], np.int64(1) << (column_bits + cell_bits)
    rest, words = work[HEAD + columns :], work[HEAD + 3 * columns :].view(np.uint64)
    table = rest[columns : 2 * columns].view(np.uint64)
    scale, few, total = power(min(50, 60 - column_bits)), np.int64(0), np.int64(0)
    for is_last in range(2):  # at a rough scale, then at one that leaves 32 * k cells and 2**-28
        total = fill_lowers(values, kind, base, rate, best, lift, scale, work)
        if not is_last:
            scale *= np.float64(cells - 32 * k) * (1.0 - 2.0**-28) / np.float64(total + 8 * k)
    weights[k], work[HEAD - 1] = cells - total, cells
    for i in range(k + 1, columns):
        weights[i] = 0
    fill_alias(weights, np.int64(1) << cell_bits, column_bits, rest, table)
    for at in range(0, out.size, DRAWS):
        into = out[at : at + DRAWS]
        fill_blocks(np.uint64(first + at) >> ONE, prefix, key, words[: into.size + 1])
        few += look_up(table, column_bits, cell_bits, k, words, into)
    return few


@kernel("i64(in_u64, i64, in_f64, f64, i64, in_u64, i64, out_i64, out_i64)")
def draw_many(values, kind, base, rate, k, seeds, first, out, work):
    """out = draws of each row of k candidates; returns how many are open, or a status below 0."""
    rows, few = values.size // k, np.int64(0)
    size = out.size // rows
    if not is_exact(rate):
        return NOT_EXACT
    for r in range(rows):
        row = values[r * k : (r + 1) * k]
        best, lift, finite = survey(row, kind, base, rate, work[: (k + BLOCK - 1) // BLOCK])
        if not finite:
            return NOT_FINITE
        key, prefix = philox(seeds[HEADER + r], seeds[2] ^ seeds[1], seeds[0])
        into = out[r * size : (r + 1) * size]
        few += draw_alias(row, kind, base, rate, best, lift, key, prefix, first, into, work)
    return few
