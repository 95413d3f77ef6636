"""The same columns as frames and files of every kind, and answers as plain lists."""

from __future__ import annotations

import csv
import gzip
import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet

import fastexp as fx

Columns = dict[str, list[Any]]
FOLDER = tempfile.TemporaryDirectory()
NUMBER = itertools.count()


class Stream:
    """An object that only exports a stream of Arrow."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def path(ending: str) -> Path:
    """Return a name for a new file."""
    return Path(FOLDER.name, f"{next(NUMBER)}{ending}")


def text(
    columns: Columns, ending: str, mark: str, encoding: str = "utf-8", comma: str = "."
) -> Path:
    """Write a file of text; a missing value is an empty cell."""
    place, opened = path(ending), gzip.open if ending.endswith("gz") else open
    with opened(place, "wt", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=mark)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            cells = ("" if x is None else x for x in row)
            writer.writerow(
                str(x).replace(".", comma) if isinstance(x, float) else x for x in cells
            )
    return place


def typed(columns: Columns, ending: str, write: Callable[[Any, Path], None]) -> Path:
    """Write a file with types."""
    place = path(ending)
    write(pa.table(columns), place)
    return place


def arrays(columns: Columns) -> dict[str, Any]:
    """Return arrays; a missing number is NaN, other missing values are None."""
    found = {}
    for name, values in columns.items():
        is_number = any(isinstance(x, float) for x in values)
        found[name] = np.array(values, float if is_number else object if None in values else None)
    return found


def frames(columns: Columns) -> Iterator[tuple[str, Any]]:
    """Yield the same columns in each kind of frame in memory."""
    table, pandas, polars = pa.table(columns), pd.DataFrame(columns), pl.DataFrame(columns)
    names = [name for name, values in columns.items() if isinstance(values[0], str)]
    yield "dict", columns
    yield "arrays", arrays(columns)
    yield (
        "dicts",
        [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
    )
    yield "dict of series", {name: pandas[name] for name in columns}
    yield "pandas", pandas
    yield "pandas, objects", pandas.astype(object)
    yield "pandas, its types", pandas.convert_dtypes()
    yield "pandas, Arrow's", pandas.convert_dtypes(dtype_backend="pyarrow")
    yield "pandas, categories", pandas.astype(dict.fromkeys(names, "category"))
    yield "polars", polars
    yield "polars, lazy", polars.lazy()
    yield "polars, categories", polars.with_columns(pl.col(x).cast(pl.Categorical) for x in names)
    yield "polars, chunks", pl.concat([polars[:1], polars[1:]], rechunk=False)
    yield "narwhals", nw.from_native(polars)
    yield "table", table
    yield "table, chunks", pa.concat_tables([table[:1], table[1:]])
    yield "table, coded", pa.table({x: table[x].dictionary_encode() for x in columns})
    yield "batch", table.combine_chunks().to_batches()[0]
    yield "reader", table.to_reader()
    yield "dataset", pa.dataset.dataset(table)
    yield "stream", Stream(table)
    yield "duckdb", duckdb.from_arrow(table)


def files(columns: Columns) -> Iterator[tuple[str, Any]]:
    """Yield the same columns in each kind of file."""
    half = {name: values[:1] for name, values in columns.items()}
    rest = {name: values[1:] for name, values in columns.items()}
    yield "csv", text(columns, ".csv", ",")
    yield "csv, its path as text", str(text(columns, ".CSV", ","))
    yield "tsv", text(columns, ".tsv", "\t")
    yield "csv, packed", text(columns, ".csv.gz", ",")
    yield "csv, two files", [text(half, ".csv", ","), text(rest, ".csv", ",")]
    german = text(columns, ".csv", ";", "cp1252", ",")
    yield "csv, German", fx.CSV(german, delimiter=";", encoding="cp1252", decimal=",")
    yield "csv, UTF-16", fx.CSV(text(columns, ".csv", ",", "utf-16"), encoding="utf-16")
    parquet = pa.parquet.write_table
    yield "parquet", typed(columns, ".parquet", parquet)
    yield "parquet, two files", [typed(half, ".pq", parquet), typed(rest, ".pq", parquet)]
    yield "arrow", typed(columns, ".arrow", pa.feather.write_feather)


def told(answers: Any) -> Columns:
    """Return answers of every kind of frame as lists."""
    answers = nw.to_native(answers, pass_through=True)
    answers = answers.collect() if isinstance(answers, pl.LazyFrame) else answers
    if isinstance(answers, pl.DataFrame):
        answers = answers.to_dict(as_series=False)
    elif isinstance(answers, pa.Table):
        answers = answers.to_pydict()
    elif isinstance(answers, pd.DataFrame):
        answers = answers.to_dict("list")
    elif isinstance(answers, list):
        answers = {name: [row[name] for row in answers] for name in answers[0]}
    return {
        name: values if isinstance(values, list) else np.asarray(values).tolist()
        for name, values in answers.items()
    }
