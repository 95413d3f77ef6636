"""Arrow columns and frames as NumPy arrays: not copied, without pyarrow.

Polars, pandas, pyarrow, DuckDB and others hand out their data by two methods,
`__arrow_c_array__` and `__arrow_c_stream__`. What is read here stays valid when the producer is
gone. Messages say what form is required, and nothing about the data.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from ..errors import ParameterError, ParameterTypeError
from . import c_interface
from .arrow_columns import Column, checked, empty, kind_of, nulls, plain, read
from .c_interface import ArrowPart, Field, opened

__all__ = ["Column", "Opened", "column", "is_arrow", "table"]


class Opened:
    """One column, whose producer is called once: the type is read at once, rows when needed.

    The producer is any object with `__arrow_c_array__` or `__arrow_c_stream__` that is neither a
    frame nor lists of lists. `InvalidRecords` if it fails or breaks the interface's rules.
    """

    __slots__ = ("_chunks", "_field", "_parts", "is_list")

    def __init__(self, data: object, argument: str) -> None:
        self._field, self._parts = opened(data, argument)
        self._chunks: list[Column] = []
        if plain(self._field) == "+s":
            raise ParameterTypeError(
                f"{argument} must be one Arrow column, got a frame or a struct"
            )
        checked(self._field, argument)
        self.is_list = kind_of(self._field) == "list"  # whether its rows are lists

    @classmethod
    def of(cls, *chunks: Column) -> Opened:
        """Return a column that has been read already: one chunk, or several of one type."""
        column = cls.__new__(cls)
        column._chunks, column.is_list = list(chunks), chunks[0].kind == "list"
        return column

    def without_rows(self) -> Column:
        """Return a column of its type: without rows, or the first chunk if it has been read."""
        return self._chunks[0] if self._chunks else empty(self._field)

    def chunks(self) -> list[Column]:
        """Return at least one chunk, so that the type is known; empty if there are no rows."""
        if not self._chunks:
            field = self._field
            self._chunks = [read(field, part, 0, part.length) for part in self._parts]
            self._chunks = self._chunks or [empty(field)]
        return self._chunks


def is_arrow(data: object) -> bool:
    """Whether an object hands out Arrow data, or is an opened column."""
    return type(data) is Opened or c_interface.is_arrow(data)


def column(data: object, argument: str = "data") -> list[Column]:
    """Return the chunks of an array, a series, a chunked array or an `Opened` column.

    There is at least one chunk, so that the type is known; it is empty if there are no rows.
    """
    return (data if isinstance(data, Opened) else Opened(data, argument)).chunks()


def table(
    data: object, names: Sequence[str], argument: str = "data"
) -> Generator[list[Column], None, None]:
    """Yield the named columns of a frame, in this order, batch by batch; no other column is read.

    There is at least one batch, so that types are known; it is empty if there are no rows. Only one
    thread at a time may ask for the next batch. Closing the generator releases the producer. It
    refuses what `Opened` refuses, but `data` must be a frame, with one column of each name.
    """
    field, parts = opened(data, argument)
    if plain(field) != "+s":
        raise ParameterTypeError(f"{argument} must be a frame with columns, got one Arrow column")
    where = [_place(field, name, argument) for name in names]
    for i in where:
        checked(field.children[i], f"{argument}[{field.children[i].name!r}]")
    return _batches([field.children[i] for i in where], where, parts)


def _batches(
    fields: list[Field], where: list[int], parts: Iterator[ArrowPart]
) -> Generator[list[Column], None, None]:
    has_batch = False
    for part in parts:
        has_batch, valid = True, nulls(part, 0, part.length)
        columns = [
            read(field, part.child(i), part.offset, part.length)
            for field, i in zip(fields, where, strict=True)
        ]
        if valid is not None:  # a row of the frame may be null as a whole
            both = (valid if column.valid is None else column.valid & valid for column in columns)
            columns = [
                replace(column, valid=rows) for column, rows in zip(columns, both, strict=True)
            ]
        yield columns
    if not has_batch:
        yield [empty(field) for field in fields]


def _place(field: Field, name: str, argument: str) -> int:
    places = [i for i, child in enumerate(field.children) if child.name == name]
    if len(places) != 1:
        got = "several" if places else "none"
        raise ParameterError(f"{argument} must have one column named {name!r}, got {got}")
    return places[0]
