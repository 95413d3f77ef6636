"""Sorted grid indices around the ranks that matter in each data set, without a full sort.

A sample gives two pivots between which those ranks probably lie. A pass counts the records below
them and gathers those between, until few are left to sort. In a long data set of doubles the first
pass reads the records themselves, so that most of them never get a grid index. Wrong pivots only
cost time: the window is a function of the records.
"""

from __future__ import annotations

import numpy as np

from .cells import ALL, COEFFICIENTS, LENGTH, PART, START, UNDER, fill_form, ranks_that_matter
from .jit import BLOCK, helper, kernel, stack, wide_vectors
from .places import double_at, fill_places

DONE, MISSING, UNPLACED = 0, 1, 2  # what `narrow` returns
MOST_SAMPLE = 4096
ENOUGH = 512  # at most this many records are sorted at once
LONG = 1 << 11  # from this many records on, most need no grid index
SHORT, EIGHT = 64, 8  # indices that are sorted by comparing all; flags that are read at once
DIGITS = 256
PLACE = np.int64(6)  # bits of a place among SHORT indices
LARGEST = np.int64(0x7FFFFFFFFFFFFFFF)
FLAGS = 2 * MOST_SAMPLE + DIGITS  # of scratch: two samples, what `sort` needs, and for `gather`
SCRATCH = FLAGS + 2 * BLOCK // EIGHT
SPARE = EIGHT  # words beside those of the longest data set, which `gather` may write to


@helper
def compare(part, low, high, flags):
    """flags[i] = record i is in [low, high]; returns (how many are below, whether any is NaN)."""
    wide_vectors()
    below, bad = np.int64(0), np.int64(0)
    for i in range(part.size):
        x = part[i]
        below += 1 if x < low else 0
        flags[i] = 1 if (x >= low) & (x <= high) else 0
        bad |= 1 if x != x else 0
    return below, bad


@helper
def gather(records, low, high, work, out):
    """out = the records in [low, high], in order; returns (how many, how many below, any NaN).

    A block's flags are read eight at a time, and records are stored without a branch: one that is
    mispredicted costs more. work: two words for each eight of a block.
    """
    flags, groups = work[: BLOCK // EIGHT].view(np.uint8), work[BLOCK // EIGHT :]
    size, below, bad = np.int64(0), np.int64(0), np.int64(0)
    for at in range(0, records.size, BLOCK):
        part, hits = records[at : at + BLOCK], np.int64(0)
        under, nan = compare(part, low, high, flags)
        below += under
        bad |= nan
        for g in range(part.size // EIGHT):
            groups[hits] = g
            hits += np.int64(work[g] != 0)
        for h in range(hits):
            first = EIGHT * groups[h]
            for i in range(first, first + EIGHT):
                out[size] = part[i]
                size += np.int64(flags[i])
        for i in range(part.size & -EIGHT, part.size):
            out[size] = part[i]
            size += np.int64(flags[i])
    return size, below, bad


@helper
def sort_short(points, keys):
    """Sort up to SHORT indices below 2**57: count, for each, how many are smaller."""
    wide_vectors()
    n, padded = points.size, (points.size + 7) & -8
    for i in range(n):
        keys[i] = (points[i] << PLACE) | i  # distinct, in the order of the indices
    for i in range(n, padded):
        keys[i] = LARGEST
    for i in range(n):
        key, rank = keys[i], np.int64(0)
        for j in range(padded):
            rank += np.int64(keys[j] < key)
        points[rank] = key >> PLACE


@helper
def sort(points, other, counts):
    """Sort indices; other: as many words; counts: DIGITS, for a byte of each at a time."""
    wide_vectors()
    low, high, shift = LARGEST, np.int64(0), np.int64(0)
    if points.size <= SHORT:
        sort_short(points, counts)
        return
    for i in range(points.size):
        low, high = min(low, points[i]), max(high, points[i])
    while (high - low) >> shift > 0:
        for j in range(DIGITS):
            counts[j] = 0
        for i in range(points.size):
            counts[((points[i] - low) >> shift) & (DIGITS - 1)] += 1
        before = np.int64(0)
        for j in range(DIGITS):
            before += counts[j]
            counts[j] = before - counts[j]
        for i in range(points.size):
            digit = ((points[i] - low) >> shift) & (DIGITS - 1)
            other[counts[digit]] = points[i]
            counts[digit] += 1
        for i in range(points.size):
            points[i] = other[i]
        shift += 8


@helper
def sample_size(n):
    """How many of n records are sampled: more for many, so that fewer lie between pivots."""
    size = np.int64(256)
    while size < MOST_SAMPLE and 128 * size < n:
        size *= 2
    return size


@helper
def pivots(sample, n, first, last, work):
    """Two values of a sample between which the ranks first..last of n records probably lie.

    -1 and LARGEST mean that there is no such value.
    """
    sort(sample, work, work[MOST_SAMPLE:])
    spread = np.int64(1.75 * np.sqrt(np.float64(sample.size)))  # 3.5 standard deviations
    left, right = first * sample.size // n - spread, last * sample.size // n + spread + 1
    low = sample[left] if left >= 0 else np.int64(-1)
    return low, sample[right] if right < sample.size else LARGEST


@helper
def gather_near(records, grid, first, last, other, work):
    """other = the records around ranks first..last; returns (how many, how many below, any NaN).

    It also returns two grid indices: between them, all records of equal index are in `other`, as a
    record below the number of a grid point counts at that point or below it.
    """
    n, low, high = records.size, np.int64(-1), LARGEST
    if n >= LONG:
        sample = work[: sample_size(n)]
        doubles = work[MOST_SAMPLE:].view(np.float64)[: sample.size]
        for i in range(sample.size):
            doubles[i] = records[i * n // sample.size]
        fill_places(doubles, grid, sample)
        low, high = pivots(sample, n, first, last, work[MOST_SAMPLE:])
    low, high = low - 1, high + 1 if high < LARGEST else LARGEST
    least, most, doubles = double_at(low, grid), double_at(high, grid), other.view(np.float64)
    size, below, bad = gather(records, least, most, work[FLAGS:SCRATCH], doubles)
    return size, below, bad, low, high


@helper
def select(points, size, below, first, last, other, work):
    """Sort points[:size] around the ranks first..last; returns (how many are left, below them).

    They go to the front of `points`, and all records of equal index go with them.
    """
    left, is_done = size, size <= ENOUGH
    while not is_done:
        source, sample = points[:left], work[: sample_size(left)]
        for i in range(sample.size):
            sample[i] = source[i * left // sample.size]
        low, high = pivots(sample, left, first - below, last - below, work[MOST_SAMPLE:])
        inside, under, _ = gather(source, low, high, work[FLAGS:SCRATCH], other)
        is_misled = under > first - below or under + inside <= last - below
        is_done = is_misled or inside <= ENOUGH or 2 * inside >= left
        if not is_misled:
            left, below = inside, below + under
            for i in range(inside):
                points[i] = other[i]
    sort(points[:left], other, work)
    return left, below


@kernel("i64(in_f64, out_i64, in_i64, i64, in_f64, out_i64, out_i64)")
def narrow(records, parts, line, beyond, grid, points, work):
    """points = the sorted grid indices of each data set around its ranks; returns DONE.

    A data set keeps those at the beginning of its part; `parts` says how many, and how many lie
    below. Without `records`, `points` holds all indices in their order. It returns MISSING if a
    record is NaN, and UNPLACED if indices are needed. work: SCRATCH, SPARE, the longest data set.
    """
    other, form = work[SCRATCH:], stack()[:COEFFICIENTS]
    for d in range(parts.size // PART):
        part = parts[PART * d : PART * (d + 1)]
        n, at = part[ALL], part[START]
        own, size, below = points[at : at + n], n, np.int64(0)
        least, greatest = np.int64(-1), LARGEST
        fill_form(line, n, form)
        first, most = ranks_that_matter(form, n, beyond)
        last = first + most - 1
        if records.size > 0:
            size, below, bad, least, greatest = gather_near(
                records[at : at + n], grid, first, last, other, work
            )
            if bad != 0:
                return MISSING
            if below > first or below + size <= last:
                return UNPLACED
            fill_places(other[:size].view(np.float64), grid, own[:size])
        size, below = select(own, size, below, first, last, other, work)
        if most > 0 and (own[first - below] <= least or own[last - below] >= greatest):
            return UNPLACED  # records without an index may have the same one
        part[LENGTH], part[UNDER] = size, below
    return DONE
