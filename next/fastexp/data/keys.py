"""Labels of candidates among records."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Integers


def count_labels(records: Any, candidates: tuple[Any, ...]) -> Integers:
    """Return how many records equal each candidate, in value and type."""
    labels = records.tolist() if isinstance(records, np.ndarray) else list(records)
    return np.array(
        [sum(type(x) is type(label) and x == label for x in labels) for label in candidates]
    )
