"""Cells of a grid by rank distance: one for each distinct record, one for each gap between them.

All grid points between two consecutive records have as many records below and above them,
hence the same distance; only the records' own points differ. The distance is a function of
the numbers L, E and U of records below, at and above a point, described by 16 integers
(`_numbers/distance.py`).

Records far from the ranks that matter are not read: the points beyond the window are one cell on
each side, with a lower bound of their distance, which holds because distances grow with the
rank. Such a cell is marked *loose*: its key is odd.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_I64, OUT_I64, helper, kernel

S, GATE, DIVISOR, OFFSET, EXTRA = 0, 1, 2, 3, 4  # of a side's seven numbers in a form
LEFT, RIGHT = 2, 9  # where a side's numbers begin


@helper
def side(ranks: Any, form: Any, at: Any, empty: Any) -> Any:
    """The distance that the records on one side give a point."""
    y = form[at + S] * ranks
    if y < form[at + GATE]:
        return np.int64(0)
    y -= form[at + OFFSET + 2 * empty]
    if form[at + DIVISOR] != 1:
        y //= form[at + DIVISOR]
    return y + form[at + EXTRA + 2 * empty]


@helper
def distance(below: Any, equal: Any, above: Any, form: Any) -> Any:
    """The rank distance of a point, an integer >= 0."""
    empty = 0 if equal > 0 else 1
    most = max(side(below, form, LEFT, empty), side(above, form, RIGHT, empty))
    return max(np.int64(form[empty]), most)


@helper
def least(ranks: Any, form: Any, at: Any) -> Any:
    """A lower bound of the distance where at least `ranks` records lie on one side."""
    return min(side(ranks, form, at, 0), side(ranks, form, at, 1))


@helper
def fill_cells(
    points: Any, records: Any, below: Any, total: Any, size: Any, form: Any, start: Any,
    count: Any, key: Any,
) -> Any:  # fmt: skip
    """Cells of records[i] records at grid point points[i]; returns how many.

    `below` of all `total` records lie below points[0]; the grid has `size` points. key =
    2 * distance, and 1 more where it is a lower bound. Room: 2 * points.size + 1.
    """
    m, under = 0, below
    free = np.int64(0)  # the first grid point that has no cell yet
    for j in range(2 * points.size + 1):  # a gap, a point, a gap, ...
        i, on_point = j >> 1, j & 1
        stop = points[i] + on_point if i < points.size else size
        equal = records[i] if on_point == 1 else np.int64(0)
        if stop > free:
            start[m], count[m] = free, stop - free
            key[m] = 2 * distance(under, equal, total - under - equal, form)
            m += 1
        under, free = under + equal, stop
    for end in range(2):  # with records beyond it, a gap at an end is loose
        beyond = below if end == 0 else total - under
        if beyond > 0 and m > 0:
            known, at = total - beyond, RIGHT if end == 0 else LEFT
            key[0 if end == 0 else m - 1] = 2 * least(known, form, at) + 1
    return m


@kernel(I64(IN_I64, IN_I64, I64, I64, I64, IN_I64, OUT_I64, OUT_I64, OUT_I64))
def cells_fill(
    points: Any, records: Any, below: Any, total: Any, size: Any, form: Any, start: Any,
    count: Any, key: Any,
) -> Any:  # fmt: skip
    """`fill_cells` of one data set."""
    return fill_cells(points, records, below, total, size, form, start, count, key)


@helper
def fill_widened(
    start: Any,
    count: Any,
    key: Any,
    width: Any,
    queue: Any,
    wide_start: Any,
    wide_count: Any,
    wide_key: Any,
) -> Any:
    """The least key within `width` points of each point, as cells; returns how many.

    Cell j counts at the points from start[j] - width to its end + width: a sliding minimum,
    with a queue of increasing keys (Lemire 2006). Room: 2 * start.size + 1; `queue`:
    start.size. Exact keys win against bounds of the same distance, being smaller.
    """
    cells = start.size
    size = start[cells - 1] + count[cells - 1]
    front, back, entered, m = 0, 0, 0, 0
    t = np.int64(0)
    while t < size:
        while entered < cells and start[entered] - width <= t:
            while back > front and key[queue[back - 1]] >= key[entered]:
                back -= 1
            queue[back] = entered
            back += 1
            entered += 1
        while start[queue[front]] + count[queue[front]] - 1 + width < t:
            front += 1
        best = queue[front]
        stop = start[best] + count[best] + width
        if entered < cells:
            stop = min(stop, start[entered] - width)
        stop = min(stop, size)
        if m > 0 and wide_key[m - 1] == key[best]:
            wide_count[m - 1] += stop - t
        else:
            wide_start[m] = t
            wide_count[m] = stop - t
            wide_key[m] = key[best]
            m += 1
        t = stop
    return m


@kernel(I64(IN_I64, IN_I64, IN_I64, I64, OUT_I64, OUT_I64, OUT_I64, OUT_I64))
def widen_fill(
    start: Any, count: Any, key: Any, width: Any, queue: Any, wide_start: Any, wide_count: Any,
    wide_key: Any,
) -> Any:  # fmt: skip
    """`fill_widened` of one list of cells."""
    return fill_widened(start, count, key, width, queue, wide_start, wide_count, wide_key)
