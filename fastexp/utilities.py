"""Records, or counts with labels, to utilities: how often each candidate occurs."""

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
    """How often each candidate occurs, int64 of shape (k,); what is not a candidate counts nowhere.

    One record moves one count by one: sensitivity 1, monotonic under add-remove. `data` are
    records, or counts by label (`has_labels`): 0 where one is missing; of one that is twice, both.
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
    except Exception:  # of a foreign object; its message may hold data
        out[0] = 1 << 63
    if sum(out) >= 1 << 63:
        raise InvalidRecords(NOT_COUNTS)
    return np.array(out, np.int64)


def has_labels(data: Any, candidates: tuple[Any, ...]) -> bool:
    """Whether these are counts by label, told by type alone; if not, they are records.

    A mapping is never a sequence of records. A series of pandas may be one, whatever its index
    is; only where all candidates are text, its values integers and its index is not, its
    values cannot be candidates.
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
