"""Draws of a median from a sorted file: how long the first one takes, and later ones.

Each repeat is a fresh process that has drawn once from a small array, so that nothing is left
to compile or load. At its first draw from the file no page of it is in memory (*disk*: the
system was told to forget them) or none in this process (*mapped*: the system still has them);
*later* is the mean of many more draws.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import fastexp as fx

from ..harness.child import Child
from ..harness.measure import clock
from ..harness.outcome import Absent, Options, Outcome, expect
from ..harness.workload import DRAW_SEED, EPSILON, Call, Case, Entry, FloatArray, Prepare, Work

CHUNK, LATER = 10**6, 2_000
FURTHEST = 60  # ranks from the middle: a draw beyond has probability e**-60 or so


@dataclass(frozen=True, eq=False)
class FileWork(Work):
    """A file of k sorted records in (0, 1): one in each of as many equal parts."""

    path: str = ""

    def write(self) -> None:
        """Make the file."""
        file = np.lib.format.open_memmap(self.path, "w+", np.float64, (self.k,))
        rng = np.random.default_rng(1)
        for start in range(0, self.k, CHUNK):
            part = file[start : start + CHUNK]
            part[:] = (np.arange(start, start + part.size) + rng.random(part.size)) / self.k
        file.flush()


def mapped(work: FileWork) -> Call:
    """Draws from the file as the system has it."""
    return _draws(np.load(work.path, mmap_mode="r"))


def from_disk(work: FileWork) -> Call:
    """The same when the system has dropped the file's pages from memory."""
    if not hasattr(os, "posix_fadvise"):
        raise Absent("the system cannot be told to forget a file")
    with open(work.path, "rb") as file:  # noqa: PTH123
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return mapped(work)


def _draws(records: FloatArray) -> Call:
    return partial(fx.Median(EPSILON, (0, 1)).sample, records, rng=DRAW_SEED, assume_sorted=True)


def timed_draws(prepare: Prepare, work: FileWork) -> tuple[tuple[float, float], list[float]]:
    """Seconds of the first draw and of later ones in this process, and two answers."""
    _draws(np.linspace(0.0, 1.0, 100_000))()
    call = prepare(work)
    start = time.perf_counter()
    first = call()
    first_s = time.perf_counter() - start
    return (clock(call, LATER)[0] / LATER, first_s), [first, call()]


def in_fresh_processes(case: Case, options: Options) -> Outcome:
    """Write the file, and time draws from it."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        work = FileWork(case.inputs.k, path=str(Path(folder) / "sorted.npy"))
        for entry in case.entries:
            with outcome.noting_absence(case.row_names_of(entry)):
                if shutil.disk_usage(folder).free < 16 * work.k:
                    raise Absent(f"{folder} has too little room")
                if not Path(work.path).exists():
                    work.write()
                rows = [case.row(entry, "s", suffix) for suffix in case.suffixes]
                for _ in range(1 if case.inputs.is_toy else options.repeats):
                    child = Child()
                    seconds, answers = child.ask(timed_draws, entry.prepare, work)
                    child.end()
                    for row, lasted in zip(rows, seconds, strict=True):
                        row.repeats.append(lasted)
                        row.checked += case.check_answers(entry, work, answers)
                outcome.rows += rows
    return outcome


def near_the_middle(work: FileWork, answers: list[float]) -> None:
    """The same number every time, a few ranks from the median."""
    expect(answers[0] == answers[1], "another draw from the same seed")
    rank = int(np.searchsorted(np.load(work.path, mmap_mode="r"), answers[0]))
    expect(abs(rank - work.k // 2) <= FURTHEST, "a draw far from the median")


CASE = Case(
    "sorted_file",
    FileWork(10**8),
    (Entry("fastexp", "ours", mapped), Entry("fastexp_disk", "variant", from_disk)),
    check=near_the_middle,
    measure=in_fresh_processes,
    toy_k=20_000,
    suffixes=(" later", " first"),
)
