"""Rows of a file, a batch after the other: group, record as the mechanism takes it, person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import _intake
from .._key_columns import read
from .._key_names import KeyNames
from .._typing import AnyArray, IntArray
from ..errors import InvalidRecords
from . import grouped_csv
from .columns import are_doubles, of, rounded
from .grouped_keys import Keys, Listed
from .grouped_records import Records, Table


class Batch(NamedTuple):
    """Rows that count: their groups' codes, values, and persons' numbers."""

    codes: IntArray
    values: AnyArray
    persons: IntArray | None


class Rows:
    """The rows of a table; gone through more than once, except for those of stdin.

    Parameters
    ----------
    table : Table
        FILE and its columns.
    records : Records
        How the mechanism takes what is in the first of them.
    groups, persons : Listed or Found
        How it takes the others; persons may be None.
    """

    def __init__(self, table: Table, records: Records, groups: Keys, persons: Keys | None) -> None:
        self._table, self._records, self.groups, self.persons = table, records, groups, persons
        self._floats = self._wide = False

    @property
    def dtype(self) -> Any:
        """Of all records, as far as they were read."""
        return np.dtype(np.float64 if self._floats else np.int64)

    @property
    def names(self) -> KeyNames:
        """The list of groups, once it is known."""
        if isinstance(self.groups, Listed):
            return self.groups.names
        raise TypeError

    @property
    def once(self) -> bool:
        """Whether they can be gone through only once."""
        return self._table.file == "-"

    def __iter__(self) -> Iterator[Batch]:
        """All rows; first an empty batch, before any row is looked at."""
        for values, missing, codes in self._columns():
            yield self._batch(values, missing, codes[0], codes[1] if len(codes) > 1 else None)

    def _columns(self) -> Iterator[tuple[AnyArray, AnyArray | None, list[IntArray]]]:
        """Records, which are missing, and codes of keys."""
        table, none = self._table, np.zeros(0, np.int64)
        known = [self.groups] if self.persons is None else [self.groups, self.persons]
        if table.parquet is not None:
            yield none, None, [none] * len(known)
            for column, *others in table.parquet.batches():
                found = self._records.of_parquet(column)
                pairs = zip(known, others, strict=True)
                yield *found, [keys.codes(read(other, "--by")) for keys, other in pairs]
            return
        for cells in grouped_csv.blocks_of(table.file, table.names, table.delimiter):
            if not cells:
                yield none, None, [none] * len(known)
                continue
            found = self._records.of_csv(cells[0])
            pairs = zip(known, cells[1:], strict=True)
            yield *found, [keys.codes([_key_cells(keys, other)]) for keys, other in pairs]

    def _batch(
        self, values: AnyArray, missing: AnyArray | None, codes: IntArray, people: IntArray | None
    ) -> Batch:
        """Without rows that count nowhere."""
        nan = self._records.nan
        self._look(values)
        if missing is not None and missing.any():
            if nan == "raise" and bool((missing & (codes >= 0)).any()):
                raise InvalidRecords(_intake.MISSING)
            if nan in ("raise", "drop"):
                codes = np.where(missing, -1, codes)
            else:
                values = _intake.filled(values, missing, nan)
        counts = codes >= 0 if people is None else (codes >= 0) & (people >= 0)
        if counts.all():
            return Batch(codes, values, people)
        some = None if people is None else people[counts]
        return Batch(codes[counts], values[counts], some)

    def _look(self, values: AnyArray) -> None:
        """Whether all batches can be of one type."""
        if values.dtype.kind == "f":
            self._floats = self._floats or bool(values.size)
        else:
            self._wide = self._wide or not are_doubles(values)
        if self._floats and self._wide:
            raise rounded(of(self._table.file, self._table.names[0]))


def _key_cells(keys: Keys, cells: grouped_csv.Cells) -> Any:
    """Keys of CSV, as the list has them."""
    if isinstance(keys, Listed):
        return (
            grouped_csv.texts(cells) if keys.names.kind == "text" else grouped_csv.integers(cells)
        )
    return grouped_csv.texts(cells, gaps=True)
