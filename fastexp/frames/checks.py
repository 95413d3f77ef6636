"""What frames of all kinds are asked before anything is charged or read: columns and types."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..errors import ParameterError, ParameterTypeError

SHOWN = 20  # names of columns in a message
KINDS = "DataFrame", "LazyFrame", "Table", "RecordBatch", "RecordBatchReader", "DuckDBPyRelation"
HOMES = {  # the library of such a frame, and the module for it
    "polars": "fastexp.polars",
    "pandas": "fastexp.pandas",
    "pyarrow": "fastexp.arrow",
    "duckdb": "fastexp.duckdb",
    "pyspark.sql": "fastexp.spark",
    "dask.dataframe": "fastexp.dask",
}


def result_name(column: Any, by: Any, name: Any) -> str:
    """What the column of answers is called."""
    chosen = column if name is None else name
    if not isinstance(chosen, str):
        argument = "column" if name is None else "name"
        kind = type(chosen).__name__
        raise ParameterTypeError(f"{argument} must be a column's name, got {kind}")
    if isinstance(by, str) and chosen == by:
        if name is None:
            raise ParameterError(
                f"by must be another column than column, got {by!r} for both (if that is meant, "
                "give name: what the column of answers is called)"
            )
        raise ParameterError("name must differ from by: it is what the column of answers is called")
    return chosen


def wanted(present: Collection[Any], column: Any, by: Any, person: Any) -> list[str]:
    """The columns that a call needs, each once; refused if the frame has no such column.

    What is no text is left to `release_call`, which refuses it.
    """
    asked = {"column": column, "by": by, "person": person}
    named = {argument: name for argument, name in asked.items() if isinstance(name, str)}
    for argument, name in named.items():
        if name not in present:
            raise ParameterError(
                f"{argument} must be a column of the frame, {_listed(present)}, got {name!r}"
            )
    return list(dict.fromkeys(named.values()))


def numbers(mechanism: Any, column: str, numeric: bool, kind: object) -> None:
    """Refuse records that are no numbers, by the type of their column, if numbers are wanted.

    numeric: whether the engine's type `kind` is one of integers, floats or decimals.
    """
    if hasattr(mechanism, "grid") and not numeric:
        raise ParameterTypeError(
            f"column must hold integers, floats or decimals, got {column!r} of type {kind}"
        )


def described(frame: Any) -> str:
    """The type of what is no frame of the kind that was asked for, and where it belongs."""
    kind = type(frame)
    # Types of extension modules are in such as _duckdb, and those of Python in builtins.
    module = kind.__module__.removeprefix("_")
    for library, home in HOMES.items():
        if kind.__name__ in KINDS and f"{module}.".startswith(f"{library}."):
            return f"{library}.{kind.__name__}: use {home}"
    return kind.__name__ if module == "builtins" else f"{module}.{kind.__name__}"


def _listed(present: Collection[Any]) -> str:
    """The names that a column may have, which are public."""
    names = [repr(name) for name in present if isinstance(name, str)]
    if not names:
        return "which has none with a name of text"
    return "one of " + ", ".join(names[:SHOWN] + ["..."] * (len(names) > SHOWN))
