"""Do times of releases tell neighbours apart? ``python -m benchmarks.timing [RELEASES]``.

Half of the releases are of one data set and half of a neighbour, in random order. Printed: both
mean times, and Welch's t of them; the slowest twentieth of all, where the machine did something
else, is left out. |t| below 4.5 shows no difference (Reparaz, Balasch and Verbauwhede 2017).
"""

import sys
import time

import numpy as np

import fastexp as fx

K = 1000
FLAT = np.zeros(K)
MOVED = np.arange(K) % 2.0  # of a neighbour: each utility differs by at most 1
TOP = np.where(np.arange(K) == K // 2, 1e4, 0.0)
RECORDS = np.sort(np.random.default_rng(1).integers(0, 10_000, K)).astype(float)
REPLACED = np.append(RECORDS[1:], 9_999.0)
EXPONENTIAL = fx.Exponential(1.0, 1)
REPLACE = fx.Median(1.0, (0, 10_000), step=1, neighbors="replace")
CASES = {
    "Exponential, none dominates": (EXPONENTIAL, FLAT, MOVED),
    "Exponential, one dominates": (EXPONENTIAL, TOP, TOP + MOVED),
    "Exponential, the same data": (EXPONENTIAL, FLAT, FLAT.copy()),  # no difference, so t is small
    "Median, a record replaced": (REPLACE, RECORDS, REPLACED),
    "Median, a record less": (fx.Median(1.0, (0, 10_000), step=1), RECORDS, RECORDS[1:].copy()),
    "Median, 100 records less": (
        REPLACE,
        RECORDS,
        RECORDS[100:].copy(),
    ),  # no neighbour: t is large
}


def times(mechanism, first, second, releases):
    """The nanoseconds of each release of two data sets."""
    which = np.random.default_rng().permutation(np.arange(releases) % 2)
    sizes, clock = (first.size, second.size), time.perf_counter_ns
    found, place, change = np.empty(releases), np.empty(first.size), np.zeros(first.size)
    change[: second.size] = second - first[: second.size]
    for i, j in enumerate(which.tolist()):
        # Both are made in one place, in one way: other places change times by up to 2 %.
        np.multiply(change, j, out=place)
        place += first
        records = place[: sizes[j]]
        begin = clock()
        mechanism.release(records)
        found[i] = clock() - begin
    found, which = found[releases // 100 :], which[releases // 100 :]  # without the warm-up
    kept = found <= np.quantile(found, 0.95)
    return found[kept & (which == 0)], found[kept & (which == 1)]


def main():
    """Print a line for each case."""
    releases = int(sys.argv[1] if len(sys.argv) > 1 else 10**6)
    for name, (mechanism, first, second) in CASES.items():
        one, other = times(mechanism, first, second, releases)
        noise = one.var() / len(one) + other.var() / len(other)
        t = (one.mean() - other.mean()) / noise**0.5
        print(f"{name:30} {one.mean():8.1f} {other.mean():8.1f} ns   t = {t:6.1f}", flush=True)


if __name__ == "__main__":
    main()
