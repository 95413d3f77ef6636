"""Relations of DuckDB: streamed in batches; the answers are a relation on the same connection."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from duckdb import (
    CaseExpression,
    ColumnExpression,
    ConstantExpression,
    DuckDBPyRelation,
    Expression,
    FunctionExpression,
    SQLExpression,
)

from ..._arrow import arrow
from ...errors import ParameterError, ParameterTypeError
from ..disk.memory import Room
from .frame import Column, Use
from .limits import Range, check_case, check_dates, quoted, within

MISREAD = {  # as Arrow they look like something else: text; integers of 128 bits with a sign
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
MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 1}  # or nanoseconds, of "ns"
FEW = 1 << 11  # rows of answers in one statement
ROWS, MOST_UNIONS = 1 << 17, 64  # rows of answers at a time: as constants they take much memory
DAYS = (1 << 31) - 2  # the last ones of 32 bits are infinite
MOMENTS = 106_751 * 86_400 * 10**9  # whole days within 64 bits: beyond them casts fail badly


def check_table(names: Sequence[str], groups: Sequence[Column]) -> None:
    """Refuse names and groups of answers that a table of DuckDB cannot have."""
    check_case(names, "DuckDB")
    check_dates(groups, Range(-DAYS, DAYS))
    for column in groups:
        if column.kind == "timestamps":
            most = MOMENTS // MICROSECONDS[column.unit]
            if not within(column, Range(-most, most)):
                raise ParameterError(
                    f"groups must be timestamps that DuckDB can hold, got others in {column.name!r}"
                )


class DuckDBFrame:
    """A relation, of any query; it runs once, at `parts`.

    Its connection keeps its settings, and must have no open result.
    """

    check_answers = staticmethod(check_table)

    def __init__(self, relation: DuckDBPyRelation, room: Room | None = None) -> None:
        self._relation, self.room = relation, room
        self._selections: dict[tuple[Use, ...], DuckDBPyRelation] = {}

    def names(self) -> list[str]:
        return list(self._relation.columns)

    def empty(self, uses: Sequence[Use]) -> Sequence[Any]:
        # Nulls of the same types: a query for no rows of the relation may run over all of them.
        chosen = self._chosen(uses)
        for use, kind in zip(uses, chosen.types, strict=True):
            if kind.id in MISREAD:
                raise ParameterTypeError(
                    f"{use.column!r} must be of a type that is read as it is, got {kind}: cast it "
                    f"to {MISREAD[kind.id]}"
                )
        if all(kind.id in SIMPLE for kind in chosen.types):
            chosen.explain()  # a connection that is busy refuses it, before a charge
            return [np.zeros(0, SIMPLE[kind.id]) for kind in chosen.types]
        nulls = [
            ConstantExpression(None).cast(kind).alias(name)
            for kind, name in zip(chosen.types, chosen.columns, strict=True)
        ]
        none = one_row(self._relation).select(*nulls).limit(0)
        return next(_batches(none, chosen.columns))

    def parts(self, uses: Sequence[Use]) -> Iterator[Sequence[Any]]:
        chosen = self._chosen(uses)
        return _batches(chosen, chosen.columns)

    def finished(self, columns: Sequence[Column]) -> DuckDBPyRelation:
        few = len(columns[0].values) <= FEW and all(column.kind in TYPES for column in columns)
        table = _few_rows if few else _many_rows
        return table(self._relation, columns).set_alias("answers")

    def _chosen(self, uses: Sequence[Use]) -> DuckDBPyRelation:
        """The columns, called by their places: any text can be a name here."""
        if tuple(uses) not in self._selections:  # each relation is bound, which takes its time
            names = [quoted(use.column) for use in uses]
            columns = [SQLExpression(name).alias(f"c{i}") for i, name in enumerate(names)]
            self._selections[tuple(uses)] = self._relation.select(*columns)
        return self._selections[tuple(uses)]


def one_row(source: Any) -> DuckDBPyRelation:
    """One row on the connection of a relation, or on a connection; nothing else is read.

    Nothing there, and no variable, can have the name that it needs.
    """
    if not isinstance(source, DuckDBPyRelation):
        return cast("DuckDBPyRelation", source.sql("SELECT 1 AS one"))
    row: Any = source.query(f"unread_{secrets.token_hex(16)}", "SELECT 1 AS one")
    return cast("DuckDBPyRelation", row)


def _few_rows(relation: DuckDBPyRelation, columns: Sequence[Column]) -> DuckDBPyRelation:
    """As of `table_of`, in one statement: each one takes a millisecond."""
    lists = []
    for column in columns:
        text, kind = _list_of(column)
        literal = text.replace("'", "''")
        lists.append(f"unnest(CAST('{literal}' AS {kind})) AS {quoted(column.name)}")
    name = f"unread_{secrets.token_hex(16)}"
    rows: Any = relation.query(name, f"SELECT {', '.join(lists)}")
    return cast("DuckDBPyRelation", rows.materialize())


def _many_rows(relation: DuckDBPyRelation, columns: Sequence[Column]) -> DuckDBPyRelation:
    return table_of(one_row(relation), columns)


def table_of(row: DuckDBPyRelation, columns: Sequence[Column]) -> DuckDBPyRelation:
    """Finished answers, from constants only: to read them again runs no query of the user's.

    A connection may be locked, or have a table of any name: nothing is registered or looked up.
    """
    size = len(columns[0].values)
    step = max(ROWS, size // MOST_UNIONS)
    answers = _rows(row, columns, 0, min(step, size))
    for first in range(step, size, step):
        answers = answers.union(_rows(row, columns, first, min(first + step, size)))
    # Their order is no longer that of the lists.
    named = [_typed(f"c{i}", column).alias(column.name) for i, column in enumerate(columns)]
    return answers.order("place ASC").select(*named)


def _rows(
    row: DuckDBPyRelation, columns: Sequence[Column], first: int, last: int
) -> DuckDBPyRelation:
    place = SQLExpression(f"unnest({SYSTEM}.range({first}, {last}))")
    lists = [
        _unnested(column._replace(values=column.values[first:last])).alias(f"c{i}")
        for i, column in enumerate(columns)
    ]
    return row.select(*lists, place.alias("place")).materialize()


def _batches(relation: DuckDBPyRelation, names: Sequence[str]) -> Iterator[Sequence[Any]]:
    for batch in arrow.table(relation, names, "frame"):
        yield [arrow.Opened.of(column) for column in batch]


def _unnested(column: Column) -> Expression:
    """A row for each value, from a list in a text: DuckDB is slow to take many constants."""
    text, kind = _list_of(column)
    return FunctionExpression("unnest", ConstantExpression(text).cast(kind))


def _list_of(column: Column) -> tuple[str, str]:
    """All values as a list in a text, and its type."""
    if column.kind == "text":
        text, depth = _item(list(column.values)), np.ndim(column.values)
    else:
        values = np.asarray(column.values)
        whole = values.astype(np.int64) if values.dtype.kind == "M" else values
        text, depth = str(whole.tolist()), values.ndim
    return text, TYPES.get(column.kind, "BIGINT") + "[]" * depth


def _typed(name: str, column: Column) -> Expression:
    """What the numbers of days, or of a unit, since 1970 mean; other values as they are."""
    value: Expression = ColumnExpression(name)
    if column.kind == "dates":
        day = ConstantExpression("1970-01-01").cast("DATE") + value.cast("INTEGER")
        return _or_infinite(value, (1 << 31) - 1, day, "DATE")
    if column.kind == "timestamps":
        unit, kind = column.unit, INSTANTS[column.unit]
        function = f"{SYSTEM}.make_timestamp{'_ns' if unit == 'ns' else ''}"
        since = SQLExpression(f"{function}({name} * {MICROSECONDS[unit]})")
        return _or_infinite(value, (1 << 63) - 1, since.cast(kind), kind)
    return value


def _or_infinite(value: Expression, last: int, finite: Expression, kind: str) -> Expression:
    """A date or timestamp; the last number there is, and the first, are those of infinite ones.

    Groups from the data may be these; of a list they are refused.
    """
    later, earlier = (ConstantExpression(text).cast(kind) for text in ("infinity", "-infinity"))
    infinite = CaseExpression(value == ConstantExpression(last), later)
    return infinite.when(value == ConstantExpression(-last), earlier).otherwise(finite)


def _item(text: Any) -> str:
    if not isinstance(text, str):
        return "[" + ",".join(map(_item, text)) + "]"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
