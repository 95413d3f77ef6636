"""How cases are timed: round-robin over the entries, in samples of many calls.

In a round each entry has one sample, so that drift and company touch all alike; rounds
start with another entry each time. An entry's first call, with its compilation, is timed
by itself. A result is the median over the rounds, and every round is kept.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from .outcome import TOY, Absent, Options, Outcome, Row
from .workload import Call, Case, Entry, Work

LONG = 3  # samples' time: an entry whose call lasts longer has every second round only
ALONE = 0.9  # share of the wall time that a sample must have had its core


class SelfTimed(ABC):
    """A call that is made elsewhere, where its time is taken."""

    @abstractmethod
    def __call__(self) -> Any:
        """The answer of one call."""

    @abstractmethod
    def clock(self, calls: int) -> tuple[float, float]:
        """Wall and CPU seconds of so many calls."""


@dataclass
class Runner:
    """An entry that is ready to be timed."""

    call: Call
    row: Row
    single: bool = False
    long: bool = False
    shares: list[float] = field(default_factory=list)

    def sample(self) -> None:
        """One repeat: seconds a call. Of a sample that had company, at most two more tries."""
        tries = []
        for _ in range(3):
            wall, cpu = clock(self.call, self.row.calls)
            tries.append((min(cpu / wall, 1.0), wall))
            if self.row.threads > 1 or tries[-1][0] >= ALONE:
                break
        share, wall = max(tries, key=lambda one: one[0])
        self.row.repeats.append(wall / self.row.calls)
        self.shares.append(share)


def timed(case: Case, options: Options) -> Outcome:
    """Seconds a call of every entry."""
    work, outcome, runners = case.work(), Outcome(), []
    with on_one_core(work.threads == 1):
        for entry in case.entries:
            with outcome.noting_absence(case.row_names_of(entry)):
                runners.append(ready(case, entry, work, options))
        several = [runner for runner in runners if not runner.single]
        for turn in range(options.repeats if several else 0):
            first = turn % len(several)
            for runner in several[first:] + several[:first]:
                if turn % 2 == 0 or not runner.long:
                    runner.sample()
    for runner in runners:
        runner.row.cpu_share = statistics.median(runner.shares) if runner.shares else None
        outcome.rows.append(runner.row)
    return outcome


def ready(case: Case, entry: Entry, work: Work, options: Options) -> Runner:
    """The entry's runner after its first call and its check."""
    call, row = entry.call(work), case.row(entry, "s")
    start = time.perf_counter()
    answers = [call()]
    lasted = row.first_s = time.perf_counter() - start
    if not work.is_toy:  # many more answers fit into the check's time
        toy = case.toy()
        with suppress(Absent):
            ready(toy, entry, toy.work(), replace(TOY, check_s=options.check_s))
    if lasted > case.slow_s and entry.role != "rival" and not work.is_toy:
        lasted = clock(call, 1)[0]  # it was our compiling that was slow
    runner = Runner(call, row, single=lasted > case.slow_s)
    if runner.single:
        row.repeats.append(lasted)
    else:
        more, lasted = gather(call, options.check_s)
        answers += more
        runner.long = lasted > LONG * options.sample_s
        row.calls = 1 if lasted > options.sample_s else calls_a_sample(call, options.sample_s)
    row.checked = case.check_answers(entry, work, answers)
    return runner


def gather(call: Call, seconds: float, most: int = 5_000) -> tuple[list[Any], float]:
    """Answers for a check, as many as there is time for, and the seconds the last one took."""
    answers: list[Any] = []
    start = time.perf_counter()
    end, now, lasted = start + seconds, start, 0.0
    while now < end and len(answers) < most:
        answers.append(call())
        lasted, now = time.perf_counter() - now, time.perf_counter()
    return answers, lasted


def calls_a_sample(call: Call, seconds: float) -> int:
    """How many calls last about `seconds`."""
    calls = 1
    while (lasted := clock(call, calls)[0]) < seconds / 4:
        calls *= 4
    return max(1, ceil(calls * seconds / lasted))


def clock(call: Call, calls: int) -> tuple[float, float]:
    """Wall and CPU seconds of `calls` calls, without garbage collections."""
    if isinstance(call, SelfTimed):
        return call.clock(calls)
    was_on = gc.isenabled()
    gc.disable()
    try:
        cpu, wall = cpu_seconds(), time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - wall, cpu_seconds() - cpu
    finally:
        if was_on:
            gc.enable()


def cpu_seconds() -> float:
    """CPU time of this process and of those that it has started and seen end."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


@contextmanager
def on_one_core(wanted: bool) -> Iterator[None]:
    """Stay on the last core that the process may use, where the system can do that."""
    if not wanted or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
