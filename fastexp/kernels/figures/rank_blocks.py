"""Many cells at once, where no records are tied: loops without branches, for vector units.

`rank_walk.stretch` and `rank_figures.add` in one, for BLOCK records and the gaps between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import bits_float, helper, wide_vectors
from ..numbers.grid_points import FLOATS, HIGH, LOW, SHARE, rounding
from .rank_walk import FIRST, LAST, MARGIN, SURE, TABLE, place, place_at

BLOCK = 16
LANES = 9 * BLOCK  # of work: points, and then six numbers for each record


@helper
def untied(row: Any, first: Any, unit: Any, scale: Any, points: Any) -> Any:
    """points = those of BLOCK records from `first` on; whether no two are the same."""
    low, high, share, shift = scale[LOW], scale[HIGH], scale[SHARE], rounding(unit)
    open_ones, same = 0, 0
    records = row[first : first + BLOCK]
    for k in range(BLOCK):
        x = min(max(bits_float(np.uint64(records[k])), low), high)
        guess = (x - low) * share + shift
        t = np.float64(np.int64(guess))
        points[k] = t
        part = guess - t
        open_ones += 0 if MARGIN < part < 1.0 - MARGIN else 1
    if open_ones > BLOCK // 2:
        return False
    if open_ones > 0:
        for k in range(BLOCK):
            points[k] = place(records[k], 1, unit, scale)
    for k in range(BLOCK - 1):
        same += 1 if points[k] == points[k + 1] else 0
    return same == 0


@helper
def squares(first: Any, count: Any) -> Any:
    """first**2 + (first + 1)**2 + ..., `count` terms, of numbers >= 0."""
    last = count - 1.0
    return count * (first * (first + last) + last * (2.0 * count - 1.0) * (1.0 / 6.0))


@helper
def block(
    row: Any,
    i: Any,
    free: Any,
    way: Any,
    walk: Any,
    unit: Any,
    scale: Any,
    weights: Any,
    place_of_truth: Any,
    share: Any,
    best: Any,
    work: Any,
) -> Any:
    """work[3 * BLOCK:] = sums over each record and its gap, in the order of `rank_figures`.

    Returns the next point without a cell, or minus 2 where this is not the way.
    """
    wide_vectors()
    first = i if way > 0 else i + 1 - BLOCK
    room = walk[LAST] - walk[FIRST] + 1
    outside = first < 0 or first + BLOCK > row.size or walk[SURE] == 0 or unit[FLOATS] == 0
    if outside or first < walk[FIRST] or first + BLOCK > walk[LAST]:
        return np.int64(-2)
    ahead, points = (1, work[1 : 1 + BLOCK]) if way > 0 else (0, work[:BLOCK])
    if not untied(row, first, unit, scale, points):
        return np.int64(-2)
    end = points[BLOCK - 1] if way > 0 else points[0]
    if place_at(row, i + way * BLOCK, way, walk, unit, scale) == np.int64(end):
        return np.int64(-2)
    work[0 if way > 0 else BLOCK] = free - way
    split = place_of_truth + 1.0 if share >= 0.0 else place_of_truth
    at = TABLE + first - walk[FIRST]
    gaps, gap_losses = weights[at + 1 - ahead :], weights[at + 1 - ahead + room :]
    ones, one_losses = weights[at + 2 * room :], weights[at + 3 * room :]
    before, after, out = work[:BLOCK], work[1 : 1 + BLOCK], work[3 * BLOCK :]
    for k in range(BLOCK):
        start, count = before[k] + 1.0, after[k] - before[k] - 1.0
        below = min(max(split - start, 0.0), count)
        above = count - below
        up = (start + below - place_of_truth) - share
        down = share - (start + below - 1.0 - place_of_truth)
        over = above * (up + 0.5 * (above - 1.0))
        under = below * (down + 0.5 * (below - 1.0))
        x = (points[k] - place_of_truth) - share
        w, v = gaps[k], ones[k]
        out[k] = w * count + v
        out[BLOCK + k] = w * over + v * max(x, 0.0)
        out[2 * BLOCK + k] = w * under + v * max(-x, 0.0)
        d, e = gap_losses[k] - best, one_losses[k] - best
        out[3 * BLOCK + k] = w * count * d + v * e
        out[4 * BLOCK + k] = w * (squares(up, above) + squares(down, below)) + v * x * x
        out[5 * BLOCK + k] = w * count * d * d + v * e * e
    return np.int64(end) + way
