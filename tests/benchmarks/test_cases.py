"""The benchmarks at toy size: every case runs, and every case's check can fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from benchmarks import test_kernels
from benchmarks.cases import CASES
from benchmarks.harness.outcome import TOY, WrongAnswer
from benchmarks.harness.workload import Call, Case
from benchmarks.numbers.workload import CENTER, STUDY
from benchmarks.studies import engines
from benchmarks.studies.workload import CELLS
from tests.support.each import each

BY_ID = {case.id: case for case in CASES}


def test_case_ids_are_unique() -> None:
    assert len(BY_ID) == len(CASES)


# Of cases that are the same except for their size, one.
TOYS = {(case.name, case.inputs.label, *case.row_names): case.toy() for case in CASES}


@pytest.mark.process
@pytest.mark.slow
@each("toy", TOYS.values(), ids=lambda toy: toy.id)
def test_every_case_runs_at_toy_size(toy: Case) -> None:
    """Each entry is measured and checked, or declared absent with a reason."""
    with engines.RUNNING:  # no process outlives the test
        outcome = toy.measure(toy, TOY)
    names = [row.name for row in outcome.rows] + list(outcome.absent)
    assert sorted(names) == sorted(toy.row_names)
    assert all(outcome.absent.values())
    assert all(row.repeats and row.checked for row in outcome.rows)
    assert [row.role for row in outcome.rows].count("ours") >= 1


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


# Each case's check, fed a wrong answer through the whole way of a measurement.


def constant(answer: Any, _work: Any) -> Call:
    """A way of doing no work, for other processes too."""
    return lambda: answer


def wrong_entry(case: Case, answer: Any) -> Case:
    """The toy case with one entry, of its first entry's role, that always gives `answer`."""
    entry = replace(case.entries[0], prepare=partial(constant, answer), check=None)
    return replace(case.toy(), entries=(entry,))


def worst(case: Case) -> Any:
    """The least likely answer of the right form."""
    order = np.argsort(case.work().utilities)[..., : case.inputs.chosen]
    return int(order[0]) if order.size == 1 else order


WRONG: dict[str, Callable[[Case], Any]] = {
    "release": worst,
    "release_2t": lambda _case: 0.5,
    "single": worst,
    "rows": lambda case: worst(case)[:, 0],
    "rows_float32": lambda case: worst(case)[:, 0],
    "rows_2t": lambda case: np.zeros(case.inputs.rows - 1, dtype=np.int64),
    "many_rows": lambda case: np.zeros((case.inputs.rows, case.inputs.size), dtype=np.int64),
    "gumbel": worst,
    "top_k": worst,
    "joint_top_k_release": lambda case: np.argsort(case.work().counts)[: case.inputs.chosen],
    "top_k_release": lambda case: np.zeros(case.inputs.chosen, dtype=np.int64),
    "permute_and_flip": worst,
    "permute_and_flip_release": worst,
    "randomized_response": lambda case: case.work().bits,
    "randomized_response_release": lambda case: ~case.work().bits,
    "many": lambda case: np.arange(case.inputs.size) % case.inputs.k,
    "budget": worst,
    "build_exponential": lambda _case: None,
    "build_median": lambda _case: None,
    "build_laplace": lambda _case: None,
    "guarantee": lambda _case: None,
    "most_common": lambda case: case.work().candidates[0],
    "cold_start": lambda _case: ("True", "False"),
    "constant_time": lambda _case: 0,
    "memory": lambda case: case.inputs.k,
    "median_release": lambda case: case.work().bounds[0],
    "median_sample": lambda case: case.work().bounds[0],
    "median_rows": lambda case: np.zeros(case.inputs.rows),
    "median_coarse": lambda case: case.work().bounds[0],
    "median_list": lambda case: case.work().bounds[0],
    "quantiles_release": lambda case: np.full(10, case.work().bounds[0]),
    "median_threads": lambda _case: 0,
    "median_memory": lambda case: case.work().bounds[1],
    "median_study": lambda case: [np.zeros((case.inputs.rows, case.inputs.size))] * len(STUDY),
    "many_draws": lambda case: np.linspace(*case.work().bounds, case.inputs.size),
    "revenue_law": lambda case: np.zeros(case.inputs.k),
    "price_release": lambda case: case.work().prices[0],
    "price_points": lambda case: case.work().prices[0],
    "price_anywhere": lambda case: case.work().prices[0],
    "laplace": lambda case: np.full(case.inputs.size, CENTER),
    "laplace_release": lambda _case: CENTER,
    "table1": lambda _case: np.zeros(len(CELLS)),
    "table1_draws": lambda case: 3 * case.work().spreads[0],
    "table1_2t": lambda case: case.work().spreads[0][1:],
    "table1_engines": lambda case: case.work().spreads[0],
    "expected_errors": lambda case: np.ones((case.inputs.rows, len(STUDY))),
    "law_error": lambda _case: 0.0,
    "sorted_file": lambda _case: 0.9,
    "smooth_sensitivity": lambda _case: 0.0,
    "smooth_sensitivity_sorted": lambda _case: float("nan"),
    "group_median": lambda case: np.zeros(case.inputs.rows),
    "group_median_2t": lambda case: case.work().medians[1:],
    "group_offsets": lambda case: case.work().medians,
    "group_statistics": lambda case: case.work().medians,
    "row_statistics": lambda case: case.work().matrix[:, 0],
    "group_offsets_2t": lambda case: np.full(case.inputs.rows, np.nan),
    "engine_polars": lambda case: case.work().medians,
    "engine_polars_streaming": lambda case: {"k": np.arange(1), "x": np.ones(1)},
    "engine_duckdb": lambda case: {"k": np.arange(case.inputs.rows), "x": case.work().medians},
    "engine_pandas": lambda case: np.full(case.inputs.rows, 5_000.0),
    "group_memory": lambda case: np.full(case.inputs.rows, 10_000.0),
}


@pytest.mark.process
@pytest.mark.slow
@each("name", dict.fromkeys(case.name for case in CASES))
def test_every_check_can_fail(name: str) -> None:
    toy = next(case for case in CASES if case.name == name).toy()
    broken = wrong_entry(toy, WRONG[name](toy))
    with pytest.raises(WrongAnswer):
        broken.measure(broken, TOY)
