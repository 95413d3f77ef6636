"""The rows of one pass: read once, numbered once for all answers.

Rows come in parts. Of each part those of listed groups are held: their groups by number, and
their records as each mechanism reads them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._keys import key_columns
from .._keys.group_keys import codes_of, names_of_columns, numbered
from .._keys.group_names import Names
from .._keys.key_names import KeyNames
from .._keys.key_rows import Coded, Integers, Objects, Text, Wide
from .._keys.key_rows import Rows as Keys
from .._typing import AnyArray, IntArray, WordArray
from ..errors import ParameterError, ParameterTypeError
from ..grouped.counted import person_keys, present

if TYPE_CHECKING:
    from .answers import Answer
    from .call import Way
    from .columns import Uses

LENGTHS = "columns must have one entry for each row"
ROUNDED = (
    "records must not be integers beyond 2**53 together with other numbers: float64 would round "
    "them"
)
EXACT = 1 << 53  # float64 has all integers up to it
ROW, VALUE, PERSON = 24, 9, 80  # bytes of a row, a value and a person, while answers are drawn


class Part(NamedTuple):
    """Some rows.

    Attributes
    ----------
    codes : ndarray of int64
        The group of each row; -1 for none.
    records : list of ndarray
        The values of each reading.
    missing : list of (ndarray of bool or None)
        Which rows each reading leaves out; None: none.
    persons : list of Keys or None
        The persons' column, in chunks.
    """

    codes: IntArray
    records: list[AnyArray]
    missing: list[AnyArray | None]
    persons: list[Keys] | None

    @property
    def bytes(self) -> int:
        """What these rows take until their answers are drawn."""
        persons = 0 if self.persons is None else PERSON + sum(map(_text_bytes, self.persons))
        return self.codes.size * (ROW + VALUE * len(self.records)) + persons * self.codes.size

    def of_groups(self) -> Part:
        """The rows of listed groups."""
        chosen = self.codes >= 0
        if chosen.all():
            return self
        records = [values[chosen] for values in self.records]
        missing = [None if gaps is None else gaps[chosen] for gaps in self.missing]
        persons = None if self.persons is None else _some(self.persons, chosen)
        return Part(self.codes[chosen], records, missing, persons)

    def apart(self) -> Part:
        """The same rows, whose columns do not keep all columns of a stream in memory."""
        records = [values if values.base is None else values.copy() for values in self.records]
        persons = None if self.persons is None else [_apart(rows) for rows in self.persons]
        return self._replace(records=records, persons=persons)


class Reader:
    """How columns become parts: answers share what they read alike.

    Parameters
    ----------
    way, uses
        The call, and its columns.
    """

    def __init__(self, way: Way, uses: Uses) -> None:
        self._uses = uses
        first: dict[Any, Answer] = {}
        readings = []
        for answer, place in zip(way.answers, uses.records, strict=True):
            readings.append((place, answer.nan, answer.mechanism._read_as(answer.nan)))
            first.setdefault(readings[-1], answer)
        self.of = [list(first).index(reading) for reading in readings]  # of each answer
        self._first = [(reading[0], answer) for reading, answer in first.items()]
        self.count = len(first)
        self.groups = _groups_of(way)

    def part(self, columns: Sequence[Any]) -> Part:
        """All rows of some columns."""
        values = [answer.mechanism._read(columns[i], answer.nan) for i, answer in self._first]
        size = values[0][0].size
        codes = self.groups.codes([columns[i] for i in self._uses.by], size)
        records: list[AnyArray] = []
        missing: list[AnyArray | None] = []
        for (_, answer), (read, gaps) in zip(self._first, values, strict=True):
            if read.size != size or codes.size != size:
                raise ParameterError(LENGTHS)
            there, whole = present(codes, read, gaps, answer.nan)
            records.append(whole)
            missing.append(None if there is codes else (codes >= 0) & (there < 0))
        return Part(codes, records, missing, self._persons(columns, size))

    def none(self) -> Part:
        """No rows."""
        persons: list[Keys] | None = None if self._uses.person is None else []
        records: list[AnyArray] = [np.zeros(0, np.int64)] * self.count  # of any mechanism
        return Part(np.zeros(0, np.int64), records, [None] * self.count, persons)

    def _persons(self, columns: Sequence[Any], size: int) -> list[Keys] | None:
        if self._uses.person is None:
            return None
        chunks = person_keys(columns[self._uses.person])
        if sum(rows.length for rows in chunks) != size:
            raise ParameterError(LENGTHS)
        return chunks


def persons_of(chunks: list[Keys]) -> tuple[IntArray, WordArray]:
    """The number of each row's person, and what persons are called in digests."""
    numbers, people = numbered([chunks], "person")
    return numbers, people.name_words()


class Whole:
    """No columns of groups: all rows are one group."""

    def codes(self, _keys: list[Any], size: int) -> IntArray:
        """All of them count."""
        return np.zeros(size, np.int64)

    def settled(self) -> tuple[Names, None]:
        """The group, which has no name."""
        return KeyNames("whole", np.zeros(1, np.int64)), None


class Listed:
    """A public list of groups."""

    def __init__(self, names: Names, threads: int) -> None:
        self._names, self._threads = names, threads

    def codes(self, keys: list[Any], _size: int) -> IntArray:
        """Each row's place in the list, -1 if it is not there."""
        return codes_of(keys, self._names, threads=self._threads)

    def settled(self) -> tuple[Names, None]:
        """The list."""
        return self._names, None


class FromData:
    """Groups of the data, numbered as they come."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._width = 1
        self._none: Names | None = None  # of the kinds that the columns have without a row

    def codes(self, keys: list[Any], _size: int) -> IntArray:
        """Each row's group by number, -1 if its key is missing."""
        self._width = len(keys)
        codes, names = numbered([key_columns.read(column, "by") for column in keys], "by")
        self._none = names if names.size == 0 else self._none
        numbers = self._numbers
        places = [numbers.setdefault(label, len(numbers)) for label in names.labels()]
        return np.append(np.array(places, np.int64), -1)[codes]

    def settled(self) -> tuple[Names, IntArray]:
        """The groups in increasing order, and which number each of them had."""
        labels = list(self._numbers)
        if not labels and self._none is not None:
            return self._none, np.zeros(0, np.int64)
        columns: list[Any] = [labels] if self._width == 1 else list(zip(*labels, strict=True))
        lists = [list(column) for column in columns or [()] * self._width]
        sortable = list(map(_sortable, lists))
        rows = sortable[0] if self._width == 1 else list(zip(*sortable, strict=True))
        order = sorted(range(len(labels)), key=rows.__getitem__)
        columns = [[column[i] for i in order] for column in lists]
        return names_of_columns(columns, "by"), np.array(order, np.int64)


def _sortable(keys: list[Any]) -> list[Any]:
    """What is in the order of the keys: of dates that Python's has not all are numbers."""
    if any(isinstance(key, np.datetime64) for key in keys) and dt.date in set(map(type, keys)):
        days: list[Any] = np.array(keys, "M8[D]").view(np.int64).tolist()
        return days
    return keys


Groups: TypeAlias = Whole | Listed | FromData


def _groups_of(way: Way) -> Groups:
    query = way.query
    if not query.by:
        return Whole()
    return FromData() if query.groups is None else Listed(query.groups, way.threads)


class Held:
    """The parts that were read so far, in memory.

    Parameters
    ----------
    reader : Reader
    streamed : bool
        Whether what was read is let go then, but for what parts hold of it.
    """

    def __init__(self, reader: Reader, streamed: bool) -> None:
        self._reader, self._streamed = reader, streamed
        self.parts: list[Part] = []
        self.bytes = 0

    def add(self, part: Part) -> None:
        """Hold the rows of listed groups; of the first part all, as it may be the only one."""
        if len(self.parts) == 1:
            self.parts[0] = self._of_groups(self.parts[0])
        self.parts.append(self._of_groups(part) if self.parts else part)
        self.bytes += self.parts[-1].bytes

    def _of_groups(self, part: Part) -> Part:
        some = part.of_groups()
        return some.apart() if self._streamed and some is part else some

    def joined(self) -> Part:
        """All rows as one part; the others are let go."""
        parts, self.parts = self.parts, []
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return self._reader.none()
        codes = np.concatenate([part.codes for part in parts])
        columns = zip(*(part.records for part in parts), strict=True)
        gaps = zip(*(part.missing for part in parts), strict=True)
        sizes = [part.codes.size for part in parts]
        persons = [part.persons for part in parts if part.persons is not None]
        return Part(
            codes,
            [_joined(list(column)) for column in columns],
            [_joined_gaps(list(column), sizes) for column in gaps],
            [rows for chunks in persons for rows in chunks] if persons else None,
        )


def _joined(parts: list[AnyArray]) -> AnyArray:
    """One array of numbers, of which no integer was rounded."""
    parts = [part for part in parts if part.size] or parts[:1]
    if any(part.dtype.kind == "f" for part in parts):
        parts = [as_floats(part) for part in parts]
    return np.concatenate(parts)


def as_floats(values: AnyArray) -> AnyArray:
    """The same numbers as float64; refused where one of them would be rounded."""
    if values.dtype.kind == "f":
        return values
    if values.size and not -EXACT <= int(values.min()) <= int(values.max()) <= EXACT:
        raise ParameterTypeError(ROUNDED)
    return values.astype(np.float64)


def _joined_gaps(parts: list[AnyArray | None], sizes: list[int]) -> AnyArray | None:
    if all(part is None for part in parts):
        return None
    pairs = zip(parts, sizes, strict=True)
    return np.concatenate([np.zeros(n, np.bool_) if part is None else part for part, n in pairs])


def _some(chunks: list[Keys], chosen: AnyArray) -> list[Keys]:
    """The chosen rows of a column of keys."""
    some, first = [], 0
    for rows in chunks:
        some.append(_taken(rows, chosen[first : first + rows.length]))
        first += rows.length
    return some


def _apart(rows: Keys) -> Keys:
    """Of texts a copy would take the more memory, as long as both are there."""
    return replace(rows, values=rows.values.copy()) if isinstance(rows, Integers) else rows


def _taken(rows: Keys, chosen: AnyArray) -> Keys:
    size = int(np.count_nonzero(chosen))
    valid = None if rows.valid is None else rows.valid[chosen]
    if isinstance(rows, Text):
        offsets = np.asarray(rows.offsets, np.int64)
        lengths = np.diff(offsets)
        inside = np.repeat(chosen, lengths)
        values = rows.values[offsets[0] : offsets[-1]][inside]
        ends = np.concatenate([[0], np.cumsum(lengths[chosen])])
        return Text(size, valid, values, ends)
    if isinstance(rows, Objects):
        items = [rows.values[i] for i in np.flatnonzero(chosen).tolist()]
        return replace(rows, length=size, valid=valid, values=items)
    kinds: tuple[type[Integers], type[Wide], type[Coded]] = Integers, Wide, Coded
    assert isinstance(rows, kinds)  # noqa: S101  # all that is left
    return replace(rows, length=size, valid=valid, values=rows.values[chosen])


def _text_bytes(rows: Keys) -> int:
    """Of a row's text, on average."""
    return rows.values.size // max(1, rows.length) if isinstance(rows, Text) else 0
