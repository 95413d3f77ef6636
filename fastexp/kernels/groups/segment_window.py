"""The sorted records around the ranks that matter, of long segments, without a full sort.

A sample tells two values that those ranks probably lie between; one pass counts what is below
and gathers what is between, until little is left to sort. A wrong guess costs time only: the
window that comes out is a function of the records.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import IN_I64, NOTHING, OUT_I64, helper, kernel
from ..numbers.select_rank import gather
from .segment_ranks import FIRST, FORM, FORM_SIZE, LAST, LENGTH, PART, START, UNDER
from .segment_sort import LONGEST, sort_indices

SAMPLE = 256
SPREAD = 28  # of a sample's ranks: 3.5 standard deviations of 8
ENOUGH = 512  # records that are sorted
SCRATCH = 2 * SAMPLE + 128 + 3  # words beside the records


@helper
def edges(source: Any, first: Any, last: Any, scratch: Any) -> Any:
    """Two values between which the ranks first..last probably lie; -1 and LONGEST for none."""
    n = source.size
    sample, work = scratch[:SAMPLE], scratch[SAMPLE : 2 * SAMPLE]
    for i in range(SAMPLE):
        sample[i] = source[i * n // SAMPLE]
    sort_indices(sample, work)
    left, right = first * SAMPLE // n - SPREAD, last * SAMPLE // n + SPREAD + 1
    low = sample[left] if left >= 0 else np.int64(-1)
    high = sample[right] if right < SAMPLE else LONGEST
    return low, high


@helper
def narrow(records: Any, first: Any, last: Any, other: Any, scratch: Any) -> Any:
    """Sort what matters of records to their beginning; (how many, how many lie below them)."""
    flags, tally = scratch[2 * SAMPLE : 2 * SAMPLE + 128].view(np.uint64), scratch[-3:]
    below, size, flipped = np.int64(0), np.int64(records.size), False
    while size > ENOUGH:
        source = other[:size] if flipped else records[:size]
        into = records[:size] if flipped else other[:size]
        low, high = edges(source, first - below, last - below, scratch)
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


@kernel(NOTHING(IN_I64, OUT_I64, OUT_I64, OUT_I64, OUT_I64))
def narrow_segments(forms: Any, parts: Any, records: Any, other: Any, scratch: Any) -> None:
    """Sort each part around its ranks that matter, where it is long; `parts` says what is left.

    other: as many words as the longest part has, at least `segment_sort.ROOM`; scratch: SCRATCH
    words.
    """
    for s in range(parts.size // PART):
        part = parts[PART * s : PART * (s + 1)]
        form = forms[FORM_SIZE * part[FORM] : FORM_SIZE * (part[FORM] + 1)]
        some = records[part[START] : part[START] + part[LENGTH]]
        under = part[UNDER]
        size, below = narrow(some, form[FIRST] - under, form[LAST] - under, other, scratch)
        part[LENGTH], part[UNDER] = size, under + below
