"""Tasks out, results in, until all of a study are there."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from itertools import islice
from typing import TypeAlias

from ...errors import StudyError
from ..report.results import StudyResults
from ..store.folder import Folder, Progress
from ..sums.totals import TaskResult
from .executors import Workers, described

Report: TypeAlias = Callable[[int, int], object]  # called with (tasks done, tasks in all)
BLINK = 1.0  # seconds: on Windows Ctrl-C waits for a wait to end


def carried_out(store: Progress, workers: Workers, progress: Report | None) -> StudyResults:
    """Do what is missing, and give the results; their study is the store's."""
    try:
        if store.finished < store.study.tasks:
            workers.check(store.study)
            _Run(store, workers, progress).go()
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


class _Run:
    """The tasks that are missing, of which the workers have a bounded number at a time."""

    def __init__(self, store: Progress, workers: Workers, progress: Report | None) -> None:
        self.store, self.workers = store, workers
        self.report = progress or (lambda *_: None)
        self.waiting: dict[Future[TaskResult], int] = {}  # the tasks' numbers

    def go(self) -> None:
        missing = (number for number, done in enumerate(self.store.done) if not done)
        self.report(self.store.finished, self.store.study.tasks)
        try:
            while True:
                for number in islice(missing, self.workers.ahead - len(self.waiting)):
                    self.waiting[self.workers.submit(self.store.study, number)] = number
                if not self.waiting:
                    return
                done = wait(self.waiting, BLINK, FIRST_COMPLETED).done
                for future in sorted(done, key=self.waiting.__getitem__):
                    self.keep(self.waiting.pop(future), future)
        except BaseException:  # what runs ends, and is kept
            running = [future for future in self.waiting if not future.cancel()]
            for future in wait(running).done:
                if not future.cancelled() and future.exception() is None:
                    self.keep(self.waiting[future], future)
            raise

    def keep(self, number: int, future: Future[TaskResult]) -> None:
        """Write a task's result down, and report it."""
        try:
            result = future.result()
        except BrokenExecutor as error:
            raise StudyError(
                f"task {number} or one beside it was lost with its worker ({described(error)}): is "
                "memory too small, or does a script start processes outside of "
                "if __name__ == '__main__'?"
            ) from error
        except Exception as error:
            raise StudyError(f"task {number} failed: {described(error)}") from error
        self.store.add(result)
        self.report(self.store.finished, self.store.study.tasks)
