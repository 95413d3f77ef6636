"""A file of any format: its columns, SQL for its rows, what its bytes tell, its errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ..._parameters.foreign import is_interrupt
from ..._typing import AnyArray
from ...errors import FastexpError
from ..engines.frame import Use
from .paths import File

T = TypeVar("T")
FULL = "takes more memory than it may (a larger memory= may help)"
DAMAGED = "cannot be read to its end (cut off, damaged, or not compressed as its name says?)"
OF_FILES = ("IOException", "EOFError", "error")  # the last of zlib
CHUNK = 1 << 18  # bytes at a time
CARRY = 32  # bytes of the chunk before: a multiple of a word's, and more than two `DIGITS`
DIGITS = 16  # of an integer beyond 2**53, at least
HIGH = np.uint64(0xF0F0F0F0F0F0F0F0)
FIGURES = np.uint64(0x3030303030303030)  # the high halves of eight digits (and of :;<=>?)
QUOTING = (b'"', b"\r", b"\0")  # by which rows and lines may differ
ODD = (b"_", b"+", b"\v", b"\f")  # with which DuckDB takes for numbers what is none
END, POINT = b"\n."


class Plain(NamedTuple):
    """What the bytes behind a header tell."""

    rows: int  # lines that are not blank
    wide: bool  # whether some integer may be beyond 2**53
    odd: bool  # whether DuckDB may take some text for a number that is none


class SqlTable(NamedTuple):
    """A table of SQL, to follow FROM, whose columns are r0, r1, ... in the order of the uses."""

    table: str
    parameters: dict[str, Any]


class RowFile(Protocol):
    """One file of a format."""

    file: File
    form: str  # what a file of the format must be, for messages
    names: list[str]  # of the columns, in order; those of folders are none of them
    typed: bool  # whether columns have types; else they are cells of text

    @property
    def plain(self) -> Plain | None:
        """What the bytes of the file tell; None where rows cannot be counted by lines."""
        ...

    def rows(self, uses: Sequence[Use], survey: bool) -> SqlTable:
        """The columns of some uses, for the survey or to be read."""
        ...


def attempted(read: Callable[[], T], file: File, form: str, error: type[FastexpError]) -> T:
    """What `read`, which asks DuckDB, returns; an interrupt of it is a KeyboardInterrupt.

    Where DuckDB fails, whose messages quote rows, `error` says what `form` the file must have; the
    failure is no context of it.
    """
    try:
        return read()
    except (FastexpError, MemoryError):
        raise
    except Exception as failure:
        name = type(failure).__name__
        interrupted = is_interrupt(failure)
        damaged = name in OF_FILES or isinstance(failure, OSError)
        reason = DAMAGED if damaged else FULL if name == "OutOfMemoryException" else ""
    if interrupted:
        raise KeyboardInterrupt
    raise error(f"{file.called} {reason or f'must be {form}'}")


def plain(path: str, start: int) -> Plain | None:
    """Look at all bytes of a file from a place on, that of the header's end.

    None if lines need not be rows: there are quotes, or ends of lines of another kind.
    """
    buffer = bytearray(b"," * CARRY + bytes(CHUNK))
    data, ends, blank, wide, odd = np.frombuffer(buffer, np.uint8), 0, 0, False, False
    with open(path, "rb", buffering=0) as raw:  # noqa: PTH123  # Path's has no readinto
        raw.seek(start)
        while size := raw.readinto(memoryview(buffer)[CARRY:]):
            stop = CARRY + size
            if any(buffer.find(byte, CARRY, stop) >= 0 for byte in QUOTING):
                return None
            odd = odd or any(buffer.find(byte, CARRY, stop) >= 0 for byte in ODD)
            wide = wide or _has_wide(data[:stop])
            is_end = data[CARRY - 1 : stop] == END
            ends += int(np.count_nonzero(is_end[1:]))
            blank += int(np.count_nonzero(is_end[1:] & is_end[:-1]))
            data[:CARRY] = data[size:stop].copy()
    unended = int(data[CARRY - 1] != END)
    return Plain(max(ends - blank - 1 + unended, 0), wide, odd)


def _has_wide(data: AnyArray) -> bool:
    """Whether so many digits follow each other that do not follow a point."""
    words = data[: data.size // 8 * 8].view(np.uint64)
    if not ((words & HIGH) == FIGURES).any():  # as some word of so many digits is
        return False
    digit = (data & 0xF0) == 0x30
    run, length = digit, 1
    while length < DIGITS:
        run = run[:-length] & run[length:]
        length *= 2
    before = data[: run.size - 1]
    return bool((run[1:] & ~digit[: run.size - 1] & (before != POINT)).any())
