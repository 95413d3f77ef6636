"""``--groups``: the public list, from a file, a column of a file or the command line itself.

The list is public, so that messages may name what is in a list of lines. A column of a table may
be of a copy of the data: of that, messages have row numbers only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from .errors import UserMistake
from .files import name, opened
from .question import split
from .reading import PARQUET, records

FROM_DATA = "from-data"
ROW = "row"  # of a table, which is not shown
MOST = 1 << 30  # bytes of a file of labels
TABLES = (".csv", *PARQUET)
FORMS = (
    "a file with one a line, a column of a file (cities.csv:city), A,B,C (of one name: A,) or "
    "from-data"
)
WHY_PUBLIC = """\
--groups is needed: the list of groups to answer, chosen without looking at FILE
why:   a list made from the data shows which groups exist, so that somebody who is alone in
       one took part, whatever epsilon is
do:    take it from a register or a standard, as in --groups cities.txt (one a line),
       --groups cities.csv:city or --groups Oslo,Rome; groups without records do no harm
else:  for data that is public anyway there is --groups from-data"""


OF_DATA = (
    "--groups {!r}: the groups of the data are private: use --groups from-data (with its "
    "warning) or a public list"
)


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


def listed(text: str, delimiter: str, by: str, data: str) -> Labels:
    """Read the list.

    Parameters
    ----------
    text : str
        What follows ``--groups``, other than from-data.
    delimiter : str
        Of CSV.
    by : str
        The column of the data that says which group a record is of.
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
    if _same(text, data):
        raise UserMistake(OF_DATA.format(text))
    if Path(text).is_file():
        if text.lower().endswith(TABLES):
            raise UserMistake(f"--groups {text!r}: which column? Write it as FILE:COLUMN")
        found = Labels(_lines(text), True, name(text), "line")
        if found.labels[:1] == [by]:
            raise UserMistake(
                f"--groups: line 1 of {name(text)} is the name of the column {by!r}: is line 1 a "
                "header? Rename it to .csv and write FILE:COLUMN"
            )
        return _checked(found)
    file, colon, column = text.rpartition(":")
    if colon and file.lower().endswith(TABLES):
        if _same(file, data):
            raise UserMistake(OF_DATA.format(text))
        values = records(file, column, delimiter).values
        written = not file.lower().endswith(PARQUET)
        return _checked(Labels(values, written, f"{column!r} of {name(file)}", ROW))
    if "," in text:
        return Labels(_typed(text), True, "the command line", "entry")
    raise UserMistake(f"--groups: there is no file {text!r}; give {FORMS}")


def _same(file: str, data: str) -> bool:
    """Whether two paths are one file."""
    try:
        return Path(file).samefile(data)
    except (OSError, ValueError):  # one of them is none
        return False


def _typed(text: str) -> list[str]:
    """Names of the command line; ``A,`` is one."""
    bare = text.removesuffix(",")
    names = split(bare, "group") if bare else ()
    return list(names if len(names) == 1 else split(text, "group"))


def _lines(file: str) -> list[str]:
    with opened(file) as raw:
        content = raw.read(MOST)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UserMistake(f"--groups {name(file)} is not UTF-8 text: pipe it through iconv")
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


def _checked(found: Labels) -> Labels:
    unit = found.unit
    seen: dict[Any, int] = {}
    for number, label in enumerate(found.labels, 1):
        if label is None or (isinstance(label, str) and not label.strip()):
            raise UserMistake(f"--groups: {unit} {number} of {found.source} is blank")
        if label in seen:
            shown = "a group" if unit == ROW else repr(label)
            raise UserMistake(
                f"--groups: {unit} {number} of {found.source} names {shown} again (the first "
                f"time: {unit} {seen[label]})"
            )
        seen[label] = number
    if not found.labels:
        raise UserMistake(f"--groups: {found.source} names no group")
    return found
