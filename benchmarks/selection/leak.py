"""Does the time of a release depend on the utilities? A test in the manner of dudect.

Classes of utilities are timed one call at a time in random order, and Welch's t compares the mean
times of each pair. |t| above 4.5 is evidence of a dependence. Below 4.5 there is no evidence in
that many runs, which proves nothing (Reparaz, Balasch and Verbauwhede, "Dude, is my code constant
time?", 2017).

The whole call is compared, with checks and system randomness. All classes are copied into the same
buffer before the clock starts. Then other memory, larger than the first-level cache, is written:
otherwise the cache would depend on the address of the class, which alone moved the means by 10 ns.
Times above the 99th percentile of all classes together are dropped.

In the classes *peaked*, *far* and *normal* one candidate leads by hundreds of nats or more, at the
same index, so the answer is the same, too. In *flat* and *subnormal* (all utilities below 1e-310,
slow numbers for a processor) every index is equally likely; a dependence there can come from the
answer alone, which the caller learns anyway. *again* is a second copy of *peaked*: its |t| against
*peaked* shows the effect of the machine's noise. The naive NumPy draw is the positive control: if
its |t| stays below 4.5, too, nothing was tested.
"""

from __future__ import annotations

import gc
import time
from itertools import combinations
from math import sqrt

import numpy as np

from ..harness.measure import on_one_core
from ..harness.outcome import Options, Outcome
from ..harness.workload import SEED, Call, Case, FloatArray
from .workload import RATE

THRESHOLD = 4.5
KEEP = 0.99
SCRUB = 16_384  # values, 128 KiB
CLASSES = ("flat", "peaked", "again", "far", "normal", "subnormal")
PAIRS = [
    (a, b) for a, b in combinations(CLASSES, 2) if "again" not in (a, b) or (a, b) == CLASSES[1:3]
]
SUFFIXES = tuple(f" {a}/{b}" for a, b in PAIRS)


def leader(k: int) -> int:
    """Return the index that leads: if possible above 256, as Python caches smaller integers."""
    return (k * 3) // 5


def classes(k: int) -> dict[str, FloatArray]:
    """Return the classes of utilities, k in each."""
    at = leader(k)
    peaked = np.zeros(k)
    peaked[at] = 1e6
    far = np.full(k, -1430.0 / RATE)
    far[at] = 0.0
    normal = 1e4 * np.random.default_rng(SEED).standard_normal(k)
    best = int(normal.argmax())
    normal[[at, best]] = normal[[best, at]]
    normal[at] += 2e3  # no other candidate has a chance
    return {
        "flat": np.zeros(k),
        "peaked": peaked,
        "again": peaked.copy(),
        "far": far,
        "normal": normal,
        "subnormal": 1e-310 * np.random.default_rng(SEED).random(k),
    }


def welch(times: dict[str, FloatArray]) -> dict[str, float]:
    """Return |t| of each pair of classes, without outliers, by the suffix of the pair."""
    limit = float(np.quantile(np.concatenate(list(times.values())), KEEP))
    cropped = {name: t[t <= limit] for name, t in times.items()}
    return {f" {a}/{b}": abs_t(cropped[a], cropped[b]) for a, b in PAIRS}


def abs_t(a: FloatArray, b: FloatArray) -> float:
    """Return the absolute value of Welch's t statistic."""
    error = sqrt(a.var(ddof=1) / a.size + b.var(ddof=1) / b.size)
    return abs(float(a.mean() - b.mean())) / error if error > 0 else 0.0


def time_calls(call: Call, buffer: FloatArray, runs: int, seed: int) -> dict[str, FloatArray]:
    """Return the nanoseconds of `runs` calls for each class, which are in random order."""
    data = list(classes(buffer.size).values())
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(data)), runs))
    times, scrub = np.empty(order.size), np.empty(SCRUB)
    now = time.perf_counter_ns
    gc.disable()
    try:
        for i, which in enumerate(order.tolist()):
            np.copyto(buffer, data[which])
            scrub.fill(0.0)
            start = now()
            call()
            times[i] = now() - start
    finally:
        gc.enable()
    return {name: times[order == i] for i, name in enumerate(CLASSES)}


def leak(case: Case, options: Options) -> Outcome:
    """Measure |t| of every pair of classes, for every entry; each repeat is a separate test."""
    work, outcome = case.work(), Outcome()
    buffer: FloatArray = work.utilities  # type: ignore[attr-defined]  # it is a selection's
    with on_one_core(True):
        for entry in case.entries:
            call = entry.call(work)
            warm_up(call, buffer)
            rows = {suffix: case.row(entry, "|t|", suffix) for suffix in SUFFIXES}
            for seed in range(min(options.repeats, 3)):
                times = time_calls(call, buffer, options.runs, seed)
                for suffix, value in welch(times).items():
                    rows[suffix].repeats.append(value)
            for row in rows.values():
                row.calls = options.runs
                outcome.rows.append(row)
    return outcome


def warm_up(call: Call, buffer: FloatArray) -> None:
    """Call for each class with a leader, which must win."""
    for name, data in classes(buffer.size).items():
        np.copyto(buffer, data)
        for _ in range(50 if name not in ("flat", "subnormal") else 0):
            assert call() == leader(buffer.size)
