"""Records of groups as numbers: arrays, series, Arrow columns, files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import _arrow, _intake
from .._key_columns import Chunks
from .._typing import AnyArray, IntArray
from ..errors import ParameterTypeError

FLAT = (
    "records must be a one-dimensional array or column of integers or floats (float64 at most), a "
    "column of lists of them, a matrix, a path to a .npy file or a callable that yields arrays"
)


NUMBERS = ("integers", "floats")  # kinds of columns
NULLS = "n"  # the format of a column without a type


class Items(NamedTuple):
    """What lists hold: numbers, and which of them are missing (None: none)."""

    values: AnyArray
    missing: AnyArray | None


def read_numbers(records: Any, nan: str) -> tuple[AnyArray, AnyArray | None]:
    """Float64 or int64 records, and which are missing, as far as it is known.

    Where nan is "raise", NaN is left to be found later.
    """
    if isinstance(records, (str, Path)):
        records = _intake.from_file(records)
    if isinstance(records, Chunks):
        raise ParameterTypeError(FLAT)
    if callable(records):
        parts = list(_intake.arrays(records, "raise"))
        records = np.concatenate(parts) if parts else np.zeros(0)
    found = records if isinstance(records, Items) else _items(records)
    if found is None:
        if _intake.weighted(records):
            raise ParameterTypeError(FLAT)
        return _intake.apart(records, nan)
    values, missing = _intake.apart(found.values, nan)
    if found.missing is not None:
        missing = found.missing if missing is None else missing | found.missing
    return values, missing


def _items(records: Any) -> Items | None:
    """An Arrow column; None for what `_intake.py` knows better."""
    if hasattr(records, "isna") or not _arrow.is_arrow(records):
        return None
    return joined(_arrow.column(records, "records"))


def joined(chunks: list[_arrow.Column]) -> Items:
    """Chunks of numbers, one after the other."""
    return _all([_items_of(chunk, 0, chunk.length) for chunk in chunks])


def of_lists(chunks: list[_arrow.Column]) -> tuple[Items | Chunks, IntArray]:
    """What chunks of lists hold, numbers or labels, and offsets; a missing list is empty."""
    found, lengths = [], [np.zeros(1, np.int64)]
    for chunk in chunks:
        if chunk.offsets is None or chunk.child is None:
            raise ParameterTypeError(FLAT)
        sizes: AnyArray = np.diff(chunk.offsets.astype(np.int64, copy=False))
        child = chunk.child
        if chunk.valid is not None and bool((sizes[~chunk.valid] > 0).any()):
            there = np.repeat(chunk.valid, sizes)  # a missing list may hold items all the same
            child, sizes = _some(child, there), np.where(chunk.valid, sizes, 0)
        found.append(child)
        lengths.append(sizes)
    offsets = np.cumsum(np.concatenate(lengths))
    if all(child.kind in NUMBERS or child.format == NULLS for child in found):
        return joined(found), offsets
    return Chunks(found), offsets


def _some(column: _arrow.Column, kept: AnyArray) -> _arrow.Column:
    """Some rows of a column of numbers or labels."""
    values, valid, offsets = column.values, column.valid, column.offsets
    if offsets is not None and values is not None:  # texts: bytes of those that are kept
        lengths = np.diff(offsets)
        values = values[int(offsets[0]) : int(offsets[-1])][np.repeat(kept, lengths)]
        offsets = np.concatenate([[0], np.cumsum(lengths[kept])])
    elif values is not None:
        values = values[kept]
    size, valid = int(kept.sum()), None if valid is None else valid[kept]
    return replace(column, values=values, valid=valid, offsets=offsets, length=size)


def _items_of(column: _arrow.Column, first: int, last: int) -> Items:
    """Some rows of a column of numbers, or of nothing but nulls."""
    if column.format == NULLS:
        return Items(np.zeros(last - first), np.ones(last - first, bool))
    if column.values is None or column.kind not in NUMBERS:
        raise ParameterTypeError(FLAT)
    gaps = None if column.valid is None else ~column.valid[first:last]
    return Items(column.values[first:last], gaps)


def _all(items: list[Items]) -> Items:
    """One after the other; without a copy if there is one."""
    if len(items) == 1:
        return items[0]
    known = any(item.missing is not None for item in items)
    none = [
        np.zeros(item.values.size, bool) if item.missing is None else item.missing for item in items
    ]
    values = np.concatenate([item.values for item in items])
    return Items(values, np.concatenate(none) if known else None)
