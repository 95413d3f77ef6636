"""Records to utilities. So far: how often each candidate occurs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from . import _data
from ._typing import IntArray


def counts(records: Any, candidates: tuple[Any, ...]) -> IntArray:
    """How many records equal each candidate, int64 of shape (k,); others count nowhere.

    One record moves one count by one: sensitivity 1, monotonic under add-remove.
    """
    text = all(isinstance(c, (str, bytes)) for c in candidates)
    numeric = all(isinstance(c, (int, float)) for c in candidates)
    labels = _data.records(records, text, numeric)
    if isinstance(labels, np.ndarray):
        return _count_numbers(labels, candidates)
    try:
        found = Counter(labels)
        totals = [found.get(c, 0) for c in candidates]
    except Exception:  # unhashable, or a hash that fails: the message may hold the record
        totals = None
    if totals is None:  # outside the handler: no traceback leads to the data
        raise _data.uncountable()
    return np.array(totals, dtype=np.int64)


def _count_numbers(labels: Any, candidates: tuple[Any, ...]) -> IntArray:
    """Counts of numeric records, by one sort of them."""
    values, sizes = np.unique(labels, return_counts=True)
    found = dict(zip(values.tolist(), sizes.tolist(), strict=True))
    return np.array([found.get(c, 0) for c in candidates], dtype=np.int64)
