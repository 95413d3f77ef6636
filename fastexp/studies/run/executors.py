"""The loop that runs tasks: on threads, processes, Dask on this machine, or any executor."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, TypeAlias

from ..._parameters import validate
from ...errors import ParameterError, ParameterTypeError, StudyError
from ..design.design import Design
from ..report.results import StudyResults
from ..store.folder import Folder, Progress
from ..sums.totals import TaskResult
from .task import run_task

Report: TypeAlias = Callable[[int, int], object]  # called with (tasks done, tasks in all)
MAX_WAIT = 1.0  # seconds of a wait: on Windows, Ctrl-C takes effect only when a wait ends
TASKS_PER_WORKER = 3  # tasks in flight at most, for each worker
DEFAULT_TASKS = 64  # tasks in flight at most, if the number of workers is not known
MAX_WINDOWS_PROCESSES = 61  # Windows cannot wait for more handles at once


@dataclass(frozen=True)
class Workers:
    """An executor with the number of tasks that it runs at a time."""

    executor: Any
    count: int  # 0: not known
    spawned: bool = False  # whether its processes are started here

    @property
    def ahead(self) -> int:
        """The number of tasks in flight at most."""
        return TASKS_PER_WORKER * self.count or DEFAULT_TASKS

    def submit(self, study: Design, number: int) -> Future[TaskResult]:
        """Submit a task."""
        try:
            with interrupts_blocked() if self.spawned else contextlib.nullcontext():
                future: object = self.executor.submit(run_task, study, number)
        except Exception as error:
            raise StudyError(f"the executor accepts no task: {described(error)}") from error
        if not isinstance(future, Future):
            raise ParameterTypeError(
                "executor.submit must return a concurrent.futures.Future, got "
                f"{type(future).__name__}"
            )
        return future

    def check(self, study: Design) -> None:
        """Refuse code of which only the name is known, or which cannot be sent to processes."""
        for code in study.codes:
            value = code.here()
            try:
                if isinstance(self.executor, ProcessPoolExecutor):
                    pickle.dumps(value)
                main = sys.modules["__main__"]
                has_file = getattr(main, "__file__", None) or getattr(main, "__spec__", None)
                if self.spawned and code.reference.startswith("__main__:") and not has_file:
                    raise pickle.PicklingError  # a new process cannot import code of a notebook
            except Exception as error:  # the user's objects may raise exceptions of any kind
                raise ParameterError(
                    f"{code.reference} cannot be sent to processes: define it by def or class at "
                    "the top level of a module (not of a notebook), or run the study on threads"
                ) from error


def described(error: BaseException) -> str:
    """Return an error in one line, with its type."""
    return f"{type(error).__name__}: {error}"


@contextlib.contextmanager
def workers_of(executor: object, workers: int) -> Iterator[Workers]:
    """Yield the workers for `executor` of `Study.run`; those that are started here end with it."""
    stated = validate.counting("workers", workers, least=0)
    count = validate.threads(stated)
    with contextlib.ExitStack() as stack:
        if executor in (None, "threads"):
            yield Workers(stack.enter_context(ThreadPoolExecutor(count)), count)
        elif executor == "processes":
            context = multiprocessing.get_context("spawn")  # forks with threads or locks can hang
            most = min(count, MAX_WINDOWS_PROCESSES) if os.name == "nt" else count
            pool = ProcessPoolExecutor(most, mp_context=context, initializer=init_worker)
            yield Workers(stack.enter_context(pool), count, spawned=True)
        else:
            client: Any = stack.enter_context(_dask(count)) if executor == "dask" else executor
            if hasattr(client, "get_executor"):  # a Client of dask.distributed
                yield Workers(client.get_executor(), stated or sum(client.nthreads().values()))
            elif hasattr(client, "submit") and not isinstance(client, type):
                known = getattr(client, "_max_workers", None)
                yield Workers(client, known if isinstance(known, int) else stated)
            else:
                got = repr(executor) if isinstance(executor, str) else type(executor).__name__
                raise ParameterTypeError(
                    "executor must be None, 'threads', 'processes', 'dask' or an executor "
                    f"(submit(function, *arguments) gives a Future), got {got}"
                )


@contextlib.contextmanager
def _dask(workers: int) -> Iterator[Any]:
    """Start Dask's processes on this machine, and yield a client of them."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise ParameterError("executor 'dask' needs distributed: pip install distributed") from None
    with interrupts_blocked():
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",  # the usual port may be taken
            silence_logs=logging.CRITICAL,  # of workers that come and go
        )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@contextlib.contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block SIGINT while processes are started, which inherit this.

    Ctrl-C goes to all processes of a terminal, and must not end these. In this process a signal
    that came meanwhile takes effect at the end of the block.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # the first start would do this, and unblock SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def init_worker() -> None:
    """Let a worker ignore Ctrl-C, which goes to all processes of a terminal, and finish its task.

    It ends with the process that started it, however that ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()


def _exit_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def run_to_end(store: Progress, workers: Workers, progress: Report | None) -> StudyResults:
    """Run the missing tasks, and return the results."""
    try:
        if store.finished < store.study.tasks:
            workers.check(store.study)
            _finish(store, workers, progress or (lambda *_: None))
        results = StudyResults(store.study, store.totals)
        if isinstance(store, Folder):
            results.publish(store.path)
        return results
    except (KeyboardInterrupt, StudyError) as error:
        note = f"{store.finished:,} of {store.study.tasks:,} tasks are finished"
        if isinstance(store, Folder):
            study = ", study=study" if store.study.codes else ""  # a folder holds no code
            note += f" and kept; go on with fastexp.Study.resume({str(store.path)!r}{study})"
        else:
            note += "; nothing was saved (with out= a folder keeps them)"
        error.add_note(note)
        raise
    finally:
        store.close()


def _finish(store: Progress, workers: Workers, report: Report) -> None:
    """Run the missing tasks, with a bounded number in flight."""
    study = store.study
    missing = (number for number, done in enumerate(store.done) if not done)
    waiting: dict[Future[TaskResult], int] = {}

    def keep(future: Future[TaskResult]) -> None:
        store.add(_result_of(waiting.pop(future), future))
        report(store.finished, study.tasks)

    report(store.finished, study.tasks)
    try:
        while True:
            for number in islice(missing, workers.ahead - len(waiting)):
                waiting[workers.submit(study, number)] = number
            if not waiting:
                return
            for future in sorted(
                wait(waiting, MAX_WAIT, FIRST_COMPLETED).done, key=waiting.__getitem__
            ):
                keep(future)
    except BaseException:  # tasks that are running finish, and their results are kept
        for future in wait([future for future in waiting if not future.cancel()]).done:
            if not future.cancelled() and future.exception() is None:
                keep(future)
        raise


def _result_of(number: int, future: Future[TaskResult]) -> TaskResult:
    """Return the result of a task; raise StudyError with the reason if there is none."""
    try:
        return future.result()
    except BrokenExecutor as error:
        raise StudyError(
            f"task {number} or one beside it was lost with its worker ({described(error)}): is "
            "memory too small, or does a script start processes outside of "
            "if __name__ == '__main__'?"
        ) from error
    except Exception as error:
        raise StudyError(f"task {number} failed: {described(error)}") from error
