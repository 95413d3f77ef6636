"""Medians with noise for their smooth sensitivity: for simulations, in doubles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.segments import Segments
from ..errors import InvalidRecords
from ..kernels import smooth as kernels
from ..kernels.bits import LOG2E
from ..types import Floats, Neighbors, Words
from .words import pairs


def sensitivities(
    data: Segments, beta: float, bounds: Any, neighbors: Neighbors
) -> tuple[Floats, Floats]:
    """Return the lower median and its smooth sensitivity, of each data set."""
    records = np.sort(data.values.reshape(data.rows or 1, -1))
    (rows, n), (low, high) = records.shape, map(float, bounds)
    if n == 0 or np.isnan(records[:, -1]).any():
        raise InvalidRecords("records must not be empty or missing (NaN)")
    ranks, weights = np.pad(records.clip(low, high), ((0, 0), (1, 1))), np.empty(n + 2)
    ranks[:, 0], ranks[:, -1] = low, high
    kernels.fill_powers(beta * LOG2E, weights)
    middle = (n + 1) // 2
    if neighbors == "replace":
        best, out = np.empty(middle + 3, np.int64), np.empty(rows)
        for r, row in enumerate(ranks):
            left, right = row[middle] - row[middle::-1], row[middle:] - row[middle]
            out[r] = kernels.greatest_window(left, right, weights, best)
    else:
        k = np.arange(n + 2)
        i = np.maximum(n - k, 0) // 2
        spreads = ranks[:, np.minimum(i + k + 1, n + 1)] - ranks[:, i]
        spreads[:, n] = np.maximum(ranks[:, n] - low, high - ranks[:, 1])  # both only at n + 1
        out = (spreads * weights).max(1)
    return ranks[:, middle], out


def draw(
    centres: Floats, scales: Floats, bounds: Any, is_cauchy: bool, seeds: Words, size: int | None
) -> Floats:
    """Return centre + scale * noise of each row, clamped."""
    words = pairs(seeds, centres.size, size or 1)
    noise = np.empty(words.size // 2)
    kernels.fill_noise(words, is_cauchy, noise)
    rows = noise.reshape(centres.size, -1)
    out: Floats = np.clip(centres[:, None] + scales[:, None] * rows, *bounds)
    return out
