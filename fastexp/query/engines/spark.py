"""Frames of Spark, whose executors draw: `run` sends them the work, which no plan holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.core.broadcast import Broadcast
from pyspark.sql import DataFrame, SparkSession, types
from pyspark.sql import functions as sql

from ..._typing import AnyArray, IntArray
from ...errors import ParameterError, ParameterTypeError
from .arrow import table_of
from .frame import Column, ColumnRead, Task, Workers, nested
from .limits import PYTHON_DAYS, brought, check_case, check_dates

READ = (
    types.ByteType,
    types.ShortType,
    types.IntegerType,
    types.LongType,
    types.FloatType,
    types.DoubleType,
    types.DecimalType,
    types.StringType,
    types.BooleanType,
    types.DateType,
    types.TimestampNTZType,
    types.NullType,
)
TYPES: dict[str, types.DataType] = {
    "integers": types.LongType(),
    "floats": types.DoubleType(),
    "text": types.StringType(),
    "booleans": types.BooleanType(),
    "dates": types.DateType(),
    "timestamps": types.TimestampNTZType(),
}


INTEGERS = {"i1": "tinyint", "i2": "smallint", "i4": "int", "i8": "bigint"}


class SparkFrame(Workers):
    """A `Frame` of a DataFrame that is not a stream."""

    room = None

    def __init__(self, frame: DataFrame) -> None:
        if frame.isStreaming:
            raise ParameterError(
                "frame must not be a stream: each batch would be a release of its own"
            )
        self._frame, self._spark = frame, frame.sparkSession
        self.calls = int(str(self._spark.conf.get("spark.sql.shuffle.partitions")))

    def names(self) -> list[str]:
        return list(self._frame.columns)

    def empty(self, uses: Sequence[ColumnRead]) -> list[pa.ChunkedArray]:
        chosen = self._chosen(uses)
        for use, field in zip(uses, chosen.schema, strict=True):
            if not isinstance(field.dataType, READ):
                raise ParameterTypeError(
                    f"{use.column!r} must hold integers, floats, decimals, text, booleans, dates "
                    f"or timestamps without a zone, got {field.dataType.simpleString()}"
                )
        columns: list[Any] = self._spark.createDataFrame([], chosen.schema).toArrow().columns
        return columns

    def check_answers(self, names: Sequence[str], groups: Sequence[Column]) -> None:
        if self._spark.conf.get("spark.sql.caseSensitive") != "true":
            check_case(names, "Spark")
        check_dates(groups, PYTHON_DAYS)
        for column in groups:
            if column.kind == "timestamps":
                moments = np.asarray(column.values)
                days = moments.astype("datetime64[D]")
                check_dates([column._replace(kind="dates", values=days)], PYTHON_DAYS)
                if bool((moments.astype("datetime64[us]") != moments).any()):
                    raise ParameterError(
                        f"groups must be timestamps of whole microseconds for Spark, got others in "
                        f"{column.name!r}"
                    )

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[list[Any]]:
        yield brought(self._chosen(uses).toArrow).columns

    def run(self, work: Any, uses: Sequence[ColumnRead], tasks: Sequence[Task]) -> list[IntArray]:
        context = self._spark.sparkContext
        sent = context.broadcast(work)
        try:
            rows = self._chosen(uses)
            for number, task in enumerate(tasks):
                if len(task.added):
                    rows = rows.union(self._spark.createDataFrame(_integers(task.added)))
                if task.by is not None:
                    rows = rows.repartition(task.calls, f"x{task.by}")
                schema = ", ".join(f"x{i} {INTEGERS[kind]}" for i, kind in enumerate(task.kinds))
                rows = rows.mapInArrow(partial(_applied, sent, task, number == 0), schema)
            columns = brought(rows.toArrow).columns
        finally:
            sent.destroy()
        return [column.to_numpy() for column in columns]

    def distinct(self, uses: Sequence[ColumnRead]) -> list[pa.ChunkedArray]:
        columns: list[pa.ChunkedArray] = self._chosen(uses).distinct().toArrow().columns
        return columns

    def ask(self, question: Callable[[], str]) -> str:
        _ = self._spark.sparkContext  # fails for Spark Connect, which has no broadcast
        text = self._spark.range(1).mapInArrow(partial(_answer, question), "text string")
        return str(text.toArrow()["text"][0].as_py())

    def finished(self, columns: Sequence[Column]) -> DataFrame:
        """Answers as a frame of one partition, so that they keep their order."""
        return _frame(self._spark, columns).coalesce(1)

    def _chosen(self, uses: Sequence[ColumnRead]) -> DataFrame:
        """The columns, by position, as names may differ only in case, or contain dots.

        Text is cast, so that it is equal if its code points are, whatever its collation.
        """
        names = self.names()
        plain = self._frame.toDF(*[f"p{i}" for i in range(len(names))])
        columns = []
        for i, place in enumerate(names.index(use.column) for use in uses):
            column, kind = sql.col(f"p{place}"), plain.schema[place].dataType
            text = isinstance(kind, types.StringType)
            columns.append((column.cast(types.StringType()) if text else column).alias(f"c{i}"))
        return plain.select(*columns)


def _applied(
    sent: Broadcast[Any], task: Task, is_first: bool, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Run a task on an executor, for the rows of one partition."""
    parts = (
        batch.columns if is_first else [column.to_numpy() for column in batch.columns]
        for batch in batches
    )
    for columns in sent.value.done(task.method, parts, task.arguments):
        yield from _integers(columns).to_batches()


def _answer(
    question: Callable[[], str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"text": [question()]})


def _integers(columns: Sequence[AnyArray]) -> pa.Table:
    arrays = [pa.array(np.ascontiguousarray(column)) for column in columns]
    return pa.table(arrays, [f"x{i}" for i in range(len(arrays))])


def _frame(spark: SparkSession, columns: Sequence[Column]) -> DataFrame:
    """A frame of public columns; Spark's timestamps are of microseconds."""
    kinds = [nested(column, TYPES[column.kind], types.ArrayType) for column in columns]
    fields = [
        types.StructField(column.name, kind) for column, kind in zip(columns, kinds, strict=True)
    ]
    plain = [
        column._replace(values=np.asarray(column.values).astype("datetime64[us]"))
        if column.kind == "timestamps"
        else column
        for column in columns
    ]
    return spark.createDataFrame(table_of(plain), types.StructType(fields))
