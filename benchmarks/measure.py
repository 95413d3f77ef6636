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
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from math import ceil
from typing import Any

from .checks import expect
from .startup import Absent
from .workload import Call, Case, Entry, Work

LONG = 3  # samples' time: an entry whose call lasts longer has every second round only
ALONE = 0.9  # share of the wall time that a sample must have had its core


@dataclass(frozen=True)
class Options:
    """How long to measure."""

    repeats: int = 9
    sample_s: float = 0.1  # a sample lasts about this long
    check_s: float = 0.3  # time to gather answers for the check
    runs: int = 100_000  # of a class, in the timing-leak test


TOY = Options(repeats=2, sample_s=0.0005, check_s=0.02, runs=20)


@dataclass
class Row:
    """What was measured of one entry."""

    case: str
    k: int
    size: int
    threads: int
    name: str
    role: str
    unit: str
    repeats: list[float]
    checked: int = 0  # answers checked at full size
    calls: int = 1  # in one sample
    first_s: float | None = None
    cpu_share: float | None = None  # CPU over wall time, at most 1; below: waited or had company
    rows: int = 1  # of k utilities each

    @property
    def median(self) -> float:
        """The median of the repeats."""
        return statistics.median(self.repeats)

    @property
    def spread(self) -> float:
        """The interquartile range over the median; 0 for one repeat."""
        if len(self.repeats) < 2 or self.median == 0:
            return 0.0
        low, _, high = statistics.quantiles(self.repeats, n=4, method="inclusive")
        return (high - low) / self.median


@dataclass
class Outcome:
    """The rows of a case, and why others are missing."""

    rows: list[Row] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)


@dataclass
class Runner:
    """An entry that is ready to be timed."""

    entry: Entry
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
    with on_one_core(case.threads == 1):
        for entry in case.entries:
            runner = ready(case, entry, work, options, outcome)
            if runner is not None:
                runners.append(runner)
        several = [runner for runner in runners if not runner.single]
        for turn in range(options.repeats if several else 0):
            at = turn % len(several)
            for runner in several[at:] + several[:at]:
                if turn % 2 == 0 or not runner.long:
                    runner.sample()
    for runner in runners:
        runner.row.cpu_share = statistics.median(runner.shares) if runner.shares else None
        outcome.rows.append(runner.row)
    return outcome


def ready(
    case: Case, entry: Entry, work: Work, options: Options, outcome: Outcome
) -> Runner | None:
    """The entry's runner after its first call and its check, or None if it is absent."""
    call = prepared(case, entry, work, outcome)
    if call is None:
        return None
    start = time.perf_counter()
    try:
        answers = [call()]
    except Absent as problem:
        note_absent(case, entry, outcome, str(problem))
        return None
    first = time.perf_counter() - start
    if not case.is_toy:  # many more answers fit into the check's time
        toy = case.toy()
        ready(toy, entry, toy.work(), replace(TOY, check_s=options.check_s), Outcome())
    row, lasted = new_row(case, entry, unit="s", first_s=first), first
    if first > case.slow_s and entry.role != "rival" and not case.is_toy:
        lasted = clock(call, 1)[0]  # it was our compiling that was slow
    runner = Runner(entry, call, row, single=lasted > case.slow_s)
    if runner.single:
        row.repeats.append(lasted)
    else:
        more, lasted = gather(call, options.check_s)
        answers += more
        runner.long = lasted > LONG * options.sample_s
        row.calls = 1 if lasted > options.sample_s else calls_a_sample(call, options.sample_s)
    (entry.check or case.check)(work, answers)
    row.checked = len(answers)
    return runner


def new_row(case: Case, entry: Entry, unit: str, **more: Any) -> Row:
    """An empty row of this entry."""
    where = case.id, case.k, case.size, case.threads
    return Row(*where, entry.name, entry.role, unit, [], rows=case.rows, **more)


def prepared(case: Case, entry: Entry, work: Work, outcome: Outcome) -> Call | None:
    """The entry's call; or None, with the reason noted in `outcome`."""
    if entry.needs and find_spec(entry.needs) is None:
        reason = f"{entry.needs} is not installed"
    elif not entry.least_k <= case.k <= (entry.most_k or case.k) and not case.is_toy:
        reason = entry.why
    else:
        try:
            return entry.prepare(work)
        except ImportError as problem:
            reason = f"{entry.needs} cannot be imported: {problem}"
        except Absent as problem:
            reason = str(problem)
    note_absent(case, entry, outcome, reason)
    return None


def note_absent(case: Case, entry: Entry, outcome: Outcome, reason: str) -> None:
    """Note why an entry's rows are missing."""
    for suffix in case.suffixes:
        outcome.absent[entry.name + suffix] = reason


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
    own = getattr(call, "clock", None)  # of a call that is made in another process
    if own is not None:
        wall, cpu = own(calls)
        return wall, cpu
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


def memory(case: Case, options: Options, most: Callable[[int], int] | None = None) -> Outcome:
    """The most extra memory in bytes that one call holds at any time, results included.

    `most` says what ours may take at a given k; default: what a release of utilities may.
    """
    limit = (most or most_bytes)(case.k)
    work, outcome = case.work(), Outcome()
    for entry in case.entries:
        call = prepared(case, entry, work, outcome)
        if call is None:
            continue
        answers = [call()]
        row = new_row(case, entry, unit="B")
        for _ in range(min(options.repeats, 3)):
            extra, answer = peak(call)
            answers.append(answer)
            row.repeats.append(float(extra))
            if entry.role == "ours":
                expect(extra <= limit, f"{extra} bytes of extra memory")
        (entry.check or case.check)(work, answers)
        row.checked = len(answers)
        outcome.rows.append(row)
    return outcome


def most_bytes(k: int) -> int:
    """What a release may take: three words a block of 1,024 candidates, twice, and 128 KiB."""
    return 2 * 24 * -(-k // 1024) + (1 << 17)


def peak(call: Call) -> tuple[int, Any]:
    """Bytes held at the peak of one call beyond those held before, and its answer."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        answer = call()
        return tracemalloc.get_traced_memory()[1] - before, answer
    finally:
        tracemalloc.stop()
