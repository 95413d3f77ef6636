"""Records, one number each, from lists and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError, ParameterTypeError
from ..kernels.bits import FLOAT
from ..parameters import checks
from .segments import Segments


def read_records(values: Any) -> Segments:
    """Return records of shape (n,), or (rows, n) for rows."""
    array = checks.numbers(values)
    if array is None or array.ndim not in (1, 2):
        raise ParameterTypeError(
            "records must be numbers of at most 64 bits that NumPy does not round, of shape (n,), "
            "or (rows, n) for rows"
        )
    rows = None if array.ndim == 1 else array.shape[0]
    if rows == 0:
        raise ParameterError("records must have a row or more")
    # Integers beyond 2**53 are rounded, and stay beyond every point of a grid.
    return Segments(array.reshape(-1).astype(np.float64, copy=False), FLOAT, rows)
