"""What is read of rows, and the draws of each group."""

from __future__ import annotations

from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np

from ..data.keys import (
    Column,
    Labels,
    Names,
    Persons,
    as_text,
    code_by_list,
    code_by_rows,
    person_codes,
    read_column,
    read_names,
)
from ..data.persons import rows_within_limits
from ..data.records import read_records
from ..data.segments import Segments, segments_of
from ..draws.words import SYSTEM
from ..errors import FastexpError, InvalidRecords, ParameterError
from ..kernels.bits import SIGNED
from ..laws.figures import Figures
from ..mechanisms.candidates import MostCommon
from ..parameters import kinds
from ..types import Array, Floats, Integers, Words
from .answers import Asked, Limits
from .sources import Source

UNREAD = (
    "the rows could not be read; what the engine says is withheld, since it may quote them: read "
    "them without fastexp to see why"
)
MISSING = "records of column {!r} must not be missing: say by nan what missing ones mean"


class Rows(NamedTuple):
    """What is read of all rows: their groups, their persons, a record for each answer.

    A record is a number, or the place of a candidate. Group and place -1 count nowhere.
    """

    codes: Integers
    size: int
    labels: list[Labels]  # of groups that are not listed: of each of by
    persons: Persons | None
    values: list[Array]

    def of_groups(self, shown: Array) -> Rows:
        """Return the rows of some groups."""
        places = np.append(np.where(shown, np.cumsum(shown) - 1, -1), -1)
        return self._replace(codes=places[self.codes], size=int(shown.sum()), labels=[])


def persons_of(rows: Rows, limits: Limits, secret: Words) -> Integers:
    """Return how many persons count in each group, whatever their records are."""
    codes, each = rows.codes, limits.max_rows
    if rows.persons is not None:
        zeros, most, each = np.zeros_like(codes), limits.max_groups, 1
        keep = rows_within_limits(rows.persons, codes, rows.size, zeros, secret, most, 1)
        codes = np.where(keep, codes, -1)
    return -(-np.bincount(codes + 1, minlength=rows.size + 1)[1:] // each)


class Wanted(NamedTuple):
    """What is read of a source."""

    by: tuple[str, ...]
    names: Names | None  # the public list of groups, as it is compared with the source
    kinds: list[str]  # of its columns, as they were listed
    person: str | None
    asked: list[Asked]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        person = [self.person] if self.person else []
        return list(dict.fromkeys([*self.by, *person, *(each.column for each in self.asked)]))


def check_names(known: list[str], wanted: list[str]) -> None:
    """Refuse a frame that does not have each of these columns once."""
    for name in wanted:
        if known.count(name) != 1:
            what = "two columns" if name in known else "no column"
            alike = [x for x in known if normalize("NFC", str(x)) == normalize("NFC", name)]
            show = ascii if alike and name not in known else repr  # composed letters look alike
            some = ", ".join(map(show, alike or known[:20])) or "none"
            raise ParameterError(
                f"frame must have each column once, got {what} {show(name)}: it has {some}"
            )


def read_rows(source: Source, wanted: Wanted) -> Rows:
    """Return all rows, in one pass; an error of the engine may hold data, and is withheld."""
    rows = None
    try:
        rows = rows_of(source, source.read(wanted.columns), wanted)
    except (FastexpError, MemoryError):
        raise
    except Exception:  # noqa: S110  # it may hold data: another one is raised below
        pass
    if rows is None:
        raise InvalidRecords(UNREAD)
    arrays = rows.codes, *rows.values, rows.persons.codes if rows.persons else rows.codes
    if len({array.size for array in arrays}) > 1:
        raise ParameterError("columns must be of one length")
    return rows


def rows_of(source: Source, columns: dict[str, Any], wanted: Wanted) -> Rows:
    """Return what columns hold; those that are not there are not looked at."""
    by, names, kinds, person, asked = wanted
    found: dict[Any, Array] = {}
    for each in asked:
        if each.column in columns and each.reading not in found:
            found[each.reading] = _values(source, each.column, columns[each.column], each)
    values = [found.get(each.reading, np.empty(0)) for each in asked]
    keys = [_keys(source, x, columns[x], k) for x, k in zip(by, kinds, strict=True) if x in columns]
    persons = None
    if person in columns:
        persons = person_codes(f"column {person!r}", _keys(source, person, columns[person]))
    codes, size = np.zeros(values[0].size, np.int64), 1
    labels: list[Labels] = []
    called = f"columns {', '.join(map(repr, by))}"
    if names is not None and len(keys) == len(by):
        codes, size = code_by_list(called, keys if names.is_wide else keys[0], names), names.size
    elif keys and names is None:
        codes, size, labels = code_by_rows(called, keys)
    return Rows(codes, size, labels, persons, values)


def draw(rows: Rows, number: int, asked: Asked, limits: Limits, seeds: Words, secret: Words) -> Any:
    """Return a draw of each group, by the records that count."""
    data = segments(rows, number, asked, limits, secret)
    if rows.size == 0:
        return asked.mechanism._draw(data, SYSTEM, None)[:0]
    return asked.mechanism._draw(data, seeds, None)


def figures(rows: Rows, number: int, asked: Asked, limits: Limits, secret: Words, p: Any) -> Floats:
    """Return n, the truth, the expected error or loss and its quantile at p, of each group."""
    mechanism, data = asked.mechanism, segments(rows, number, asked, limits, secret)
    found = np.full((rows.size, 4), np.nan)
    for g in range(rows.size):
        if data.offsets is None:
            row = data.values.reshape(rows.size, -1)[g]
            found[g, 0] = row.sum()
        else:
            row = data.values[data.offsets[g] : data.offsets[g + 1]]
            found[g, 0] = row.size
        law = Figures(mechanism._runs(Segments(row, data.kind)))
        if found[g, 0] and asked.has_loss:
            found[g, 2:] = law.expected_loss(), law.loss_quantile(p)
        elif found[g, 0]:
            found[g, 1:] = law.truth, law.expected_error(), law.error_quantile(p)
    return found


def segments(rows: Rows, number: int, asked: Asked, limits: Limits, secret: Words) -> Segments:
    """Return the records of each group that count; those of one group, if there are none."""
    mechanism, values, codes = asked.mechanism, rows.values[number], rows.codes
    if isinstance(mechanism, MostCommon):
        codes = np.where(values < 0, -1, codes)
    else:
        is_missing = np.isnan(values)
        if is_missing.any():
            if asked.nan == "raise" and (codes[is_missing] >= 0).any():
                raise InvalidRecords(MISSING.format(asked.column))
            if asked.nan in ("lower", "upper"):
                values = np.where(is_missing, -np.inf if asked.nan == "lower" else np.inf, values)
            else:
                codes = np.where(is_missing, -1, codes)
    if rows.persons is not None:
        most, each = limits.max_groups, limits.max_rows
        keep = rows_within_limits(rows.persons, codes, rows.size, values, secret, most, each)
        codes = np.where(keep, codes, -1)
    size = max(rows.size, 1)
    if not isinstance(mechanism, MostCommon):
        return segments_of(values, codes, size)
    k = len(mechanism.candidates)
    pairs = (codes * k + values)[codes >= 0]
    return Segments(np.bincount(pairs, minlength=size * k).view(np.uint64), SIGNED, size)


def _values(source: Source, name: str, column: Any, asked: Asked) -> Array:
    """Return records: numbers, or places of candidates."""
    mechanism, called = asked.mechanism, f"column {name!r}"
    if isinstance(mechanism, MostCommon):
        names = names_for(source, "candidates", mechanism.candidates, mechanism._names)
        return code_by_list(
            called, _keys(source, name, column, mechanism._names.columns[0][0]), names
        )
    if kinds.is_arrow(column):
        from ..data.arrow import read_numbers

        return read_numbers(called, column, source.missing, source.decimal)
    segments = read_records(column, "raise", called)
    if segments.rows is not None:
        raise ParameterError(f"{called} must have one dimension")
    return segments.values


def _keys(source: Source, name: str, column: Any, kind: str = "") -> Column:
    """Return keys; of cells of text: as text, and as small letters for truth values."""
    if not kinds.is_arrow(column):
        return read_column(f"column {name!r}", column)
    from ..data.arrow import read_keys

    keys = read_keys(f"column {name!r}", column)
    if source.missing is None or keys.keys is None:
        return keys
    texts = [None if key in source.absent else key for key in keys.keys]
    if kind == "booleans":
        texts = [text and text.lower() for text in texts]
    return keys._replace(keys=texts)


def names_for(source: Source, argument: str, labels: tuple[Any, ...], names: Names) -> Names:
    """Return a public list as it is compared with a source: with cells of a file, as text."""
    return names if source.missing is None else read_names(argument, as_text(argument, labels))
