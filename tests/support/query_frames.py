"""The same rows in every form of frame, and answers of every kind of frame as lists."""

from __future__ import annotations

import narwhals
import narwhals.stable.v1
import narwhals.stable.v2
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds


class Stream:
    """Nothing but a stream, of batches of some rows."""

    def __init__(self, table, rows=37):
        batches = table.to_batches(rows)
        self._reader = pa.RecordBatchReader.from_batches(table.schema, batches)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._reader.__arrow_c_stream__(requested_schema)


class Frames(pd.DataFrame):
    """A frame of pandas of a type of its own."""


NULLABLE = {
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.string(): pd.StringDtype(),
    pa.large_string(): pd.StringDtype(),
}


def numpy_types(table):
    """NumPy's types and pandas' default strings; integers with gaps are pandas' own."""
    kinds = {kind: NULLABLE[kind] for kind in NULLABLE if pa.types.is_integer(kind)}
    return table.to_pandas(types_mapper=kinds.get)


def nullable(table):
    """Types of pandas with gaps of their own; dates are objects, times NumPy's."""
    return table.to_pandas(types_mapper=NULLABLE.get)


def objects(table):
    """Python's own objects, except for numbers, that a column of objects would not be told from."""
    kept = [f.name for f in table.schema if pa.types.is_floating(f.type)]
    return pd.DataFrame(
        {
            n: pd.Series(table[n].to_pylist(), dtype="float64" if n in kept else object)
            for n in table.column_names
        }
    )


def categories(table):
    frame = arrow_in_pandas(table)
    texts = [f.name for f in table.schema if pa.types.is_large_string(f.type)]
    return frame.astype(dict.fromkeys(texts, "str")).astype(dict.fromkeys(texts, "category"))


def arrow_in_pandas(table):
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def lists(table):
    return table.to_pydict()


def arrays(table):
    """Of NumPy, where it has a type for gaps."""
    return {
        name: column.to_numpy()
        if pa.types.is_temporal(column.type)
        or (column.null_count == 0 and pa.types.is_integer(column.type))
        else np.array(column.to_pylist(), dtype=None if column.null_count == 0 else object)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


FORMS = {
    "polars": lambda table: pl.DataFrame(table),
    "polars-chunks": lambda table: pl.concat([pl.DataFrame(table)[:5], pl.DataFrame(table)[5:]]),
    "polars-lazy": lambda table: pl.DataFrame(table).lazy(),
    "pandas": numpy_types,
    "pandas-nullable": nullable,
    "pandas-arrow": arrow_in_pandas,
    "pandas-objects": objects,
    "pandas-categories": categories,
    "pandas-own-type": lambda table: Frames(numpy_types(table)),
    "arrow": lambda table: table,
    "arrow-chunks": lambda table: pa.concat_tables([table[:3], table[3:5], table[5:]]),
    "arrow-slice": lambda table: pa.concat_tables([table[:3], table])[len(table[:3]) :],
    "arrow-batch": lambda table: table.combine_chunks().to_batches()[0],
    "arrow-reader": lambda table: table.to_reader(100),
    "arrow-dataset": lambda table: ds.dataset([table[:4], table[4:]]),
    "arrow-scanner": lambda table: ds.dataset(table).scanner(),
    "stream": Stream,
    "lists": lists,
    "arrays": arrays,
    "narwhals": lambda table: narwhals.from_native(pl.DataFrame(table)),
    "narwhals-lazy": lambda table: narwhals.from_native(pl.DataFrame(table).lazy()),
    "narwhals-v1": lambda table: narwhals.stable.v1.from_native(arrow_in_pandas(table)),
    "narwhals-v2": lambda table: narwhals.stable.v2.from_native(table),
}
KINDS = {  # the type of answers, where it is not that of the frame
    "arrow-batch": pa.Table,
    "arrow-reader": pa.Table,
    "arrow-dataset": pa.Table,
    "arrow-scanner": pa.Table,
    "stream": pa.Table,
    "pandas-own-type": pd.DataFrame,
}


def answers(frame):
    """A frame of answers as lists by name."""
    if isinstance(frame, (narwhals.DataFrame, narwhals.LazyFrame)):
        frame = frame.to_native()
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        frame = frame.to_arrow()  # Python's own objects hold no nanoseconds
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    columns = {name: frame[name] for name in frame}
    return {name: listed(column) for name, column in columns.items()}


def types_of(frame):
    """The types of its columns."""
    if isinstance(frame, (narwhals.DataFrame, narwhals.LazyFrame)):
        frame = frame.to_native()
    if isinstance(frame, pl.LazyFrame):
        return frame.collect().schema
    if isinstance(frame, dict):
        return {name: getattr(column, "dtype", list) for name, column in frame.items()}
    return frame.schema if hasattr(frame, "schema") else dict(frame.dtypes)


def listed(column):
    items = column if isinstance(column, list) else column.tolist()
    return [x.tolist() if isinstance(x, np.ndarray) else x for x in items]
