"""The harness: who is absent, how long and in which process calls are timed, leaks."""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.groups.workload import GroupWork
from benchmarks.harness import elsewhere
from benchmarks.harness.outcome import TOY, Absent
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
    toy = BY_ID["gumbel/k=1000000"].toy()
    outcome = toy.measure(toy, replace(TOY, slow_s=0.0))
    assert {len(row.repeats) for row in outcome.rows} == {1}


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
    """The other process answers, times itself, has the case's threads and hands its errors on."""
    work = NumberWork(1_000)
    _, without = elsewhere.with_avx2(Entry("partition", rivals.numpy_partition))
    try:
        call = without.call(work)
    except Absent as problem:
        pytest.skip(str(problem))
    assert call() == np.sort(work.records)[500]
    assert 0 < elsewhere.clock(call, 20) < 1
    environment = elsewhere.process(False, 1).submit(os.getenv, "POLARS_MAX_THREADS")
    assert environment.result() == "1"
    with pytest.raises(AttributeError, match="no attribute 'records'"):
        without.call(Work(10))


def test_calls_elsewhere_share_inputs_and_end() -> None:
    """A process holds the calls of the last two works, and makes each once."""
    prepare = pickle.dumps(rivals.numpy_partition)
    works = [pickle.dumps(NumberWork(k)) for k in (50, 50, 60, 70)]
    first, second, third = (elsewhere.held(work, prepare) for work in works[:3])
    assert first is second is not third
    elsewhere.held(works[3], prepare)
    assert elsewhere.held(works[0], prepare) is not first


def test_one_thread_has_the_same_inputs() -> None:
    work = GroupWork(7, rows=9, threads=2)
    assert work.keys is work.on_one_thread().keys
    assert work.on_one_thread().threads == 1
