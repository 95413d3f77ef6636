"""Executors of any make, and how those that can are built anew after a worker's death."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from functools import cached_property, lru_cache, partial
from inspect import signature
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ..._parameters import validate
from ...errors import ParameterError, ParameterTypeError
from ..design.code import Code, replaced
from ..design.design import Design
from ..sums.totals import TaskResult
from .task import run_task

AHEAD, UNKNOWN = 3, 64  # tasks that wait for each worker; in flight where workers are unknown
SHARES, PERHAPS = 2, 4  # pieces of tasks for each worker; workers where their number is unknown
SUBMITS = "submit(function, *arguments) gives a Future"
Piece: TypeAlias = tuple[int, ...]  # a task's number; of a part of it also which, and of how many
MOST_WINDOWS = 61  # processes: Windows waits for no more handles at once
# Errors of executors that lost a worker, by name, so that none of them need be imported.
LOST = {"BrokenExecutor", "KilledWorker", "CommClosedError", "TerminatedWorkerError"}


def lost(error: BaseException) -> bool:
    """Whether an exception is of a worker's end rather than of the task."""
    names = {cls.__name__ for cls in type(error).__mro__}
    return bool(names & LOST) or isinstance(error, CancelledError)


@runtime_checkable
class Submits(Protocol):
    """An executor of any make."""

    def submit(self, task: Callable[..., Any], /, *args: Any) -> Any:
        """A future of the task's result."""
        ...


@runtime_checkable
class GivesExecutor(Protocol):
    """What has an executor, as a Client of dask.distributed."""

    def get_executor(self) -> Submits:
        """The executor."""
        ...

    def nthreads(self) -> Mapping[str, int]:
        """How many tasks each of its workers can run at a time."""
        ...


class Pool:
    """An executor, how many tasks it is given ahead and in which pieces, how it is built anew."""

    def __init__(self, executor: object, workers: int) -> None:
        self._stated = validate.counting("workers", workers, least=0)
        count = validate.threads(self._stated)
        self._make, self._ours = _maker(executor, count)
        self._pickles = executor == "processes" or isinstance(executor, ProcessPoolExecutor)
        self.alone: bool = executor in (None, "threads") and count == 1  # no pool is needed
        if not self._stated and isinstance(executor, GivesExecutor):
            self._stated = sum(executor.nthreads().values())

    @cached_property
    def executor(self) -> Any:
        """The executor, made when the first task is there."""
        executor = self._make()
        if not isinstance(executor, Submits):
            raise ParameterTypeError(
                f"executor() must return an executor: {SUBMITS}; got {type(executor).__name__}"
            )
        return executor

    @property
    def workers(self) -> int:
        """How many tasks run at a time, as far as that is known; else 0."""
        known = getattr(self.executor, "_max_workers", None)
        return known if isinstance(known, int) else self._stated

    @property
    def ahead(self) -> int:
        """How many tasks are in flight at most."""
        return AHEAD * self.workers or UNKNOWN

    def pieces(self, study: Design) -> int:
        """Into how many pieces a task is cut, so that few long tasks keep all workers busy.

        Each piece makes the data sets anew, so many tasks stay whole, and so do those of a kind
        that are shared out evenly.
        """
        workers = self.workers or PERHAPS
        return 1 if study.blocks % workers == 0 else -(-SHARES * workers // study.tasks)

    def submit(self, study: Design, text: str, piece: Piece) -> Future[TaskResult]:
        """Submit a piece of a task: threads share the study, others get its settings as text."""
        if isinstance(self.executor, ThreadPoolExecutor):
            return self.executor.submit(run_task, study, *piece)
        with interrupts_kept() if self._ours else contextlib.nullcontext():
            task = partial(run_described, codes=study.codes) if study.codes else run_described
            future: object = self.executor.submit(task, text, *piece)
        if not isinstance(future, Future):
            raise ParameterTypeError(
                "executor.submit must return a concurrent.futures.Future, got "
                f"{type(future).__name__}"
            )
        return future

    def check(self, study: Design) -> None:
        """Refuse code that processes cannot be sent, and whatever is not here."""
        for code in study.codes:
            value = code.here()
            try:
                _ = pickle.dumps(value) if self._pickles else b""
                if self._ours and self._pickles and not _is_found_anew(code.reference):
                    raise pickle.PicklingError(code.reference)  # which a new process does not know
            except Exception as error:  # of whatever kind, as objects may raise any
                raise ParameterError(
                    f"{code.reference} cannot be sent to processes: define it by def or class at "
                    "the top level of a module (not of a notebook), or run the study on threads"
                ) from error

    def rebuild(self) -> bool:
        """A new executor in place of a broken one; False for one that heals itself."""
        old = self.executor
        if not self._ours and not isinstance(old, ProcessPoolExecutor):
            return False
        with contextlib.suppress(Exception):
            old.shutdown(wait=False)
        if not self._ours:  # whoever gave the first one does not know the next ones
            self._make, self._ours = partial(_like, old), True
        self.executor = self._make()
        return True

    def abandon(self) -> None:
        """Kill processes of ours: nobody waits for them any longer."""
        for process in list((getattr(self.executor, "_processes", None) or {}).values()):
            if self._ours:
                process.kill()

    def close(self) -> None:
        """Wait for the workers and let them go; an executor that was given is left alone."""
        if self._ours and "executor" in self.__dict__:
            self.executor.shutdown(wait=True)  # not all executors have other arguments


def _maker(executor: object, workers: int) -> tuple[Callable[[], Any], bool]:
    if executor is None or executor == "threads":
        return (lambda: ThreadPoolExecutor(workers)), True
    if executor == "processes":
        return (lambda: processes(workers)), True
    if isinstance(executor, GivesExecutor):
        return executor.get_executor, False
    if isinstance(executor, Submits) and not isinstance(executor, type):
        return (lambda: executor), False
    if callable(executor) and _needs_nothing(executor):
        return executor, True
    got = repr(executor) if isinstance(executor, str) else type(executor).__name__
    raise ParameterTypeError(
        f"executor must be None, 'threads', 'processes', an executor ({SUBMITS}), or a callable "
        f"without arguments that returns one, got {got}"
    )


def _needs_nothing(executor: Callable[..., Any]) -> bool:
    try:
        signature(executor).bind()
    except TypeError:
        return False
    except ValueError:  # some compiled ones say nothing
        pass
    return True


def processes(workers: int) -> ProcessPoolExecutor:
    """Fresh processes that leave Ctrl-C to the one that started them, and end with it."""
    context = multiprocessing.get_context("spawn")  # forks of threads or locks can hang
    count = min(workers, MOST_WINDOWS) if os.name == "nt" else workers
    return ProcessPoolExecutor(count, mp_context=context, initializer=belong)


def _like(old: Any) -> Executor:
    """A pool with the settings of a given one: it keeps them in these attributes."""
    return ProcessPoolExecutor(
        old._max_workers,
        mp_context=old._mp_context,
        initializer=old._initializer,
        initargs=old._initargs,
        max_tasks_per_child=old._max_tasks_per_child,
    )


@contextlib.contextmanager
def interrupts_kept() -> Iterator[None]:
    """Ctrl-C goes to all processes of a terminal: those begun here do not take it.

    They inherit that SIGINT is blocked; here it comes as soon as they are there.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # else the first start does it, and unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def belong() -> None:
    """Ctrl-C goes to all processes of a terminal: workers finish what they do.

    They do not outlive the process that started them, however it ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def run_described(
    text: str, number: int, part: int = 0, parts: int = 1, codes: tuple[Code, ...] = ()
) -> TaskResult:
    """A piece of a task of a study that is given as JSON, with its code: for other processes."""
    return run_task(_study(text, codes), number, part, parts)


@lru_cache(maxsize=4)
def _study(text: str, codes: tuple[Code, ...] = ()) -> Design:
    by_name = {(code.reference, code.digest): code for code in codes}
    return Design(**replaced(json.loads(text), lambda name, digest: by_name[name, digest]))


def _is_found_anew(reference: str) -> bool:
    """Whether a new process has the module of some code: of a notebook it has not."""
    main = sys.modules["__main__"]
    return not reference.startswith("__main__:") or bool(
        getattr(main, "__file__", None) or getattr(main, "__spec__", None)
    )
