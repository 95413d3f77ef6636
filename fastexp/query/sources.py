"""Any frame as columns, and answers as a frame of the same kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, ClassVar
from weakref import WeakSet

import numpy as np

from ..data.keys import Labels
from ..errors import ParameterError, ParameterTypeError
from ..parameters import kinds

PART = 1 << 22  # rows that are read at a time, or somewhat more
HERE = (
    "frame must be in this process for sample, accuracy and public lists, as rows of Spark and "
    "Dask stay there: bring some, by .limit(n).toArrow() or .head(n)"
)
ELSEWHERE = "DASK", "PYSPARK", "PYSPARK_CONNECT", "SQLFRAME"


class Source:
    """A frame that nobody has read yet: names and types of its columns, then their rows, once."""

    missing: tuple[str, ...] | None = None  # of cells of text: those that are no number,
    absent: tuple[str, ...] = ()  # those that are no key,
    decimal = "."  # and their decimal point
    name: tuple[Any, ...] = ()  # what identifies files
    is_remote = False  # whether its rows stay with the workers of an engine

    frame: Any

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.frame)

    def head(self, names: list[str]) -> dict[str, Any]:
        """Return columns of the same types, without the rows, where the types are known."""
        columns: dict[str, Any] = {}
        for name in names:
            column = self.frame[name]
            kind = getattr(column, "dtype", getattr(column, "type", None))
            if isinstance(kind, np.dtype) and kind.kind != "O":
                columns[name] = np.zeros([1] * np.ndim(column), kind)
            elif kind is not None and kinds.is_arrow(empty := kinds.typed(column[:0])):
                import pyarrow as pa

                columns[name] = pa.nulls(1, empty.type)
        return columns

    def read(self, names: list[str]) -> dict[str, Any]:
        """Return columns: lists, arrays, or columns of Arrow."""
        return {name: kinds.typed(self.frame[name]) for name in names}

    def parts(self, names: list[str]) -> Iterator[dict[str, Any]]:
        """Give all rows, one part after the other."""
        yield self.read(names)

    def shown(self, labels: Labels) -> Any:
        """Return labels as a column, whose type is that of the keys' column."""
        is_time = labels.unit and labels.kind in ("timestamps", "durations")
        return list(labels.array()) if is_time else labels.objects()

    def frame_of(self, columns: dict[str, Any]) -> Any:
        """Return answers, lists or other columns, as a frame of the same kind."""
        return columns


class Records(Source):
    """A list of dicts, such as of `csv.DictReader`."""

    def names(self) -> list[str]:
        """Return the names of the columns: the keys of the first dict."""
        return list(self.frame[0]) if self.frame else []

    def head(self, names: list[str]) -> dict[str, Any]:  # noqa: ARG002  # nothing is known
        """Return nothing."""
        return {}

    def read(self, names: list[str]) -> dict[str, Any]:
        """Return lists; a value that a dict does not have is missing."""
        return {name: [row.get(name) for row in self.frame] for name in names}

    def frame_of(self, columns: dict[str, Any]) -> Any:
        """Return a list of dicts."""
        rows = zip(*map(listed, columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]


class Pandas(Source):
    """A DataFrame of pandas."""

    def shown(self, labels: Labels) -> Any:
        """Return labels as a Series."""
        import pandas as pd

        if labels.kind == "listed":
            return labels.keys
        if not labels.unit or labels.kind == "dates":  # also those too far for Python
            return pd.Series(labels.objects(), dtype=object)
        if labels.kind == "text" or labels.zone:  # of a column of Arrow
            return _arrow_of(labels).to_pandas()
        return pd.Series(labels.array())

    def frame_of(self, columns: dict[str, Any]) -> Any:
        """Return a DataFrame."""
        import pandas as pd

        return pd.DataFrame({name: tidy(values) for name, values in columns.items()})


class Arrow(Source):
    """A table, batch, reader or dataset of PyArrow."""

    _spent: ClassVar[WeakSet[Any]] = WeakSet()  # readers, which look empty when they were read

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.frame.schema.names)

    def head(self, names: list[str]) -> dict[str, Any]:
        """Return columns of the same types, without rows."""
        import pyarrow as pa

        if hasattr(self.frame, "read_all") and self.frame in self._spent:
            raise ParameterError("frame must not be a reader that was read before: it is empty")
        files: list[Any] = []
        with suppress(AttributeError, ValueError):  # no dataset, or one with a filter
            files = list(self.frame.get_fragments())
        parts = [file.physical_schema for file in files]  # an error is that of a damaged file
        known = [self.frame.schema.field(name).type for name in names]
        kinds = [_kind_of(parts, *pair) for pair in zip(names, known, strict=True)]
        if kinds != known:  # the first file has no values
            self.frame = self.frame.replace_schema(pa.schema(zip(names, kinds, strict=True)))
        return {name: pa.nulls(0, kind) for name, kind in zip(names, kinds, strict=True)}

    def read(self, names: list[str]) -> dict[str, Any]:
        """Return columns of Arrow."""
        import pyarrow as pa

        return _columns_of(pa.concat_tables(self.tables(names)))

    def parts(self, names: list[str]) -> Iterator[dict[str, Any]]:
        """Give all rows, one part after the other: one or more."""
        import pyarrow as pa

        held: list[Any] = []
        rows = 0
        for table in self.tables(names):
            held.append(table)
            rows += table.num_rows
            if rows > PART:
                yield _columns_of(pa.concat_tables(held))
                held, rows = [table.slice(0, 0)], 0
        yield _columns_of(pa.concat_tables(held))

    def tables(self, names: list[str]) -> Iterator[Any]:
        """Give the rows one after the other, as tables with these columns."""
        import pyarrow as pa

        frame = self.frame
        if hasattr(frame, "scanner"):  # a dataset, which reads these columns only
            frame = frame.scanner(columns=names).to_reader()
        elif hasattr(frame, "get_batch"):  # a reader of a file, which can be read again
            batches = map(frame.get_batch, range(frame.num_record_batches))
            frame = pa.RecordBatchReader.from_batches(frame.schema, batches)
        elif hasattr(frame, "read_all"):
            self._spent.add(frame)
        else:
            yield pa.table({name: frame.column(name) for name in names})
            return
        yield from tables_of(frame, names)

    def shown(self, labels: Labels) -> Any:
        """Return labels as a column of Arrow."""
        return _arrow_of(labels) if labels.unit else labels.objects()

    def frame_of(self, columns: dict[str, Any]) -> Any:
        """Return a table."""
        import pyarrow as pa

        return pa.table({name: _array(tidy(values)) for name, values in columns.items()})


class Narwhals(Arrow):
    """A frame of any library that narwhals knows, eager or lazy."""

    def __init__(self, frame: Any) -> None:
        import narwhals

        self.wrapped = narwhals.from_native(frame)
        self.is_wrapped = self.wrapped is frame
        self.kind = self.wrapped.implementation
        if self.kind.name in ELSEWHERE:
            raise ParameterTypeError(
                "frame must be in this process, or a DataFrame of Dask, or of Spark 4 without "
                f"Connect, and not wrapped, got one of {self.kind.name}"
            )

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.wrapped.collect_schema().names())

    def head(self, names: list[str]) -> dict[str, Any]:
        """Return columns of the same types, without rows."""
        return _columns_of(self._table(self.wrapped.select(*names).head(0)))

    def tables(self, names: list[str]) -> Iterator[Any]:
        """Give all rows as one table."""
        yield self._table(self.wrapped.select(*names))

    def frame_of(self, columns: dict[str, Any]) -> Any:
        """Return a frame of the same kind; a table of Arrow, if it has no rows of its own."""
        import narwhals

        try:
            data = {name: tidy(values) for name, values in columns.items()}
            frame: Any = narwhals.from_dict(data, backend=self.kind)
        except (ValueError, TypeError):
            return super().frame_of(columns)
        frame = frame.lazy() if isinstance(self.wrapped, narwhals.LazyFrame) else frame
        return frame if self.is_wrapped else frame.to_native()

    def _table(self, chosen: Any) -> Any:
        return (chosen.collect("pyarrow") if hasattr(chosen, "collect") else chosen).to_arrow()


def listed(values: Any) -> list[Any]:
    """Return a column as a list; of times of NumPy, which its own lists turn into others."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return list(values)
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    return values.tolist() if hasattr(values, "tolist") else list(values)


def tidy(values: Any) -> Any:
    """Return answers as frames take them: several numbers of a group as a list."""
    return values.tolist() if getattr(values, "ndim", 1) > 1 else values


def _arrow_of(labels: Labels) -> Any:
    """Return labels of a column with a type as a column of Arrow."""
    import pyarrow as pa

    if labels.kind == "text":
        return pa.array(labels.keys, pa.string())
    found = pa.array(labels.array())
    return found.cast(pa.timestamp(found.type.unit, labels.zone)) if labels.zone else found


def _kind_of(parts: list[Any], name: str, kind: Any) -> Any:
    """Return the type of a column in all files; `kind`, if it is in none: it is of their paths."""
    kinds = [known.field(name).type for known in parts if name in known.names]
    distinct = {str(kind): kind for kind in kinds}
    distinct.pop("null", None)  # of a file without values
    if kinds and (len(kinds) < len(parts) or len(distinct) > 1):
        raise ParameterError(
            f"files must all have one column {name!r}, of one type, got "
            f"{' and '.join(sorted(distinct))} in {len(kinds)} of {len(parts)}"
        )
    return next(iter(distinct.values()), kind)


def tables_of(reader: Any, names: list[str]) -> Iterator[Any]:
    """Give the batches of a reader as tables with these columns, after one without rows."""
    import pyarrow as pa

    yield reader.schema.empty_table().select(names)
    for batch in reader:
        yield pa.Table.from_batches([batch]).select(names)


def _columns_of(table: Any) -> dict[str, Any]:
    return dict(zip(table.column_names, table.columns, strict=True))


def _array(values: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values)
    except OverflowError:  # it makes int64 of integers
        return pa.array(values, pa.uint64())
