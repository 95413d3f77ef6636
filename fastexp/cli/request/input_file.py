"""FILE: its rows as a frame that `Query` reads, and the public settings of a call.

DuckDB reads files, and CSV from stdin, which is copied so that it can be read twice.
"""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ...errors import InvalidRecords, ParameterError
from ...query.disk.folders import private_folder
from ...query.disk.memory import Room
from ...query.engines.frame import Column, ColumnRead, Frame
from ...query.files.csv_rows import LINE, Csv, csv_of
from ...query.files.path_frame import PathFrame
from ...query.files.paths import File, files_of, stamp_of
from ..terminal.errors import Failure, UserMistake, reason_of

if TYPE_CHECKING:
    from ...grouped.mechanism import GroupedMechanism
    from ...query.query import Query

STDIN = "-"
VALUE = "value"  # the name of the only column of .npy
NUMBERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
ENTRIES = 1 << 18  # entries of .npy that are read at a time
MOST_HEADER = 10_000  # bytes of the header of .npy
GZIP = b"\x1f\x8b"  # the first bytes of a gzip file
SPARE = 1 << 30  # bytes that a copy leaves free, or a tenth of a smaller disk
NOTHING = "nothing was drawn or charged"


class InputFile(NamedTuple):
    """A file of rows: a path as `Query` takes it, one of ``.npy``, or ``-`` for CSV from stdin.

    `delimiter` is that of CSV; None: a comma, or a tab for TSV. `has_public_types`: whether the
    types of its columns may be read before the charge.
    """

    path: str
    delimiter: str | None = None
    has_public_types: bool = True


@dataclass(frozen=True)
class PublicCall:
    """The call of `Query.release` that a command or a publication describes."""

    query: Query
    answers: Mapping[str, tuple[GroupedMechanism, str]]  # as `Query.release` takes them
    nan: Mapping[str, str]  # by answer
    source: InputFile
    budget: str | None = None  # its file
    label: str | None = None
    note: str | None = None
    key: str | None = None  # its file
    output: str | None = None  # a file of answers
    groups_file: str | None = None  # the list of groups of a publication, if it is a file
    force: bool = False  # whether an output file that exists is replaced
    quotes_formulas: bool = False  # as of `Output`
    threads: int = 1
    memory: int | None = None  # bytes
    temp: str | None = None
    origin: str | None = None  # name of the source in a question; None: its absolute path
    candidates_from_data: bool = False  # if so, nothing is promised


class Columns:
    """A frame that returns answers as columns. By itself it stands for rows that are not read."""

    def finished(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns as they are."""
        return list(columns)


class FileRows(Columns, PathFrame):
    """The rows of files at a path."""


class StdinRows(FileRows):
    """CSV from stdin, plain or compressed by gzip; it is copied to a folder at its first use."""

    def __init__(self, folder: str, room: Room, threads: int, delimiter: str | None) -> None:
        self._copy, self._ends = Path(folder, "stdin.csv"), True
        self._copying = self._copied()
        super().__init__(str(self._copy), room, threads, delimiter)

    @cached_property
    def _header(self) -> Csv:
        """The header, from the first part of stdin, before the rest is copied."""
        return cast("Csv", self._step())

    @cached_property
    def files(self) -> list[File]:
        """The file of the complete copy, as a list."""
        _ = self._header
        self._step()
        return self._files()

    def close(self) -> None:
        """Stop copying."""
        self._copying.close()

    def names(self) -> list[str]:
        """Return the names in the header row."""
        return self._header.names

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[Sequence[Any]]:
        """Yield all rows; only here, after the charge, do errors depend on them."""
        if self.files and not self._ends:
            raise InvalidRecords(f"stdin must be {Csv.form}")
        yield from super().parts(uses)

    def _files(self) -> list[File]:
        return [file._replace(called="stdin") for file in files_of(self._path)]

    def _step(self) -> Csv | None:
        """Continue to copy: first up to the header, then to the end."""
        try:
            return next(self._copying, None)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            problem = "is compressed, and cut off or damaged"
        except OSError as error:
            problem = f"cannot be read or copied: {reason_of(error, 'system error')}"
        raise Failure(f"stdin {problem}; {NOTHING}")

    def _copied(self) -> Generator[Csv]:
        """Copy rows, up to one that does not end; yield the header as soon as it is copied."""
        with self._copy.open("xb") as copy, _stdin() as rows:
            part = rows.read(LINE)
            copy.write(part)
            copy.flush()
            yield csv_of(self._files()[0], self._delimiter)
            while part and self._ends:
                self._ends = len(part) < LINE or b"\n" in part or b"\r" in part
                disk = shutil.disk_usage(self._copy.parent)
                if disk.free < min(SPARE, disk.total // 10) + LINE:
                    raise Failure(
                        f"no room for a copy of stdin in {str(self._copy.parent.parent)!r}: give a "
                        f"folder on a larger disk by --temp, or the path of a file; {NOTHING}"
                    )
                copy.write(part := rows.read(LINE))


@contextmanager
def _stdin() -> Iterator[IO[bytes]]:
    """Yield the bytes of stdin, decompressed if they are compressed."""
    if sys.stdin is None or sys.stdin.closed:
        raise UserMistake("FILE is -, but there is no stdin")
    if sys.stdin.isatty():
        raise UserMistake("FILE is -, but stdin is a terminal: pipe CSV into it, or name a file")
    raw = io.BufferedReader(cast("io.RawIOBase", sys.stdin.buffer), LINE)
    try:
        compressed = raw.peek(2)[:2] == GZIP
        yield cast("IO[bytes]", gzip.GzipFile(fileobj=raw) if compressed else raw)
    finally:
        raw.detach()


class Array(NamedTuple):
    """The content of a file's header, and the offset of its numbers in bytes."""

    file: File
    dtype: np.dtype[Any]
    size: int
    start: int


class NpyRows(Columns):
    """The numbers of a .npy file; ParameterError if there is no file, or it has other content."""

    def __init__(self, path: str, room: Room) -> None:
        self._path, self.room = path, room

    @cached_property
    def _array(self) -> Array:
        file = File(self._path, "NPY", {}, stamp_of(self._path, self._path), repr(self._path))
        shape, dtype = None, np.dtype(object)
        with Path(self._path).open("rb") as raw:
            try:
                if np.lib.format.read_magic(raw) == (1, 0):  # later versions are for structures
                    shape, _, dtype = np.lib.format.read_array_header_1_0(raw, MOST_HEADER)
            except Exception:  # its message may hold data
                shape = None
            start = raw.tell()
        if shape is None or len(shape) != 1:
            raise ParameterError(
                "frame must be a .npy file (numpy.save) of one one-dimensional array, got "
                f"something else in {self._path!r}"
            )
        if dtype.str[1:] not in NUMBERS:
            raise ParameterError(
                "frame must be an array of integers, or of 32-bit or 64-bit floats, got "
                f"{dtype.name} in {self._path!r}"
            )
        if file.stamp.size != start + shape[0] * dtype.itemsize:
            raise ParameterError(f"frame must be a complete file, got {self._path!r}")
        return Array(file, dtype, shape[0], start)

    def names(self) -> list[str]:
        """Return the name of the only column."""
        _ = self._array  # refuses other files
        return [VALUE]

    def empty(self, uses: Sequence[ColumnRead]) -> list[Any]:
        """Return arrays without entries."""
        return [np.zeros(0, self._array.dtype) for _ in uses]

    def check_answers(self, names: Sequence[str], groups: Sequence[Column]) -> None:
        """Accept all answers: the columns can hold any."""

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[list[Any]]:
        """Yield entries in order; a memory map would kill the process if the file is cut off."""
        file, dtype, size, start = self._array
        with Path(self._path).open("rb") as raw:
            raw.seek(start)
            for first in range(0, max(size, 1), ENTRIES):
                wanted = min(ENTRIES, size - first)
                values = np.fromfile(raw, dtype, wanted)
                if values.size < wanted:
                    raise file.changed()
                yield [values for _ in uses]
        file.check_same()


@contextmanager
def open_rows(
    source: InputFile,
    memory: int | str | None = None,
    threads: int = 1,
    temp: str | None = None,
) -> Iterator[Frame]:
    """Yield the rows of a file, which is not read yet; temporary files are removed at the end.

    `memory`, `threads` and `temp` are those of `Query.release`. The frame's `finished` returns
    columns as they are. Its methods raise the errors of `PathFrame`; for stdin also `UserMistake`
    if there is none, and `Failure` if it cannot be copied.
    """
    room = Room(memory, temp)
    if source.path == STDIN:
        with (
            private_folder(temp) as folder,
            closing(StdinRows(folder, room, threads, source.delimiter)) as rows,
        ):
            yield rows
    elif is_npy(source.path):
        yield NpyRows(source.path, room)
    else:
        yield FileRows(source.path, room, threads, source.delimiter)


def is_npy(path: str) -> bool:
    """Whether a file's name says that it holds one array, whose only column is `VALUE`."""
    return path.lower().endswith(".npy")
