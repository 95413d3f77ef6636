"""Noise: every line of its kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.doors.kernels import NOISE_BLOCK as BLOCK
from tests.doors.numbers import noise as _noise

NAMES = np.array([3, 1], np.uint64)


def noise(digest: Any) -> None:
    """Draws with every noise: some, an odd number, several blocks, one data set and two."""
    centres, scales, limits = np.array([0.5, -1.0]), np.array([1.5, 0.0]), (-30.0, 40.0)
    for kind in _noise.KINDS:
        for sigma, size in ((0.4, None), (0.4, 7), (1.2, BLOCK + 1)):
            how = centres, scales, limits, 5, NAMES, size, 1
            digest.update(_noise.simulate((kind, sigma), *how).tobytes())
