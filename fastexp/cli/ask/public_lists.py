"""``--groups``, ``--candidates``, ``--grid``: public lists, from a file or as they are typed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ..._keys.group_keys import numbered
from ..._keys.key_columns import read
from ...errors import FastexpError
from ...grouped.request import FROM_DATA
from ...query.engines.frame import Use
from ..options.values import written
from ..terminal.errors import UserMistake
from .entry_kinds import kind_of_column, typed
from .input_file import STDIN, InputFile, is_npy, open_rows
from .list_entries import Entries, combinations, content, entries_of, split
from .npy_rows import VALUE

KINDS = ("integers", "text", "booleans")  # of candidates
MOST_GRID = 1 << 26  # bytes of a file of grid points
WHY_PUBLIC = """\
--groups is needed: the list of groups to answer
why:   a list made from the data shows which groups exist, so that somebody who
       is alone in one took part, whatever epsilon is
do:    take it from a register or a standard, without looking at FILE, as in
       --groups cities.txt (one a line), --groups cities.csv:city or
       --groups Oslo,Rome; groups without records do no harm
else:  for data that is public anyway there is --groups from-data"""


def groups(text: str, by: Sequence[str], source: InputFile) -> Any:
    """What ``--groups`` names, as `Query` takes it; the kinds are those of FILE's columns `by`.

    from-data; ``A,B,C``; a file with one a line; a table with these columns, or ``table:column``;
    of several columns all combinations too, ``city=A,B;year=2023,2024``. No group is there twice,
    or is nothing that its column can hold. Of Parquet the types of FILE's columns are looked at.
    """
    if text == FROM_DATA:
        return FROM_DATA
    option, combined = "--groups", _combined(text, by)
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


def candidates(text: str, column: str, source: InputFile) -> tuple[Any, ...]:
    """What ``--candidates`` names, of the kind of FILE's column; see `groups`.

    For from-data FILE is read.
    """
    if text == FROM_DATA:
        return _occurring(column, source)
    option = "--candidates"
    (entries,) = entries_of(option, text, [column], source)
    kind = kind_of_column(source, column)
    keys = typed(option, entries, kind if kind in KINDS else None, column)
    _check(option, entries, keys)
    return tuple(keys)


def points(text: str) -> list[int | float]:
    """The points of ``--grid``: numbers, or those of a file, of text or .npy."""
    numbers = [written(part) for part in text.split(",")]
    if numbers[0] is None and is_npy(text):
        return _array(text)
    if numbers[0] is None:
        lines = content("--grid", text, MOST_GRID)
        numbers = [written(part) for part in lines.replace(",", " ").split()]
    if not numbers or None in numbers:
        raise UserMistake(
            f"--grid must be numbers separated by commas, or a file of numbers, got {text!r}"
        )
    return [x if isinstance(x, int) else float(x) for x in numbers]


def _array(path: str) -> list[int | float]:
    try:
        with open_rows(InputFile(path)) as frame:
            parts = frame.parts([Use(VALUE, "numbers")], [], None)
            return [x for (part,) in parts for x in part.tolist()]
    except FastexpError as error:
        raise UserMistake(f"--grid: {str(error).removeprefix('frame ')}") from None


def _combined(text: str, by: Sequence[str]) -> list[Entries]:
    """The entries of each column in ``city=A,B;year=2023,2024``; none of any other text."""
    parts = [part.strip().partition("=") for part in text.split(";")]
    if len(by) < 2 or not all(equals for _, equals, _ in parts):
        return []
    lists = {column.strip(): entries for column, _, entries in parts}
    if sorted(lists) != sorted(by) or len(parts) != len(by):
        raise UserMistake(
            f"--groups must have a list of each of the columns {', '.join(by)}, once, as in "
            f"{combinations(by)}"
        )
    return [Entries(split("--groups", lists[column]), True, f"{column}=", "entry") for column in by]


def _check(option: str, entries: Entries, keys: Sequence[Hashable]) -> None:
    if not keys:
        raise UserMistake(f"{option}: {entries.source} has no entries")
    places: dict[Hashable, int] = {}
    for place, key in enumerate(keys):
        first = places.setdefault(key, place)
        if first != place:
            raise UserMistake(
                f"{option}: {entries.called(place)} is there already: {entries.unit} {first + 1}"
            )


def _occurring(column: str, source: InputFile) -> tuple[Any, ...]:
    """The values of a column, in increasing order: they are private."""
    if source.path == STDIN:
        raise UserMistake("--candidates from-data needs a file: stdin can be read only once")
    values: set[Any] = set()
    with open_rows(source) as frame:
        use = Use(column, "keys")
        frame.empty([use])
        for (part,) in frame.parts([use], [], None):
            values |= set(numbered([read(part, "--candidates")], "--candidates")[1].labels())
    if not values:
        raise UserMistake(f"column {column!r} holds no values to take candidates from")
    return tuple(sorted(values))
