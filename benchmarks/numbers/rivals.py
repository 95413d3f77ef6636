"""Peers and floors for a private median, and for noise.

`ind_exp` and `window` are the exponential mechanism of Smith (2011) on the gaps between records,
in floating point: gap i of n records has weight length * exp(-epsilon * |i - n/2|), and the
answer is uniform in the gap that is drawn (its low bits leak records).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np

from ..harness.workload import DRAW_SEED, Call, FloatArray
from .workload import CENTER, NumberWork

CANDIDATES = 1_001
UNDERFLOW = 746.0  # exp of minus this is 0 in float64


def clamped(records: FloatArray, bounds: tuple[float, float], knots: FloatArray) -> FloatArray:
    """Return the records sorted and clamped between the bounds, in a given array."""
    inner = knots[1:-1]
    np.copyto(inner, records)
    inner.sort()  # after this, clipping changes few values, and leaves them sorted
    np.clip(inner, *bounds, out=inner)
    knots[0], knots[-1] = bounds
    return knots


def ind_exp(work: NumberWork) -> Call:
    """Let all gaps race with log weights, as in Google's dp_multiq; the array is reused."""
    x, rng, knots = work.records, np.random.default_rng(DRAW_SEED), np.empty(work.k + 2)
    ranks = -work.epsilon * np.abs(np.arange(work.k + 1) - work.k / 2)  # do not depend on x

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
    """Tuned by hand, see `windowed`."""
    x, draw = work.records, windowed(work.bounds, work.epsilon, work.k)
    return lambda: draw(x)


def windowed(
    bounds: tuple[float, float], epsilon: float, most: int
) -> Callable[[FloatArray], float]:
    """Return a function that draws the median of a data set of at most `most` records.

    Only gaps whose weights are above 0 in float64 count. Two partitions find them, and only they
    are sorted; draws are the same as with all gaps. Results that depend on the number of records
    alone are cached. If records tie so that no weight in the window is above 0, it would fail.
    """
    random, (low, high) = np.random.default_rng(DRAW_SEED).random, bounds
    buffer, plans = np.empty(most), dict[int, Any]()

    def plan(n: int) -> Any:
        reach = ceil(UNDERFLOW / epsilon)
        first, last = max(n // 2 - reach, 0), min(n // 2 + reach, n)
        knots = np.empty(last - first + 2)
        knots[0], knots[-1] = low, high
        begin, end = int(first > 0), knots.size - int(last < n)  # the range of knots in the window
        ranks = np.abs(np.arange(first + begin, first + end - 1) - n / 2)
        weights, ends = np.exp(-epsilon * ranks), knots[begin:end]
        return first, last, knots[1:-1], ends[:-1], ends[1:], weights, np.empty(weights.size)

    def median(records: FloatArray) -> float:
        n = records.size
        if n not in plans:
            plans[n] = plan(n)
        first, last, inner, lower, upper, weights, sums = plans[n]
        if first == 0 and last == n:
            inner[:] = records
        else:
            rest = buffer[:n]
            rest[:] = records
            rest.partition(first)
            rest = rest[first:]
            if last < n:
                rest.partition(last - first)
            inner[:] = rest[: last - first]
        inner.sort()
        inner.clip(low, high, inner)
        np.subtract(upper, lower, sums)
        np.multiply(sums, weights, sums)
        sums.cumsum(out=sums)
        i = sums.searchsorted(random() * sums[-1], "right")
        left = lower[i]
        return float(left + random() * (upper[i] - left))

    return median


def opendp(work: NumberWork) -> Call:
    """OpenDP's private quantile by the exponential mechanism, on candidates."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    mechanism = dp.m.make_private_quantile(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.symmetric_distance(),
        dp.zero_concentrated_divergence(),
        candidates=np.linspace(*work.bounds, CANDIDATES).tolist(),
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
    size = work.size if work.size > 1 else None
    return lambda: rng.laplace(CENTER, 1.0 / work.epsilon, size)


def opendp_laplace(work: NumberWork) -> Call:
    """OpenDP's exact Laplace noise, one call."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.atom_domain(T=float, nan=False)
    mechanism = dp.m.make_laplace(domain, dp.absolute_distance(T=float), 1.0 / work.epsilon)
    return lambda: mechanism(CENTER)


def numpy_partition(work: NumberWork) -> Call:
    """A floor: the upper median by a partition."""
    x, middle = work.records, work.k // 2
    return lambda: np.partition(x, middle)[middle]
