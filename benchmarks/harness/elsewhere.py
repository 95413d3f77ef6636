"""Calls in other processes: whose NumPy has no AVX-512 code, or with an engine of n threads.

NumPy's AVX-512 sort is several times slower than its AVX2 one on some processors, and its exp
several times faster; so peers are measured both ways, in turns. NumPy chooses when it is
imported: hence one more process, which keeps the time of its own calls. It is started when
the first such call is prepared, and ends with this one. Polars, too, makes its threads once in
a process, so for each number of threads there is another one.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from .child import Child
from .measure import SelfTimed, clock
from .outcome import Absent
from .workload import Call, Entry, Prepare, Work


def with_avx2(entry: Entry) -> tuple[Entry, Entry]:
    """A peer that sorts, with NumPy's AVX-512 code and without."""
    without = replace(entry, name=f"{entry.name}_avx2", prepare=without_avx512(entry.prepare))
    return entry, without


def without_avx512(prepare: Prepare) -> Prepare:
    """The same way of doing the work, elsewhere."""
    return lambda work: Elsewhere(child(), prepare, work)


def with_own_threads(prepare: Prepare, avx512: bool = True) -> Prepare:
    """The same way of doing the work, where engines have as many threads as the work."""
    return lambda work: Elsewhere(child(avx512, work.threads), prepare, work)


def avx512_in_use() -> list[str]:
    """Names of the AVX-512 features that this process's NumPy dispatches to."""
    from numpy._core import _multiarray_umath as core

    names: list[str] = core.__cpu_dispatch__
    return [n for n in names if n.startswith(("AVX512", "X86_V4")) and core.__cpu_features__[n]]


@cache
def child(avx512: bool = False, threads: int = 0) -> Child:
    """The process for such calls, started once."""
    settings = {"POLARS_MAX_THREADS": str(threads)} if threads else {}
    if avx512:
        return Child(settings)
    names = avx512_in_use()
    if not names:
        raise Absent("NumPy has no AVX-512 code for this processor")
    other = Child(settings | {"NPY_DISABLE_CPU_FEATURES": " ".join(names)})
    if left := other.ask(avx512_in_use):
        raise Absent(f"NumPy still uses {', '.join(left)}")
    return other


class Elsewhere(SelfTimed):
    """A call in the other process."""

    def __init__(self, process: Child, prepare: Prepare, work: Work) -> None:
        # A copy of the work is without the inputs, which are made again there.
        self.process, self.prepare, self.work = process, prepare, replace(work)
        process.ask(prepare_here, self.prepare, self.work)

    def __call__(self) -> Any:
        """The answer of one call."""
        return self.process.ask(call_here, self.prepare, self.work)

    def clock(self, calls: int) -> tuple[float, float]:
        """Its time there, without that of asking."""
        wall, cpu = self.process.ask(clock_here, self.prepare, self.work, calls)
        return wall, cpu


@lru_cache(2)  # a case's and its toy's
def calls_of(work_key: bytes) -> tuple[Work, dict[bytes, Call]]:
    """In the other process: a work, whose inputs are made once, and the calls made of it."""
    return pickle.loads(work_key), {}


def held(prepare: Prepare, work: Work) -> Call:
    """In the other process: the call made in this way, once."""
    shared, calls = calls_of(pickle.dumps(work))
    key = pickle.dumps(prepare)
    if key not in calls:
        calls[key] = prepare(shared)
    return calls[key]


def prepare_here(prepare: Prepare, work: Work) -> None:
    """In the other process: make a call."""
    held(prepare, work)


def call_here(prepare: Prepare, work: Work) -> Any:
    """In the other process: the answer of one call."""
    return held(prepare, work)()


def clock_here(prepare: Prepare, work: Work, calls: int) -> tuple[float, float]:
    """In the other process: the time of so many calls."""
    return clock(held(prepare, work), calls)
