"""Keys of groups: every line of their kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.doors.grouped import gather, order
from tests.doors.kernels import group_codes
from tests.doors.keys import codes_of, names_of
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
    texts(digest)
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


def texts(digest: Any) -> None:
    """Texts that are new, known and unknown, tables too small, and two texts with one hash."""
    words = np.frombuffer("".join(TEXTS).encode() * 2 + b"      ", np.uint64)
    ends = np.cumsum([0, *(len(text.encode()) for text in TEXTS * 2)])
    begins, ends, secret = ends[:-1].copy(), ends[1:].copy(), np.uint64(3)
    out, work = np.zeros(14, np.int64), np.empty(group_codes.BATCH_ROWS, np.uint64)

    def code(table: Any, packed: Any, *progress: int) -> None:
        told = np.array(progress)
        rows = words, np.uint64(7), begins, ends, secret
        group_codes.code_texts(*rows, table, packed, work, out, told)
        digest.update(told.tobytes() + out.tobytes())

    packed = np.zeros(60, np.uint64)
    for slots in (8, 512):
        table = np.zeros(2 * slots, np.uint64)
        code(table, packed, 0, 0, 0)
    code(table, packed[:23], 0, 7, 23)
    keys, places = table[::2][table[1::2] > 0], table[1::2][table[1::2] > 0] - np.uint64(1)
    crowded = np.zeros(64, np.uint64)
    group_codes.insert_keys(keys, places[::-1].copy(), secret, crowded)
    group_codes.insert_keys(keys[:3], places[:3], secret, crowded)
    code(crowded, packed[:23], 0, 7, 23)
    full = np.zeros(16, np.uint64)  # but for one slot
    group_codes.insert_keys(keys, places, secret, full)
    code(full, packed[:23], 0, 7, 23)


def moving(digest: Any) -> None:
    """Few groups and many, rows of none, two ranges of rows."""
    for size in (3, 5_000):
        codes = (ROWS * 5) % 4 - 1
        for found in (*gather(codes, ROWS * 2, size), *order(codes, size)):
            digest.update(found.tobytes())
