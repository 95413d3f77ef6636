"""The peak of the memory of a whole process: a call by group in a process of its own.

What is held at most beyond what was held before the call, by the system's own count (resident
pages), so that nothing is overlooked that was not allocated by Python.
"""

from __future__ import annotations

import gc
import multiprocessing
from pathlib import Path
from typing import Any

from .checks import expect
from .measure import Options, Outcome, new_row, note_absent, prepared
from .startup import Absent
from .workload import Case, Entry

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RECORD = 16  # bytes of a record and its key
SLACK = 24 << 20  # bytes: code that is loaded, buffers of a fixed size


def fresh_memory(case: Case, options: Options) -> Outcome:
    """Bytes beyond the inputs. Of ours they are at most as many as the inputs have."""
    outcome, work = Outcome(), case.work()
    for entry in case.entries:
        row = new_row(case, entry, unit="B")
        try:
            found = [in_a_process(case, entry) for _ in range(min(options.repeats, 3))]
        except Absent as problem:
            note_absent(case, entry, outcome, str(problem))
            continue
        row.repeats = [float(extra) for extra, _ in found]
        (entry.check or case.check)(work, [answer for _, answer in found])
        row.checked = len(found)
        outcome.rows.append(row)
        if entry.role == "ours":
            most = max(row.repeats)
            expect(most <= RECORD * case.rows * case.k + SLACK, f"{most:.0f} bytes of extra memory")
    return outcome


def in_a_process(case: Case, entry: Entry) -> tuple[int, Any]:
    """Bytes at the peak beyond those before, and the answer, from a new process."""
    if not CLEAR.exists():
        raise Absent("the system does not tell a process's peak")
    named = registered(case.name, entry)
    if named is None:  # of a test
        return extra_memory(case, entry)
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    sizes = case.rows, case.k
    process = context.Process(target=_measured, args=(case.name, named, *sizes, there))
    process.start()
    there.close()
    try:
        worked, found = here.recv()
    except EOFError:
        worked, found = False, "its process ended"
    process.join()
    if not worked:
        raise Absent(found)
    extra, answer = found
    return extra, answer


def registered(name: str, entry: Entry) -> int | None:
    """Which entry of the cases of this name it is: what another process can be told."""
    from .cases import CASES

    entries = next((case.entries for case in CASES if case.name == name), ())
    return entries.index(entry) if entry in entries else None


def _measured(name: str, at: int, rows: int, k: int, pipe: Any) -> None:
    """What the other process does."""
    from dataclasses import replace

    from .cases import CASES

    case = replace(next(c for c in CASES if c.name == name), rows=rows, k=k)
    try:
        pipe.send((True, extra_memory(case, case.entries[at])))
    except Absent as problem:
        pipe.send((False, str(problem)))


def extra_memory(case: Case, entry: Entry) -> tuple[int, Any]:
    """Bytes at the peak of one call beyond those before it, and its answer."""
    small, outcome = case.toy(), Outcome()
    call = prepared(small, entry, small.work(), outcome)
    if call is None:
        raise Absent(outcome.absent[entry.name])
    call()  # loads code
    call = entry.prepare(case.work())
    gc.collect()
    CLEAR.write_text("5")  # the peak begins anew
    before = resident("VmRSS")
    answer = call()
    return max(resident("VmHWM") - before, 1), answer


def resident(name: str) -> int:
    """Bytes of this process, as the system counts them."""
    line = next(one for one in STATUS.read_text().splitlines() if one.startswith(name))
    return int(line.split()[1]) * 1024
