"""Calls in other processes: whose NumPy has no AVX-512 code, or with an engine of n threads.

NumPy's AVX-512 sort is several times slower than its AVX2 one on some processors, and its exp
several times faster; so peers are measured both ways, in turns. NumPy chooses when it is
imported: hence one more process, which keeps the time of its own calls. It is started when
the first such call is prepared, and ends with this one. Polars, too, makes its threads once in
a process, so for each number of threads there is another one.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from dataclasses import astuple, replace
from functools import cache
from typing import IO, Any

from .provenance import ROOT
from .startup import Absent
from .workload import Call, Work

Prepare = Callable[[Any], Call]


def without_avx512(prepare: Prepare) -> Prepare:
    """The same way of doing the work, elsewhere."""

    def elsewhere(work: Work) -> Call:
        return Elsewhere(server(), prepare, work)

    return elsewhere


def with_own_threads(prepare: Prepare, avx512: bool = True) -> Prepare:
    """The same way of doing the work, where engines have as many threads as the work."""

    def elsewhere(work: Work) -> Call:
        return Elsewhere(server(avx512, work.threads), prepare, work)

    return elsewhere


def avx512_in_use() -> list[str]:
    """Names of the AVX-512 features that this process's NumPy dispatches to."""
    from numpy._core import _multiarray_umath as core

    names: list[str] = core.__cpu_dispatch__
    return [n for n in names if n.startswith(("AVX512", "X86_V4")) and core.__cpu_features__[n]]


class Server:
    """The other process: it is asked one thing at a time."""

    def __init__(self, avx512: bool = False, threads: int = 0) -> None:
        names = [] if avx512 else avx512_in_use()
        if not names and not avx512:
            raise Absent("NumPy has no AVX-512 code for this processor")
        settings = {"NPY_DISABLE_CPU_FEATURES": " ".join(names)} if names else {}
        if threads:
            settings["POLARS_MAX_THREADS"] = str(threads)
        self.stale: list[int] = []  # calls that nobody holds any more
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.other_dispatch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, **settings},
        )
        atexit.register(self.end)
        if not avx512 and (left := self.ask("features")):
            raise Absent(f"NumPy still uses {', '.join(left)}")

    def ask(self, verb: str, *what: Any) -> Any:
        """The answer to a question; an error there is one here."""
        pipes = self.process.stdin, self.process.stdout
        if pipes[0] is None or pipes[1] is None or self.process.poll() is not None:
            raise Absent("the other process has ended")
        pickle.dump((verb, what), pipes[0])
        pipes[0].flush()
        worked, answer = pickle.load(pipes[1])
        if not worked:
            raise RuntimeError(f"in the other process: {answer}")
        return answer

    def end(self) -> None:
        """End the process by closing what it reads from."""
        with self.process:
            if self.process.stdin is not None:
                self.process.stdin.close()


server = cache(Server)


class Elsewhere:
    """A call there. `clock` gives its own time, without that of asking."""

    def __init__(self, server: Server, prepare: Prepare, work: Work) -> None:
        stale = server.stale[:]
        del server.stale[: len(stale)]
        # A copy of the work is without the inputs, which are made again there.
        self.server, self.number = server, server.ask("prepare", stale, prepare, replace(work))
        weakref.finalize(self, server.stale.append, self.number)

    def __call__(self) -> Any:
        """The answer of one call."""
        return self.server.ask("call", self.number)

    def clock(self, calls: int) -> tuple[float, float]:
        """Wall and CPU seconds of so many calls."""
        wall, cpu = self.server.ask("clock", self.number, calls)
        return wall, cpu


class Calls:
    """What the other process can be asked."""

    def __init__(self) -> None:
        self.held: dict[int, tuple[Call, Work]] = {}
        self.works: weakref.WeakValueDictionary[Any, Work] = weakref.WeakValueDictionary()
        self.number = 0

    def features(self) -> list[str]:
        """What should not be there."""
        return avx512_in_use()

    def prepare(self, stale: list[int], prepare: Prepare, work: Work) -> int:
        """The number of a new call; calls on the same work share its inputs."""
        for number in stale:
            self.held.pop(number, None)
        own = self.works.setdefault((type(work), astuple(work)), work)
        self.number += 1
        self.held[self.number] = prepare(own), own
        return self.number

    def call(self, number: int) -> Any:
        """One call's answer."""
        return self.held[number][0]()

    def clock(self, number: int, calls: int) -> tuple[float, float]:
        """Its time."""
        from .measure import clock

        return clock(self.held[number][0], calls)


def serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer until there are no more questions."""
    calls = Calls()
    while True:
        try:
            verb, what = pickle.load(questions)
        except EOFError:
            return
        try:
            answer = True, getattr(calls, verb)(*what)
        except Exception as problem:  # is raised again where the question came from
            answer = False, f"{type(problem).__name__}: {problem}"
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    pipe = sys.stdout.buffer
    sys.stdout = sys.stderr  # what is printed must not come between answers
    serve(sys.stdin.buffer, pipe)
