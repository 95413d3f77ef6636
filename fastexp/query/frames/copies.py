"""A copy of a frame's rows in memory, which no later change of the frame reaches."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..._intake import number_columns
from ..._keys import key_columns
from ..._keys.group_keys import numbered
from ...errors import FastexpError, ParameterError, ParameterTypeError
from ..engines.frame import Frame, Use
from ..engines.types import type_of
from .find import frame_of, is_of

LAZY = (  # library, its types, and what brings all of their rows here
    ("polars", ("LazyFrame",), "collect"),
    ("pyarrow", ("RecordBatchReader",), "read_all"),
    ("pyarrow.dataset", ("Dataset", "Scanner"), "to_table"),
    ("duckdb", ("DuckDBPyRelation",), "to_arrow_table"),
    ("pyspark.sql", ("DataFrame",), "toArrow"),
    ("dask.dataframe", ("DataFrame",), "compute"),
)


def copy_of(frame: Any) -> Frame:
    """All rows of a frame of any kind but a path, apart from it.

    Answers are of the kind of the copy, which has no connection to where the rows came from: a dict
    of a dict, pandas of pandas and Dask, Polars of Polars, else an Arrow table. Refused are columns
    that no query could read or of several types, and what cannot be copied.
    """
    rows = frame_of(frame)
    known = rows.names() is not None
    if known:
        _check(rows)
    if is_of(frame, "narwhals", ("DataFrame", "LazyFrame")):
        frame = frame.to_native()
    copy = frame_of(_copied(_in_memory(frame, streamed=not known)))
    _check(copy)
    _check_objects(copy)
    return copy


def _check(rows: Frame) -> None:
    """Refuse a frame whose columns, by their names or types, cannot all be read."""
    names = rows.names() or []
    if not names:
        raise ParameterError("frame must have columns, got none with a name of text")
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ParameterError(f"frame must have each column once, got {name!r} twice")
    rows.empty([Use(name, "keys") for name in names])


def _check_objects(rows: Frame) -> None:
    """Refuse columns of mixed objects: that a query fails of them would tell of the rows."""
    uses = [Use(name, "keys") for name in rows.names() or ()]
    for part in rows.parts(uses, [], None):
        for use, column in zip(uses, part, strict=True):
            if type_of(column).held == "objects" and not (
                _is_read(number_columns.read, column) or _is_read(_keys, column)
            ):
                raise ParameterTypeError(
                    f"frame[{use.column!r}] must hold entries of one type: numbers, text, "
                    "booleans, dates or timestamps, so that no query fails of them"
                )


def _keys(column: object, argument: str) -> Any:
    return numbered([key_columns.read(column, argument)], argument)


def _is_read(read: Callable[[Any, str], Any], column: object) -> bool:
    try:
        return read(column, "frame") is not None
    except FastexpError:
        return False


def _in_memory(frame: object, *, streamed: bool) -> Any:
    if isinstance(frame, dict):
        named = ((name, column) for name, column in frame.items() if isinstance(name, str))
        return {name: _without_categories(column) for name, column in named}
    for library, types, method in LAZY:
        if is_of(frame, library, types):
            return _without_categories(getattr(frame, method)())
    return import_module("pyarrow").table(frame) if streamed else _without_categories(frame)


def _without_categories(rows: Any) -> Any:
    """Text in their place: Polars numbers the texts of all categories of the process together.

    So whoever makes a category of the same text would learn that it is there.
    """
    if is_of(rows, "polars", ("DataFrame", "Series")):
        polars = import_module("polars")
        if is_of(rows, "polars", ("DataFrame",)):
            return rows.cast({polars.Categorical: polars.String})
        is_categorical = isinstance(rows.dtype, polars.Categorical)  # == leaves named ones out
        return rows.cast(polars.String) if is_categorical else rows
    return rows


def _copied(frame: object) -> Any:
    """Through bytes: the copies that libraries make of columns may share their memory."""
    try:
        return pickle.loads(pickle.dumps(frame, protocol=5))
    except Exception:  # noqa: S110  # raised below, where that error is no context of ours
        pass
    raise ParameterTypeError("frame must hold columns that can be copied, got some that cannot")
