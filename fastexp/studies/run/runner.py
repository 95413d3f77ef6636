"""Tasks out, results in: on any executor, through lost workers and interrupts."""

from __future__ import annotations

import contextlib
import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeAlias

from ..._parameters import validate
from ...errors import ParameterTypeError, StudyError
from ..report.results import StudyResults
from ..store.folder import Folder, Progress
from ..sums.totals import TaskResult
from .pools import Piece, Pool, lost
from .task import run_task

Report: TypeAlias = Callable[[int, int], object]  # called with (tasks done, tasks in all)
ATTEMPTS = 4  # of a task whose worker was lost each time: then the task is to blame
SUSPECT = 2  # losses after which a task runs alone, so that no other one is blamed with it
BLINK, PATIENCE = 1.0, 60.0  # seconds: on Windows Ctrl-C waits for a wait to end; for a last task


def checked(executor: object, workers: int, progress: object) -> Pool:
    """The workers of a run: its arguments are refused before there is a folder."""
    validate.progress(progress)
    return Pool(executor, workers)


def carried_out(store: Progress, pool: Pool, progress: Report | None) -> StudyResults:
    """Do what is missing, and give the results; their study is the store's."""
    try:
        if store.finished < store.tasks:
            pool.check(store.study)
            _Run(store, pool, progress).go()
        results = StudyResults(store.study, store.totals)
        if isinstance(store, Folder):
            results.publish(store.path)
        return results
    except (KeyboardInterrupt, StudyError) as error:
        note = f"{store.finished:,} of {store.tasks:,} tasks are finished"
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
    """The tasks that are missing, on a pool, a bounded number of pieces of them at a time."""

    def __init__(self, store: Progress, pool: Pool, progress: Report | None) -> None:
        self.store, self.pool, self.report = store, pool, progress
        self.text = json.dumps(store.study.to_dict())
        self.fresh = self.pieces()
        self.again: deque[Piece] = deque()
        self.waiting: dict[Future[TaskResult], Piece] = {}
        self.parts: defaultdict[int, dict[int, TaskResult]] = defaultdict(dict)
        self.losses: Counter[Piece] = Counter()
        self.refusals = 0

    def go(self) -> None:
        try:
            self.announce()
            if self.pool.alone:
                for number in self.store.missing():
                    try:
                        result = run_task(self.store.study, number)
                    except Exception as error:
                        raise _failed(number, error) from error
                    self.keep((number,), result)
                return
            while self.fill() or self.waiting:
                self.collect()
        except BaseException:
            self.salvage()
            raise
        finally:
            try:
                self.pool.close()
            except KeyboardInterrupt:  # a further one does not wait
                self.pool.abandon()
                raise

    def pieces(self) -> Iterator[Piece]:
        """The tasks that are missing, in order: whole, or cut into ranges of cells."""
        study, most = self.store.study, self.pool.pieces(self.store.study)
        cells = Counter(cell.scenario for cell in study.cells)
        for number in self.store.missing():
            parts = min(most, cells[number // study.blocks])
            if parts <= 1:
                yield (number,)
            else:
                yield from ((number, part, parts) for part in range(parts))

    def room(self) -> int:
        """How many pieces may be in flight; one, while some have lost their workers again."""
        known = (*self.waiting.values(), *self.again) if self.losses else ()
        alone = any(self.losses[piece] >= SUSPECT for piece in known)
        return 1 if alone else self.pool.ahead

    def fill(self) -> bool:
        """Submit pieces until enough are in flight; whether any was submitted."""
        begun = False
        while len(self.waiting) < self.room():
            piece = self.again.popleft() if self.again else next(self.fresh, None)
            if piece is None:
                break
            try:
                future = self.pool.submit(self.store.study, self.text, piece)
            except ParameterTypeError:  # no Future
                raise
            except Exception as error:
                if not lost(error):
                    raise StudyError(f"the executor takes no task: {_text(error)}") from error
                self.again.appendleft(piece)
                if self.waiting:  # what is in flight is lost as well: it shows which tasks
                    break
                self.refused(error)
                continue
            self.waiting[future] = piece
            begun = True
        return begun

    def collect(self) -> None:
        done = wait(self.waiting, timeout=BLINK, return_when=FIRST_COMPLETED).done
        broken: list[Piece] = []
        cause: BaseException | None = None
        for future in done:
            piece = self.waiting.pop(future)
            try:
                result = future.result()
            except Exception as error:
                if not lost(error):
                    raise _failed(piece[0], error) from error
                broken.append(piece)
                cause = error
            else:
                self.keep(piece, result)
        if cause is not None:
            self.again.extend(sorted(broken))
            self.blame(broken, cause)
            self.renew()

    def keep(self, piece: Piece, result: TaskResult) -> None:
        """Write a task's result down, and report it; of one that was cut when its parts are all."""
        self.refusals = 0
        number, part, parts = piece if len(piece) > 1 else (*piece, 0, 1)
        self.parts[number][part] = result
        if len(self.parts[number]) < parts:
            return
        done = self.parts.pop(number)
        self.store.add({**result, "cells": [c for i in range(parts) for c in done[i]["cells"]]})
        self.announce()

    def announce(self) -> None:
        if self.report is not None:
            self.report(self.store.finished, self.store.tasks)

    def refused(self, error: BaseException) -> None:
        """A pool that is broken before it has anything."""
        self.refusals += 1
        if self.refusals >= ATTEMPTS:
            raise StudyError(f"the executor keeps breaking: {_text(error)}") from error
        self.renew()

    def blame(self, broken: list[Piece], error: BaseException) -> None:
        """A task that was lost each time is the cause: it was alone after the second time."""
        self.losses.update(broken)
        suspect = max(broken, key=lambda piece: self.losses[piece])
        if self.losses[suspect] >= ATTEMPTS:
            worst = suspect[0]
            raise StudyError(
                f"task {worst} was lost with its worker {ATTEMPTS} times ({_text(error)}): is "
                "memory too small, or does a script start processes outside of "
                "if __name__ == '__main__'?"
            ) from error

    def renew(self) -> None:
        """A broken pool fails all that it had: that is submitted again."""
        if not self.pool.rebuild():
            return
        for future in list(self.waiting):
            if not future.done() or future.cancelled() or future.exception() is not None:
                future.cancel()
                self.again.append(self.waiting.pop(future))

    def salvage(self) -> None:
        """After an interrupt or a failure: let running tasks end, and keep what is done."""
        try:
            running = [future for future in self.waiting if not future.cancel()]
            for future in wait(running, timeout=PATIENCE).done:
                if not future.cancelled() and future.exception() is None:
                    with contextlib.suppress(Exception):  # the error is what stopped the run
                        self.keep(self.waiting[future], future.result())
        except KeyboardInterrupt:  # once more: what runs is given up
            self.pool.abandon()
            raise


def _failed(number: int, error: BaseException) -> StudyError:
    return StudyError(f"task {number} failed: {_text(error)}")


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
