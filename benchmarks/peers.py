"""What peers do for the same tasks, each with the same law in floating point.

NumPy and SciPy draw from PCG64; OpenDP and diffprivlib draw from the operating system, as a release
does. Inputs are in the peer's own form before the clock starts. On some processors peers that sort
are several times faster with ``NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL"`` in the environment.
"""

from functools import partial

import numpy as np

from .tasks import BOUNDS, CENTER, DRAWS, PRICES, RATE, TASKS, generator, intervals_by_numpy

UNDERFLOW = 746  # exp of minus this is 0 in float64


def peer(*tasks):
    """Register the decorated function as a way of doing these tasks."""

    def register(prepare):
        for name in tasks:
            TASKS[name].ways[prepare.__name__] = prepare
        return prepare

    return register


TASKS["median_utilities"].ways["numpy"] = intervals_by_numpy


@peer("release", "sample", "gumbel")
def numpy_gumbel(u):
    rng = generator()
    return lambda: np.argmax(RATE * u + rng.gumbel(size=u.size))


def weights(u):
    return np.exp(RATE * (u - u.max(axis=-1, keepdims=True)))


@peer("release", "sample")
def numpy_cumsum(u, size=None):
    rng = generator()

    def call():
        sums = np.cumsum(weights(u))
        return np.searchsorted(sums, rng.random(size) * sums[-1], side="right")

    return call


TASKS["many"].ways["numpy_cumsum"] = partial(numpy_cumsum, size=DRAWS)


@peer("many")
def scipy_alias(u):
    from scipy.stats.sampling import DiscreteAliasUrn

    rng = generator()
    return lambda: DiscreteAliasUrn(weights(u), random_state=rng).rvs(DRAWS)


@peer("rows")
def numpy_cumsum_rows(u):
    rng = generator()

    def call():
        sums = np.cumsum(weights(u), axis=1)
        return (sums > rng.random((len(u), 1)) * sums[:, -1:]).argmax(axis=1)

    return call


@peer("release")
def opendp(u):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    return partial(dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), 1 / RATE), u)


@peer("release")
def diffprivlib(u):
    from diffprivlib.mechanisms import Exponential

    values = u.tolist()
    return lambda: Exponential(epsilon=1.0, sensitivity=1.0, utility=values).randomise()


@peer("log_sum_exp")
def scipy_logsumexp(u):
    from scipy.special import logsumexp

    return lambda: logsumexp(RATE * u)


def windowed(n):
    """Return a function that draws the median of n records between `BOUNDS`, in the gaps.

    Gap i has weight length * exp(-|i - n/2|). Two partitions find the gaps whose weights are above
    0 in float64, and only they are sorted.
    """
    rng = generator()
    first, last = max(n // 2 - UNDERFLOW, 0), min(n // 2 + UNDERFLOW, n)
    far = np.exp(-np.abs(np.arange(first, last + 1) - n / 2))

    def draw(x):
        near = np.sort(np.partition(x, [first, last - 1])[first:last].clip(*BOUNDS))
        edges = np.concatenate([BOUNDS[:1], near, BOUNDS[1:]])
        gaps = np.diff(edges)
        sums = np.cumsum(gaps * far)
        i = np.searchsorted(sums, rng.random() * sums[-1], side="right")
        return edges[i] + rng.random() * gaps[i]

    return draw


@peer("median")
def numpy_window(x):
    return partial(windowed(x.size), x)


@peer("groups")
def numpy_loop(work):
    """Sort rows by group, whose codes are small numbers, and draw for one after the other."""
    count, codes, x = work
    draw, least = windowed(x.size // count), np.min_scalar_type(count)

    def call():
        parts = x[np.argsort(codes.astype(least), kind="stable")].reshape(count, -1)
        return [draw(part) for part in parts]

    return call


@peer("price")
def numpy_sort_search(offers):
    rng = generator()

    def call():
        revenue = PRICES * (offers.size - np.searchsorted(np.sort(offers), PRICES))
        sums = np.cumsum(np.exp((revenue - revenue.max()) / PRICES[-1]))
        return PRICES[np.searchsorted(sums, rng.random() * sums[-1], side="right")]

    return call


@peer("laplace")
def numpy_laplace(size):
    return partial(generator().laplace, CENTER, 1.0, size)
