"""From the middle of sorted records outwards: cells by rank distance, a few at a time.

As in `numbers/runs.py` a cell is a distinct record's grid point or the points between two of
them, but nothing is left out beforehand: who wants cells stops where they no longer count. A
cell's weight depends on the number of records below it alone, unless records are tied: a table
has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._compiler.jit import helper
from ..bits.logexp import exp_one
from ..numbers.grid_points import HIGH, LOW, SHARE, index_of, number, reaches, rounding
from ..numbers.grid_points import LAST as END
from ..numbers.runs import LEFT, RIGHT, distance, least

# Of a walk (`new_walk`): records a row; the first and the last number of records below that the
# table knows; the grid's size; the middle rank; the distance of weight 1; whether an estimated
# grid point is off by less than MARGIN.
LENGTH, FIRST, LAST, SIZE, MIDDLE, ONE, SURE = 0, 1, 2, 3, 4, 5, 6
MARGIN = 2.0**-7
# Of `weights`: the rate, 1/rate, then for each number of records below that the table knows
# the weights of gaps, their distances, and those of one record.
RATE, SCALE, TABLE = 0, 1, 2
GROUPS = 8  # distinct records at a time, with the gaps before them


def new_walk(
    length: int, first: int, last: int, size: int, middle: int, one: int, *, sure: bool
) -> npt.NDArray[np.int64]:
    """The numbers of a walk, for the kernels that take one."""
    return np.array((length, first, last, size, middle, one, sure), np.int64)


@helper
def place(bits: Any, sure: Any, unit: Any, scale: Any) -> Any:
    """`index_of`, with no comparison, or with one, where the estimate is good."""
    if sure == 0:
        return index_of(bits, unit, scale)
    x = min(max(number(bits, unit), scale[LOW]), scale[HIGH])
    guess = (x - scale[LOW]) * scale[SHARE] + rounding(unit)
    t = np.int64(guess)
    if MARGIN < guess - np.float64(t) < 1.0 - MARGIN:
        return t
    t = min(np.int64(guess + 0.5), unit[END])
    return t if t <= 0 or reaches(x, t, unit, scale) else t - 1


@helper
def place_at(row: Any, i: Any, way: Any, walk: Any, unit: Any, scale: Any) -> Any:
    """The grid point of record i; past the last one, the end of the grid."""
    if i < 0 or i >= row.size:
        return walk[SIZE] if way > 0 else np.int64(-1)
    return place(row[i], walk[SURE], unit, scale)


@helper
def beyond(row: Any, i: Any, t: Any, unit: Any, scale: Any) -> Any:
    """Whether record i counts at grid point t > 0 or beyond."""
    return reaches(min(max(number(row[i], unit), scale[LOW]), scale[HIGH]), t, unit, scale)


@helper
def tied(row: Any, i: Any, way: Any, t: Any, unit: Any, scale: Any, size: Any) -> Any:
    """How many records from i on, going up (way 1) or down (-1), lie at grid point t."""
    room = row.size - 1 - i if way > 0 else i
    if t == (size - 1 if way > 0 else 0):
        return room + 1
    edge = t + 1 if way > 0 else t
    inside, ahead = np.int64(0), np.int64(1)
    while ahead <= room and beyond(row, i + way * ahead, edge, unit, scale) == (way < 0):
        inside = ahead
        ahead += ahead
    outside = min(ahead, room + 1)
    while outside - inside > 1:
        ahead = (inside + outside) >> 1
        if beyond(row, i + way * ahead, edge, unit, scale) == (way < 0):
            inside = ahead
        else:
            outside = ahead
    return inside + 1


@helper
def middle(row: Any, walk: Any, unit: Any, scale: Any) -> Any:
    """The middle record's grid point, the first record there, and the first one above it."""
    i, size = walk[MIDDLE], walk[SIZE]
    t = place(row[i], walk[SURE], unit, scale)
    first = i + 1 - tied(row, i, -1, t, unit, scale, size)
    return t, first, i + tied(row, i, 1, t, unit, scale, size)


@helper
def bound(i: Any, way: Any, n: Any, form: Any) -> Any:
    """A lower bound of the distance of all points without a cell, record i being the next."""
    return least(i, form, LEFT) if way > 0 else least(n - 1 - i, form, RIGHT)


@helper
def nearest(
    row: Any, t: Any, first: Any, after: Any, walk: Any, form: Any, unit: Any, scale: Any
) -> Any:
    """The least distance of all grid points, from what `middle` says on."""
    n, size = row.size, walk[SIZE]
    best = distance(first, after - first, n - after, form)
    for side in range(2):
        way = 1 - 2 * side
        i, free = (after, t + 1) if way > 0 else (first - 1, t - 1)
        while 0 <= free < size and bound(i, way, n, form) < best:
            at = place_at(row, i, way, walk, unit, scale)
            if at != free:
                below = i if way > 0 else i + 1
                best = min(best, distance(below, 0, n - below, form))
            if i < 0 or i >= n:
                break
            equal = tied(row, i, way, at, unit, scale, size)
            below = i if way > 0 else i + 1 - equal
            best = min(best, distance(below, equal, n - below - equal, form))
            i += way * equal
            free = at + way
    return best


@helper
def put(
    start: Any,
    count: Any,
    below: Any,
    equal: Any,
    walk: Any,
    form: Any,
    weights: Any,
    cells: Any,
    j: Any,
) -> None:
    """Four numbers from cells[j] on: first point, points, the weight of each, its distance."""
    cells[j] = start
    cells[j + 1] = count
    if equal < 2 and walk[FIRST] <= below <= walk[LAST]:
        room = walk[LAST] - walk[FIRST] + 1
        i = TABLE + 2 * equal * room + below - walk[FIRST]
        cells[j + 2] = weights[i]
        cells[j + 3] = weights[i + room]
    else:
        d = distance(below, equal, walk[LENGTH] - below - equal, form)
        cells[j + 2] = exp_one(-weights[RATE] * np.float64(d - walk[ONE]))
        cells[j + 3] = d


@helper
def stretch(
    row: Any,
    i: Any,
    free: Any,
    way: Any,
    walk: Any,
    form: Any,
    unit: Any,
    scale: Any,
    weights: Any,
    cells: Any,
) -> Any:
    """Some cells, going on from record i and the first point without a cell, and where to go on.

    Returns the next record, the next such point, and the end of the cells: at most 2 * GROUPS.
    """
    size, end = walk[SIZE], 0
    at = place_at(row, i, way, walk, unit, scale)
    for _ in range(GROUPS):
        if at != free:
            start, below = (free, i) if way > 0 else (at + 1, i + 1)
            put(start, abs(at - free), below, 0, walk, form, weights, cells, end)
            end += 4
        free = at
        if free < 0 or free >= size:
            break
        then = place_at(row, i + way, way, walk, unit, scale)
        equal = np.int64(1)
        if then == at:
            equal = tied(row, i, way, at, unit, scale, size)
            then = place_at(row, i + way * equal, way, walk, unit, scale)
        below = i if way > 0 else i + 1 - equal
        put(at, 1, below, equal, walk, form, weights, cells, end)
        end += 4
        i += way * equal
        free = at + way
        if free < 0 or free >= size:
            break
        at = then
    return i, free, end
