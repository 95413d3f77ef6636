"""Noisy maximum for simulations: threads over rows (`kernels/select/gumbel.py` has the draws)."""

from __future__ import annotations

import numpy as np

from .._randomness.streams import some_seeds
from .._typing import IntArray, WordArray
from ..kernels.bits.heights import BLOCK
from ..kernels.select import gumbel as kernels
from .rows import Rows
from .scan import check

GUMBEL, EXPONENTIAL, LAPLACE = kernels.GUMBEL, kernels.EXPONENTIAL, kernels.LAPLACE


def noisy_max(
    rows: Rows,
    seeds: WordArray,
    size: int | None,
    threads: int,
    noise: int = GUMBEL,
    chosen: int = 1,
) -> IntArray:
    """The `chosen` greatest of each row and draw, shape (rows, draws, chosen).

    Rows with fewer candidates within 2**20 nats of their best are -1: keys are too coarse.
    """
    draws, k, w = 1 if size is None else size, rows.k, rows.weighting
    out = np.empty((rows.rows, draws, chosen), dtype=np.int64)

    def part(first: int, last: int) -> int:
        work = np.empty(BLOCK + 2 + -(-k // BLOCK) + 2 * chosen, dtype=np.int64)
        status: int = kernels.gumbel_draw(
            rows.some(first, last), rows.kind, w.log_base, w.rate_nats,
            some_seeds(seeds, first, last), noise, 0, chosen, out[first:last].reshape(-1), work,
        )  # fmt: skip
        return status

    if draws:
        check(min(rows.parts(part, rows.threads(threads))))
    return out


def gumbel_draws(rows: Rows, seeds: WordArray, size: int | None, threads: int) -> IntArray:
    """Draws of the exponential mechanism by its greatest Gumbel key, row after row."""
    return noisy_max(rows, seeds, size, threads).reshape(-1)
