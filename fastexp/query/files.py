"""Files as sources: CSV as text, whose rows are counted, and typed files through PyArrow."""

from __future__ import annotations

import codecs
import csv
import glob
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from ..errors import InvalidRecords, ParameterError, ParameterTypeError
from ..types import Array
from .sources import Arrow, tables_of

FORMATS = {".csv": ",", ".tsv": "\t", ".parquet": "parquet", ".pq": "parquet"} | dict.fromkeys(
    (".arrow", ".feather", ".ipc"), "ipc"
)
PACKED = ".gz", ".bz2", ".zst", ".lz4"
TYPED = "parquet", "ipc"
NUMBERS = "", "NA", "na", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "Null"
INPUT = "-"  # the standard input
BLOCK = 1 << 22  # bytes that are read at a time: a row has fewer
LF, CR, QUOTE = b'\n\r"'


@dataclass(frozen=True)
class CSV:
    r"""Files of comma-separated values, with what their text means.

    A path alone stands for ``CSV(path)``. The first row of a file names its columns. Keys,
    candidates and persons are compared as text, as they are written: "7", "07" and " 7" are three.
    Numbers may have blanks around them. An empty cell is missing. Dates and timestamps are of ISO
    8601, as 2024-12-31 or 2024-12-31T12:30, with Z or an offset where bounds have a time zone;
    durations are not read.

    Parameters
    ----------
    path : str, PathLike, or list of these
        Files, or patterns such as ``"2024-*.csv.gz"``; those that end in .gz, .bz2, .zst or .lz4
        are decompressed. ``"-"`` alone is the standard input, which is read once.
    delimiter : str, optional
        One character; default: a tab for .tsv, else a comma.
    encoding : str
        As Python names it.
    decimal : {".", ","}
        The decimal point.
    missing : str or sequence of str
        Further texts of cells that are missing, such as "?". In columns of numbers or times NA,
        N/A, NaN and NULL are, too.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range; when it is read, if files are not there or not of one
        format.

    Notes
    -----
    Line ends may be LF, CR LF or CR, and may be part of a quoted cell; blank lines are left out
    (in a file of one column they are missing cells). Each row must have a cell for each column. A
    file whose rows cannot be told apart for certain, such as one with a quote that is not closed,
    or closed before the end of its cell, is refused, **after the charge**: that it is depends on
    the data, which no guarantee covers.

    Examples
    --------
    >>> import fastexp as fx
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "rents.csv")
    >>> _ = path.write_text("Ort;Miete\n" + "Bern;812,50\n" * 100, encoding="cp1252")
    >>> rents = fx.CSV(path, delimiter=";", decimal=",", encoding="cp1252")
    >>> query = fx.Query(by="Ort", groups=["Bern"])
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=0.5)
    >>> query.release(rents, {"median": (median, "Miete")}).to_pydict()
    {'Ort': ['Bern'], 'median': [812.5]}
    """

    path: Any
    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    missing: Any = ()

    def __post_init__(self) -> None:
        """Check the parameters."""
        missing = (self.missing,) if isinstance(self.missing, str) else tuple(self.missing)
        mark = FORMATS.get(_suffix(_texts(self.path)[0]), ",")
        mark = mark if self.delimiter is None else self.delimiter
        if len(mark) != 1 or not mark.isascii() or mark in '\n\r"':
            raise ParameterError(f"delimiter must be one ASCII character, got {self.delimiter!r}")
        if self.decimal not in (".", ",") or self.decimal == mark:
            raise ParameterError(
                f"decimal must be '.' or ',' and not the delimiter, got {self.decimal!r}"
            )
        try:
            codecs.lookup(self.encoding)
        except (LookupError, TypeError):
            raise ParameterError(f"encoding must be known, got {self.encoding!r}") from None
        if not all(isinstance(text, str) for text in missing):
            raise ParameterTypeError("missing must be texts")
        vars(self).update(missing=missing, delimiter=mark)


class Text(Arrow):
    """Files of text: all cells are text until a type is asked for."""

    def __init__(self, files: CSV) -> None:
        self.files, self.decimal, self.absent = files, files.decimal, ("", *files.missing)
        self.missing = tuple(dict.fromkeys([*NUMBERS, *(text.strip() for text in files.missing)]))
        texts = _texts(files.path)
        self.name = *texts, files.delimiter, files.encoding, files.decimal, files.missing
        self._input = Input()

    @cached_property
    def paths(self) -> list[str]:
        """The files."""
        return files_of(self.files.path)

    @cached_property
    def headers(self) -> list[list[str]]:
        """The names of columns of each file."""
        return [self._header(path) for path in self.paths]

    def names(self) -> list[str]:
        """Return the names of the columns that all files have, each as often as in the first."""
        shared = set(self.headers[0]).intersection(*self.headers)
        return [x for x in self.headers[0] if x in shared]

    def head(self, names: list[str]) -> dict[str, Any]:
        """Refuse a file that has a column twice; return columns of text, without rows."""
        for path, header in zip(self.paths, self.headers, strict=True):
            for name in names:
                if header.count(name) > 1:
                    raise ParameterError(f"file {path!r} must have one column {name!r}")
        return {name: pa.nulls(0, pa.large_string()) for name in names}

    def tables(self, names: list[str]) -> Iterator[Any]:
        """Give the rows one after the other, as tables with columns of text."""
        for path, header in zip(self.paths, self.headers, strict=True):
            yield from self._tables(path, len(header), names)

    def _open(self, path: str) -> Any:
        if path != INPUT:
            return pa.input_stream(path, compression="detect")
        return pa.PythonFile(self._input, "r")

    def _header(self, path: str) -> list[str]:
        encoding, found = self.files.encoding, None
        if codecs.lookup(encoding).name == "utf-8":
            encoding = "utf-8-sig"
        with self._open(path) as raw:
            cells = csv.reader(
                io.TextIOWrapper(raw, encoding, "replace", newline=""),  # rows are not judged yet
                delimiter=self.files.delimiter or ",",
                strict=True,
            )
            with suppress(UnicodeError, csv.Error, OSError, pa.ArrowException):
                found = next((row for row in cells if row), None)
        # A blank line before a single name would be a row.
        if not found or "\ufffd" in "".join(found) or len(found) == 1 < cells.line_num:
            raise ParameterError(
                f"file {path!r} must begin with a row of names, each quote closed at the end of a "
                f"name, and a single name in the first line, in {self.files.encoding!r}: see "
                "encoding"
            )
        return found

    def _tables(self, path: str, width: int, names: list[str]) -> Iterator[Any]:
        """Give the rows of a file; raise at its end if they are not as many as it has."""
        rows, guard, encoding = 1, None, self.files.encoding
        try:
            with self._open(path) as raw:
                if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig", "ascii"):
                    raw = pa.transcoding_input_stream(raw, encoding, "utf-8")
                guard = Lines(raw, self.files.delimiter or ",", width == 1)
                reader = arrow_csv.open_csv(
                    pa.PythonFile(guard, "r"),
                    arrow_csv.ReadOptions(block_size=BLOCK, use_threads=False),
                    arrow_csv.ParseOptions(
                        delimiter=self.files.delimiter,
                        newlines_in_values=True,
                        ignore_empty_lines=width > 1,
                    ),
                    arrow_csv.ConvertOptions(
                        column_types=dict.fromkeys(names, pa.large_string()), include_columns=names
                    ),
                )
                for table in tables_of(reader, names):
                    rows += table.num_rows
                    yield table
        except MemoryError:
            raise
        except Exception:  # it may hold cells: another one is raised below
            rows = -1
        if guard is None or not guard.has(rows):
            raise InvalidRecords(
                f"file {path!r} must have a cell for each column in each row, in "
                f"{encoding!r}, fewer than 2**22 bytes a row, and each quote closed, at the end "
                "of its cell; what its reader says is withheld, since it may quote cells"
            )


class Typed(Arrow):
    """Files with types."""

    def __init__(self, path: Any) -> None:
        self.path, self.name = path, tuple(_texts(path))

    @cached_property
    def frame(self) -> Any:
        """The files as a dataset."""
        from pyarrow import dataset  # here, as it takes as long as the rest of PyArrow

        paths = files_of(self.path)
        return dataset.dataset(paths, format=FORMATS[_suffix(paths[0])])


class Input(io.RawIOBase):
    """The standard input, whose first bytes are read again: names before a charge, then rows."""

    head = b""
    is_again = False

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def close(self) -> None:
        """Begin anew."""
        self.is_again = True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        if self.is_again and self.head:
            data, self.head = self.head[:size], self.head[size:]
            return data
        standard: Any = sys.stdin.buffer
        data = bytes(standard.read1(size))
        self.head += b"" if self.is_again else data
        return data


class Lines(io.RawIOBase):
    """Bytes of a file, whose rows are counted as they pass.

    Reading may lose rows: a quote that is not closed makes one cell of all lines after it, and the
    reader may then drop that row. So rows are counted by the reader's own rules: a quote opens a
    cell that begins with it; in such a cell two quotes are one, and the next one ends it; any other
    quote is text. A cell that goes on after the quote that ends it is refused: there the quote of
    another cell has closed one that was open.
    """

    def __init__(self, raw: Any, delimiter: str, is_narrow: bool) -> None:
        self._raw, self._is_narrow = raw, is_narrow
        self._separates = np.zeros(256, bool)
        self._separates[[LF, CR, ord(delimiter)]] = True
        self._before = self._held = b""  # the last byte that was looked at; quotes after it
        self._rows, self._is_quoted, self._at_end, self._is_sound = 0, False, True, True

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data: bytes = self._raw.read(size)
        while len(data) < size and (more := self._raw.read(size - len(data))):
            data += more
        if len(data) < size and not self._before and not {LF, CR}.intersection(data):
            data += b"\n"  # else a header alone is not read
        self._count(data)
        return data

    def has(self, rows: int) -> bool:
        """Whether these are all rows, the header among them; of one column, blank lines are."""
        if self._held or not self._at_end:
            self._count(b"\n")
        return rows == self._rows and self._is_sound and not self._is_quoted

    def _count(self, data: bytes) -> None:
        """Count rows, up to the last byte that is no quote: what follows a quote must be known."""
        data = self._held + (data if self._before else data.removeprefix(codecs.BOM_UTF8))
        seen = data.rstrip(b'"')
        self._held = data[len(seen) :]
        block = np.frombuffer((self._before or b"\n") + seen, np.uint8)
        ends = (block == LF) | (block == CR)
        if self._is_quoted or b'"' in seen:
            ends &= ~self._quoted(block)
        ends[0] = self._at_end
        if self._is_narrow:
            lines = ends[1:] & ~((block[:-1] == CR) & (block[1:] == LF))
        else:
            lines = ends[:-1] & ~ends[1:]
        self._rows += int(np.count_nonzero(lines))
        self._at_end, self._before = bool(ends[-1]), seen[-1:] or self._before

    def _quoted(self, block: Array) -> Array:
        """Return which bytes are in quoted cells.

        A run of an even number of quotes changes nothing. An odd one where a cell could begin opens
        or closes; elsewhere it closes, or is text. So a cell is open if an odd number of the former
        came since the last of the latter.
        """
        is_quote = block == QUOTE  # neither the first nor the last
        heads = np.flatnonzero(is_quote[1:] & ~is_quote[:-1]) + 1
        tails = np.flatnonzero(is_quote[:-1] & ~is_quote[1:])
        is_odd, begins = (tails - heads) & 1 == 0, self._separates[block[heads - 1]]
        turns = np.cumsum(is_odd & begins)
        last = np.where(is_odd & ~begins, turns, -int(self._is_quoted))
        states = np.append(self._is_quoted, (turns - np.maximum.accumulate(last)) & 1 == 1)
        before, self._is_quoted = states[:-1], bool(states[-1])
        ends = np.where(is_odd, before, begins & ~before)
        self._is_sound &= bool((self._separates[block[tails + 1]] | ~ends).all())
        quoted: Array = np.repeat(states, np.diff(heads, prepend=0, append=block.size))
        return quoted


def file_source(frame: Any) -> Arrow:
    """Return the source of files: of a path, a list of paths, or `CSV`."""
    if isinstance(frame, CSV):
        return Text(frame)
    is_typed = FORMATS.get(_suffix(_texts(frame)[0])) in TYPED
    return Typed(frame) if is_typed else Text(CSV(frame))


def files_of(path: Any) -> list[str]:
    """Return the files of a path or pattern, or of a list of them."""
    found: list[str] = []
    for text in _texts(path):
        found += [text] if Path(text).exists() else _matching(text)
    if found == [INPUT]:
        if sys.stdin is None:
            raise ParameterError("path '-' needs an open standard input, got a closed one")
        return found
    for text in found:
        is_portable = text == text.encode(errors="replace").decode()
        is_file = is_portable and Path(text).is_file()
        if not is_file or not os.access(text, os.R_OK):
            which = "that is there" if is_portable else "with a name in UTF-8"
            if is_portable and Path(text).exists():
                which = "that you have permission to read" if is_file else "and not of a directory"
            raise ParameterError(f"path must be that of a file {which}, got {text!r}")
    kinds = {FORMATS.get(_suffix(text)) for text in found}
    if len(kinds) != 1 or None in kinds:
        raise ParameterError(
            f"path must be of files of one format: {', '.join(FORMATS)} (.gz, .bz2, .zst, .lz4), "
            f"got {path!r}"
        )
    if len(set(map(os.path.realpath, found))) < len(found):
        raise ParameterError(f"path must be that of each file once, got {path!r}")
    return found


def _texts(path: Any) -> list[str]:
    """Return paths and patterns as text."""
    several = isinstance(path, Iterable) and not isinstance(path, str)
    texts = [os.fspath(one) for one in (path if several else [path])]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ParameterTypeError("path must be text or path-like, or a list of these")
    return texts


def _matching(pattern: str) -> list[str]:
    return sorted(glob.glob(pattern, recursive=True)) or [pattern]  # noqa: PTH207  # of any folder


def _suffix(path: str) -> str:
    """Return the ending that tells the format."""
    name = Path(path.lower())
    return Path(name.stem).suffix if name.suffix in PACKED else name.suffix
