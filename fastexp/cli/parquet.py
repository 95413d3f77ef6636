"""A column of a Parquet file, by polars or by pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .._typing import AnyArray
from .errors import UserMistake
from .files import opened, place
from .output import needed, optional


def column_values(file: str, column: str) -> Iterator[tuple[list[Any], str] | None]:
    """The values of one column, and their kind as `reading.Records` names it.

    Parameters
    ----------
    file : str
        A path.
    column : str
        A name in the file's schema.

    Yields
    ------
    None, then tuple of (list, str)
        None once the schema is read. Text, numbers and booleans as they are; dates and the like
        as text; None for null.

    Raises
    ------
    UserMistake
        If the file cannot be read or has no such column.
    Failure
        If neither polars nor pyarrow is installed.
    """
    for values in _read(file, column, _as_list):
        yield values if values is None else _of_a_kind(values)


def _of_a_kind(values: list[Any]) -> tuple[list[Any], str]:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {str}:
        return (values, "text")
    if kinds <= {int, float}:
        return (values, "numbers")
    if kinds == {bool}:
        return (values, "booleans")
    return ([None if value is None else str(value) for value in values], "text")


def numeric_column(file: str, column: str) -> Iterator[list[AnyArray] | None]:
    """The values of one column of numbers as arrays: integers as they are, NaN for null.

    Parameters
    ----------
    file : str
        A path.
    column : str
        A name in the file's schema.

    Yields
    ------
    None, then list of ndarray
        None once the schema is read. The values that are there, then the gaps, if any. Decimals
        are the nearest doubles.

    Raises
    ------
    UserMistake, Failure
        As for `column_values`.
    """
    for found in _read(file, column, _as_array):
        yield found if found is None else _with_gaps(*found)


def _with_gaps(values: AnyArray, gaps: int) -> list[AnyArray]:
    import numpy as np

    if values.dtype.kind == "O":  # decimals, or text; where all are null there are none
        from decimal import Decimal

        if all(isinstance(value, Decimal) for value in values):
            values = values.astype(np.float64)
    return [values, *([np.full(gaps, np.nan)] if gaps else [])]


def _as_list(found: Any) -> Any:
    return found.to_list() if hasattr(found, "to_list") else found.to_pylist()


def _as_array(found: Any) -> Any:
    """(the values that are not null as an array, the number of nulls), by either reader."""
    if hasattr(found, "drop_nulls"):
        return found.drop_nulls().to_numpy(), found.null_count()
    return found.drop_null().to_numpy(), found.null_count


def _read(file: str, column: str, take: Callable[[Any], Any]) -> Iterator[Any]:
    """None once the schema is read, then what `take` makes of the column of either reader."""
    backend = optional("polars")
    if backend is None:
        install = "polars (or pyarrow); or convert the file to CSV"
        backend = needed("pyarrow.parquet", "reading Parquet", install)
    polars = backend.__name__ == "polars"
    done = False
    with opened(file) as raw:
        try:
            if polars:
                header = list(backend.read_parquet_schema(raw))
            else:
                header = list(backend.read_schema(raw).names)
            raw.seek(0)
            at = place(file, header, column)
            yield None
            read = backend.read_parquet if polars else backend.read_table
            found = take(read(raw, columns=[header[at]])[column])
            done = True
        except (UserMistake, MemoryError):
            raise
        except Exception:  # their messages may hold data
            found = None
    if not done:
        raise UserMistake(f"{file!r} cannot be read as Parquet")
    yield found
