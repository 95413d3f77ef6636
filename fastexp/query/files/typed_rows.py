"""Files whose columns have types, which are known before any row is read: Parquet and Arrow."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from ...errors import ParameterTypeError
from ..engines.frame import ColumnRead
from ..engines.limits import quoted
from .paths import File, pattern
from .row_file import SqlTable
from .text_cells import cut

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLE = "read_parquet($path, hive_partitioning = false)"
MISREAD = ("uuid", "bit", "bignum", "time_ns")  # as Arrow data they look like other types


class _TypedFile:
    """One file with its schema: the columns as DuckDB names them, and their types."""

    form: str
    typed = True
    plain = None

    def __init__(
        self, database: DuckDBPyConnection, file: File, names: list[str], table: SqlTable
    ) -> None:
        self.file, self.names, self._table = file, names, table
        relation = database.sql(f"FROM {table.table}", params=table.parameters)
        self._columns, self._types = relation.columns, relation.types

    def rows(self, uses: Sequence[ColumnRead], survey: bool) -> SqlTable:
        table, parameters = self._table
        columns = ", ".join(f"{self._column(use)} AS r{i}" for i, use in enumerate(uses))
        return SqlTable(f"(SELECT {columns or 1} FROM {table})", parameters)

    def _column(self, use: ColumnRead) -> str:
        place = self.names.index(use.column)
        name, kind = quoted(self._columns[place]), self._types[place]
        if kind.id in MISREAD:
            raise ParameterTypeError(
                f"column {use.column!r} of {self.file.called} must have a type that fastexp reads "
                f"without a conversion, got {kind}"
            )
        return cut(use, name) if kind.id == "varchar" else name


class Parquet(_TypedFile):
    """A Parquet file."""

    form = "Parquet that is whole"

    def __init__(self, database: DuckDBPyConnection, file: File) -> None:
        table = SqlTable(TABLE, {"path": pattern(file.path)})
        names = import_module("pyarrow.parquet").read_schema(file.path).names
        super().__init__(database, file, names, table)


class Arrow(_TypedFile):
    """An Arrow IPC file (Feather of version 2), which DuckDB scans as a dataset of pyarrow."""

    form = "an Arrow IPC file (Feather of version 2) that is whole"

    def __init__(self, database: DuckDBPyConnection, file: File) -> None:
        dataset = import_module("pyarrow.dataset").dataset(file.path, format="ipc")
        view = f"arrow_{secrets.token_hex(8)}"
        database.register(view, dataset)
        super().__init__(database, file, dataset.schema.names, SqlTable(view, {}))
