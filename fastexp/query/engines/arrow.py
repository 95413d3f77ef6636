"""Tables, batches, streams and data sets of pyarrow, whose types are known before they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..._typing import AnyArray
from .frame import Column, ColumnRead
from .limits import DAYS32, Adapter, check_unread, note_read, within

TYPES = {
    "integers": pa.int64(),
    "floats": pa.float64(),
    "text": pa.string(),
    "booleans": pa.bool_(),
    "dates": pa.date32(),
}
INT32 = 1 << 31  # list arrays with offsets of 32 bits have fewer items


class ArrowFrame(Adapter):
    """A `Frame` of a Table, RecordBatch, RecordBatchReader, Dataset or Scanner."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._scanned = hasattr(frame, "projected_schema")  # a scanner
        self._schema: pa.Schema = frame.projected_schema if self._scanned else frame.schema

    def names(self) -> list[str]:
        check_unread(self._frame)
        return list(self._schema.names)

    def empty(self, uses: Sequence[ColumnRead]) -> list[pa.ChunkedArray]:
        return _chosen(self._schema.empty_table(), self._places(uses))

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[list[Any]]:
        """The rows of a table at once, others batch by batch; at least one part."""
        batches, places = self._frame, self._places(uses)
        note_read(self._frame)
        if isinstance(self._frame, (pa.Table, pa.RecordBatch)):
            batches = [self._frame]
        elif self._scanned:
            batches = self._frame.to_batches()
        elif not isinstance(self._frame, pa.RecordBatchReader):
            names = list(dict.fromkeys(use.column for use in uses))
            places = [names.index(use.column) for use in uses]
            batches = self._frame.to_batches(columns=names)
        part = None
        for part in batches:
            yield _chosen(part, places)
        if part is None:
            yield self.empty(uses)

    def finished(self, columns: Sequence[Column]) -> pa.Table:
        return table_of(columns)

    def _places(self, uses: Sequence[ColumnRead]) -> list[int]:
        return [self._schema.get_field_index(use.column) for use in uses]


def table_of(columns: Sequence[Column]) -> pa.Table:
    """Answers as a table; where a group has several values, a column of lists."""
    return pa.table([_array(column) for column in columns], [column.name for column in columns])


def _chosen(rows: Any, places: list[int]) -> list[Any]:
    return [rows.column(i) for i in places]


def _array(column: Column) -> pa.Array:
    if np.ndim(column.values) < 2:
        return _flat(column)
    lists = np.asarray(column.values)
    offsets = np.arange(lists.shape[0] + 1) * lists.shape[1]
    items = _array(column._replace(values=lists.reshape(offsets[-1], *lists.shape[2:])))
    if offsets[-1] < INT32:
        return pa.ListArray.from_arrays(_of_words(offsets.astype(np.int32), pa.int32()), items)
    return pa.LargeListArray.from_arrays(_of_words(offsets, pa.int64()), items)


def _flat(column: Column) -> pa.Array:
    """An array without gaps, put together by hand: `pa.array` imports pandas."""
    if column.kind == "text":
        return _text(list(column.values))
    values, kind = np.asarray(column.values), TYPES.get(column.kind)
    if column.kind == "booleans":
        bits = np.packbits(values, bitorder="little")
        return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(bits)])
    if column.kind == "dates":
        if not within(column, DAYS32):  # groups from the data; pyarrow stores them in ms
            return pa.array(values, pa.date64())
        return _of_words(values.astype("M8[D]").view(np.int64).astype(np.int32), kind)
    if column.kind == "timestamps":
        kind = pa.timestamp(column.unit)
    return _of_words(values, kind)


def _of_words(values: AnyArray, kind: pa.DataType) -> pa.Array:
    buffer = pa.py_buffer(np.ascontiguousarray(values).view(np.uint8))
    return pa.Array.from_buffers(kind, values.size, [None, buffer])


def _text(texts: list[str]) -> pa.Array:
    parts = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, parts)])
    if ends[-1] >= INT32:
        return pa.array(texts, TYPES["text"])  # pyarrow makes several arrays
    offsets = pa.py_buffer(ends.astype(np.int32))
    return pa.Array.from_buffers(
        TYPES["text"], len(parts), [None, offsets, pa.py_buffer(b"".join(parts))]
    )
