"""Rows to groups by counting: a stable sort by code in two passes.

The code of a row is its group, or -1 for none; such rows go behind all groups. A call works on
a range of rows with counts of its own, so that ranges can be counted, and then moved, at the
same time in several threads: the rows of a group stay in order whatever the ranges are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import I64, IN_I64, NOTHING, OUT_I64, helper, kernel

# With many groups each row goes to memory far from the row before. The places of TOGETHER rows
# are loaded first: no load waits for another, so many are on their way to the caches at once.
TOGETHER = 128
MANY = 4096  # groups, for which that is worth it
SPARE = 1  # words behind the rows: the place of a row that is no more is loaded, too


@helper
def slot_of(code: Any, groups: Any) -> Any:
    """Where a code is counted: -1, the greatest of unsigned words, behind all groups."""
    return min(np.uint64(code), np.uint64(groups))


@kernel(NOTHING(IN_I64, OUT_I64))
def count_codes(codes: Any, counts: Any) -> None:
    """counts[c] += how many rows have code c; the last one: how many have none."""
    groups = counts.size - 1
    for i in range(codes.size):
        counts[slot_of(codes[i], groups)] += 1


@kernel(NOTHING(OUT_I64, OUT_I64))
def start_codes(counts: Any, offsets: Any) -> None:
    """Counts of some ranges, one after the other, to where the rows of each range begin.

    offsets[c] = where the rows of code c begin, of the earliest range.
    """
    total, slots = np.int64(0), offsets.size
    for c in range(slots):
        offsets[c] = total
        for j in range(c, counts.size, slots):
            count = counts[j]
            counts[j] = total
            total += count


@helper
def loaded(codes: Any, places: Any, out: Any) -> Any:
    """Load the words where rows will go; what is returned has no meaning."""
    groups, seen = places.size - 1, np.int64(0)
    if groups >= MANY:
        for i in range(codes.size):
            seen |= out[places[slot_of(codes[i], groups)]]
    return seen


@kernel(I64(IN_I64, IN_I64, OUT_I64, OUT_I64))
def move_words(codes: Any, words: Any, places: Any, out: Any) -> Any:
    """out[place] = words[i], where the row's code has its next place.

    `out` has SPARE words behind all rows. What is returned has no meaning.
    """
    groups, seen = places.size - 1, np.int64(0)
    for start in range(0, codes.size, TOGETHER):
        some, moved = codes[start : start + TOGETHER], words[start : start + TOGETHER]
        seen |= loaded(some, places, out)
        for i in range(some.size):
            slot = slot_of(some[i], groups)
            place = places[slot]
            places[slot] = place + 1
            out[place] = moved[i]
    return seen


@kernel(I64(IN_I64, I64, OUT_I64, OUT_I64))
def move_rows(codes: Any, first: Any, places: Any, out: Any) -> Any:
    """As `move_words` of the numbers of the rows: first, first + 1, ..."""
    groups, seen = places.size - 1, np.int64(0)
    for start in range(0, codes.size, TOGETHER):
        some = codes[start : start + TOGETHER]
        seen |= loaded(some, places, out)
        for i in range(some.size):
            slot = slot_of(some[i], groups)
            place = places[slot]
            places[slot] = place + 1
            out[place] = first + start + i
    return seen
