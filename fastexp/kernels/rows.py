"""Rows by group and by person: a stable counting sort, and the choice of rows within limits."""

from __future__ import annotations

import numpy as np

from .bits import philox
from .jit import helper, kernel, wide_product

PERSON = np.uint64(1 << 16)  # the tag of persons: no stream of rows (`draws/words.py`) has it
ROWS = np.uint64(1 << 63)  # flips a prefix: the words that choose rows, not groups


@helper
def slot_of(code, count):
    """Where a code is counted: -1, the largest word, comes after all others."""
    return min(np.uint64(code), count)


@kernel("none(in_i64, in_i64, out_i64, out_i64)")
def sort_by_code(codes, words, offsets, out):
    """out = words in the order of their codes; offsets[c] = where those of code c begin.

    Words of equal codes stay in order. offsets: zeros, three more than there are codes.
    """
    starts, counts, count = offsets[1:], offsets[2:], np.uint64(offsets.size - 3)
    for i in range(codes.size):
        counts[slot_of(codes[i], count)] += 1
    for c in range(offsets.size - 3):
        counts[c] += starts[c]
    for i in range(codes.size):
        slot = slot_of(codes[i], count)
        place = starts[slot]
        starts[slot] = place + 1
        out[np.uint64(place)] = words[i]


@helper
def is_next(need, left, at, prefix, key):
    """Whether the next of `left` items is among the `need` chosen ones (Knuth's Algorithm S)."""
    if need == 0 or need >= left:
        return need > 0
    word, _ = philox(np.uint64(at), prefix, key)
    return np.int64(wide_product(word, np.uint64(left))[0]) < need


@kernel("none(in_i64, in_i64, in_u64, in_u64, i64, i64, out_i64)")
def choose_rows(groups, offsets, names, secret, max_groups, max_rows, out):
    """out[i] = 1 if row i counts, else 0: in `max_groups` groups, `max_rows` rows in each.

    groups: of the rows of person p from offsets[p] on, sorted; rows of a group are sorted by value.
    The words of a person's stream are named by the secret and names[p].
    """
    for p in range(names.size):
        begin, end = offsets[p], offsets[p + 1]
        left = np.int64(0)
        for i in range(begin, end):
            left += 1 if i == begin or groups[i] != groups[i - 1] else 0
        key, prefix = philox(names[p], PERSON ^ secret[1], secret[0])
        need = max_groups
        while begin < end:
            stop = begin + 1
            while stop < end and groups[stop] == groups[begin]:
                stop += 1
            need_rows = np.int64(0)
            if is_next(need, left, left, prefix, key):
                need, need_rows = need - 1, max_rows
            left -= 1
            for i in range(begin, stop):
                counts = is_next(need_rows, stop - i, end - i, prefix ^ ROWS, key)
                need_rows -= 1 if counts else 0
                out[i] = 1 if counts else 0
            begin = stop
