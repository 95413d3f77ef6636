"""A column of a Parquet file, by polars or by pyarrow."""

from __future__ import annotations

from typing import IO, Any

from .errors import UserMistake
from .files import opened, place
from .output import needed, optional


def column_values(file: str, column: str) -> tuple[list[Any], str]:
    """The values of one column, and their kind as `reading.Records` names it.

    Parameters
    ----------
    file : str
        A path.
    column : str
        A name in the file's schema.

    Returns
    -------
    tuple of (list, str)
        Text, numbers and booleans as they are; dates and the like as text; None for null.

    Raises
    ------
    UserMistake
        If the file cannot be read or has no such column.
    Failure
        If neither polars nor pyarrow is installed.
    """
    backend = optional("polars")
    if backend is None:
        install = "polars (or pyarrow); or convert the file to CSV"
        backend = needed("pyarrow.parquet", "reading Parquet", install)
    with opened(file) as raw:
        values = _values(backend, raw, file, column)
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {str}:
        return (values, "text")
    if kinds <= {int, float}:
        return (values, "numbers")
    if kinds == {bool}:
        return (values, "booleans")
    return ([None if value is None else str(value) for value in values], "text")


def _values(backend: Any, raw: IO[bytes], file: str, column: str) -> list[Any]:
    """The column as Python objects, by polars or by pyarrow."""
    polars = backend.__name__ == "polars"
    values: list[Any] | None = None
    try:
        if polars:
            header = list(backend.read_parquet_schema(raw))
        else:
            header = list(backend.read_schema(raw).names)
        raw.seek(0)
        at = place(file, header, column)
        read = backend.read_parquet if polars else backend.read_table
        found = read(raw, columns=[header[at]])[column]
        values = found.to_list() if polars else found.to_pylist()
    except (UserMistake, MemoryError):
        raise
    except Exception:  # their messages may hold data
        values = None
    if values is None:
        raise UserMistake(f"{file!r} cannot be read as Parquet")
    return values
