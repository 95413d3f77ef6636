"""Parts of the rows: those of listed groups are held in memory.

A row is the number of its group, and its records as each mechanism reads them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..._keys.key_columns import joined
from ..._keys.keys import Keys
from ..._parameters.validate import MAX_EXACT
from ..._typing import AnyArray, IntArray
from ...errors import ParameterTypeError

ROUNDED = "records must not mix integers beyond 2**53 with other numbers: float64 would round them"
ROW, VALUE, PERSON = 24, 9, 80  # bytes of a row, a value and a person, while answers are drawn


class Part(NamedTuple):
    """Some rows."""

    codes: IntArray  # the group of each row; -1 for none
    records: list[AnyArray]  # the values of each reading
    missing: list[AnyArray | None]  # which rows each reading leaves out; None: none
    persons: Keys | None

    @property
    def bytes(self) -> int:
        """The bytes that these rows take until their answers are drawn."""
        persons = 0 if self.persons is None else PERSON + _text_bytes(self.persons)
        return self.codes.size * (ROW + VALUE * len(self.records)) + persons * self.codes.size

    def of_groups(self) -> Part:
        """The rows of listed groups."""
        chosen = self.codes >= 0
        if chosen.all():
            return self
        records = [values[chosen] for values in self.records]
        missing = [None if gaps is None else gaps[chosen] for gaps in self.missing]
        persons = None if self.persons is None else self.persons.taken(chosen)
        return Part(self.codes[chosen], records, missing, persons)

    def apart(self) -> Part:
        """The same rows, copied so that they do not keep all columns of a stream in memory."""
        records = [values if values.base is None else values.copy() for values in self.records]
        keys = self.persons
        persons = None if keys is None else replace(keys, values=keys.values.copy())
        return self._replace(records=records, persons=persons)


class Held:
    """The parts that were read so far, in memory.

    none: the part without rows, in case no part comes.
    streamed: whether the source frees what was read, unless a part still refers to it.
    """

    def __init__(self, none: Part, streamed: bool) -> None:
        self._none, self._streamed = none, streamed
        self.parts: list[Part] = []
        self.bytes: int = 0

    def add(self, part: Part) -> None:
        """Hold the rows of listed groups; but a first part whole, as it may be the only one."""
        if len(self.parts) == 1:
            self.parts[0] = self._of_groups(self.parts[0])
        self.parts.append(self._of_groups(part) if self.parts else part)
        self.bytes += self.parts[-1].bytes

    def _of_groups(self, part: Part) -> Part:
        group_rows = part.of_groups()
        return group_rows.apart() if self._streamed and group_rows is part else group_rows

    def joined(self) -> Part:
        """All rows as one part; the parts held so far are freed."""
        parts, self.parts = self.parts, []
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return self._none
        codes = np.concatenate([part.codes for part in parts])
        columns = zip(*(part.records for part in parts), strict=True)
        gaps = zip(*(part.missing for part in parts), strict=True)
        sizes = [part.codes.size for part in parts]
        persons = [part.persons for part in parts if part.persons is not None]
        return Part(
            codes,
            [_joined(list(column)) for column in columns],
            [
                None
                if all(part is None for part in column)
                else np.concatenate(
                    [
                        np.zeros(n, np.bool_) if part is None else part
                        for part, n in zip(column, sizes, strict=True)
                    ]
                )
                for column in gaps
            ],
            joined(persons, "person") if persons else None,
        )


def _joined(parts: list[AnyArray]) -> AnyArray:
    """One array of all numbers, without rounding an integer."""
    parts = [part for part in parts if part.size] or parts[:1]
    if any(part.dtype.kind == "f" for part in parts):
        parts = [as_floats(part) for part in parts]
    return np.concatenate(parts)


def as_floats(values: AnyArray) -> AnyArray:
    """Return the same numbers as float64; refuse integers that would be rounded."""
    if values.dtype.kind == "f":
        return values
    if values.size and not -MAX_EXACT <= int(values.min()) <= int(values.max()) <= MAX_EXACT:
        raise ParameterTypeError(ROUNDED)
    return values.astype(np.float64)


def _text_bytes(keys: Keys) -> int:
    """The average number of bytes of a text."""
    return sum(map(len, keys.texts)) // max(1, len(keys.texts))
