"""Does a study give the same bytes on any executor, and say what is wrong with one?"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from threading import Event
from typing import Any, ClassVar

import numpy as np
import pytest

import fastexp as fx
from tests.doors.studies import Ranked, executors, run_task
from tests.messages import raises, says
from tests.support.each import each
from tests.support.small_study import TASKS, small

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(scope="module")
def wanted() -> str:
    return small().run(workers=1).to_csv()


class Inline(Executor):
    """Runs a task as it is submitted; the tests make worse ones of it."""

    closed, submitted = False, 0
    _max_workers: int | None = None

    def submit(self, fn, /, *args):
        self.submitted += 1
        future: Future[Any] = Future()
        try:
            future.set_result(self.call(fn, *args))
        except Exception as error:
            future.set_exception(error)
        return future

    def call(self, fn, *args):
        return fn(*args)

    def shutdown(self, wait=True):  # noqa: ARG002  # as Dask's: no cancel_futures
        self.closed = True


class Backwards(Inline):
    """Runs the last of the tasks that wait first, each one twice, on threads that lag."""

    def __init__(self) -> None:
        self.held: list[tuple[Any, ...]] = []
        self.pool = ThreadPoolExecutor(3)

    def submit(self, fn, /, *args):
        self.submitted += 1
        future: Future[Any] = Future()
        self.held.append((future, fn, args))
        self.pool.submit(self.work)
        return future

    def work(self) -> None:
        time.sleep(0.002)  # others are submitted meanwhile
        future, fn, args = self.held.pop()
        fn(*args)
        future.set_result(fn(*args))


class TestExecutors:
    @pytest.mark.slow
    @pytest.mark.parametrize("workers", [1, 2, 4])
    def test_threads(self, workers, wanted):
        assert small().run(workers=workers).to_csv() == wanted
        assert small().run("threads", workers=workers).to_csv() == wanted

    @pytest.mark.process
    def test_processes(self, wanted):
        assert small().run("processes", workers=2).to_csv() == wanted
        assert not multiprocessing.active_children()

    @pytest.mark.slow
    def test_any_order_twice(self, wanted):
        executor = Backwards()
        with executor.pool:
            assert small().run(executor).to_csv() == wanted
        assert executor.submitted == TASKS
        assert not executor.closed  # it was given

    def test_one_that_is_given_is_left_open(self, wanted):
        with ThreadPoolExecutor(2) as executor:
            assert small().run(executor).to_csv() == wanted
            assert executor.submit(int, "3").result() == 3

    @pytest.mark.engines
    @pytest.mark.process
    @pytest.mark.filterwarnings("ignore::ResourceWarning")  # of dask's own sockets
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_processes_of_dask(self, wanted):
        pytest.importorskip("distributed")
        assert small().run("dask", workers=2).to_csv() == wanted

    def test_dask_that_is_not_installed(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "distributed", None)
        with raises("executor of Dask"):
            small().run("dask")

    def test_a_client_has_an_executor(self, wanted):
        class Client:
            def submit(self, *_args):
                raise AssertionError("not this one: its futures are of another kind")

            def get_executor(self):
                return Inline()

            def nthreads(self):
                return {"tcp://one": 1, "tcp://two": 1}

        assert small().run(Client()).to_csv() == wanted

    @pytest.mark.parametrize(
        ("bad", "got"),
        [("bogus", "'bogus'"), (3, "int"), (object(), "object"), (ThreadPoolExecutor, "type")],
    )
    def test_what_is_none(self, bad, got, tmp_path):
        wanted = says("executor of a wrong type", got=got)
        with pytest.raises(fx.errors.ParameterTypeError, match=says(wanted)):
            small().run(bad, out=tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_one_whose_futures_are_of_another_kind(self):
        class Foreign(Inline):
            def submit(self, fn, /, *args):
                return fn(*args)

        wanted = "executor without futures, got dict"
        with pytest.raises(fx.errors.ParameterTypeError, match=says(wanted)):
            small().run(Foreign())

    def test_other_arguments(self, tmp_path):
        with raises("workers: at least a number", least="0"):
            small().run(workers=-1, out=tmp_path / "out")
        with raises("workers: integer"):
            small().run("processes", workers=1.5)
        with raises("progress to call"):
            small().run(progress=3, out=tmp_path / "out")
        assert not (tmp_path / "out").exists()


@each(("workers", "stated", "ahead"), [(2, 0, 6), (2, 5, 6), (None, 0, TASKS), (None, 3, 9)])
def test_as_many_tasks_wait_as_keep_workers_busy(workers, stated, ahead):
    executor, seen = Inline(), []
    executor._max_workers = workers
    small().run(executor, workers=stated, progress=lambda *_: seen.append(executor.submitted))
    assert seen[:2] == [0, ahead]


class TestProgress:
    @pytest.mark.slow
    @pytest.mark.parametrize("workers", [1, 3])
    def test_counts_every_task(self, workers):
        told: list[tuple[int, int]] = []
        small().run(workers=workers, progress=lambda *counts: told.append(counts))
        assert told == [(done, TASKS) for done in range(TASKS + 1)]

    @pytest.mark.slow
    def test_counts_on_after_a_stop(self, tmp_path):
        def stop(done: int, _: int) -> None:
            if done == 7:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as caught:
            small().run(workers=1, out=tmp_path, progress=stop)
        kept = (tmp_path / "tasks.jsonl").read_bytes().count(b"\n")
        assert 7 <= kept <= 9  # what runs as the interrupt comes is kept
        resumed = f"fastexp.Study.resume({str(tmp_path)!r})"
        assert caught.value.__notes__ == [
            f"{kept} of {TASKS} tasks are finished and kept; go on with {resumed}"
        ]
        with pytest.raises(KeyboardInterrupt) as caught:
            small().run(workers=1, progress=stop)
        assert "nothing was saved (with out= a folder keeps them)" in caught.value.__notes__[0]
        told: list[int] = []
        fx.Study.resume(tmp_path, workers=1, progress=lambda done, _: told.append(done))
        assert told == list(range(kept, TASKS + 1))

    def test_an_interrupt_keeps_what_runs(self, tmp_path, monkeypatch, wanted):
        """A task that runs as the interrupt comes ends, is written down and told of."""
        running, released, told = Event(), Event(), []

        def slow(study: fx.Study, number: int) -> Any:
            if number == 5:
                running.set()
                assert released.wait(60)
            return run_task(study, number)

        def stop(done: int, _: int) -> None:
            told.append(done)
            if running.is_set() and not released.is_set():
                released.set()
                raise KeyboardInterrupt

        monkeypatch.setattr(executors, "run_task", slow)
        with pytest.raises(KeyboardInterrupt):
            small().run(workers=2, out=tmp_path, progress=stop)
        lines = (tmp_path / "tasks.jsonl").read_bytes().splitlines()
        assert 5 in [json.loads(line.partition(b"\t")[0])["task"] for line in lines]
        assert told == list(range(len(lines) + 1))
        assert len(lines) < TASKS
        monkeypatch.undo()
        assert fx.Study.resume(tmp_path).to_csv() == wanted


class TestLosses:
    @pytest.mark.process
    def test_a_process_that_dies_ends_the_run_which_goes_on(self, tmp_path, monkeypatch, wanted):
        monkeypatch.setattr(executors, "run_task", dies_of_5)
        with (
            ProcessPoolExecutor(1, mp_context=SPAWN) as executor,
            raises("task that killed its worker", error="BrokenProcessPool..."),
        ):
            small().run(executor, out=tmp_path)
        lines = (tmp_path / "tasks.jsonl").read_bytes().count(b"\n")
        assert 3 <= lines < TASKS
        monkeypatch.undo()
        assert fx.Study.resume(tmp_path).to_csv() == wanted

    def test_what_breaks_says_so(self):
        class Broken(Inline):
            def call(self, *_):
                raise BrokenExecutor("a worker is gone")

        with raises("task that killed its worker", error="BrokenExecutor: a worker is gone"):
            small().run(Broken())


def dies_of_5(study: fx.Study, number: int) -> Any:
    """For workers: task 5 kills its process."""
    if number == 5:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    return run_task(study, number)


class TestErrors:
    @pytest.mark.slow
    @pytest.mark.parametrize("workers", [1, 3])
    def test_a_task_that_fails_is_named_and_others_are_kept(self, workers, tmp_path, monkeypatch):
        def fails(study: fx.Study, number: int) -> Any:
            if number == 9:
                raise ZeroDivisionError("by zero")
            return run_task(study, number)

        monkeypatch.setattr(executors, "run_task", fails)
        with raises("9: task that failed", error="ZeroDivisionError: by zero...") as caught:
            small().run(workers=workers, out=tmp_path)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        monkeypatch.undo()
        assert 9 <= (tmp_path / "tasks.jsonl").read_bytes().count(b"\n") < TASKS
        assert fx.Study.resume(tmp_path).to_csv() == small().run().to_csv()

    def test_an_executor_that_takes_nothing(self):
        executor = ThreadPoolExecutor(1)
        executor.shutdown()
        with raises("RuntimeError: executor that takes nothing, got cannot schedule..."):
            small().run(executor)


class TestAgreement:
    HOW: ClassVar[dict[str, Any]] = {
        "datasets": 40,
        "draws": 200,
        "data": "normal",
        "n": 12,
        "bounds": (-3, 3),
        "block": 20,
    }

    def test_exact_and_drawn_figures_agree(self):
        results = small(**self.HOW).run(workers=1)
        assert results.agree
        assert {row["agree"] for row in results.rows} == {True}
        assert max(abs(row["z"]) for row in results.rows) > 0.01

    @each("seed", [0, 1, 2])
    def test_rare_great_errors_that_did_not_come_are_no_fault(self, seed):
        """A study of 176 draws, where one of 300 is far off: its spread is not in the sample."""
        results = small(seed=seed, data="normal", n=12, mechanisms=["median"]).run(workers=1)
        errors = [r for r in results.rows if r["epsilon"] == 2 and r["figure"] == "error"]
        assert errors[0]["monte_carlo"] < 0.6 * errors[0]["exact"]
        assert results.agree

    def test_wrong_draws_are_seen(self, monkeypatch):
        """The power of the same check: draws at another epsilon."""
        true = Ranked.draw

        def wrong(self, block, size, key):
            other = fx.Median(self.mechanism.epsilon * 1.5, (-3, 3))
            return true(Ranked(other, (-3, 3)), block, size, key)

        monkeypatch.setattr(Ranked, "draw", wrong)
        results = small(**self.HOW, mechanisms=["median"]).run(workers=1)
        assert not results.agree
        seen = {row["figure"] for row in results.rows if row["agree"] is False}
        assert seen == {"error", "error_quantile"}

    def test_shifted_draws_are_seen(self, monkeypatch):
        true = Ranked.draw
        shift = lambda *args: np.minimum(true(*args) + 0.1, 3.0)  # noqa: E731
        monkeypatch.setattr(Ranked, "draw", shift)
        results = small(**self.HOW, mechanisms=["median"]).run(workers=1)
        assert "bias" in {row["figure"] for row in results.rows if row["agree"] is False}
