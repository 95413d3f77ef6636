"""What frames of all kinds are asked before anything is charged or read: columns and types."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from .. import _validate
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
    for argument, text in (("column" if name is None else "name", chosen), ("by", by)):
        if isinstance(text, str) and not _is_name(text):
            raise ParameterError(
                f"{argument} must be a name that every engine can give a column of the answers: "
                f"not empty, and without lone surrogates, got {text!r}"
            )
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


def records(
    mechanism: Any, column: str, kind: object, *, numeric: bool, text: bool, coded: bool = False
) -> None:
    """Refuse records by the type of their column, if it tells that they are not what is wanted.

    numeric, text: whether the engine's type `kind` can hold integers, floats or decimals, and
    text; both for objects and for what has no type. coded: whether it is one of categories.
    """
    labels = {type(label) for label in getattr(mechanism, "candidates", ())}
    if hasattr(mechanism, "grid"):
        wanted, fits = "integers, floats or decimals", numeric and not coded
    elif labels == {int}:
        wanted, fits = "integers, floats or decimals, as candidates are integers", numeric
    elif labels == {str}:
        wanted, fits = "text, as the candidates are", text
    else:  # anything may equal them
        return
    if not fits:
        raise ParameterTypeError(f"column must hold {wanted}, got {column!r} of type {kind}")


def described(frame: Any) -> str:
    """The type of what is no frame of the kind that was asked for, and where it belongs."""
    kind = type(frame)
    # Types of extension modules are in such as _duckdb, and those of Python in builtins.
    module = kind.__module__.removeprefix("_")
    for library, home in HOMES.items():
        if kind.__name__ in KINDS and f"{module}.".startswith(f"{library}."):
            return f"{library}.{kind.__name__}: use {home}"
    return kind.__name__ if module == "builtins" else f"{module}.{kind.__name__}"


def _is_name(text: str) -> bool:
    """Whether columns of all engines can be called so."""
    return text != "" and _validate.is_utf8(text)


def _listed(present: Collection[Any]) -> str:
    """The names that a column may have, which are public."""
    names = [repr(name) for name in present if isinstance(name, str)]
    if not names:
        return "which has none with a name of text"
    return "one of " + ", ".join(names[:SHOWN] + ["..."] * (len(names) > SHOWN))
