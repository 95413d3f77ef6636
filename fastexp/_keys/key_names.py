"""Distinct keys of one column in an order, and the place of a row's key there."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from .._randomness.streams import GROUP, TEXT_BIT, UINT64, text_name
from .._typing import AnyArray, IntArray, WordArray
from ..kernels.groups.blake2b import WORK, digest_segments
from . import key_tables
from .key_columns import bytes_of
from .key_rows import (
    TICKS,
    Coded,
    Integers,
    Kind,
    Objects,
    Rows,
    Text,
    Unit,
    Wide,
    in_unit,
    kind_of,
)

PERSON = b"fastexp.name"
# A domain of BLAKE2b without a person: as a key of 32 bytes, which is public.
SEVERAL = np.frombuffer(b"fastexp.names".ljust(32, b"\0"), UINT64)
NAME_WORDS = 4
# The first word of names that are not text. Rows have only their number; all records together
# are one group.
FIRST_WORD = {"integers": 1, "rows": 2, "whole": 3, "booleans": 4, "dates": 5, "timestamps": 6}
CHARACTER = 4  # bytes of one, in NumPy's arrays of texts


class KeyColumn(NamedTuple):
    """Keys as a column of a frame wants them.

    values: a list of str, or an array of int64, bool, datetime64[D] or datetime64 of a unit.
    """

    kind: Kind
    values: AnyArray | list[str]


class KeyNames:
    """Distinct keys in an order: the public list of groups, or the keys that rows have.

    Of the kind "rows" they are numbers of rows without a name; "whole": all records together. Keys
    are texts, or the numbers of other keys (see `_keys/key_rows.py`); timestamps have a unit.
    """

    def __init__(
        self,
        kind: Kind | Literal["rows", "whole"],
        keys: IntArray | Sequence[str],
        unit: Unit = "",
    ) -> None:
        self.kind: Kind | Literal["rows", "whole"] = kind
        self.unit: Unit = unit
        self.texts: tuple[str, ...] = ()
        self.numbers: IntArray = np.zeros(0, np.int64)
        if kind == "text":
            self.texts = tuple(keys)
        else:
            self.numbers = np.asarray(keys, np.int64).view()
            self.numbers.setflags(write=False)
        self.size: int = len(self.texts) if kind == "text" else self.numbers.size
        self._wide: dict[int, key_tables.TextTable] = {}
        self._tables: dict[Unit, key_tables.IntegerTable] = {}
        self._places: dict[Unit, dict[int, int]] = {}

    def __reduce__(self) -> tuple[Any, ...]:  # without tables and their secrets
        keys = self.texts if self.kind == "text" else self.numbers
        return KeyNames, (self.kind, keys, self.unit)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyNames):
            return NotImplemented
        same = (self.kind, self.unit, self.texts) == (other.kind, other.unit, other.texts)
        return same and np.array_equal(self.numbers, other.numbers)

    def __hash__(self) -> int:
        return hash((self.kind, self.unit, self.texts, self.numbers.tobytes()))

    def __repr__(self) -> str:
        return f"<names of {self.kind}>"  # names of persons, or taken from the data, are private

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each column of a name."""
        return (self.kind,)

    def labels(self) -> list[Any]:
        """The keys in order: int, str, bool, date, or numpy.datetime64 of the list's unit.

        Dates beyond the years 1 to 9999, which Python's date cannot hold, are numpy.datetime64.
        """
        _, values = self.columns()[0]
        if isinstance(values, list):
            return list(values)
        if self.kind == "timestamps":
            return list(values)
        labels: list[Any] = values.tolist()
        if self.kind == "dates":
            return [x if isinstance(x, dt.date) else np.datetime64(x, "D") for x in labels]
        return labels

    def columns(self) -> list[KeyColumn]:
        """The keys as the one column of a frame."""
        return [KeyColumn(cast("Kind", self.kind), self._values())]

    def _values(self) -> AnyArray | list[str]:
        if self.kind == "text":
            return list(self.texts)
        if self.kind == "booleans":
            return self.numbers.astype(np.bool_)
        if self.kind == "dates":
            return self.numbers.view("M8[D]")
        return self.numbers.view(f"M8[{self.unit}]") if self.unit else self.numbers

    @cached_property
    def utf8(self) -> tuple[AnyArray, IntArray]:
        """(bytes, offsets) of the texts in UTF-8."""
        parts = [text.encode() for text in self.texts]
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
        return np.frombuffer(b"".join(parts), np.uint8), offsets

    def name_words(self) -> WordArray:
        """What keys are called in digests: four words each, different for different keys.

        For texts: the words, little end first, of their BLAKE2b-256 under the domain
        `fastexp.name`. For all others: a word for the kind, the number modulo 2**64, 0, 0; but for
        timestamps whole seconds and nanoseconds, in any unit.
        """
        if self.kind == "text":
            values, offsets = self.utf8
            data, ends = values.tobytes(), offsets.tolist()
            digests = [
                hashlib.blake2b(data[a:b], digest_size=32, person=PERSON).digest()
                for a, b in pairwise(ends)
            ]
            return np.frombuffer(b"".join(digests), UINT64).reshape(self.size, NAME_WORDS)
        words = np.zeros((self.size, NAME_WORDS), np.uint64)
        words[:, 0], words[:, 1] = FIRST_WORD[self.kind], self.numbers.view(np.uint64)
        if self.kind == "timestamps":
            ticks = TICKS[self.unit]
            seconds = self.numbers // ticks
            words[:, 1] = seconds.view(np.uint64)
            words[:, 2] = (self.numbers - seconds * ticks) * (TICKS["ns"] // ticks)
        return words

    def streams(self) -> tuple[WordArray, WordArray]:
        """(tags, names) of the keys' streams of random words, each of shape (size,)."""
        if self.kind in ("integers", "rows", "whole"):
            return np.full(self.size, GROUP, np.uint64), self.numbers.view(np.uint64)
        if self.kind != "text":
            return streams_of(joined_words([self.name_words()]))
        pairs = np.array([text_name(text, GROUP) for text in self.texts], np.uint64)
        pairs = pairs.reshape(self.size, 2)
        return pairs[:, 0].copy(), pairs[:, 1].copy()

    def _in(self, unit: Unit) -> tuple[IntArray, IntArray]:
        """(numbers, places) of the keys that a column of this unit can hold."""
        if not (self.unit and unit):
            return self.numbers, np.arange(self.size)
        numbers, fit = in_unit(self.numbers, self.unit, unit)
        return numbers, np.arange(self.size) if fit is None else np.flatnonzero(fit)

    def _table(self, unit: Unit) -> key_tables.IntegerTable:
        if unit not in self._tables:
            self._tables[unit] = key_tables.table_of(*self._in(unit))
        return self._tables[unit]

    def _place_of(self, unit: Unit) -> dict[int, int]:
        if unit not in self._places:
            numbers, places = self._in(unit)
            self._places[unit] = dict(zip(numbers.tolist(), places.tolist(), strict=True))
        return self._places[unit]

    @cached_property
    def _text_table(self) -> key_tables.TextTable:
        values, offsets = self.utf8
        return key_tables.TextTable(values, offsets, np.arange(self.size))

    def _wide_table(self, width: int) -> key_tables.TextTable:
        """The texts as NumPy holds them in arrays of `width` characters, where it can."""
        if width not in self._wide:
            texts = self.texts
            fits = [i for i, t in enumerate(texts) if len(t) <= width and t[-1:] != "\0"]
            values = bytes_of(np.array([texts[i] for i in fits], f"<U{width}"))
            offsets = np.arange(len(fits) + 1) * (width * CHARACTER)
            self._wide[width] = key_tables.TextTable(values, offsets, np.array(fits, np.int64))
        return self._wide[width]

    def fill(self, rows: Rows, out: IntArray) -> None:
        """out[i] = the place of row i's key, -1 if there is none."""
        if isinstance(rows, Coded):
            codes = np.concatenate([self.codes(part) for part in rows.child])
            key_tables.by_place(codes).fill(rows.values, out)
        elif kind_of(rows) != self.kind:
            out[:] = -1  # an empty list has no kind
        elif isinstance(rows, Objects):
            places = self._place_of(rows.unit)
            out[:] = np.fromiter((places.get(x, -1) for x in rows.values), np.int64, rows.length)
        elif isinstance(rows, Text):
            self._text_table.fill(rows.values, rows.offsets, out)
        elif isinstance(rows, Wide):
            width = rows.values.dtype.itemsize
            offsets = np.arange(rows.length + 1) * width
            self._wide_table(width // CHARACTER).fill(bytes_of(rows.values), offsets, out)
        elif isinstance(rows, Integers):
            self._table(rows.unit).fill(rows.values, out)
        if rows.valid is not None:
            np.copyto(out, -1, where=~rows.valid)

    def codes(self, rows: Rows) -> IntArray:
        """The same as `fill`, in a new array."""
        out = np.empty(rows.length, np.int64)
        self.fill(rows, out)
        return out


def joined_words(columns: Sequence[WordArray]) -> WordArray:
    """The words of names of several parts: a digest of their number and of the parts' words.

    BLAKE2b-256 under a domain of its own.
    """
    size = len(columns[0])
    message = np.empty((size, 1 + NAME_WORDS * len(columns)), np.uint64)
    message[:, 0] = len(columns)
    for i, words in enumerate(columns):
        message[:, 1 + NAME_WORDS * i : 1 + NAME_WORDS * (i + 1)] = words
    offsets = np.arange(size + 1) * message.shape[1]
    out = np.empty(NAME_WORDS * size, np.uint64)
    flat = message.reshape(-1).view(np.int64)
    digest_segments(flat, offsets, SEVERAL, out, np.empty(WORK, np.uint64))
    return out.reshape(size, NAME_WORDS)


def streams_of(words: WordArray) -> tuple[WordArray, WordArray]:
    """(tags, names) of streams from digests: as of texts, no integer's name has such a tag."""
    return words[:, 1] | np.uint64(TEXT_BIT), words[:, 0].copy()
