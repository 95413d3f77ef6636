"""Rows that an engine brings to this process: where memory ends on their way, what to do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from ...errors import InvalidRecords

T = TypeVar("T")
FULL = (
    "records: the rows that are brought to this process take more memory than it, or the engine's "
    "driver, has: write them to Parquet and give its path, as rows of paths are read in parts"
)
OF_SPARK = ("java.lang.OutOfMemoryError", "spark.driver.maxResultSize")  # in its errors


def brought(rows: Callable[[], T]) -> T:
    """What `rows` returns; `InvalidRecords` if it fails for want of memory, of which it says so."""
    try:
        return rows()
    except Exception as failure:
        if not _is_of_memory(failure):
            raise
    raise InvalidRecords(FULL)  # outside the handler: the error, which may hold data, is no context


def _is_of_memory(failure: Exception) -> bool:
    text = ""
    with suppress(Exception):  # the text of Java's is in a process that may be gone
        text = str(failure)
    return isinstance(failure, MemoryError) or any(name in text for name in OF_SPARK)
