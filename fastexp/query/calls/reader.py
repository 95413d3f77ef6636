"""Columns as they come become parts: groups by number, records as mechanisms read them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ..._keys import key_columns
from ..._keys.group_keys import codes_of, numbered
from ..._keys.group_lists import names_of_columns
from ..._keys.group_names import Names
from ..._keys.key_names import KeyNames
from ..._keys.key_rows import Rows as Keys
from ..._typing import AnyArray, IntArray
from ...errors import ParameterError
from ...grouped.contribution import person_keys, present
from .answers import Answer, naming
from .call import Call
from .parts import Part
from .uses import Uses

LENGTHS = "columns must have one entry for each row"


class Reader:
    """How the columns of a call become parts: answers share what they read alike."""

    of: list[int]
    count: int
    groups: Groups

    def __init__(self, call: Call, uses: Uses) -> None:
        self._uses = uses
        first: dict[Any, Answer] = {}
        readings = []
        for answer, place in zip(call.answers, uses.records, strict=True):
            readings.append((place, answer.nan, answer.mechanism._read_as(answer.nan)))
            first.setdefault(readings[-1], answer)
        self.of = [list(first).index(reading) for reading in readings]  # of each answer
        self._first = [(reading[0], answer) for reading, answer in first.items()]
        self.count = len(first)
        self.groups = _groups_of(call)

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
            with naming(answer.column):
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


class Whole:
    """No columns of groups: all rows are one group."""

    def codes(self, _keys: list[Any], size: int) -> IntArray:
        """All of them count."""
        return np.zeros(size, np.int64)

    def numbering(self) -> tuple[Names, None]:
        """The group, which has no name."""
        return KeyNames("whole", np.zeros(1, np.int64)), None


class Listed:
    """A public list of groups."""

    def __init__(self, names: Names, threads: int) -> None:
        self._names, self._threads = names, threads

    def codes(self, keys: list[Any], _size: int) -> IntArray:
        """Each row's place in the list, -1 if it is not there."""
        return codes_of(keys, self._names, threads=self._threads)

    def numbering(self) -> tuple[Names, None]:
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

    def numbering(self) -> tuple[Names, IntArray]:
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


def _groups_of(call: Call) -> Groups:
    query = call.query
    if not query.by:
        return Whole()
    return FromData() if query.groups is None else Listed(query.groups, call.threads)
