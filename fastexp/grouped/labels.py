"""Records of groups as numbers of public candidates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _arrow, _data
from .._foreign import attribute, has, readable
from .._group_keys import codes_of, names_of
from .._number_columns import Numbers, read
from .._typing import AnyArray, IntArray
from ..errors import FastexpError


def read_labels(records: Any, candidates: tuple[Any, ...]) -> tuple[IntArray, AnyArray]:
    """The number of the candidate that each record equals, and which equal none."""
    readable(records, "records")
    if isinstance(records, Numbers):  # of a column of lists
        codes, _ = read_labels(records.values, candidates)
        codes = _without(codes, records.missing)
        return codes, codes < 0
    listed = isinstance(records, (list, tuple))  # Python compares its own objects fastest
    found = None if listed else _by_name(records, candidates)
    if found is None:
        found = _by_value(records, candidates)
    return found, found < 0


def _by_name(records: Any, candidates: tuple[Any, ...]) -> IntArray | None:
    """For candidates that are all integers, or all text, and records of that type."""
    kinds = {type(c) for c in candidates}
    if kinds not in ({int}, {str}):
        return None
    try:
        return codes_of(records, names_of(list(candidates), "candidates"), "records")
    except FastexpError:  # other types of records may equal them all the same: 1.0 and 1
        return None


def _by_value(records: Any, candidates: tuple[Any, ...]) -> IntArray:
    """As Python compares them."""
    text = all(isinstance(c, (str, bytes)) for c in candidates)
    numeric = all(isinstance(c, (int, float)) for c in candidates)
    number = {c: i for i, c in enumerate(candidates)}
    masked = isinstance(records, np.ma.MaskedArray)
    if numeric and (masked or (_arrow.is_arrow(records) and not isinstance(records, Iterable))):
        numbers = read(records, "records")
        if numbers is not None:
            return _without(_by_value(numbers.values, candidates), numbers.missing)
    if has(records, "isna") and attribute(attribute(records, "dtype"), "kind") == "f":
        numbers = read(records, "records")  # of pandas, with its gaps
        if numbers is not None:
            return _without(_by_value(numbers.values, candidates), numbers.missing)
    labels = _data.records(records, text, numeric)
    if isinstance(labels, np.ndarray):
        values, place = np.unique(labels, return_inverse=True)
        return np.array([number.get(v, -1) for v in values.tolist()], np.int64)[place]
    try:
        listed = [number.get(label, -1) for label in labels]
    except Exception:  # unhashable, or a hash that fails: the message may hold the record
        listed = None
    if listed is None:
        raise _data.uncountable()
    return np.array(listed, np.int64)


def _without(codes: IntArray, missing: AnyArray | None) -> IntArray:
    """The same, of no candidate where the record is missing."""
    return codes if missing is None else np.where(missing, -1, codes)
