"""Does the time of a release depend on the utilities? A test in the manner of dudect.

Classes of utilities are timed one call at a time in random order, and Welch's t compares
the mean times of each pair; |t| above 4.5 is evidence of a dependence, below it there is
none in that many runs, which proves nothing (Reparaz, Balasch and Verbauwhede, "Dude, is my
code constant time?", 2017).

What is compared: the whole call, checks and system randomness included. All classes are
copied into the same buffer before the clock starts, and then other memory, larger than the
first-level cache, is written: what the copy left in the cache depends on the class's own
address, which alone moved the means by 10 ns.
Times above the 99th percentile of all classes together are dropped. In the classes
*peaked*, *far* and *normal* one candidate leads by hundreds of nats or more, at the same
index, so the answer is the same too. In *flat* and *subnormal* (all utilities below 1e-310,
slow numbers for a processor) every index is equally likely; a dependence there can come
from the answer alone, which the caller learns anyway. *again* is a second
copy of *peaked*: its |t| against *peaked* shows what the machine's noise gives. The
naive NumPy draw is the positive control: where it stays below 4.5 too, nothing was tested.
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
    """The index that leads: beyond 256, whose Python integers exist once, where it can be."""
    return (k * 3) // 5


def classes(k: int) -> dict[str, FloatArray]:
    """The classes of utilities, k each."""
    at = leader(k)
    peaked = np.zeros(k)
    peaked[at] = 1e6
    far = np.full(k, -1430.0 / RATE)
    far[at] = 0.0
    normal = 1e4 * np.random.default_rng(SEED).standard_normal(k)
    best = int(normal.argmax())
    normal[[at, best]] = normal[[best, at]]
    normal[at] += 2e3  # nobody else has a chance
    return {
        "flat": np.zeros(k),
        "peaked": peaked,
        "again": peaked.copy(),
        "far": far,
        "normal": normal,
        "subnormal": 1e-310 * np.random.default_rng(SEED).random(k),
    }


def welch(times: dict[str, FloatArray]) -> dict[str, float]:
    """|t| of each pair of classes, outliers cropped; by the pair's suffix."""
    limit = float(np.quantile(np.concatenate(list(times.values())), KEEP))
    cropped = {name: t[t <= limit] for name, t in times.items()}
    return {f" {a}/{b}": abs_t(cropped[a], cropped[b]) for a, b in PAIRS}


def abs_t(a: FloatArray, b: FloatArray) -> float:
    """The absolute value of Welch's t statistic."""
    error = sqrt(a.var(ddof=1) / a.size + b.var(ddof=1) / b.size)
    return abs(float(a.mean() - b.mean())) / error if error > 0 else 0.0


def time_calls(call: Call, buffer: FloatArray, runs: int, seed: int) -> dict[str, FloatArray]:
    """Nanoseconds of `runs` calls a class, in random order."""
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
    """|t| of every pair of classes, for every entry; each repeat is a test by itself."""
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
    """Calls in each class that has a leader, which must win."""
    for name, data in classes(buffer.size).items():
        np.copyto(buffer, data)
        for _ in range(50 if name not in ("flat", "subnormal") else 0):
            assert call() == leader(buffer.size)
