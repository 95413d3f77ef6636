"""Rows in the order of their groups: values, or the numbers of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
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
    """Put values into the order of their groups, below `size`; those of group -1 are left out.

    Group g has the values from offsets[g] to offsets[g + 1], in the order of rows. Two passes over
    the codes, one over the values; 8 bytes a group and thread of scratch.
    """
    edges = _edges(codes.size, size, threads)
    parts = [(codes[a:b], values[a:b]) for a, b in pairwise(edges)]
    return gather_parts(parts, size)


def gather_parts(
    parts: Sequence[tuple[IntArray, AnyArray]], size: int
) -> tuple[AnyArray, IntArray]:
    """The same of rows in parts, each worked on by a thread: codes and values of one type."""

    def move(i: int, places: IntArray, out: IntArray) -> None:
        codes, values = parts[i]
        grouping.move_words(codes, values.view(INT64), places, out)

    moved, offsets = _moved([codes for codes, _ in parts], size, move)
    return moved.view(parts[0][1].dtype), offsets


def order(codes: IntArray, size: int, threads: int = 1) -> tuple[IntArray, IntArray]:
    """Number rows in the order of their groups: `gather` of 0, 1, ..., n - 1."""
    edges = _edges(codes.size, size, threads)

    def move(i: int, places: IntArray, out: IntArray) -> None:
        grouping.move_rows(codes[edges[i] : edges[i + 1]], edges[i], places, out)

    return _moved([codes[a:b] for a, b in pairwise(edges)], size, move)


def differing(columns: Sequence[IntArray]) -> AnyArray:
    """Whether a row differs from the one before in some column."""
    new = np.ones(columns[0].size, np.bool_)
    new[1:] = False
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def _edges(rows: int, size: int, threads: int) -> list[int]:
    # A range takes as long as its counts are, too.
    parts = max(1, min(threads, rows // max(LEAST, size)))
    return [rows * i // parts for i in range(parts + 1)]


def _moved(
    parts: list[IntArray], size: int, move: Callable[[int, IntArray, IntArray], Any]
) -> tuple[IntArray, IntArray]:
    places = np.zeros((len(parts), size + 1), np.int64)
    offsets = np.empty(size + 1, np.int64)
    out = np.empty(sum(codes.size for codes in parts), np.int64)

    def count_part(first: int, last: int) -> int:
        for i in range(first, last):
            grouping.count_codes(parts[i], places[i])
        return 0

    def move_part(first: int, last: int) -> int:
        for i in range(first, last):
            move(i, places[i], out)
        return 0

    in_parts(count_part, len(parts), len(parts))
    grouping.start_codes(places.reshape(-1), offsets)
    in_parts(move_part, len(parts), len(parts))
    return out[: offsets[size]], offsets
