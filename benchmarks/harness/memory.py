"""How much memory a call takes: what Python allocates, or what its whole process does.

A process is counted by the system (resident pages), so that nothing is overlooked that was
not allocated by Python; the call is then made in a process of its own.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .child import Child
from .outcome import Absent, Options, Outcome, expect
from .workload import Call, Case, Entry, Prepare, Work

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
Peak = tuple[int, Any]  # bytes at the peak of a call beyond those held before, and its answer
Allowance = Callable[[Any], int]  # bytes that ours may take


def traced_memory(case: Case, options: Options, *, allowance: Allowance) -> Outcome:
    """Bytes that one call allocates at its peak, results included."""

    def peaks(entry: Entry, work: Work) -> list[Peak]:
        call = entry.call(work)
        call()  # loads and compiles
        return [traced_peak(call) for _ in range(repeats(options, work))]

    return _memory(case, allowance, peaks)


def resident_memory(case: Case, options: Options, *, allowance: Allowance) -> Outcome:
    """Bytes of a fresh process at the peak of one call beyond its inputs."""
    toy = case.toy()

    def peaks(entry: Entry, work: Work) -> list[Peak]:
        entry.call(toy.work())  # whether there is one
        return [in_a_process(entry, work, toy) for _ in range(repeats(options, work))]

    return _memory(case, allowance, peaks)


def _memory(
    case: Case, allowance: Allowance, peaks: Callable[[Entry, Work], list[Peak]]
) -> Outcome:
    work, outcome = case.work(), Outcome()
    for entry in case.entries:
        with outcome.noting_absence(case.row_names_of(entry)):
            row, measured = case.row(entry, "B"), peaks(entry, work)
            row.repeats = [float(extra) for extra, _ in measured]
            row.checked = case.check_answers(entry, work, [answer for _, answer in measured])
            outcome.rows.append(row)
            if entry.role == "ours":
                most = max(row.repeats)
                expect(most <= allowance(work), f"{most:.0f} bytes of extra memory")
    return outcome


def repeats(options: Options, work: Work) -> int:
    """Few: memory hardly varies."""
    return 1 if work.is_toy else min(options.repeats, 3)


def made_in_call(prepare: Prepare, work: Work) -> Call:
    """The same way of doing the work, with all buffers made in the call."""
    return lambda: prepare(work)()


def traced_peak(call: Call) -> Peak:
    """What one call allocates."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        answer = call()
        return tracemalloc.get_traced_memory()[1] - before, answer
    finally:
        tracemalloc.stop()


def in_a_process(entry: Entry, work: Work, toy: Case) -> Peak:
    """What one call adds to a new process that has made it at toy size."""
    if not CLEAR.exists():
        raise Absent("the system does not tell a process's peak")
    child = Child()
    try:
        extra, answer = child.ask(resident_peak, entry.prepare, work, toy.work())
    finally:
        child.end()
    return extra, answer


def resident_peak(prepare: Prepare, work: Work, toy: Work) -> Peak:
    """What one call adds to this process."""
    prepare(toy)()  # loads code
    call = prepare(work)
    gc.collect()
    CLEAR.write_text("5")  # the peak begins anew
    before = resident("VmRSS")
    answer = call()
    return max(resident("VmHWM") - before, 1), answer


def resident(name: str) -> int:
    """Bytes of this process, as the system counts them."""
    line = next(one for one in STATUS.read_text().splitlines() if one.startswith(name))
    return int(line.split()[1]) * 1024
