"""Calls in other processes, in which NumPy has no AVX-512 code, or an engine has n threads.

On some processors NumPy's AVX-512 sort is several times slower than its AVX2 sort, and its exp
several times faster; so peers are measured both ways, in turns. NumPy chooses when it is
imported: hence one more process, which times its own calls. It is started when the first such call
is prepared, and ends with this process. Polars, too, makes its threads once in a process, so there
is a process for each number of threads.
"""

from __future__ import annotations

import gc
import os
import pickle
import time
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import get_context
from typing import Any
from unittest.mock import patch

from .outcome import Absent
from .workload import Call, Entry, Prepare, Work


def with_avx2(entry: Entry) -> tuple[Entry, Entry]:
    """Return two entries of a peer that sorts: with NumPy's AVX-512 code and without."""
    without = with_own_threads(entry.prepare, avx512=False)
    return entry, replace(entry, name=f"{entry.name}_avx2", prepare=without)


def with_own_threads(prepare: Prepare, avx512: bool = True) -> Prepare:
    """Return the same way of doing the work, in a process whose engines have the work's threads."""

    def elsewhere(work: Work) -> Call:
        # The copy of the work has no inputs, which the other process makes again.
        call = Elsewhere(process(avx512, work.threads), prepare, replace(work))
        call.ask(there, 0)
        return call

    return elsewhere


PROCESSES: dict[tuple[bool, int], Executor] = {}


def end() -> None:
    """End all processes."""
    while PROCESSES:
        PROCESSES.popitem()[1].shutdown()


def process(avx512: bool, threads: int) -> Executor:
    """Return the process for calls with these settings, which is started once."""
    if (avx512, threads) in PROCESSES:
        return PROCESSES[avx512, threads]
    settings = {"POLARS_MAX_THREADS": str(threads)}
    if not avx512:
        from numpy._core import _multiarray_umath as core

        names = [n for n in core.__cpu_dispatch__ if n.startswith(("AVX512", "X86_V4"))]
        in_use = [name for name in names if core.__cpu_features__[name]]
        if not in_use:
            raise Absent("NumPy has no AVX-512 code for this processor")
        settings["NPY_DISABLE_CPU_FEATURES"] = " ".join(in_use)
    with patch.dict(os.environ, settings):
        executor = ProcessPoolExecutor(1, get_context("spawn"))
        executor.submit(os.getpid).result()  # the process starts now
    PROCESSES[avx512, threads] = executor
    return executor


@dataclass(frozen=True)
class Elsewhere:
    """A call in another process."""

    executor: Executor
    prepare: Prepare
    work: Work

    def __call__(self) -> Any:
        """Return the answer of one call."""
        return self.ask(answer)

    def ask(self, function: Any, *arguments: Any) -> Any:
        """Return the result of a function of the call in the other process."""
        key = pickle.dumps(self.work), pickle.dumps(self.prepare)
        return self.executor.submit(function, *key, *arguments).result()


def clock(call: Call, calls: int) -> float:
    """Return the seconds of `calls` calls, without garbage collections."""
    if isinstance(call, Elsewhere):
        seconds: float = call.ask(there, calls)
        return seconds
    was_on = gc.isenabled()
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - start
    finally:
        if was_on:
            gc.enable()


@lru_cache(2)  # the work of a case, and that of its toy
def calls_of(work: bytes) -> tuple[Work, dict[bytes, Call]]:
    """In the other process: return a work, whose inputs are made once, and its calls."""
    return pickle.loads(work), {}


def held(work: bytes, prepare: bytes) -> Call:
    """In the other process: return the call that was prepared in this way, once."""
    shared, calls = calls_of(work)
    if prepare not in calls:
        calls[prepare] = pickle.loads(prepare)(shared)
    return calls[prepare]


def answer(work: bytes, prepare: bytes) -> Any:
    """In the other process: return the answer of one call."""
    return held(work, prepare)()


def there(work: bytes, prepare: bytes, calls: int) -> float:
    """In the other process: return the seconds of `calls` calls, without their preparation."""
    return clock(held(work, prepare), calls)
