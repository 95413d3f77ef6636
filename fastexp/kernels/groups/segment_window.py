"""The sorted grid indices around the ranks that matter, of long segments, without a full sort.

A sample tells two values that those ranks probably lie between; one pass counts what is below
and gathers what is between, until little is left to sort. The first pass looks at the records as
they are, so that most of them never get a grid index. A wrong guess costs time only: the window
that comes out is a function of the records.
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
    helper,
    kernel,
)
from ..bits.heights import FLOAT
from ..numbers.histogram import BLOCK, fill_indices
from ..numbers.select_rank import gather
from .segment_ranks import FIRST, FORM, FORM_SIZE, LAST, LENGTH, PART, START, UNDER
from .segment_sort import LONGEST, fill_points, sort_indices

SAMPLE = 256
SPREAD = 28  # of a sample's ranks: 3.5 standard deviations of 8
ENOUGH = 512  # records that are sorted
LONG = 1 << 11  # records of which most need no grid index
SCRATCH = 2 * SAMPLE + 128 + 3 + BLOCK  # words beside the records
TALLY = slice(2 * SAMPLE + 128, 2 * SAMPLE + 128 + 3)
INDICES = 3  # a kind beside those of `heights.py`: records that are grid indices


@helper
def edges(n: Any, first: Any, last: Any, sample: Any, work: Any) -> Any:
    """Two values between which the ranks first..last of n probably lie; -1 and LONGEST for none.

    sample: SAMPLE of their grid indices, in any order.
    """
    sort_indices(sample, work)
    left, right = first * SAMPLE // n - SPREAD, last * SAMPLE // n + SPREAD + 1
    low = sample[left] if left >= 0 else np.int64(-1)
    high = sample[right] if right < SAMPLE else LONGEST
    return low, high


@helper
def narrow(records: Any, first: Any, last: Any, other: Any, scratch: Any) -> Any:
    """Sort what matters of records to their beginning; (how many, how many lie below them)."""
    sample, work = scratch[:SAMPLE], scratch[SAMPLE : 2 * SAMPLE]
    flags, tally = as_words(scratch[2 * SAMPLE : 2 * SAMPLE + 128]), scratch[TALLY]
    below, size, flipped = np.int64(0), np.int64(records.size), False
    while size > ENOUGH:
        source = other[:size] if flipped else records[:size]
        into = records[:size] if flipped else other[:size]
        for i in range(SAMPLE):
            sample[i] = source[i * size // SAMPLE]
        low, high = edges(size, first - below, last - below, sample, work)
        inside = gather(source, low, high, flags, into, tally)
        ok = tally[0] <= first - below and tally[0] + inside > last - below
        if not ok:
            break
        below, flipped = below + tally[0], not flipped
        shrunk = 2 * inside < size
        size = inside
        if low == high or not shrunk:
            break
    if flipped:
        for i in range(size):
            records[i] = other[i]
    sort_indices(records[:size], other)
    return size, below


@helper
def gather_floats(records: Any, first: Any, last: Any, grid: Any, other: Any, scratch: Any) -> Any:
    """other = the bits of records around the ranks first..last, which have no grid index yet.

    Returns how many they are, or -1 where pivots miss; how many lie below them; and two grid
    indices: they hold the window if the indices of its first and last rank lie between the two.
    """
    n, points = records.size, np.int64(grid[6]) + 1
    sample, work = scratch[:SAMPLE], scratch[SAMPLE : 2 * SAMPLE]
    flags, tally = as_words(scratch[2 * SAMPLE : 2 * SAMPLE + 128]), scratch[TALLY]
    floats = as_floats(work)
    for i in range(SAMPLE):
        floats[i] = records[i * n // SAMPLE]
    fill_indices(floats, grid, as_words(sample))
    low, high = edges(n, first, last, sample, work)
    # A record below a point's own number lies on the point or before it: so one point more each.
    low, high = low - 1, high + 1 if high < points else high
    least, most = -np.inf, np.inf
    if low >= 0:
        least = (grid[0] + np.float64(low) * grid[1]) / grid[2]
    if high < points:
        most = (grid[0] + np.float64(high) * grid[1]) / grid[2]
    size = gather(records, least, most, flags, as_floats(other), tally)
    below, inside = tally[0], tally[1]
    if tally[2] != 0 or below > first or below + inside <= last or size < inside:
        inside = np.int64(-1)
    return inside, below, low, high


@kernel(I64(IN_I64, OUT_I64, IN_U64, I64, IN_F64, OUT_I64, OUT_I64, OUT_I64))
def narrow_segments(
    forms: Any, parts: Any, bits: Any, kind: Any, grid: Any, out: Any, other: Any, scratch: Any
) -> Any:
    """out = grid indices of each part, sorted around its ranks that matter; how many are NaN.

    Of a long part these alone are there, at its beginning; `parts` says how many they are. kind:
    as `heights.py` has it, or INDICES; grid: as `histogram.py` has it. other: as many words as the
    longest part has, at least `segment_sort.ROOM`; scratch: SCRATCH words.
    """
    nans, placed = np.int64(0), kind != INDICES and other.size < LONG
    if placed:  # all at once: a call for each of many short parts takes longer
        nans += fill_points(bits, kind, grid, out, scratch[-BLOCK:])
    s = 0
    all_of_it: Any = False  # else where pivots miss
    while s < parts.size // PART:
        part = parts[PART * s : PART * (s + 1)]
        form = forms[FORM_SIZE * part[FORM] : FORM_SIZE * (part[FORM] + 1)]
        begin, end, under = part[START], part[START] + part[LENGTH], part[UNDER]
        some, points = bits[begin:end], out[begin:end]
        first, last = form[FIRST] - under, form[LAST] - under
        inside, passed, low, high = np.int64(-1), np.int64(0), np.int64(-1), LONGEST
        if kind == FLOAT and some.size >= LONG and not all_of_it:
            floats = as_floats(some)
            inside, passed, low, high = gather_floats(floats, first, last, grid, other, scratch)
        all_of_it = inside < 0
        if all_of_it:
            inside, passed = some.size, np.int64(0)
        source = some if all_of_it else as_words(other[:inside])
        if kind == INDICES:
            for i in range(inside):
                points[i] = np.int64(source[i])
        elif not placed:
            nans += fill_points(source, kind, grid, points[:inside], scratch[-BLOCK:])
        size, below = narrow(points[:inside], first - passed, last - passed, other, scratch)
        below += passed
        if not all_of_it and (points[first - below] <= low or points[last - below] >= high):
            all_of_it = True  # once more, from all records
        else:
            part[LENGTH], part[UNDER] = size, under + below
            s, all_of_it = s + 1, False
    return nans
