"""Names of groups: keys of one column, or tuples of keys of several columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from .._typing import IntArray, WordArray
from . import key_tables
from .key_names import KeyColumn, KeyNames, joined_words, streams_of

LARGEST = 1 << 62  # of numbers that several columns' places are put together to


class TupleNames:
    """Distinct tuples of keys in an order.

    `keys` are those of each column, distinct, in any order, and also ones that no tuple has;
    `index` the place there of each tuple's key.
    """

    keys: tuple[KeyNames, ...]
    index: tuple[IntArray, ...]

    def __init__(self, keys: Sequence[KeyNames], index: Sequence[IntArray]) -> None:
        self.keys, self.index = tuple(keys), tuple(index)
        self.size: int = self.index[0].size

    def __reduce__(self) -> tuple[Any, ...]:  # without tables and their secrets
        return TupleNames, (self.keys, self.index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TupleNames):
            return NotImplemented
        return self._chosen == other._chosen

    def __hash__(self) -> int:
        return hash(self._chosen)

    def __repr__(self) -> str:
        return f"<names of {', '.join(self.kinds)}>"  # from the data they are private

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each column of a name."""
        return tuple(keys.kind for keys in self.keys)

    @property
    def _chosen(self) -> tuple[KeyNames, ...]:
        """Each column's keys in the order of the tuples; they are not distinct."""
        return tuple(taken(keys, index) for keys, index in zip(self.keys, self.index, strict=True))

    def labels(self) -> list[tuple[Any, ...]]:
        """The tuples, of labels as of `KeyNames`."""
        columns = []
        for keys, index in zip(self.keys, self.index, strict=True):
            labels = keys.labels()
            columns.append([labels[i] for i in index.tolist()])
        return list(zip(*columns, strict=True))

    def columns(self) -> list[KeyColumn]:
        """The tuples as the columns of a frame."""
        return [keys.columns()[0] for keys in self._chosen]

    def name_words(self) -> WordArray:
        """What tuples are called in digests, as of `KeyNames`: a digest of their keys' words."""
        words = [
            keys.name_words()[index] for keys, index in zip(self.keys, self.index, strict=True)
        ]
        return joined_words(words)

    def streams(self) -> tuple[WordArray, WordArray]:
        """(tags, names) of the tuples' streams of random words, each of shape (size,)."""
        return streams_of(self.name_words())

    @cached_property
    def _together(self) -> tuple[IntArray, list[IntArray | None]]:
        """(a number for each tuple, distinct numbers of the columns before each but the first).

        The number has the places of a tuple's keys as its digits, -1 being one, too: so rows
        with a key that is not there have numbers of their own. Where it would pass int64, what
        there is of it becomes its place among the distinct ones.
        """
        number, most = self.index[0], self.keys[0].size + 1
        steps: list[IntArray | None] = []
        for keys, index in zip(self.keys[1:], self.index[1:], strict=True):
            distinct = None
            if most * (keys.size + 1) > LARGEST:
                distinct, number = np.unique(number, return_inverse=True)
                most = distinct.size + 1
            steps.append(distinct)
            number = number * (keys.size + 1) + index
            most *= keys.size + 1
        return number, steps

    @cached_property
    def _tables(self) -> tuple[list[key_tables.IntegerTable | None], key_tables.IntegerTable]:
        numbers, steps = self._together
        tables = [None if step is None else key_tables.table_of(step) for step in steps]
        return tables, key_tables.table_of(numbers)

    def twice(self) -> int | None:
        """The place of a tuple that is there once more, if any is."""
        numbers, _ = self._together
        _, first = np.unique(numbers, return_index=True)
        if first.size == numbers.size:
            return None
        again = np.ones(numbers.size, np.bool_)
        again[first] = False
        return int(np.flatnonzero(again)[0])

    def places(self, columns: Iterable[IntArray]) -> IntArray:
        """The place of each row's tuple, -1 if there is none.

        columns: of each column the places of the rows' keys among `keys`, in a new array.
        """
        tables, last = self._tables
        rest = iter(columns)
        number = next(rest)
        for keys, table, digits in zip(self.keys[1:], tables, rest, strict=True):
            if table is not None:
                table.fill(number.copy(), number)
            number *= keys.size + 1
            number += digits
        out = np.empty(number.size, np.int64)
        last.fill(number, out)
        return out


Names: TypeAlias = KeyNames | TupleNames


def taken(keys: KeyNames, index: IntArray) -> KeyNames:
    """Some of the keys, in another order."""
    if keys.kind == "text":
        return KeyNames(keys.kind, [keys.texts[i] for i in index.tolist()])
    return KeyNames(keys.kind, keys.numbers[index], keys.unit)


def chosen(names: Names, index: IntArray) -> Names:
    """Some of the names, in another order."""
    if isinstance(names, KeyNames):
        return taken(names, index)
    return TupleNames(names.keys, [places[index] for places in names.index])
