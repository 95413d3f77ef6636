"""Does a release that is interrupted at any line leave a lock, a mark or what it drew behind?"""

from __future__ import annotations

import contextlib
import errno
import linecache
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import fastexp as fx
from fastexp import Budget, BudgetError
from fastexp.errors import InvalidRecords
from tests.doors.budget import Question, atomic_files, charge_and_draw, ledger, terms
from tests.messages import raises

fcntl = pytest.importorskip("fcntl", reason="locks of POSIX")
pytestmark = [
    # a file that an interrupt left to its finaliser
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
QUESTION = Question(fx.Median(0.1, bounds=(0, 100), step=1))
PLACES = {atomic_files.__file__, ledger.__file__, terms.__file__}
SECRET = 7_341_234  # a draw


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Budget.file(tmp_path / "b", epsilon=1e6)
    return tmp_path / "b"


def draw() -> int:
    return SECRET


def release(path: Path, label: str | None) -> int:
    answer: int = charge_and_draw(Budget.file(path), label, QUESTION, draw)
    return answer


def leaves_a_block(frame: FrameType) -> bool:
    """Whether a line is the `with` of a block that ends: its lock goes before a signal comes."""
    first, code = frame.f_lasti, frame.f_code
    line = linecache.getline(code.co_filename, frame.f_lineno).strip()
    starts = [start for start, _, number in code.co_lines() if number == frame.f_lineno]
    return line.startswith("with ") and first > min(starts)


@contextlib.contextmanager
def interrupted_at(number: int, leaving: bool = True) -> Iterator[list[str]]:
    """A KeyboardInterrupt before the line with this number that the ledger's code comes to."""
    lines: list[str] = []
    before = sys.gettrace()

    def at_line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and (leaving or not leaves_a_block(frame)):
            lines.append(f"{frame.f_code.co_name} {frame.f_lineno}")
            if len(lines) == number:
                sys.settrace(before)
                raise KeyboardInterrupt
        return at_line

    def at_call(frame: FrameType, *_: Any) -> Any:
        return at_line if frame.f_code.co_filename in PLACES else None

    sys.settrace(at_call)
    try:
        yield lines
    finally:
        sys.settrace(before)


def held(folder: Path) -> list[str]:
    """Files that nobody else could lock."""
    names = []
    for path in folder.iterdir():
        handle = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            names.append(path.name)
        finally:
            os.close(handle)
    return names


@pytest.mark.slow
@pytest.mark.parametrize("label", [None, "q"])
def test_at_every_line_of_a_release_from_memory(label: str | None) -> None:
    """What it charged is in its log, once, and its locks are free."""
    number = 0
    while True:
        number += 1
        budget, drawn = Budget(1.0), []
        with contextlib.suppress(KeyboardInterrupt), interrupted_at(number, leaving=False) as lines:
            charge_and_draw(budget, label, QUESTION, lambda seen=drawn: seen.append(1) or SECRET)
        assert budget.charges == len(budget.log()) >= len(drawn), lines[-1]
        if len(lines) < number:
            break
        assert charge_and_draw(budget, "another", QUESTION, draw) == SECRET, lines[-1]
        if label is not None:
            assert charge_and_draw(budget, label, QUESTION, draw) == SECRET, lines[-1]
            assert budget.charges == 2, lines[-1]
    assert number > 20


@pytest.mark.slow
@pytest.mark.parametrize("label", [None, "q"])
def test_at_every_line(path: Path, label: str | None) -> None:
    header, number = path.read_bytes(), 0
    while True:
        number += 1
        path.write_bytes(header)
        with contextlib.suppress(KeyboardInterrupt), interrupted_at(number) as lines:
            release(path, label)
        if len(lines) < number:
            break
        assert held(path.parent) == [], lines[-1]
        assert release(path, "another") == SECRET, lines[-1]
        if label is not None:
            assert release(path, label) == SECRET, lines[-1]
            assert Budget.file(path).charges == 2
    assert number > 50


def frames_of(error: BaseException) -> list[FrameType]:
    """All frames that an error holds, and what led to it."""
    link: BaseException | None = error
    frames = []
    while link is not None:
        frames += [frame for frame, _ in traceback.walk_tb(link.__traceback__)]
        link = link.__context__
    return frames


def mine_in(error: BaseException) -> list[Any]:
    return [frame.f_locals.get("mine") for frame in frames_of(error)]


def tells(error: BaseException) -> bool:
    ours = [frame for frame in frames_of(error) if frame.f_code.co_filename != __file__]
    return any(str(SECRET) in repr(frame.f_locals) for frame in ours)


@pytest.mark.parametrize("function", ["write", "fsync"])
@pytest.mark.parametrize("refusal", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_what_could_not_be_kept_is_in_no_traceback(
    path: Path, monkeypatch: pytest.MonkeyPatch, function: str, refusal: BaseException
) -> None:
    """Nobody was to see it: it is drawn again."""
    real, steps = getattr(os, function), []

    def second(*arguments: Any) -> Any:
        steps.append(function)
        if len(steps) == 2:  # the first is the charge's
            raise refusal
        return real(*arguments)

    monkeypatch.setattr(os, function, second)
    with pytest.raises((BudgetError, KeyboardInterrupt)) as caught:
        release(path, "q")
    monkeypatch.undo()
    assert len(frames_of(caught.value)) > 3
    assert not tells(caught.value)


def test_many_that_could_not_be_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr(atomic_files, "_publish", full)
    with raises("answers that could not be kept") as caught:
        charge_and_draw(Budget.file(path), "q", QUESTION, lambda: [SECRET] * 1000)
    assert not tells(caught.value)


def test_frames_of_other_errors_are_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def earlier() -> None:
        mine = 3  # noqa: F841
        raise ValueError

    def missing() -> int:
        mine = 4  # noqa: F841
        raise InvalidRecords("missing")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    def later() -> None:
        try:
            earlier()
        except ValueError:
            release(path, "q")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(BudgetError) as caught:
        later()
    monkeypatch.undo()
    assert 3 in mine_in(caught.value)
    with pytest.raises(InvalidRecords) as caught_too:
        charge_and_draw(Budget.file(path), "q", QUESTION, missing)
    assert 4 in mine_in(caught_too.value)


def test_a_thread_beside_one_that_draws_may_have_a_label(path: Path) -> None:
    answers = []

    def outer() -> int:
        inner = threading.Thread(target=lambda: answers.append(release(path, "inner")))
        inner.start()
        inner.join(60)
        return 3

    assert charge_and_draw(Budget.file(path), "outer", QUESTION, outer) == 3
    assert answers == [SECRET]


@pytest.mark.parametrize("label", [None, "q"])
def test_that_a_lock_cannot_be_given_up_is_no_failure(
    path: Path, monkeypatch: pytest.MonkeyPatch, label: str | None
) -> None:
    """What is on disk is there: it must not be called unusable."""

    def refused(*_: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    budget = Budget.file(path)
    monkeypatch.setattr(atomic_files, "_unlock", refused)
    assert charge_and_draw(budget, label, QUESTION, draw) == SECRET
    budget.charge(QUESTION.promise())
    monkeypatch.undo()
    assert budget.charges == 2
    assert held(path.parent) == []
