"""CSV from stdin, copied in order to be read twice."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any, cast

from ..._group_names import Names
from ...errors import InvalidRecords
from ...query.engines.frame import Use
from ...query.files.csv_rows import LINE, Csv, csv_of
from ...query.files.places import File, files_of
from ..errors import Failure, UserMistake
from .source import FileRows

GZIP = b"\x1f\x8b"  # what such bytes begin with
SPARE = 1 << 30  # bytes that a copy leaves free, or a tenth of the disk
NOTHING = "nothing was drawn or charged"


class StdinRows(FileRows):
    """CSV from stdin, plain or compressed by gzip; it is copied when something is asked.

    Parameters
    ----------
    folder : str
        A private one, for the copy.
    memory, threads, delimiter
        As of `PathFrame`.
    """

    def __init__(
        self, folder: str, memory: int | str | None, threads: int, delimiter: str | None
    ) -> None:
        self._copy, self._ends = Path(folder, "stdin.csv"), True
        super().__init__(str(self._copy), memory, threads, delimiter)

    @cached_property
    def files(self) -> list[File]:
        """The copy."""
        try:
            with self._copy.open("xb") as copy, _stdin() as rows:
                self._ends = self._copied(rows, copy)
            return self._files()
        except (EOFError, gzip.BadGzipFile, zlib.error):
            problem = "is compressed, and cut off or damaged"
        except OSError as error:
            problem = f"cannot be read or copied: {error.strerror or 'system error'}"
        raise Failure(f"stdin {problem}; {NOTHING}")

    def parts(
        self, uses: Sequence[Use], by: Sequence[int], groups: Names | None
    ) -> Iterator[Sequence[Any]]:
        """All rows; what rows are like is told here only, after the charge."""
        if self.files and not self._ends:
            raise InvalidRecords(f"stdin must be {Csv.form}")
        yield from super().parts(uses, by, groups)

    def _files(self) -> list[File]:
        return [file._replace(called="stdin") for file in files_of(self._path)]

    def _copied(self, rows: IO[bytes], copy: IO[bytes]) -> bool:
        """Copy rows, up to one that does not end; whether all of them do.

        Of the first part the header is looked at, before another one is read.
        """
        while part := rows.read(LINE):
            self._check_room()
            at_start = not copy.tell()
            copy.write(part)
            if at_start:
                copy.flush()
                csv_of(self._files()[0], self._delimiter)
            if len(part) == LINE and b"\n" not in part and b"\r" not in part:
                return False
        return True

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
