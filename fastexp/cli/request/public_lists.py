"""``--groups``, ``--candidates``, ``--grid``: public lists, from a file or as they are typed.

Their entries have the type of the column of FILE.
"""

from __future__ import annotations

import datetime as dt
import os
from argparse import Namespace
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ..._keys.group_keys import numbered
from ..._keys.key_columns import read
from ..._parameters.digits import DigitGrid, digits
from ...errors import FastexpError
from ...grouped.request import FROM_DATA
from ...query.engines.frame import ColumnRead
from ...query.files.paths import format_of
from ..options.values import written
from ..terminal.errors import UserMistake
from .input_file import STDIN, VALUE, FileRows, InputFile, is_npy, open_rows
from .list_entries import Entries, combinations, content, entries_of, is_file, split

INT64 = range(-(1 << 63), 1 << 63)
KINDS = ("integers", "text", "booleans")  # types that candidates can have
PRIVATE = "private"
MOST_GRID = 1 << 26  # bytes of a file of grid points
WHY_PUBLIC = """\
--groups is needed: the list of groups to answer
why:   a list made from the data shows which groups exist, so that somebody who
       is alone in one took part, whatever epsilon is
do:    take it from a register or a standard, without looking at FILE, as in
       --groups cities.txt (one a line), --groups cities.csv:city or
       --groups Oslo,Rome; groups without records do no harm
else:  if there is no list, --groups private --delta 1e-8 --groups-epsilon 0.2;
       for data that is public anyway there is --groups from-data"""


def groups(text: str, by: Sequence[str], source: InputFile, option: str = "--groups") -> Any:
    """Return the groups of ``--groups`` for `Query`, with the types of FILE's columns `by`.

    The text is from-data; private; ``A,B,C``; a file with a group in each line; a table with these
    columns, or ``table:column``; for several columns also all combinations,
    ``city=A,B;year=2023,2024``. Repeated groups, and groups that a column cannot have, are refused.
    If FILE is Parquet, the types of its columns are read.
    """
    if text in (FROM_DATA, PRIVATE):
        return text
    combined = _combined(text, by, option)
    columns = combined or entries_of(option, text, by, source)
    keys = [
        typed(option, entries, kind_of_column(source, column), column)
        for column, entries in zip(by, columns, strict=True)
    ]
    if combined:
        from ..._keys.product import product

        for entries, column_keys in zip(columns, keys, strict=True):
            _check(option, entries, column_keys)
        return product(**dict(zip(by, keys, strict=True)))
    rows = keys[0] if len(keys) == 1 else list(zip(*keys, strict=True))
    _check(option, columns[0], rows)
    return rows


def candidates(
    text: str, column: str, source: InputFile, option: str = "--candidates"
) -> tuple[Any, ...]:
    """Return the candidates of ``--candidates``, with the type of FILE's column; see `groups`.

    For from-data, FILE is read.
    """
    if text == FROM_DATA:
        return _occurring(column, source)
    (entries,) = entries_of(option, text, [column], source)
    kind = kind_of_column(source, column)
    keys = typed(option, entries, kind if kind in KINDS else None, column)
    _check(option, entries, keys)
    return tuple(keys)


def grid(options: Namespace) -> list[int | float] | DigitGrid | None:
    """Return the grid of ``--grid`` or ``--digits``; None if neither is given."""
    if options.digits is not None:
        return digits(options.digits)
    return None if options.grid is None else points(options.grid)


def points(text: str, option: str = "--grid") -> list[int | float]:
    """Return the points of ``--grid``: typed numbers, or those in a file of text or .npy."""
    numbers = [written(part) for part in text.split(",")]
    if numbers[0] is None and is_npy(text):
        return _array(text, option)
    if numbers[0] is None:
        lines = content(option, text, MOST_GRID)
        numbers = [written(part) for part in lines.replace(",", " ").split()]
    if not numbers or None in numbers:
        raise UserMistake(
            f"{option} must be numbers separated by commas, or a file of numbers, got {text!r}"
        )
    return [x if isinstance(x, int) else float(x) for x in numbers]


def in_folder(folder: str, text: str) -> str:
    """Return the text of a list in a publication, with a file's path taken from `folder`."""
    file, colon, column = text.rpartition(":")
    if colon and format_of(file) is not None:
        return f"{os.path.join(folder, file)}:{column}"  # noqa: PTH118  # one from the root stays
    path = os.path.join(folder, text)  # noqa: PTH118  # likewise
    return path if is_file(path) or format_of(text) is not None or is_npy(text) else text


def _array(path: str, option: str) -> list[int | float]:
    try:
        with open_rows(InputFile(path)) as frame:
            parts = frame.parts([ColumnRead(VALUE, "numbers")])
            return [x for (part,) in parts for x in part.tolist()]
    except FastexpError as error:
        raise UserMistake(f"{option}: {str(error).removeprefix('frame ')}") from None


def _combined(text: str, by: Sequence[str], option: str) -> list[Entries]:
    """Return the entries of each column in ``city=A,B;year=2023,2024``; none for other texts."""
    parts = [part.strip().partition("=") for part in text.split(";")]
    if len(by) < 2 or not all(equals for _, equals, _ in parts):
        return []
    lists = {column.strip(): entries for column, _, entries in parts}
    if sorted(lists) != sorted(by) or len(parts) != len(by):
        raise UserMistake(
            f"{option} must have a list of each of the columns {', '.join(by)}, once, as in "
            f"{combinations(by)}"
        )
    return [Entries(split(option, lists[column]), True, f"{column}=", "entry") for column in by]


def _check(option: str, entries: Entries, keys: Sequence[Hashable]) -> None:
    if not keys:
        raise UserMistake(f"{option}: {entries.source} has no entries")
    places: dict[Hashable, int] = {}
    for place, key in enumerate(keys):
        first = places.setdefault(key, place)
        if first != place:
            raise UserMistake(
                f"{option}: {entries.called(place)} is a duplicate of {entries.unit} {first + 1}"
            )


def _occurring(column: str, source: InputFile) -> tuple[Any, ...]:
    """Return the values of a column, in increasing order: they are private."""
    if source.path == STDIN:
        raise UserMistake("--candidates from-data needs a file: stdin can be read only once")
    values: set[Any] = set()
    with open_rows(source) as frame:
        use = ColumnRead(column, "keys")
        frame.empty([use])
        for (part,) in frame.parts([use]):
            values |= set(numbered([read(part, "--candidates")], "--candidates")[1].labels())
    if not values:
        raise UserMistake(f"column {column!r} holds no values to take candidates from")
    return tuple(sorted(values))


def kind_of_column(source: InputFile, column: str) -> str | None:
    """Return the type of a column of FILE; None if only its rows show it, or FILE is unreadable."""
    if source.path == STDIN or is_npy(source.path) or not source.has_public_types:
        return None
    frame = FileRows(source.path, delimiter=source.delimiter)
    try:
        file = frame.files[0]
        if file.format != "Parquet" or column in file.partitions:
            return None
        (empty,) = frame.empty([ColumnRead(column, "keys")])
        return read(empty, "column").kind
    except FastexpError:  # it is raised again when FILE is read
        return None


def typed(option: str, entries: Entries, kind: str | None, column: str) -> list[Any]:
    """Return the entries of an option's list with the type of FILE's column.

    kind: a result of `kind_of_column`; None: the list decides. A list of another type, or whose
    type is not clear, is refused.
    """
    values = entries.values
    if not entries.written:
        return values
    if kind is None:
        kind = _kind_of_texts(option, entries)
    reader, keys = READERS[kind], []
    for place, text in enumerate(values):
        try:
            keys.append(reader(text))
        except ValueError:
            raise UserMistake(
                f"{option}: column {column!r} holds {kind}, but {entries.called(place)} is none"
            ) from None
    return keys


def _kind_of_texts(option: str, entries: Entries) -> str:
    """Return "integers" if all texts are written as such, else "text".

    Other numbers beside integers are refused: 13.0 would be text, and would turn 13 into text, too.
    """
    texts = entries.values
    not_integers = [place for place, text in enumerate(texts) if not _is(_integer, text)]
    if not not_integers:
        return "integers"
    codes = len(set(map(len, texts))) == 1 and all(x.isascii() and x.isdigit() for x in texts)
    number = next((place for place in not_integers if _is(float, texts[place])), None)
    if len(not_integers) < len(texts) and not codes and number is not None:
        raise UserMistake(
            f"{option}: {entries.called(number)} is a number, but is not written like the integers "
            "of the list: write it without decimals, + or leading zeros, and within 64 bits "
            "(if all of them are meant as text: a column of text, as list.parquet:column)"
        )
    return "text"


def _is(reader: Callable[[str], Any], text: str) -> bool:
    try:
        reader(text)
    except ValueError:
        return False
    return True


def _integer(text: str) -> int:
    """Return an integer of 64 bits that is written as Python writes it."""
    number = int(text)
    if str(number) != text or number not in INT64:
        raise ValueError
    return number


READERS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "integers": _integer,
    "booleans": lambda text: ("false", "true").index(text.lower()) == 1,
    "dates": dt.date.fromisoformat,
    "timestamps": dt.datetime.fromisoformat,
}
