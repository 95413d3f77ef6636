"""From which size threads pay: each case at its smallest size, and what is made of the ratios."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import threads
from tests.doors.selection import plan
from tests.support.each import each


@pytest.mark.slow
@pytest.mark.parametrize("name", [*threads.CASES])
def test_one_thread_and_two_take_turns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare, sizes = threads.CASES[name]
    calls = list[int]()
    monkeypatch.setattr(threads, "BUDGET_S", 0.0)
    with threads.without_thresholds():
        call = prepare(sizes[0])
        one, two = threads.measured(lambda count: (calls.append(count), call(count)))
        shapes = [np.shape(call(count)) for count in (1, 2)]
    assert min(one, two) > 0
    assert calls.count(1) == calls.count(2) >= threads.ROUNDS[0]
    assert shapes[0] == shapes[1]


def test_thresholds_come_back() -> None:
    before = plan.THREADED_CANDIDATES
    with threads.without_thresholds():
        assert plan.THREADED_CANDIDATES == 1
    assert before == plan.THREADED_CANDIDATES > 1


@each(
    ("ratios", "least"),
    [
        ({1: 2.0, 2: 0.9, 4: 0.6}, 2),
        ({1: 0.9, 2: 1.1, 4: 0.6}, 4),
        ({1: 0.9, 2: 0.6, 4: 0.97}, None),
        ({1: 0.5}, 1),
    ],
)
def test_threads_pay_from_where_they_always_do(ratios: dict[int, float], least: int | None) -> None:
    assert threads.pays_from(ratios) == least
