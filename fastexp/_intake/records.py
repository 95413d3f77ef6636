"""The single entry point for records: from any form to what draws and laws take."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .._arrow import arrow
from .._parameters import validate
from .._parameters.foreign import attribute, readable
from .._parameters.grid import Grid
from .._typing import AnyArray, IntArray
from ..errors import ParameterTypeError
from . import arrays, number_columns
from .arrays import CHUNK_RECORDS
from .record_sources import MAX_SORTED_RECORDS, Counted, RecordSource, Sorted
from .unsorted import Unsorted

FLOAT64 = np.dtype(np.float64)
FRAME = (
    'records must be one column, as frame["age"], got {}: fastexp.Query takes frames and '
    "the names of their columns, as Query().release(frame, {{'median': (mechanism, 'age')}})"
)


class Records:
    """Records as a verb takes them: one data set, or many (a matrix, a column of lists).

    The constructor inspects only their form: their content is read after a charge. The producer
    of an Arrow column is called once; but `labels` that are iterable stay as they are, because
    Python compares them with candidates.
    """

    __slots__ = ("data",)

    def __init__(self, data: object, *, labels: bool = False) -> None:
        self.data: Any = data
        if type(data) is not np.ndarray:
            readable(data, "records")
            if attribute(data, "columns") is not None or _is_frame(data, labels):
                raise ParameterTypeError(FRAME.format(type(data).__name__))
            is_open = isinstance(data, (np.ndarray, list, tuple, arrow.Opened))
            if not is_open and number_columns.is_column(data):
                column = arrow.Opened(data, "records")
                if column.is_list or not (labels and isinstance(data, Iterable)):
                    self.data = column

    @property
    def is_batch(self) -> bool:
        """Whether they are several data sets: the rows of a matrix, or lists."""
        if isinstance(self.data, np.ndarray):
            return self.data.ndim == 2
        return isinstance(self.data, arrow.Opened) and self.data.is_list

    def source(
        self,
        nan: object = "raise",
        *,
        grid: Grid | None = None,
        assume_sorted: bool = False,
        check_sorted: bool = False,
        threads: int = 1,
        sort_few: bool = True,
    ) -> RecordSource:
        """Return one data set of any form (`arrays.NUMBERS`), for draws on `grid`.

        `assume_sorted` is trusted; with `check_sorted` it is checked, and ignored if false. A
        caller that counts records in any order needs no `sort_few`.
        """
        data = self.data
        if _plain(data) and nan == "raise":  # the common case first: the rest takes some 5 us
            if assume_sorted and not check_sorted:
                return Sorted(data)
            if not sort_few:
                return Unsorted(lambda: iter((data,)), threads, data.size)
            values = data.copy()
            values.sort()
            return Sorted(values)
        policy = validate.choice("nan", nan, arrays.POLICIES)
        if isinstance(data, (str, Path)):
            data = arrays.from_file(data)
        if callable(data):
            return Unsorted(lambda: arrays.arrays(data, policy, grid), threads)
        if arrays.weighted(data):
            return Counted(*arrays.weighted_numbers(data, policy, grid))
        values = arrays.numbers(data, policy, grid)
        if sort_few and values.size <= MAX_SORTED_RECORDS and not assume_sorted:
            return Sorted(np.sort(values))
        if assume_sorted and not (check_sorted and _unordered(values)):
            return Sorted(values)
        return Unsorted(lambda: iter((values,)), threads, values.size)

    def numbers(self, nan: str, grid: Grid | None = None) -> tuple[AnyArray, AnyArray | None]:
        """Return float64 or int64 in the order of the records, and the missing ones, if known.

        If nan is "raise", NaN is left to be found later.
        """
        data = self.data
        if isinstance(data, (str, Path)):
            data = arrays.from_file(data)
        if callable(data):
            parts = list(arrays.arrays(data, "raise", grid))
            data = np.concatenate(parts) if parts else np.zeros(0)
        if arrays.weighted(data):
            raise ParameterTypeError(arrays.FLAT)
        return arrays.apart(data, nan, grid)

    def matrix(self, grid: Grid | None = None) -> AnyArray | None:
        """Return float64 or int64 of shape (rows, n), for a grid; None if this is no matrix."""
        data = self.data
        masked = isinstance(data, np.ma.MaskedArray)
        if masked or not isinstance(data, np.ndarray) or data.ndim != 2:
            return None
        numbers = number_columns.of_array(data, None, "records")
        if numbers is None:
            raise ParameterTypeError(arrays.NUMBERS)
        return arrays.canonical(numbers.values, grid)

    def flat(self) -> tuple[Any, IntArray | None]:
        """Return all records of many data sets, and the offsets of the data sets.

        For one data set the offsets are None.
        """
        if not self.is_batch:
            return self.data, None
        if isinstance(self.data, np.ndarray):
            rows, n = self.data.shape
            return self.data.reshape(-1), np.arange(rows + 1) * n
        return _of_lists(self.data.chunks())


def _is_frame(data: object, labels: bool) -> bool:
    """Whether data is a dict of columns, or (where labels are wanted) the name of a column."""
    return isinstance(data, str if labels else dict)


def _plain(data: object) -> bool:
    """Whether the data is a small array that needs no conversion."""
    return (
        type(data) is np.ndarray
        and data.dtype is FLOAT64
        and 1 < data.size <= MAX_SORTED_RECORDS
        and data.ndim == 1
        and data.flags.c_contiguous
    )


def _unordered(values: AnyArray) -> bool:
    """Whether some record is less than the one before it, or NaN."""
    for begin in range(0, values.size - 1, CHUNK_RECORDS):
        part = values[begin : begin + CHUNK_RECORDS + 1]
        if not bool((part[:-1] <= part[1:]).all()):
            return True
    return False


def _of_lists(
    chunks: list[arrow.Column],
) -> tuple[number_columns.Numbers | arrow.Opened, IntArray]:
    """Return the numbers or labels in chunks of lists, and offsets; a missing list is empty."""
    items: list[arrow.Column] = []
    lengths: list[AnyArray] = [np.zeros(1, np.int64)]
    for chunk in chunks:
        if chunk.offsets is None or chunk.child is None:
            raise ParameterTypeError(arrays.FLAT)
        items.append(chunk.child)
        lengths.append(np.diff(chunk.offsets.astype(np.int64, copy=False)))
    offsets = np.cumsum(np.concatenate(lengths))
    if all(
        child.kind in ("integers", "floats") or child.format == number_columns.NULLS
        for child in items
    ):
        return number_columns.joined(items, "records"), offsets
    return arrow.Opened.of(*items), offsets
