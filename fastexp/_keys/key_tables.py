"""Tables of keys: what `kernels/groups/group_codes.py` looks keys up in, and how they grow.

Where keys hash to is decided by a secret word that each table takes from the operating system;
no code, order or answer depends on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from .._randomness.streams import os_word
from .._typing import AnyArray, IntArray, WordArray
from ..kernels.groups import group_codes

BLOCK = 1 << 16  # rows that are converted at once: scratch stays in the L2 cache
SPARSE = 4  # a direct table has at most so many entries for each name, and DENSE more
DENSE = 4096
SLOTS = 3  # of a table, for each name, at least: in fewer, more looks are needed
MOST = 1 << 31  # names whose codes a direct table's 32 bits hold
HIGHEST = (1 << 63) - 1


class IntegerTable(ABC):
    """The codes of integers."""

    def fill(self, values: AnyArray, out: IntArray) -> None:
        """out[i] = the code of values[i], an integer of any dtype."""
        if values.dtype == np.int64 and values.flags.c_contiguous and values.flags.aligned:
            self._fill(values, out)
            return
        for begin in range(0, values.size, BLOCK):
            block, part = values[begin : begin + BLOCK], out[begin : begin + BLOCK]
            self._fill(np.ascontiguousarray(block, dtype=np.int64), part)
            if block.dtype.kind == "u" and block.dtype.itemsize == 8:  # some may wrap around
                np.copyto(part, -1, where=block > np.uint64(HIGHEST))

    @abstractmethod
    def _fill(self, values: IntArray, out: IntArray) -> None:
        """The same, of contiguous int64."""


class DirectTable(IntegerTable):
    """By their place in a range, which begins at `low`; `codes` are packed, two in a word."""

    def __init__(self, low: int, codes: IntArray) -> None:
        self._low, self._codes = np.int64(low), codes

    def _fill(self, values: IntArray, out: IntArray) -> None:
        group_codes.direct_codes(values, self._low, self._codes, out)


class HashTable(IntegerTable):
    """By a hash with a secret word."""

    def __init__(self, secret: np.uint64, table: WordArray) -> None:
        self._secret, self._table = secret, table

    def _fill(self, values: IntArray, out: IntArray) -> None:
        group_codes.find_keys(values.view(np.uint64), self._secret, self._table, out)


def table_of(names: IntArray, codes: IntArray | None = None) -> IntegerTable:
    """The table of distinct integers and their codes; None: the code of each is its place."""
    codes = np.arange(names.size) if codes is None else codes
    low = int(names.min()) if names.size else 0
    span = int(names.max()) - low + 1 if names.size else 0
    if span > SPARSE * names.size + DENSE or int(codes.max(initial=0)) >= MOST:
        secret, table = filled(names.view(np.uint64), codes.view(np.uint64))
        return HashTable(secret, table)
    places: IntArray = np.full(span, -1, np.int64)
    places[names - low] = codes
    return by_place(places, low)


def by_place(codes: IntArray, low: int = 0) -> IntegerTable:
    """The table in which integer low + i has the code codes[i] < MOST, and others have -1."""
    narrow = np.full(codes.size + codes.size % 2, -1, np.int32)
    narrow[: codes.size] = codes
    return DirectTable(low, narrow.view(np.int64))


class TextTable:
    """The codes of distinct texts, name i being the bytes offsets[i], ..., offsets[i + 1] - 1."""

    def __init__(self, values: AnyArray, offsets: IntArray, codes: IntArray) -> None:
        lengths = np.diff(offsets)
        starts = np.zeros(codes.size + 1, np.int64)
        np.cumsum(group_codes.TEXT + (lengths + 7) // 8, out=starts[1:])
        packed = np.zeros(max(1, int(starts[-1])), np.uint64)
        packed[starts[:-1] + group_codes.CODE] = codes
        packed[starts[:-1] + group_codes.LENGTH] = lengths
        shift = 8 * (starts[:-1] + group_codes.TEXT) - offsets[:-1]
        place = np.arange(offsets[0], offsets[-1]) + np.repeat(shift, lengths)
        packed.view(np.uint8)[place] = values[offsets[0] : offsets[-1]]
        secret = np.uint64(os_word())
        hashes = np.empty(codes.size, np.uint64)
        words, last = words_of(values)
        group_codes.hash_texts(words, last, offsets, secret, hashes)
        table = filled(hashes, starts[:-1].view(np.uint64), secret)[1]
        self._secret, self._table, self._packed = secret, table, packed

    def fill(self, values: AnyArray, offsets: AnyArray, out: IntArray) -> None:
        """out[i] = the code of the bytes offsets[i], ..., offsets[i + 1] - 1."""
        words, last = words_of(values)
        work = np.empty(group_codes.TOGETHER, np.uint64)
        for begin in range(0, out.size, BLOCK):
            part = out[begin : begin + BLOCK]
            ends = np.ascontiguousarray(offsets[begin : begin + part.size + 1], dtype=np.int64)
            group_codes.find_texts(
                words, last, ends, self._secret, self._table, self._packed, work, part
            )


def words_of(values: AnyArray) -> tuple[WordArray, np.uint64]:
    """(whole words, the bytes behind them) of contiguous bytes, copied only if they lie askew."""
    whole = values.size // 8 * 8
    words = values[:whole].view(np.uint64)
    if not words.flags.aligned:
        words = values[:whole].copy().view(np.uint64)
    return words, np.uint64(int.from_bytes(values[whole:].tobytes(), "little"))


def filled(
    keys: WordArray, meanings: WordArray, secret: np.uint64 | None = None, least: int = 0
) -> tuple[np.uint64, WordArray]:
    """(secret, table) of keys and what they stand for."""
    secret = np.uint64(os_word()) if secret is None else secret
    slots = 1 << max(2, (max(SLOTS * keys.size, least) - 1).bit_length())
    table = np.zeros(2 * slots, np.uint64)
    group_codes.insert_keys(keys, meanings, secret, table)
    return secret, table


def first_rows(keys: WordArray) -> IntArray:
    """Rows of keys, one for each distinct key."""

    def collect(secret: np.uint64, table: WordArray, state: IntArray) -> None:
        group_codes.collect_keys(keys, secret, table, state)

    return _collected(keys.size, collect)


def first_texts(values: AnyArray, begins: IntArray, ends: IntArray) -> IntArray:
    """As `first_rows`, of the texts of bytes begins[i], ..., ends[i] - 1."""
    words, last = words_of(values)

    def collect(secret: np.uint64, table: WordArray, state: IntArray) -> None:
        group_codes.collect_texts(words, last, begins, ends, secret, table, state)

    return _collected(begins.size, collect)


def _collected(size: int, collect: Callable[[np.uint64, WordArray, IntArray], None]) -> IntArray:
    none = np.zeros(0, np.uint64)
    secret, table = filled(none, none, least=DENSE)
    state = np.zeros(2, np.int64)
    while True:
        collect(secret, table, state)
        taken = np.flatnonzero(table[1::2])
        rows = table[1::2][taken] - np.uint64(1)
        if state[group_codes.ROW] >= size:
            return rows.view(np.int64)
        _, table = filled(table[::2][taken], rows, secret, least=2 * table.size)
