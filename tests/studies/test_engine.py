"""Does a study give the same bytes on any executor, and say what is wrong with one?"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from threading import Event, Timer
from typing import Any, ClassVar

import numpy as np
import pytest

import fastexp as fx
from tests.doors.studies import pools, ranked, run_task, runner
from tests.messages import raises, says
from tests.support.each import each
from tests.support.small_study import TASKS, small

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(scope="module")
def wanted() -> str:
    return small().run(workers=1).to_csv()


class Inline(Executor):
    """Runs a task as it is submitted; the tests make worse ones of it."""

    def __init__(self, losses: int = 0) -> None:
        self.losses, self.closed, self.submitted = losses, False, 0

    def submit(self, fn, /, *args):
        self.submitted += 1
        future: Future[Any] = Future()
        try:
            future.set_result(self.call(fn, *args))
        except Exception as error:
            future.set_exception(error)
        return future

    def call(self, fn, *args):
        if self.losses:
            self.losses -= 1
            raise BrokenExecutor("a worker is gone")
        return fn(*args)

    def shutdown(self, wait=True):  # noqa: ARG002  # as Dask's: no cancel_futures
        self.closed = True


class Backwards(Inline):
    """Runs the last of the tasks that wait first, each one twice, on threads that lag."""

    def __init__(self) -> None:
        super().__init__()
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

    def test_one_that_is_made_is_closed(self, wanted):
        made: list[Inline] = []

        def make() -> Inline:
            made.append(Inline())
            return made[-1]

        assert small().run(make).to_csv() == wanted
        assert [executor.closed for executor in made] == [True]

    def test_a_class_is_a_callable(self, wanted):
        assert small().run(ThreadPoolExecutor).to_csv() == wanted

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
        [("bogus", "'bogus'"), (3, "int"), (object(), "object"), (lambda task: task(), "function")],
    )
    def test_what_is_none(self, bad, got, tmp_path):
        wanted = says("executor of a wrong type", got=got)
        with pytest.raises(fx.errors.ParameterTypeError, match=says(wanted)):
            small().run(bad, out=tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_a_callable_that_returns_none(self):
        wanted = "executor that is none, got dict"
        with pytest.raises(fx.errors.ParameterTypeError, match=says(wanted)):
            small().run(dict)

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


class Counted(Inline):
    """Says how many tasks it runs at a time, and notes what it is given."""

    def __init__(self, workers: int | None, losses: int = 0) -> None:
        super().__init__(losses)
        self._max_workers, self.pieces = workers, []

    def submit(self, fn, /, *args):
        self.pieces.append(args[1:])
        return super().submit(fn, *args)


class TestPieces:
    """A few long tasks are cut into ranges of cells, which changes no byte."""

    ONE: ClassVar[dict[str, Any]] = {"data": "ages", "n": 9, "block": 30, "epsilon": [0.5, 1, 2]}

    @pytest.mark.slow
    @each(
        ("workers", "stated", "cut"),
        [(1, 0, 1), (2, 0, 4), (3, 0, 6), (50, 0, 6), (None, 0, 6), (None, 2, 4), (None, 1, 1)],
    )
    def test_one_task(self, workers, stated, cut):
        """Of six cells: two pieces a worker, as far as workers are known."""
        executor = Counted(workers)
        results = small(**self.ONE).run(executor, workers=stated)
        assert results.to_csv() == small(**self.ONE).run(workers=1).to_csv()
        whole = [(0,)] if cut == 1 else [(0, part, cut) for part in range(cut)]
        assert executor.pieces == whole

    @each(("workers", "cut"), [(2, False), (3, True), (4, True)])
    def test_tasks_that_are_shared_out_evenly_stay_whole(self, workers, cut):
        executor = Counted(workers)
        small(**self.ONE | {"block": 11}).run(executor)  # of two tasks
        assert (len(executor.pieces) > 2) == cut

    def test_many_tasks_stay_whole(self, wanted):
        executor = Counted(7)
        assert small().run(executor).to_csv() == wanted
        assert executor.pieces == [(number,) for number in range(TASKS)]

    @pytest.mark.parametrize("losses", [1, 3])
    def test_only_a_lost_piece_runs_again(self, losses):
        executor = Counted(3, losses)
        results = small(**self.ONE).run(executor)
        assert results.to_csv() == small(**self.ONE).run(workers=1).to_csv()
        assert len(executor.pieces) == 6 + losses

    def test_in_any_order(self):
        executor = Backwards()
        with executor.pool:
            results = small(**self.ONE).run(executor, workers=3)
        assert results.to_csv() == small(**self.ONE).run(workers=1).to_csv()
        assert executor.submitted == 6

    def test_a_task_is_kept_when_all_its_pieces_are(self, tmp_path):
        class Stopped(Counted):
            def call(self, fn, *args):
                if args[1:] == (1, 1, 3):
                    raise ZeroDivisionError
                return super().call(fn, *args)

        two = {**self.ONE, "n": [9, 10], "epsilon": 1.0, "mechanisms": ["median"]}
        two["mechanisms"] = ["median", {"name": "quantile", "q": 0.9}, "maximum"]
        with raises("1: task that failed, got ZeroDivisionError..."):
            small(**two).run(Stopped(3), out=tmp_path)
        assert (tmp_path / "tasks.jsonl").read_bytes().count(b"\n") == 1
        executor = Counted(3)
        results = fx.Study.resume(tmp_path, executor)
        assert results.to_csv() == small(**two).run(workers=1).to_csv()
        assert executor.pieces == [(1, part, 3) for part in range(3)]


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
        resumed = f"fastexp.Study.resume({str(tmp_path)!r})"
        assert caught.value.__notes__ == [
            f"7 of {TASKS} tasks are finished and kept; go on with {resumed}"
        ]
        with pytest.raises(KeyboardInterrupt) as caught:
            small().run(workers=1, progress=stop)
        assert caught.value.__notes__ == [
            f"7 of {TASKS} tasks are finished; nothing was saved (with out= a folder keeps them)"
        ]
        told: list[int] = []
        fx.Study.resume(tmp_path, workers=1, progress=lambda done, _: told.append(done))
        assert told == list(range(7, TASKS + 1))

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

        monkeypatch.setattr(pools, "run_task", slow)
        with pytest.raises(KeyboardInterrupt):
            small().run(workers=2, out=tmp_path, progress=stop)
        lines = (tmp_path / "tasks.jsonl").read_bytes().splitlines()
        assert 5 in [json.loads(line.partition(b"\t")[0])["task"] for line in lines]
        assert told == list(range(len(lines) + 1))
        assert len(lines) < TASKS
        monkeypatch.undo()
        assert fx.Study.resume(tmp_path).to_csv() == wanted


class TestLosses:
    @pytest.mark.slow
    @pytest.mark.parametrize("losses", [1, 3])
    def test_one_that_heals_itself_is_kept(self, losses, wanted):
        executor = Inline(losses)
        assert small().run(executor).to_csv() == wanted
        assert executor.submitted == TASKS + losses

    @pytest.mark.parametrize("kind", [BrokenExecutor, CancelledError])
    def test_submitting_may_fail_as_well(self, kind, wanted):
        class Refusing(Inline):
            def submit(self, fn, /, *args):
                if self.losses:
                    self.losses -= 1
                    raise kind("gone")
                return super().submit(fn, *args)

        assert small().run(Refusing(3)).to_csv() == wanted
        with raises("executor that breaks"):
            small().run(Refusing(400))

    @each("name", ["KilledWorker", "TerminatedWorkerError", "CommClosedError"])
    def test_losses_of_others_are_known_by_name(self, name):
        assert pools.lost(type("Nearer", (type(name, (Exception,), {}),), {})())
        assert not pools.lost(RuntimeError())

    def test_one_that_keeps_breaking_is_given_up(self):
        executor = Inline(10**6)
        with raises(
            "task that kills its workers, got a worker is gone", count="4", type="BrokenExecutor"
        ):
            small().run(executor)
        assert executor.submitted < 10 * pools.UNKNOWN

    def test_a_made_one_is_made_anew(self, wanted):
        made: list[Inline] = []

        def make() -> Inline:
            made.append(Inline(losses=1 if len(made) < 2 else 0))
            return made[-1]

        assert small().run(make).to_csv() == wanted
        assert [executor.closed for executor in made] == [True] * 3

    @pytest.mark.slow
    def test_the_task_that_kills_is_named(self):
        """Others are lost with it as often, until suspects run alone."""

        class Fatal(Inline):
            """A pool that breaks of task 5 and loses the tasks that were submitted before."""

            def __init__(self) -> None:
                super().__init__()
                self.held: list[tuple[Future[Any], Any, Any]] = []

            def submit(self, fn, /, *args):
                future: Future[Any] = Future()
                self.held.append((future, fn, args))
                if args[1] == 5:
                    for held, _, _ in self.held:
                        held.set_exception(BrokenExecutor())
                    self.held = []
                else:
                    Timer(0.05, self.work).start()  # the whole of `fill` comes first
                return future

            def work(self) -> None:
                while self.held:
                    future, fn, args = self.held.pop()
                    future.set_result(fn(*args))

        with raises("5: task that kills its workers", count="4"):
            small().run(Fatal())

    @pytest.mark.process
    def test_a_task_that_kills_its_process_is_named(self, tmp_path, monkeypatch):
        monkeypatch.setattr(pools, "run_described", dies_of_5)
        with (
            ProcessPoolExecutor(1, mp_context=SPAWN) as executor,
            raises("5: task that kills its workers", count="4"),
        ):
            small().run(executor, out=tmp_path)
        assert (tmp_path / "tasks.jsonl").read_bytes().count(b"\n") >= 3
        assert nobody_is_left()

    @pytest.mark.process
    def test_a_given_pool_that_breaks_is_built_anew(self, tmp_path, monkeypatch, wanted):
        monkeypatch.setattr(pools, "run_described", dies_once)
        monkeypatch.setenv("DIED", str(tmp_path / "died"))
        with ProcessPoolExecutor(1, mp_context=SPAWN) as executor:
            assert small().run(executor).to_csv() == wanted
        assert (tmp_path / "died").exists()
        assert nobody_is_left()  # the new one is closed


def nobody_is_left() -> bool:
    """Whether all processes end soon; those of broken pools are on their way."""
    end = time.monotonic() + 60
    while multiprocessing.active_children() and time.monotonic() < end:
        time.sleep(0.01)
    return not multiprocessing.active_children()


def dies_of_5(text: str, number: int) -> Any:
    """For workers: task 5 kills its process each time."""
    if number == 5:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    return pools.run_task(pools._study(text), number)


def dies_once(text: str, number: int) -> Any:
    """For workers: the first one that comes to task 5 is killed."""
    if number == 5:
        try:
            os.close(os.open(os.environ["DIED"], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    return pools.run_task(pools._study(text), number)


class TestErrors:
    @pytest.mark.slow
    @pytest.mark.parametrize("workers", [1, 3])
    def test_a_task_that_fails_is_named_and_others_are_kept(self, workers, tmp_path, monkeypatch):
        def fails(study: fx.Study, number: int) -> Any:
            if number == 9:
                raise ZeroDivisionError("by zero")
            return run_task(study, number)

        for module in (runner, pools):
            monkeypatch.setattr(module, "run_task", fails)
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
        true = ranked.Ranked.draw

        def wrong(self, block, size, key):
            other = fx.Median(self.mechanism.epsilon * 1.5, (-3, 3))
            return true(ranked.Ranked(other, (-3, 3)), block, size, key)

        monkeypatch.setattr(ranked.Ranked, "draw", wrong)
        results = small(**self.HOW, mechanisms=["median"]).run(workers=1)
        assert not results.agree
        seen = {row["figure"] for row in results.rows if row["agree"] is False}
        assert seen == {"error", "error_quantile"}

    def test_shifted_draws_are_seen(self, monkeypatch):
        true = ranked.Ranked.draw
        shift = lambda *args: np.minimum(true(*args) + 0.1, 3.0)  # noqa: E731
        monkeypatch.setattr(ranked.Ranked, "draw", shift)
        results = small(**self.HOW, mechanisms=["median"]).run(workers=1)
        assert "bias" in {row["figure"] for row in results.rows if row["agree"] is False}
