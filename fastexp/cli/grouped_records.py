"""FILE and its columns; and how a mechanism takes the records in one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._key_names import KeyNames
from .._typing import AnyArray
from . import grouped_csv
from .columns import is_npy, of
from .errors import UserMistake
from .grouped_parquet import (
    BOOLEANS,
    DECIMALS,
    FLOATS,
    INTEGERS,
    LABELS,
    TEXTS,
    Parquet,
    as_list,
    doubles,
)
from .question import as_column
from .reading import PARQUET

Found = tuple[AnyArray, AnyArray | None]  # records, and which are missing (None: none)


class Table:
    """A file and the names of columns that are of interest.

    Parameters
    ----------
    file, delimiter : str
    column, by : str
        The records and the keys of groups.
    person : str or None
        The keys of persons.

    Raises
    ------
    UserMistake, Failure
        If it is Parquet and cannot be read, or has no such columns.
    """

    def __init__(self, file: str, delimiter: str, column: str, by: str, person: str | None) -> None:
        if is_npy(file):
            raise UserMistake("--by does not go with .npy, which holds one array")
        self.file, self.delimiter = file, delimiter
        self.names = [column, by] + ([] if person is None else [person])
        is_parquet = file.lower().endswith(PARQUET)
        self.parquet = Parquet(file, self.names) if is_parquet else None
        for name, kind in zip(self.names[1:], self.kinds[1:], strict=True):
            if kind not in (INTEGERS, TEXTS, None):
                raise UserMistake(f"{of(file, name)} holds {kind}, neither integers nor text")

    @property
    def kinds(self) -> list[str | None]:
        """What the columns hold; None for CSV, where everything is text."""
        return [None] * len(self.names) if self.parquet is None else [*self.parquet.kinds]


class Records:
    """How a mechanism takes records.

    Parameters
    ----------
    table : Table
    mechanism : Median, Quantile, Price or MostCommon
        Of a MostCommon with candidates of text. `mechanism` is then that with candidates as
        the column's values are.
    nan : str
        What to do with missing records.
    """

    def __init__(self, table: Table, mechanism: Any, nan: str) -> None:
        self._kind, self._labels = table.kinds[0], hasattr(mechanism, "candidates")
        self._called = of(table.file, table.names[0])
        self.nan = "drop" if self._labels else nan  # other values count nowhere
        if self._labels:
            kind = LABELS.get(self._kind or "")
            made = tuple(as_column(label, kind or "text") for label in mechanism.candidates)
            mechanism = replace(mechanism, candidates=made)
            self._names = KeyNames("text", () if kind else mechanism.candidates)
        elif self._kind not in (INTEGERS, FLOATS, DECIMALS, None):
            raise UserMistake(
                f"{self._called} holds {self._kind}, neither integers nor floats of 32 or 64 bits"
            )
        self.mechanism = mechanism

    def of_csv(self, cells: grouped_csv.Cells) -> Found:
        """Records of CSV."""
        if self._labels:
            codes = self._names.codes(grouped_csv.texts(cells))
            return codes, codes < 0
        return _with_gaps(grouped_csv.numbers(cells, self._called), None)

    def of_parquet(self, column: Any) -> Found:
        """Records of Parquet."""
        if self._labels:
            if self._kind in (BOOLEANS, FLOATS):
                column = as_list(column)
            elif self._kind not in (INTEGERS, TEXTS):  # dates and the like
                column = ["" if x is None else str(x) for x in as_list(column)]
            codes, missing = self.mechanism._read(column, self.nan)
            return codes, missing
        if self._kind == DECIMALS:
            column = doubles(column)
        return _with_gaps(*self.mechanism._read(column, self.nan))


def _with_gaps(values: AnyArray, missing: AnyArray | None) -> Found:
    """With NaN among what is missing."""
    if values.dtype.kind != "f":
        return values, missing
    gaps = np.isnan(values)
    return values, gaps if missing is None else gaps | missing
