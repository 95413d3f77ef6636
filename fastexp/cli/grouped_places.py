"""Records on their way to the places of their groups, which were counted before."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, IntArray
from ..grouped.segments import Segments
from ..kernels import grouping
from .errors import Failure

DType = np.dtype[Any]
WORD = np.dtype(np.int64)
CHANGED = "FILE changed while it was read"


class Places:
    """Room for the records of some groups.

    Parameters
    ----------
    counts : ndarray of int64
        How many records each group has.
    """

    def __init__(self, counts: IntArray) -> None:
        self._offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        self._places = self._offsets.copy()
        self._out = np.empty(int(self._offsets[-1]) + 1, np.int64)

    def add(self, codes: IntArray, values: AnyArray) -> None:
        """Move some; more than were counted would lie over others'."""
        number = np.bincount(codes, minlength=self._offsets.size - 1)
        if bool((self._places[:-1] + number > self._offsets[1:]).any()):
            raise Failure(CHANGED)
        words = np.ascontiguousarray(values).view(WORD)
        grouping.move_words(np.ascontiguousarray(codes), words, self._places, self._out)

    def segments(self, dtype: DType) -> Segments:
        """All of them."""
        if not np.array_equal(self._places[:-1], self._offsets[1:]):
            raise Failure(CHANGED)
        return Segments(self._out[:-1].view(dtype), self._offsets)
