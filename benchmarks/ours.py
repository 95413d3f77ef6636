"""fastexp's own calls, and the floors that they are compared with."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

import fastexp as fx

from .workload import EPSILON, RATE, SENSITIVITY, Call, Work

DRAW_SEED = 1


def release(work: Work) -> Call:
    """One release: checks, the operating system's randomness and the draw."""
    mechanism = fx.Exponential(EPSILON, SENSITIVITY)
    if work.threads == 1:
        return partial(mechanism.release, work.utilities)
    return partial(mechanism.release, work.utilities, threads=work.threads)


def release_one_thread(work: Work) -> Call:
    """A release with the default of one thread."""
    return partial(fx.Exponential(EPSILON, SENSITIVITY).release, work.utilities)


def sample(work: Work) -> Call:
    """Many seeded draws from utilities: scan, table and words included."""
    mechanism = fx.Exponential(EPSILON, SENSITIVITY)
    return partial(mechanism.sample, work.utilities, work.size, rng=DRAW_SEED)


def sample_from_law(work: Work) -> Call:
    """As `sample`, from a law that is there already."""
    law = fx.Exponential(EPSILON, SENSITIVITY).law(work.utilities)
    return partial(law.sample, work.size, rng=DRAW_SEED)


def log_sum_exp(work: Work) -> Call:
    """The laws' log-sum-exp, called as `FiniteLaw` does, of 1 * u."""
    from fastexp.kernels.heights import BLOCK, FLOAT
    from fastexp.kernels.logspace import log_sum_exp as kernel

    bits, no_base = work.utilities.view(np.uint64), np.empty(0)
    count = -(-work.k // BLOCK)

    def call() -> float:
        blocks, scratch = np.empty(3 * count + 2, dtype=np.int64), np.empty(2 * BLOCK)
        total = kernel(bits, FLOAT, no_base, 1.0, blocks, scratch)
        lift = blocks.view(np.float64)[3 * count + 1]
        return float(_value(int(blocks[3 * count])) - lift + np.log(total))

    return call


def _value(key: int) -> float:
    """The float64 of an order key: positive numbers have the sign bit turned on."""
    sign, mask = 1 << 63, (1 << 64) - 1
    word = key & mask
    bits = word ^ sign if word & sign else word ^ mask
    return float(np.array(bits, dtype=np.uint64).view(np.float64))


def exp_sum_pass(work: Work) -> Call:
    """A floor: one vectorised pass of our own exp over the utilities, and their sum."""
    return partial(_exp_sum(), work.utilities, RATE)


@cache
def _exp_sum() -> Any:
    import numba

    from fastexp._jit import wide_vectors
    from fastexp.kernels.logexp import exp_scaled

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
