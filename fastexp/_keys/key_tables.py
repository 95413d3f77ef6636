"""Lookup tables of keys for `kernels/groups/group_codes.py`, and their growth.

Each table takes a secret word for its hash from the operating system; no code, order or answer
depends on it.
"""

from __future__ import annotations

import numpy as np

from .._randomness.streams import os_word
from .._typing import AnyArray, IntArray, WordArray
from ..kernels.groups import group_codes

BLOCK = 1 << 16  # rows that are converted at once: scratch stays in the L2 cache
SPARSE = 4  # a direct table has at most 4 entries for each name, and DENSE more
DENSE = 4096
SLOTS = 3  # least slots of a table for each name: with fewer, a lookup takes more steps
NO_WORDS = np.zeros(0, np.uint64)
MAX_NAMES = 1 << 31  # names whose codes a direct table's 32 bits hold
RANGE = 4  # integers are marked in a range of at most 4 bytes for each row, and DENSE more


class Table:
    """The codes of distinct integers: by their place in a range, or by a hash with a secret word.

    A range begins at `low`; its codes are packed, two in a word.
    """

    def __init__(self, names: IntArray, codes: IntArray) -> None:
        low = int(names.min()) if names.size else 0
        span = int(names.max()) - low + 1 if names.size else 0
        self._is_range = span <= SPARSE * names.size + DENSE and codes.max(initial=0) < MAX_NAMES
        if self._is_range:
            narrow = np.full(span + span % 2, -1, np.int32)
            narrow[names - low] = codes
            self._low, self._codes = np.int64(low), narrow.view(np.int64)
        else:
            self._secret, self._table = _filled(names.view(np.uint64), codes.view(np.uint64))

    def find(self, values: AnyArray) -> IntArray:
        """Return the codes of values in a new array, as `fill` writes them."""
        out = np.empty(values.size, np.int64)
        self.fill(values, out)
        return out

    def fill(self, values: AnyArray, out: IntArray) -> None:
        """Set out[i] to the code of values[i], or -1; int64 must hold the values' dtype."""
        step = BLOCK
        if values.dtype == np.int64 and values.flags.c_contiguous and values.flags.aligned:
            step = max(1, values.size)
        for begin in range(0, values.size, step):
            block = np.ascontiguousarray(values[begin : begin + step], dtype=np.int64)
            part = out[begin : begin + step]
            if self._is_range:
                group_codes.direct_codes(block, self._low, self._codes, part)
            else:
                group_codes.find_keys(block.view(np.uint64), self._secret, self._table, part)


def distinct(values: IntArray) -> IntArray:
    """Return the distinct integers of an array, in order."""
    if values.size == 0:
        return values
    low, high = int(values.min()), int(values.max())
    if high - low <= RANGE * values.size + DENSE:
        occurs = np.zeros(high - low + 1, np.bool_)
        for begin in range(0, values.size, BLOCK):
            occurs[values[begin : begin + BLOCK] - low] = True
        return np.flatnonzero(occurs) + low
    keys, progress = values.view(np.uint64), np.zeros(2, np.int64)
    secret, table = _filled(NO_WORDS, NO_WORDS, least=DENSE)
    while True:
        group_codes.collect_keys(keys, secret, table, progress)
        if progress[group_codes.ROW] >= keys.size:
            return np.sort(values[_meanings(table).view(np.int64)])
        table = _grown(secret, table)


class TextTable:
    """Codes of texts, of bytes begins[i], ..., ends[i] - 1, in the order of first occurrence."""

    def __init__(self, values: AnyArray, begins: IntArray, ends: IntArray) -> None:
        size = begins.size
        least = min(DENSE, 4 * (size + group_codes.BATCH_ROWS))
        self._secret, self._table = _filled(NO_WORDS, NO_WORDS, least=least)
        words = group_codes.TEXT * size + int(((ends - begins + 7) // 8).sum())
        self._packed = np.zeros(max(1, words), np.uint64)
        self.codes, progress = np.empty(size, np.int64), np.zeros(3, np.int64)  # of these texts
        self._code(values, begins, ends, self.codes, progress)
        while progress[group_codes.ROW] < size:
            self._table = _grown(self._secret, self._table)
            self._code(values, begins, ends, self.codes, progress)
        used = max(1, progress[group_codes.USED])  # a kernel reads the first word in any case
        self._packed = self._packed[:used].copy()

    def texts(self) -> list[str]:
        """Return the texts by code; bytes that are not UTF-8 become lone surrogates."""
        starts = np.sort(_meanings(self._table)).view(np.int64)
        begins = 8 * (starts + group_codes.TEXT)
        ends = begins + self._packed[starts + group_codes.LENGTH].view(np.int64)
        held = self._packed.tobytes()
        pairs = zip(begins.tolist(), ends.tolist(), strict=True)
        return [str(held[a:b], "utf-8", "surrogateescape") for a, b in pairs]

    def find(self, values: AnyArray, begins: IntArray, ends: IntArray) -> IntArray:
        """Return the codes of texts, -1 for unknown ones."""
        out = np.empty(begins.size, np.int64)
        self._code(values, begins, ends, out, np.array([0, 0, self._packed.size]))
        return out

    def _code(
        self, values: AnyArray, begins: IntArray, ends: IntArray, out: IntArray, progress: IntArray
    ) -> None:
        whole = values.size // 8 * 8
        words = values[:whole].view(np.uint64)
        if not words.flags.aligned:
            words = values[:whole].copy().view(np.uint64)
        tail = np.uint64(int.from_bytes(values[whole:].tobytes(), "little"))
        work = np.empty(group_codes.BATCH_ROWS, np.uint64)
        group_codes.code_texts(
            words, tail, begins, ends, self._secret, self._table, self._packed, work, out, progress
        )


def _filled(
    keys: WordArray, meanings: WordArray, secret: np.uint64 | None = None, least: int = 0
) -> tuple[np.uint64, WordArray]:
    """Return (secret, table) of keys and their meanings."""
    secret = np.uint64(os_word()) if secret is None else secret
    slots = 1 << max(2, (max(SLOTS * keys.size, least) - 1).bit_length())
    table = np.zeros(2 * slots, np.uint64)
    group_codes.insert_keys(keys, meanings, secret, table)
    return secret, table


def _meanings(table: WordArray) -> WordArray:
    """Return the meanings of a table's keys."""
    return table[1::2][table[1::2] > 0] - np.uint64(1)


def _grown(secret: np.uint64, table: WordArray) -> WordArray:
    """Return the same keys in a table of four times as many slots."""
    keys = table[::2][table[1::2] > 0]
    return _filled(keys, _meanings(table), secret, least=2 * table.size)[1]
