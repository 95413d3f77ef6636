"""Answers as a table of a DuckDB connection, of rows in any engine."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from difflib import get_close_matches

from duckdb import DuckDBPyConnection, DuckDBPyRelation

from ..._parameters import validate
from ...errors import ParameterError, ParameterTypeError
from ..disk.memory import Room
from ..engines.duckdb import DuckDBFrame, check_table, table_of
from ..engines.frame import Column, Frame
from ..engines.limits import quoted
from ..files.paths import COMPRESSED, FORMATS, MAGIC
from .find import frame_of

NAMES = """
SELECT name FROM (
    SELECT table_name AS name, schema_name, internal FROM duckdb_tables()
    UNION ALL
    SELECT view_name, schema_name, internal FROM duckdb_views()
)
WHERE schema_name IN (current_schema(), 'main') AND NOT internal
"""
NAMED = """
SELECT database_name, schema_name, table_name
FROM (
    SELECT database_name, schema_name, table_name FROM duckdb_tables()
    UNION ALL
    SELECT database_name, schema_name, view_name FROM duckdb_views()
)
WHERE lower(table_name) = lower(?)
"""


class AttachedFrame:
    """A `Frame` of the rows of another; the answers become a temporary table.

    Nothing in the connection may have the table's name yet, in any schema, as it would be hidden.
    """

    check_answers = staticmethod(check_table)

    def __init__(self, con: DuckDBPyConnection, name: str, rows: Frame) -> None:
        _check_connection(con)
        if not isinstance(name, str):
            raise ParameterTypeError(f"name must be a table's name, got {type(name).__name__}")
        if not name or not validate.is_utf8(name):
            raise ParameterError(
                f"name must be a table's name: not empty, and without lone surrogates, got {name!r}"
            )
        if _named(con, name):
            raise ParameterError(
                f"name must not be the name of a table or view of the connection, got {name!r}"
            )
        self.room = rows.room
        self.names, self.empty, self.parts = rows.names, rows.empty, rows.parts
        self._con, self._name = con, name

    def finished(self, columns: Sequence[Column]) -> DuckDBPyRelation:
        table, answers = f"temp.main.{quoted(self._name)}", f"unread_{secrets.token_hex(16)}"
        finished = table_of(self._con, columns)
        finished.query(answers, f"CREATE TEMP TABLE {table} AS FROM {answers}")
        return self._con.sql(f"FROM {table}")


def source_of(
    con: DuckDBPyConnection, source: object, room: Room | None = None, threads: int = 1
) -> Frame:
    """The rows of a table or view that a connection finds by its name, or of any frame.

    A text that names neither a temporary table or view nor one of the current schema is a path.
    """
    _check_connection(con)
    if isinstance(source, str):
        current = con.sql("SELECT current_database(), current_schema()").fetchall()[0]
        places = {place[:2]: place for place in _named(con, source)}
        for schema in (("temp", "main"), current):
            if schema in places:
                return DuckDBFrame(con.sql("FROM " + ".".join(map(quoted, places[schema]))), room)
        if (  # what only looks like a path is refused where paths are read
            not os.path.lexists(source)  # pathlib raises for what no path can be
            and set(source).isdisjoint(MAGIC + "/\\\0")
            and not source.lower().endswith((*FORMATS, *COMPRESSED))
        ):
            known = [name for (name,) in con.sql(NAMES).fetchall()]
            alike = "".join(f"; did you mean {x!r}?" for x in get_close_matches(source, known, 1))
            raise ParameterError(
                "source must be the name of a table or view of the connection, a path or a frame, "
                f"got {source!r}, which is no table and no file{alike}"
            )
    return frame_of(source, room, threads)


def _named(con: DuckDBPyConnection, name: str) -> list[tuple[str, str, str]]:
    """(database, schema, name) of all tables and views of a name."""
    places: list[tuple[str, str, str]] = con.sql(NAMED, params=[name]).fetchall()
    return places


def _check_connection(con: object) -> None:
    if not isinstance(con, DuckDBPyConnection):
        raise ParameterTypeError(
            f"con must be a connection of DuckDB, got an object of type {type(con).__name__}"
        )
