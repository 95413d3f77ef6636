"""Frames of pandas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .frame import Column, ColumnRead
from .limits import PYTHON_DAYS, Adapter

TYPES: dict[str, Any] = {
    "integers": "int64",
    "floats": "float64",
    "text": "str",
    "booleans": "bool",
    "dates": object,  # the only type of pandas for dates without a time is Arrow's
}


class PandasFrame(Adapter):
    """A `Frame` of a DataFrame; its index does not matter."""

    days = PYTHON_DAYS

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def names(self) -> list[str]:
        return [name for name in self._frame.columns if isinstance(name, str)]

    def empty(self, uses: Sequence[ColumnRead]) -> list[pd.Series]:
        return columns_of(self._frame.iloc[:0], uses)

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[list[pd.Series]]:
        yield columns_of(self._frame, uses)

    def finished(self, columns: Sequence[Column]) -> pd.DataFrame:
        return pd.DataFrame({column.name: _series(column) for column in columns})


def columns_of(frame: pd.DataFrame, uses: Sequence[ColumnRead]) -> list[pd.Series]:
    """The columns that are used."""
    columns: list[Any] = [frame[use.column] for use in uses]
    return columns


def _series(column: Column) -> pd.Series:
    values: Any = column.values
    if np.ndim(values) > 1:
        return pd.Series(list(values), dtype=object)
    if column.kind == "dates":
        days = np.asarray(values).tolist()  # integers for dates that Python cannot hold
        values = [np.datetime64(day, "D") if isinstance(day, int) else day for day in days]
    return pd.Series(values, dtype=TYPES.get(column.kind))
