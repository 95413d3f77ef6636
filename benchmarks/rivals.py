"""Peers: each adapter prepares its inputs, outside the clock, and returns the call to time.

diffprivlib's list is made beforehand, which favours it: users have arrays. NumPy and SciPy
draw from PCG64; diffprivlib and OpenDP from the operating system, as a release of fastexp.
"""

from __future__ import annotations

import numpy as np

from .workload import DRAW_SEED, EPSILON, RATE, SENSITIVITY, Call, FloatArray, Work

BLOCK = 16_384  # values: a reused buffer of 128 KiB stays in the L2 cache


def weights(u: FloatArray) -> FloatArray:
    """exp(c * (u - max u)), as most people write it."""
    made: FloatArray = np.exp(RATE * (u - u.max()))
    return made


def numpy_gumbel(work: Work) -> Call:
    """The Gumbel-max trick."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    return lambda: int(np.argmax(RATE * u + rng.gumbel(size=work.k)))


def numpy_cumsum(work: Work) -> Call:
    """Inverse of the cumulated weights, one draw."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)

    def call() -> int:
        sums = np.cumsum(weights(u))
        return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))

    return call


def numpy_choice(work: Work) -> Call:
    """`Generator.choice` with probabilities, one draw."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)

    def call() -> int:
        p = weights(u)
        return int(rng.choice(work.k, p=p / p.sum()))

    return call


def numpy_blocked(work: Work) -> Call:
    """NumPy tuned by hand: block sums from a reused buffer, a cumsum in one block only."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    block = min(BLOCK, -(-work.k // 3))  # three blocks at toy size
    count = -(-work.k // block)
    buffer, sums = np.empty(block), np.empty(count)

    def fill(b: int, top: float) -> FloatArray:
        part = u[b * block : (b + 1) * block]
        out = buffer[: part.size]
        np.subtract(part, top, out=out)
        np.multiply(out, RATE, out=out)
        return np.exp(out, out=out)

    def call() -> int:
        top = float(u.max())
        for b in range(count):
            sums[b] = fill(b, top).sum()
        ends = np.cumsum(sums)
        r = rng.random() * ends[-1]
        b = min(int(np.searchsorted(ends, r, side="right")), count - 1)
        inside = np.cumsum(fill(b, top))
        found = np.searchsorted(inside, r - (ends[b] - sums[b]), side="right")
        return b * block + min(int(found), inside.size - 1)

    return call


def opendp(work: Work) -> Call:
    """OpenDP's exponential mechanism: noisy max under zero-concentrated divergence."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    mechanism = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.linf_distance(T=float),
        dp.zero_concentrated_divergence(),
        scale=1.0 / RATE,
    )
    u = work.utilities  # an array, which it converts some five times faster than a list
    return lambda: mechanism(u)


def diffprivlib(work: Work) -> Call:
    """diffprivlib's exponential mechanism; it takes the utilities when built."""
    from diffprivlib.mechanisms import Exponential

    u = work.listed
    return lambda: Exponential(epsilon=EPSILON, sensitivity=SENSITIVITY, utility=u).randomise()


def many_cumsum(work: Work) -> Call:
    """Inverse of the cumulated weights, many draws."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)

    def call() -> object:
        sums = np.cumsum(weights(u))
        return np.searchsorted(sums, rng.random(work.size) * sums[-1], side="right")

    return call


def many_choice(work: Work) -> Call:
    """`Generator.choice` with probabilities, many draws."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)

    def call() -> object:
        p = weights(u)
        return rng.choice(work.k, size=work.size, p=p / p.sum())

    return call


def scipy_alias_urn(work: Work) -> Call:
    """SciPy's alias urn, weights and set-up included; it normalises by itself."""
    from scipy.stats.sampling import DiscreteAliasUrn

    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    return lambda: DiscreteAliasUrn(weights(u), random_state=rng).rvs(work.size)


def scipy_logsumexp(work: Work) -> Call:
    """SciPy's log-sum-exp."""
    from scipy.special import logsumexp

    u = work.utilities
    return lambda: logsumexp(u)
