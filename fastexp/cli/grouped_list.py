"""``--groups``: the public list, from a file, a column of a file or the command line itself.

The list is public, so that messages may name what is in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from .._group_keys import names_of
from .._group_names import Names
from .errors import UserMistake
from .files import name, opened
from .grouped_keys import is_integer
from .grouped_parquet import INTEGERS, TEXTS
from .question import split
from .reading import INT64, PARQUET, records

FROM_DATA = "from-data"
MOST = 1 << 30  # bytes of a file of labels
TABLES = (".csv", *PARQUET)
FORMS = "a file with one a line, a column of a file (cities.csv:city), A,B,C or from-data"
WHY_PUBLIC = """\
--groups is needed: the list of groups to answer, chosen without looking at FILE
why:   a list made from the data shows which groups exist, so that somebody who is alone in
       one took part, whatever epsilon is
do:    take it from a register or a standard, as in --groups cities.txt (one a line),
       --groups cities.csv:city or --groups Oslo,Rome; groups without records do no harm
else:  for data that is public anyway there is --groups from-data"""


class Labels(NamedTuple):
    """What a list holds: texts as they are written, or typed values of Parquet."""

    labels: list[Any]
    written: bool
    source: str


def listed(text: str, delimiter: str) -> Labels:
    """Read the list.

    Parameters
    ----------
    text : str
        What follows ``--groups``, other than from-data.
    delimiter : str
        Of CSV.

    Returns
    -------
    Labels

    Raises
    ------
    UserMistake
        If there is no such list, or a label is missing or twice there.
    """
    if Path(text).is_file():
        if text.lower().endswith(TABLES):
            raise UserMistake(f"--groups {text}: which column? Write it as {text}:COLUMN")
        return _checked(Labels(_lines(text), True, name(text)), "line")
    file, colon, column = text.rpartition(":")
    if colon and file.lower().endswith(TABLES):
        found = records(file, column, delimiter)
        written = not file.lower().endswith(PARQUET)
        return _checked(Labels(found.values, written, f"{column!r} of {name(file)}"), "row")
    if "," in text:
        return Labels(list(split(text, "group")), True, "the command line")
    raise UserMistake(f"--groups: there is no file {text!r}; give {FORMS}")


def _lines(file: str) -> list[str]:
    with opened(file) as raw:
        content = raw.read(MOST)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UserMistake(f"--groups {name(file)} is not UTF-8 text: pipe it through iconv")
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    for number, line in enumerate(lines, 1):
        if line.strip() and line != line.strip():
            raise UserMistake(
                f"line {number} of {name(file)} has blanks at an end: {line!r}; labels that are "
                "meant so can be in quotes in a column of a CSV file"
            )
    return [] if lines == [""] else lines


def _checked(found: Labels, unit: str) -> Labels:
    seen: dict[Any, int] = {}
    for number, label in enumerate(found.labels, 1):
        if label is None or (isinstance(label, str) and not label.strip()):
            raise UserMistake(f"--groups: {unit} {number} of {found.source} is blank")
        if label in seen:
            raise UserMistake(
                f"--groups: {unit} {number} of {found.source} names {label!r} again (the first "
                f"time: {unit} {seen[label]})"
            )
        seen[label] = number
    if not found.labels:
        raise UserMistake(f"--groups: {found.source} names no group")
    return found


def names_for(found: Labels, kind: str | None, by: str) -> Names:
    """The list as keys of the kind that the column of FILE has.

    Parameters
    ----------
    found : Labels
    kind : {"integers", "text", None}
        None: CSV, where the list decides.
    by : str
        The column.
    """
    labels = found.labels
    if not found.written:
        names = names_of(labels, "--groups")
        if kind is not None and names.text != (kind == TEXTS):
            other = TEXTS if names.text else INTEGERS
            raise UserMistake(f"--groups: {found.source} holds {other}, but column {by!r} {kind}")
        return names
    odd = None if kind == TEXTS else next((x for x in labels if not is_integer(x)), None)
    if kind == INTEGERS and odd is not None:
        raise UserMistake(
            f"--groups: column {by!r} holds integers, but {found.source} has {odd!r}, which is "
            f"none{' of 64 bits' * _is_long(odd)}"
        )
    if kind == TEXTS or odd is not None:
        return names_of(labels, "--groups")
    return names_of([int(x) for x in labels], "--groups")


def _is_long(label: str) -> bool:
    return (
        label.removeprefix("-").isdecimal() and len(label) > 18 and int(label[:4000]) not in INT64
    )
