"""Frames wrapped by narwhals, and frames that it alone knows, such as Modin's and cuDF's."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, cast

import narwhals
import narwhals.stable.v2 as nw
import numpy as np

from .frame import Column, ColumnRead, Frame, nested
from .limits import DAYS32, PYTHON_DAYS, Adapter, Range

TYPES: dict[str, Any] = {
    "integers": nw.Int64(),
    "floats": nw.Float64(),
    "text": nw.String(),
    "booleans": nw.Boolean(),
    "dates": nw.Date(),
}


def eager(frame: object) -> nw.DataFrame[Any] | None:
    """The frame wrapped by narwhals; None if narwhals does not know it as eager."""
    known = nw.from_native(frame, eager_only=True, pass_through=True)
    return known if isinstance(known, nw.DataFrame) else None


class AnyFrame(Adapter):
    """A `Frame` of an eager frame of narwhals."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self._frame = frame
        self._like_pandas = frame.implementation.is_pandas_like()
        self.days: Range = PYTHON_DAYS if self._like_pandas else DAYS32

    def names(self) -> list[str]:
        present: list[Any] = self._frame.columns
        return [name for name in present if isinstance(name, str)]

    def empty(self, uses: Sequence[ColumnRead]) -> list[Any]:
        return _chosen(self._frame.head(0), uses)

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[list[Any]]:
        yield _chosen(self._frame, uses)

    def finished(self, columns: Sequence[Column]) -> Any:
        schema = {column.name: _type(column, self._like_pandas) for column in columns}
        data = {column.name: _items(column, self._like_pandas) for column in columns}
        return nw.from_dict(data, schema, backend=self._frame.implementation).to_native()


class WrappedFrame:
    """A `Frame` of a frame that its user wrapped by narwhals; answers are wrapped, too."""

    def __init__(self, frame: object, native: Frame) -> None:
        self._native = native
        self.room = native.room
        version = sys.modules[type(frame).__module__]  # narwhals.stable.v1, and the like
        self._wrapped = getattr(version, "from_native", narwhals.from_native)
        self.names, self.empty, self.parts = native.names, native.empty, native.parts
        self.check_answers = native.check_answers

    def finished(self, columns: Sequence[Column]) -> Any:
        return self._wrapped(self._native.finished(columns))


def _chosen(frame: nw.DataFrame[Any], uses: Sequence[ColumnRead]) -> list[Any]:
    return [frame[use.column].to_native() for use in uses]


def _type(column: Column, like_pandas: bool) -> Any:
    is_nested = np.ndim(column.values) > 1
    if like_pandas and (is_nested or column.kind == "dates"):
        return nw.Object()
    if column.kind == "timestamps":
        return nw.Datetime(cast("Any", column.unit))
    return nested(column, TYPES[column.kind], nw.List)


def _items(column: Column, like_pandas: bool) -> Any:
    values = column.values
    if np.ndim(values) > 1:
        return list(values) if like_pandas else np.asarray(values).tolist()
    return np.asarray(values).astype(object) if like_pandas and column.kind == "dates" else values
