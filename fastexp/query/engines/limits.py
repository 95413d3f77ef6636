"""Limits of engines: dates and names, streams that can be read once, and memory.

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
SPARK_ERRORS = ("java.lang.OutOfMemoryError", "spark.driver.maxResultSize")  # about memory
AGAIN = (
    "frame must be a stream that has not been read, got one without rows left: create the stream "
    "again, or read it into a table"
)
_READ_STREAMS: WeakValueDictionary[int, Any] = WeakValueDictionary()  # by id: they may have no hash


class Range(NamedTuple):
    """Numbers from `first` to `last`."""

    first: int
    last: int


# Days since 1970-01-01: of 32 bits, as in Polars and Arrow; of Python, 0001-01-01 to 9999-12-31.
DAYS32 = Range(-(1 << 31), (1 << 31) - 1)
PYTHON_DAYS = Range(-719_162, 2_932_896)


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
    """Whether the numbers of dates or timestamps lie in a range."""
    values = np.asarray(column.values).astype(np.int64)
    return bool(((values >= numbers.first) & (values <= numbers.last)).all())


class Adapter:
    """What most adapters of frames have: rows that stay in memory, and dates of 32 bits."""

    room: Room | None = None
    days = DAYS32

    def check_answers(self, names: Sequence[str], groups: Sequence[Column]) -> None:
        """Refuse dates that the engine cannot hold."""
        check_dates(groups, self.days)


def check_case(names: Sequence[str], engine: str) -> None:
    """Refuse names that differ only in case, for an engine that ignores it."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise ParameterError(
                "columns of the answers must differ by more than upper and lower case for "
                f"{engine}, got {other!r} and {name!r}"
            )


def quoted(name: str) -> str:
    """Quote a name for SQL; DuckDB's own expression for a column takes `*` for all columns."""
    return '"' + name.replace('"', '""') + '"'


def check_unread(frame: object) -> None:
    """Refuse a stream that `note_read` has noted, or that says that it is closed.

    A stream that other code has read looks like one without rows, which must not be refused.
    """
    if _READ_STREAMS.get(id(frame)) is frame or attribute(frame, "closed") is True:
        raise ParameterError(AGAIN)


def note_read(frame: object) -> None:
    """Remember an iterator for as long as it lives: it is read from now on, and only once."""
    if has(type(frame), "__next__"):
        with suppress(TypeError):  # its type allows no weak references
            _READ_STREAMS[id(frame)] = frame


def brought(rows: Callable[[], T]) -> T:
    """Return what `rows` returns; `InvalidRecords` if it fails with an error about memory."""
    try:
        return rows()
    except Exception as failure:
        if not _is_of_memory(failure):
            raise
    raise InvalidRecords(FULL)  # outside the handler: the error may hold data, and is no context


def _is_of_memory(failure: Exception) -> bool:  # apart, so that no traceback holds the text
    text = ""
    with suppress(Exception):  # the text of a Java error is in a process that may be gone
        text = str(failure)
    return isinstance(failure, MemoryError) or any(name in text for name in SPARK_ERRORS)
