"""Utilities from records, or from counts with labels: how often each candidate occurs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._parameters.foreign import attribute, has, is_pandas, readable
from ._typing import IntArray
from .errors import InvalidRecords
from .grouped.labels import read_labels

NOT_COUNTS = (
    "counts by label must be integers >= 0 that add up to less than 2**63 (a dict of columns is a "
    "frame, which fastexp.Query takes)"
)


def counts(data: Any, candidates: tuple[Any, ...]) -> IntArray:
    """Return the count of each candidate, int64 of shape (k,); other records are not counted.

    One record changes one count by 1: the sensitivity is 1, and counts are monotonic under
    add-remove. `data` are records, or counts by label (`has_labels`): the count of a missing label
    is 0, and the counts of a repeated label are added.
    """
    if not has_labels(data, candidates):
        number, other = read_labels(data, candidates)
        return np.bincount(number[~other], minlength=len(candidates)).astype(np.int64)
    places, out = {c: i for i, c in enumerate(candidates)}, [0] * len(candidates)
    try:
        for label, count in data.items():
            if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
                out[0] = 1 << 63
            elif label in places:
                out[places[label]] += int(count)
    except Exception:  # raised by a foreign object; its message may contain data
        out[0] = 1 << 63
    if sum(out) >= 1 << 63:
        raise InvalidRecords(NOT_COUNTS)
    return np.array(out, np.int64)


def has_labels(data: Any, candidates: tuple[Any, ...]) -> bool:
    """Return whether data are counts by label, by their type alone; otherwise they are records.

    A mapping is never a sequence of records. A pandas series may be one, whatever its index is. It
    is one of counts only if all candidates are text, its values are integers, and its index is not
    of integers, as its values then cannot be candidates.
    """
    readable(data, "records")
    if isinstance(data, (Mapping, list, tuple, np.ndarray)):
        return isinstance(data, Mapping)
    if not (is_pandas(data) and has(data, "items", "index")) or {type(c) for c in candidates} != {
        str
    }:
        return False
    kinds = [attribute(attribute(x, "dtype"), "kind") for x in (data, attribute(data, "index"))]
    return kinds[0] in ("i", "u") and kinds[1] not in ("i", "u", None)
