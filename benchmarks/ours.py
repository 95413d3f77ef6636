"""fastexp's own calls."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import fastexp as fx

from .workload import DRAW_SEED, EPSILON, SENSITIVITY, Call, Work


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


def draw(work: Work, **how: Any) -> Call:
    """One simulated draw of each row; the generator moves on, so that every call differs."""
    return _drawing(fx.Exponential(EPSILON, SENSITIVITY), work, threads=work.threads, **how)


def draw_one_thread(work: Work) -> Call:
    """The same with one thread."""
    return _drawing(fx.Exponential(EPSILON, SENSITIVITY), work)


def draw_gumbel(work: Work) -> Call:
    """The same by the greatest Gumbel key."""
    return draw(work, method="gumbel")


def draw_many(work: Work) -> Call:
    """`size` simulated draws of each row."""
    return _drawing(fx.Exponential(EPSILON, SENSITIVITY), work, size=work.size)


def release_rows(work: Work) -> Call:
    """One release of a matrix, a selection a row."""
    return partial(fx.Exponential(EPSILON, SENSITIVITY).release, work.utilities)


def top_k(work: Work) -> Call:
    """One simulated top-k: the greatest Gumbel keys at once."""
    return _drawing(_top_k(work), work)


def top_k_release(work: Work) -> Call:
    """One released top-k: peeled, one exact selection after the other."""
    return partial(_top_k(work).release, work.utilities)


def _top_k(work: Work) -> Any:
    return fx.TopK(work.chosen, EPSILON, SENSITIVITY)


def flip_release(work: Work) -> Call:
    """One release of permute-and-flip."""
    return partial(fx.PermuteAndFlip(EPSILON, SENSITIVITY).release, work.utilities)


def flip_draw(work: Work) -> Call:
    """One simulated draw of permute-and-flip."""
    return _drawing(fx.PermuteAndFlip(EPSILON, SENSITIVITY), work)


def _drawing(mechanism: Any, work: Work, **how: Any) -> Call:
    rng = np.random.default_rng(DRAW_SEED)
    return partial(mechanism.sample, work.utilities, rng=rng, **how)


def response_release(work: Work) -> Call:
    """One release of a response to each bit."""
    return partial(fx.RandomizedResponse(EPSILON).release, work.bits)


def response_draw(work: Work) -> Call:
    """One simulated response to each bit."""
    rng = np.random.default_rng(DRAW_SEED)
    return partial(fx.RandomizedResponse(EPSILON).sample, work.bits, rng=rng)


def log_sum_exp(work: Work) -> Call:
    """The laws' log-sum-exp, called as `FiniteLaw` does, of 1 * u."""
    from fastexp.kernels.bits.heights import BLOCK, FLOAT
    from fastexp.kernels.bits.logspace import log_sum_exp as kernel

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
