"""Rows in the order of their groups: values, or the numbers of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._threads import in_parts
from .._typing import AnyArray, IntArray
from ..kernels.groups import grouping

# Fewer rows are not worth a thread; neither are fewer rows than groups, which it counts.
MIN_ROWS_PER_THREAD = 1 << 16
INT64 = np.dtype(np.int64)


def gather(
    codes: IntArray, values: AnyArray, size: int, threads: int = 1
) -> tuple[AnyArray, IntArray]:
    """Put values into the order of their groups, below `size`; those of group -1 are left out.

    Group g has the values from offsets[g] to offsets[g + 1], in the order of rows. There are two
    passes over the codes and one over the values. Scratch is 8 bytes for each group and thread.
    """
    n, count = codes.size, max(1, min(threads, codes.size // max(MIN_ROWS_PER_THREAD, size)))
    parts = [slice(n * i // count, n * (i + 1) // count) for i in range(count)]
    return gather_parts([(codes[part], values[part]) for part in parts], size)


def gather_parts(
    parts: Sequence[tuple[IntArray, AnyArray]], size: int
) -> tuple[AnyArray, IntArray]:
    """Return the same for rows in parts, one for each thread: codes, and values of one type."""
    values = parts[0][1]
    if values.strides == (0,):  # all are one number: only their counts are needed
        _, offsets = _moved(lambda *_: None, parts, size)
        return np.broadcast_to(values[:1], offsets[size]), offsets
    words = [(codes, values.view(INT64)) for codes, values in parts]
    moved, offsets = _moved(grouping.move_words, words, size)
    return moved.view(values.dtype), offsets


def order(codes: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Number rows in the order of their groups: `gather` of 0, 1, ..., n - 1."""
    return _moved(grouping.move_rows, [(codes, 0)], size)


def differing(columns: Sequence[IntArray]) -> AnyArray:
    """Whether a row differs from the one before in some column."""
    new = np.ones(columns[0].size, np.bool_)
    new[1:] = False
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def _moved(
    kernel: Any, parts: Sequence[tuple[IntArray, Any]], size: int
) -> tuple[IntArray, IntArray]:
    """Return what a kernel moves, and offsets; a part is codes, and values or the first row."""
    threads, offsets = len(parts), np.empty(size + 1, np.int64)
    places = np.zeros((threads, size + 1), np.int64)
    out = np.empty(sum(codes.size for codes, _ in parts), np.int64)
    in_parts(lambda i, _: grouping.count_codes(parts[i][0], places[i]), threads, threads)
    grouping.start_codes(places.reshape(-1), offsets)
    in_parts(lambda i, _: kernel(parts[i][0], parts[i][1], places[i], out), threads, threads)
    return out[: offsets[size]], offsets
