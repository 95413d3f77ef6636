"""Floors of a private median: the middle record itself, or less, as fast as NumPy has it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from .workload import Call
from .workload_numbers import NumberWork


def numpy_partition(work: NumberWork) -> Call:
    """The upper median by a partition."""
    x, middle = work.records, work.k // 2
    return lambda: np.partition(x, middle)[middle]


def numpy_sort(work: NumberWork) -> Call:
    """The upper median by a sort."""
    x, middle = work.records, work.k // 2
    return lambda: np.sort(x)[middle]


def numpy_max(work: NumberWork) -> Call:
    """`np.max`: every record is read once."""
    return partial(np.max, work.records)


def numpy_max_two_threads(work: NumberWork) -> Call:
    """`np.max` of the two halves at the same time, by threads that are there already."""
    pool, halves = ThreadPoolExecutor(2), np.array_split(work.records, 2)

    def call() -> Any:
        return max(pool.map(np.max, halves))

    return call
