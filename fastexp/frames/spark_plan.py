"""The plan of a call on a Spark frame: lists of records by group, and answers of those lists.

One shuffle brings the records of each group together, one before it those of each person, and
a small one the answers. A group's answer depends on its records alone, so tasks may fail, run
twice or run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, types
from pyspark.sql import functions as sql

from .._group_keys import names_of
from .._group_names import Names
from .._key_columns import KEYS
from ..errors import ParameterError, ParameterTypeError
from ..grouped.numbers import FLAT
from .call import Call
from .checks import described, wanted

WHOLE = (types.ByteType, types.ShortType, types.IntegerType, types.LongType)
NUMBERS = (*WHOLE, types.FloatType, types.DoubleType)
TEXT = (types.StringType,)
PLACE = ["position", "group"]  # of a group in the result: by the list, or by its name
ANSWERS: dict[str, tuple[types.DataType, pa.DataType]] = {
    "integers": (types.LongType(), pa.int64()),
    "floats": (types.DoubleType(), pa.float64()),
    "text": (types.StringType(), pa.string()),
}
Batches = Iterable[pa.RecordBatch]
Step = Callable[[Batches], Iterator[pa.RecordBatch]]


def rows_of(frame: Any, mechanism: Any, column: Any, by: Any, person: Any) -> DataFrame:
    """The columns "record", "group" and, if there is one, "person", of types that fit."""
    if not isinstance(frame, DataFrame):
        raise ParameterTypeError(f"frame must be a Spark DataFrame, got {described(frame)}")
    if frame.isStreaming:
        raise ParameterError("frame must not be a stream: each batch would be a release of its own")
    wanted(frame.columns, column, by, person)
    kinds = NUMBERS if hasattr(mechanism, "grid") else (*NUMBERS, *TEXT)
    columns = [_picked(frame, "column", column, kinds, FLAT).alias("record")]
    for argument, name, own in (("by", by, "group"), ("person", person, "person")):
        if name is not None or argument == "by":
            columns.append(_key(frame, argument, name).alias(own))
    return frame.select(*columns)


def _picked(
    frame: DataFrame, argument: str, name: Any, kinds: tuple[Any, ...], told: str
) -> Column:
    if not isinstance(name, str):
        raise ParameterTypeError(f"{argument} must be a column's name, got {type(name).__name__}")
    if frame.columns.count(name) != 1:
        raise ParameterError(f"{argument} must be one column of the frame, got several")
    if not isinstance(frame.schema[name].dataType, kinds):
        raise ParameterTypeError(told)
    return sql.col("`" + name.replace("`", "``") + "`")


def _key(frame: DataFrame, argument: str, name: Any) -> Column:
    """A column of keys as longs, or as strings that are equal if their code points are."""
    picked = _picked(frame, argument, name, (*WHOLE, *TEXT), KEYS.format(argument))
    text = isinstance(frame.schema[name].dataType, TEXT)
    return picked.cast(types.StringType() if text else types.LongType())


def answers(rows: DataFrame, call: Call, by: str, name: str) -> DataFrame:
    """A row a group, in one partition, in order: its name and its answer."""
    kind = rows.schema["record"].dataType
    listed = None if call.names is None else _listed(rows, call.names)
    rows = _placed(rows, listed)
    told = replace(call, names=None)  # each batch has its own
    if "person" in rows.columns:
        listed = rows.select(*PLACE).distinct() if listed is None else listed
        rows = _bounded(rows, told)
    if listed is not None:  # a row of each group, so that none is left out
        rows = rows.unionByName(listed.withColumn("record", sql.lit(None).cast(kind)))
    lists = rows.groupBy(*PLACE).agg(_list(call, kind, listed is not None).alias("records"))
    answer, one = _answer_type(call)
    fields = [lists.schema[place] for place in PLACE]
    schema = types.StructType([*fields, types.StructField("answer", answer, False)])
    found = lists.mapInArrow(_answering(told, one), schema)
    ordered = found.repartition(1).sortWithinPartitions(*PLACE)  # orderBy would answer twice
    return ordered.select(sql.col("group").alias(by), sql.col("answer").alias(name))


def _listed(rows: DataFrame, names: Names) -> DataFrame:
    """The public list, with the groups' positions."""
    text = isinstance(rows.schema["group"].dataType, TEXT)
    if names.size and names.text != text:
        kind = "texts" if names.text else "integers"
        raise ParameterTypeError(f"by must hold {kind}, as the list of groups does")
    labels = pa.array(names.labels(), pa.string() if text else pa.int64())
    places = pa.array(np.arange(names.size))
    table = pa.table({"group": labels, "position": places})
    return rows.sparkSession.createDataFrame(table)


def _placed(rows: DataFrame, listed: DataFrame | None) -> DataFrame:
    """Rows of groups that are asked for; of groups from the data the position is their name's."""
    if listed is not None:
        return rows.join(sql.broadcast(listed), "group")
    return rows.where(sql.col("group").isNotNull()).withColumn("position", sql.lit(0).cast("long"))


def _bounded(rows: DataFrame, call: Call) -> DataFrame:
    """Rows that stay when each person's are bounded; those of nobody do not."""
    kept = [*PLACE, "record"]
    whole = sql.collect_list(sql.struct(*kept)).alias("rows")  # of structs: null records stay
    persons = rows.where(sql.col("person").isNotNull()).groupBy("person").agg(whole)
    return persons.mapInArrow(_bounding(call), rows.select(*kept).schema)


def _list(call: Call, kind: types.DataType, one_more: bool) -> Column:
    """All records of a group. `collect_list` leaves nulls out: they are put back.

    But for `one_more`, of the row that each group was given.
    """
    there = sql.collect_list("record")
    if call.nan == "drop":
        return there
    gaps = sql.count_if(sql.col("record").isNull()) - int(one_more)
    return sql.concat(there, sql.array_repeat(sql.lit(None).cast(kind), gaps.cast("int")))


def _answer_type(call: Call) -> tuple[types.DataType, pa.DataType]:
    one, arrow = ANSWERS[call.answer_kind]
    return (one if call.size is None else types.ArrayType(one, False)), arrow


def _answering(call: Call, kind: pa.DataType) -> Step:
    """The answers of lists, batch after batch."""

    def answer(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            position, group, records = batch.columns
            found = _column(_answered(call, group, records), kind)
            yield pa.RecordBatch.from_arrays([position, group, found], [*PLACE, "answer"])

    return answer


def _answered(call: Call, groups: pa.Array, lists: pa.Array) -> Any:
    if hasattr(call.mechanism, "grid"):
        return call.lists(lists, groups)
    part = replace(call, names=names_of(groups))  # lists of labels have no shorter way
    return part.rows(lists.flatten(), _repeated(groups, lists))[1]


def _column(found: Any, kind: pa.DataType) -> pa.Array:
    """Answers as a column; draws of many as a column of lists."""
    if np.ndim(found) < 2:
        return pa.array(found, kind)
    groups, size = found.shape
    ends = pa.array(np.arange(groups + 1) * size, pa.int32())
    return pa.ListArray.from_arrays(ends, pa.array(found.reshape(-1), kind))


def _bounding(call: Call) -> Step:
    """The rows that count, of batches of persons with lists of all their rows."""

    def bound(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            persons, lists = batch.columns
            rows = lists.flatten()
            columns = rows.flatten()
            who = _repeated(persons, lists)
            kept = call.kept(columns[2], columns[1], who)
            found = pa.RecordBatch.from_arrays(columns, [*PLACE, "record"])
            yield found.filter(pa.array(kept))

    return bound


def _repeated(keys: pa.Array, lists: pa.Array) -> pa.Array:
    """Each list's key, once for each of its items, by number."""
    sizes = lists.value_lengths().to_numpy(zero_copy_only=False)
    return pa.DictionaryArray.from_arrays(np.repeat(np.arange(len(keys)), sizes), keys)
