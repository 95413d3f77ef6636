"""DuckDB as a tool of ours: databases in memory, for given files alone, under nobody's settings."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ...errors import ParameterError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LEAST = 32 << 20  # bytes that DuckDB needs for anything
SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,  # those that are built in are there all the same
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "allow_persistent_secrets": False,  # else those in the user's home count
    "python_enable_replacements": False,  # no variable is a table
    "preserve_insertion_order": False,  # answers do not depend on it, and it takes memory
    "enable_external_file_cache": False,
    "arrow_large_buffer_size": True,  # texts of a batch may have more than 2**31 bytes
}
NEEDED = ("duckdb", "pyarrow")  # packages


def connect(*, memory: int, threads: int = 1, files: Sequence[str] = ()) -> DuckDBPyConnection:
    """Open a database in memory that reaches nothing but what is named here.

    memory: bytes that it may hold; threads: 0: one a processor; files: absolute paths that it may
    read, as its functions will name them. ParameterError without DuckDB, or pyarrow, by which it
    gives batches of a given size.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ParameterError(
            f"frame is a path, which needs {' and '.join(missing)}: pip install {' '.join(missing)}"
        )
    duckdb = import_module("duckdb")
    limits = {"memory_limit": f"{max(memory, LEAST)}B", "temp_directory": ""}
    if threads:
        limits["threads"] = str(threads)
    connection: DuckDBPyConnection = duckdb.connect(":memory:", config={**SETTINGS, **limits})
    (progress,) = connection.sql("SELECT current_setting('enable_progress_bar')").fetchall()
    if progress[0]:  # prints where a user may look on; in a notebook it may refuse to be set
        connection.execute("SET enable_progress_bar = false")
    connection.execute("SET allowed_paths = ?", [list(files)])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection
