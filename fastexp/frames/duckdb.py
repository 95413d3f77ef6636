"""Private answers by group of DuckDB's relations."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import pyarrow as pa
from duckdb import (
    ColumnExpression,
    ConstantExpression,
    DuckDBPyRelation,
    Expression,
    FunctionExpression,
)

from .._release_key import ReleaseKey
from .._typing import Membership
from ..budget import Budget
from ..errors import ParameterError, ParameterTypeError
from . import arrow, checks
from .call import Call, release_call, sample_call

TYPES = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.string(): "VARCHAR"}


def release(
    relation: DuckDBPyRelation,
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
) -> DuckDBPyRelation:
    """One private answer for each group of a DuckDB relation.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        Of any query. It runs once, here; of its rows two columns (three with `person`) are
        read, as a stream, and those of listed groups are held.
    mechanism
        A mechanism of numbers (`Median`, `Quantile`, `Price`, ...) or `MostCommon`.
    column : str
        The records: one number (or label) a person. DECIMAL and HUGEINT are read as
        the nearest DOUBLE.
    by : str
        The group of each record: an integer up to 64 bits, VARCHAR or ENUM. Rows of groups
        that are not in `groups`, and of none (NULL), are left out.
    groups : sequence of int or str
        The public list of groups to answer; also those without rows are answered.
        ``"from-data"`` takes the groups that the data have, which are private: with a
        `PrivacyWarning`.
    person : str, optional
        Whose each row is. Of each person at most `max_groups` groups, and in each of them at
        most `max_rows` rows count.
    max_groups, max_rows, membership, nan, threads
        As of `Median.release`.
    key : ReleaseKey, optional
        The same key, label, mechanism, group and records repeat their answer, in all engines.
        Whether `by` and `person` are integers or text is part of the question.
    label : str, optional
        What the release is called; with `budget` or `key`. A `Budget.file` keeps its answers
        under this name, and the same question in any engine gives them again, without a charge
        or a look at the rows. With a key the default is ``"{column} by {by}"``.
    budget : Budget, optional
        Is charged ``mechanism.total(groups=True, ...)`` before a row is read; never refunded.
    name : str, optional
        What the column of answers is called; default: `column`.

    Returns
    -------
    duckdb.DuckDBPyRelation
        On the same connection, of the alias `answers`: a row a group, in the order of
        `groups`, of the columns `by` (BIGINT or VARCHAR) and `name` (BIGINT, DOUBLE or
        VARCHAR). The answers are there: to read them again is no second release.

    Raises
    ------
    ParameterTypeError, ParameterError
        If an argument is outside its range or of the wrong type, or a column is not there.
    BudgetExceeded
        If the rest of the budget does not cover it: nothing is read or charged.
    BudgetError
        If the label was given to another question, or the file cannot be used.
    InvalidRecords
        If a record is missing and nan="raise". A budget is charged before.

    Notes
    -----
    **Privacy**: ``mechanism.total(groups=True, ...)``. The same key, label, mechanism and rows
    repeat their answers, whatever the order of the rows, DuckDB's threads and the engine.

    Examples
    --------
    >>> import duckdb, fastexp as fx, fastexp.duckdb
    >>> con = duckdb.connect()
    >>> rents = con.sql("SELECT 'Rome' AS city, 400 + i AS rent FROM range(99) t(i)")
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=10)
    >>> found = fx.duckdb.release(rents, median, "rent", by="city", groups=["Rome", "Bern"])
    >>> found.select("city").fetchall()
    [('Rome',), ('Bern',)]
    """
    place = place_of(relation, column, by, person, name)
    limits: Any = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    told: Any = {"membership": membership, "key": key, "label": label, "budget": budget}
    how: Any = {"nan": nan, "threads": threads}
    call = release_call(mechanism, column, by, groups, **limits, **told, **how)
    return answered(relation, call, place)


def sample(
    relation: DuckDBPyRelation,
    mechanism: Any,
    column: str,
    *,
    by: str,
    groups: Any,
    size: int | None = None,
    rng: Any = None,
    person: str | None = None,
    max_groups: int = 1,
    max_rows: int = 1,
    nan: str = "raise",
    threads: int = 1,
    name: str | None = None,
) -> DuckDBPyRelation:
    """Simulated draws for each group of a relation, reproducible from `rng`; not private.

    Parameters
    ----------
    relation, mechanism, column, by, groups, person, max_groups, max_rows, nan, threads, name
        As of `release`.
    size : int, optional
        How many draws of each group; None: one.
    rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
        As in SPEC 7.

    Returns
    -------
    duckdb.DuckDBPyRelation
        As of `release`; with `size` the answers are lists. Of `MostCommon` they are the numbers
        of candidates.

    Raises
    ------
    ParameterTypeError, ParameterError, InvalidRecords
        As of `release`, and for `size` and `rng`.
    """
    place = place_of(relation, column, by, person, name)
    limits: Any = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
    how: Any = {"size": size, "rng": rng, "nan": nan, "threads": threads}
    call = sample_call(mechanism, column, by, groups, **limits, **how)
    return answered(relation, call, place)


class Place(NamedTuple):
    """The columns of a call, not read yet, and those of its result."""

    rows: arrow.Rows
    by: str
    name: str


def place_of(relation: Any, column: str, by: str, person: str | None, name: Any) -> Place:
    """Check the relation and the names of columns."""
    if not isinstance(relation, DuckDBPyRelation):
        raise ParameterTypeError(
            f"relation must be a DuckDBPyRelation, got {checks.described(relation)}"
        )
    index = arrow.places(relation.columns, column, by, person)
    answer = checks.result_name(column, by, name)
    if by.lower() == answer.lower():
        raise ParameterError(
            "name must differ from by, for DuckDB also but for upper and lower case"
        )
    names = [relation.columns[i] for i in index]
    pairs = zip(names, arrow.NAMES, strict=False)
    chosen = relation.select(*[ColumnExpression(a).alias(b) for a, b in pairs])
    nulls = [
        ConstantExpression(None).cast(kind).alias(b)
        for kind, b in zip(chosen.types, arrow.NAMES, strict=False)
    ]
    schema = _row(relation).select(*nulls).to_arrow_table().schema

    def parts() -> Iterator[pa.Table]:  # only when the budget is charged does the query run
        yield schema.empty_table()
        for batch in chosen.to_arrow_reader():
            yield pa.Table.from_batches([batch])

    return Place(arrow.Rows(column, parts(), schema, once=True), by, answer)


def answered(relation: DuckDBPyRelation, call: Call, place: Place) -> DuckDBPyRelation:
    """A row for each group."""
    row = _row(relation)  # that it works must not be found out too late
    table = arrow.answered(call, *place)
    columns = {
        "place": pa.array(range(table.num_rows), pa.int64()),
        "key": table[0],
        "answer": table[1],
    }
    listed = [_unnested(values).alias(name) for name, values in columns.items()]
    answers = row.select(*listed).materialize()  # their order is no longer that of the lists
    pairs = zip(("key", "answer"), (place.by, place.name), strict=True)
    named = [ColumnExpression(a).alias(b) for a, b in pairs]
    return answers.order("place").select(*named).set_alias("answers")


def _row(relation: DuckDBPyRelation) -> DuckDBPyRelation:
    """One row on a relation's connection, of which nothing is read.

    Nothing on the connection, and no variable, can have the name that it needs.
    """
    row: Any = relation.query(f"unread_{secrets.token_hex(16)}", "SELECT 1 AS one")
    return cast("DuckDBPyRelation", row)


def _unnested(values: Any) -> Expression:
    """A column as a row each, by a list in a text: DuckDB is slow to take many constants."""
    kind = _type(values.type)
    items = values.to_pylist()
    text = "[" + ",".join(map(_quoted, items)) + "]" if kind == "VARCHAR" else str(items)
    return FunctionExpression("unnest", ConstantExpression(text).cast(f"{kind}[]"))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _type(kind: pa.DataType) -> str:
    """What DuckDB calls a type of answers, or of lists of them."""
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return f"{_type(kind.value_type)}[]" if lists else TYPES[kind]
