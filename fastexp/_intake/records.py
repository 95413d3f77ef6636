"""Records of any form to a source: the one way in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._parameters.foreign import readable
from .._parameters.grid import Grid
from .._typing import AnyArray
from . import arrays
from .arrays import CHUNK
from .record_sources import FLOAT64, SMALL, Counted, Sorted, Source
from .unsorted import Unsorted

__all__ = ["Source", "intake"]


def intake(
    data: Any,
    nan: Any = "raise",
    assume_sorted: bool = False,
    threads: int = 1,
    check_sorted: bool = False,
    grid: Grid | None = None,
) -> Source:
    """Records of any form, see `arrays.NUMBERS`; of the grid that they will be mapped to.

    `assume_sorted` is taken at its word, unless `check_sorted`: then only if it is true.
    """
    if _plain(data) and nan == "raise":  # the common case first: the rest takes some 5 us
        return Sorted(data if assume_sorted and not check_sorted else np.sort(data))
    readable(data, "records")
    how = arrays.policy(nan)
    if isinstance(data, (str, Path)):
        data = arrays.from_file(data)
    if callable(data):
        return Unsorted(lambda: arrays.arrays(data, how, grid), threads)
    if arrays.weighted(data):
        return Counted(*arrays.weighted_numbers(data, how, grid))
    values = arrays.numbers(data, how, grid)
    if values.size <= SMALL and not assume_sorted:
        return Sorted(np.sort(values))
    if assume_sorted and not (check_sorted and _unordered(values)):
        return Sorted(values)
    return Unsorted(lambda: iter((values,)), threads, values.size)


def _plain(data: Any) -> bool:
    """Whether the data is a small array as it should be."""
    return (
        type(data) is np.ndarray
        and data.dtype is FLOAT64
        and 1 < data.size <= SMALL
        and data.ndim == 1
        and data.flags.c_contiguous
    )


def _unordered(values: AnyArray) -> bool:
    """Whether some record is less than the one before it; or NaN."""
    for begin in range(0, values.size - 1, CHUNK):
        part = values[begin : begin + CHUNK + 1]
        if not bool((part[:-1] <= part[1:]).all()):
            return True
    return False
