"""How cases are timed: round-robin over the entries, in samples of many calls.

In a round each entry has one sample, so that drift and other processes affect all alike; each
round starts with another entry. The first call of an entry, with its compilation, is timed
separately. A result is the median over the rounds, and every round is recorded.
"""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

from .checks import check
from .elsewhere import clock
from .outcome import Options, Outcome, Row
from .workload import Call, Case, Entry, Prepare, Work


def timed(case: Case, options: Options) -> Outcome:
    """Measure the seconds of a call of every entry."""
    work, outcome, several = case.work(), Outcome(), list[tuple[Call, Row]]()
    with on_one_core(work.threads == 1):
        for entry in case.entries:
            with outcome.noting_absence([entry.name]):
                call, row = ready(case, entry, work, options)
                outcome.rows.append(row)
                if not row.repeats:
                    several.append((call, row))
        check(case, options.check_s)
        for turn in range(options.repeats if several else 0):
            first = turn % len(several)
            for call, row in several[first:] + several[:first]:
                row.repeats.append(clock(call, row.calls) / row.calls)
    return outcome


def ready(case: Case, entry: Entry, work: Work, options: Options) -> tuple[Call, Row]:
    """Return a call and its row after the first call, which is the only one if it is slow."""
    call, row = entry.call(work), case.row(entry, "s")
    start = time.perf_counter()
    call()
    lasted = row.first_s = time.perf_counter() - start
    if lasted <= options.slow_s or entry.role != "rival":  # fastexp may have compiled kernels
        lasted = clock(call, 1)
    if lasted > options.slow_s:
        row.repeats.append(lasted)
    else:
        while lasted < options.sample_s / 4:
            row.calls *= 4
            lasted = clock(call, row.calls)
        row.calls = ceil(row.calls * options.sample_s / lasted)
    return call, row


@contextmanager
def on_one_core(wanted: bool) -> Iterator[None]:
    """Stay on the last core that the process may use, if the system can do that."""
    if not wanted or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def traced_memory(case: Case, options: Options) -> Outcome:
    """Measure the bytes that Python allocates at the peak of one call, results included."""
    work, outcome = case.work(), Outcome()
    for entry in case.entries:
        call, row = entry.call(work), case.row(entry, "B")
        call()  # loads and compiles
        row.repeats = [traced_peak(call) for _ in range(min(options.repeats, 3))]
        outcome.rows.append(row)
    return outcome


def traced_peak(call: Call) -> float:
    """Return the bytes that one call allocates at its peak."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        call()
        return float(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()


def made_in_call(prepare: Prepare) -> Prepare:
    """Return the same way of doing the work, with all buffers made in the call."""
    return lambda work: lambda: prepare(work)()
