"""Draws of rank statistics for many segments: cells of sorted grid indices, and one of them.

The cells are those of `numbers/runs.py`: a gap between two distinct points, a point, a gap, and
so on. Gaps and points have arrays of their own, and a gap without points is a cell of weight 0.
Where all records matter and no two of them are equal, distances depend on nothing but their number,
and come from the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_I64, IN_U64, NOTHING, OUT_I64, helper, kernel, wide_product
from ..bits.words import ONE_WORD, ZERO
from ..numbers.runs import LEFT, RIGHT, distance, least
from .segment_draws import OPEN, WORDS, below_sum, choose

# of a segment: where its sorted records begin, how many they are, how many lie below them, how
# many it has in all, which form is its own
PART, START, LENGTH, UNDER, ALL, FORM = 5, 0, 1, 2, 3, 4
# of a form: the ranks that matter, where its keys begin (-1: there are none), then 16 numbers
FIRST, LAST, KEYS, NUMBERS, FORM_SIZE = 0, 1, 2, 3, 19
NEVER = np.int64(0x7FFFFFFFFFFFFFFF)  # the key of a gap without points


@helper
def apart(records: Any) -> Any:
    """Whether no two sorted grid indices are equal."""
    same = np.int64(0)
    for i in range(1, records.size):
        same |= np.int64(records[i] == records[i - 1])
    return same == 0


@helper
def window(records: Any, first: Any, last: Any, points: Any, below: Any) -> Any:
    """Distinct ones of sorted grid indices first..last, with all that are equal to them.

    below[i] = how many records lie below points[i], and below[m] up to the last of m points;
    returns m.
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
    """Twice the distances of gaps (below[i] records lie below) and of the points after them."""
    for i in range(point.size):
        gap[i] = 2 * distance(below[i], 0, total - below[i], form)
        equal = below[i + 1] - below[i]
        point[i] = 2 * distance(below[i], equal, total - below[i + 1], form)
    i = point.size
    gap[i] = 2 * distance(below[i], 0, total - below[i], form)


@kernel(NOTHING(IN_I64, OUT_I64, OUT_I64))
def keys_fill(form: Any, below: Any, out: Any) -> None:
    """out = keys of all gaps, then of all points, of records of which no two are equal.

    form: 16 numbers; below: room for a number more than there are records.
    """
    n = below.size - 1
    for i in range(n + 1):
        below[i] = i
    fill_keys(below, form, n, out[: n + 1], out[n + 1 :])


@helper
def nearest_of(points: Any, size: Any, gap: Any, point: Any) -> Any:
    """The least distance of all points, and of the gaps that hold any."""
    best, free = NEVER, np.int64(0)
    for i in range(points.size):
        best = min(best, gap[i] if points[i] > free else NEVER)
        best = min(best, point[i])
        free = points[i] + 1
    return (min(best, gap[points.size]) if size > free else best) >> 1


@helper
def add_cells(
    points: Any, size: Any, gap: Any, point: Any, table: Any, nearest: Any, high: Any, low: Any
) -> None:
    """high, low = sums of count * U: of gap 0, point 0, gap 1, and so on."""
    one, zero, free, last = ZERO, ZERO, np.int64(0), table.size - 1
    for i in range(points.size):
        weight = table[min((gap[i] >> 1) - nearest, last)]
        above, under = wide_product(np.uint64(points[i] - free), weight)
        zero += under
        one += above + (ONE_WORD if zero < under else ZERO)
        high[2 * i], low[2 * i] = one, zero
        weight = table[min((point[i] >> 1) - nearest, last)]
        zero += weight
        one += ONE_WORD if zero < weight else ZERO
        high[2 * i + 1], low[2 * i + 1] = one, zero
        free = points[i] + 1
    weight = table[min((gap[points.size] >> 1) - nearest, last)]
    above, under = wide_product(np.uint64(size - free), weight)
    zero += under
    one += above + (ONE_WORD if zero < under else ZERO)
    high[2 * points.size], low[2 * points.size] = one, zero


@helper
def draw_index(
    points: Any, size: Any, gap: Any, point: Any, nearest: Any, high: Any, low: Any, words: Any
) -> Any:
    """A grid point from the words of one round, or OPEN."""
    m = high.size
    r1, r0, sure = below_sum(words[1], words[0], high[m - 1], low[m - 1])
    i = choose(high, low, r1, r0)
    at = i >> 1
    single = (i & 1) == 1
    free = points[at - 1] + 1 if at > 0 else np.int64(0)
    end = points[at] if at < points.size else size
    key = point[at] if single else gap[at]
    n = ONE_WORD if single else np.uint64(end - free)
    inside, rest = wide_product(words[2], n)
    left = low[i] - r0  # of count * U: more than `count` of them are below count * L
    wide = high[i] - r1 - (ONE_WORD if low[i] < r0 else ZERO) > ZERO
    certain = wide or left > n or (key >> 1) == nearest
    if not sure or not certain or rest < n or key & 1:
        return OPEN
    return end if single else free + np.int64(inside)


@helper
def fill_window(
    records: Any, part: Any, form: Any, points: Any, below: Any, gap: Any, point: Any
) -> Any:
    """Points and keys of one segment whose records may be equal, or not all known; how many."""
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
    """Draws of segments whose sorted grid indices are known where their ranks matter.

    parts: PART numbers a segment; forms: FORM_SIZE numbers each, and behind all of them keys
    (2 * n + 1 for n records that all matter), where a form says from where on; size: the
    grid's; ranks: how many matter at most; work: 8 words a rank, and 8.
    """
    segments, room = parts.size // PART, ranks + 1
    draws = out.size // segments
    own_points, below, own_keys = work[:room], work[room : 2 * room], work[2 * room : 4 * room]
    sums = work[4 * room : 8 * room].view(np.uint64)
    for s in range(segments):
        part = parts[PART * s : PART * (s + 1)]
        form = forms[FORM_SIZE * part[FORM] : FORM_SIZE * (part[FORM] + 1)]
        some = records[part[START] : part[START] + part[LENGTH]]
        at = form[KEYS]
        if at >= 0 and apart(some):
            m, points = part[ALL], some
            gap, point = forms[at : at + m + 1], forms[at + m + 1 : at + 2 * m + 1]
        else:
            gap, point = own_keys[:room], own_keys[room:]
            m = fill_window(some, part, form, own_points, below, gap, point)
            points, gap, point = own_points[:m], gap[: m + 1], point[:m]
        high, low = sums[: 2 * m + 1], sums[2 * room : 2 * room + 2 * m + 1]
        nearest = nearest_of(points, size, gap, point)
        add_cells(points, size, gap, point, table, nearest, high, low)
        for j in range(draws * s, draws * (s + 1)):
            draw_words = words[WORDS * j : WORDS * (j + 1)]
            out[j] = draw_index(points, size, gap, point, nearest, high, low, draw_words)
