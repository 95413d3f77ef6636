"""A column of lists as what they hold, one after the other, and where each list begins and ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._arrow import arrow
from .._typing import AnyArray, IntArray
from ..errors import ParameterTypeError
from . import arrays
from .number_columns import NULLS, Numbers, joined


def of_lists(chunks: list[arrow.Column]) -> tuple[Numbers | arrow.Chunks, IntArray]:
    """What chunks of lists hold, numbers or labels, and offsets; a missing list is empty."""
    items, lengths = [], [np.zeros(1, np.int64)]
    for chunk in chunks:
        if chunk.offsets is None or chunk.child is None:
            raise ParameterTypeError(arrays.FLAT)
        sizes: AnyArray = np.diff(chunk.offsets)
        child = chunk.child
        if chunk.valid is not None and bool((sizes[~chunk.valid] > 0).any()):
            there = np.repeat(chunk.valid, sizes)  # a missing list may still hold items
            child, sizes = _some(child, there), np.where(chunk.valid, sizes, 0)
        items.append(child)
        lengths.append(sizes)
    offsets = np.cumsum(np.concatenate(lengths))
    if all(child.kind in ("integers", "floats") or child.format == NULLS for child in items):
        return joined(items, "records"), offsets
    return arrow.Chunks(items), offsets


def _some(column: arrow.Column, chosen: AnyArray) -> arrow.Column:
    """Some rows of a column of numbers or labels."""
    values, valid, begins, ends = column.values, column.valid, column.offsets, column.ends
    if begins is not None and ends is not None:  # texts
        begins, ends = begins[chosen], ends[chosen]
    elif values is not None:
        values = values[chosen]
    size, valid = int(chosen.sum()), None if valid is None else valid[chosen]
    return replace(column, values=values, valid=valid, offsets=begins, ends=ends, length=size)
