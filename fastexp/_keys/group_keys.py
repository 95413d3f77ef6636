r"""Keys of groups: the place of each row's key in the public list, and the keys that occur.

A key is of one of five kinds (see `keys.py`), or a tuple of such keys, one of each column.
Integers of all dtypes are one kind of keys; so are all texts; so are timestamps of all units, which
are equal if they are the same instant. 1, "1" and True are three keys. Texts are equal if their
code points are: different normal forms of one word are different keys. The empty text is a key.
NumPy's arrays of texts of fixed width cannot hold the character 0 at the end of a text: there,
"a\0" is "a" already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrow import arrow
from .._parameters.foreign import is_pandas, readable
from .._threads import in_parts
from .._typing import IntArray
from ..errors import InvalidRecords, ParameterError, ParameterTypeError
from .group_names import KeyNames, Names, TupleNames
from .key_columns import read
from .key_tables import DENSE, RANGE, distinct
from .keys import Keys

MIN_ROWS_PER_THREAD = 1 << 16  # fewer rows are not worth a thread
BLOCK = 1 << 14  # rows of several columns combined at once: they stay in the cache
UNEQUAL = "{} must have columns of one length"
SAMPLE = 1 << 18  # rows; if few of their keys are equal, tables would be too large for caches


def columns_of(keys: object, argument: str) -> list[Any]:
    """Return the columns of keys: a single one, or those of a list or tuple of columns."""
    readable(keys, argument)
    if not (isinstance(keys, (list, tuple)) and len(keys) and _is_column(keys[0], argument)):
        return [keys]
    if not all(_is_column(column, argument) for column in keys):
        raise ParameterTypeError(f"{argument} must be a column of keys, or a list of columns only")
    return list(keys)


def codes_of(
    keys: object,
    names: Names,
    argument: str = "by",
    threads: int = 1,
    called: Sequence[str] = (),
) -> IntArray:
    """Return the place of each row's key in a public list; -1: missing, unlisted or beyond int64.

    The keys, which are private, are one column of the list's kind, in any form; for a list of
    several columns, a list of as many. Messages about keys of another kind do not depend on the
    keys' values; `called` are the names of the columns in messages.

    Row i's code is a function of its key and the list alone. Lists that fill a fair part of a range
    of integers are looked up in a table of that range, others by a hash with a secret word. Each
    entry of a dictionary is looked up once. For several columns, the places of the keys in each
    are combined into one number, which is looked up again.
    """
    return coding_of(columns_of(keys, argument), names, argument, threads, called).codes(threads)


class Codes:
    """Codes of rows, held in memory."""

    size: int

    def __init__(self, codes: IntArray) -> None:
        self._codes, self.size = codes, codes.size

    def codes(self, _threads: int = 1) -> IntArray:
        """Return the codes of all rows."""
        return self._codes

    def of(self, rows: IntArray) -> IntArray:
        """Return the codes of these rows."""
        return self._codes[rows]

    def part(self, first: int, last: int, _room: IntArray) -> IntArray:
        """Return the codes of a range of rows; `_room` has as many places."""
        return self._codes[first:last]


class LookedUp(Codes):
    """Codes of one column, looked up on demand: they need no memory."""

    def __init__(self, keys: Keys, names: KeyNames) -> None:
        self._keys, self._table, self.size = keys, names.table(keys.unit), keys.size

    def codes(self, threads: int = 1) -> IntArray:
        """Return the codes of all rows."""
        out = np.empty(self.size, np.int64)

        def part(first: int, last: int) -> int:
            self.part(first, last, out[first:last])
            return 0

        in_parts(part, self.size, threads if self.size >= MIN_ROWS_PER_THREAD * threads else 1)
        return out

    def of(self, rows: IntArray) -> IntArray:
        """Return the codes of these rows."""
        return self._fill(rows, np.empty(rows.size, np.int64))

    def part(self, first: int, last: int, room: IntArray) -> IntArray:
        """Return the codes of a range of rows; `room` has as many places."""
        return self._fill(slice(first, last), room)

    def _fill(self, where: IntArray | slice, out: IntArray) -> IntArray:
        keys = self._keys.taken(where)
        self._table.fill(keys.values, out)
        if keys.valid is not None:
            np.copyto(out, -1, where=~keys.valid)
        return out


def coding_of(
    columns: Sequence[object],
    names: Names,
    argument: str = "by",
    threads: int = 1,
    called: Sequence[str] = (),
) -> Codes:
    """Return the codes of `codes_of` for columns; those of a single one are looked up on demand."""
    width = len(names.kinds)
    if len(columns) != width:
        wanted = "one column" if width == 1 else f"a list of {width} columns"
        raise ParameterError(f"{argument} must be {wanted}, because groups have as many")
    lists = [names] if isinstance(names, KeyNames) else names.keys
    arguments = [f"column {name!r} of {argument}" for name in called] or [argument] * width
    codings = list(map(_coded, columns, lists, arguments))
    if len({coding.size for coding in codings}) > 1:
        raise ParameterError(UNEQUAL.format(argument))
    if isinstance(names, KeyNames):
        return codings[0]
    return Codes(_placed(codings, names, threads))


def numbered(columns: Sequence[Keys], argument: str) -> tuple[IntArray, Names]:
    """Number the keys that occur, in an order that does not depend on the rows'.

    Return each row's number, -1 if a key is missing in any column, and the keys by number, which
    are as private as the rows. Keys increase (texts by code points), tuples by their first column
    first. An integer beyond int64 raises `InvalidRecords`.
    """
    if len({keys.size for keys in columns}) > 1:
        raise ParameterError(UNEQUAL.format(argument))
    ids, first = _numbered(columns[0], argument)
    if len(columns) == 1:
        return ids, first
    keys, index = [first], [np.arange(first.size)]
    for column in columns[1:]:
        digits, names = _numbered(column, argument)
        has_key = (ids >= 0) & (digits >= 0)
        pair_number = ids * names.size + digits  # both are below the number of rows
        valid = None if has_key.all() else has_key
        ids, pairs = _numbered(Keys("integers", pair_number, valid), argument)
        prefix, digit = np.divmod(pairs.numbers, max(1, names.size))
        keys, index = [*keys, names], [*(places[prefix] for places in index), digit]
    return ids, TupleNames(keys, index)


def _numbered(keys: Keys, argument: str) -> tuple[IntArray, KeyNames]:
    numbers = keys.numbers(argument, InvalidRecords)
    valid_numbers = numbers if keys.valid is None else numbers[keys.valid]
    if keys.kind == "text":
        order = sorted(distinct(valid_numbers).tolist(), key=keys.texts.__getitem__)
        place = np.full(len(keys.texts) + 1, -1)
        place[order] = np.arange(len(order))
        ids, names = place[numbers], KeyNames("text", [keys.texts[i] for i in order])
        return ids if keys.valid is None else np.where(keys.valid, ids, -1), names
    if keys.valid is None and _differ(numbers):
        different, ids = np.unique(numbers, return_inverse=True)
        names = KeyNames(keys.kind or "integers", different, keys.unit)
        return ids.astype(np.int64, copy=False), names
    names = KeyNames(keys.kind or "integers", distinct(valid_numbers), keys.unit)
    return LookedUp(keys, names).codes(), names


def _differ(numbers: IntArray) -> bool:
    """Whether so many of these integers differ that sorting them is faster than a table."""
    if numbers.size < SAMPLE * 4:
        return False
    if int(numbers.max()) - int(numbers.min()) <= RANGE * numbers.size + DENSE:
        return False
    sample = np.sort(numbers[:: numbers.size // SAMPLE])
    return int((sample[1:] == sample[:-1]).sum()) * 20 < sample.size


def _coded(column: object, names: KeyNames, argument: str) -> Codes:
    """Return the codes of one column."""
    keys = read(column, argument, names if names.kind == "text" else None, unit=names.unit)
    if keys.kind != names.kind:
        if names.size and keys.kind is not None:
            raise ParameterTypeError(
                f"{argument} must hold {names.kind}, as the public list does, got {keys.kind}: "
                "convert the column, or the list"
            )
        return Codes(np.full(keys.size, -1, np.int64))
    if keys.kind != "text":
        return LookedUp(keys, names)
    return Codes(keys.values if keys.valid is None else np.where(keys.valid, keys.values, -1))


def _is_column(keys: object, argument: str) -> bool:
    """Whether this can be a column of keys, not a key."""
    readable(keys, argument)
    plain = isinstance(keys, (list, tuple, range, np.ndarray, Keys))
    return plain or is_pandas(keys) or arrow.is_arrow(keys)


def _placed(columns: list[Codes], names: TupleNames, threads: int) -> IntArray:
    """Return the places of rows, block by block, so that scratch stays in the cache."""
    size = columns[0].size
    out = np.empty(size, np.int64)

    def part(first: int, last: int) -> int:
        for a in range(first, last, BLOCK):
            b = min(a + BLOCK, last)
            codes = (column.part(a, b, np.empty(b - a, np.int64)) for column in columns)
            out[a:b] = names.places(codes)
        return 0

    names.places(np.zeros(0, np.int64) for _ in columns)  # makes the tables that all share
    in_parts(part, size, threads if size >= MIN_ROWS_PER_THREAD * threads else 1)
    return out
