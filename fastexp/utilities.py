"""Records to utilities. So far: how often each candidate occurs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._typing import IntArray
from .grouped.labels import read_labels


def counts(records: Any, candidates: tuple[Any, ...]) -> IntArray:
    """How many records equal each candidate, int64 of shape (k,); others count nowhere.

    One record moves one count by one: sensitivity 1, monotonic under add-remove.
    """
    number, other = read_labels(records, candidates)
    return np.bincount(number[~other], minlength=len(candidates)).astype(np.int64)
