"""Draws for many segments: of points by the least distance within a width, or of modes.

Sorted grid indices become cells (`numbers/runs.py`, or those of the mode), each point takes the
least distance within a width of it, and sums of integer weights give draws (`segment_draws.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_I64, IN_U64, NOTHING, OUT_I64, helper, kernel
from ..numbers.runs import fill_cells, fill_widened
from .segment_draws import WORDS, draw_points
from .segment_ranks import (
    ALL,
    FIRST,
    FORM,
    FORM_SIZE,
    LAST,
    LENGTH,
    NUMBERS,
    PART,
    START,
    UNDER,
    window,
)


@helper
def fill_modes(points: Any, records: Any, size: Any, start: Any, count: Any, key: Any) -> Any:
    """Fill cells by the distance to being the only mode, as `fill_cells` does; return how many."""
    most, modes = np.int64(0), np.int64(0)
    for i in range(points.size):
        modes = np.int64(0) if records[i] > most else modes
        most = max(most, records[i])
        modes += 1 if records[i] == most else 0
    m, free = np.int64(0), np.int64(0)
    for i in range(points.size + 1):
        point = points[i] if i < points.size else size
        if point > free:
            start[m], count[m], key[m] = free, point - free, 2 * (most + 1)
            m += 1
        if i < points.size:
            behind = most - records[i]  # plus 1, but for the only mode
            start[m], count[m], key[m] = point, 1, 2 * (behind + (0 if behind + modes == 1 else 1))
            m += 1
            free = point + 1
    return m


@helper
def fill_near(
    start: Any, count: Any, key: Any, near: Any, spread: Any, queue: Any, near_start: Any,
    near_count: Any, near_key: Any,
) -> None:  # fmt: skip
    """Fill a cell for each point t of a grid, with the least key of points near[t]..near[k + t].

    Both ends grow with t. spread, queue: a word for each point.
    """
    k = spread.size
    for i in range(start.size):
        for t in range(start[i], start[i] + count[i]):
            spread[t] = key[i]
    front, back, entered = np.int64(0), np.int64(0), np.int64(0)
    for t in range(k):
        while entered <= near[k + t]:
            while back > front and spread[queue[back - 1]] >= spread[entered]:
                back -= 1
            queue[back] = entered
            back += 1
            entered += 1
        while queue[front] < near[t]:
            front += 1
        near_start[t], near_count[t], near_key[t] = t, 1, spread[queue[front]]


def work_size(ranks: int, points: int) -> int:
    """The number of words of scratch; points: those of a grid with `near`, else 0."""
    wide = max(4 * ranks + 3, points)
    return 2 * (ranks + 2) + 3 * (2 * ranks + 1) + 3 * wide + wide + 2 * wide


@kernel(NOTHING(IN_I64, IN_I64, IN_I64, I64, I64, I64, IN_I64, IN_U64, IN_U64, OUT_I64, OUT_I64))
def cells_draw(
    records: Any, parts: Any, forms: Any, size: Any, ranks: Any, width: Any, near: Any, table: Any,
    words: Any, out: Any, work: Any,
) -> None:  # fmt: skip
    """out = draws of segments whose sorted grid indices are known at the ranks that matter.

    parts, forms: as in `segment_ranks.py`, without keys; without forms, draws are of the mode.
    size: points of the grid; ranks: the largest number of ranks that matter; width: in points;
    near: the first points near each point, then the last ones, or empty; work: `work_size` words.
    """
    segments, k, c = parts.size // PART, near.size // 2, 2 * ranks + 1
    draws, wide = out.size // segments, max(2 * c + 1, k)
    points, below, rest = work[: ranks + 2], work[ranks + 2 : 2 * ranks + 4], work[2 * ranks + 4 :]
    start, count, key = rest[:c], rest[c : 2 * c], rest[2 * c : 3 * c]
    rest = rest[3 * c :]
    other_start, other_count, other_key = rest[:wide], rest[wide : 2 * wide], rest[2 * wide :]
    queue, sums = rest[3 * wide : 4 * wide], rest[4 * wide : 6 * wide]
    for s in range(segments):
        part = parts[PART * s : PART * (s + 1)]
        segment, m, under = (
            records[part[START] : part[START] + part[LENGTH]],
            np.int64(0),
            part[UNDER],
        )
        form = forms[FORM_SIZE * part[FORM] : FORM_SIZE * (part[FORM] + 1)]
        below[0] = 0
        if segment.size > 0:
            first, last = np.int64(0), segment.size - 1
            if form.size > 0:
                first, last = form[FIRST] - under, form[LAST] - under
            m = window(segment, first, last, points, below)
        under += below[0]
        for i in range(m):
            below[i] = below[i + 1] - below[i]
        if form.size > 0:
            cells = fill_cells(
                points[:m], below[:m], under, part[ALL], size, form[NUMBERS:], start, count, key
            )
        else:
            cells = fill_modes(points[:m], below[:m], size, start, count, key)
        starts, counts, keys = start[:cells], count[:cells], key[:cells]
        if width > 0:
            cells = fill_widened(
                starts, counts, keys, width, queue, other_start, other_count, other_key
            )
        elif k > 0:
            fill_near(
                starts, counts, keys, near, sums[:k], queue, other_start, other_count, other_key
            )
            cells = np.int64(k)
        if width > 0 or k > 0:
            starts, counts, keys = other_start[:cells], other_count[:cells], other_key[:cells]
        draw_points(
            starts, counts, keys, table, words[WORDS * draws * s : WORDS * draws * (s + 1)],
            out[draws * s : draws * (s + 1)], sums,
        )  # fmt: skip
