"""The keys of rows themselves: of a public list in order, of other columns each once.

Texts come as a list of strings, the numbers of all other keys as an array of int64 or a list;
None is a missing key.
"""

from __future__ import annotations

import operator
from typing import Any, TypeAlias

import numpy as np

from .._typing import AnyArray, IntArray
from ..errors import FastexpError, InvalidRecords, ParameterError
from . import key_tables
from .key_columns import bytes_of
from .key_objects import INTEGERS, not_keys
from .key_rows import (
    HIGHEST,
    LOWEST,
    Coded,
    Integers,
    Kind,
    Objects,
    Rows,
    Text,
    Unit,
    Wide,
    finest,
    in_unit,
    kind_of,
    unit_of,
)

BEYOND = (
    "{} must hold integers within int64 (timestamps: as ticks of their finest unit), or texts in "
    "UTF-8"
)
RANGE = 4  # integers are marked in a range of at most so many bytes a row, and of DENSE more
DENSE = 4096
SAMPLE = 1 << 18  # of rows; where few of them are equal, tables would be too large for caches

Keys: TypeAlias = IntArray | list[Any]


class _Beyond(Exception):
    """A key is no int64; this never leaves the file."""


def in_order(rows: Rows, argument: str) -> Keys:
    """The keys of a public list, in order."""
    keys: Keys | None = None
    if rows.valid is None or rows.valid.all():
        keys = _checked(_all, rows, argument, ParameterError)
    if keys is None or (isinstance(keys, list) and None in keys):
        raise ParameterError(f"{argument} must not hold missing names")
    return keys


def present(rows: Rows, argument: str) -> Keys:
    """The keys that occur, each at least once, in any order, without missing ones."""
    keys = _checked(_some, rows, argument, InvalidRecords)
    return [key for key in keys if key is not None] if isinstance(keys, list) else keys


def kind_of_all(chunks: list[Rows], argument: str) -> Kind | None:
    """The kind of the keys of all chunks; None if there are none."""
    kinds: set[Kind] = {kind for kind in map(kind_of, chunks) if kind is not None}
    if len(kinds) > 1:
        raise not_keys(argument, "a mixture of types")
    return kinds.pop() if kinds else None


def in_one_unit(
    chunks: list[Rows], keys: list[Any], argument: str, error: type[FastexpError]
) -> tuple[IntArray, Unit]:
    """(numbers, unit) of the keys of all chunks; of timestamps in the finest unit of theirs."""
    unit, parts = finest([unit_of(rows) for rows in chunks]), [np.zeros(0, np.int64)]
    for rows, some in zip(chunks, keys, strict=True):
        numbers = np.asarray(some, np.int64)
        if unit_of(rows):
            numbers, fit = in_unit(numbers, unit_of(rows), unit)
            if fit is not None and not fit.all():
                raise error(BEYOND.format(argument))
        parts.append(numbers)
    return np.concatenate(parts), unit


def by_sorting(chunks: list[Rows]) -> tuple[IntArray, IntArray] | None:
    """(ids, distinct keys) of very many different integers; None if a table is faster."""
    plain = [rows for rows in chunks if isinstance(rows, Integers) and rows.valid is None]
    parts = [rows.values for rows in plain]
    size = sum(part.size for part in parts)
    alike = len(plain) == len(chunks) and len({(rows.kind, rows.unit) for rows in plain}) == 1
    if not alike or size < SAMPLE * 4 or any(p.dtype.kind == "u" for p in parts):
        return None
    values = _int64(np.concatenate(parts) if len(parts) > 1 else parts[0])
    some = np.sort(values[:: size // SAMPLE])
    rare = int((some[1:] == some[:-1]).sum()) * 20 < some.size
    if not rare or int(values.max()) - int(values.min()) <= RANGE * size + DENSE:
        return None
    keys, ids = np.unique(values, return_inverse=True)
    return ids.astype(np.int64, copy=False), keys


def _checked(read: Any, rows: Rows, argument: str, error: type[FastexpError]) -> Keys:
    try:
        keys: Keys | None = read(rows)
        if isinstance(keys, list):
            "".join(key for key in keys if isinstance(key, str)).encode()
    except (_Beyond, UnicodeError):
        keys = None
    if keys is None:  # outside the handler: the first error may hold a key
        raise error(BEYOND.format(argument))
    return keys


def _all(rows: Rows) -> Keys:
    return _taken(rows, np.arange(rows.length))


def _taken(rows: Rows, index: IntArray) -> Keys:
    """The keys of some rows, in order; where rows are marked as missing, anything."""
    if isinstance(rows, Integers):
        return _int64(rows.values[index])
    if isinstance(rows, Text):
        return _decoded(rows, index)
    if isinstance(rows, Wide):
        return list(rows.values[index].tolist())
    if isinstance(rows, Objects):
        return _plain([rows.values[i] for i in index.tolist()])
    return _entries(rows, rows.values[index])


def _some(rows: Rows) -> Keys:
    """The keys of one row or more for each key; missing ones are left out, or None."""
    if isinstance(rows, Objects):
        return _plain(list(set(rows.values)))
    valid = None if rows.valid is None else np.flatnonzero(rows.valid)
    if isinstance(rows, (Text, Wide)):
        offsets = _offsets(rows)
        begins, ends = offsets[:-1], offsets[1:]
        if valid is not None:
            begins, ends = begins[valid], ends[valid]
        values = rows.values if isinstance(rows, Text) else bytes_of(rows.values)
        first = key_tables.first_texts(values, begins, ends)
        first = first if valid is None else valid[first]
        return _taken(rows, first)
    values = rows.values if valid is None else rows.values[valid]
    if isinstance(rows, Integers):
        return _set_of(_int64(values))
    return _entries(rows, _set_of(values.astype(np.int64)))


def _set_of(values: IntArray) -> IntArray:
    """The distinct integers of an array."""
    if values.size == 0:
        return values
    low, high = int(values.min()), int(values.max())
    if high - low > RANGE * values.size + DENSE:
        return values[key_tables.first_rows(values.view(np.uint64))]
    there = np.zeros(high - low + 1, np.bool_)
    there[values - low] = True
    return np.flatnonzero(there) + low


def _offsets(rows: Text | Wide) -> IntArray:
    if isinstance(rows, Text):
        return np.ascontiguousarray(rows.offsets, dtype=np.int64)
    return np.arange(rows.length + 1) * rows.values.dtype.itemsize


def _int64(values: AnyArray) -> IntArray:
    if values.dtype.kind == "u" and values.dtype.itemsize == 8 and bool((values > HIGHEST).any()):
        raise _Beyond
    return np.ascontiguousarray(values, dtype=np.int64)


def _plain(items: list[Any]) -> list[Any]:
    """Objects as Python integers; None for what is missing."""
    keys = [operator.index(item) if isinstance(item, INTEGERS) else None for item in items]
    if any(key is not None and not LOWEST <= key <= HIGHEST for key in keys):
        raise _Beyond
    return keys


def _decoded(rows: Text, index: IntArray) -> list[str]:
    offsets = _offsets(rows)
    data = rows.values
    pairs = zip(offsets[index].tolist(), offsets[index + 1].tolist(), strict=True)
    return [data[a:b].tobytes().decode() for a, b in pairs]


def _entries(rows: Coded, places: AnyArray) -> list[Any]:
    """Entries of a dictionary; None beyond its ends."""
    entries: list[Any] = []
    for part in rows.child:
        known = np.arange(part.length) if part.valid is None else np.flatnonzero(part.valid)
        keys = _taken(part, known)
        plain = keys.tolist() if isinstance(keys, np.ndarray) else keys
        by_place = dict(zip(known.tolist(), plain, strict=True))
        entries += [by_place.get(i) for i in range(part.length)]
    size = len(entries)
    return [entries[i] if 0 <= i < size else None for i in places.tolist()]
