"""Every draw of one data set ends soon, or is refused: no data and no epsilon make it long.

A second of CPU is promised for a million records; the test allows five for slow machines, and loops
that do not end are far beyond.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp import errors

EPSILONS = 1e-9, 1e-3, 1.0, 1e4
SIZES = *range(3), 255, 257, 1023, 1025, 65_537, 1_000_000
SECONDS = 5
Data = Any


def records(n: int) -> Iterator[Data]:
    spread = np.random.default_rng(1).random(n)
    yield np.full(n, 7.0)
    yield 50 + 1e-9 * spread
    if n == SIZES[-1]:
        return
    yield np.full(n, -1e300)
    yield np.arange(n) % 2 * 100.0
    yield 100 * spread


def utilities(k: int) -> Iterator[Data]:
    rank = np.arange(k)
    yield np.zeros(k)
    yield np.where(rank == 0, 0.0, -1e300)
    yield np.where(rank == 0, 0.0, -40.0)
    yield -rank / 8
    yield -rank * 1000


def numbers(epsilon: float, neighbors: Any) -> Iterator[Any]:
    for step in (None, 1):
        yield fx.Median(epsilon, (0, 100), step=step, neighbors=neighbors)
        for m in (2, 4096):
            yield fx.Quantiles(
                count=m, epsilon=epsilon, bounds=(0, 100), step=step, neighbors=neighbors
            )
    yield fx.Quantile(1e-9, epsilon, (0, 100), step=1, neighbors=neighbors)
    yield fx.Quantile(0.999, epsilon, (0, 100), neighbors=neighbors, convention="lower")
    yield fx.Median(epsilon, grid=fx.digits(3), neighbors=neighbors, convention="upper")
    yield fx.Price(epsilon, (0, 100), step=0.0001)


def selections(epsilon: float, k: int) -> Iterator[Any]:
    yield fx.Exponential(epsilon, 1)
    yield fx.Exponential(epsilon, 1, base=np.geomspace(1e-200, 1e200, k))
    yield fx.PermuteAndFlip(epsilon, 1)
    for rounds in (1, 2, k // 2, k):
        yield fx.TopK(max(rounds, 1), epsilon=epsilon)


def ends(draw: Callable[[], Any]) -> bool:
    """Whether a draw ends in time, or is refused; a limit of work is refused at once."""
    before = time.process_time()
    try:
        draw()
    except errors.ParameterError as error:
        return "2**30" in str(error)
    return time.process_time() - before < SECONDS


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_numbers(epsilon: float, neighbors: str) -> None:
    for mechanism in numbers(epsilon, neighbors):
        for n in SIZES if neighbors == "replace" else SIZES[:-1]:
            for data in records(n):
                assert ends(lambda d=data, m=mechanism: m.release(d)), (n, mechanism)
                if n < 2000:
                    assert ends(lambda d=data, m=mechanism: m.sample(d, 8, rng=1)), (n, mechanism)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_selections(epsilon: float) -> None:
    for k in SIZES[2:]:
        for mechanism in selections(epsilon, k):
            for data in utilities(k):
                assert ends(lambda d=data, m=mechanism: m.release(d)), (k, mechanism)
                if k < 2000:
                    assert ends(lambda d=data, m=mechanism: m.sample(d, 8, rng=1)), (k, mechanism)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_noise(epsilon: float) -> None:
    for step in (1, 1e-3, 1e6):
        for bounds in (None, (0, 1e6)):
            noise = fx.Laplace(epsilon, 1, step=step, bounds=bounds)
            for number in (0, -1, 2**53, 1e300):
                assert ends(lambda x=number, m=noise: m.release(x)), (number, noise)
    response = fx.RandomizedResponse(epsilon)
    assert ends(lambda: response.release(np.ones(1_000_000, int)))
