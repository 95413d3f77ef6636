"""Utilities of candidates, from lists and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError, ParameterTypeError
from ..kernels.bits import FLOAT, SIGNED, UNSIGNED
from ..parameters import checks, kinds
from .segments import Segments

UINT64 = np.dtype(np.uint64)
KINDS = {"f": FLOAT, "i": SIGNED, "u": UNSIGNED}


def read_utilities(values: Any, k: int | None) -> Segments:
    """Return utilities of shape (k,) or (rows, k), which are read as the exact numbers they are."""
    array = checks.numbers(values)
    if array is None or array.ndim not in (1, 2):
        raise ParameterTypeError(
            "utilities must be numbers of at most 64 bits, without integers beyond 2**53 beside "
            f"floats, of shape (k,), or (rows, k) for rows{kinds.named(values)}"
        )
    size = array.shape[-1]
    if size != k and (k is not None or size < 2):
        required = "two numbers or more" if k is None else f"{k} numbers, one for each candidate"
        raise ParameterError(f"utilities must have {required}, got {size}")
    kind = KINDS[array.dtype.kind]
    if array.ndim == 1:
        return Segments(array.view(UINT64), kind)
    if array.size == 0:
        raise ParameterError("utilities must have a row or more")
    return Segments(array.reshape(-1).view(UINT64), kind, array.shape[0])
