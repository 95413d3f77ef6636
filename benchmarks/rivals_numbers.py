"""Peers for a private median.

`ind_exp` and `window` are the exponential mechanism of Smith (2011) on the gaps between records,
in floating point: gap i of n records has weight length * exp(-epsilon * |i - n/2|), and the
answer is uniform in the gap drawn (which leaks records by its low bits).
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from .workload import DRAW_SEED, Call, FloatArray
from .workload_numbers import CENTER, NumberWork

CANDIDATES = 1_001
UNDERFLOW = 746.0  # exp of minus this is 0 in float64


def clamped(records: FloatArray, bounds: tuple[float, float], knots: FloatArray) -> FloatArray:
    """The records in order between the bounds, in a given array."""
    inner = knots[1:-1]
    np.copyto(inner, records)
    inner.sort()  # then clipping has few values to change, and leaves them sorted
    np.clip(inner, *bounds, out=inner)
    knots[0], knots[-1] = bounds
    return knots


def ind_exp(work: NumberWork) -> Call:
    """All gaps race with log weights, as in Google's dp_multiq; its array is reused."""
    x, rng, knots = work.records, np.random.default_rng(DRAW_SEED), np.empty(work.k + 2)
    ranks = -work.epsilon * np.abs(np.arange(work.k + 1) - work.k / 2)  # without a look at x

    def call() -> float:
        gaps = np.diff(clamped(x, work.bounds, knots))
        with np.errstate(divide="ignore"):
            weights = np.log(gaps)
        weights += ranks
        times = np.log(rng.standard_exponential(gaps.size))
        i = int(np.argmin(np.subtract(times, weights, out=times)))
        return float(rng.uniform(knots[i], knots[i + 1]))

    return call


def window(work: NumberWork) -> Call:
    """Tuned by hand: weights of the gaps only where they are above 0 in float64.

    These are found by a partition, and only they are sorted; the same draws as with all gaps.
    Where records are so equal that no weight in the window is above 0, it would fail.
    """
    x, rng, buffer = work.records, np.random.default_rng(DRAW_SEED), np.empty(work.k)
    (low, high), n = work.bounds, work.k
    reach = ceil(UNDERFLOW / work.epsilon)
    first, last = max(n // 2 - reach, 0), min(n // 2 + reach, n)  # records first, ..., last - 1

    def call() -> float:
        np.copyto(buffer, x)
        if first > 0:
            buffer.partition(first)
        if last < n:
            buffer[first:].partition(last - first)
        knots = buffer[first:last]
        knots.sort()
        knots = np.clip(knots, low, high)
        start = first + 1
        if first == 0:
            knots, start = np.concatenate([[low], knots]), 0
        if last == n:
            knots = np.append(knots, high)
        ranks = np.abs(np.arange(start, start + knots.size - 1) - n / 2)
        sums = np.cumsum(np.diff(knots) * np.exp(-work.epsilon * ranks))
        i = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
        return float(rng.uniform(knots[i], knots[i + 1]))

    return call


def candidates(work: NumberWork) -> FloatArray:
    """The even candidates that OpenDP chooses from."""
    return np.linspace(*work.bounds, CANDIDATES)


def opendp(work: NumberWork) -> Call:
    """OpenDP's private quantile by the exponential mechanism, on candidates."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    mechanism = dp.m.make_private_quantile(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.symmetric_distance(),
        dp.zero_concentrated_divergence(),
        candidates=candidates(work).tolist(),
        alpha=0.5,
        scale=1.0 / work.epsilon,
    )
    x = work.records
    return lambda: mechanism(x)


def diffprivlib(work: NumberWork) -> Call:
    """diffprivlib's median: the same gaps, at half the rate that its epsilon allows."""
    from diffprivlib.tools import median

    def call() -> Any:
        return median(work.records, epsilon=work.epsilon, bounds=work.bounds)

    return call


def laplace(work: NumberWork) -> Call:
    """NumPy's Laplace noise in floats: neither exact nor private (its low bits leak)."""
    rng = np.random.default_rng(DRAW_SEED)
    if work.size == 1:
        return lambda: rng.laplace(CENTER, 1.0 / work.epsilon)
    return lambda: rng.laplace(CENTER, 1.0 / work.epsilon, work.size)


def opendp_laplace(work: NumberWork) -> Call:
    """OpenDP's exact Laplace noise, one call."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.atom_domain(T=float, nan=False)
    mechanism = dp.m.make_laplace(domain, dp.absolute_distance(T=float), 1.0 / work.epsilon)
    return lambda: mechanism(CENTER)
