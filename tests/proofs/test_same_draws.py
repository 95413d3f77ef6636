"""Are seeded draws the same with threads, as parts of longer ones, and beside other callers?"""

from __future__ import annotations

import numpy as np
import pytest

import fastexp as fx
from tests.support.cases import CASES, IDS
from tests.support.each import each

SPREAD = 20 * np.random.default_rng(1).random(3000)
MECHANISM = fx.Exponential(1.0, 1.0)


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 0])
@pytest.mark.parametrize("size", [None, 3, 70_001])
def test_threads_change_nothing(threads, size, monkeypatch):
    """Also where the sizes are such that threads are really used."""
    from tests.doors.selection import plan

    one = MECHANISM.sample(SPREAD, size, rng=5)
    monkeypatch.setattr(plan, "THREADED_CANDIDATES", 1)
    monkeypatch.setattr(plan, "THREADED_DRAWS", 1)
    assert np.array_equal(MECHANISM.sample(SPREAD, size, rng=5, threads=threads), one)


@each("case", CASES, ids=IDS)
def test_shorter_draws_by_the_same_kernel_are_a_prefix(case):
    m, u = case.mechanism, case.utilities
    assert (m.sample(u, 5000, rng=1)[:4500] == m.sample(u, 4500, rng=1)).all()


def test_concurrent_callers_do_not_disturb_each_other():
    from concurrent.futures import ThreadPoolExecutor

    alone = [MECHANISM.sample(SPREAD, 5000, rng=i) for i in range(16)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda i: MECHANISM.sample(SPREAD, 5000, rng=i), range(16)))
    assert all((a == b).all() for a, b in zip(alone, together, strict=True))
