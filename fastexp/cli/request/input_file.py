"""FILE: its rows as a frame that `Query` reads, and what is asked of them, as far as it is public.

DuckDB reads files, and CSV from stdin, which is copied to be read twice.
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
ENTRIES = 1 << 18  # at a time
MOST_HEADER = 10_000  # bytes of what says what is in the file
GZIP = b"\x1f\x8b"  # what such bytes begin with
SPARE = 1 << 30  # bytes that a copy leaves free, or a tenth of the disk
NOTHING = "nothing was drawn or charged"


class InputFile(NamedTuple):
    """A file of rows: a path as `Query` takes it, one of ``.npy``, or ``-`` for CSV from stdin.

    The delimiter is that of CSV; None: a comma, of TSV a tab. `has_public_types`: whether the types
    of its columns may be looked at before the charge.
    """

    path: str
    delimiter: str | None = None
    has_public_types: bool = True


@dataclass(frozen=True)
class PublicCall:
    """What a command or a publication asks."""

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
    force: bool = False  # whether that is replaced if it exists
    quotes_formulas: bool = False  # as of `Output`
    threads: int = 1
    memory: int | None = None  # bytes
    temp: str | None = None
    origin: str | None = None  # of the source in a question; None: its absolute path
    candidates_from_data: bool = False  # then nothing is promised


class Columns:
    """What a command makes of answers; as a frame, one of which no row is read."""

    def finished(self, columns: Sequence[Column]) -> list[Column]:
        """The columns as they are."""
        return list(columns)


class FileRows(Columns, PathFrame):
    """Rows of files, by their path."""


class StdinRows(FileRows):
    """CSV from stdin, plain or compressed by gzip; at the first question a folder gets a copy."""

    def __init__(self, folder: str, room: Room, threads: int, delimiter: str | None) -> None:
        self._copy, self._ends = Path(folder, "stdin.csv"), True
        self._copying = self._copied()
        super().__init__(str(self._copy), room, threads, delimiter)

    @cached_property
    def _header(self) -> Csv:
        """The header, from the first part of the rows, before any other is copied."""
        return cast("Csv", self._step())

    @cached_property
    def files(self) -> list[File]:
        """The whole copy."""
        _ = self._header
        self._step()
        return self._files()

    def close(self) -> None:
        """Copy no more."""
        self._copying.close()

    def names(self) -> list[str]:
        """The names in the header row."""
        return self._header.names

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[Sequence[Any]]:
        """All rows; only here, after the charge, do errors depend on them."""
        if self.files and not self._ends:
            raise InvalidRecords(f"stdin must be {Csv.form}")
        yield from super().parts(uses)

    def _files(self) -> list[File]:
        return [file._replace(called="stdin") for file in files_of(self._path)]

    def _step(self) -> Csv | None:
        """Go on copying: up to the header, then to the end."""
        try:
            return next(self._copying, None)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            problem = "is compressed, and cut off or damaged"
        except OSError as error:
            problem = f"cannot be read or copied: {reason_of(error, 'system error')}"
        raise Failure(f"stdin {problem}; {NOTHING}")

    def _copied(self) -> Generator[Csv]:
        """Copy rows, up to one that does not end, and stop once where the header is there."""
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
    """The bytes of stdin, decompressed where they are compressed."""
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
    """What the header of a file says, and where its numbers begin."""

    file: File
    dtype: np.dtype[Any]
    size: int
    start: int


class NpyRows(Columns):
    """The numbers of a file; ParameterError if there is none, or it holds anything else."""

    def __init__(self, path: str, room: Room) -> None:
        self._path, self.room = path, room

    @cached_property
    def _array(self) -> Array:
        file = File(self._path, "NPY", {}, stamp_of(self._path, self._path), repr(self._path))
        shape, dtype = None, np.dtype(object)
        with Path(self._path).open("rb") as raw:
            try:
                if np.lib.format.read_magic(raw) == (1, 0):  # later ones are of structures
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
        """The one there is."""
        _ = self._array  # or it is refused
        return [VALUE]

    def empty(self, uses: Sequence[ColumnRead]) -> list[Any]:
        """Arrays without entries."""
        return [np.zeros(0, self._array.dtype) for _ in uses]

    def check_answers(self, names: Sequence[str], groups: Sequence[Column]) -> None:
        """Columns hold whatever there is."""

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[list[Any]]:
        """Entries in order; not mapped, as a file that is cut off meanwhile would kill us."""
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
    """The rows of a file, of which nothing is looked at yet; what it needs on disk goes at the end.

    `memory`, `threads` and `temp` are those of `Query.release`. The frame's `finished` gives
    columns as they are. Its methods raise what those of `PathFrame` do; of stdin `UserMistake` if
    there is none, and `Failure` if it cannot be copied.
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
