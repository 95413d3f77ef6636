"""Numbers in any form, as an array and a mask of the missing ones.

Decimals and fractions are read as the nearest doubles. Data of another type is refused. The message
names the argument and the type, and reveals nothing of the content.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .._arrow import arrow
from .._parameters.foreign import is_pandas, readable
from .._parameters.validate import exact_array
from .._typing import AnyArray
from ..errors import InvalidRecords, ParameterError, ParameterTypeError

MAX_FORMAT_LENGTH = 60  # characters of a type's format in a message
NULLS = "n"  # the format of an Arrow column without a type


class Numbers(NamedTuple):
    """Numbers of at most 64 bits, and a mask of the missing ones; None if there are none."""

    values: AnyArray
    missing: AnyArray | None


def read(numbers: object, argument: str) -> Numbers | None:
    """Read numbers of any form and shape; return None for an object that is no array or column.

    NaN does not count as missing. Another type raises `ParameterTypeError`, a failure of the
    producer of a column `InvalidRecords`.
    """
    if type(numbers) is np.ndarray:
        return of_array(numbers, None, argument)
    readable(numbers, argument)
    try:
        if isinstance(numbers, Numbers):
            return numbers
        if isinstance(numbers, np.ma.MaskedArray):
            filled = np.ma.filled(numbers, 0) if numbers.dtype.kind in "iuf" else numbers
            return of_array(np.asarray(filled), np.ma.getmaskarray(numbers), argument)
        if is_pandas(numbers):
            return _of_pandas(numbers, argument)
        if is_column(numbers):
            return joined(arrow.column(numbers, argument), argument)
        array = exact_array(numbers)
        return None if array is None else of_array(array, None, argument)
    except (ParameterError, ParameterTypeError, InvalidRecords, OSError):
        raise
    except Exception:  # from a foreign object; its message may hold data
        return None


def is_column(data: object) -> bool:
    """Whether to read data as Arrow: not those of pandas, which may need pyarrow for it."""
    return arrow.is_arrow(data) and not is_pandas(data)


def of_array(array: AnyArray, missing: AnyArray | None, argument: str) -> Numbers | None:
    """Return the numbers of an array, possibly an array of objects."""
    kind = array.dtype.kind
    if kind in "iuf" and array.dtype.itemsize <= 8:
        if not array.dtype.isnative:  # of the other byte order
            array = array.astype(array.dtype.newbyteorder("="))
        return Numbers(array, missing)
    if kind == "O" and array.ndim == 1:
        return _of_objects(array.tolist(), missing, argument)
    if kind == "O":
        return None
    raise not_numbers(argument, described(array.dtype))


def _of_pandas(column: Any, argument: str) -> Numbers | None:
    """Read a series, an index or an extension array."""
    kind, missing = getattr(column.dtype, "kind", "O"), np.asarray(column.isna(), dtype=bool)
    if kind in "bMm":
        raise not_numbers(argument, described(column.dtype))
    gaps = missing if missing.any() else None
    if gaps is not None and kind in "iuf":
        blank = np.nan if kind == "f" else 0
        return Numbers(column.to_numpy(dtype=f"{kind}8", na_value=blank), gaps)
    return of_array(np.asarray(column.to_numpy()), gaps, argument)


def joined(chunks: list[arrow.Column], argument: str) -> Numbers:
    """Join the chunks of an Arrow column; a single chunk is not copied."""
    parts = [_of_chunk(chunk, argument) for chunk in chunks]
    if len(parts) == 1:
        return parts[0]
    gaps = [np.zeros(p.values.size, bool) if p.missing is None else p.missing for p in parts]
    values, missing = np.concatenate([part.values for part in parts]), np.concatenate(gaps)
    return Numbers(values, missing if missing.any() else None)


def _of_chunk(chunk: arrow.Column, argument: str) -> Numbers:
    """Read a chunk of numbers, or of nulls only."""
    if chunk.format == NULLS:
        return Numbers(np.zeros(chunk.length), np.ones(chunk.length, bool))
    if chunk.values is None or chunk.kind not in ("integers", "floats"):
        raise not_numbers(argument, arrow_type(chunk))
    return Numbers(chunk.values, None if chunk.valid is None else ~chunk.valid)


def arrow_type(chunk: arrow.Column) -> str:
    """Return the kind of values of an Arrow column, or its type."""
    if chunk.kind == "other":
        return f"the Arrow type {chunk.format[:MAX_FORMAT_LENGTH]!r}"
    return "categories" if chunk.kind == "dictionary" else chunk.kind


def _of_objects(items: list[Any], missing: AnyArray | None, argument: str) -> Numbers | None:
    """Read Python's numbers; None is a missing one."""
    gaps = np.array([item is None for item in items], dtype=bool)
    if missing is not None:
        gaps |= missing
    numbers = [
        _number(item, argument) for item, gap in zip(items, gaps.tolist(), strict=True) if not gap
    ]
    array = exact_array(numbers)
    if array is None or array.dtype.kind not in "iuf":
        return None  # integers beyond 64 bits, or some that float64 would round
    values = np.zeros(gaps.size, array.dtype)
    values[~gaps] = array
    return Numbers(values, gaps if gaps.any() else None)


def _number(item: object, argument: str) -> int | float:
    if isinstance(item, (Decimal, Fraction)):
        return nearest(item)
    plain = item.item() if isinstance(item, np.generic) and item.dtype.kind in "iuf" else item
    if isinstance(plain, (int, float)) and not isinstance(plain, bool):
        return plain
    raise not_numbers(argument, f"an object of type {type(item).__name__}")


def nearest(number: Decimal | Fraction) -> float:
    """Return the double nearest to a number; NaN for a Decimal that is NaN."""
    if isinstance(number, Decimal) and number.is_nan():
        return np.nan
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def described(dtype: Any) -> str:
    """Return the name of a NumPy or pandas type, without the length of texts."""
    sized = isinstance(dtype, np.dtype) and dtype.kind in "USTVO"
    return dtype.type.__name__.rstrip("_") if sized else str(dtype)


def not_numbers(argument: str, got: str) -> ParameterTypeError:
    """Return the error for data that is not numbers."""
    return ParameterTypeError(f"{argument} must be integers or floats, got {got}")
