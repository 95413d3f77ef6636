"""Words of groups 0, 1, 2, ... of a simulation, by kernel and by the twin; for tests."""

from __future__ import annotations

import numpy as np

from tests.doors.grouped import SimulatedWords
from tests.doors.randomness import GROUP
from tests.twins import selection


class Numbered:
    """Names 0, 1, ..., size - 1."""

    def __init__(self, size: int) -> None:
        self.size = size

    def streams(self):
        return np.full(self.size, GROUP, np.uint64), np.arange(self.size, dtype=np.uint64)


class GivenWords(SimulatedWords):
    """Simulated words of numbered groups under a given key."""

    def __init__(self, key, size):
        super().__init__(np.array(key, np.uint64), Numbered(size))
        self.key = key

    def stream(self, group: int) -> tuple[int, int]:
        """The twin's stream of a group."""
        return selection.derive_stream(self.key, GROUP, group)


class SortedWords(GivenWords):
    """The same, but as if they depended on the records: then all of them are sorted."""

    keyed = True
