"""Executors of any make, and how those that can are built anew after a worker's death."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from functools import cached_property, lru_cache, partial
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, runtime_checkable

from ..._parameters import validate
from ...errors import ParameterTypeError
from ..design.design import Design
from ..sums.totals import TaskResult
from .task import run_task

AHEAD, UNKNOWN = 3, 64  # tasks that wait for each worker; in flight where workers are unknown
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


class Pool:
    """An executor, how many tasks it is given ahead, and how it is built anew."""

    alone: bool

    def __init__(self, executor: object, workers: int) -> None:
        count = validate.threads(validate.counting("workers", workers, least=0))
        self._make, self._ours = _maker(executor, count)
        self.alone = executor in (None, "threads") and count == 1  # no pool is needed

    @cached_property
    def executor(self) -> Any:
        """The executor, made when the first task is there."""
        return self._make()

    @property
    def ahead(self) -> int:
        """How many tasks are in flight at most."""
        known = getattr(self.executor, "_max_workers", None)
        return AHEAD * known if isinstance(known, int) else UNKNOWN

    def submit(self, study: Design, text: str, number: int) -> Future[TaskResult]:
        """Submit a task: threads share the study, others get its settings as text."""
        if isinstance(self.executor, ThreadPoolExecutor):
            return self.executor.submit(run_task, study, number)
        with interrupts_kept() if self._ours else contextlib.nullcontext():
            future: Future[TaskResult] = self.executor.submit(run_described, text, number)
        return future

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
    if callable(executor):
        return executor, True
    got = repr(executor) if isinstance(executor, str) else type(executor).__name__
    raise ParameterTypeError(
        "executor must be None, 'threads', 'processes', an Executor, or a callable that returns "
        f"one, got {got}"
    )


def processes(workers: int) -> ProcessPoolExecutor:
    """Fresh processes that leave Ctrl-C to the one that started them, and end with it."""
    context = multiprocessing.get_context("spawn")  # forks of threads or locks can hang
    count = min(workers, MOST_WINDOWS) if os.name == "nt" else workers
    return ProcessPoolExecutor(count, mp_context=context, initializer=belong)


def _like(old: object) -> Executor:
    """A pool with the settings of a given one: it keeps them in these attributes."""
    return ProcessPoolExecutor(
        getattr(old, "_max_workers", None),
        mp_context=getattr(old, "_mp_context", None),
        initializer=getattr(old, "_initializer", None),
        initargs=getattr(old, "_initargs", ()),
        max_tasks_per_child=getattr(old, "_max_tasks_per_child", None),
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


def run_described(text: str, number: int) -> TaskResult:
    """A task of a study that is given as JSON: what is sent to other processes."""
    return run_task(_study(text), number)


@lru_cache(maxsize=4)
def _study(text: str) -> Design:
    return Design(**json.loads(text))
