"""How many records lie on each point of a grid, and from each point on.

A record lies on the point of `Grid.index`, exactly. For given points `edges.py` finds it. On an
evenly spaced grid the place (x - lowest) / step is computed in float64 and errs by less than
`MARGIN` of a step. So the integer nearest to place + MARGIN, or the largest one <= it, is the right
index or the next one, and one exact comparison decides: with the middle of that point and the one
before (`grid_points.py: reaches`), or with the point's own double. That takes no branch, loop or
table, and gives the same index on every CPU.

The error, in steps: no point is farther than 2**40 steps from 0, so the roundings of lowest,
highest, their distance and x - lowest come to less than 2**-10, those of the products to
2**-20, and the points' own doubles are within 2**-13 of the numbers that they stand for.

Records go through blocks: the indices of a block by vectors, then its counts one by one.
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
    as_floats,
    as_words,
    bits_float,
    float_bits,
    helper,
    kernel,
    wide_vectors,
)
from ..bits.heights import FLOAT, SIGNED
from ..bits.logexp import ROUND, ROUND_BITS
from .edges import AS_POINTS, fill_by_edges
from .grid_points import SPLIT

BLOCK = 1024  # records and indices of a block, 16 KiB, lie in L1
MAX_EXACT = 1 << 53  # integers up to here are doubles
FARTHEST = 1 << 40  # steps from 0 to the farthest point
LARGEST = 1 << 31  # points
MARGIN = 2.0**-8
DOWN = MARGIN - 0.5  # makes rounding to nearest round down
NEAREST, BELOW = 0.0, 1.0  # rules, as forms have them
CHUNK_RECORDS = 1 << 16  # records that NumPy looks at together
DTYPES = (np.float64, np.int64, np.uint64)  # of each kind of records


@helper
def fill_floats(bits: Any, kind: Any, out: Any) -> Any:
    """out[i] = the record with these bits, as a double; returns how many are NaN.

    Integers beyond 2**53 are rounded, and stay beyond every point.
    """
    wide_vectors()
    nans = np.int64(0)
    if kind == FLOAT:
        for i in range(out.size):
            x = bits_float(bits[i])
            out[i] = x
            nans += 1 if x != x else 0
    elif kind == SIGNED:
        for i in range(out.size):
            out[i] = np.float64(np.int64(bits[i]))
    else:
        for i in range(out.size):
            out[i] = np.float64(bits[i])
    return nans


@helper
def fill_nearest(records: Any, form: Any, out: Any) -> None:
    """out[i] = the index of the point nearest to records[i]; of two such points the even one."""
    wide_vectors()
    low, high, share, last = form[3], form[4], form[5], np.uint64(form[6])
    start, step, parts = 2.0 * form[0] - form[1], 2.0 * form[1], 2.0 * form[2]
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
        rounding_loss = ((x1 * parts1 - product) + x1 * parts0 + x0 * parts1) + x0 * parts0
        t = float_bits(rounded) - ROUND_BITS
        before = (product < middle) | ((product == middle) & (rounding_loss < rest))
        tie = (product == middle) & (rounding_loss == rest)
        t -= np.uint64(1 if before else 0) + (np.uint64(1 if tie else 0) & t)
        out[i] = min(t, last)


@helper
def fill_below(records: Any, form: Any, out: Any) -> None:
    """out[i] = the index of the largest point <= records[i], clamped."""
    wide_vectors()
    a, s, d, low, high, share = form[0], form[1], form[2], form[3], form[4], form[5]
    last = np.uint64(form[6])
    for i in range(out.size):
        x = records[i] if records[i] > low else low
        x = x if x < high else high
        rounded = ((x - low) * share + DOWN) + ROUND
        point = (a + (rounded - ROUND) * s) / d  # integers are exact: one rounding
        out[i] = min(float_bits(rounded) - ROUND_BITS - np.uint64(1 if point > x else 0), last)


@helper
def fill_indices(records: Any, form: Any, out: Any) -> None:
    """out[i] = the index of the point that records[i] counts at; 0 for NaN.

    `form` is (A, S, D, lowest point, highest point, last index / their distance, last index,
    rule), or that of `edges.edge_form`. In every rounding mode an index is one of the grid.
    """
    if form[7] == AS_POINTS:
        fill_by_edges(records, form, out)
    elif form[7] == BELOW:
        fill_below(records, form, out)
    else:
        fill_nearest(records, form, out)


@kernel(I64(IN_U64, I64, IN_F64, OUT_I64, OUT_I64))
def histogram_add(bits: Any, kind: Any, form: Any, counts: Any, work: Any) -> Any:
    """counts[t] += how many records lie on point t; returns how many are NaN.

    `work` is scratch of two blocks.
    """
    nans = np.int64(0)
    for start in range(0, bits.size, BLOCK):
        part = bits[start : start + BLOCK]
        records = as_floats(work[: part.size])
        indices = as_words(work[BLOCK : BLOCK + part.size])
        nans += fill_floats(part, kind, records)
        fill_indices(records, form, indices)
        for i in range(part.size):
            counts[indices[i]] += 1
    return nans


@kernel(I64(IN_I64, IN_I64, I64, OUT_I64, OUT_I64))
def runs_fill(points: Any, counts: Any, size: Any, last: Any, sums: Any) -> Any:
    """Runs of grid points with equally many records at or beyond them.

    counts[i] records lie on point points[i], or on point i if `points` is empty. Fills last[k]
    and sums[k] with the last point of each run and the number of records there and beyond,
    for k = first, ..., in order; returns that first k. They have room for one run more than
    counts, as the last run ends at size - 1, with or without records.
    """
    k, end, total = counts.size, size - 1, np.int64(0)
    last[k], sums[k] = end, 0
    for j in range(counts.size):
        i = counts.size - 1 - j
        if counts[i] > 0:
            t = points[i] if points.size > 0 else i
            k -= 1 if t < end else 0
            end = t
            total += counts[i]
            last[k], sums[k] = end, total
    return k


def histogram(part: Any, kind: int, grid: Any, out: Any) -> bool:
    """out[t] += how many records lie on point t of a `Grid`; False if one is NaN.

    About 4 ns a record for evenly spaced grids of up to 1e5 points; scratch of 16 KiB. Other grids,
    of fewer than 2**31 points, go by `Grid.index`.
    """
    if is_fast(grid):
        work = np.empty(2 * BLOCK, np.int64)
        return not histogram_add(part.view(np.uint64), kind, form_of(grid), out, work)
    records = part.view(DTYPES[kind])
    for begin in range(0, records.size, CHUNK_RECORDS):
        chunk = records[begin : begin + CHUNK_RECORDS]
        if kind == FLOAT and np.isnan(chunk).any():
            return False
        np.add.at(out, grid.index(chunk), 1)  # unlike bincount, no array of the grid's size
    return True


def is_fast(grid: Any) -> bool:
    """Whether the kernel's arithmetic is exact, and its places are right within MARGIN."""
    return is_near(grid) and grid.size <= LARGEST


def is_near(grid: Any) -> bool:
    """`is_fast` for grids of any size: those whose places `fill_indices` finds."""
    if not grid.even:
        farthest = max(abs(grid.value(0)), abs(grid.value(grid.size - 1)))
        return grid.listing is not None and bool(farthest <= MAX_EXACT)
    a, s, d = grid.unit
    reach = (grid.size - 1) * s
    most = max(abs(a), abs(a + reach))
    start = abs(2 * a - s) if grid.rule == "nearest" else 0
    return bool(max(most, reach, d, start) <= MAX_EXACT and most <= FARTHEST * s)


def form_of(grid: Any) -> Any:
    """The form of a grid for `fill_indices`."""
    if not grid.even:
        return grid.edge_form
    low, high = float(grid.value(0)), float(grid.value(grid.size - 1))
    last = grid.size - 1
    rule = BELOW if grid.rule == "below" else NEAREST
    return np.array([*grid.unit, low, high, last / (high - low), last, rule], np.float64)
