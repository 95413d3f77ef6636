"""``--groups``, ``--candidates``: a public list, from a file, a column of one or as it is typed.

The list is public, so that messages may name what is in a list of lines. A column of a table may
be of a copy of the data: of that, messages have row numbers only.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

from .errors import UserMistake
from .files import name, opened, same
from .reading import PARQUET, records

FROM_DATA = "from-data"
ROW = "row"  # of a table, which is not shown
MOST = 1 << 30  # bytes of a file of labels
TABLES = (".csv", *PARQUET)
WHY_PUBLIC = """\
--groups is needed: the list of groups to answer, chosen without looking at FILE
why:   a list made from the data shows which groups exist, so that somebody who is alone in
       one took part, whatever epsilon is
do:    take it from a register or a standard, as in --groups cities.txt (one a line),
       --groups cities.csv:city or --groups Oslo,Rome; groups without records do no harm
else:  for data that is public anyway there is --groups from-data"""


class Kind(NamedTuple):
    """What a list is of."""

    option: str
    one: str
    from_data: str

    def mistake(self, text: str) -> UserMistake:
        """What is wrong with the list."""
        return UserMistake(f"{self.option}: {text}")


GROUPS = Kind("--groups", "group", f"--groups {FROM_DATA}")
CANDIDATES = Kind("--candidates", "candidate", "--candidates from-data")


class Labels(NamedTuple):
    """What a list holds: texts as they are written, or typed values of Parquet."""

    labels: list[Any]
    written: bool
    source: str
    unit: str  # of an entry: line, row, entry

    def entry(self, number: int) -> str:
        """What messages call entry `number`, from 1 on."""
        shown = "" if self.unit == ROW else f" ({self.labels[number - 1]!r})"
        return f"{self.unit} {number} of {self.source}{shown}"


def listed(kind: Kind, text: str, delimiter: str, column: str, data: str) -> Labels:
    """Read the list.

    Parameters
    ----------
    kind : Kind
    text : str
        What follows the option, other than from-data.
    delimiter : str
        Of CSV.
    column : str
        The column of the data that is compared with the list.
    data : str
        The file of the data, which must be another one.

    Returns
    -------
    Labels

    Raises
    ------
    UserMistake
        If there is no such list, or a label is missing or twice there.
    """
    file, colon, named = text.rpartition(":")
    is_column = bool(colon) and file.lower().endswith(TABLES)
    if same(text, data) or (is_column and same(file, data)):
        raise kind.mistake(
            f"{text!r} is FILE, and the {kind.one}s of the data are private: use "
            f"{kind.from_data} (with its warning) or a public list"
        )
    if _is_file(text):
        if text.lower().endswith(TABLES):
            raise kind.mistake(f"{text!r} is a table: which column? Write it as FILE:COLUMN")
        found = Labels(_lines(kind, text), True, name(text), "line")
        if found.labels[:1] == [column]:
            raise kind.mistake(
                f"line 1 of {name(text)} is the name of the column {column!r}: is line 1 a "
                "header? Rename it to .csv and write FILE:COLUMN"
            )
        return _checked(kind, found)
    if is_column:
        values = records(file, named, delimiter).values
        written = not file.lower().endswith(PARQUET)
        return _checked(kind, Labels(values, written, f"{named!r} of {name(file)}", ROW))
    if "," in text:
        return Labels(_typed(kind, text), True, "the command line", "entry")
    raise kind.mistake(
        f"there is no file {text!r}; give a file with one a line, a column of a file "
        f"({kind.one}s.csv:{kind.one}), A,B,C (of one name: A,) or {kind.from_data}"
    )


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # a list that is too long for a path, or cannot be one
        return False


def _typed(kind: Kind, text: str) -> list[str]:
    """Names of the command line; ``A,`` is one."""
    bare = text.removesuffix(",")
    names = split(bare, kind) if bare else []
    return names if len(names) == 1 else split(text, kind)


def split(text: str, kind: Kind) -> list[str]:
    """Names from a line of CSV: ``a, b,"c, d"`` are three.

    Parameters
    ----------
    text : str
        What follows the option.
    kind : Kind

    Returns
    -------
    list of str
    """
    try:
        (names,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise UserMistake(f'{kind.option} must be one line of CSV, as in a,b,"c, d"') from None
    if not all(names):
        raise UserMistake(f"{kind.option} has an empty entry (a comma too many?)")
    if len(set(names)) < len(names):
        raise UserMistake(f"{kind.option} names a {kind.one} twice")
    return names


def _lines(kind: Kind, file: str) -> list[str]:
    with opened(file) as raw:
        content = raw.read(MOST)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise kind.mistake(f"{name(file)} is not UTF-8 text: pipe it through iconv")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    while lines and not lines[-1].strip():
        del lines[-1]
    for number, line in enumerate(lines, 1):
        if line.strip() and line != line.strip():
            raise UserMistake(
                f"line {number} of {name(file)} has blanks at an end: {line!r}; labels that are "
                "meant so can be in quotes in a column of a CSV file"
            )
    return lines


def _checked(kind: Kind, found: Labels) -> Labels:
    unit = found.unit
    seen: dict[Any, int] = {}
    for number, label in enumerate(found.labels, 1):
        if label is None or (isinstance(label, str) and not label.strip()):
            raise kind.mistake(f"{unit} {number} of {found.source} is blank")
        if label in seen:
            shown = f"a {kind.one}" if unit == ROW else repr(label)
            raise kind.mistake(
                f"{unit} {number} of {found.source} names {shown} again (the first time: "
                f"{unit} {seen[label]})"
            )
        seen[label] = number
    if not found.labels:
        raise kind.mistake(f"{found.source} names no {kind.one}")
    return found
