"""What draws of noise share: two words for each, and the shape of results."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.envelope import fill_words
from ..types import Array, Words
from .words import system_words


def pairs(seeds: Words, rows: int, size: int | None) -> Words:
    """Return two words for each draw of each row."""
    draws = 1 if size is None else size
    if not seeds.size:
        return system_words(2 * rows * draws)
    words = np.empty(2 * rows * draws, np.uint64)
    fill_words(seeds, draws, words)
    return words


def shaped(draws: Array, rows: int | None, size: int | None) -> Any:
    """Return draws as a number, or of shape (size,), (rows,) or (rows, size)."""
    if rows is None:
        return draws.item() if size is None else draws.reshape(-1)
    return draws.reshape(rows) if size is None else draws.reshape(rows, size)
