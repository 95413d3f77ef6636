"""Peers for one selection or many: the exponential mechanism, permute-and-flip, top-k, bits.

The list for diffprivlib is made beforehand, which favours it, as users have arrays. NumPy and
SciPy draw from PCG64; diffprivlib and OpenDP draw from the operating system, as a release of
fastexp does.
"""

from __future__ import annotations

from functools import partial
from math import exp, log
from typing import Any

import numpy as np

from ..harness.workload import DRAW_SEED, EPSILON, SENSITIVITY, Call, FloatArray
from .workload import RATE
from .workload import SelectionWork as Work

BLOCK = 16_384  # values of a reused buffer of 128 KiB, which stays in the L2 cache


def weights(u: FloatArray, rate: float = RATE) -> FloatArray:
    """Return exp(rate * (u - max u)), as most people write it."""
    w: FloatArray = np.exp(rate * (u - u.max()))
    return w


def numpy_gumbel(work: Work) -> Call:
    """The Gumbel-max trick."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    return lambda: int(np.argmax(RATE * u + rng.gumbel(size=work.k)))


def numpy_race(work: Work) -> Call:
    """The least of exponential times over weights: the Gumbel-max trick with one log less."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    return lambda: int(np.argmin(rng.standard_exponential(work.k) / weights(u)))


def numpy_cumsum(work: Work) -> Call:
    """Invert the cumulative weights."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    size = work.size if work.size > 1 else None

    def call() -> object:
        sums = np.cumsum(weights(u))
        return np.searchsorted(sums, rng.random(size) * sums[-1], side="right")

    return call


def numpy_blocked(work: Work) -> Call:
    """Tuned by hand: block sums from a reused buffer, and a cumsum of one block only."""
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
        place = np.searchsorted(inside, r - (ends[b] - sums[b]), side="right")
        return b * block + min(int(place), inside.size - 1)

    return call


def numpy_rejection(work: Work) -> Call:
    """Draw once by rejection, in a time that depends on the utilities.

    It takes 1 / mean(weight) tries: here about ten, or about k if one of k candidates leads.
    """
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)

    def call() -> int:
        top = float(u.max())
        while True:
            r = int(rng.random() * work.k)
            if rng.random() < exp(RATE * (float(u[r]) - top)):
                return r

    return call


def scipy_alias_urn(work: Work) -> Call:
    """SciPy's alias urn, with the time of weights and set-up; it normalises weights itself."""
    from scipy.stats.sampling import DiscreteAliasUrn

    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    return lambda: DiscreteAliasUrn(weights(u), random_state=rng).rvs(work.size)


def opendp_noisy_max(*, exponential: bool = False) -> Any:
    """OpenDP's noisy maximum with Gumbel noise, or with exponential noise as permute-and-flip.

    It takes an array, which it converts some five times as fast as a list.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.linf_distance(T=float),
        dp.max_divergence() if exponential else dp.zero_concentrated_divergence(),
        scale=1.0 / RATE,
    )


def opendp(work: Work) -> Call:
    """OpenDP's exponential mechanism: noisy max under zero-concentrated divergence."""
    mechanism, u = opendp_noisy_max(), work.utilities
    return lambda: mechanism(u)


def diffprivlib(work: Work) -> Call:
    """diffprivlib's exponential mechanism; it takes the utilities when built."""
    from diffprivlib.mechanisms import Exponential

    u = work.utility_list
    return lambda: Exponential(epsilon=EPSILON, sensitivity=SENSITIVITY, utility=u).randomise()


# Top-k.


def race_top(work: Work) -> Call:
    """Find the least times of an exponential race by a partition, and sort them."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)

    def call() -> object:
        times = rng.standard_exponential(work.k) / weights(u, work.rate)
        places = np.argpartition(times, work.chosen)[: work.chosen]
        return places[np.argsort(times[places])]

    return call


def joint_slices(work: Work) -> Call:
    """Joint top-k by slices, in float64: a sort of all counts, and a Gumbel key for each slice."""
    rng, k = np.random.default_rng(DRAW_SEED), work.chosen
    slices = np.arange(int((k * log(work.k) + 49) / RATE))

    def call() -> object:
        order = np.argsort(-work.counts, kind="stable")
        behind = -work.counts[order]
        reach = np.array([behind.searchsorted(best + slices, "right") for best in behind[:k]])
        logs = np.log(reach - np.arange(k)[:, None]).sum(axis=0) - RATE * slices
        drawn = int((logs + rng.gumbel(size=slices.size)).argmax())
        for i, size in enumerate(reach[:, drawn].tolist()):
            other = int(rng.integers(i, size))
            order[[i, other]] = order[[other, i]]
        return order[:k]

    return call


def opendp_top(work: Work) -> Call:
    """OpenDP's top-k under zero-concentrated divergence, which has Gumbel noise."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measure = dp.zero_concentrated_divergence()
    domain, metric = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    scale = 1.0 / work.rate
    mechanism = dp.m.make_noisy_top_k(domain, metric, measure, k=work.chosen, scale=scale)
    u = work.utilities
    return lambda: mechanism(u)


# Permute-and-flip.


def opendp_flip(work: Work) -> Call:
    """OpenDP's noisy maximum under max-divergence."""
    mechanism, u = opendp_noisy_max(exponential=True), work.utilities
    return lambda: mechanism(u)


def diffprivlib_flip(work: Work) -> Call:
    """diffprivlib's permute-and-flip; it takes the utilities when built."""
    from diffprivlib.mechanisms import PermuteAndFlip

    u = work.utility_list
    return lambda: PermuteAndFlip(epsilon=EPSILON, sensitivity=SENSITIVITY, utility=u).randomise()


def exponential_noise(work: Work) -> Call:
    """Select the greatest utility with exponential noise, which has permute-and-flip's law."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    return lambda: int(np.argmax(RATE * u + rng.standard_exponential(work.k)))


def flips(work: Work) -> Call:
    """Permute-and-flip by its definition; the order is drawn as it is needed."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)

    def call() -> int:
        top, seen = float(u.max()), set[int]()
        while True:
            r = int(rng.random() * work.k)
            if r not in seen:
                if rng.random() < exp(RATE * (float(u[r]) - top)):
                    return r
                seen.add(r)

    return call


# Randomised response.

FLIP = 1 / (1 + exp(EPSILON))  # the probability that a bit is flipped


def integer_responses(work: Work) -> Call:
    """Randomised response by 32 random bits for each bit: the probability is right to 2**-33."""
    bits, rng, cut = work.bits, np.random.default_rng(DRAW_SEED), np.uint32(round(2**32 * FLIP))
    return lambda: (rng.integers(0, 1 << 32, work.k, dtype=np.uint32) < cut) ^ bits


def opendp_responses(work: Work) -> Call:
    """OpenDP's randomised response of a vector of bits, which are packed in bytes."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain, metric = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    twice = 2 * FLIP  # OpenDP flips a bit with half of this probability
    mechanism = dp.m.make_randomized_response_bitvec(domain, metric, f=twice)
    packed = np.packbits(work.bits).tobytes()
    return lambda: mechanism(packed)


# Floors: less than the whole work.


def numpy_exp(work: Work) -> Call:
    """Compute all weights by `np.exp`, into a given array."""
    return partial(np.exp, work.utilities, out=np.empty(work.k))


def numpy_max(work: Work) -> Call:
    """Call `np.max`, which reads every utility once."""
    return partial(np.max, work.utilities)
