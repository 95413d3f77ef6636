"""The sorted grid indices around the ranks that matter, of long segments, without a full sort.

A sample tells two values that those ranks probably lie between; one pass counts what is below
and gathers what is between, until little is left to sort. The first pass looks at the records as
they are, so that most of them never get a grid index. A wrong guess costs time only: the window
that comes out is a function of the records. What is placed, sampled or sorted goes through the same
lines, as LLVM compiles each call.
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
from ..numbers.histogram import BLOCK
from ..numbers.select_rank import gather
from .segment_ranks import FIRST, FORM, FORM_SIZE, LAST, LENGTH, PART, START, UNDER
from .segment_sort import LARGEST_KEY, fill_points, sort_indices

SAMPLE = 256
SPREAD = 28  # of a sample's ranks: 3.5 standard deviations of 8
ENOUGH = 512  # records that are sorted
LONG = 1 << 11  # records of which most need no grid index
SCRATCH = 2 * SAMPLE + 128 + 3 + BLOCK  # words beside the records
FLAGS = slice(2 * SAMPLE, 2 * SAMPLE + 128)
TALLY = slice(2 * SAMPLE + 128, 2 * SAMPLE + 128 + 3)
INDICES = 3  # a kind beside those of `heights.py`: records that are grid indices


@helper
def fill_sample(records: Any, sample: Any) -> None:
    """SAMPLE of some records, evenly spaced."""
    for i in range(SAMPLE):
        sample[i] = records[i * records.size // SAMPLE]


@helper
def pivots(n: Any, first: Any, last: Any, sample: Any) -> Any:
    """Two values between which the ranks first..last of n probably lie.

    -1 and LARGEST_KEY stand for none.
    """
    left, right = first * SAMPLE // n - SPREAD, last * SAMPLE // n + SPREAD + 1
    low = sample[left] if left >= 0 else np.int64(-1)
    high = sample[right] if right < SAMPLE else LARGEST_KEY
    return low, high


@helper
def number_of(point: Any, grid: Any) -> Any:
    """The number of a grid point; infinite beyond the grid."""
    number = (grid[0] + np.float64(point) * grid[1]) / grid[2]
    number = number if point >= 0 else -np.inf
    return number if point <= np.int64(grid[6]) else np.inf


@helper
def gather_floats(
    records: Any, low: Any, high: Any, grid: Any, flags: Any, other: Any, tally: Any
) -> Any:
    """other = records around two grid points; how many, and two points that all lie between.

    A record below a point's own number lies on the point or before it: so one point more each.
    """
    least, most = low - 1, high + 1 if high < LARGEST_KEY else LARGEST_KEY
    lowest, highest = number_of(least, grid), number_of(most, grid)
    inside = gather(as_floats(records), lowest, highest, flags, as_floats(other), tally)
    return inside, least, most


@kernel(I64(IN_I64, OUT_I64, IN_U64, I64, IN_F64, OUT_I64, OUT_I64, OUT_I64))
def narrow_segments(
    forms: Any, parts: Any, bits: Any, kind: Any, grid: Any, out: Any, other: Any, scratch: Any
) -> Any:
    """out = grid indices of each part, sorted around its ranks that matter; 0 if none is NaN.

    Of a long part these alone are there, at its beginning; `parts` says how many they are. kind:
    as `heights.py` has it, or INDICES, which are in `out`; grid: as `histogram.py` has it. other:
    as many words as the longest part has, at least `segment_sort.ROOM`; scratch: SCRATCH words.
    """
    nans, s = np.int64(0), np.int64(0)
    sample, work, block = scratch[:SAMPLE], scratch[SAMPLE : 2 * SAMPLE], scratch[-BLOCK:]
    flags, tally = as_words(scratch[FLAGS]), scratch[TALLY]
    missed: Any = False
    while s < parts.size // PART:
        part = parts[PART * s : PART * (s + 1)]
        form = forms[FORM_SIZE * part[FORM] : FORM_SIZE * (part[FORM] + 1)]
        begin, end, under = part[START], part[START] + part[LENGTH], part[UNDER]
        records, points = bits[begin:end], out[begin:end]
        first, last, size, below = form[FIRST] - under, form[LAST] - under, end - begin, np.int64(0)
        rough: Any = kind == FLOAT and size >= LONG and not missed  # records are not placed yet
        to_place: Any = kind != INDICES
        raw, least, most = records, np.int64(-1), LARGEST_KEY
        swapped, ends, missed = False, False, False
        while True:
            final = not rough and (ends or size <= ENOUGH)
            source = other[:size] if swapped else points[:size]
            into = points[:size] if swapped else other[:size]
            if rough:
                raw = as_words(work)
                fill_sample(records, raw)
            if to_place:
                nans += fill_points(raw, kind, grid, sample if rough else source, block)
            if final and swapped:
                for i in range(size):
                    points[i] = other[i]
            if not final and not rough:
                fill_sample(source, sample)
            sort_indices(points[:size] if final else sample, other if final else work)
            if final:
                break
            low, high = pivots(size, first - below, last - below, sample)
            if rough:
                inside, least, most = gather_floats(records, low, high, grid, flags, other, tally)
                raw = as_words(other[:inside])
            else:
                inside = gather(source, low, high, flags, into, tally)
            misled = tally[0] > first - below or tally[0] + inside <= last - below
            missed = rough and (misled or tally[2] != 0)
            if missed:
                break
            ends = not rough and (misled or low == high or 2 * inside >= size)
            if not misled:
                below, size, swapped = below + tally[0], inside, not rough and not swapped
            to_place, rough = rough, False
        missed = missed or (least >= 0 and points[first - below] <= least)
        missed = missed or (most < LARGEST_KEY and points[last - below] >= most)
        if not missed:  # else once more, from all records
            part[LENGTH], part[UNDER] = size, under + below
            s += 1
    return nans
