"""Persons with more rows than may count, and the choice of rows that count: loops over persons.

Rows are ordered by person. A table holds the last person that was seen in each group, so that the
rows of a person need not be sorted by group.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_I64, NOTHING, OUT_I64, OUT_U64, helper, kernel

YES, NO = np.uint64(1), np.uint64(0)


@kernel(NOTHING(IN_I64, IN_I64, I64, I64, OUT_I64, OUT_I64))
def beyond_limits(
    codes: Any, offsets: Any, max_groups: Any, max_rows: Any, table: Any, out: Any
) -> None:
    """out[p] = 1 if person p is in too many groups or has too many rows in a group, else 0.

    table: two words for each group, all -1 at first.
    """
    for p in range(offsets.size - 1):
        groups, most = np.int64(0), np.int64(0)
        for i in range(offsets[p], offsets[p + 1]):
            at = 2 * codes[i]
            rows: Any = table[at + 1] + 1 if table[at] == p else 1
            table[at] = p
            table[at + 1] = rows
            groups += 1 if rows == 1 else 0
            most = max(most, rows)
        out[p] = 1 if groups > max_groups or most > max_rows else 0


@kernel(NOTHING(IN_I64, IN_I64, OUT_I64, OUT_I64, OUT_I64, OUT_I64, OUT_I64))
def number_pairs(
    codes: Any, offsets: Any, table: Any, pairs: Any, sizes: Any, groups: Any, first: Any
) -> None:
    """Number the pairs of a person and a group: first[p], ..., first[p + 1] - 1 for person p.

    pairs[i] = the pair of row i; sizes, groups: the number of rows of each pair, and its group.
    table: as in `beyond_limits`.
    """
    total = np.int64(0)
    for p in range(offsets.size - 1):
        first[p] = total
        for i in range(offsets[p], offsets[p + 1]):
            at = 2 * codes[i]
            if table[at] != p:
                table[at] = p
                table[at + 1] = total
                sizes[total] = 0
                groups[total] = codes[i]
                total += 1
            pair = table[at + 1]
            pairs[i] = pair
            sizes[pair] += 1
    first[offsets.size - 1] = total


@helper
def selected(words: Any, last: Any, k: Any) -> Any:
    """Return entry k of the sorted words[: last + 1]; the words are reordered (quickselect)."""
    low, high = np.int64(0), last
    while low < high:
        pivot = words[(low + high) // 2]  # digests are random, so any entry is a good pivot
        i, j = low, high
        while i <= j:
            while words[i] < pivot:
                i += 1
            while words[j] > pivot:
                j -= 1
            if i <= j:
                words[i], words[j] = words[j], words[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            low, high = k, k
    return words[k]


@kernel(NOTHING(OUT_U64, IN_I64, I64, OUT_U64))
def mark_smallest(words: Any, offsets: Any, most: Any, work: Any) -> None:
    """Replace the `most` smallest words of each segment by 1, and its other words by 0.

    Of equal words, earlier ones count as smaller. work: as many words as the longest segment has.
    """
    for s in range(offsets.size - 1):
        start, stop = offsets[s], offsets[s + 1]
        size = stop - start
        for i in range(size):
            work[i] = words[start + i]
        limit = selected(work, size - 1, min(most, size) - 1)
        left = most
        for i in range(start, stop):
            left -= 1 if words[i] < limit else 0
        for i in range(start, stop):
            if words[i] == limit and left > 0:
                left -= 1
                words[i] = YES
            else:
                words[i] = YES if words[i] < limit else NO
