"""Distributions of a rank statistic's errors for many data sets; distances of outputs.

Both use the cells that `numbers/rank_rows.py` makes of a data set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import F64, I64, IN_F64, IN_I64, NOTHING, OUT_F64, float_bits, helper, kernel
from ..bits.logexp import exp_one
from ..numbers.density import add_two
from ..numbers.grid_points import (
    LAST,
    LOW,
    MARGIN,
    SHARE,
    estimates,
    index_of,
    point,
)
from .rank_figures import BEYOND, FAR, FIRST, POINTS, WEIGHT, place_of, room_of, weigh

TINY = 2.0**-63  # share of all mass that loose cells may have and be left out


def work_of(edges: int, most: int) -> int:
    """The length of `work` for `edges` edges and data sets of at most `most` cells."""
    return 2 * edges + 1 + room_of(most)


@helper
def cuts(x: Any, edges: Any, unit: Any, scale: Any, out: Any) -> None:
    """out = the first grid points > x + edge, then those >= x - edge, then the first one >= x.

    It is the grid's size if there is no such point. x + y is exactly near + rest, two doubles.
    """
    swift, m = estimates(unit, scale), edges.size
    for j in range(2 * m + 1):
        after = j < m
        y = edges[j] if after else (-edges[j - m] if j < 2 * m else 0.0)
        near, rest = add_two(x, y)
        guess = (near - scale[LOW]) * scale[SHARE]
        if swift and 0.0 < guess < np.float64(unit[LAST]):
            t = np.int64(guess)
            if MARGIN < guess - np.float64(t) < 1.0 - MARGIN:
                out[j] = np.float64(t + 1)
                continue
        t = index_of(np.int64(float_bits(near)), unit, scale)
        at = point(t, unit, scale)
        if at == near:
            t += 1 if rest > 0.0 or (after and rest == 0.0) else 0
        else:
            t += 1 if at < near else 0
        out[j] = np.float64(t)


@helper
def add_masses(blocks: Any, cells: Any, way: Any, split: Any, ends: Any, out: Any) -> None:
    """out[j] += the mass of points t, split <= t < ends[j]; if way < 0, ends[j] <= t < split."""
    mass, rounding_loss, k = 0.0, 0.0, 0 if way > 0 else cells - 1
    for j in range(ends.size):
        part = 0.0
        while 0 <= k < cells:
            i = place_of(k)
            first, w = blocks[i + FIRST], blocks[i + WEIGHT]
            after = first + blocks[i + POINTS]
            low, high = (max(first, split), after) if way > 0 else (first, min(after, split))
            if (after > ends[j]) if way > 0 else (first < ends[j]):
                part = max(ends[j] - low if way > 0 else high - ends[j], 0.0) * w
                break
            mass, rest = add_two(mass, max(high - low, 0.0) * w)
            rounding_loss += rest
            k += way
        out[j] += mass + (rounding_loss + part)


@kernel(NOTHING(IN_I64, IN_I64, F64, IN_I64, IN_F64, IN_F64, IN_F64, OUT_F64, OUT_F64))
def masses_fill(
    cells: Any, ends: Any, rate: Any, unit: Any, scale: Any, truths: Any, edges: Any, work: Any,
    out: Any,
) -> None:  # fmt: skip
    """out = P(|output - truth| <= edge) for each data set and each of the increasing edges.

    cells, ends: as for `figures_fill`. unit, scale: the grid, by the rule that takes a float to the
    largest point not above it. NaN where loose cells may count. work: see `work_of`.
    """
    m, room = edges.size, cells.size // 3
    limits, blocks = work[: 2 * m + 1], work[2 * m + 1 :]
    for r in range(truths.size):
        at, size = ends[r], ends[r + 1] - ends[r]
        key = cells[2 * room + at : 2 * room + at + size]
        weigh(cells, ends, r, rate, blocks)
        total, rounding_loss, loose_mass = 0.0, 0.0, 0.0
        for k in range(size):
            i = place_of(k)
            total, rest = add_two(total, blocks[i + POINTS] * blocks[i + WEIGHT])
            rounding_loss += rest
            if key[k] & 1:
                loose_mass += blocks[i + POINTS] * exp_one(-rate * blocks[i + FAR])
        cuts(truths[r], edges, unit, scale, limits)
        masses, split = out[r * m : (r + 1) * m], limits[2 * m]
        for j in range(m):
            masses[j] = 0.0
        for side in range(2):
            limits_of_side = limits[side * m : side * m + m]
            add_masses(blocks, size, 1 - 2 * side, split, limits_of_side, masses)
        total = total + rounding_loss if loose_mass <= TINY * total else np.nan
        for j in range(m):
            share = masses[j] / total
            masses[j] = 1.0 if share > 1.0 else share


@kernel(I64(IN_I64, IN_I64, IN_I64, I64, OUT_F64))
def distances_fill(cells: Any, ends: Any, outputs: Any, size: Any, out: Any) -> Any:
    """out = the distances of `size` grid points for each data set, minus the least distance.

    cells, ends: as for `figures_fill`. NaN for points in loose cells; returns how many these are.
    """
    room, unknown = cells.size // 3, 0
    for r in range(ends.size - 1):
        least = BEYOND
        for k in range(2 * room + ends[r], 2 * room + ends[r + 1]):
            least = min(least, cells[k] if cells[k] & 1 == 0 else BEYOND)
        for j in range(r * size, (r + 1) * size):
            low, high = ends[r], ends[r + 1]
            while high - low > 1:
                half = (low + high) >> 1
                if cells[half] <= outputs[j]:
                    low = half
                else:
                    high = half
            key = cells[2 * room + low]
            out[j] = np.float64((key >> 1) - (least >> 1)) if key & 1 == 0 else np.nan
            unknown += key & 1
    return unknown
