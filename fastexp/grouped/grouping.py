"""Rows in the order of their groups: values, or the numbers of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._threads import in_parts
from .._typing import AnyArray, IntArray
from ..kernels.groups import grouping

LEAST = 1 << 16  # rows of a thread: fewer are not worth one
INT64 = np.dtype(np.int64)


def gather(
    codes: IntArray, values: AnyArray, size: int, threads: int = 1
) -> tuple[AnyArray, IntArray]:
    """Put values into the order of their groups.

    Parameters
    ----------
    codes : ndarray of int64, shape (n,), contiguous
        The group of each row, below `size`; rows with -1 are left out.
    values : ndarray of float64 or int64, shape (n,), contiguous
        A value for each row.
    size : int
        How many groups there are.
    threads : int, default 1
        How many ranges of rows are worked on at the same time. The answer does not depend on it.

    Returns
    -------
    gathered : ndarray of the values' dtype
        The values of group 0, of group 1 and so on; those of one group in the order of rows.
    offsets : ndarray of int64, shape (size + 1,)
        Group g has the values from offsets[g] to offsets[g + 1].

    Notes
    -----
    Two passes over the codes, one over the values; 8 bytes a group and thread of scratch.

    Examples
    --------
    >>> gathered, offsets = gather(np.array([1, 0, -1, 1]), np.array([4, 5, 6, 7]), 3)
    >>> gathered.tolist(), offsets.tolist()
    ([5, 4, 7], [0, 1, 3, 3])
    """
    words = values.view(INT64)

    def move(first: int, last: int, places: IntArray, out: IntArray) -> None:
        grouping.move_words(codes[first:last], words[first:last], places, out)

    moved, offsets = _moved(codes, size, threads, move)
    return moved.view(values.dtype), offsets


def order(codes: IntArray, size: int, threads: int = 1) -> tuple[IntArray, IntArray]:
    """Number rows in the order of their groups: `gather` of 0, 1, ..., n - 1."""

    def move(first: int, last: int, places: IntArray, out: IntArray) -> None:
        grouping.move_rows(codes[first:last], first, places, out)

    return _moved(codes, size, threads, move)


def _moved(
    codes: IntArray, size: int, threads: int, move: Callable[[int, int, IntArray, IntArray], Any]
) -> tuple[IntArray, IntArray]:
    # A range takes as long as its counts are, too.
    parts = max(1, min(threads, codes.size // max(LEAST, size)))
    edges = [codes.size * i // parts for i in range(parts + 1)]
    places = np.zeros((parts, size + 1), np.int64)
    offsets = np.empty(size + 1, np.int64)
    out = np.empty(codes.size, np.int64)

    def count_part(first: int, last: int) -> int:
        for i in range(first, last):
            grouping.count_codes(codes[edges[i] : edges[i + 1]], places[i])
        return 0

    def move_part(first: int, last: int) -> int:
        for i in range(first, last):
            move(edges[i], edges[i + 1], places[i], out)
        return 0

    in_parts(count_part, parts, parts)
    grouping.start_codes(places.reshape(-1), offsets)
    in_parts(move_part, parts, parts)
    return out[: offsets[size]], offsets
