"""Keys of groups: every line of their kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.doors.grouped import gather, order
from tests.doors.kernels import group_codes
from tests.doors.keys import codes_of, names_of, words_of
from tests.support.key_numbers import distinct

TEXTS = ["", "a", "12345678", "123456789", "1234567890abcdef", "é", "12345678x"]
ROWS = np.arange(90)


def groups(digest: Any) -> None:
    """Tables, texts, crowded tables, counting with few groups and with many."""
    keys = (ROWS * 7) % 13 - 2
    for names in (names_of(range(9)), names_of([5, -(2**60), 2, 3])):
        digest.update(codes_of(keys, names).tobytes())
    names = names_of(TEXTS[:-1])
    rows = [TEXTS[i % len(TEXTS)] for i in range(50)]
    digest.update(codes_of(rows, names).tobytes())
    digest.update(codes_of(np.array(rows), names).tobytes())
    for column in (rows, keys, keys * 2**50):
        ids, found = distinct(column, "by")
        digest.update(ids.tobytes() + repr(found.labels()).encode())
    crowded(digest)
    equal_hashes(digest)
    moving(digest)


def crowded(digest: Any) -> None:
    """Tables that are full up to the last slots, and keys that go around their ends."""
    secret, told = np.uint64(5), np.zeros(2, np.int64)
    keys = ROWS[:9].astype(np.uint64)
    table, out = np.zeros(2 * 16, np.uint64), np.empty(12, np.int64)
    group_codes.insert_keys(keys, keys, secret, table)
    group_codes.find_keys(ROWS[:12].astype(np.uint64), secret, table, out)
    digest.update(out.tobytes())
    table[:] = 0
    group_codes.collect_keys(keys, secret, table, told)
    assert told.tolist() == [8, 8]
    values = np.frombuffer("".join(TEXTS).encode() * 2, np.uint8)
    ends = np.cumsum([0, *(len(text.encode()) for text in TEXTS * 2)])
    for slots in (8, 64):
        told[:], table = 0, np.zeros(2 * slots, np.uint64)
        args = *words_of(values), ends[:-1].copy(), ends[1:].copy(), secret
        group_codes.collect_texts(*args, table, told)
        digest.update(told.tobytes())


def equal_hashes(digest: Any) -> None:
    """Two texts with one hash, as a table says that knows another text by it."""
    words, tail = words_of(np.frombuffer(b"one two three", np.uint8))
    offsets, secret = np.array([0, 4, 8, 13]), np.uint64(3)
    hashes, table = np.empty(3, np.uint64), np.zeros(16, np.uint64)
    group_codes.hash_texts(words, tail, offsets, secret, hashes)
    packed = np.array([7, 4, *words_of(np.frombuffer(b"one \0\0\0\0", np.uint8))[0]], np.uint64)
    others = np.arange(1, 5, dtype=np.uint64)  # with them, one slot of eight is empty
    group_codes.insert_keys(others, others, secret, table)
    group_codes.insert_keys(hashes[1:2].repeat(2), np.zeros(2, np.uint64), secret, table)
    group_codes.insert_keys(hashes[:1], np.zeros(1, np.uint64), secret, table)
    out, work = np.empty(3, np.int64), np.empty(group_codes.TOGETHER, np.uint64)
    group_codes.find_texts(words, tail, offsets, secret, table, packed, work, out)
    assert out.tolist() == [7, -1, -1]
    ends = np.array([4, 8]), np.array([8, 13])
    table[:] = 0  # a table in which the first text's hash stands for the second one
    group_codes.insert_keys(hashes[1:2], np.ones(1, np.uint64), secret, table)
    told = np.zeros(2, np.int64)
    group_codes.collect_texts(words, tail, *ends, secret, table, told)
    digest.update(told.tobytes() + out.tobytes())


def moving(digest: Any) -> None:
    """Few groups and many, rows of none, two ranges of rows."""
    for size in (3, 5_000):
        codes = (ROWS * 5) % 4 - 1
        for found in (*gather(codes, ROWS * 2, size), *order(codes, size)):
            digest.update(found.tobytes())
