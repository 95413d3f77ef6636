"""Names of groups: keys of one column, or tuples of keys of several columns."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from .._randomness.streams import GROUP, TEXT_BIT, UINT64, text_name
from .._typing import AnyArray, IntArray, WordArray
from ..kernels.groups.blake2b import WORK, digest_segments
from .key_tables import Table, TextTable
from .keys import TICKS, KeyKind, Unit, in_unit

MAX_NUMBER = 1 << 62  # bound of the numbers that combine the places in several columns
PERSON = b"fastexp.name"
# A domain of BLAKE2b without a person: it is given as a public key of 32 bytes.
TUPLE_DOMAIN = np.frombuffer(b"fastexp.names".ljust(32, b"\0"), UINT64)
NAME_WORDS = 4
# The first word of names that are not text. Rows have only their number; all records together
# are one group.
FIRST_WORD = {"integers": 1, "rows": 2, "whole": 3, "booleans": 4, "dates": 5, "timestamps": 6}


class KeyColumn(NamedTuple):
    """Keys in the form of a column of a frame.

    `values` is a list of str, or an array of int64, bool, datetime64[D] or datetime64 of a unit.
    """

    kind: KeyKind
    values: AnyArray | list[str]


class KeyNames:
    """Distinct keys in an order: the public list of groups, or the keys that rows have.

    The kind "rows" has numbers of rows without a name; "whole" is all records together. Keys are
    texts, or the numbers of other keys (see `_keys/keys.py`); timestamps have a unit.
    """

    def __init__(
        self,
        kind: KeyKind | Literal["rows", "whole"],
        keys: IntArray | Iterable[str],
        unit: Unit = "",
    ) -> None:
        self.kind: KeyKind | Literal["rows", "whole"] = kind
        self.unit: Unit = unit
        self.texts: tuple[str, ...] = ()
        self.numbers: IntArray = np.zeros(0, np.int64)
        if kind == "text":
            self.texts = tuple(keys)
        else:
            self.numbers = np.asarray(keys, np.int64).view()
            self.numbers.setflags(write=False)
        self.size: int = len(self.texts) if kind == "text" else self.numbers.size
        self._tables: dict[Unit, Table] = {}

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
        """Return the keys in order: int, str, bool, date, or numpy.datetime64 of the list's unit.

        Dates outside the years 1 to 9999, which Python's date cannot hold, are numpy.datetime64.
        """
        values = self._values()
        if isinstance(values, list) or self.kind == "timestamps":
            return list(values)
        labels: list[Any] = values.tolist()
        if self.kind == "dates":
            return [x if isinstance(x, dt.date) else np.datetime64(x, "D") for x in labels]
        return labels

    def columns(self) -> list[KeyColumn]:
        """Return the keys as the one column of a frame."""
        return [KeyColumn(cast("KeyKind", self.kind), self._values())]

    def _values(self) -> AnyArray | list[str]:
        if self.kind == "text":
            return list(self.texts)
        if self.kind == "booleans":
            return self.numbers.astype(np.bool_)
        if self.kind == "dates":
            return self.numbers.view("M8[D]")
        return self.numbers.view(f"M8[{self.unit}]") if self.unit else self.numbers

    def taken(self, index: IntArray) -> KeyNames:
        """Return the keys at these places, in this order."""
        if self.kind == "text":
            return KeyNames(self.kind, [self.texts[i] for i in index.tolist()])
        return KeyNames(self.kind, self.numbers[index], self.unit)

    def name_words(self) -> WordArray:
        """Return the words of keys in digests: four each, different for different keys.

        A text has the words, little end first, of its BLAKE2b-256 under the domain `fastexp.name`.
        Other keys have a word for the kind, the number modulo 2**64, 0, 0. Timestamps of any unit
        have a word for the kind, whole seconds, nanoseconds, 0.
        """
        if self.kind == "text":
            digests = [
                hashlib.blake2b(text.encode(), digest_size=32, person=PERSON).digest()
                for text in self.texts
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
        """Return (tags, names) of the keys' streams of random words, each of shape (size,)."""
        if self.kind in ("integers", "rows", "whole"):
            return np.full(self.size, GROUP, np.uint64), self.numbers.view(np.uint64)
        if self.kind != "text":
            return streams_of(joined_words([self.name_words()]))
        pairs = np.array([text_name(text, GROUP) for text in self.texts], np.uint64)
        pairs = pairs.reshape(self.size, 2)
        return pairs[:, 0].copy(), pairs[:, 1].copy()

    @cached_property
    def place(self) -> dict[str, int]:
        """The place of each text."""
        return {text: i for i, text in enumerate(self.texts)}

    @cached_property
    def text_table(self) -> TextTable:
        """The places of the texts by their bytes."""
        parts = [text.encode() for text in self.texts]
        ends = np.cumsum([0, *map(len, parts)])
        return TextTable(np.frombuffer(b"".join(parts), np.uint8), ends[:-1], ends[1:])

    def table(self, unit: Unit) -> Table:
        """Return the table of the numbers' places, for a column of this unit."""
        if unit not in self._tables:
            numbers, places = self.numbers, np.arange(self.size)
            if self.unit and unit:
                numbers, fit = in_unit(numbers, self.unit, unit)
                places = places if fit is None else np.flatnonzero(fit)
            self._tables[unit] = Table(numbers, places)
        return self._tables[unit]


class HashedNames(KeyNames):
    """Names of which only the words are known, as workers of an engine send them."""

    def __init__(self, words: WordArray) -> None:
        super().__init__("rows", np.arange(len(words)))
        self._words = words

    def taken(self, index: IntArray) -> HashedNames:
        """Return the names at these places, in this order."""
        return HashedNames(self._words[index])

    def name_words(self) -> WordArray:
        """Return the words, four of each name."""
        return self._words


class TupleNames:
    """Distinct tuples of keys in an order.

    `keys` has the distinct keys of each column, in any order, possibly ones that no tuple has;
    `index` has the place there of each tuple's key.
    """

    keys: tuple[KeyNames, ...]
    index: tuple[IntArray, ...]

    def __init__(self, keys: Sequence[KeyNames], index: Sequence[IntArray]) -> None:
        self.keys, self.index = tuple(keys), tuple(index)
        self.size: int = self.index[0].size

    def __reduce__(self) -> tuple[Any, ...]:  # without tables and their secrets
        return TupleNames, (self.keys, self.index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TupleNames):
            return NotImplemented
        return self._chosen == other._chosen

    def __hash__(self) -> int:
        return hash(self._chosen)

    def __repr__(self) -> str:
        return f"<names of {', '.join(self.kinds)}>"  # names from the data are private

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each column of a name."""
        return tuple(keys.kind for keys in self.keys)

    @property
    def _chosen(self) -> tuple[KeyNames, ...]:
        """Each column's keys in the order of the tuples; they are not distinct."""
        return tuple(keys.taken(index) for keys, index in zip(self.keys, self.index, strict=True))

    def labels(self) -> list[tuple[Any, ...]]:
        """Return the tuples, with labels as in `KeyNames`."""
        return list(zip(*(keys.labels() for keys in self._chosen), strict=True))

    def columns(self) -> list[KeyColumn]:
        """Return the tuples as the columns of a frame."""
        return [keys.columns()[0] for keys in self._chosen]

    def taken(self, index: IntArray) -> TupleNames:
        """Return the tuples at these places, in this order."""
        return TupleNames(self.keys, [places[index] for places in self.index])

    def name_words(self) -> WordArray:
        """Return the words of tuples in digests, as in `KeyNames`: digests of their keys' words."""
        words = [
            keys.name_words()[index] for keys, index in zip(self.keys, self.index, strict=True)
        ]
        return joined_words(words)

    def streams(self) -> tuple[WordArray, WordArray]:
        """Return (tags, names) of the tuples' streams of random words, each of shape (size,)."""
        return streams_of(self.name_words())

    @cached_property
    def _together(self) -> tuple[IntArray, list[IntArray | None]]:
        """(a number for each tuple, distinct numbers of the columns before each but the first).

        The digits of the number are the places of the tuple's keys. -1 is a digit, too, so rows
        with an unknown key have numbers of their own. If the number would exceed MAX_NUMBER, its
        place among the distinct numbers so far replaces it.
        """
        number, most = self.index[0], self.keys[0].size + 1
        steps: list[IntArray | None] = []
        for keys, index in zip(self.keys[1:], self.index[1:], strict=True):
            distinct = None
            if most * (keys.size + 1) > MAX_NUMBER:
                distinct, number = np.unique(number, return_inverse=True)
                most = distinct.size + 1
            steps.append(distinct)
            number = number * (keys.size + 1) + index
            most *= keys.size + 1
        return number, steps

    @cached_property
    def _tables(self) -> tuple[list[Table | None], Table]:
        numbers, steps = self._together
        tables = [None if step is None else Table(step, np.arange(step.size)) for step in steps]
        return tables, Table(numbers, np.arange(numbers.size))

    def twice(self) -> int | None:
        """Return the place of a tuple that also stands before, None if there is none."""
        numbers, _ = self._together
        _, first = np.unique(numbers, return_index=True)
        again = np.setdiff1d(np.arange(numbers.size), first)
        return int(again[0]) if again.size else None

    def places(self, columns: Iterable[IntArray]) -> IntArray:
        """Return the place of each row's tuple, -1 if there is none.

        `columns` has the places of the rows' keys in each column's `keys`.
        """
        tables, last = self._tables
        number, *rest = columns
        for keys, table, digits in zip(self.keys[1:], tables, rest, strict=True):
            number = (number if table is None else table.find(number)) * (keys.size + 1)
            number += digits
        return last.find(number)


Names: TypeAlias = KeyNames | TupleNames


def joined_words(columns: Sequence[WordArray]) -> WordArray:
    """Return the words of names of several parts: a digest of their number and their words.

    BLAKE2b-256 under a domain of its own.
    """
    size = len(columns[0])
    message = np.hstack([np.full((size, 1), len(columns), np.uint64), *columns])
    offsets = np.arange(size + 1) * message.shape[1]
    out = np.empty(NAME_WORDS * size, np.uint64)
    flat = message.reshape(-1).view(np.int64)
    digest_segments(flat, offsets, TUPLE_DOMAIN, out, np.empty(WORK, np.uint64))
    return out.reshape(size, NAME_WORDS)


def streams_of(words: WordArray) -> tuple[WordArray, WordArray]:
    """Return (tags, names) of streams from digests; as for texts, no integer has such a tag."""
    return words[:, 1] | np.uint64(TEXT_BIT), words[:, 0].copy()
