"""Records of groups as numbers of public candidates."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _data
from .._group_keys import codes_of, names_of
from .._typing import AnyArray, IntArray
from ..errors import FastexpError


def read_labels(records: Any, candidates: tuple[Any, ...]) -> tuple[AnyArray, AnyArray | None]:
    """The number of the candidate that each record equals, and which equal none."""
    found = _by_name(records, candidates)
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
    labels = _data.records(records, text, numeric)
    if isinstance(labels, np.ndarray):
        labels = labels.tolist()
    number = {c: i for i, c in enumerate(candidates)}
    try:
        listed = [number.get(label, -1) for label in labels]
    except Exception:  # unhashable, or a hash that fails: the message may hold the record
        listed = None
    if listed is None:
        raise _data.uncountable()
    return np.array(listed, np.int64)
