"""Medians with noise for their smooth sensitivity: for simulations, in doubles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidRecords
from ..kernels import smooth as kernels
from ..kernels.bits import LOG2E
from ..types import Floats, Neighbors, Words
from .words import pairs


def sensitivities(
    rows: Floats, beta: float, bounds: Any, neighbors: Neighbors
) -> tuple[Floats, Floats]:
    """Return the lower median and its smooth sensitivity, of each sorted row."""
    (sets, n), (low, high) = rows.shape, map(float, bounds)
    if n == 0 or np.isnan(rows[:, -1]).any():
        raise InvalidRecords("records must not be empty or missing (NaN)")
    weights, out, middle = np.empty(n + 2), np.empty(sets), (n + 1) // 2
    kernels.fill_powers(beta * LOG2E, weights)
    centres: Floats = rows[:, middle - 1].clip(low, high)
    if neighbors == "replace":
        best, work = np.empty(n + 4, np.int64), np.empty(2 * n + 4)
        kernels.fill_windows(rows.reshape(-1), n, low, high, weights, best, work, out)
        return centres, out
    ranks = np.pad(rows.clip(low, high), ((0, 0), (1, 1)))
    ranks[:, 0], ranks[:, -1] = low, high
    k = np.arange(n + 2)
    i = np.maximum(n - k, 0) // 2
    spreads = ranks[:, np.minimum(i + k + 1, n + 1)] - ranks[:, i]
    spreads[:, n] = np.maximum(ranks[:, n] - low, high - ranks[:, 1])  # both only at n + 1
    return centres, (spreads * weights).max(1)


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
