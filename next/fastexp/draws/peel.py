"""Draws of several candidates in order.

Each round is a draw among the candidates that are left. In simulations, the greatest keys of Gumbel
noise follow the same law within rounding errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.segments import Segments
from ..kernels.gumbel import CHUNK, draw_gumbel
from ..kernels.jit import BLOCK
from ..types import Words
from .choose import Weighting, check, peel
from .words import some_seeds


def draw(
    rows: Segments, weighting: Weighting, seeds: Words, size: int | None, rounds: int, method: str
) -> Any:
    """Return indices, int64 of shape (rounds,), (size, rounds), (rows, rounds) or all three."""
    out = np.empty((rows.rows or 1, size or 1, rounds), np.int64)
    matrix = rows.values.reshape(len(out), -1)
    k = matrix.shape[1]
    if method == "gumbel":
        work = np.empty(CHUNK + rounds + -(-k // BLOCK), np.int64)
        base, rate, into = weighting.base, weighting.rate_log2, out.reshape(-1)
        check(draw_gumbel(rows.values, rows.kind, base, rate, k, seeds, rounds, into, work))
    else:
        for r, t in np.ndindex(out.shape[:2]):
            own = some_seeds(seeds, slice(r, r + 1))
            own[2:3] += np.uint64(t << 8)  # a draw has a tag, and so a stream, of its own
            out[r, t] = peel(Segments(matrix[r], rows.kind), weighting.rate, own, rounds)
    axes = [n for n in (rows.rows, size) if n is not None]
    return out.reshape([*axes, rounds])
