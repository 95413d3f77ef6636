"""Times of single kernels, for development: ``pytest benchmarks --benchmark-enable``.

Each kernel is timed on the largest arguments that it gets from fastexp's calls in the cases, with
at most `K` candidates or records, and from some calls that no case has. To compare two commits, add
``--benchmark-save=NAME`` on the first and ``--benchmark-compare`` on the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp._compiler.jit import KERNELS, Kernel
from fastexp._compiler.warmup import import_kernels

from .cases import CASES
from .harness.measure import timed
from .harness.workload import SEED, Case

K, SIZE, ROWS, ROUNDS = 100_000, 1_000, 100, 50
IN_PROCESSES = ("cold_start", "engine_")  # cases in other processes: calls cannot be recorded
Arguments = tuple[Any, ...]
import_kernels()


@contextmanager
def recording() -> Iterator[dict[str, Arguments]]:
    """Record copies of the largest arguments with which each kernel is called in the block."""
    calls: dict[str, Arguments] = {}
    plain = Kernel.__call__

    def recorded(self: Kernel, *arguments: Any) -> Any:
        if self.name not in calls or size_of(arguments) > size_of(calls[self.name]):
            calls[self.name] = copied(arguments)
        return plain(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "__call__", recorded)
        yield calls


def size_of(arguments: Arguments) -> int:
    """Return the bytes of all arrays."""
    return sum(argument.nbytes for argument in arguments if isinstance(argument, np.ndarray))


def copied(arguments: Arguments) -> Arguments:
    """Return copies of arguments, which a kernel may write to."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def kernel_calls(k: int, size: int, rows: int) -> dict[str, Arguments]:
    """Return the arguments of kernels in fastexp's calls in all cases, of at most these sizes."""
    with recording() as calls:
        for case in CASES:
            if not case.name.startswith(IN_PROCESSES):
                run_ours(replace(case, inputs=case.inputs.at_most(k, size, rows)))
        call_others(k, rows)
    return calls


def run_ours(case: Case) -> None:
    """Call fastexp once for each of its entries in the case."""
    work = case.work()
    for entry in case.entries:
        if entry.role in ("ours", "variant") and case.measure is timed:
            entry.call(work)()


def call_others(k: int, rows: int) -> None:
    """Make calls that no case has: laws, text keys, candidates and prices by group, quantiles."""
    rng = np.random.default_rng(SEED)
    keys, records, utilities = rng.integers(rows, size=k), rng.random(k), 20 * rng.random((rows, k))
    groups, numbers = range(rows), rng.integers(9, size=k)
    law = fx.Exponential(1.0, 1.0).law(utilities[0])
    assert law.probabilities.size == law.log_probabilities.size == k
    assert fx.PermuteAndFlip(1.0, 1.0).law(utilities[0][: k // 10]).probabilities.size == k // 10
    fx.Median(1.0, grid=fx.digits(3)).release(records, by=keys, groups=groups)
    median, price = fx.Median(1.0, (0, 1), widen=0.001), fx.Price(1.0, (0, 1), step=0.01)
    median.law(records).mean()
    price.law(records).mean()
    for mechanism, column in ((median, records), (price, records)):
        mechanism.release(column, by=keys, groups=groups)
    for rule in ("exponential", "permute-and-flip"):
        common = fx.MostCommon(1.0, list(range(9)), mechanism=rule)
        common.release(numbers, by=keys, groups=groups)
    texts, names = [f"group {key}" for key in keys], [f"group {key}" for key in groups]
    persons = partial(median.release, by=texts, groups=names, person=numbers)
    persons(records, max_groups=2, max_rows=2)
    fx.smooth_sensitivity(records, 0.1, bounds=(0, 1), neighbors="add-remove")
    fx.Quantiles(epsilon=1.0, bounds=(0, 1), count=10).release(records)
    fx.Exponential(1.0, 1.0).sample(rng.integers(9, size=(rows, 1_000)), rng=1)


@pytest.fixture(scope="module")
def calls() -> dict[str, Arguments]:
    return kernel_calls(K, SIZE, ROWS)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_kernel(benchmark: Any, calls: dict[str, Arguments], name: str) -> None:
    if name not in calls:
        pytest.skip("no case calls it from Python")
    benchmark.group = name.rpartition(".")[0]
    benchmark.pedantic(KERNELS[name], setup=lambda: (copied(calls[name]), {}), rounds=ROUNDS)
