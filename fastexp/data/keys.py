"""Keys: the candidates, groups and persons of rows, as integer codes.

A column of keys is of one kind: integers, text, booleans, dates, timestamps or durations. So 1, "1"
and True are three keys, and floats are none. Integers of all types are one kind; so are timestamps
of all units, which are equal if they are the same instant. Text is equal if its code points are.
What cannot be compared is refused, and is never just unequal. Code -1 is that of a missing key
(None, NaN, NaT, masked), and of one that is not listed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import compress, count
from typing import Any, NamedTuple

import numpy as np

from ..errors import FastexpError, ParameterError, ParameterTypeError
from ..parameters import kinds
from ..types import Array, Integers

KINDS = {"integers", "text", "booleans", "dates", "timestamps", "durations"}
ZONED = "timestamps with a time zone"
ONE_KIND = f"must be one-dimensional, of one kind ({', '.join(sorted(KINDS))}): convert them"
DAY = 86400 * 10**18  # times are integers in attoseconds
MICROSECOND = timedelta(microseconds=1)
UNITS = {"W": 7 * DAY, "D": DAY, "h": DAY // 24, "m": DAY // 1440} | {
    unit: 10 ** (18 - 3 * i) for i, unit in enumerate(("s", "ms", "us", "ns", "ps", "fs", "as"))
}
ORIGINS: dict[str, Any] = {
    "dates": date(1970, 1, 1),
    "timestamps": datetime(1970, 1, 1),  # without a zone
    ZONED: datetime(1970, 1, 1, tzinfo=UTC),
    "durations": timedelta(0),
}
FARTHEST = 1 << 40  # years or months from 1970 that are told apart
KNOWN = {"builtins", "datetime", "decimal", "numpy", "pandas"}  # where == is that of keys
MIN_SPARSE = 1 << 16  # a range of so many integers always gets a table


class Column(NamedTuple):
    """Keys of one kind ("" if all are missing): integers times a unit, or places among others."""

    kind: str
    values: Array  # int64 or uint64
    unit: int = 1  # 0 of objects, whose column has no type
    missing: Any = np.False_
    keys: list[Any] | None = None  # those that the values are places of: text, numbers, None
    zone: str = ""


class Labels(NamedTuple):
    """Keys of groups to be shown: as text and numbers, with the type of their column.

    A label is made of these alone. How a row writes its key would show of that row.
    """

    kind: str  # or "listed", of a public list, which is shown as it is
    unit: int
    zone: str
    keys: list[Any]

    def array(self) -> Array:
        """Return keys of a column with a type, other than text, as NumPy has them; in UTC."""
        name = next(name for name, size in UNITS.items() if self.unit % size == 0)
        plain = {"integers": "i8", "booleans": "?", "durations": f"m8[{name}]"}
        numbers = np.array([key // UNITS[name] for key in self.keys], np.int64)
        return numbers.astype(plain.get(self.kind, f"M8[{name}]"))

    def objects(self) -> list[Any]:
        """Return keys as Python has them, or NumPy, if times are too fine or too far for Python."""
        if self.kind in ("integers", "text", "listed"):
            return self.keys
        return [_object(self.kind, key) for key in self.keys]


class Names(NamedTuple):
    """A public list of keys.

    A column has its kind, a number for each of its keys, and one for each pair of a number of the
    columns before and a number of this one. After the last column, it is the place in the list.
    """

    size: int
    is_wide: bool
    columns: list[tuple[str, dict[Any, int], dict[int, int]]]

    @property
    def keys(self) -> tuple[Any, ...]:
        """The kind and the keys of each column: of lists that look equal, those of each."""
        return tuple((kind, *places) for kind, places, _ in self.columns)


class Persons(NamedTuple):
    """The code of each row's person, and each code's id: an integer, or text."""

    codes: Integers
    ids: Array


def read_names(argument: str, names: Any) -> Names:
    """Return a public list of distinct keys, or of tuples of one key for each column."""
    labels, columns = list(names), []
    is_wide = isinstance(labels[0], tuple)
    if is_wide and {isinstance(x, tuple) and len(x) for x in labels} != {len(labels[0])}:
        raise ParameterError(f"{argument} must be tuples of one length")
    codes = [0] * len(labels)
    for values in zip(*labels, strict=True) if is_wide else [labels]:
        column = read_column(argument, list(values))
        exact = [(column.keys or [])[value] for value in column.values.tolist()]
        if None in exact:
            raise ParameterError(
                f"{argument} must not hold None or NaN, nor of files what means a missing cell: a "
                "missing key is in no group"
            )
        places = {key: i for i, key in enumerate(dict.fromkeys(exact))}
        pairs = [code * len(places) + places[key] for code, key in zip(codes, exact, strict=True)]
        numbers = {pair: i for i, pair in enumerate(dict.fromkeys(pairs))}
        codes = [numbers[pair] for pair in pairs]
        columns.append((column.kind, places, numbers))
    if len(set(codes)) < len(labels):
        raise ParameterError(f"{argument} must be distinct")
    return Names(len(labels), is_wide, columns)


def as_text(argument: str, labels: Iterable[Any], absent: Iterable[str]) -> list[Any]:
    """Return labels, or tuples of them, as cells of a file have them; None of a missing cell."""
    texts: list[Any] = []
    for label in labels:
        kind = kinds.kind_of(type(label))
        if kind == "tuple":
            texts.append(tuple(as_text(argument, label, absent)))
        elif kind in ("text", "integers", "booleans", "dates"):
            is_plain = kind in ("text", "integers")  # an Enum's own text is another
            text = str(_exact(label, argument) if is_plain else label)
            text = text.lower() if kind == "booleans" else text
            texts.append(None if text in absent else text)
        else:
            raise ParameterTypeError(
                f"{argument} must be text, integers, booleans or dates, as cells of a file are "
                f"text: give them as they are written there, got {kind}"
            )
    return texts


def code_by_list(argument: str, keys: Any, names: Names) -> Integers:
    """Return the place of each row's key in a public list; -1 if it is not there.

    `keys` are one column, or a list of columns for a list of tuples.
    """
    width = len(names.columns)
    if names.is_wide and not (isinstance(keys, (list, tuple)) and len(keys) == width):
        raise ParameterTypeError(f"{argument} must be a list of {width} columns")
    codes = np.zeros(1, np.int64)
    for i, (kind, places, numbers) in enumerate(names.columns):
        column = read_column(argument, keys[i] if names.is_wide else keys)
        is_days = kind == "dates" and column.kind == "timestamps" and column.unit % DAY == 0
        is_days = is_days and column.unit > 0
        if column.kind not in ("", kind) and not is_days:
            raise ParameterTypeError(
                f"{argument} must be {kind}, as the public list is: convert it, got {column.kind}"
            )
        found = _codes(column, places)
        if i and codes.size != found.size:
            raise ParameterError(f"{argument} must be columns of one length")
        if i:
            pairs = np.where((codes < 0) | (found < 0), -1, codes * len(places) + found)
            found = _look_up(pairs, 1, numbers)
        codes = found
    return codes


def count_labels(records: Any, candidates: Names) -> Integers:
    """Return how many records each candidate has; records that are none of them do not count."""
    codes = code_by_list("records", records, candidates)
    return np.bincount(codes + 1, minlength=candidates.size + 1)[1:]


def code_by_rows(argument: str, columns: list[Any]) -> tuple[Integers, int, list[Labels]]:
    """Return the place of each row's key among those that occur, sorted; their number; and them.

    -1 is the place of a missing key, and of one that not every frame could hold.
    """
    codes = np.empty(0, np.int64)
    found: list[tuple[Column, list[Any], Integers]] = []
    for keys in columns:
        column = read_column(argument, keys)
        if column.keys is not None:
            known = sorted({key for key in column.keys if _is_portable(key, column.kind)})
            places = _codes(column, {key: i for i, key in enumerate(known)})
        else:
            is_near = column.values <= np.iinfo(np.int64).max
            distinct, places = np.unique(column.values, return_inverse=True)
            places = np.where(~column.missing & is_near, places, -1)
            known = [value * column.unit for value in distinct.tolist()]
        if found and codes.size != places.size:
            raise ParameterError(f"{argument} must be columns of one length")
        codes = codes if found else np.zeros_like(places)
        found.append((column, known, places))
        pairs = codes * (places.max(initial=0) + 1) + places
        pairs = np.where((codes < 0) | (places < 0), -1, pairs)
        distinct, rows, codes = np.unique(pairs, return_index=True, return_inverse=True)
        first = int(distinct.size > 0 and distinct[0] < 0)
        codes, rows = codes - first, rows[first:]
    labels = [
        Labels(column.kind, column.unit, column.zone, [known[i] for i in places[rows].tolist()])
        for column, known, places in found
    ]
    return codes, rows.size, labels


def _is_portable(key: Any, kind: str) -> bool:
    """Whether a key is there, and in UTF-8 or an integer of 64 bits with a sign, if it is such."""
    if kind == "text":
        return key is not None and key == key.encode(errors="replace").decode()
    return key is not None and (kind != "integers" or -(1 << 63) <= key < 1 << 63)


def person_codes(argument: str, ids: Any) -> Persons:
    """Return a code for each row's person, by any distinct ids."""
    column = read_column(argument, ids)
    if column.keys is not None:
        keys = column.keys
        missing = [i for i, key in enumerate(keys) if key is None]
        if len(set(keys)) < len(keys) - max(len(missing) - 1, 0):  # else codes are places
            keys = list(dict.fromkeys(keys))
            places = {key: i for i, key in enumerate(keys) if key is not None}
            return Persons(_codes(column, places), np.array([*keys, 0], object)[:-1])
        codes = column.values.copy()
        codes[np.isin(codes, missing)] = -1
        return Persons(codes, np.array([*keys, 0], object)[:-1])
    codes = np.full(column.values.size, -1)
    is_there = np.broadcast_to(~column.missing, codes.shape)
    values = column.values[is_there]
    low, high = (int(values.min()), int(values.max())) if values.size else (0, -1)
    if high - low < 4 * values.size + MIN_SPARSE:
        distinct, found = (
            np.arange(low, high + 1, dtype=values.dtype),
            values - values.dtype.type(low),
        )
    else:
        distinct, found = np.unique(values, return_inverse=True)
    codes[is_there] = found
    if column.unit > 1:  # times, which are the same persons in all units
        distinct = distinct.view(np.uint64) * np.uint64(column.unit % (1 << 64))
    return Persons(codes, distinct)


def read_column(argument: str, keys: Any) -> Column:
    """Return a column of keys; `argument` names it in messages."""
    if type(keys) is Column:  # an object may say that it is of any class
        return keys
    try:
        return _read_column(argument, keys)
    except (FastexpError, MemoryError):
        raise
    except Exception:  # refused below, as an error of a foreign object may hold data
        found = type(keys).__name__
    raise ParameterTypeError(f"{argument} {ONE_KIND}, got {found}")


def _read_column(argument: str, keys: Any) -> Column:
    array, missing = kinds.array_of(keys), kinds.mask_of(keys)
    kind = kinds.kind_of(array.dtype.type)
    if array.ndim != 1:
        raise ParameterTypeError(f"{argument} {ONE_KIND}, got {type(keys).__name__}")
    if array.dtype.kind in "OUT":
        objects = array.astype(object)
        objects[missing] = None
        return _of_objects(argument, objects)
    if kind == "floats" and np.isnan(array).all():
        return _of_objects(argument, np.full(array.size, None))
    if kind not in KINDS:
        raise ParameterTypeError(f"{argument} {ONE_KIND}, got {kind}")
    unit = 1
    if array.dtype.kind in "mM":
        missing = np.isnat(array) | missing
        array, unit = _in_units(array, argument)
    wide = array.astype("u8" if array.dtype.kind == "u" else "i8", copy=False)
    return Column(kind, wide, unit, missing)


def _of_objects(argument: str, objects: Array) -> Column:
    numbers: dict[Any, int] = defaultdict(count().__next__)
    places: Any = None
    try:
        places = np.fromiter(map(numbers.__getitem__, objects), np.int64, objects.size)
        of_type = kinds.kinds_of(list(numbers))
    except Exception:  # not hashable
        of_type = {}
    if places is None or not of_type.keys() <= {str, np.str_}:  # 1 and True have one place
        of_type = kinds.kinds_of(objects)
    found, distinct = set(of_type.values()) - {kinds.MISSING}, list(numbers)
    is_known = {cls.__module__.partition(".")[0] for cls in of_type} <= KNOWN
    is_folded = "timestamps" in found and any(getattr(x, "fold", 0) for x in objects)
    if places is None or is_folded or not is_known:  # == may be another than that of keys
        distinct, places = objects.tolist(), np.arange(objects.size)
    if "floats" in found and all(x != x for x in objects if of_type[type(x)] == "floats"):
        found.remove("floats")
    keys = [None] * len(distinct)
    if len(found) < 2 and found <= KINDS:
        for i, x in enumerate(distinct):
            kind = of_type[type(x)]
            if kind == "text" or (kind != kinds.MISSING and x == x):
                keys[i] = _exact(x, argument)
    if found == {"timestamps"}:
        present = compress(distinct, (key is not None for key in keys))
        found = {ZONED if getattr(x, "tzinfo", None) else "timestamps" for x in present}
    if len(found) > 1 or not found <= KINDS | {ZONED}:
        raise ParameterTypeError(f"{argument} {ONE_KIND}, got {' and '.join(sorted(found))}")
    return Column("".join(found), places, 0, keys=keys)


def _exact(key: Any, argument: str) -> Any:
    """Return the text or number that a key is: of a time, attoseconds from 1970."""
    if isinstance(key, (np.datetime64, np.timedelta64)) or hasattr(key, "asm8"):  # or of pandas
        number, unit = _in_units(np.asarray(getattr(key, "asm8", key)), argument)
        return int(number) * unit
    if isinstance(key, datetime):
        key -= datetime(1970, 1, 1, tzinfo=UTC if key.tzinfo else None)
    elif isinstance(key, date):
        key -= date(1970, 1, 1)
    if isinstance(key, timedelta):
        return key // MICROSECOND * 10**12
    return str.__str__(key) if isinstance(key, str) else int(key)


def _object(kind: str, key: Any) -> Any:
    """Return the Python object that a key is."""
    if kind == "booleans":
        return bool(key)
    if key % UNITS["us"] == 0:
        with suppress(OverflowError):
            return ORIGINS[kind] + key // UNITS["us"] * MICROSECOND
    unit = next(unit for unit, size in UNITS.items() if key % size == 0)
    time = np.timedelta64 if kind == "durations" else np.datetime64
    return time(key // UNITS[unit], unit)


def _in_units(times: Array, argument: str) -> tuple[Array, int]:
    """Return datetimes or durations as integers, and their unit in attoseconds."""
    unit, count = np.datetime_data(times.dtype)
    if times.dtype.kind == "M" and unit in "YM":  # NumPy's conversion would wrap around
        near = np.clip(times.astype(np.int64), -FARTHEST, FARTHEST)
        times, unit, count = near.astype(times.dtype).astype("M8[D]"), "D", 1
    if unit not in UNITS:
        raise ParameterTypeError(
            f"{argument} must have a unit, and not be durations in years or months"
        )
    return times.astype(np.int64), count * UNITS[unit]


def _codes(column: Column, places: dict[Any, int]) -> Integers:
    """Return the place of each key of a column, or -1."""
    if column.keys is None:
        found = _look_up(column.values, column.unit, places)
        found[column.missing] = -1
        return found
    return np.array([*(places.get(key, -1) for key in column.keys), -1])[column.values]


def _look_up(values: Array, unit: int, places: dict[Any, int]) -> Integers:
    """Return the place of each integer times the unit, or -1."""
    known = places if values.size else {}
    if unit != 1:
        known = {key // unit: place for key, place in known.items() if key % unit == 0}
    limits = np.iinfo(values.dtype)
    least, most = int(limits.min), int(limits.max)
    if known and (min(known) < least or max(known) > most):
        known = {key: place for key, place in known.items() if least <= key <= most}
    if not known:
        return np.full(values.size, -1)
    listed = np.fromiter(known, values.dtype, len(known))
    codes = np.fromiter(known.values(), np.int64, len(known))
    low, span = int(listed.min()), int(listed.max()) - int(listed.min()) + 1
    if span > MIN_SPARSE + values.size:
        order = listed.argsort()
        listed, codes = listed[order], codes[order]
        at = np.minimum(np.searchsorted(listed, values), listed.size - 1)
        return np.where(listed[at] == values, codes[at], -1)
    table = np.full(span + 2, -1)
    table[1:-1][listed - values.dtype.type(low)] = codes
    ahead = values.view(np.uint64) - np.uint64((low - 1) % (1 << 64))  # it wraps around
    return table.take(ahead.view(np.int64), mode="clip")
