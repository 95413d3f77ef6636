"""The utilities of cells and their base, from distances and numbers of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import IN_I64, NOTHING, OUT_F64, OUT_I64, kernel, wide_vectors
from ..bits.logexp import LOG2E, log_one


@kernel(NOTHING(IN_I64, OUT_I64, OUT_F64, OUT_F64))
def base_fill(count: Any, key: Any, base: Any, log2_base: Any) -> None:
    """Turn keys into minus distances; fill the base and its logarithm from counts."""
    wide_vectors()
    for i in range(count.size):
        key[i] = -(key[i] >> 1)
        base[i] = np.float64(count[i])
    for i in range(count.size):
        log2_base[i] = log_one(base[i]) * LOG2E
