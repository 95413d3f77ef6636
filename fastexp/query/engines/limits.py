"""Dates and names that an engine can hold, rows that come once, and more than memory holds.

A public list may have any day of 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from ..._parameters.foreign import attribute, has
from ...errors import InvalidRecords, ParameterError
from ..disk.memory import Room
from .frame import Column

T = TypeVar("T")
FULL = (
    "records: the rows that are sent to this process need more memory than it, or the engine's "
    "driver, has: write them to Parquet and give the path, because files are read in parts"
)
OF_SPARK = ("java.lang.OutOfMemoryError", "spark.driver.maxResultSize")  # in its errors
AGAIN = (
    "frame must be a stream that has not been read, got one without rows left: create the stream "
    "again, or read it into a table"
)
_READ: WeakValueDictionary[int, Any] = WeakValueDictionary()  # by id: a stream may have no hash


class Range(NamedTuple):
    """Numbers from `first` to `last`."""

    first: int
    last: int


# Days since 1970-01-01: of 32 bits, as Polars and Arrow count them; from 0001-01-01 to 9999-12-31.
DAYS32 = Range(-(1 << 31), (1 << 31) - 1)
PYTHON = Range(-719_162, 2_932_896)


def check_dates(groups: Sequence[Column], days: Range) -> None:
    """Refuse a list with dates outside an engine's range, in days since 1970-01-01."""
    for column in groups:
        if column.kind == "dates" and not within(column, days):
            ends = np.array(days).astype("datetime64[D]")
            raise ParameterError(
                f"groups must be dates that the frame's engine can hold, from {ends[0]} to "
                f"{ends[1]}, got others in {column.name!r}"
            )


def within(column: Column, numbers: Range) -> bool:
    """Whether dates or timestamps lie in a range of their numbers."""
    values = np.asarray(column.values).astype(np.int64)
    return bool(((values >= numbers.first) & (values <= numbers.last)).all())


class Adapter:
    """What most adapters of frames have: rows that stay in memory, and dates of 32 bits."""

    room: Room | None = None
    days = DAYS32

    def check_answers(self, names: Sequence[str], groups: Sequence[Column]) -> None:
        """As of `Frame`."""
        check_dates(groups, self.days)


def check_case(names: Sequence[str], engine: str) -> None:
    """Refuse names of columns that are one name to an engine."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise ParameterError(
                "columns of the answers must differ by more than upper and lower case for "
                f"{engine}, got {other!r} and {name!r}"
            )


def quoted(name: str) -> str:
    """A name as SQL has it; DuckDB's own expression for a column takes `*` for all of them."""
    return '"' + name.replace('"', '""') + '"'


def check_unread(frame: object) -> None:
    """Refuse a stream that this process gave to `note_read`, or that says that it is closed.

    One that others read cannot be told from one without rows, which must not be refused.
    """
    if _READ.get(id(frame)) is frame or attribute(frame, "closed") is True:
        raise ParameterError(AGAIN)


def note_read(frame: object) -> None:
    """Remember an iterator for as long as it lives: it is read from now on, and only once."""
    if has(type(frame), "__next__"):
        with suppress(TypeError):  # its type allows no weak references
            _READ[id(frame)] = frame


def brought(rows: Callable[[], T]) -> T:
    """What `rows` returns; `InvalidRecords` if it fails for want of memory, of which it says so."""
    try:
        return rows()
    except Exception as failure:
        if not _is_of_memory(failure):
            raise
    raise InvalidRecords(FULL)  # outside the handler: the error, which may hold data, is no context


def _is_of_memory(failure: Exception) -> bool:  # its text is in no frame of what is raised
    text = ""
    with suppress(Exception):  # the text of Java's is in a process that may be gone
        text = str(failure)
    return isinstance(failure, MemoryError) or any(name in text for name in OF_SPARK)
