"""Draws of rank statistics for many segments, from cells of sorted grid indices.

The cells are those of `numbers/runs.py`: a gap between two distinct points, a point, a gap, and
so on. Gaps and points have arrays of their own, and a gap without points is a cell of weight 0.
If all records matter and no two of them are equal, distances depend only on the number of records,
and come from the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    I64,
    IN_I64,
    IN_U64,
    NOTHING,
    OUT_I64,
    as_words,
    helper,
    kernel,
    wide_product,
)
from ..bits.words import ONE_WORD, ZERO
from ..numbers.runs import LEFT, RIGHT, distance, least
from .segment_draws import OPEN, WORDS, below_sum, choose

# PART numbers of a segment: the start and the length of its sorted records, the number of records
# below them, the number of all its records, the number of its form.
PART, START, LENGTH, UNDER, ALL, FORM = 5, 0, 1, 2, 3, 4
# FORM_SIZE numbers of a form: the first and the last rank that matter, where its keys and weights
# begin (-1 if there are none), their least distance, then 16 numbers.
FIRST, LAST, KEYS, NEAREST, NUMBERS, FORM_SIZE = 0, 1, 2, 3, 4, 20
NEVER = np.int64(0x7FFFFFFFFFFFFFFF)  # the key of a gap without points


@helper
def window(records: Any, first: Any, last: Any, points: Any, below: Any) -> Any:
    """points = the m distinct grid indices of the sorted records first..last; returns m.

    below[i] = the number of records below points[i], below[m] = that up to the last point. All
    records that are equal to one of first..last count.
    """
    while first > 0 and records[first - 1] == records[first]:
        first -= 1
    while last < records.size - 1 and records[last + 1] == records[last]:
        last += 1
    m, before = np.int64(0), OPEN
    for i in range(first, last + 1):
        points[m], below[m] = records[i], i
        m += 1 if records[i] != before else 0
        before = records[i]
    below[m] = last + 1
    return m


@helper
def fill_keys(below: Any, form: Any, total: Any, gap: Any, point: Any) -> None:
    """gap, point = twice the distances of gaps, above below[i] records, and of the next points."""
    for i in range(point.size):
        gap[i] = 2 * distance(below[i], 0, total - below[i], form)
        equal = below[i + 1] - below[i]
        point[i] = 2 * distance(below[i], equal, total - below[i + 1], form)
    i = point.size
    gap[i] = 2 * distance(below[i], 0, total - below[i], form)


@helper
def fill_weights(
    gap: Any, point: Any, nearest: Any, table: Any, gap_weight: Any, point_weight: Any
) -> None:
    """Look up the weights of keys in the table, by their distances minus the nearest one."""
    last = table.size - 1
    for i in range(point.size):
        gap_weight[i] = table[min((gap[i] >> 1) - nearest, last)]
        point_weight[i] = table[min((point[i] >> 1) - nearest, last)]
    gap_weight[point.size] = table[min((gap[point.size] >> 1) - nearest, last)]


@kernel(I64(IN_I64, IN_U64, OUT_I64, OUT_I64))
def keys_fill(form: Any, table: Any, below: Any, out: Any) -> Any:
    """out = the keys of all gaps, then of all points, then both weights, if no records are equal.

    form: 16 numbers; below: room for one more number than there are records. Returns the least
    distance, or OPEN if only a gap has it: if that gap has no points, the weights are wrong.
    """
    n, nearest = below.size - 1, NEVER
    for i in range(n + 1):
        below[i] = i
    gap, point, weights = out[: n + 1], out[n + 1 : 2 * n + 1], out[2 * n + 1 :]
    fill_keys(below, form, n, gap, point)
    for i in range(n):
        nearest = min(nearest, point[i])
    for i in range(n + 1):
        if gap[i] < nearest:
            return OPEN
    fill_weights(gap, point, nearest >> 1, table, weights[: n + 1], weights[n + 1 :])
    return nearest >> 1


@helper
def nearest_of(points: Any, size: Any, gap: Any, point: Any) -> Any:
    """Return the least distance of all points and of all gaps that hold any points."""
    best, free = NEVER, np.int64(0)
    for i in range(points.size):
        best = min(best, gap[i] if points[i] > free else NEVER)
        best = min(best, point[i])
        free = points[i] + 1
    return (min(best, gap[points.size]) if size > free else best) >> 1


@helper
def add_cells(
    points: Any, size: Any, gap_weight: Any, point_weight: Any, high: Any, low: Any
) -> Any:
    """high, low = the sums of count * U through each point i, and at the end of all cells.

    Returns whether the points increase; if they do not, the sums mean nothing.
    """
    sum_high, sum_low, free, signs = ZERO, ZERO, np.int64(0), np.int64(0)
    for i in range(points.size):
        signs |= points[i] - free
        above, under = wide_product(np.uint64(points[i] - free), np.uint64(gap_weight[i]))
        weight = np.uint64(point_weight[i])
        sum_low += under
        sum_high += above + (ONE_WORD if sum_low < under else ZERO)
        sum_low += weight
        sum_high += ONE_WORD if sum_low < weight else ZERO
        high[i], low[i] = sum_high, sum_low
        free = points[i] + 1
    above, under = wide_product(np.uint64(size - free), np.uint64(gap_weight[points.size]))
    sum_low += under
    sum_high += above + (ONE_WORD if sum_low < under else ZERO)
    high[points.size], low[points.size] = sum_high, sum_low
    return signs >= 0


@helper
def draw_index(
    points: Any, size: Any, gap: Any, point: Any, point_weight: Any, nearest: Any, high: Any,
    low: Any, words: Any,
) -> Any:  # fmt: skip
    """Draw a grid point from the words of one round, or return OPEN."""
    m = points.size
    r1, r0, is_accepted = below_sum(words[1], words[0], high[m], low[m])
    i = choose(high, low, r1, r0)
    left_low = low[i] - r0  # count * U - rho; if more than `count`, rho < count * L
    left_high = high[i] - r1 - (ONE_WORD if low[i] < r0 else ZERO)
    end = points[i] if i < m else size
    weight = np.uint64(point_weight[i]) if i < m else ZERO
    single = left_high == ZERO and left_low <= weight
    if not single:
        left_high -= ONE_WORD if left_low < weight else ZERO
        left_low -= weight
    free = points[i - 1] + 1 if i > 0 else np.int64(0)
    key = point[i] if single else gap[i]
    n = ONE_WORD if single else np.uint64(end - free)
    inside, rest = wide_product(words[2], n)
    passes = left_high > ZERO or left_low > n or (key >> 1) == nearest
    if not is_accepted or not passes or rest < n or key & 1:
        return OPEN
    return end if single else free + np.int64(inside)


@helper
def fill_window(
    records: Any, part: Any, form: Any, points: Any, below: Any, gap: Any, point: Any
) -> Any:
    """Fill points and keys if records may be equal, or not all known; return how many points."""
    total, under, m = part[ALL], part[UNDER], np.int64(0)
    below[0] = 0
    if total > 0:
        m = window(records, form[FIRST] - under, form[LAST] - under, points, below)
        for i in range(m + 1):
            below[i] += under
    numbers = form[NUMBERS:]
    fill_keys(below[: m + 1], numbers, total, gap[: m + 1], point[:m])
    if below[0] > 0:
        gap[0] = 2 * least(total - below[0], numbers, RIGHT) + 1
    if below[m] < total:
        gap[m] = 2 * least(below[m], numbers, LEFT) + 1
    return m


@kernel(NOTHING(IN_I64, IN_I64, IN_I64, I64, I64, IN_U64, IN_U64, OUT_I64, OUT_I64))
def ranks_draw(
    records: Any, parts: Any, forms: Any, size: Any, ranks: Any, table: Any, words: Any, out: Any,
    work: Any,
) -> None:  # fmt: skip
    """out = draws of segments whose sorted grid indices are known at the ranks that matter.

    parts: PART numbers for each segment; forms: FORM_SIZE numbers for each form, then the outputs
    of `keys_fill` for forms whose records all matter, each at the place that its form names; size:
    points of the grid; ranks: the largest number of ranks that matter; work: 8 words a rank, and 8.
    """
    segments, room = parts.size // PART, ranks + 1
    draws = out.size // segments
    own_points, below, own_keys = work[:room], work[room : 2 * room], work[2 * room : 4 * room]
    own_weights = work[4 * room : 6 * room]
    sums = as_words(work[6 * room : 8 * room])
    for s in range(segments):
        part = parts[PART * s : PART * (s + 1)]
        form = forms[FORM_SIZE * part[FORM] : FORM_SIZE * (part[FORM] + 1)]
        segment = records[part[START] : part[START] + part[LENGTH]]
        at, nearest, fits = form[KEYS], form[NEAREST], False
        if at >= 0:
            m, points = part[ALL], segment
            gap, point = forms[at : at + m + 1], forms[at + m + 1 : at + 2 * m + 1]
            at += 2 * m + 1
            gap_weight, point_weight = forms[at : at + m + 1], forms[at + m + 1 : at + 2 * m + 1]
            high, low = sums[: m + 1], sums[room : room + m + 1]
            fits = add_cells(points, size, gap_weight, point_weight, high, low)
        if not fits:
            gap, point = own_keys[:room], own_keys[room:]
            m = fill_window(segment, part, form, own_points, below, gap, point)
            points, gap, point = own_points[:m], gap[: m + 1], point[:m]
            gap_weight, point_weight = own_weights[: m + 1], own_weights[room : room + m]
            high, low = sums[: m + 1], sums[room : room + m + 1]
            nearest = nearest_of(points, size, gap, point)
            fill_weights(gap, point, nearest, table, gap_weight, point_weight)
            add_cells(points, size, gap_weight, point_weight, high, low)
        for j in range(draws * s, draws * (s + 1)):
            draw_words = words[WORDS * j : WORDS * (j + 1)]
            out[j] = draw_index(
                points, size, gap, point, point_weight, nearest, high, low, draw_words
            )
