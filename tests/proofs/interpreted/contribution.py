"""What persons contribute: every line of its kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.doors.grouped import contribution as _contribution


def contribution(digest: Any) -> None:
    """Persons beyond each limit, and within both; words that are equal."""
    rng = np.random.default_rng(3)
    persons, codes = rng.integers(-1, 6, 150), rng.integers(-1, 5, 150)
    mapped, words = rng.integers(0, 4, 150), rng.integers(0, 2**64, (11, 4), dtype=np.uint64)
    for limits in ((2, 3), (9, 1), (1, 90), (90, 90)):
        most = _contribution.Limits(*limits)
        kept = _contribution.keep(codes, persons, words[:6], words[6:], mapped, most, bytes(32))
        digest.update(kept.tobytes())
    marks = np.array([3, 1, 1, 1, 2, 5, 4], np.uint64)
    _contribution.mark_smallest(marks, np.array([0, 5, 7]), 2, np.empty(5, np.uint64))
    assert marks.tolist() == [0, 1, 1, 0, 0, 1, 1]
