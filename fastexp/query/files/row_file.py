"""A file of any format: its columns, SQL for its rows, what its bytes tell, its errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ..._parameters.foreign import is_interrupt
from ...errors import FastexpError
from ..engines.frame import ColumnRead
from .paths import File

T = TypeVar("T")
FULL = "needs more memory than the limit (a larger memory= may help)"
DAMAGED = (
    "cannot be read to its end (is it cut off, damaged, or compressed in another way than its name "
    "says?)"
)
FILE_ERRORS = ("IOException", "EOFError", "error")  # the last is zlib's
CHUNK_BYTES = 1 << 18  # bytes at a time
QUOTING = (b'"', b"\r", b"\0")  # with these, lines may differ from rows
MISREAD_MARKS = (b"_", b"+", b"\v", b"\f")  # with these, DuckDB reads numbers where there are none
END = ord("\n")


class Plain(NamedTuple):
    """What the bytes after the header tell."""

    rows: int
    may_misread: bool  # whether DuckDB may take a text for a number that is none


class SqlTable(NamedTuple):
    """SQL for a table, to follow FROM, with columns r0, r1, ... in the order of the uses."""

    table: str
    parameters: dict[str, Any]


class RowFile(Protocol):
    """One file of a format."""

    file: File
    form: str  # what a file of the format must be, for messages
    names: list[str]  # of the columns in order, without those that folders name
    typed: bool  # whether columns have types; else they are cells of text

    @property
    def plain(self) -> Plain | None:
        """What the bytes of the file tell; None if lines may not be rows."""
        ...

    def rows(self, uses: Sequence[ColumnRead], survey: bool) -> SqlTable:
        """SQL for the columns of the uses, for the survey or for reading."""
        ...


def checked_read(read: Callable[[], T], file: File, form: str, error: type[FastexpError]) -> T:
    """Return what `read` returns, which calls DuckDB; its interrupt is a KeyboardInterrupt.

    If DuckDB fails, `error` says what `form` the file must have. Messages of DuckDB quote rows, so
    the failure is not the context of the error.
    """
    try:
        return read()
    except (FastexpError, MemoryError):
        raise
    except Exception as failure:
        name = type(failure).__name__
        interrupted = is_interrupt(failure)
        damaged = name in FILE_ERRORS or isinstance(failure, OSError)
        reason = DAMAGED if damaged else FULL if name == "OutOfMemoryException" else ""
    if interrupted:
        raise KeyboardInterrupt
    file.check_same()  # a file that was replaced is not malformed
    raise error(f"{file.called} {reason or f'must be {form}'}")


def plain(path: str, start: int, *, blank_is_row: bool) -> Plain | None:
    """Look at all bytes of a file after `start`, the end of the header.

    blank_is_row: whether a blank line is a row with an empty cell, as in a file of one column.
    None if lines may not be rows, because of quotes or line ends of another kind.
    """
    buffer = bytearray(b"," + bytes(CHUNK_BYTES))  # the first is the last byte of the chunk before
    data, ends, blank, may_misread = np.frombuffer(buffer, np.uint8), 0, 0, False
    with open(path, "rb", buffering=0) as raw:  # noqa: PTH123  # Path's has no readinto
        raw.seek(start)
        while size := raw.readinto(memoryview(buffer)[1:]):
            stop = 1 + size
            if any(buffer.find(byte, 1, stop) >= 0 for byte in QUOTING):
                return None
            marks = (buffer.find(byte, 1, stop) for byte in MISREAD_MARKS)
            may_misread = may_misread or any(place >= 0 for place in marks)
            is_end = data[:stop] == END
            ends += int(np.count_nonzero(is_end[1:]))
            if not blank_is_row:
                blank += int(np.count_nonzero(is_end[1:] & is_end[:-1]))
            buffer[0] = buffer[size]
    unended = int(data[0] != END)
    return Plain(max(ends - blank - 1 + unended, 0), may_misread)
