"""Sorted grid indices around the ranks that matter in long segments, without a full sort.

A sample gives two pivots between which those ranks probably lie. A pass counts the records below
them and gathers those between; passes are repeated until few records are left to sort. The first
pass reads the records themselves, so that most of them never get a grid index. Wrong pivots only
cost time: the window is a function of the records. All placing, sampling and sorting is done by the
same lines, because LLVM compiles each call separately.
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
SPREAD = 28  # ranks of a sample: 3.5 standard deviations of 8
ENOUGH = 512  # at most this many records are sorted
LONG = 1 << 11  # from this many records on, most need no grid index
SCRATCH = 2 * SAMPLE + 128 + 3 + BLOCK  # words of scratch beside the records
FLAGS = slice(2 * SAMPLE, 2 * SAMPLE + 128)
TALLY = slice(2 * SAMPLE + 128, 2 * SAMPLE + 128 + 3)
INDICES = 3  # a kind in addition to those of `heights.py`: grid indices


@helper
def fill_sample(records: Any, sample: Any) -> None:
    """sample = SAMPLE of the records, evenly spaced."""
    for i in range(SAMPLE):
        sample[i] = records[i * records.size // SAMPLE]


@helper
def pivots(n: Any, first: Any, last: Any, sample: Any) -> Any:
    """Return two values between which the ranks first..last of n probably lie.

    -1 and LARGEST_KEY mean that there is no such value.
    """
    left, right = first * SAMPLE // n - SPREAD, last * SAMPLE // n + SPREAD + 1
    low = sample[left] if left >= 0 else np.int64(-1)
    high = sample[right] if right < SAMPLE else LARGEST_KEY
    return low, high


@helper
def number_of(point: Any, grid: Any) -> Any:
    """Return the number of a grid point; infinite outside the grid."""
    number = (grid[0] + np.float64(point) * grid[1]) / grid[2]
    number = number if point >= 0 else -np.inf
    return number if point <= np.int64(grid[6]) else np.inf


@helper
def gather_floats(
    records: Any, low: Any, high: Any, grid: Any, flags: Any, other: Any, tally: Any
) -> Any:
    """other = the records between two grid points; returns their number, and two outer points.

    All these records lie between the outer points, which are one step further out: a record below
    the number of a point may still belong to that point.
    """
    least, most = low - 1, high + 1 if high < LARGEST_KEY else LARGEST_KEY
    lowest, highest = number_of(least, grid), number_of(most, grid)
    inside = gather(as_floats(records), lowest, highest, flags, as_floats(other), tally)
    return inside, least, most


@kernel(I64(IN_I64, OUT_I64, IN_U64, I64, IN_F64, OUT_I64, OUT_I64, OUT_I64))
def narrow_segments(
    forms: Any, parts: Any, bits: Any, kind: Any, grid: Any, out: Any, other: Any, scratch: Any
) -> Any:
    """out = the grid indices of each part, sorted around its ranks that matter; 0 if none is NaN.

    A long part keeps only those, at its beginning; `parts` says how many. kind: as in `heights.py`,
    or INDICES, which are in `out`; grid: the form of `histogram.py`; other: as many words as the
    longest part, at least `segment_sort.SCRATCH_WORDS`; scratch: SCRATCH words.
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
        rough: Any = kind == FLOAT and size >= LONG and not missed  # no record has an index yet
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
        if not missed:  # else repeat, from all records
            part[LENGTH], part[UNDER] = size, under + below
            s += 1
    return nans
