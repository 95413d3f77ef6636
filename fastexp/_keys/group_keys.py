r"""Keys of groups: which name of the public list a row has, and the keys that occur.

A key is of one of five kinds (see `key_rows.py`), or a tuple of such keys, of several columns.
Integers of all dtypes are one kind of keys, so are all texts, and timestamps of all units: these
are equal if they are the same instant. 1, "1" and True are three keys. Texts are equal if their
code points are: different normal forms of one word are different keys. The empty text is a key.
NumPy's arrays of texts of fixed width cannot hold the character 0 at the end of a text: there,
"a\0" is "a" already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._arrow import arrow
from .._parameters.foreign import is_pandas, readable
from .._threads import in_parts
from .._typing import IntArray
from ..errors import InvalidRecords, ParameterError, ParameterTypeError
from .group_names import Names, TupleNames
from .key_columns import read
from .key_names import KeyNames
from .key_rows import Integers, Rows, unit_of
from .key_values import by_sorting, in_one_unit, kind_of_all, present

LEAST = 1 << 16  # rows of a thread: fewer are not worth one
BLOCK = 1 << 14  # rows of several columns that are put together at once: they stay in the cache


def columns_of(keys: object, argument: str) -> list[Any]:
    """The columns of keys that there are: one, or those in a list or tuple of columns only."""
    readable(keys, argument)
    if not (isinstance(keys, (list, tuple)) and len(keys) and _is_column(keys[0], argument)):
        return [keys]
    if not all(_is_column(column, argument) for column in keys):
        raise ParameterTypeError(f"{argument} must be a column of keys, or a list of columns only")
    return list(keys)


def codes_of(keys: object, names: Names, argument: str = "by", threads: int = 1) -> IntArray:
    """The place of each row's key in a public list; -1: missing, not listed or beyond int64.

    The keys, which are private, are one column of the kind that the list has, in any form; for a
    list of several columns a list of so many. What is said of keys of another kind does not depend
    on their values.

    Row i's code is a function of its key and the list alone. Lists that fill a fair part of a range
    of integers are looked up in a table of that range, others by a hash with a secret word. A
    dictionary's entries are looked up once each. Of several columns, the places of the keys in each
    make one number, which is looked up again.
    """
    return coding_of(keys, names, argument, threads).codes(threads)


class Codes:
    """Codes of rows that are known."""

    def __init__(self, codes: IntArray) -> None:
        self._codes, self.size = codes, codes.size

    def codes(self, _threads: int = 1) -> IntArray:
        """Of all rows."""
        return self._codes

    def of(self, rows: IntArray) -> IntArray:
        """Of these rows."""
        return self._codes[rows]

    def part(self, first: int, last: int, _room: IntArray) -> IntArray:
        """Of a range of rows; `_room` has as many places."""
        return self._codes[first:last]


class LookedUp(Codes):
    """Codes of integers, looked up when they are wanted: they need no memory."""

    def __init__(self, rows: Integers, names: KeyNames) -> None:
        self._rows, self._names, self.size = rows, names, rows.length
        self._names.fill(
            _some(rows, 0, 0), np.empty(0, np.int64)
        )  # makes the table: threads share it

    def codes(self, threads: int = 1) -> IntArray:
        """Of all rows."""
        out = np.empty(self.size, np.int64)
        self.fill(out, threads)
        return out

    def fill(self, out: IntArray, threads: int) -> None:
        """out = those of all rows."""

        def part(first: int, last: int) -> int:
            self.part(first, last, out[first:last])
            return 0

        in_parts(part, self.size, threads if self.size >= LEAST * threads else 1)

    def of(self, rows: IntArray) -> IntArray:
        """Of these rows."""
        some = self._rows
        valid = None if some.valid is None else some.valid[rows]
        return self._names.codes(
            replace(some, length=rows.size, valid=valid, values=some.values[rows])
        )

    def part(self, first: int, last: int, room: IntArray) -> IntArray:
        """Of a range of rows; `room` has as many places."""
        self._names.fill(_some(self._rows, first, last), room)
        return room


def coding_of(keys: object, names: Names, argument: str = "by", threads: int = 1) -> Codes:
    """The same as `codes_of`, of ranges of rows where these are integers."""
    columns, width = columns_of(keys, argument), len(names.kinds)
    if len(columns) != width:
        wanted = "one column" if width == 1 else f"a list of {width} columns"
        raise ParameterError(f"{argument} must be {wanted}, as groups have so many")
    chunks = [read(column, argument) for column in columns]
    if isinstance(names, KeyNames):
        _check_kind(chunks[0], names, argument)
        alone = chunks[0][0] if len(chunks[0]) == 1 else None
        if isinstance(alone, Integers):
            return LookedUp(alone, names)
        return Codes(_filled(chunks[0], names, threads))
    _check_lengths(chunks, argument)
    if names.size == 0:  # then there are no kinds either
        return Codes(np.full(_length(chunks[0]), -1, np.int64))
    for rows, keys in zip(chunks, names.keys, strict=True):
        _check_kind(rows, keys, argument)
    numbers = [rows for (rows, *more) in chunks if isinstance(rows, Integers) and not more]
    if len(numbers) == width:
        return Codes(_placed(numbers, names, threads))
    pairs = zip(chunks, names.keys, strict=True)
    return Codes(names.places(_filled(rows, keys, threads) for rows, keys in pairs))


def numbered(columns: Sequence[list[Rows]], argument: str) -> tuple[IntArray, Names]:
    """Number the keys that occur, in an order that does not depend on the rows'.

    Each column (one or several) has the chunks that `key_columns.read` gave, of all parts of the
    rows one after the other. Given are each row's number, -1 where a key is missing in any column;
    and the keys by number, in increasing order (of texts: by code points), tuples by their first
    column first: they are as private as the rows. An integer beyond int64 is an `InvalidRecords`.
    """
    _check_lengths(columns, argument)
    ids, first = _numbered(columns[0], argument)
    if len(columns) == 1:
        return ids, first
    keys, index = [first], [np.arange(first.size)]
    for rows in columns[1:]:
        digits, names = _numbered(rows, argument)
        there = (ids >= 0) & (digits >= 0)
        together = ids * names.size + digits  # both are below the number of rows
        valid = None if there.all() else there
        ids, pairs = _numbered([Integers(ids.size, valid, together)], argument)
        prefix, digit = np.divmod(pairs.numbers, max(1, names.size))
        keys, index = [*keys, names], [*(places[prefix] for places in index), digit]
    return ids, TupleNames(keys, index)


def _numbered(chunks: list[Rows], argument: str) -> tuple[IntArray, KeyNames]:
    kind = kind_of_all(chunks, argument)
    apart = by_sorting(chunks)
    if apart is not None:
        return apart[0], KeyNames(kind or "integers", apart[1], unit_of(chunks[0]))
    keys = [present(rows, argument) for rows in chunks]
    if kind == "text":
        names = KeyNames(kind, sorted({text for part in keys for text in part}))
    else:
        numbers, unit = in_one_unit(chunks, keys, argument, InvalidRecords)
        names = KeyNames(kind or "integers", _different(numbers), unit)
    return _filled(chunks, names), names


def _different(numbers: IntArray) -> IntArray:
    """Each number once, in order; `np.unique` takes 24 s instead of 1.4 for 1e7 of 2e6 numbers."""
    ordered = np.sort(numbers)
    new = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def _check_kind(chunks: list[Rows], names: KeyNames, argument: str) -> None:
    kind = kind_of_all(chunks, argument)
    if names.size and kind not in (None, names.kind):
        raise ParameterTypeError(
            f"{argument} must hold {names.kind}, as the list of groups does, got {kind}"
        )


def _is_column(keys: object, argument: str) -> bool:
    """Whether this can be a column of keys, and no key."""
    readable(keys, argument)
    plain = isinstance(keys, (list, tuple, range, np.ndarray))
    return plain or is_pandas(keys) or arrow.is_arrow(keys)


def _length(chunks: list[Rows]) -> int:
    return sum(rows.length for rows in chunks)


def _check_lengths(columns: Sequence[list[Rows]], argument: str) -> None:
    if len(set(map(_length, columns))) > 1:
        raise ParameterError(f"{argument} must have columns of one length")


def _filled(chunks: list[Rows], names: KeyNames, threads: int = 1) -> IntArray:
    out, first = np.empty(_length(chunks), np.int64), 0
    for rows in chunks:
        part = out[first : first + rows.length]
        if isinstance(rows, Integers):
            LookedUp(rows, names).fill(part, threads)
        else:
            names.fill(rows, part)
        first += rows.length
    return out


def _placed(columns: list[Integers], names: TupleNames, threads: int) -> IntArray:
    """Places of rows of plain numbers: block by block, so that what is in between stays near."""
    size = columns[0].length
    out = np.empty(size, np.int64)

    def part(first: int, last: int) -> int:
        for a in range(first, last, BLOCK):
            b = min(a + BLOCK, last)
            codes = (k.codes(_some(c, a, b)) for k, c in zip(names.keys, columns, strict=True))
            out[a:b] = names.places(codes)
        return 0

    for keys, column in zip(names.keys, columns, strict=True):
        keys.codes(_some(column, 0, 0))  # makes the tables that all share
    names.places(np.zeros(0, np.int64) for _ in columns)
    in_parts(part, size, threads if size >= LEAST * threads else 1)
    return out


def _some(rows: Integers, first: int, last: int) -> Integers:
    valid = None if rows.valid is None else rows.valid[first:last]
    return Integers(last - first, valid, rows.values[first:last], rows.kind, rows.unit)
