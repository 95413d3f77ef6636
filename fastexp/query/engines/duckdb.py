"""Relations of DuckDB: streamed in batches; the answers are a relation on the same connection."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from duckdb import ColumnExpression, ConstantExpression, DuckDBPyRelation, SQLExpression

from ..._arrow import arrow
from ...errors import ParameterError, ParameterTypeError
from ..disk.memory import Room
from .frame import Column, ColumnRead
from .limits import Range, check_case, check_dates, quoted, within

MISREAD = {  # as Arrow data they look like other types: text; integers of 128 bits with a sign
    "uuid": "VARCHAR",
    "uhugeint": "HUGEINT or DOUBLE",
}
SIMPLE = {  # types of DuckDB as NumPy's
    "tinyint": "i1", "smallint": "i2", "integer": "i4", "bigint": "i8",
    "utinyint": "u1", "usmallint": "u2", "uinteger": "u4", "ubigint": "u8",
    "float": "f4", "double": "f8", "boolean": "?", "varchar": "U1", "date": "M8[D]",
    "timestamp": "M8[us]",
}  # fmt: skip
TYPES = {"integers": "BIGINT", "floats": "DOUBLE", "text": "VARCHAR", "booleans": "BOOLEAN"}
INSTANTS = {"s": "TIMESTAMP_S", "ms": "TIMESTAMP_MS", "us": "TIMESTAMP", "ns": "TIMESTAMP_NS"}
SYSTEM = "system.main"  # a user's macros may have the names of DuckDB's functions
MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 1}  # in a unit; nanoseconds for "ns"
ROWS_PER_STATEMENT = 1 << 11  # rows of answers in one statement
PART_ROWS, MAX_UNIONS = 1 << 17, 64  # rows of answers at a time, as constants take much memory
DAYS = (1 << 31) - 2  # from 1970 to the last finite date: one more means infinity
MOMENTS = 106_751 * 86_400 * 10**9  # ns or us: whole days in 64 bits, beyond which casts fail badly


def check_table(names: Sequence[str], groups: Sequence[Column]) -> None:
    """Refuse names and groups of answers that a table of DuckDB cannot have."""
    check_case(names, "DuckDB")
    check_dates(groups, Range(-DAYS, DAYS))
    for column in groups:
        if column.kind == "timestamps":
            limit = MOMENTS // MICROSECONDS[column.unit]
            if not within(column, Range(-limit, limit)):
                raise ParameterError(
                    f"groups must be timestamps that DuckDB can hold, got others in {column.name!r}"
                )


class DuckDBFrame:
    """A `Frame` of a relation of any query, which runs once, in `parts`.

    Its connection keeps its settings, and must have no open result.
    """

    check_answers = staticmethod(check_table)

    def __init__(self, relation: DuckDBPyRelation, room: Room | None = None) -> None:
        self._relation, self.room = relation, room
        self._selections: dict[tuple[ColumnRead, ...], DuckDBPyRelation] = {}

    def names(self) -> list[str]:
        return list(self._relation.columns)

    def empty(self, uses: Sequence[ColumnRead]) -> Sequence[Any]:
        # Nulls of the same types: a query for no rows of the relation may run over all of them.
        chosen = self._chosen(uses)
        for use, kind in zip(uses, chosen.types, strict=True):
            if kind.id in MISREAD:
                raise ParameterTypeError(
                    f"{use.column!r} must have a type that fastexp reads without a conversion, got "
                    f"{kind}: cast it to {MISREAD[kind.id]}"
                )
        if all(kind.id in SIMPLE for kind in chosen.types):
            chosen.explain()  # fails before the charge if the connection is busy
            return [np.zeros(0, SIMPLE[kind.id]) for kind in chosen.types]
        nulls = [
            ConstantExpression(None).cast(kind).alias(name)
            for kind, name in zip(chosen.types, chosen.columns, strict=True)
        ]
        none = result_of(self._relation, "SELECT 1").select(*nulls).limit(0)
        return next(_batches(none, chosen.columns))

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[Sequence[Any]]:
        chosen = self._chosen(uses)
        return _batches(chosen, chosen.columns)

    def finished(self, columns: Sequence[Column]) -> DuckDBPyRelation:
        return table_of(self._relation, columns).set_alias("answers")

    def _chosen(self, uses: Sequence[ColumnRead]) -> DuckDBPyRelation:
        """The columns, named by their positions, as their own names can be any text."""
        if tuple(uses) not in self._selections:  # a relation takes time to bind
            names = [quoted(use.column) for use in uses]
            columns = [SQLExpression(name).alias(f"c{i}") for i, name in enumerate(names)]
            self._selections[tuple(uses)] = self._relation.select(*columns)
        return self._selections[tuple(uses)]


def result_of(source: Any, sql: str) -> DuckDBPyRelation:
    """The result of SQL without names of tables, on a connection or on that of a relation.

    The random name that the query needs is no name of a table or variable.
    """
    if isinstance(source, DuckDBPyRelation):
        result: Any = source.query(f"unread_{secrets.token_hex(16)}", sql)
        return cast("DuckDBPyRelation", result)
    return cast("DuckDBPyRelation", source.sql(sql))


def table_of(source: Any, columns: Sequence[Column]) -> DuckDBPyRelation:
    """Finished answers as a relation of constants: reading it again runs no query of the user.

    A connection may be locked, or have tables of any name, so nothing is registered or looked up.
    """
    size, names = len(columns[0].values), [column.name for column in columns]
    if size <= ROWS_PER_STATEMENT:  # in one statement: each takes a millisecond
        return _rows(source, columns, names, range(size))
    step, places = max(PART_ROWS, size // MAX_UNIONS), [f"c{i}" for i in range(len(names))]
    answers, *others = (
        _rows(source, columns, places, range(size)[first : first + step], "place")
        for first in range(0, size, step)
    )
    for rows in others:
        answers = answers.union(rows)
    # A union does not keep the order of rows.
    pairs = zip(places, names, strict=True)
    return answers.order("place ASC").select(
        *[ColumnExpression(c).alias(name) for c, name in pairs]
    )


def _rows(
    source: Any, columns: Sequence[Column], names: Sequence[str], rows: range, place: str = ""
) -> DuckDBPyRelation:
    """Some rows, from a literal list for each column; `place` names a column of their indices."""
    lists, values = [], []
    for i, (column, name) in enumerate(zip(columns, names, strict=True)):
        text, kind = _list_of(column._replace(values=column.values[rows.start : rows.stop]))
        literal = text.replace("'", "''")
        lists.append(f"unnest(CAST('{literal}' AS {kind})) AS v{i}")
        values.append(f"{_typed(f'v{i}', column)} AS {quoted(name)}")
    if place:
        lists.append(f"unnest({SYSTEM}.range({rows.start}, {rows.stop})) AS {place}")
        values.append(place)
    sql = f"FROM (SELECT {', '.join(lists)}) SELECT {', '.join(values)}"
    return result_of(source, sql).materialize()


def _batches(relation: DuckDBPyRelation, names: Sequence[str]) -> Iterator[Sequence[Any]]:
    for batch in arrow.table(relation, names, "frame"):
        yield [arrow.Opened.of(column) for column in batch]


def _list_of(column: Column) -> tuple[str, str]:
    """The text of a list of all values, and its type."""
    if column.kind == "text":
        text, depth = _item(list(column.values)), np.ndim(column.values)
    else:
        values = np.asarray(column.values)
        numbers = values.astype(np.int64) if values.dtype.kind == "M" else values
        text, depth = str(numbers.tolist()), values.ndim
    return text, TYPES.get(column.kind, "BIGINT") + "[]" * depth


def _typed(name: str, column: Column) -> str:
    """SQL that turns numbers of days, or of a unit, since 1970 into dates and timestamps.

    Other values stay as they are. The largest number and its negative mean infinity. Groups from
    the data may be infinite; those of a list are refused.
    """
    if column.kind == "dates":
        last, kind, finite = (1 << 31) - 1, "DATE", f"DATE '1970-01-01' + CAST({name} AS INTEGER)"
    elif column.kind == "timestamps":
        last, kind = (1 << 63) - 1, INSTANTS[column.unit]
        function = f"{SYSTEM}.make_timestamp{'_ns' if column.unit == 'ns' else ''}"
        finite = f"CAST({function}({name} * {MICROSECONDS[column.unit]}) AS {kind})"
    else:
        return name
    return (
        f"CASE {name} WHEN {last} THEN CAST('infinity' AS {kind}) "
        f"WHEN -{last} THEN CAST('-infinity' AS {kind}) ELSE {finite} END"
    )


def _item(text: Any) -> str:
    if not isinstance(text, str):
        return "[" + ",".join(map(_item, text)) + "]"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
