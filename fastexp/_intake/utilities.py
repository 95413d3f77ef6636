"""Utilities and labels as kernels take them: every check of their form, with its message.

A message says what form is required and never what the data held: no value, index, count or
length.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .._arrow import arrow
from .._parameters import validate
from .._parameters.foreign import attribute, length, readable
from .._parameters.validate import exact_array
from .._typing import AnyArray, WordArray
from ..errors import (
    InvalidRecords,
    InvalidUtilities,
    ParameterError,
    ParameterTypeError,
    SensitivityWarning,
    warn,
)
from . import number_columns

FLOAT64, UINT64, UINT32 = np.dtype(np.float64), np.dtype(np.uint64), np.dtype(np.uint32)
KINDS, FLOAT = "fiu", 0  # the index of each is its number in `kernels/bits/heights.py`
DECIMALS = "d:"  # prefix of Arrow's formats of decimals
ROUNDED = (
    "decimals or fractions: state the sensitivity of what float64 makes of them, and convert them"
)
NOT_FINITE = "utilities must be finite (NaN or infinity found; see the argument nan)"
NOT_BITS = "bits must be 0 or 1: an integer or bool, or an array of them"
NOT_NUMBERS = "utilities must be numbers: an array of float64, int64, uint64 or narrower"
SCORE_FAILED = (
    "the score function failed; its message is withheld, because it may contain data: to see why, "
    "call the score on one record yourself"
)


def utilities(values: object, k: int | None, nan: object) -> tuple[WordArray, int]:
    """Utilities of shape (k,) or (rows, k) as kernels take them: 64-bit patterns and a kind.

    The patterns have the same shape and are contiguous. Integers stay integers; float32 counts
    exactly, with a warning about sensitivity. Rows of it stay of 32 bits (see `widened`).
    """
    if (  # the common case first: it takes 0.3 us of a release's 3
        type(values) is np.ndarray
        and values.dtype is FLOAT64
        and values.ndim == 1
        and values.flags.c_contiguous
        and values.size == (k or values.size) != 0
        and type(nan) is str
        and nan == "raise"
    ):
        return values.view(UINT64), FLOAT
    if type(values) is not np.ndarray or values.ndim not in (1, 2):
        readable(values, "utilities")
        values = _rows_of_numbers(values)
    if values.shape[-1] == 0:
        raise ParameterError("utilities must not be empty: there is nothing to select from")
    if k is not None and values.shape[-1] != k:
        raise ParameterError(f"utilities must have one number for each candidate and base: {k}")
    lowest = validate.choice("nan", nan, ("raise", "lowest")) == "lowest"
    if lowest and values.dtype.kind == "f":
        least = np.finfo(values.dtype).min
        values = np.where(np.isnan(values), least, values).astype(values.dtype, copy=False)
    return _canonical(values)


def widened(bits: AnyArray) -> WordArray:
    """Return utilities of 32 bits as equal doubles, and others unchanged."""
    if bits.dtype == UINT32:
        return bits.view(np.float32).astype(np.float64).view(UINT64)
    return bits


def form(values: object) -> tuple[int | None, int | None]:
    """Return the number of rows of utilities (None: one row), and of candidates.

    Only their form is read; numbers that it does not tell are None.
    """
    shape = attribute(values, "shape")
    if isinstance(shape, tuple):
        return shape[0] if len(shape) == 2 else None, shape[-1] if shape else None
    if not isinstance(values, (list, tuple)) or not values:
        return None, None
    first = length(values[0])
    return (None, len(values)) if first is None else (len(values), first)


def _rows_of_numbers(values: object) -> AnyArray:
    """Return other forms of utilities as an array; refuse labels, which would be ignored."""
    dtype = attribute(attribute(values, "index"), "dtype")
    if dtype is not None and attribute(dtype, "kind") not in ("i", "u"):
        raise ParameterTypeError(
            "utilities are read by position, but have labels: put them into the order of the "
            "candidates and use .to_numpy()"
        )
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterTypeError(
            "utilities must not be a masked array, whose hidden values would be used: fill it first"
        )
    if number_columns.is_column(values) and attribute(values, "columns") is None:
        return _column(values)
    array = exact_array(values)
    if array is None:
        raise ParameterTypeError(NOT_NUMBERS)
    if array.ndim not in (1, 2):
        raise ParameterTypeError("utilities must have shape (k,), one row, or (rows, k)")
    return array


def _column(values: object) -> AnyArray:
    """Read an Arrow column of utilities; a missing one is NaN, and refused among integers."""
    chunks = arrow.column(values, "utilities")
    if any(chunk.format.startswith(DECIMALS) for chunk in chunks):
        raise ParameterTypeError(f"{NOT_NUMBERS}, got {ROUNDED}")
    column = number_columns.joined(chunks, "utilities")
    if column.missing is None or not column.missing.any():
        return column.values
    if column.values.dtype.kind != "f":
        raise InvalidUtilities("utilities must not be missing")
    return np.where(column.missing, np.nan, column.values).astype(column.values.dtype, copy=False)


def one_row(bits: WordArray) -> None:
    """Refuse a matrix where one row is meant."""
    if bits.ndim != 1:
        raise ParameterTypeError(
            "law takes utilities of one row, of shape (k,), got a matrix: call it for each row"
        )


def _canonical(values: AnyArray) -> tuple[WordArray, int]:
    dtype = values.dtype
    if dtype.kind == "f" and dtype.itemsize == 4:
        warn(
            "float32 utilities are read exactly: sensitivity must hold for the rounded values (it "
            "can double at 2**24); compute utilities in float64, or state a larger sensitivity",
            SensitivityWarning,
        )
        if values.ndim == 2:
            narrow: Any = np.ascontiguousarray(values, dtype=np.float32).view(UINT32)
            return narrow, FLOAT
    if dtype.kind in "iu" or (dtype.kind == "f" and dtype.itemsize in (4, 8)):
        wide = np.ascontiguousarray(values, dtype=f"{dtype.kind}8")
        return wide.view(np.uint64), KINDS.index(dtype.kind)
    if dtype.kind == "b":
        raise ParameterTypeError(f"{NOT_NUMBERS}; for True and False write values.astype(int)")
    items = values.reshape(-1).tolist() if dtype.kind == "O" else []
    if any(isinstance(item, (Decimal, Fraction)) for item in items):
        raise ParameterTypeError(f"{NOT_NUMBERS}, got {ROUNDED}")
    raise ParameterTypeError(f"{NOT_NUMBERS}, got {number_columns.described(dtype)}")


def bits(values: object) -> AnyArray:
    """Return 0s and 1s as bytes: integers or booleans, one (shape ()) or an array of any shape."""
    readable(values, "bits")
    array = None if isinstance(values, np.ma.MaskedArray) else exact_array(values)
    if array is None or (array.dtype.kind not in "iub" and array.size > 0):
        raise ParameterTypeError(NOT_BITS)
    if array.dtype.kind == "b":  # a byte that is not 0 counts as True, whatever it is
        return np.not_equal(np.asarray(array, order="C").view(np.uint8), 0).view(np.uint8)
    wide = np.asarray(array, np.uint64 if array.dtype.kind == "u" else np.int64, order="C")
    if wide.view(np.uint64).max(initial=0) > 1:
        raise InvalidRecords(NOT_BITS)
    return wide.astype(np.uint8)


def finite(status: bool) -> None:
    """Refuse utilities that a kernel found not to be finite."""
    if not status:
        raise InvalidUtilities(NOT_FINITE)


def records(values: object, text: bool, numeric: bool) -> Any:
    """Return one-dimensional records to count: a numeric array, or a list of labels.

    `text` and `numeric` tell the type of the candidates; records of the other type
    could never match and are refused.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterTypeError(
            "records must not be a masked array: fill or drop missing values first"
        )
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ParameterTypeError("records must be a one-dimensional sequence, one label a record")
    if not isinstance(values, (list, tuple)):
        array = exact_array(values)
        if array is None:
            raise uncountable()
        if array.ndim != 1:
            raise ParameterTypeError("records must be one-dimensional: one label a record")
        sort = array.dtype.kind
        if array.size == 0:  # of any type: no records must look like some records
            return []
        if (sort in "US" and numeric) or (sort in "iufb" and text):
            got, wanted = ("text", "numbers") if sort in "US" else ("numbers", "text")
            raise ParameterTypeError(f"records are {got} but candidates are {wanted}")
        if sort in "iuf" and numeric:
            return array
        return array.tolist()
    return values


def uncountable() -> InvalidRecords:
    """Return the constant error for records that cannot be labels."""
    return InvalidRecords("records must be hashable labels, like the candidates")
