"""Private answers by group of Spark frames: rows of listed groups are brought here, once.

Executors only leave rows out. The draw is made in this process, so that a task that runs twice
draws nothing, and no plan holds what an answer is drawn with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, types
from pyspark.sql import functions as sql

from .._key_names import KeyNames
from .._key_objects import KEYS
from .._release_key import ReleaseKey
from .._typing import Membership, RNGLike, SeedLike
from ..budget import Budget
from ..errors import ParameterError, ParameterTypeError
from . import arrow
from .call import Call, release_call, sample_call
from .checks import described, records, result_name, wanted

WHOLE = (types.ByteType, types.ShortType, types.IntegerType, types.LongType)
NUMBERS = (*WHOLE, types.FloatType, types.DoubleType, types.DecimalType, types.NullType)
TEXT = (types.StringType,)


def release(
    frame: DataFrame,
    mechanism: Any,
    column: str,
    *,
    by: str,
    groups: Any,
    person: str | None = None,
    max_groups: int = 1,
    max_rows: int = 1,
    membership: Membership = "private",
    key: ReleaseKey | None = None,
    label: str | None = None,
    budget: Budget | None = None,
    nan: str = "raise",
    threads: int = 1,
    name: str | None = None,
) -> DataFrame:
    """One private answer for each group of a public list, as a small Spark frame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows; no stream. It runs here, as one job: the rows of listed groups, of the
        columns that are named, come to this process (spark.driver.maxResultSize).
    mechanism : Median, Quantile, Price, MostCommon, ...
        What is asked of each group.
    column : str
        The records: integers, floats or decimals, which are read as the nearest float64 (for
        `MostCommon` also text).
    by : str
        The group of each record: integers or text. Rows of other groups than those in
        `groups`, and of none (null), are left out.
    groups : sequence of int or str
        The public list of groups to answer, also those without records. ``"from-data"``
        takes those that the data have, in increasing order, with a `PrivacyWarning`.
    person : str, optional
        Whose each record is: integers or text. Of each person at most `max_groups` groups and
        in each of them at most `max_rows` records count. Records of nobody (null) are left out.
    max_groups, max_rows : int
        These limits; without `person` they are your claim, which nobody checks.
    membership : {"private", "public"}
        As for `fastexp.privacy.total`: what the budget is charged for.
    key : ReleaseKey, optional
        The same key, label, mechanism, group and records repeat their answer, in all engines.
        Whether `by` and `person` are integers or text is part of the question.
    label : str, optional
        What the release is called; with `budget` or `key`. A `Budget.file` keeps its answers
        under this name, and the same question in any engine gives them again, without a charge
        or a look at the rows. With a key the default is ``"{column} by {by}"``.
    budget : Budget, optional
        Is charged ``mechanism.total(groups=True, ...)`` before a row is read; never refunded.
    nan : {"raise", "drop", "lower", "upper"}
        What to do with records that are null or NaN: as for the mechanism's `release`.
    threads : int
        1; 0 for all that the process may use. Spark's own are not counted.
    name : str, optional
        Of the column of answers; default: that of the records.

    Returns
    -------
    pyspark.sql.DataFrame
        Finished answers, a row a group, in one partition in the order of `groups`: columns
        `by` (long or string) and `name` (long, double or string).

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument, or the type of a column, does not fit.
    BudgetExceeded
        If the rest of the budget does not cover it: nothing is read or charged.
    BudgetError
        If the label was given to another question, or the file cannot be used.
    InvalidRecords
        If a record is missing and nan="raise". A budget is charged before.

    Notes
    -----
    **Privacy**: ``mechanism.total(groups=True, max_groups=..., max_rows=...)``. Neither rows,
    nor order, nor schema tell which groups exist; Spark's own metrics, logs and shuffle files
    do, and are as private as the data.

    Examples
    --------
    >>> import fastexp as fx
    >>> from fastexp.spark import release
    >>> rows = [("Rome", 900.0)] * 99 + [("Oslo", 1500.0)] * 99
    >>> rents = spark.createDataFrame(rows, ["city", "rent"])  # doctest: +SKIP
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 5000), step=50)
    >>> towns = ["Oslo", "Rome", "Bern"]
    >>> found = release(rents, median, "rent", by="city", groups=towns)  # doctest: +SKIP
    >>> [row.city for row in found.collect()]  # doctest: +SKIP
    ['Oslo', 'Rome', 'Bern']
    """
    answer = result_name(column, by, name)
    rows = rows_of(frame, column, by, person)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    shared: dict[str, Any] = {"membership": membership, "nan": nan, "threads": threads}
    told: dict[str, Any] = {"key": key, "label": label, "budget": budget}
    call = release_call(mechanism, column, by, groups, **limits, **shared, **told)
    return answered(rows, call, column, by, answer)


def sample(
    frame: DataFrame,
    mechanism: Any,
    column: str,
    *,
    by: str,
    groups: Any,
    size: int | None = None,
    rng: SeedLike | RNGLike | None = None,
    person: str | None = None,
    max_groups: int = 1,
    max_rows: int = 1,
    nan: str = "raise",
    threads: int = 1,
    name: str | None = None,
) -> DataFrame:
    """Simulated draws for each group, as a small Spark frame: for studies, not for release.

    Parameters
    ----------
    frame, mechanism, column, by, groups, person, max_groups, max_rows, nan, threads, name
        As for `release`.
    size : int, optional
        How many draws of each group; default: one, which is no list.
    rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
        None: fresh from the operating system; else as in SPEC 7. A group's draws do not
        depend on other groups, rows' order, partitions or the engine.

    Returns
    -------
    pyspark.sql.DataFrame
        As of `release`; with `size` a column of lists. Of `MostCommon` draws are numbers of
        candidates.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument, or the type of a column, does not fit.

    Notes
    -----
    **Privacy**: none; who knows the seed knows the noise.

    Examples
    --------
    >>> import fastexp as fx
    >>> from fastexp.spark import sample
    >>> rents = spark.createDataFrame([(1, 900.0)] * 99, ["city", "rent"])  # doctest: +SKIP
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 5000), step=100)
    >>> how = {"by": "city", "groups": [1, 2], "size": 3, "rng": 1}
    >>> drawn = sample(rents, median, "rent", **how)  # doctest: +SKIP
    >>> [len(row.rent) for row in drawn.collect()]  # doctest: +SKIP
    [3, 3]
    """
    answer = result_name(column, by, name)
    rows = rows_of(frame, column, by, person)
    limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    how: dict[str, Any] = {"size": size, "rng": rng, "nan": nan, "threads": threads}
    call = sample_call(mechanism, column, by, groups, **limits, **how)
    return answered(rows, call, column, by, answer)


def rows_of(frame: Any, column: Any, by: Any, person: Any) -> DataFrame:
    """The columns "records", "group" and, if there is one, "person"; keys as long or string."""
    if not isinstance(frame, DataFrame):
        raise ParameterTypeError(f"frame must be a Spark DataFrame, got {described(frame)}")
    if frame.isStreaming:
        raise ParameterError("frame must not be a stream: each batch would be a release of its own")
    wanted(frame.columns, column, by, person)
    columns = [_column(frame, "column", column).alias("records")]
    columns.append(_key(frame, "by", by).alias("group"))
    if person is not None:
        columns.append(_key(frame, "person", person).alias("person"))
    return frame.select(*columns)


def _column(frame: DataFrame, argument: str, name: Any) -> Column:
    if not isinstance(name, str):
        raise ParameterTypeError(f"{argument} must be a column's name, got {type(name).__name__}")
    if frame.columns.count(name) != 1:
        raise ParameterError(f"{argument} must be one column of the frame, got several")
    return sql.col("`" + name.replace("`", "``") + "`")


def _key(frame: DataFrame, argument: str, name: Any) -> Column:
    """Keys as longs, or as strings that are equal if their code points are."""
    column = _column(frame, argument, name)
    kind = frame.schema[name].dataType
    if not isinstance(kind, (*WHOLE, *TEXT)):
        raise ParameterTypeError(KEYS.format(argument))
    return column.cast(types.StringType() if isinstance(kind, TEXT) else types.LongType())


def answered(rows: DataFrame, call: Call, column: str, by: str, name: str) -> DataFrame:
    """A row for each group, in one partition."""
    kind = rows.schema["records"].dataType
    numeric, text = isinstance(kind, NUMBERS), isinstance(kind, (*TEXT, types.NullType))
    records(call.mechanism, column, kind.simpleString(), numeric=numeric, text=text)
    columns = arrow.Rows(column, _tables(rows, call.names), _schema(rows), once=False)
    answers = arrow.answered(call, columns, by, name)
    return rows.sparkSession.createDataFrame(answers).coalesce(1)


def _schema(rows: DataFrame) -> pa.Schema:
    """Arrow's, of a frame that has these types and none of the rows."""
    schema: pa.Schema = rows.sparkSession.createDataFrame([], rows.schema).toArrow().schema
    return schema


def _tables(rows: DataFrame, names: KeyNames | None) -> Iterator[pa.Table]:
    """One table: the rows of listed groups. Nothing runs before it is asked for."""
    if names is not None:
        text = isinstance(rows.schema["group"].dataType, TEXT)
        groups = pa.array(names.labels(), pa.string() if text else pa.int64())
        listed = rows.sparkSession.createDataFrame(pa.table({"group": groups}))
        rows = rows.join(sql.broadcast(listed), "group", "left_semi").select(*rows.columns)
    yield rows.toArrow()
