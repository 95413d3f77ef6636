"""``--groups``, ``--candidates``, ``--grid``: public lists, from a file or as they are typed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ..._keys.group_keys import numbered
from ..._keys.key_columns import read
from ...errors import FastexpError
from ...query.engines.frame import Use
from ..errors import UserMistake
from ..options.values import written
from .kinds import kind_of_column, typed
from .names import Names, columns_of, content, split
from .npy import VALUE
from .source import STDIN, Source, is_npy, opened

FROM_DATA = "from-data"
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


def groups(text: str, by: Sequence[str], source: Source) -> Any:
    """What ``--groups`` names, as `Query` takes it; the kinds are those of FILE's columns.

    Parameters
    ----------
    text : str
        from-data; ``A,B,C``; a file with one a line; a table with the columns `by`, or
        ``table:column``; of several columns all combinations too, as ``city=A,B;year=2023,2024``.
    by : sequence of str
        The columns of FILE.
    source : Source
        FILE; of Parquet the types of its columns are looked at.

    Raises
    ------
    UserMistake
        If there is no such list, a group is there twice, or is nothing that its column can hold.
    """
    if text == FROM_DATA:
        return FROM_DATA
    option, combined = "--groups", _combined(text, by)
    columns = combined or columns_of(option, text, by, source)
    keys = [
        typed(option, names, kind_of_column(source, name), name)
        for name, names in zip(by, columns, strict=True)
    ]
    if combined:
        from ..._keys.product import product

        for names, own in zip(columns, keys, strict=True):
            _check(option, names, own)
        return product(**dict(zip(by, keys, strict=True)))
    rows = keys[0] if len(keys) == 1 else list(zip(*keys, strict=True))
    _check(option, columns[0], rows)
    return rows


def candidates(text: str, column: str, source: Source) -> tuple[Any, ...]:
    """What ``--candidates`` names, of the kind of FILE's column.

    Parameters
    ----------
    text : str
        As of `groups`, for one column.
    column : str
    source : Source
        FILE; it is read for from-data.

    Raises
    ------
    UserMistake
        As of `groups`.
    """
    if text == FROM_DATA:
        return _occurring(column, source)
    option = "--candidates"
    (names,) = columns_of(option, text, [column], source)
    kind = kind_of_column(source, column)
    keys = typed(option, names, kind if kind in KINDS else None, column)
    _check(option, names, keys)
    return tuple(keys)


def points(text: str) -> Any:
    """The points of ``--grid``: numbers, or those of a file, of text or .npy."""
    listed = [written(part) for part in text.split(",")]
    if listed[0] is None and is_npy(text):
        return _array(text)
    if listed[0] is None:
        whole = content("--grid", text, MOST_GRID)
        listed = [written(part) for part in whole.replace(",", " ").split()]
    if not listed or None in listed:
        raise UserMistake(
            f"--grid must be numbers separated by commas, or a file of numbers, got {text!r}"
        )
    return [x if isinstance(x, int) else float(x) for x in listed]


def _array(file: str) -> list[Any]:
    try:
        with opened(Source(file)) as frame:
            parts = frame.parts([Use(VALUE, "numbers")], [], None)
            return [x for (part,) in parts for x in part.tolist()]
    except FastexpError as error:
        raise UserMistake(f"--grid: {str(error).removeprefix('frame ')}") from None


def _combined(text: str, by: Sequence[str]) -> list[Names]:
    """The names of each column in ``city=A,B;year=2023,2024``; none of any other text."""
    parts = [part.strip().partition("=") for part in text.split(";")]
    if len(by) < 2 or not all(equals for _, equals, _ in parts):
        return []
    lists = {name.strip(): names for name, _, names in parts}
    if sorted(lists) != sorted(by) or len(parts) != len(by):
        raise UserMistake(
            f"--groups must have a list of each of the columns {', '.join(by)}, once, as in "
            f"{';'.join(f'{name}=A,B' for name in by)}"
        )
    return [Names(split("--groups", lists[name]), True, f"{name}=", "entry") for name in by]


def _check(option: str, names: Names, keys: Sequence[Hashable]) -> None:
    """Refuse a list without entries, or with one twice."""
    if not keys:
        raise UserMistake(f"{option}: {names.source} has no entries")
    seen: dict[Hashable, int] = {}
    for place, key in enumerate(keys):
        first = seen.setdefault(key, place)
        if first != place:
            raise UserMistake(
                f"{option}: {names.entry(place)} is there already: {names.unit} {first + 1}"
            )


def _occurring(column: str, source: Source) -> tuple[Any, ...]:
    """The values of a column, in increasing order: they are private."""
    if source.file == STDIN:
        raise UserMistake("--candidates from-data needs a file: stdin can be read only once")
    values: set[Any] = set()
    with opened(source) as frame:
        use = Use(column, "keys")
        frame.empty([use])
        for (part,) in frame.parts([use], [], None):
            values |= set(numbered([read(part, "--candidates")], "--candidates")[1].labels())
    if not values:
        raise UserMistake(f"column {column!r} holds no values to take candidates from")
    return tuple(sorted(values))
