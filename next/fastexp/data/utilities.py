"""Utilities of candidates, from lists and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError, ParameterTypeError
from ..kernels.bits import FLOAT
from ..parameters import checks, kinds
from .segments import Segments

FLOAT64 = np.dtype(np.float64)
KINDS = "fiu"  # the index of each is its kind in `kernels/bits.py`


def read_utilities(values: Any, k: int | None) -> Segments:
    """Return utilities of shape (k,) or (rows, k), which are read as the exact numbers they are."""
    if (
        type(values) is np.ndarray
        and values.dtype is FLOAT64
        and values.ndim == 1
        and values.flags.c_contiguous
    ):  # the common case: the other checks take a third of a release
        array = values
    else:
        read = checks.numbers(values)
        if read is None or read.ndim not in (1, 2):
            raise ParameterTypeError(
                "utilities must be numbers of at most 64 bits, without integers beyond 2**53 "
                f"beside floats, of shape (k,), or (rows, k) for rows{kinds.named(values)}"
            )
        array = read
    if array.size == 0:
        raise ParameterError("utilities must not be empty")
    size = array.shape[-1]
    if size != k and (k is not None or size < 2):
        required = "two numbers or more" if k is None else f"{k} numbers, one for each candidate"
        raise ParameterError(f"utilities must have {required}, got {size}")
    kind = FLOAT if array.dtype is FLOAT64 else KINDS.index(array.dtype.kind)
    if array.ndim == 1:
        return Segments(array.view(np.uint64), kind)
    return Segments(array.reshape(-1).view(np.uint64), kind, array.shape[0])
