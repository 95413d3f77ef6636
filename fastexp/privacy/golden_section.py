"""Where golden sections look: the search for the least or greatest value of one valley or peak."""

from __future__ import annotations

import math

GOLDEN = (math.sqrt(5) - 1) / 2


def cuts(low: float, high: float) -> tuple[float, float]:
    """The two points between which a range is cut next, the lower one first.

    Without what lies beyond one of them, the other one is again a cut.
    """
    return high - GOLDEN * (high - low), low + GOLDEN * (high - low)
