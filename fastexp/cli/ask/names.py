"""The names of a public list: typed, one a line of a file, or a column of one.

The list is public, so that messages may name what is typed or in lines. A table may be a copy of
the data: of that, messages have numbers of rows only.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..._keys.group_lists import listed_keys
from ..._keys.key_columns import read
from ...errors import FastexpError
from ...query.engines.frame import Use
from ...query.files.paths import COMPRESSED, FORMATS, files_of
from ..errors import UserMistake
from .source import STDIN, FileRows, Source, is_npy

MOST = 1 << 28  # bytes of a file of lines
TEXTS = ("CSV", "TSV")  # formats whose cells are of no type


class Names(NamedTuple):
    """The names of a list, or of a column of one.

    Attributes
    ----------
    values : list
    written : bool
        Whether they are texts of which nothing tells what they mean.
    source, unit : str
        What the list is called, and an entry of it: "line", "row" or "entry".
    """

    values: list[Any]
    written: bool
    source: str
    unit: str

    def entry(self, place: int) -> str:
        """What messages call an entry: of tables its number alone."""
        shown = "" if self.unit == "row" else f" ({self.values[place]!r})"
        return f"{self.unit} {place + 1} of {self.source}{shown}"


def columns_of(option: str, text: str, by: Sequence[str], source: Source) -> list[Names]:
    """The names of each column of a list.

    Parameters
    ----------
    option : str
        That names it.
    text : str
        What follows the option.
    by : sequence of str
        The columns of FILE that are compared with it.
    source : Source
        FILE, which must be another one.

    Raises
    ------
    UserMistake
        If there is no such list, or it has a blank entry.
    """
    file, colon, column = text.rpartition(":")
    named = bool(colon) and len(by) == 1 and _is_table(file)
    for path in [text, *([file] if named else [])]:
        if _is_of(path, source):
            raise UserMistake(
                f"{option}: {text!r} is FILE, and what its records have is private: use a public "
                f"list, or {option} from-data (with its warning)"
            )
    if named:
        return _table(option, file, [column], source)
    if _is_table(text) and ("," not in text or _is_file(text)):
        return _table(option, text, by, source)
    if len(by) > 1:
        raise UserMistake(
            f"{option} of several columns must be a table with columns of their names, as in "
            f"{option} groups.csv, or all combinations, as in "
            f"{option} '{';'.join(f'{name}=A,B' for name in by)}'"
        )
    if _is_file(text):
        return [_lines(option, text, by[0])]
    if "," not in text:
        raise UserMistake(
            f"{option}: there is no file {text!r}; give a file with one a line, a column of a "
            f"table (list.csv:column), A,B,C (of one name: A,) or from-data"
        )
    bare = text.removesuffix(",")
    alone = split(option, bare) if bare else []
    values = alone if len(alone) == 1 else split(option, text)
    return [Names(values, True, "the command line", "entry")]


def split(option: str, text: str) -> list[str]:
    """Names from a line of CSV: ``a, b,"c, d"`` are three.

    Raises
    ------
    UserMistake
        If it is none, or an entry is empty.
    """
    try:
        (names,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise UserMistake(f'{option} must be one line of CSV, as in a,b,"c, d"') from None
    if not all(name.strip() for name in names):
        raise UserMistake(f"{option} has an empty entry (a comma too many?)")
    return names


def content(option: str, file: str, most: int = MOST) -> str:
    """The text of a file.

    Raises
    ------
    UserMistake
        If it is no file of text, or a larger one.
    """
    try:
        with Path(file).open("rb") as raw:
            text = raw.read(most + 1).decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or "system error"
        raise UserMistake(f"{option}: cannot read {file!r}: {reason}") from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UserMistake(f"{option}: {file!r} is not UTF-8 text: pipe it through iconv")
    if len(text) > most:
        raise UserMistake(f"{option}: {file!r} must have at most {most >> 20} MB")
    return text


def _lines(option: str, file: str, column: str) -> Names:
    lines = [line.removesuffix("\r") for line in content(option, file).split("\n")]
    while lines and not lines[-1].strip():
        del lines[-1]
    names = Names(lines, True, repr(file), "line")
    for place, line in enumerate(lines):
        if not line.strip():
            raise UserMistake(f"{option}: line {place + 1} of {file!r} is blank")
        if line != line.strip():
            raise UserMistake(
                f"{option}: {names.entry(place)} has blanks at an end; names that are meant so "
                "can be in quotes in a column of a CSV file"
            )
    if lines[:1] == [column]:
        raise UserMistake(
            f"{option}: line 1 of {file!r} is the name of the column {column!r}: is it a header? "
            "Rename the file to .csv and write FILE:COLUMN"
        )
    return names


def _table(option: str, file: str, columns: Sequence[str], source: Source) -> list[Names]:
    frame = FileRows(file, delimiter=source.delimiter)
    try:
        present = frame.names()
        for column in columns:
            if present.count(column) != 1:
                raise UserMistake(
                    f"{option}: {file!r} must have one column {column!r} (one of another name: "
                    f"{file}:COLUMN)"
                )
        written = frame.files[0].format in TEXTS
        uses = [Use(column, "text" if written else "keys") for column in columns]
        frame.empty(uses)
        chunks: list[list[Any]] = [[] for _ in columns]
        for part in frame.parts(uses, [], None):
            for own, cells in zip(chunks, part, strict=True):
                own += read(cells, option)
        keys = [listed_keys(own, option).labels() for own in chunks]
    except FastexpError as error:
        text = str(error).replace("frame must", "the list must", 1)
        raise UserMistake(f"{option}: {text.removeprefix(f'{option} ')}") from None
    listed = []
    for column, values in zip(columns, keys, strict=True):
        names = Names(values, written, f"{column!r} of {file!r}", "row")
        for place, value in enumerate(values):
            if isinstance(value, str) and not value.strip():
                raise UserMistake(f"{option}: {names.entry(place)} is blank")
        listed.append(names)
    return listed


def _is_table(file: str) -> bool:
    """Whether a name is one of a file with columns."""
    ending = file.lower()
    for suffix in COMPRESSED:
        ending = ending.removesuffix(suffix)
    return Path(ending).suffix in FORMATS


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # a list that is too long for a path, or cannot be one
        return False


def _is_of(file: str, source: Source) -> bool:
    """Whether a file is one of those that FILE means."""
    if source.file == STDIN or not _is_file(file):
        return False
    try:
        paths = [source.file] if is_npy(source.file) else [x.path for x in files_of(source.file)]
        return any(Path(file).samefile(path) for path in paths)
    except (FastexpError, OSError):  # said where FILE is read
        return False
