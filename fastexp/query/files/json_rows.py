"""JSON lines: an object in each line. Values keep their types: "1" is not a number."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ParameterError
from ..engines.frame import ColumnRead
from .paths import File, opened, pattern
from .row_file import SqlTable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LINE = 1 << 20  # bytes of an object, at most
OBJECTS = f"read_ndjson_objects($path, maximum_object_size = {LINE}, hive_partitioning = false)"
CHECKED = "CASE WHEN json_type(json) = 'OBJECT' THEN json ELSE error('') END"
STRING = "CASE WHEN json_type({0}) = 'VARCHAR' THEN {0} ->> '$' END"
KEY = "CASE WHEN json_type({0}) IN ('UBIGINT', 'BIGINT', 'VARCHAR') THEN {0} ->> '$'"
NUMBERS = "json_type({0}) IN ('UBIGINT', 'BIGINT', 'DOUBLE')"
CELLS = {  # cells of text; NULL for a value of another type, whose row is in no group
    **dict.fromkeys(
        ("doubles", "numbers"),
        f"CASE WHEN {NUMBERS} THEN CAST({{0}} AS VARCHAR) "
        "WHEN json_type({0}) <> 'NULL' THEN '?' END",
    ),
    "integers": f"CASE WHEN {NUMBERS} THEN CAST({{0}} AS VARCHAR) END",
    "booleans": "CASE WHEN json_type({0}) = 'BOOLEAN' THEN CAST({0} AS VARCHAR) END",
    "keys": f"{KEY} WHEN json_type({{0}}) <> 'NULL' THEN error('') END",
    "names": f"{KEY} END",
}
KEYS_SURVEYED = (
    "CASE json_type({0}) WHEN 'VARCHAR' THEN '' WHEN 'NULL' THEN NULL ELSE CAST({0} AS VARCHAR) END"
)


class Json:
    """One file, whose first object names the columns; ParameterError if there is none."""

    form: str = (
        f"one object of JSON in each line, of UTF-8 and at most {LINE} bytes, with integers or "
        "text as keys of persons and groups"
    )
    typed = False
    plain = None

    def __init__(self, _database: DuckDBPyConnection, file: File) -> None:
        self.file = file
        with opened(file.path) as raw:  # DuckDB would read more lines, and might fail on them
            start = raw.read(LINE + 1).removeprefix(BOM_UTF8).lstrip()
        names = _names(start.split(b"\n", 1)[0])
        if names is None:
            raise ParameterError(
                f"frame must be a file of JSON lines: the first line of {file.called} must be an "
                "object with all columns, null where one has no value"
            )
        self.names = names

    def rows(self, uses: Sequence[ColumnRead], survey: bool) -> SqlTable:
        parameters = {"path": pattern(self.file.path)}
        for i, use in enumerate(uses):
            parameters[f"at{i}"] = "/" + use.column.replace("~", "~0").replace("/", "~1")
        values = ", ".join(f"json_extract(json, $at{i}) AS v{i}" for i in range(len(uses)))
        cells = ", ".join(f"{_cell(use, survey, f'v{i}')} AS r{i}" for i, use in enumerate(uses))
        objects = f"(SELECT {CHECKED} AS json FROM {OBJECTS})"
        return SqlTable(
            f"(SELECT {cells or 1} FROM (SELECT {values or 1} FROM {objects}))", parameters
        )


def _cell(use: ColumnRead, survey: bool, value: str) -> str:
    cell = CELLS.get(use.reading, STRING)
    return (KEYS_SURVEYED if survey and use.reading == "keys" else cell).format(value)


def _names(line: bytes) -> list[str] | None:
    """The names in an object, repeated ones included; None if the line is no object."""
    try:
        keys: Any = json.loads(line, object_pairs_hook=lambda pairs: [name for name, _ in pairs])
    except (ValueError, RecursionError):
        return None
    return keys if isinstance(keys, list) and line.startswith(b"{") else None
