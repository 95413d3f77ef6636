"""Frames without a library: dicts of arrays, lists and series, and Arrow data from anywhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..._arrow import arrow
from ..._parameters.foreign import agree, attribute, length, readable
from ...errors import ParameterError, ParameterTypeError
from .frame import Column, ColumnRead
from .limits import Adapter, check_unread, note_read

ONE = "frame[{!r}] must be a column: a list, tuple, range, array of one axis or series, got {}"
LENGTHS = "frame must have columns of one length, got different lengths in {!r} and {!r}"
INDEX = (
    "frame must have series with one index, got different ones in {!r} and {!r}: align them, or "
    "use .to_numpy()"
)


class ArraysFrame:
    """A `Frame` of a dict of columns of one length."""

    room = None

    def __init__(self, frame: dict[Any, Any]) -> None:
        self._frame = frame

    def names(self) -> list[str]:
        return [name for name in self._frame if isinstance(name, str)]

    def empty(self, uses: Sequence[ColumnRead]) -> list[Any]:
        first, *others = [use.column for use in uses]
        columns = {name: _checked(name, self._frame[name]) for name in (first, *others)}
        for name in others:
            if len(columns[name]) != len(columns[first]):
                raise ParameterError(LENGTHS.format(first, name))
            if not agree(attribute(columns[first], "index"), attribute(columns[name], "index")):
                raise ParameterError(INDEX.format(first, name))
        return [_without_rows(columns[use.column]) for use in uses]

    def check_answers(self, names: Sequence[str], groups: Sequence[Column]) -> None:
        """Accept all answers: a dict of arrays can hold any of them."""

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[list[Any]]:
        columns = [self._frame[use.column] for use in uses]
        yield columns if len(columns[0]) else [_without_rows(column) for column in columns]

    def finished(self, columns: Sequence[Column]) -> dict[str, Any]:
        return columns_by_name(columns)


class ArrowAnswers(Adapter):
    """Answers as a table of pyarrow; where that is not installed, as a dict of columns."""

    def finished(self, columns: Sequence[Column]) -> Any:
        if find_spec("pyarrow") is None:
            return columns_by_name(columns)
        from .arrow import table_of  # imports pyarrow

        return table_of(columns)


class StreamFrame(ArrowAnswers):
    """A `Frame` of anything with `__arrow_c_stream__` or `__arrow_c_array__`, read without pyarrow.

    Its producer, which may run a query, is not called before the charge. Only then are its columns
    known and, if they do not fit, refused.
    """

    def __init__(self, frame: object) -> None:
        self._frame = frame

    def names(self) -> None:
        check_unread(self._frame)

    def empty(self, uses: Sequence[ColumnRead]) -> None:
        return

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[list[arrow.Opened]]:
        note_read(self._frame)
        names = list(dict.fromkeys(use.column for use in uses))
        for batch in arrow.table(self._frame, names, "frame"):
            yield [arrow.Opened.of(batch[names.index(use.column)]) for use in uses]


def _without_rows(column: object) -> Any:
    """The column without rows; an empty array of floats has no type, as it is NumPy's default."""
    if length(column) == 0 and type(column) is np.ndarray and column.dtype == np.float64:
        return []
    # Slices of series go by position, but by label in pandas 2 if the index has floats.
    return attribute(column, "iloc", column)[:0]


def _checked(name: str, column: object) -> Any:
    readable(column, f"frame[{name!r}]")
    is_flat = attribute(column, "ndim", 1) == 1 and not isinstance(column, (str, bytes, dict))
    ordered = attribute(type(column), "__getitem__") is not None and not isinstance(column, deque)
    if not is_flat or not ordered or length(column) is None:
        raise ParameterTypeError(ONE.format(name, type(column).__name__))
    return column


def columns_by_name(columns: Sequence[Column]) -> dict[str, Any]:
    """Answers as a dict of arrays, and lists of text."""
    return {
        name: np.asarray(values).tolist() if kind == "text" and np.ndim(values) > 1 else values
        for name, kind, values in columns
    }
