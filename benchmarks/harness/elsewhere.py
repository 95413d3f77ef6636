"""Calls in other processes: whose NumPy has no AVX-512 code, or with an engine of n threads.

NumPy's AVX-512 sort is several times slower than its AVX2 one on some processors, and its exp
several times faster; so peers are measured both ways, in turns. NumPy chooses when it is
imported: hence one more process, which keeps the time of its own calls. It is started when
the first such call is prepared, and ends with this one. Polars, too, makes its threads once in
a process, so for each number of threads there is another one.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from dataclasses import astuple, replace
from functools import cache
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


STALE: dict[Child, list[int]] = defaultdict(list)  # calls that nobody holds any more


class Elsewhere(SelfTimed):
    """A call in the other process."""

    def __init__(self, process: Child, prepare: Prepare, work: Work) -> None:
        # A copy of the work is without the inputs, which are made again there.
        stale = STALE.pop(process, [])
        self.process, self.number = (
            process,
            process.ask(prepare_held, stale, prepare, replace(work)),
        )
        weakref.finalize(self, lambda number: STALE[process].append(number), self.number)

    def __call__(self) -> Any:
        """The answer of one call."""
        return self.process.ask(call_held, self.number)

    def clock(self, calls: int) -> tuple[float, float]:
        """Its time there, without that of asking."""
        wall, cpu = self.process.ask(clock_held, self.number, calls)
        return wall, cpu


class Held:
    """The calls that a process holds for another one, which knows their numbers."""

    def __init__(self) -> None:
        self.calls: dict[int, tuple[Call, Work]] = {}
        self.works: weakref.WeakValueDictionary[Any, Work] = weakref.WeakValueDictionary()
        self.number = 0

    def prepare(self, stale: list[int], prepare: Prepare, work: Work) -> int:
        """The number of a new call; calls on the same work share its inputs."""
        for number in stale:
            self.calls.pop(number, None)
        shared = self.works.setdefault((type(work), astuple(work)), work)
        self.number += 1
        self.calls[self.number] = prepare(shared), shared
        return self.number


HELD = Held()


def prepare_held(stale: list[int], prepare: Prepare, work: Work) -> int:
    """In the other process: hold a new call."""
    return HELD.prepare(stale, prepare, work)


def call_held(number: int) -> Any:
    """In the other process: the answer of one call."""
    return HELD.calls[number][0]()


def clock_held(number: int, calls: int) -> tuple[float, float]:
    """In the other process: the time of so many calls."""
    return clock(HELD.calls[number][0], calls)
