"""Rows that DuckDB reads: of files, and of CSV from stdin, which is copied to be read twice."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any, cast

from ..._keys.group_names import Names
from ...errors import InvalidRecords
from ...query.engines.frame import Column, Use
from ...query.files.csv_rows import LINE, Csv, csv_of
from ...query.files.path_frame import PathFrame
from ...query.files.paths import File, files_of
from ..terminal.errors import Failure, UserMistake, reason_of

GZIP = b"\x1f\x8b"  # what such bytes begin with
SPARE = 1 << 30  # bytes that a copy leaves free, or a tenth of the disk
NOTHING = "nothing was drawn or charged"


class Columns:
    """What a command makes of answers; as a frame, one of which no row is read."""

    def finished(self, columns: Sequence[Column]) -> list[Column]:
        """The columns as they are."""
        return list(columns)


class FileRows(Columns, PathFrame):
    """Rows of files, by their path."""


class StdinRows(FileRows):
    """CSV from stdin, plain or compressed by gzip; at the first question a folder gets a copy."""

    def __init__(
        self, folder: str, memory: int | str | None, threads: int, delimiter: str | None
    ) -> None:
        self._copy, self._ends = Path(folder, "stdin.csv"), True
        self._copying = self._copied()
        super().__init__(str(self._copy), memory, threads, delimiter)

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
        return self._header.names()

    def parts(
        self, uses: Sequence[Use], by: Sequence[int], groups: Names | None
    ) -> Iterator[Sequence[Any]]:
        """All rows; only here, after the charge, do errors depend on them."""
        if self.files and not self._ends:
            raise InvalidRecords(f"stdin must be {Csv.form}")
        yield from super().parts(uses, by, groups)

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
                self._check_room()
                copy.write(part := rows.read(LINE))

    def _check_room(self) -> None:
        disk = shutil.disk_usage(self._copy.parent)
        if disk.free < min(SPARE, disk.total // 10) + LINE:
            raise Failure(
                f"no room for a copy of stdin in {str(self._copy.parent.parent)!r}: give a folder "
                f"on a larger disk by --temp, or the path of a file; {NOTHING}"
            )


@contextmanager
def _stdin() -> Iterator[IO[bytes]]:
    """The bytes of stdin, decompressed where they are compressed."""
    if sys.stdin is None or sys.stdin.closed:
        raise UserMistake("FILE is - but there is no stdin")
    if sys.stdin.isatty():
        raise UserMistake("FILE is - but stdin is a terminal: pipe CSV into it, or name a file")
    raw = io.BufferedReader(cast("io.RawIOBase", sys.stdin.buffer), LINE)
    try:
        compressed = raw.peek(2)[:2] == GZIP
        yield cast("IO[bytes]", gzip.GzipFile(fileobj=raw) if compressed else raw)
    finally:
        raw.detach()
