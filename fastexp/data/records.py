"""Records and utilities, from lists and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError, ParameterTypeError
from ..kernels.bits import FLOAT, SIGNED, UNSIGNED
from ..parameters import checks, kinds
from ..types import Missing
from .segments import Segments

MAX_RECORDS = 1 << 32  # with a denominator of at most 10**9, distances stay below 2**62
UINT64 = np.dtype(np.uint64)
KINDS = {"f": FLOAT, "i": SIGNED, "u": UNSIGNED}


def read_records(data: Any, nan: Missing = "raise", argument: str = "records") -> Segments:
    """Return records of shape (n,), or (rows, n) for rows; NaN is left to the draw to refuse.

    A missing record is NaN, None or masked. By `nan` it is dropped, or read as an infinite one,
    which counts at that end of the grid.
    """
    array = checks.numbers(data, gaps=True)
    if array is None or array.ndim not in (1, 2):
        raise ParameterTypeError(
            f"{argument} must be numbers of at most 64 bits, without integers beyond 2**53 beside "
            f"floats, of shape (n,), or (rows, n) for rows of equal length{kinds.named(data)}"
        )
    rows, offsets = None if array.ndim == 1 else array.shape[0], None
    if array.size >= MAX_RECORDS:
        raise ParameterError("records must be fewer than 2**32")
    if rows == 0:
        raise ParameterError("records must have a row or more")
    # Integers beyond 2**53 are rounded, and stay beyond every point of a grid.
    records = array.reshape(-1).astype(np.float64, copy=False)
    if nan == "raise":
        return Segments(records, FLOAT, rows)
    checks.choice("nan", nan, ("raise", "drop", "lower", "upper"))
    if nan == "drop":
        is_there = ~np.isnan(records)
        if rows is not None:
            offsets = np.append(0, np.cumsum(is_there.reshape(rows, -1).sum(1)))
        records = records[is_there]
    else:
        records = np.where(np.isnan(records), -np.inf if nan == "lower" else np.inf, records)
    return Segments(records, FLOAT, rows, offsets)


def read_utilities(values: Any, k: int | None) -> Segments:
    """Return utilities of shape (k,) or (rows, k), which are read as the exact numbers they are."""
    array = checks.numbers(values)
    if array is None or array.ndim not in (1, 2):
        raise ParameterTypeError(
            "utilities must be numbers of at most 64 bits, without integers beyond 2**53 beside "
            f"floats, of shape (k,), or (rows, k) for rows of equal length{kinds.named(values)}"
        )
    is_one = array.ndim == 1
    size = array.size if is_one else array.shape[1]
    if size != k and (k is not None or size < 2):
        required = "two numbers or more" if k is None else f"{k} numbers, one for each candidate"
        raise ParameterError(f"utilities must have {required}, got {size}")
    kind = KINDS[array.dtype.kind]
    if is_one:
        return Segments(array.view(UINT64), kind)
    if array.size == 0:
        raise ParameterError("utilities must have a row or more")
    return Segments(array.reshape(-1).view(UINT64), kind, array.shape[0])
