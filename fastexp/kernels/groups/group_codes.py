"""Codes of rows by their keys, the names of a public list: hash tables with one lookup a row.

A table has two words for each slot: a key, and its value plus 1, or 0 in an empty slot. A key lies
in its home slot, or in a slot behind it and before the next empty one. The home is a function
of the key and of a secret word, so that nobody can choose keys that share a home. At least half of
the slots are empty.

Texts are bytes in little-endian words, and their 64-bit hashes are the keys of a table. A text
that is found by its hash is also compared byte by byte: equal hashes decide nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_I64, IN_U64, NOTHING, OUT_I64, OUT_U64, U64, helper, kernel

# The finalizer of MurmurHash3 (Appleby, 2011): each input bit affects each output bit.
MIX_1, MIX_2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
FAR = np.uint64(33)
ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
THREE, SEVEN, LAST_BIT = np.uint64(3), np.uint64(7), np.uint64(63)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = -1  # the code of a key that is not listed
# Rows that go through each step together. The first step only loads what the next step needs: no
# load waits for another load or a branch, so that many are on their way from memory at once.
BATCH_ROWS = 128
ROW, COUNT, USED = 0, 1, 2  # entries of `progress`: the next row, keys in the table, packed words
CODE, LENGTH, TEXT = 0, 1, 2  # words of a packed text: its code, its bytes, its first word


@helper
def mixed(x: Any) -> Any:
    """Return the hash of a word; different words have different hashes."""
    x = (x ^ (x >> FAR)) * MIX_1
    x = (x ^ (x >> FAR)) * MIX_2
    return x ^ (x >> FAR)


@helper
def last_slot(table: Any) -> Any:
    """Return the place of the last slot of a table, which is also the mask of all places."""
    return np.uint64(table.size) - TWO


@helper
def home(key: Any, secret: Any, last: Any) -> Any:
    """Return the place of the home slot of a key."""
    return (mixed(key ^ secret) << ONE) & last


@kernel(NOTHING(IN_I64, I64, IN_I64, OUT_I64))
def direct_codes(keys: Any, low: Any, pairs: Any, out: Any) -> None:
    """out[i] = entry keys[i] - low of a table of 32-bit codes, or NONE outside the table."""
    table = pairs.view(np.int32)
    for i in range(keys.size):
        place = np.uint64(keys[i]) - np.uint64(low)
        out[i] = table[place] if place < np.uint64(table.size) else NONE


@kernel(NOTHING(IN_U64, IN_U64, U64, OUT_U64))
def insert_keys(keys: Any, values: Any, secret: Any, table: Any) -> None:
    """Insert each keys[i] with the value values[i] into a table. Equal keys get separate slots."""
    last = last_slot(table)
    for i in range(keys.size):
        slot = home(keys[i], secret, last)
        while table[slot + ONE] != ZERO:
            slot = (slot + TWO) & last
        table[slot] = keys[i]
        table[slot + ONE] = values[i] + ONE


@kernel(U64(IN_U64, U64, IN_U64, OUT_I64))
def find_keys(keys: Any, secret: Any, table: Any, out: Any) -> Any:
    """out[i] = the value of keys[i], or NONE if the table does not have the key.

    The result has no meaning: without it, the compiler would drop the loads of the first step.
    """
    last, seen = last_slot(table), ZERO
    for start in range(0, keys.size, BATCH_ROWS):
        part, codes = keys[start : start + BATCH_ROWS], out[start : start + BATCH_ROWS]
        for i in range(part.size):
            seen |= table[home(part[i], secret, last)]
        for i in range(part.size):
            slot = home(part[i], secret, last)
            while table[slot] != part[i] and table[slot + ONE] != ZERO:
                slot = (slot + TWO) & last
            codes[i] = np.int64(table[slot + ONE] - ONE)  # an empty slot's 0 becomes NONE
    return seen


@kernel(NOTHING(IN_U64, U64, OUT_U64, OUT_I64))
def collect_keys(keys: Any, secret: Any, table: Any, progress: Any) -> None:
    """Insert the distinct keys from row progress[ROW] on; the value of each is its first row.

    Stops once half of the slots are taken. progress[ROW] becomes the next row, progress[COUNT]
    the number of keys.
    """
    last, room = last_slot(table), table.size // 4
    i, count = progress[ROW], progress[COUNT]
    while i < keys.size and count < room:
        key = keys[i]
        slot = home(key, secret, last)
        while table[slot] != key and table[slot + ONE] != ZERO:
            slot = (slot + TWO) & last
        if table[slot + ONE] == ZERO:
            table[slot] = key
            table[slot + ONE] = np.uint64(i) + ONE
            count += 1
        i += 1
    progress[ROW], progress[COUNT] = i, count


@helper
def word_at(words: Any, tail: Any, at: Any, end: Any) -> Any:
    """Return bytes at, at + 1, ... of a buffer as a word, with 0 from byte `end` > at on.

    tail: the bytes behind the last whole word.
    """
    i, whole = at >> 3, words.size
    low = words[i] if i < whole else tail
    high = words[i + 1] if i + 1 < whole else tail
    shift = (np.uint64(at) & SEVEN) << THREE
    word = (low >> shift) | ((high << ONE) << (LAST_BIT - shift))
    return word & (ALL >> np.uint64(64 - 8 * min(end - at, 8)))


@helper
def text_hash(words: Any, tail: Any, begin: Any, end: Any, secret: Any) -> Any:
    """Return a hash of the bytes begin, ..., end - 1 and of their number."""
    h = mixed(secret + np.uint64(end - begin))
    for at in range(begin, end, 8):
        h = mixed(h ^ word_at(words, tail, at, end))
    return h


@helper
def same_text(words: Any, tail: Any, begin: Any, end: Any, packed: Any, at: Any) -> Any:
    """Whether the bytes begin, ..., end - 1 are those of the packed text at `at`."""
    same = packed[at + LENGTH] == np.uint64(end - begin)
    at += TEXT
    while same and begin < end:
        same = word_at(words, tail, begin, end) == packed[at]
        begin += 8
        at += 1
    return same


@kernel(U64(IN_U64, U64, IN_I64, IN_I64, U64, OUT_U64, OUT_U64, OUT_U64, OUT_I64, OUT_I64))
def code_texts(
    words: Any, tail: Any, begins: Any, ends: Any, secret: Any, table: Any, packed: Any,
    work: Any, out: Any, progress: Any,
) -> Any:  # fmt: skip
    """out[i] = the code of the bytes begins[i], ..., ends[i] - 1, from row progress[ROW] on.

    The table maps hashes to places in `packed`. A text that is not there is added behind the first
    progress[USED] words of `packed` and gets the next code; if these are all words of `packed`, it
    gets NONE. Stops once half of the slots could be taken. work: BATCH_ROWS words. The result has
    no meaning, as in `find_keys`.
    """
    last, room, seen = last_slot(table), table.size // 4, ZERO
    start, count, used = progress[ROW], progress[COUNT], progress[USED]
    fixed = used == packed.size
    while start < out.size and (fixed or count + BATCH_ROWS <= room):
        codes = out[start : start + BATCH_ROWS]
        firsts, lasts = begins[start : start + BATCH_ROWS], ends[start : start + BATCH_ROWS]
        for i in range(codes.size):
            work[i] = text_hash(words, tail, firsts[i], lasts[i], secret)
        for i in range(codes.size):
            seen |= table[home(work[i], secret, last)]
        for i in range(codes.size):
            slot = home(work[i], secret, last)
            while table[slot] != work[i] and table[slot + ONE] != ZERO:
                slot = (slot + TWO) & last
            codes[i] = np.int64(slot)
        for i in range(codes.size):
            seen |= packed[max(table[np.uint64(codes[i]) + ONE], ONE) - ONE]
        for i in range(codes.size):
            begin, end, slot = firsts[i], lasts[i], np.uint64(codes[i])
            code = np.int64(NONE)
            while table[slot + ONE] != ZERO:
                at = np.int64(table[slot + ONE] - ONE)
                if table[slot] == work[i] and same_text(words, tail, begin, end, packed, at):
                    code = np.int64(packed[at + CODE])
                    break
                slot = (slot + TWO) & last
            if code < 0 and not fixed:
                code = np.int64(count)
                table[slot], table[slot + ONE] = work[i], np.uint64(used) + ONE
                packed[used + CODE], packed[used + LENGTH] = np.uint64(code), np.uint64(end - begin)
                used, count = used + TEXT, count + 1
                for place in range(begin, end, 8):
                    packed[used] = word_at(words, tail, place, end)
                    used += 1
            codes[i] = code
        start += codes.size
    progress[ROW], progress[COUNT], progress[USED] = start, count, used
    return seen
