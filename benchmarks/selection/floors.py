"""Floors: less than the whole work, done as fast as can be."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from ..harness.workload import Call
from .workload import RATE
from .workload import SelectionWork as Work


def exp_sum_pass(work: Work) -> Call:
    """A floor: one vectorised pass of our own exp over the utilities, and their sum."""
    return partial(_exp_sum(), work.utilities, RATE)


@cache
def _exp_sum() -> Any:
    import numba

    from fastexp._compiler.jit import wide_vectors
    from fastexp.kernels.bits.logexp import exp_scaled

    # The sum may be taken in any order, else it would not vectorise; exp_scaled has its
    # own flags.
    @numba.njit(error_model="numpy", fastmath={"reassoc"})
    def exp_sum(u: Any, rate: Any) -> Any:
        wide_vectors()
        total = 0.0
        for i in range(u.size):
            total += exp_scaled(rate * u[i], np.uint64(0))
        return total

    def call(u: Any, rate: float) -> float:
        with np.errstate(all="ignore"):  # interpreted, NumPy's scalars warn of wraps
            return float(exp_sum(u, rate))

    return exp_sum if hasattr(exp_sum, "py_func") else call


def numpy_exp(work: Work) -> Call:
    """A floor: `np.exp` into a given array."""
    out = np.empty(work.k)
    return partial(np.exp, work.utilities, out=out)


def numpy_max(work: Work) -> Call:
    """A floor of one selection: `np.max`, which reads every utility once."""
    return partial(np.max, work.utilities)
