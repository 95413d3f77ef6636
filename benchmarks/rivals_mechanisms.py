"""Peers for other mechanisms: noisy maximum, top-k, permute-and-flip, randomised response."""

from __future__ import annotations

from math import exp

import numpy as np

from .workload import DRAW_SEED, EPSILON, RATE, SENSITIVITY, Call, FloatArray, Work


def race(work: Work) -> Call:
    """The least of exponential times over weights: the Gumbel-max trick with one log less."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    return lambda: int(np.argmin(rng.standard_exponential(work.k) / np.exp(RATE * (u - u.max()))))


def gumbel_top(work: Work) -> Call:
    """The greatest Gumbel keys by a partition, then in order."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    return lambda: greatest(work.rate * u + rng.gumbel(size=work.k), work.chosen)


def race_top(work: Work) -> Call:
    """The least times of an exponential race in the same way."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)

    def call() -> object:
        weights = np.exp(work.rate * (u - u.max()))
        return greatest(-rng.standard_exponential(work.k) / weights, work.chosen)

    return call


def greatest(keys: FloatArray, count: int) -> object:
    """The places of the greatest keys, the greatest first."""
    found = np.argpartition(keys, keys.size - count)[keys.size - count :]
    return found[np.argsort(-keys[found])]


def opendp_top(work: Work) -> Call:
    """OpenDP's top-k under zero-concentrated divergence, which has Gumbel noise."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measure = dp.zero_concentrated_divergence()
    inputs = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    mechanism = dp.m.make_noisy_top_k(*inputs, measure, k=work.chosen, scale=1.0 / work.rate)
    u = work.utilities
    return lambda: mechanism(u)


def opendp_flip(work: Work) -> Call:
    """OpenDP's noisy maximum under max-divergence: permute-and-flip's law."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    inputs = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    mechanism = dp.m.make_noisy_max(*inputs, dp.max_divergence(), scale=1.0 / RATE)
    u = work.utilities
    return lambda: mechanism(u)


def diffprivlib_flip(work: Work) -> Call:
    """diffprivlib's permute-and-flip; it takes the utilities when built."""
    from diffprivlib.mechanisms import PermuteAndFlip

    u = work.listed
    return lambda: PermuteAndFlip(epsilon=EPSILON, sensitivity=SENSITIVITY, utility=u).randomise()


def exponential_noise(work: Work) -> Call:
    """The greatest of utilities with exponential noise: permute-and-flip's law."""
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)
    return lambda: int(np.argmax(RATE * u + rng.standard_exponential(work.k)))


def flips(work: Work) -> Call:
    """Permute-and-flip by its definition, the order drawn as it is needed."""
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


def rejection(work: Work) -> Call:
    """One draw of the exponential mechanism by rejection. Its time depends on the utilities.

    It takes 1 / mean(weight) tries, here about ten; where one of k leads it takes about k.
    """
    u, rng = work.utilities, np.random.default_rng(DRAW_SEED)

    def call() -> int:
        top = float(u.max())
        while True:
            r = int(rng.random() * work.k)
            if rng.random() < exp(RATE * (float(u[r]) - top)):
                return r

    return call


def uniform_responses(work: Work) -> Call:
    """Randomised response by one double a bit."""
    bits, rng, p = work.bits, np.random.default_rng(DRAW_SEED), 1 / (1 + exp(EPSILON))
    return lambda: (rng.random(work.k) < p) ^ bits


def integer_responses(work: Work) -> Call:
    """Randomised response by 32 random bits a bit, so with a bias right to 2**-33."""
    bits, rng = work.bits, np.random.default_rng(DRAW_SEED)
    cut = np.uint32(round(2**32 / (1 + exp(EPSILON))))
    return lambda: (rng.integers(0, 1 << 32, work.k, dtype=np.uint32) < cut) ^ bits


def opendp_responses(work: Work) -> Call:
    """OpenDP's randomised response of a vector of bits; it takes and gives packed bytes."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain, metric = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    twice = 2 / (1 + exp(EPSILON))  # it flips with half of this
    mechanism = dp.m.make_randomized_response_bitvec(domain, metric, f=twice)
    packed = np.packbits(work.bits).tobytes()
    return lambda: mechanism(packed)
