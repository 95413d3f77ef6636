"""Who has more rows than may count, and which of them do: loops over persons.

Rows lie person by person. A table of groups holds the last person that was seen in each, so
that no rows are sorted.
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
    """out[p] = 1 where person p is in too many groups, or has too many rows in one, else 0.

    table: two words a group, all -1.
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
    """Number the pairs of a person and a group; person p's are first[p], ..., first[p + 1] - 1.

    pairs[i] = row i's pair; sizes, groups: how many rows a pair has, and its group. table: as
    above.
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
    """Entry k of words[: last + 1] in increasing order; they are left in another order."""
    low, high = np.int64(0), last
    while low < high:
        pivot = words[(low + high) // 2]  # digests are random, so any entry is a good one
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
    """Put 1 for the `most` smallest words of each segment, and 0 for its other ones.

    Of equal words the earlier ones are smaller. work: as many words as a segment may have.
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
