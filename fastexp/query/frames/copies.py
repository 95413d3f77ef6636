"""A copy of a frame's rows in memory, which no later change of the frame reaches."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np

from ..._intake import number_columns
from ..._keys import key_columns
from ..._keys.group_keys import numbered
from ..._typing import AnyArray
from ...errors import FastexpError, ParameterError, ParameterTypeError
from ..engines.frame import ColumnRead, Frame
from ..engines.limits import note_read
from ..engines.types import type_of
from .find import frame_of, is_of

LAZY = (  # library, its types, and the method that reads all of their rows
    ("polars", ("LazyFrame",), "collect"),
    ("pyarrow", ("RecordBatchReader",), "read_all"),
    ("pyarrow.dataset", ("Dataset", "Scanner"), "to_table"),
    ("duckdb", ("DuckDBPyRelation",), "to_arrow_table"),
    ("pyspark.sql", ("DataFrame",), "toArrow"),
    ("dask.dataframe", ("DataFrame",), "compute"),
)


def copy_of(frame: Any) -> Frame:
    """A copy of all rows of a frame of any kind, except a path.

    It has no connection to the source of the rows. Answers are of the kind of the copy: a dict for
    a dict, pandas for pandas and Dask, Polars for Polars, otherwise an Arrow table. Columns that no
    query could read, or of several types, and columns that cannot be copied are refused.
    """
    rows = frame_of(frame)
    known = rows.names() is not None
    if known:
        _check(rows)
    if is_of(frame, "narwhals", ("DataFrame", "LazyFrame")):
        frame = frame.to_native()
    note_read(frame)
    copy = frame_of(_copied(_in_memory(frame, streamed=not known)))
    _check(copy)
    return TypedFrame(copy)


class TypedFrame:
    """A `Frame` of the rows of another; its columns of objects have the type of the objects.

    That type is public, like those of other columns, except where groups are private: their type
    follows from the names that appear. Columns of mixed objects are refused, as a query that failed
    on them would reveal something about the rows.
    """

    def __init__(self, rows: Frame) -> None:
        self.room, self._rows = rows.room, rows
        self.names, self.parts, self.finished = rows.names, rows.parts, rows.finished
        self.check_answers = rows.check_answers
        self._types: dict[str, AnyArray] = {}
        uses = [ColumnRead(name, "keys") for name in rows.names() or ()]
        for part in rows.parts(uses):
            for use, column in zip(uses, part, strict=True):
                kind = type_of(column)
                held = _held(use.column, column) if kind.content == "objects" else None
                if held is not None and not kind.coded:  # categories stay what they are
                    self._types[use.column] = held

    def empty(self, uses: Sequence[ColumnRead]) -> list[Any]:
        columns = zip(uses, self._rows.empty(uses) or (), strict=True)
        held = self._types.get
        return [
            column
            if use.reading == "names" and not type_of(held(use.column)).floats
            else held(use.column, column)
            for use, column in columns
        ]


def _check(rows: Frame) -> None:
    names = rows.names() or []
    if not names:
        raise ParameterError("frame must have columns, got none whose name is text")
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ParameterError(f"frame must have each column once, got {name!r} twice")
    rows.empty([ColumnRead(name, "keys") for name in names])


def _held(name: str, column: object) -> AnyArray | None:
    """An empty array of the type of the objects in a column; None if all of them are missing."""
    with suppress(FastexpError):
        _, keys = numbered([key_columns.read(column, "frame")], "frame")
        ((kind, values),) = keys.columns()
        return np.array(values[:0], "U1" if kind == "text" else None) if keys.size else None
    with suppress(FastexpError):
        numbers = number_columns.read(column, "frame")
        if numbers is not None:
            return numbers.values[:0]
    raise ParameterTypeError(
        f"frame[{name!r}] must hold entries of one type: numbers, text, booleans, dates or "
        "timestamps, so that no query fails on them"
    )


def _in_memory(frame: object, *, streamed: bool) -> Any:
    if isinstance(frame, dict):
        columns = ((name, column) for name, column in frame.items() if isinstance(name, str))
        return {name: _without_categories(column) for name, column in columns}
    for library, types, method in LAZY:
        if is_of(frame, library, types):
            return _without_categories(getattr(frame, method)())
    return import_module("pyarrow").table(frame) if streamed else _without_categories(frame)


def _without_categories(rows: Any) -> Any:
    """Replace categories of Polars by text: Polars numbers all categories of the process together.

    Otherwise, whoever makes a category of the same text would learn that it exists.
    """
    if is_of(rows, "polars", ("DataFrame", "Series")):
        polars = import_module("polars")
        if is_of(rows, "polars", ("DataFrame",)):
            return rows.cast({polars.Categorical: polars.String})
        is_categorical = isinstance(rows.dtype, polars.Categorical)  # == would miss named ones
        return rows.cast(polars.String) if is_categorical else rows
    return rows


def _copied(frame: object) -> Any:
    """Copy through bytes, as the copies that libraries make of columns may share their memory."""
    try:
        return pickle.loads(pickle.dumps(frame, protocol=5))
    except Exception:  # noqa: S110  # raised below, without that error as its context
        pass
    raise ParameterTypeError("frame must hold columns that can be copied, got some that cannot")
