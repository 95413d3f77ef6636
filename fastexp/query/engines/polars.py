"""Frames of Polars, eager and lazy.

A lazy frame is collected once, and only the columns that are used. Its answers are lazy again,
but finished: a plan that drew would be a new release each time that it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from ...errors import ParameterError
from .frame import Column, ColumnRead, nested
from .limits import Adapter, Range, within

TYPES: dict[str, Any] = {
    "integers": pl.Int64(),
    "floats": pl.Float64(),
    "text": pl.String(),
    "booleans": pl.Boolean(),
}
MAX_SECONDS = ((1 << 63) - 1) // 1000  # seconds that Polars can hold, in milliseconds


class PolarsFrame(Adapter):
    """A `Frame` of a DataFrame or LazyFrame."""

    def __init__(self, frame: pl.DataFrame | pl.LazyFrame) -> None:
        self._frame = frame
        self._schema = frame.collect_schema()

    def names(self) -> list[str]:
        return self._schema.names()

    def empty(self, uses: Sequence[ColumnRead]) -> list[pl.Series]:
        return [pl.Series(use.column, [], self._schema[use.column]) for use in uses]

    def check_answers(self, names: Sequence[str], groups: Sequence[Column]) -> None:
        super().check_answers(names, groups)
        for column in groups:
            seconds = column.kind == "timestamps" and column.unit == "s"
            if seconds and not within(column, Range(-MAX_SECONDS, MAX_SECONDS)):
                raise ParameterError(
                    f"groups must be timestamps that Polars can hold in ms, got others in "
                    f"{column.name!r}"
                )

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[list[pl.Series]]:
        frame, names = self._frame, list(dict.fromkeys(use.column for use in uses))
        if isinstance(frame, pl.LazyFrame):  # names alone would be patterns, as "*" is
            frame = frame.select(cs.by_name(*names)).collect()
        yield [frame.get_column(use.column) for use in uses]

    def finished(self, columns: Sequence[Column]) -> pl.DataFrame | pl.LazyFrame:
        answers = pl.DataFrame([_series(column) for column in columns])
        return answers.lazy() if isinstance(self._frame, pl.LazyFrame) else answers


def _series(column: Column) -> pl.Series:
    name, kind, values = column
    if isinstance(values, list) or kind in TYPES:
        return pl.Series(name, values, dtype=nested(column, TYPES[kind], pl.List))
    if kind == "dates":
        return pl.Series(name, values.astype(np.int64)).cast(pl.Int32).cast(pl.Date)
    unit: Any = "ms" if column.unit == "s" else column.unit
    ticks = values.astype(f"datetime64[{unit}]").astype(np.int64)
    return pl.Series(name, ticks).cast(pl.Datetime(unit))
