"""How a rank statistic's errors are distributed, for many sorted rows; losses of outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_F64, IN_I64, NOTHING, OUT_F64, float_bits, helper, kernel
from ..bits.logexp import exp_one
from ..numbers.density import add_two
from ..numbers.grid_points import LOW, SHARE, index_of, point
from ..numbers.runs import distance
from .rank_figures import SOME
from .rank_walk import (
    LENGTH,
    MARGIN,
    ONE,
    RATE,
    SIZE,
    SURE,
    beyond,
    bound,
    middle,
    nearest,
    place,
    put,
    stretch,
)

TINY = 2.0**-64  # of all mass: less is left out
START, COUNT, WEIGHT = 0, 1, 2  # of a cell's four numbers


@helper
def all_cells(
    row: Any, walk: Any, form: Any, unit: Any, scale: Any, weights: Any, some: Any, cells: Any
) -> Any:
    """All cells that count, in increasing order: where the first is, and the end of the last."""
    n, size = row.size, walk[SIZE]
    t, first, after = middle(row, walk, unit, scale)
    low = 4 * (2 * n + 1)
    high = low + 4
    put(t, 1, first, after - first, walk, form, weights, cells, low)
    mass = cells[low + WEIGHT]
    for side in range(2):
        way = 1 - 2 * side
        i, free = (after, t + 1) if way > 0 else (first - 1, t - 1)
        while 0 <= free < size:
            left = np.float64(size - free if way > 0 else free + 1)
            d = np.float64(bound(i, way, n, form) - walk[ONE])
            if left * exp_one(-weights[RATE] * d) <= TINY * mass:
                break
            i, free, end = stretch(row, i, free, way, walk, form, unit, scale, weights, some)
            for j in range(0, end, 4):
                low -= 0 if way > 0 else 4
                at = high if way > 0 else low
                high += 4 if way > 0 else 0
                mass += some[j + COUNT] * some[j + WEIGHT]
                for k in range(3):
                    cells[at + k] = some[j + k]
    return low, high


@helper
def cut(x: Any, y: Any, after: Any, walk: Any, unit: Any, scale: Any) -> Any:
    """The first grid point >= x + y, or with `after` the first one > x + y, of doubles.

    The grid's size if there is none. x + y = near + rest, exactly.
    """
    near, rest = add_two(x, y)
    guess = (near - scale[LOW]) * scale[SHARE]
    if walk[SURE] != 0 and 0.0 < guess < np.float64(walk[SIZE] - 1):
        t = np.int64(guess)
        if MARGIN < guess - np.float64(t) < 1.0 - MARGIN:
            return t + 1
    t = index_of(np.int64(float_bits(near)), unit, scale)
    at = point(t, unit, scale)
    if at == near:
        return t + (1 if rest > 0.0 or (after and rest == 0.0) else 0)
    return t + (1 if at < near else 0)


@helper
def above(
    cells: Any, split: Any, x: Any, edges: Any, walk: Any, unit: Any, scale: Any, out: Any
) -> None:
    """out[j] = the mass of points from `split` to x + edges[j]."""
    mass, lost, k = 0.0, 0.0, 0
    for j in range(edges.size):
        stop = np.float64(cut(x, edges[j], True, walk, unit, scale))
        part = 0.0
        while k < cells.size:
            begin, end = max(cells[k], split), cells[k] + cells[k + COUNT]
            if end > stop:
                part = max(stop - begin, 0.0) * cells[k + WEIGHT]
                break
            mass, rest = add_two(mass, max(end - begin, 0.0) * cells[k + WEIGHT])
            lost += rest
            k += 4
        out[j] = mass + (lost + part)


@helper
def add_below(
    cells: Any, split: Any, x: Any, edges: Any, walk: Any, unit: Any, scale: Any, out: Any
) -> None:
    """out[j] += the mass of points from x - edges[j] to before `split`."""
    mass, lost, k = 0.0, 0.0, cells.size - 4
    for j in range(edges.size):
        begin = np.float64(cut(x, -edges[j], False, walk, unit, scale))
        part = 0.0
        while k >= 0:
            end = min(cells[k] + cells[k + COUNT], split)
            if cells[k] < begin:
                part = max(end - begin, 0.0) * cells[k + WEIGHT]
                break
            mass, rest = add_two(mass, max(end - cells[k], 0.0) * cells[k + WEIGHT])
            lost += rest
            k -= 4
        out[j] += mass + (lost + part)


@kernel(
    NOTHING(
        IN_I64, IN_I64, IN_I64, IN_I64, IN_I64, IN_F64, IN_F64, IN_F64, IN_F64, OUT_F64, OUT_F64
    )
)
def masses_fill(
    rows: Any, walk: Any, form: Any, unit: Any, float_unit: Any, scale: Any, weights: Any,
    truths: Any, edges: Any, work: Any, out: Any,
) -> None:  # fmt: skip
    """out: for each row P(|output - truth| <= edge) of increasing edges.

    `unit`: the grid for records; `float_unit`: the same for floats of which the points below
    them are wanted. `work`: SOME + 4 * (4 * n + 3), for n records a row.
    """
    n, m = walk[LENGTH], edges.size
    for r in range(truths.size):
        row, x, masses = rows[r * n : (r + 1) * n], truths[r], out[r * m : (r + 1) * m]
        low, high = all_cells(row, walk, form, unit, scale, weights, work[:SOME], work[SOME:])
        cells = work[SOME + low : SOME + high]
        total, lost = 0.0, 0.0
        for k in range(0, cells.size, 4):
            total, rest = add_two(total, cells[k + COUNT] * cells[k + WEIGHT])
            lost += rest
        split = np.float64(cut(x, 0.0, False, walk, float_unit, scale))
        above(cells, split, x, edges, walk, float_unit, scale, masses)
        add_below(cells, split, x, edges, walk, float_unit, scale, masses)
        for j in range(m):
            masses[j] = min(masses[j] / (total + lost), 1.0)


@helper
def under(row: Any, t: Any, unit: Any, scale: Any, size: Any) -> Any:
    """How many sorted records have a grid index < t."""
    if t <= 0 or t >= size:
        return np.int64(0) if t <= 0 else np.int64(row.size)
    low, high = np.int64(0), np.int64(row.size)
    while low < high:
        half = (low + high) >> 1
        if beyond(row, half, t, unit, scale):
            high = half
        else:
            low = half + 1
    return low


@kernel(NOTHING(IN_I64, IN_I64, IN_I64, IN_I64, IN_I64, IN_F64, IN_F64, I64, OUT_F64))
def distances_fill(
    rows: Any, walk: Any, form: Any, unit: Any, float_unit: Any, scale: Any, outputs: Any,
    size: Any, out: Any,
) -> None:  # fmt: skip
    """out: for each row the distances, beyond the least one, of `size` outputs.

    `unit`, `float_unit`: as for `masses_fill`.
    """
    n = walk[LENGTH]
    for r in range(rows.size // n):
        row = rows[r * n : (r + 1) * n]
        t, first, after = middle(row, walk, unit, scale)
        best = nearest(row, t, first, after, walk, form, unit, scale)
        for j in range(r * size, (r + 1) * size):
            t = place(np.int64(float_bits(outputs[j])), walk[SURE], float_unit, scale)
            below = under(row, t, unit, scale, walk[SIZE])
            upto = under(row, t + 1, unit, scale, walk[SIZE])
            d = distance(below, upto - below, n - upto, form)
            out[j] = np.float64(d - best)
