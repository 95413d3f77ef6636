"""The grid index at which a record counts: the nearest point, half-way the one of even index.

Point t is the number (A + t * S) / D. The place (x - lowest) / step is computed in doubles and errs
by less than MARGIN of a step. So the integer nearest to place + MARGIN is the right index or the
next one, and one exact comparison decides: of x * 2 * D with the middle of that point and the one
before, 2 * A - S + t * 2 * S. Products and sums are exact pairs of doubles (Dekker 1971; Knuth), so
that the index is the same on every CPU, without a branch.

Points that were listed come with their edges: edge t is the least double that counts at point t or
beyond, and the index is found by bisection.

The error, in steps: no point is farther than 2**40 steps from 0, so the roundings of lowest,
highest, their distance and x - lowest come to less than 2**-10, those of the products to 2**-20,
and the points' own doubles are within 2**-13 of the numbers that they stand for. `data/grid.py`
ensures that A, S, D, the range and 2 * A - S are below 2**53.
"""

from __future__ import annotations

import numpy as np

from .bits import ROUND, ROUND_WORD, word_of
from .jit import helper, kernel, wide_vectors

# Of a grid, see `data/grid.py`: numbers; then, of listed points, the edges, -inf first.
FIRST, STEP, PARTS, LOW, HIGH, SHARE, LAST, EDGES = 0, 1, 2, 3, 4, 5, 6, 7
MARGIN = 2.0**-8
SPLIT = np.float64((1 << 27) + 1)  # splits a double into two of 26 bits


@helper
def fill_nearest(records, grid, out):
    """out[i] = the index of the point nearest to records[i]; 0 for NaN."""
    wide_vectors()
    low, high, share, last = grid[LOW], grid[HIGH], grid[SHARE], np.uint64(grid[LAST])
    start, step, parts = grid[FIRST], grid[STEP], grid[PARTS]
    parts1 = SPLIT * parts - (SPLIT * parts - parts)
    parts0 = parts - parts1
    for i in range(out.size):
        x = records[i] if records[i] > low else low
        x = x if x < high else high
        rounded = ((x - low) * share + MARGIN) + ROUND
        ahead = (rounded - ROUND) * step
        middle = start + ahead  # before this point
        part = middle - start
        rest = (start - (middle - part)) + (ahead - part)  # start + ahead = middle + rest
        product = x * parts
        x1 = SPLIT * x - (SPLIT * x - x)
        x0 = x - x1
        lost = ((x1 * parts1 - product) + x1 * parts0 + x0 * parts1) + x0 * parts0
        t = word_of(rounded) - ROUND_WORD
        before = (product < middle) | ((product == middle) & (lost < rest))
        tie = (product == middle) & (lost == rest)
        t -= np.uint64(1 if before else 0) + (np.uint64(1 if tie else 0) & t)
        out[i] = np.int64(min(t, last))


@helper
def double_at(point, grid):
    """The least double that counts at a listed point; the number of another, within 2**-13 steps.

    It is infinite outside the grid.
    """
    number = (grid[FIRST] + (np.float64(point) + 0.5) * grid[STEP]) / grid[PARTS]
    if point < 0:
        return -np.inf
    if point > np.int64(grid[LAST]):
        return np.inf
    return grid[EDGES + point] if grid.size > EDGES else number


@helper
def fill_listed(records, grid, out):
    """out[i] = how many edges of a listed grid are at most records[i]."""
    for i in range(out.size):
        at, size = np.int64(EDGES), grid.size - EDGES
        while size > 1:  # without a branch on data: a misprediction costs more
            half = size >> 1
            at += half if grid[at + half] <= records[i] else 0
            size -= half
        out[i] = at - EDGES


@helper
def fill_places(records, grid, out):
    """out[i] = the grid index of record i; 0 for NaN."""
    if grid.size > EDGES:
        fill_listed(records, grid, out)
    else:
        fill_nearest(records, grid, out)


@kernel("i64(in_f64, in_f64, out_i64)")
def place_records(records, grid, out):
    """out[i] = the grid index of record i; returns whether any is NaN."""
    wide_vectors()
    bad = np.int64(0)
    for i in range(records.size):
        bad |= 1 if records[i] != records[i] else 0
    fill_places(records, grid, out)
    return bad
