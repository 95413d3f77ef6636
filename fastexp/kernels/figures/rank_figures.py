"""Errors of a rank statistic's law, for many sorted rows: sums over cells, none drawn.

Numbers are in steps of the grid, relative to the truth: point t is (t - place) - share. All
sums are of terms >= 0, those of points above the truth and of those below it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import IN_F64, IN_I64, NOTHING, OUT_F64, helper, kernel
from ..bits.logexp import exp_one
from ..numbers.density import add_two
from .rank_blocks import BLOCK, LANES, block, squares
from .rank_walk import GROUPS, LENGTH, ONE, RATE, SCALE, SIZE, bound, middle, nearest, put, stretch

MASS, OVER, UNDER, LOSS, SQUARE, LOSSES, SUMS = 0, 1, 2, 3, 4, 5, 6
FIGURES = 5  # of a row: means of |error|, error, distance, and of the squares of both
SOME = 8 * GROUPS  # the room of the cells of one stretch
WORK = SOME + 2 * SUMS + LANES
TINY = 2.0**-60  # of a sum: less is left out


@helper
def add(cells: Any, end: Any, place: Any, share: Any, best: Any, sums: Any) -> None:
    """sums += those of cells: mass, distances above and below the truth, losses, squares."""
    split = place + 1.0 if share >= 0.0 else place  # the first point above the truth
    mass, over, under, loss, square, losses = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(0, end, 4):
        start, count, w = cells[j], cells[j + 1], cells[j + 2]
        low = min(max(split - start, 0.0), count)
        high = count - low
        after = (start + low - place) - share
        before = share - (start + low - 1.0 - place)
        mass += w * count
        over += w * (high * (after + 0.5 * (high - 1.0)))
        under += w * (low * (before + 0.5 * (low - 1.0)))
        square += w * (squares(after, high) + squares(before, low))
        d = cells[j + 3] - best
        loss += w * count * d
        losses += w * count * d * d
    add_to(sums, MASS, mass)
    add_to(sums, OVER, over)
    add_to(sums, UNDER, under)
    add_to(sums, LOSS, loss)
    sums[SQUARE] += square  # for variances, which need no more digits
    sums[LOSSES] += losses


@helper
def add_to(sums: Any, i: Any, x: Any) -> None:
    """sums[i] += x; what rounding takes is kept aside."""
    sums[i], lost = add_two(sums[i], x)
    sums[SUMS + i] += lost


@helper
def add_block(parts: Any, sums: Any) -> None:
    """sums += those of `rank_blocks.block`."""
    mass, over, under, loss, square, losses = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(BLOCK):
        mass += parts[k]
        over += parts[BLOCK + k]
        under += parts[2 * BLOCK + k]
        loss += parts[3 * BLOCK + k]
        square += parts[4 * BLOCK + k]
        losses += parts[5 * BLOCK + k]
    add_to(sums, MASS, mass)
    add_to(sums, OVER, over)
    add_to(sums, UNDER, under)
    add_to(sums, LOSS, loss)
    sums[SQUARE] += square
    sums[LOSSES] += losses


@helper
def counts(
    free: Any,
    way: Any,
    d: Any,
    walk: Any,
    weights: Any,
    place: Any,
    share: Any,
    best: Any,
    sums: Any,
) -> Any:
    """Whether points from `free` on, all at a distance >= d, may count in some sum."""
    end = walk[SIZE] - 1 if way > 0 else 0
    left = np.float64(abs(end - free) + 1) * exp_one(-weights[RATE] * np.float64(d - walk[ONE]))
    far = max(abs(np.float64(free) - place - share), abs(np.float64(end) - place - share))
    loss = max(np.float64(d) - best, weights[SCALE])  # x * exp(-rate*x) is greatest at 1/rate
    small = left <= TINY * sums[MASS] and left * loss <= TINY * sums[LOSS]
    return not (small and left * far <= TINY * (sums[OVER] + sums[UNDER]))


@kernel(NOTHING(IN_I64, IN_I64, IN_I64, IN_I64, IN_F64, IN_F64, IN_F64, IN_F64, OUT_F64, OUT_F64))
def figures_fill(
    rows: Any,
    walk: Any,
    form: Any,
    unit: Any,
    scale: Any,
    weights: Any,
    places: Any,
    shares: Any,
    work: Any,
    out: Any,
) -> None:
    """out: for each row the means of |error|, error and distance, and of their squares.

    The distance is that beyond the least one. `work`: WORK.
    """
    n, size = walk[LENGTH], walk[SIZE]
    cells, sums, lanes = work[:SOME], work[SOME : SOME + 2 * SUMS], work[SOME + 2 * SUMS :]
    for r in range(places.size):
        row = rows[r * n : (r + 1) * n]
        place, share = places[r], shares[r]
        t, first, after = middle(row, walk, unit, scale)
        best = np.float64(nearest(row, t, first, after, walk, form, unit, scale))
        put(t, 1, first, after - first, walk, form, weights, cells, 0)
        for j in range(2 * SUMS):
            sums[j] = 0.0
        add(cells, 4, place, share, best, sums)
        for side in range(2):
            way = 1 - 2 * side
            i, free = (after, t + 1) if way > 0 else (first - 1, t - 1)
            swift = True
            while 0 <= free < size:
                d = bound(i, way, n, form)
                if not counts(free, way, d, walk, weights, place, share, best, sums):
                    break
                if swift:
                    then = block(
                        row, i, free, way, walk, unit, scale, weights, place, share, best, lanes
                    )
                    swift = then > -2
                    if swift:
                        add_block(lanes[3 * BLOCK :], sums)
                        i, free = i + way * BLOCK, then
                        continue
                i, free, end = stretch(row, i, free, way, walk, form, unit, scale, weights, cells)
                add(cells, end, place, share, best, sums)
        mass = sums[MASS] + sums[SUMS + MASS]
        over, under = sums[OVER] + sums[SUMS + OVER], sums[UNDER] + sums[SUMS + UNDER]
        out[FIGURES * r] = (over + under) / mass
        out[FIGURES * r + 1] = (over - under) / mass
        out[FIGURES * r + 2] = (sums[LOSS] + sums[SUMS + LOSS]) / mass
        out[FIGURES * r + 3] = sums[SQUARE] / mass
        out[FIGURES * r + 4] = sums[LOSSES] / mass
