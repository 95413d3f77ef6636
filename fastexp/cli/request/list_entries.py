"""The entries of a public list: typed, in lines of a file, or in a column of a table.

A list is public, so that messages may quote typed entries and lines. But a table may be a copy of
the data: messages about a table have numbers of rows only.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..._keys.group_lists import listed_keys
from ..._keys.key_columns import joined, read
from ...errors import FastexpError
from ...query.engines.frame import ColumnRead
from ...query.files.paths import format_of
from ...query.output.output_file import is_of, is_same
from ..options.values import csv_cells
from ..terminal.errors import UserMistake, reason_of
from .input_file import STDIN, FileRows, InputFile, is_npy

MAX_FILE_BYTES = 1 << 28  # of a file of lines
MARKS = set(",;|\t")  # delimiters
TEXTS = ("CSV", "TSV")  # formats without types: every cell is text


class Entries(NamedTuple):
    """The entries of a list, or of one column of a list."""

    values: list[Any]
    written: bool  # whether they are texts, which may stand for values of another kind
    source: str  # the name of the list in messages
    unit: str  # the name of an entry in messages: "line", "row" or "entry"

    def called(self, place: int) -> str:
        """Return an entry's name in messages; the entries of a table have a number only."""
        value = "" if self.unit == "row" else f" ({self.values[place]!r})"
        return f"{self.unit} {place + 1} of {self.source}{value}"


def entries_of(option: str, text: str, by: Sequence[str], source: InputFile) -> list[Entries]:
    """Return the entries of the list that `text`, the value of an option, names, by column.

    by: the columns of FILE that are compared with the list. FILE itself and blank entries are
    refused.
    """
    file, colon, column = text.rpartition(":")
    has_column = bool(colon) and len(by) == 1 and format_of(file) is not None
    same = is_same if is_npy(source.path) else is_of
    for path in [text, *([file] if has_column else [])]:
        if source.path != STDIN and same(path, source.path):
            other = f", or {option} from-data (with its warning)" * option.startswith("-")
            raise UserMistake(
                f"{option}: {text!r} is FILE itself, whose values are private: use a public "
                f"list{other}"
            )
    if has_column:
        return _table(option, file, [column], source, is_named=True)
    if format_of(text) is not None and ("," not in text or is_file(text)):
        return _table(option, text, by, source)
    if len(by) > 1:
        raise UserMistake(
            f"{option} of several columns must be a table with columns of their names, as in "
            f"{option} groups.csv, or all combinations, as in "
            f"{option} '{combinations(by)}'"
        )
    if is_file(text):
        return [_lines(option, text, by[0])]
    if "," not in text:
        other = " or from-data" * option.startswith("-")
        raise UserMistake(
            f"{option}: there is no file {text!r}; give a file with one a line, a column of a "
            f"table (list.csv:column), or A,B,C (of one name: A,){other}"
        )
    bare = text.removesuffix(",")
    alone = split(option, bare) if bare else []
    values = alone if len(alone) == 1 else split(option, text)
    return [Entries(values, True, "the command line", "entry")]


def combinations(by: Sequence[str]) -> str:
    """Return an example of all combinations of keys, as on the command line."""
    return ";".join(f"{column}=A,B" for column in by)


def split(option: str, text: str) -> list[str]:
    """Return the entries of a line of CSV (``a, b,"c, d"``: three); refuse an empty entry."""
    entries = csv_cells(text)
    if entries is None:
        raise UserMistake(f'{option} must be one line of CSV, as in a,b,"c, d"')
    if not all(entry.strip() for entry in entries):
        raise UserMistake(f"{option} has an empty entry (a comma too many?)")
    return entries


def content(option: str, file: str, most: int = MAX_FILE_BYTES) -> str:
    """Return the text of a file; refuse a file that is not text, or larger than `most` bytes."""
    try:
        with Path(file).open("rb") as raw:
            text = raw.read(most + 1).decode("utf-8-sig")
    except OSError as error:
        reason = reason_of(error, "system error")
        raise UserMistake(f"{option}: cannot read {file!r}: {reason}") from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UserMistake(f"{option}: {file!r} is not UTF-8 text: pipe it through iconv")
    if len(text) > most:
        raise UserMistake(f"{option}: {file!r} must have at most {most >> 20} MB")
    return text


def _lines(option: str, file: str, column: str) -> Entries:
    lines = [line.removesuffix("\r") for line in content(option, file).split("\n")]
    while lines and not lines[-1].strip():
        del lines[-1]
    entries = Entries(lines, True, repr(file), "line")
    for place, line in enumerate(lines):
        if not line.strip():
            raise UserMistake(f"{option}: line {place + 1} of {file!r} is blank")
        if line != line.strip():
            raise UserMistake(
                f"{option}: {entries.called(place)} has blanks at an end; to keep them, put the "
                "name in quotes in a column of a CSV file"
            )
    if lines[:1] == [column]:
        raise UserMistake(
            f"{option}: line 1 of {file!r} is the name of the column {column!r}: is it a header? "
            "Rename the file to .csv and write FILE:COLUMN"
        )
    return entries


def _table(
    option: str, file: str, columns: Sequence[str], source: InputFile, *, is_named: bool = False
) -> list[Entries]:
    """Return columns of a file. If it has only one, its name need not match."""
    frame = FileRows(file, delimiter=source.delimiter)
    try:
        present = frame.names()
        if len(present) == 1 and set(present[0]) & MARKS and present[0] not in columns:
            key = "--delimiter" if option.startswith("-") else "delimiter"
            raise UserMistake(
                f"{option}: {file!r} has only one column, with a comma, semicolon, bar or tab in "
                f"its name (is another delimiter between its columns? see {key})"
            )
        if len(columns) == len(present) == 1 and not is_named:
            columns = present
        for column in columns:
            if present.count(column) != 1:
                raise UserMistake(
                    f"{option}: {file!r} must have one column {column!r} (one of another name: "
                    f"{file}:COLUMN)"
                )
        written = frame.files[0].format in TEXTS
        uses = [ColumnRead(column, "text" if written else "keys") for column in columns]
        frame.empty(uses)
        chunks: list[list[Any]] = [[] for _ in columns]
        for part in frame.parts(uses):
            for chunk, cells in zip(chunks, part, strict=True):
                chunk.append(read(cells, option))
        keys = [listed_keys(joined(chunk, option), option).labels() for chunk in chunks]
    except FastexpError as error:
        text = str(error).replace("frame must", "the list must", 1)
        raise UserMistake(f"{option}: {text.removeprefix(f'{option} ')}") from None
    lists = [
        Entries(values, written, f"{column!r} of {file!r}", "row")
        for column, values in zip(columns, keys, strict=True)
    ]
    for entries in lists:
        for place, value in enumerate(entries.values):
            if isinstance(value, str) and not value.strip():
                raise UserMistake(f"{option}: {entries.called(place)} is blank")
    return lists


def is_file(text: str) -> bool:
    """Whether a text is the path of a file."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # a list that is too long for a path, or cannot be one
        return False
