"""Parquet: columns have types, which are looked at before any row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import ParameterError, ParameterTypeError
from ..engines.frame import Use
from ..engines.limits import quoted
from .paths import File, pattern
from .row_file import SqlTable
from .text_cells import cut

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_COLUMNS = 10_000
FOOTER = 1 << 26  # bytes of what says where columns are
TABLE = "read_parquet($path, hive_partitioning = false)"
MISREAD = ("uuid", "bit", "bignum", "time_ns")  # as Arrow they look like something else


class Parquet:
    """One file, of which the schema is read; ParameterError if that is too large."""

    form = "Parquet that is whole"
    typed = True
    plain = None

    def __init__(self, database: DuckDBPyConnection, file: File) -> None:
        self.file = file
        with open(file.path, "rb") as raw:  # noqa: PTH123  # read by its end
            size = raw.seek(0, 2)
            raw.seek(max(size - 8, 0))
            length = int.from_bytes(raw.read(8)[:4], "little")
        if FOOTER < length <= size:  # a schema that takes much memory before it is looked at
            raise ParameterError(
                f"frame must be a file whose schema takes at most {FOOTER} bytes, got more in "
                f"{file.path!r}"
            )
        path = {"path": pattern(file.path)}
        query = "SELECT name, coalesce(num_children, 0) FROM parquet_schema($path) LIMIT $most"
        nodes = database.execute(query, {**path, "most": 8 * MOST_COLUMNS}).fetchall()
        self.names, inside = list[str](), 0
        for name, children in nodes[1:]:  # the first is the whole; behind each are its children
            if not inside:
                self.names.append(name)
            inside = max(inside - 1, 0) + children
        if len(self.names) > MOST_COLUMNS or len(nodes) == 8 * MOST_COLUMNS:
            raise ParameterError(
                f"frame must be a file of at most {MOST_COLUMNS} columns, got more in {file.called}"
            )
        table = database.sql(f"FROM {TABLE}", params=path)
        self._columns, self._types = table.columns, table.types

    def rows(self, uses: Sequence[Use], survey: bool) -> SqlTable:
        columns = ", ".join(f"{self._column(use)} AS r{i}" for i, use in enumerate(uses))
        return SqlTable(f"(SELECT {columns or 1} FROM {TABLE})", {"path": pattern(self.file.path)})

    def _column(self, use: Use) -> str:
        place = self.names.index(use.column)
        name, kind = quoted(self._columns[place]), self._types[place]
        if kind.id in MISREAD:
            raise ParameterTypeError(
                f"column {use.column!r} of {self.file.called} must be of a type that is read as "
                f"it is, got {kind}"
            )
        return cut(use, name) if kind.id == "varchar" else name
