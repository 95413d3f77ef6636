"""The benchmarks at toy size: every case runs, and the check of rivals can fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from benchmarks import test_kernels
from benchmarks.cases import CASES
from benchmarks.harness.checks import WrongAnswer, check, same_mean
from benchmarks.harness.outcome import TOY
from benchmarks.harness.workload import Call, Case, Entry
from benchmarks.numbers.workload import CENTER, STUDY
from benchmarks.studies.cases import study
from benchmarks.studies.workload import CELLS, StudyWork
from tests.support.each import each

BY_ID = {case.id: case for case in CASES}


def test_case_ids_are_unique() -> None:
    assert len(BY_ID) == len(CASES)


def entry_names(case: Case) -> list[str]:
    return [entry.name for entry in case.entries]


# Of cases that are the same except for their size, one.
TOYS = {(case.name, case.inputs.label, *entry_names(case)): case.toy() for case in CASES}


@pytest.mark.process
@pytest.mark.slow
@each("toy", TOYS.values(), ids=lambda toy: toy.id)
def test_every_case_runs_at_toy_size(toy: Case) -> None:
    """Each entry is checked and measured, or declared absent with a reason."""
    outcome = toy.measure(toy, TOY)
    names = {row.name.partition(" ")[0] for row in outcome.rows} | outcome.absent.keys()
    assert sorted(names) == sorted(entry_names(toy))
    assert all(outcome.absent.values())
    assert all(row.repeats for row in outcome.rows)
    assert toy.entries[0].role == outcome.rows[0].role == "ours"


@pytest.mark.process
@pytest.mark.slow
def test_kernels_are_benchmarked() -> None:
    """On arguments that calls have given them, which a call leaves as they are."""
    calls = test_kernels.kernel_calls(1_000, 100, 30)
    assert len(calls) > 60
    for name, arguments in calls.items():
        size = test_kernels.size_of(arguments)
        for _ in range(2):
            test_kernels.KERNELS[name](*test_kernels.copied(arguments))
        assert size == test_kernels.size_of(arguments)


def constant(answer: Any, _work: Any) -> Call:
    """A way of doing no work."""
    return lambda: answer


WRONG: dict[str, Callable[[Any], Any]] = {  # least likely answers, a case for each kind of figures
    "release": lambda work: work.utilities.argmin(),
    "rows": lambda work: work.utilities.argmin(axis=1),
    "many": lambda work: np.arange(work.size) % work.k,
    "many_rows": lambda work: np.zeros((work.rows, work.size), dtype=np.int64),
    "top_k": lambda work: np.argsort(work.utilities)[: work.chosen],
    "joint_top_k_release": lambda work: np.argsort(work.counts)[: work.chosen],
    "randomized_response": lambda work: ~work.bits,
    "median_release": lambda work: work.bounds[0],
    "median_rows": lambda work: work.records[:, 0],
    "median_study": lambda work: [np.zeros((work.rows, work.size))] * len(STUDY),
    "many_draws": lambda work: np.linspace(*work.bounds, work.size),
    "revenue_law": lambda work: np.ones(work.k),
    "price_release": lambda work: work.prices[0],
    "laplace": lambda work: np.full(work.size, CENTER),
    "table1": lambda work: 2 * work.spreads[0],
    "smooth_sensitivity": lambda _work: 0.0,
    "group_median": lambda work: np.zeros(work.rows),
}


@pytest.mark.slow
@each("name", WRONG)
def test_wrong_answers_end_a_run(name: str) -> None:
    toy = next(case for case in CASES if case.name == name).toy()
    wrong = Entry("wrong", partial(constant, WRONG[name](toy.work())))
    with pytest.raises(WrongAnswer, match="wrong draws"):
        check(replace(toy, entries=(toy.entries[0], wrong)), TOY.check_s)


def test_means_within_six_standard_errors_are_the_same() -> None:
    rng = np.random.default_rng(5)
    ours = rng.exponential(1.0, 4_000)
    assert same_mean(rng.exponential(1.0, 4_000), ours, 0.0)
    assert not same_mean(rng.exponential(1.2, 4_000), ours, 0.0)
    assert same_mean(rng.exponential(1.2, 4_000), ours, 0.1)


def test_equal_errors_take_the_data_sets_that_they_take() -> None:
    """With that many, every cell's variance is that of exact figures, or below; one is equal."""
    work = StudyWork(200, size=20, rows=500, data="normal")
    _, between, noise = work.spreads
    many = work.data_sets_for([20] * len(CELLS))
    shares = (between + noise / 20) / many / (between / 500)
    assert 0.999 < shares.max() <= 1


@pytest.mark.slow
def test_variances_of_draws_are_those_of_draws() -> None:
    """The noise's part of the spread, from closed forms and from the study's own draws."""
    work = StudyWork(200, size=50, rows=2_000, data="normal")
    rows = study(work, 50).run(workers=1).rows
    wide = np.array([(row["high"] - row["low"]) / (2 * 1.959964) for row in rows])
    ratio = np.sqrt(work.spreads[2] / (50 * 2_000)) / wide
    assert (np.abs(ratio - 1) < 0.1).all()
