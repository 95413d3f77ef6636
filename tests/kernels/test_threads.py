"""Do ranges in threads cover everything, in order, and are errors and interrupts raised?"""

from __future__ import annotations

import gc
import signal
import threading
import time
import weakref
from typing import Any

import pytest

from tests.doors.shared import in_parts
from tests.doors.shared import threads as _threads
from tests.support.each import each


@each("count", [1, 2, 5, 64])
@each("threads", [1, 2, 3, 7, 100])
def test_everything_is_covered_once_and_answers_are_in_order(count: int, threads: int) -> None:
    ranges: list[tuple[int, int]] = []
    firsts = in_parts(lambda a, b: ranges.append((a, b)) or a, count, threads)
    assert firsts == sorted(a for a, _ in ranges)
    assert len(ranges) == min(count, threads)
    assert sorted(i for a, b in ranges for i in range(a, b)) == list(range(count))


def test_they_run_at_the_same_time_and_the_caller_has_the_first() -> None:
    together = threading.Barrier(3, timeout=10)

    def part(first: int, _last: int) -> int:
        together.wait()
        return threading.get_ident() if first == 0 else 0

    assert in_parts(part, 3, 3) == [threading.get_ident(), 0, 0]


@each("wrong", [{0}, {1}, {2}, {0, 2}, {1, 2}])
def test_the_first_error_is_raised_when_all_have_ended(wrong: set[int]) -> None:
    ended: list[int] = []

    def part(first: int, _last: int) -> int:
        time.sleep(0.01 * first)
        ended.append(first)
        if first in wrong:
            raise ValueError(str(first))
        return first

    with pytest.raises(ValueError, match=str(min(wrong))):
        in_parts(part, 3, 3)
    assert sorted(ended) == [0, 1, 2]


def test_an_interrupt_is_raised_when_all_have_ended() -> None:
    """It comes while the caller waits for the other range."""
    ended: list[int] = []

    def part(first: int, _last: int) -> int:
        if first:
            time.sleep(0.02)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            time.sleep(0.05)
            ended.append(first)
        return 0

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            in_parts(part, 2, 2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == [1]


def test_threads_that_cannot_be_started_leave_none(monkeypatch: pytest.MonkeyPatch) -> None:
    start, ended = _threads.start_new_thread, list[int]()

    def refused(function: Any, arguments: tuple[()]) -> int:
        monkeypatch.undo()
        started = start(function, arguments)
        monkeypatch.setattr(_threads, "start_new_thread", fails)
        return started

    def fails(*_: Any) -> int:
        raise RuntimeError("can't start new thread")

    def part(first: int, _last: int) -> int:
        time.sleep(0.02)
        ended.append(first)
        return 0

    monkeypatch.setattr(_threads, "start_new_thread", refused)
    with pytest.raises(RuntimeError, match="can't start"):
        in_parts(part, 3, 3)
    assert ended == [1]


@pytest.mark.slow
def test_an_error_holds_nothing() -> None:
    """Arrays of a call that failed go with its exception, without a collection of cycles."""

    class Array:
        pass

    array = Array()
    watched = weakref.ref(array)

    def failing(array: Array) -> None:
        def part(first: int, _last: int) -> int:
            if first:
                raise ValueError(type(array).__name__)
            return 0

        in_parts(part, 2, 2)

    gc.collect()
    gc.disable()
    try:
        with pytest.raises(ValueError, match="Array") as problem:
            failing(array)
        del array, problem
        assert watched() is None
    finally:
        gc.enable()
