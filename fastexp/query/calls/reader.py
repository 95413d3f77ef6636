"""The columns that a call reads, and how they become parts: groups by number, records."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._keys import key_columns as keys_in
from ..._keys.group_keys import codes_of, numbered
from ..._keys.group_lists import names_of_columns
from ..._keys.group_names import KeyNames, Names
from ..._keys.keys import Keys
from ..._typing import AnyArray, IntArray
from ...errors import ParameterError
from ...grouped.contribution import present
from ..engines.frame import Column, ColumnRead, ColumnReading, ColumnReads, key_columns
from .answers import Answer, naming
from .parts import Part
from .scope import CoreCall, Scope

LENGTHS = "columns must have one entry for each row"


def uses_of(query: Scope, answers: tuple[Answer, ...]) -> ColumnReads:
    """The columns that a call reads."""
    # The type of private names must not depend on groups that do not appear.
    wanted = [ColumnRead(name, "keys" if query.private is None else "names") for name in query.by]
    if query.groups is not None:
        columns = zip(query.by, query.groups.columns(), strict=True)
        wanted = [_use(name, kind, keys) for name, (kind, keys) in columns]
    wanted += [] if query.person is None else [ColumnRead(query.person, "keys")]
    records = [
        _use(
            answer.column,
            answer.mechanism._reading(),
            [label for label in answer.mechanism._labels if isinstance(label, str)],
        )
        for answer in answers
    ]
    uses = ColumnReads(dict.fromkeys([*wanted, *records]))
    place = {use: i for i, use in enumerate(uses)}
    uses.by = [place[use] for use in wanted[: len(query.by)]]
    uses.person = None if query.person is None else place[wanted[-1]]
    uses.records = [place[use] for use in records]
    return uses


def _use(column: str, reading: ColumnReading, keys: AnyArray | list[str]) -> ColumnRead:
    longest = max(map(len, keys), default=0) if reading == "text" else None
    if isinstance(keys, np.ndarray) and keys.dtype == "M8[ns]":
        reading = "nanoseconds"
    return ColumnRead(column, reading, longest)


def group_columns(query: Scope) -> list[Column]:
    """The columns of the public list of groups; empty without a list."""
    return [] if query.groups is None else key_columns(query.by, query.groups)


class Reader:
    """Turns the columns of a call into parts; answers that read a column alike share its values."""

    def __init__(self, call: CoreCall) -> None:
        self._uses = uses = call.uses
        first: dict[Any, Answer] = {}
        keys = []
        for answer, place in zip(call.answers, uses.records, strict=True):
            keys.append((place, answer.nan, answer.mechanism._read_as(answer.nan)))
            first.setdefault(keys[-1], answer)
        self.readings: list[int] = [list(first).index(key) for key in keys]  # by answer
        self._first = [(key[0], answer) for key, answer in first.items()]
        self.count: int = len(first)
        self._threads = call.threads
        self._groups, self._by = call.query.groups, call.query.by
        from_data = bool(call.query.by) and self._groups is None
        is_private = call.query.private is not None
        self._of_data = GroupsOfData(private=is_private) if from_data else None

    def part(self, columns: Sequence[Any]) -> Part:
        """The part with all rows of these columns."""
        values = [answer.mechanism._read(columns[i], answer.nan) for i, answer in self._first]
        size = values[0][0].size
        codes = np.zeros(size, np.int64)  # without `by`, all rows are one group
        if self._uses.by:
            keys, groups = [columns[i] for i in self._uses.by], self._groups
            if self._of_data is not None:
                codes = self._of_data.codes(keys)
            elif groups is not None:
                codes = codes_of(keys, groups, threads=self._threads, called=self._by)
        records: list[AnyArray] = []
        missing: list[AnyArray | None] = []
        for (_, answer), (read, gaps) in zip(self._first, values, strict=True):
            if read.size != size or codes.size != size:
                raise ParameterError(LENGTHS)
            with naming(answer.column):
                counted, filled = present(codes, read, gaps, answer.nan)
            records.append(filled)
            missing.append(None if counted is codes else (codes >= 0) & (counted < 0))
        return Part(codes, records, missing, self._persons(columns, size))

    def numbering(self) -> tuple[Names, IntArray | None]:
        """The groups in order; for groups from the data, also their numbers in the parts."""
        if self._of_data is not None:
            return self._of_data.numbering()
        groups = self._groups
        return KeyNames("whole", np.zeros(1, np.int64)) if groups is None else groups, None

    def none(self) -> Part:
        """A part without rows."""
        persons = None if self._uses.person is None else keys_in.joined([], "person")
        records: list[AnyArray] = [np.zeros(0, np.int64)] * self.count  # for any mechanism
        return Part(np.zeros(0, np.int64), records, [None] * self.count, persons)

    def _persons(self, columns: Sequence[Any], size: int) -> Keys | None:
        if self._uses.person is None:
            return None
        persons = keys_in.read(columns[self._uses.person], "person", modulo=True)
        if persons.size != size:
            raise ParameterError(LENGTHS)
        return persons


class GroupsOfData:
    """Groups from the data, numbered in the order in which they are read."""

    def __init__(self, *, private: bool = False) -> None:
        self._private = private
        self._numbers: dict[Any, int] = {}
        self._width = 1
        self._first_names: Names | None = None  # the groups of the first part that has any

    def codes(self, keys: list[Any]) -> IntArray:
        """The number of each row's group; -1 if its key is missing."""
        self._width = len(keys)
        read = keys_in.read_private if self._private else partial(keys_in.read, argument="by")
        codes, names = numbered([read(column) for column in keys], "by")
        numbers = self._numbers
        if not numbers:
            if self._first_names is None or self._first_names.size == 0:
                self._first_names = names
                return codes
            numbers.update({label: i for i, label in enumerate(self._first_names.labels())})
        places = [numbers.setdefault(label, len(numbers)) for label in names.labels()]
        return np.append(np.array(places, np.int64), -1)[codes]

    def numbering(self) -> tuple[Names, IntArray | None]:
        """The groups in increasing order, and their numbers in the parts; None: 0, 1, ..."""
        if not self._numbers and self._first_names is not None:
            return self._first_names, None
        labels = list(self._numbers)
        columns: list[Any] = [labels] if self._width == 1 else list(zip(*labels, strict=True))
        lists = [list(column) for column in columns or [()] * self._width]
        sortable = list(map(_sortable, lists))
        rows = sortable[0] if self._width == 1 else list(zip(*sortable, strict=True))
        order = sorted(range(len(labels)), key=rows.__getitem__)
        columns = [[column[i] for i in order] for column in lists]
        return names_of_columns(columns, "by"), np.array(order, np.int64)


def _sortable(keys: list[Any]) -> list[Any]:
    """Values in the order of the keys; if Python cannot hold all dates, days since 1970-01-01."""
    if any(isinstance(key, np.datetime64) for key in keys) and dt.date in set(map(type, keys)):
        days: list[Any] = np.array(keys, "M8[D]").view(np.int64).tolist()
        return days
    return keys
