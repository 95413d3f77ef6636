"""From records in any form, and any form of missing ones, to plain arrays.

A record is a number. The arrays returned are one-dimensional, contiguous, native float64 or int64.
uint64 beyond int64 count as its largest number; if a grid reaches beyond that, uint64 are replaced
by their grid points. Messages say what form is required, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from .._parameters import validate
from .._parameters.foreign import has, length
from .._parameters.grid import Grid
from .._typing import AnyArray
from ..errors import InvalidRecords, ParameterError, ParameterTypeError
from . import number_columns

NUMBERS = (
    "records must be a one-dimensional array of integers or floats (float64 at most), a path to "
    "a .npy file, a callable that yields arrays, or a tuple (values, counts)"
)
FLAT = (
    "records must be a one-dimensional array or column of integers or floats (float64 at most), a "
    "column of lists of them, a matrix, a path to a .npy file or a callable that yields arrays"
)
LIST_RULE = (
    "numbers in a list must be integers that all fit into int64 or all into uint64, or such that "
    "float64 holds every integer among them"
)
MISSING = "records must not be missing or NaN (see the argument nan)"
POLICIES = ("raise", "drop", "lower", "upper")
CHUNK_RECORDS = 1 << 16  # records read at once: scratch stays in the L2 cache
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1


def from_file(path: Any) -> AnyArray:
    """Map a .npy file into memory."""
    try:
        array = np.load(Path(path), mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        array = None
    if not isinstance(array, np.ndarray):
        raise ParameterError(
            "records: the path cannot be read as a .npy file of numbers (a column is named in a "
            "query: fastexp.Query().release(frame, {name: (mechanism, column)}))"
        )
    return array.view(np.ndarray)


def numbers(values: object, nan: str, grid: Grid | None = None) -> AnyArray:
    """Return records as one array; if nan is "raise", NaN of floats is left to the caller."""
    plain, missing = apart(values, nan, grid)
    if missing is None or not missing.any():
        return plain
    if nan == "raise":
        raise InvalidRecords(MISSING)
    return plain[~missing] if nan == "drop" else filled(plain, missing, nan)


def apart(values: object, nan: str, grid: Grid | None = None) -> tuple[AnyArray, AnyArray | None]:
    """Return records as one array, and a mask of the missing ones, as far as known."""
    if has(values, "__next__"):
        raise ParameterTypeError(
            "records must not be an iterator, which can be read only once: pass an array, or a "
            "callable that returns a fresh one"
        )
    numbers = number_columns.read(values, "records")
    if numbers is None or numbers.values.ndim != 1:
        got = f"an object of type {type(values).__name__}"
        if isinstance(values, np.ndarray):
            got = f"an array with ndim={values.ndim}"
        raise ParameterTypeError(f"{NUMBERS}, got {got}; {LIST_RULE}")
    if numbers.values.size == 0:
        return np.zeros(0), None
    plain, missing = canonical(numbers.values, grid), numbers.missing
    if nan != "raise" and plain.dtype.kind == "f":
        nans = np.isnan(plain)
        missing = nans if missing is None else missing | nans
    return plain, missing


def weighted_numbers(
    data: tuple[object, object], nan: str, grid: Grid | None = None
) -> tuple[AnyArray, AnyArray]:
    """Return the values that occur and are not missing, and their counts."""
    values, missing = apart(data[0], nan, grid)
    often = counts(data[1], values.size)
    if missing is not None and missing.any():
        if nan == "raise":
            raise InvalidRecords(MISSING)
        often = np.where(missing & (nan == "drop"), 0, often)
        values = filled(values, missing, nan)
    values, often = values[often > 0], often[often > 0]
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise InvalidRecords(MISSING)
    return values, often


def canonical(values: AnyArray, grid: Grid | None = None) -> AnyArray:
    """Return the numbers as contiguous float64 or int64, or their points of the grid."""
    if values.dtype.kind == "f":
        return np.ascontiguousarray(values, dtype=np.float64)
    if values.dtype == np.uint64 and grid is not None and grid.value(grid.size - 1) > HIGHEST:
        points: AnyArray = grid.values(grid.index(values))
        return points
    if values.dtype == np.uint64:
        return np.minimum(values, np.uint64(HIGHEST)).astype(np.int64)
    return np.ascontiguousarray(values, dtype=np.int64)


def filled(values: AnyArray, missing: AnyArray, nan: str) -> AnyArray:
    """Return records with missing ones at the lowest or highest number, whatever the bounds."""
    ends = (-np.inf, np.inf) if values.dtype.kind == "f" else (LOWEST, HIGHEST)
    return np.where(missing, ends[nan == "upper"], values).astype(values.dtype, copy=False)


def weighted(data: object) -> TypeGuard[tuple[object, object]]:
    """Whether the data is a tuple (values, counts) of two sequences or Arrow columns."""
    if type(data) is not tuple or len(data) != 2:
        return False
    return all(
        (length(part) is not None or number_columns.is_column(part))
        and not issubclass(type(part), (str, bytes))
        for part in data
    )


def counts(values: object, size: int) -> AnyArray:
    """Return the counts of the values: integers >= 0, one for each value."""
    column = number_columns.is_column(values)
    numbers = number_columns.read(values, "counts") if column else None
    array = validate.exact_array(values) if numbers is None else numbers.values
    if array is not None and array.shape == (0,) and size == 0:
        return np.zeros(0, np.int64)
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu" or array.size != size:
        raise ParameterTypeError("counts must be integers, one for each of the values")
    if numbers is not None and numbers.missing is not None and bool(numbers.missing.any()):
        raise InvalidRecords("counts must not be missing")
    wide = array.astype(np.float64)
    if bool((wide < 0).any() or wide.sum() >= 2.0**53):
        raise InvalidRecords("counts must be >= 0 with a sum that 53 bits hold")
    return array.astype(np.int64)


def arrays(parts: object, nan: str, grid: Grid | None = None) -> Iterator[AnyArray]:
    """Yield the arrays of a callable, each read by `numbers`, all of one type."""
    kind = None
    for part in _produced(parts):
        array = numbers(part, nan, grid)
        if array.size == 0:
            continue
        if kind not in (None, array.dtype.kind):
            raise ParameterTypeError("records: all arrays must hold integers, or all floats")
        kind = array.dtype.kind
        yield array


def _produced(parts: Any) -> Iterator[Any]:
    """Yield what a callable yields; its own errors may hold data, and are withheld."""
    failed = False
    try:
        produced = parts()
        yield from [produced] if isinstance(produced, np.ndarray) else produced
    except (ParameterError, ParameterTypeError, InvalidRecords, OSError):
        raise
    except Exception:
        failed = True
    if failed:  # outside the handler, so that the error is not the context of this one
        raise InvalidRecords("records: the callable failed or yields no arrays")
