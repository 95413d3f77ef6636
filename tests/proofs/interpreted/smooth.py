"""Smooth sensitivity: every line of its kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.doors.numbers import smooth as _smooth


def smooth(digest: Any) -> None:
    """Few and many pairs of ranks, ties, single records; either relation, either median."""
    rng = np.random.default_rng(3)
    spread = np.sort(rng.normal(size=(2, 120)), axis=1)
    tied = np.sort(rng.integers(-2, 3, (2, 40)), axis=1)
    betas = np.array([0.01, 0.08, 0.5, 9.0, 900.0])
    for x in (spread, spread[:, :61], tied, tied[:, :1], np.full((1, 9), 7.0)):
        for neighbors in ("replace", "add-remove"):
            for midpoint in (False, True):
                args = x, betas, -2.5, 2.0, None, neighbors, midpoint
                digest.update(_smooth.rows(*args).tobytes())
    digest.update(_smooth.rows(spread, betas, -2.5, 2.0, 7).tobytes())
