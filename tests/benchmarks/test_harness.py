"""The harness: who is absent, how long and in which process calls are timed, memory, leaks."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.cases import CASES
from benchmarks.groups.cases import simulated
from benchmarks.groups.workload import GroupWork
from benchmarks.harness import elsewhere, measure, memory
from benchmarks.harness.child import Child
from benchmarks.harness.outcome import TOY, Absent, WrongAnswer
from benchmarks.harness.workload import Call, Entry, Work
from benchmarks.numbers import rivals
from benchmarks.numbers.workload import NumberWork
from benchmarks.selection import leak
from tests.benchmarks.test_cases import BY_ID


@pytest.mark.slow
def test_peers_that_cannot_be_imported_are_listed_as_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("opendp", "opendp.prelude", "diffprivlib", "diffprivlib.mechanisms"):
        monkeypatch.setitem(sys.modules, name, None)
    toy = BY_ID["release/k=10"].toy()
    outcome = toy.measure(toy, TOY)
    assert {"opendp", "diffprivlib"} == set(outcome.absent)
    assert all("cannot be imported" in reason for reason in outcome.absent.values())
    assert "fastexp" in [row.name for row in outcome.rows]


def test_what_cannot_be_imported_here_is_an_error() -> None:
    def prepare(_work: Work) -> Call:
        raise ImportError("no such name", name="fastexp.kernels")

    with pytest.raises(ImportError, match="no such name"):
        Entry("wrong", prepare).call(Work(10))


def test_slow_entries_have_one_call_only() -> None:
    toy = replace(BY_ID["gumbel/k=1000000"].toy(), slow_s=0.0)
    outcome = toy.measure(toy, TOY)
    assert {len(row.repeats) for row in outcome.rows} == {1}


@pytest.mark.slow
def test_long_calls_have_every_second_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "LONG", 0)
    toy = BY_ID["single/k=100000"].toy()
    outcome = toy.measure(toy, replace(TOY, repeats=5))
    assert {len(row.repeats) for row in outcome.rows} == {3}


@pytest.mark.parametrize("name", ["memory", "median_memory"])
def test_a_release_that_takes_much_memory_fails(name: str) -> None:
    toy = BY_ID[f"{name}/k=10000000"].toy()
    right = toy.entries[0].prepare(toy.work())()

    def prepare(_work: Work) -> Call:
        return lambda: right + 0 * np.zeros(1_000_000, dtype=np.int64)[0]

    greedy = replace(toy, entries=(Entry("greedy", prepare, "ours"),))
    with pytest.raises(WrongAnswer, match="bytes"):
        greedy.measure(greedy, TOY)


def test_the_leak_test_finds_a_difference_and_no_other() -> None:
    """Welch's t of two classes, one of them slower by half a standard deviation."""
    rng = np.random.default_rng(1)
    times = {name: 1_000 + 10 * rng.standard_normal(4_000) for name in leak.CLASSES}
    times["far"] += 5
    statistics = leak.welch(times)
    assert set(statistics) == set(leak.SUFFIXES)
    for pair, t in statistics.items():
        assert (t > leak.THRESHOLD) == ("far" in pair)


def test_the_leak_test_crops_outliers() -> None:
    times = {name: np.full(1_000, 100.0) + np.arange(1_000) % 7 for name in leak.CLASSES}
    times["far"][:5] = 1e9
    assert max(leak.welch(times).values()) < leak.THRESHOLD


@pytest.mark.process
def test_calls_without_avx512_code_are_made_elsewhere() -> None:
    """The other process has none, answers, times itself, and hands its errors on."""
    prepare = elsewhere.without_avx512(rivals.numpy_max)
    if not elsewhere.avx512_in_use():
        with pytest.raises(Absent, match="no AVX-512"):
            prepare(NumberWork(1_000))
        return
    work = NumberWork(1_000)
    call = prepare(work)
    assert call() == work.records.max()
    assert elsewhere.child().ask(elsewhere.avx512_in_use) == []
    wall, cpu = measure.clock(call, 20)
    assert 0 < wall < 1
    assert cpu >= 0
    with pytest.raises(RuntimeError, match="no attribute 'records'"):
        prepare(Work(10))
    assert call() == work.records.max()


@pytest.mark.process
def test_a_child_that_ends_is_absent() -> None:
    child = Child()
    assert child.ask(len, "four") == 4
    with pytest.raises(Absent, match="reason"):
        child.ask(absent, "reason")
    with pytest.raises(Absent, match="ended"):
        child.ask(os._exit, 1)
    child.end()


def absent(reason: str) -> None:
    raise Absent(reason)


def test_calls_elsewhere_share_inputs_and_end() -> None:
    """A process holds the calls of the last two works, and makes each once."""
    works = [NumberWork(50), NumberWork(50), NumberWork(60)]
    calls = [elsewhere.held(rivals.numpy_sort, work) for work in works]
    assert calls[0] is calls[1] is not calls[2]
    assert calls[2]() == np.sort(works[2].records)[30]
    greatest = elsewhere.held(rivals.numpy_max, works[2])
    assert greatest() == works[2].records.max()
    elsewhere.held(rivals.numpy_max, NumberWork(70))
    assert elsewhere.held(rivals.numpy_sort, works[0]) is not calls[0]


@pytest.mark.process
def test_engines_have_as_many_threads_as_the_case() -> None:
    """Polars asks its process's environment."""
    for threads in (1, 2):
        child = elsewhere.child(True, threads)
        assert child.ask(os.getenv, "POLARS_MAX_THREADS") == str(threads)
        assert child.ask(elsewhere.avx512_in_use) == elsewhere.avx512_in_use()


def test_one_thread_has_the_same_inputs() -> None:
    work = GroupWork(7, rows=9, threads=2)
    assert work.keys is work.on_one_thread().keys
    assert work.on_one_thread().threads == 1


def greedy(work: GroupWork) -> Call:
    """A way that takes 64 MB more than it should."""
    right = simulated(work)()
    return lambda: right + 0 * np.ones(8_000_000)[0]


@pytest.mark.process
@pytest.mark.slow
def test_a_process_that_takes_much_memory_fails() -> None:
    toy = next(case for case in CASES if case.name == "group_memory").toy()
    if not memory.CLEAR.exists():
        assert "peak" in toy.measure(toy, TOY).absent["fastexp"]
        return
    too_much = replace(toy, entries=(Entry("greedy", greedy, "ours"),))
    with pytest.raises(WrongAnswer, match="bytes"):
        too_much.measure(too_much, TOY)
