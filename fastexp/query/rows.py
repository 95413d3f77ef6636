"""What is read of rows, and the draws of each group."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
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
from ..draws.coins import draw_appearances
from ..draws.words import SYSTEM, system_words
from ..errors import FastexpError, InvalidRecords, ParameterError
from ..kernels.bits import SIGNED
from ..kernels.envelope import HEADER
from ..laws.figures import Figures
from ..mechanisms.candidates import MostCommon
from ..parameters import kinds
from ..types import Array, Floats, Integers, Words
from .answers import Asked, Limits
from .output import Drawn
from .sources import HERE, Source

MANY = 1 << 24  # rows: if more follow, equal ones are counted,
CELLS = 1 << 26  # and there are at most so many combinations of a group and records
ANSWER = np.uint64(52)  # the bits of a tag from which on it has the number of an answer
COIN = 63  # the number of the coins of private groups
UNREAD = (
    "the rows could not be read; what the engine says is withheld, since it may quote them: read "
    "them without fastexp to see why"
)
MISSING = "records of column {!r} must not be missing: give nan='drop', 'lower' or 'upper'"


class Rows(NamedTuple):
    """What is read of rows: their groups, their persons, a record for each answer.

    A record is a number, or the place of a candidate. Group and place -1 count nowhere.
    """

    codes: Integers
    size: int
    labels: list[Labels]  # of groups that are not listed: of each of by
    persons: Persons | None
    values: dict[Any, Array]  # for each reading
    counts: Integers | None = None  # how many rows each stands for; None: one
    limited: Integers | None = None  # a bit for each answer, then for the coins: whether it counts

    def of_groups(self, shown: Array) -> Rows:
        """Return the rows of some groups."""
        places = np.append(np.where(shown, np.cumsum(shown) - 1, -1), -1)
        return self._replace(codes=places[self.codes], size=int(shown.sum()), labels=[])

    def of_answer(self, number: int) -> Rows:
        """Return the rows that count for an answer, if that was found before."""
        if self.limited is None:
            return self
        return self._replace(codes=np.where(self.limited >> number & 1, self.codes, -1))


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
    if source.is_remote:
        raise ParameterError(HERE)
    rows = None
    try:
        rows = (
            rows_of(source, source.read(wanted.columns), wanted)
            if wanted.person or (wanted.by and wanted.names is None)
            else _in_parts(source, wanted)
        )
    except (FastexpError, MemoryError):
        raise
    except Exception:  # noqa: S110  # it may hold data: another one is raised below
        pass
    if rows is None:
        raise InvalidRecords(UNREAD)
    return rows


def _in_parts(source: Source, wanted: Wanted) -> Rows:
    """Return all rows; equal ones once, if there are many."""
    held: list[Rows] = []
    size, most = 0, MANY
    for columns in source.parts(wanted.columns):
        if size > most:
            held = [_counted(_joined(held))]
            size = held[0].codes.size
            most = max(MANY, 4 * size)
        held.append(rows_of(source, columns, wanted))
        size += held[-1].codes.size
    return _joined(held)


def _joined(parts: list[Rows]) -> Rows:
    """Return the rows of parts, which have groups of one list and no persons.

    Those of the first part may be counted.
    """
    first, counts = parts[0], None
    if len(parts) == 1:
        return first
    if first.counts is not None:
        ones = (np.ones(part.codes.size, np.int64) for part in parts[1:])
        counts = np.concatenate([first.counts, *ones])
    values = {key: np.concatenate([part.values[key] for part in parts]) for key in first.values}
    codes = np.concatenate([part.codes for part in parts])
    return first._replace(codes=codes, values=values, counts=counts)


def _counted(rows: Rows) -> Rows:
    """Return the rows with equal ones once, unless their values have too many combinations."""
    import pyarrow as pa

    places, cells, known = rows.codes + 1, rows.size + 1, []
    for values in rows.values.values():
        coded = pa.array(values).dictionary_encode()
        known.append(coded.dictionary.to_numpy())
        places, cells = places * known[-1].size + coded.indices.to_numpy(), cells * known[-1].size
        if cells > CELLS:
            return rows
    counts = _sums(places, rows.counts, cells)
    places = np.flatnonzero(counts)
    found, counts = {}, counts[places]
    for key, distinct in reversed([*zip(rows.values, known, strict=True)]):
        places, at = np.divmod(places, distinct.size)
        found[key] = distinct[at]
    return rows._replace(codes=places - 1, values=found, counts=counts)


def rows_of(source: Source, columns: dict[str, Any], wanted: Wanted) -> Rows:
    """Return what columns hold; of one row, if some are not there, whose types are not known."""
    by, names, kinds, person, asked = wanted
    values: dict[Any, Array] = {}
    for each in asked:
        if each.column in columns and each.reading not in values:
            values[each.reading] = _values(source, each.column, columns[each.column], each)
    keys = [_keys(source, x, columns.get(x, [None]), k) for x, k in zip(by, kinds, strict=True)]
    persons = None
    if person in columns:
        persons = person_codes(f"column {person!r}", _keys(source, person, columns[person]))
    arrays = [*values.values(), *(persons or ())[:1]]
    codes, size = np.zeros(max((x.size for x in arrays), default=0), np.int64), 1
    labels: list[Labels] = []
    called = f"columns {', '.join(map(repr, by))}"
    if names is not None:
        codes, size = code_by_list(called, keys if names.is_wide else keys[0], names), names.size
    elif keys:
        codes, size, labels = code_by_rows(called, keys)
    if any(x.size != codes.size for x in arrays):
        raise ParameterError("columns must be of one length")
    if persons:
        codes[persons.codes < 0] = -1
    return Rows(codes, size, labels, persons, values)


def draw(
    rows: Rows, asked: list[Asked], limits: Limits, seeds: Words, secrets: list[Words]
) -> Drawn:
    """Return draws of all answers for each group, and the groups of the data that appear.

    They are of the system's words, or of a simulation's key.
    """
    labels = rows.labels
    if limits.private is not None:
        persons = persons_of(rows.of_answer(len(asked)), limits, secrets[-1])
        epsilon, delta = limits.private._exact
        shown = draw_appearances(persons, epsilon, delta, _own(seeds, COIN, rows.size))
        labels = [each._replace(keys=list(compress(each.keys, shown))) for each in labels]
        rows = rows.of_groups(shown)
    draws = [
        _draw_one(rows.of_answer(i), each, limits, _own(seeds, i, rows.size), secrets[i])
        for i, each in enumerate(asked)
    ]
    return Drawn(labels, np.column_stack(draws))


def secret_of(seeds: Words, number: int) -> Words:
    """Return what chooses the rows of persons for an answer (`data/persons.py`)."""
    if not seeds.size:
        return system_words(2)
    return seeds[:2] ^ np.array([0, number << int(ANSWER)], np.uint64)


def _own(seeds: Words, number: int, count: int) -> Words:
    """Return the streams of an answer, one for each group; none for a release."""
    if not seeds.size:
        return SYSTEM
    own = np.concatenate([seeds[:HEADER], np.arange(count, dtype=np.uint64)])
    own[HEADER - 1] += np.uint64(number) << ANSWER
    return own


def _draw_one(rows: Rows, asked: Asked, limits: Limits, seeds: Words, secret: Words) -> Any:
    """Return a draw of each group, by the records that count."""
    found, at, own = [], int(HEADER), SYSTEM
    for data in segments(rows, asked, limits, secret):
        end = at + (data.rows or 0)
        if rows.size and seeds.size:
            own = np.append(seeds[:HEADER], seeds[at:end])
        at = end
        found.append(asked.mechanism._draw(data, own, None))
    return np.concatenate(found)[: rows.size]


def figures(rows: Rows, asked: Asked, limits: Limits, secret: Words, p: Any) -> Floats:
    """Return n, the truth, the expected error or loss and its quantile at p, of each group."""
    found = []
    for data in segments(rows, asked, limits, secret):
        size = data.rows or 0
        for g in range(size):
            if data.offsets is None:
                row = data.values.reshape(size, -1)[g]
                n = row.sum()
            else:
                row = data.values[data.offsets[g] : data.offsets[g + 1]]
                n = row.size
            law = Figures(asked.mechanism._runs(Segments(row, data.kind)))
            truth = expected = quantile = np.nan
            if n and asked.has_loss:
                expected, quantile = law.expected_loss(), law.loss_quantile(p)
            elif n:
                truth = law.truth
                if np.isfinite(truth):
                    expected, quantile = law.expected_error(), law.error_quantile(p)
            found.append((n, truth, expected, quantile))
    return np.array(found)[: rows.size]


def persons_of(rows: Rows, limits: Limits, secret: Words) -> Integers:
    """Return how many persons count in each group, whatever their records are."""
    _, codes = counted(rows, None, limits, secret)
    each = 1 if limits.has_persons else limits.max_rows
    return -(-np.bincount(codes + 1, minlength=rows.size + 1)[1:] // each)


def counted(
    rows: Rows, asked: Asked | None, limits: Limits, secret: Words
) -> tuple[Array, Integers]:
    """Return the records for an answer or the coins, and their groups: -1 if they do not count."""
    codes, most = rows.codes, limits.max_rows
    if asked is None:
        values, most = np.zeros_like(codes), 1
    else:
        values = rows.values[asked.reading]
        if isinstance(asked.mechanism, MostCommon):
            codes = np.where(values < 0, -1, codes)
        elif (is_missing := np.isnan(values)).any():
            if asked.nan == "raise" and (codes[is_missing] >= 0).any():
                raise InvalidRecords(MISSING.format(asked.column))
            if asked.nan in ("lower", "upper"):
                values = np.where(is_missing, -np.inf if asked.nan == "lower" else np.inf, values)
            else:
                codes = np.where(is_missing, -1, codes)
    if rows.persons is not None:
        keep = rows_within_limits(
            rows.persons, codes, rows.size, values, secret, limits.max_groups, most
        )
        codes = np.where(keep, codes, -1)
    return values, codes


def segments(rows: Rows, asked: Asked, limits: Limits, secret: Words) -> Iterable[Segments]:
    """Return the records of each group that count, in parts; of one group, if there are none."""
    mechanism, (values, codes) = asked.mechanism, counted(rows, asked, limits, secret)
    size = max(rows.size, 1)
    if not isinstance(mechanism, MostCommon):
        return segments_of(values, codes, size, rows.counts)
    k = len(mechanism.candidates)
    pairs = np.where(codes < 0, -1, codes * k + values) + 1
    sums = _sums(pairs, rows.counts, size * k + 1)[1:]
    return [Segments(sums.view(np.uint64), SIGNED, size)]


def _sums(places: Integers, counts: Integers | None, size: int) -> Integers:
    """Return how many rows have each place."""
    return np.bincount(places, counts, size).astype(np.int64, copy=False)  # exact below 2**53


def _values(source: Source, name: str, column: Any, asked: Asked) -> Array:
    """Return records: numbers, or places of candidates."""
    mechanism, called = asked.mechanism, f"column {name!r}"
    if isinstance(mechanism, MostCommon):
        names = names_for(source, "candidates", mechanism.candidates, mechanism._names)
        return code_by_list(
            called, _keys(source, name, column, mechanism._names.columns[0][0]), names
        )
    if mechanism._times:
        if source.missing is not None:
            from ..data.arrow import read_times

            column = read_times(called, column, source.missing, mechanism._times.kind)
        column = mechanism._times.numbers(column, called)
    elif kinds.is_arrow(column):
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
    if source.missing is None:
        return names
    return read_names(argument, as_text(argument, labels, source.absent))
