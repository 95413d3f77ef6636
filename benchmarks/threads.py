"""From which size two threads pay: ``python -m benchmarks.threads [--case NAME ...]``.

For each family of kernels that shares its work among threads, wall times of one and two
threads take turns, size after size; a ratio is that of their medians. The package's own
thresholds are set aside. Takes less than four minutes; of use on an idle machine only.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module

import numpy as np

import fastexp as fx

BUDGET_S, ROUNDS, LEAST_S = 1.0, (5, 15), 0.002  # of a size; rounds; a sample's time
PAYS = 0.95  # two threads must take at most this share, from there on
THRESHOLDS = (  # where the package says how small work goes without threads
    ("_selection.plan", "THREADED_CANDIDATES"),
    ("_selection.plan", "THREADED_DRAWS"),
    ("_numbers.laplace", "THREADED_DRAWS"),
    ("_selection.flips", "THREADED"),
    ("_intake.unsorted", "THREADED"),
    ("_keys.group_keys", "LEAST"),
    ("grouped.segments", "FEWEST"),
)
Call = Callable[[int], object]  # with so many threads
RNG = np.random.default_rng(1)
MECHANISM, MEDIAN = fx.Exponential(1.0, 1.0), fx.Median(1.0, (0.0, 100.0))


def release(n: int) -> Call:
    """One vector."""
    u = 20 * RNG.random(n)
    return lambda threads: MECHANISM.release(u, threads=threads)


def rows(n: int, k: int) -> Call:
    """A draw from each row of k."""
    u = 20 * RNG.random((max(n // k, 2), k))
    return lambda threads: MECHANISM.sample(u, rng=1, threads=threads)


def draws(n: int) -> Call:
    """Many draws from 1,000 candidates."""
    law = MECHANISM.law(20 * RNG.random(1_000))
    return lambda threads: law.sample(n, rng=1, threads=threads)


def top_k(n: int) -> Call:
    """The 100 best."""
    u, mechanism = 20 * RNG.random(n), fx.TopK(100, 1.0, 1.0)
    return lambda threads: mechanism.release(u, threads=threads)


def median(n: int) -> Call:
    """A median of unsorted records."""
    x = 100 * RNG.random(n)
    return lambda threads: MEDIAN.release(x, threads=threads)


def median_rows(n: int) -> Call:
    """A median of each row of 20."""
    x = 100 * RNG.random((n // 20, 20))
    return lambda threads: MEDIAN.sample(x, rng=1, threads=threads)


def keys(n: int, k: int) -> Call:
    """Groups of k on average, rows in any order."""
    x, count = 100 * RNG.random(n), max(n // k, 2)
    sample = partial(MEDIAN.sample, x, by=RNG.integers(0, count, n), groups=range(count), rng=1)
    return lambda threads: sample(threads=threads)


def offsets(n: int, k: int) -> Call:
    """Groups of k in order."""
    x = 100 * RNG.random(n)
    sample = partial(MEDIAN.sample, x, offsets=np.append(np.arange(0, n, k), n), rng=1)
    return lambda threads: sample(threads=threads)


def laplace(n: int) -> Call:
    """Noise in bulk."""
    mechanism = fx.Laplace(1.0, 1.0, step=0.001)
    return lambda threads: mechanism.sample(12.5, n, rng=1, threads=threads)


def responses(n: int) -> Call:
    """A response to each bit, released."""
    bits, mechanism = RNG.random(n) < 0.5, fx.RandomizedResponse(1.0)
    return lambda threads: mechanism.release(bits, threads=threads)


def sizes(first: int, last: int) -> list[int]:
    """Powers of two, each the double."""
    return [1 << power for power in range(first, last + 1)]


CASES: dict[str, tuple[Callable[[int], Call], list[int]]] = {
    "release": (release, sizes(13, 23)),
    "rows_of_10": (partial(rows, k=10), sizes(12, 22)),
    "rows_of_1000": (partial(rows, k=1_000), sizes(13, 23)),
    "many_draws": (draws, sizes(12, 22)),
    "top_k": (top_k, sizes(13, 22)),
    "median": (median, sizes(14, 24)),
    "median_rows": (median_rows, sizes(12, 21)),
    "keys_20": (partial(keys, k=20), sizes(12, 21)),
    "keys_10000": (partial(keys, k=10_000), sizes(15, 23)),
    "offsets_20": (partial(offsets, k=20), sizes(12, 21)),
    "offsets_10000": (partial(offsets, k=10_000), sizes(15, 23)),
    "laplace": (laplace, sizes(12, 20)),
    "responses": (responses, sizes(13, 23)),
}


@contextmanager
def without_thresholds() -> Iterator[None]:
    """However small work is, it gets its threads."""
    places = [(import_module(f"fastexp.{module}"), name) for module, name in THRESHOLDS]
    before = [getattr(module, name) for module, name in places]
    for module, name in places:
        setattr(module, name, 1)
    try:
        yield
    finally:
        for (module, name), value in zip(places, before, strict=True):
            setattr(module, name, value)


def seconds(call: Call, threads: int, calls: int) -> float:
    """Wall time of a call."""
    start = time.perf_counter()
    for _ in range(calls):
        call(threads)
    return (time.perf_counter() - start) / calls


def measured(call: Call) -> tuple[float, float]:
    """Medians of one thread and of two, in turns."""
    start = time.perf_counter()
    call(1), call(2)  # loads, and touches what is new
    lasted = max(seconds(call, 1, 1), seconds(call, 2, 1))
    calls = max(1, round(LEAST_S / lasted))
    times: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(ROUNDS[1]):
        for threads in (1, 2) if turn % 2 else (2, 1):
            times[threads].append(seconds(call, threads, calls))
        if turn + 1 >= ROUNDS[0] and time.perf_counter() - start > BUDGET_S:
            break
    return statistics.median(times[1]), statistics.median(times[2])


def pays_from(ratios: dict[int, float]) -> int | None:
    """The least size from which on two threads always pay."""
    least = None
    for size, ratio in sorted(ratios.items(), reverse=True):
        if ratio > PAYS:
            break
        least = size
    return least


def main(argv: list[str] | None = None) -> int:
    """Measure, and print a table of each case and the summary."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--case", nargs="+", default=list(CASES), choices=CASES, metavar="NAME")
    parser.add_argument("--most", type=float, default=float("inf"), help="no larger sizes")
    arguments = parser.parse_args(argv)
    lines: list[str] = []
    with without_thresholds():
        for name in arguments.case:
            prepare, all_sizes = CASES[name]
            ratios: dict[int, float] = {}
            for size in all_sizes:
                if size > arguments.most:
                    break
                one, two = measured(prepare(size))
                ratios[size] = two / one
                print(
                    f"{name:14} {size:>9,} {1e6 * one:>11,.0f} {1e6 * two:>11,.0f} µs "
                    f"{one / two:5.2f}x",
                    flush=True,
                )
            least = pays_from(ratios)
            from_there = "no size" if least is None else f"{least:,} (2**{least.bit_length() - 1})"
            last = max(ratios)
            lines.append(f"{name:14} pays from {from_there}; {1 / ratios[last]:.2f}x at {last:,}")
    print("\n".join(["", *lines]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
