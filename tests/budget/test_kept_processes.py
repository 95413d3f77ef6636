"""Are answers under a label charged once, whatever dies or fills up in the middle?"""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import fastexp as fx
from fastexp import Budget, BudgetError
from fastexp.errors import InvalidRecords, LabelError
from tests.doors.budget import Question, atomic_files, charge_and_draw
from tests.messages import raises
from tests.support import processes

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name != "posix", reason="forks and signals of POSIX"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]
QUESTION = Question(fx.Median(0.1, bounds=(0, 100), step=1))
STEPS = ["open", "write", "fsync", "ftruncate", "link", "unlink", "close"]
WRITING = ["write", "fsync", "link"]
SIZES = {"inline": 3, "beside": 1000}  # answers


@pytest.fixture
def path(tmp_path: Path) -> Path:
    where = tmp_path / "survey.budget"
    Budget.file(where, epsilon=1.0)
    return where


@pytest.fixture(params=SIZES)
def draw(request):
    return drawing(SIZES[request.param])


def drawing(size: int) -> Callable[[], list[int]]:
    return lambda: np.frombuffer(os.urandom(8 * size), np.int64).tolist()


def ask(path: Path, draw: Callable[[], list[int]]) -> list[int]:
    return charge_and_draw(Budget.file(path), "q", QUESTION, draw)


def never():
    raise AssertionError("drawn again")


def in_child(action: Callable[[], object]) -> tuple[int, str]:
    """How a forked child ended, and what it said."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # never returns
        try:
            said = json.dumps(action())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os.kill(os.getpid(), signal.SIGKILL)  # not os._exit: coverage and locks see a kill
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    return os.waitpid(child, 0)[1], said


def stepping(names: list[str], last: int, then: Callable[[str], None]) -> list[str]:
    """From here on `then` is called before the step with this number of `os` functions."""
    seen: list[str] = []

    def watched(name):
        real = getattr(os, name)

        def call(*args, **named):
            seen.append(name)
            if len(seen) == last:
                then(name)
            return real(*args, **named)

        return call

    for name in names:
        setattr(os, name, watched(name))
    return seen


def settled(path: Path, draw: Callable[[], list[int]], told: str) -> None:
    """The file is whole; a retry has answers, those that were told if any were; one charge."""
    budget = Budget.file(path)
    answered = [entry["state"] for entry in budget.log()] == ["answered"]
    kept = budget.answers("q") if answered else None
    answers = ask(path, draw if kept is None else never)
    assert kept in (None, answers)
    assert told in ("", json.dumps(answers))
    assert ask(path, never) == Budget.file(path).answers("q") == answers
    assert Budget.file(path).charges == 1
    assert Budget.file(path).spent == 0.1
    locks = list(path.parent.glob(".budget-*.lock"))  # of one who died with it; they hold nothing
    assert [lock.stat().st_size for lock in locks] in ([], [0])


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_each_step_is_on_disk_before_the_next(path, monkeypatch, size):
    """The charge before the draw, the answers before they are returned, a file before its name."""
    steps = []

    def watched(name):
        real = getattr(os, name)

        def call(handle, *more):
            folder = name == "fsync" and stat.S_ISDIR(os.fstat(handle).st_mode)
            steps.append("folder" if folder else name)
            return real(handle, *more)

        monkeypatch.setattr(os, name, call)

    for name in WRITING:
        watched(name)
    answers = ask(path, lambda: steps.append("draw") or drawing(size)())
    line, beside = ["write", "fsync"], ["write", "fsync", "link", "folder"]
    assert steps == line + ["draw"] + (beside if size > 3 else []) + line
    assert len(answers) == size


@pytest.mark.parametrize("step", [1, 2])
def test_a_line_that_was_cut_off_was_never_there(path, step):
    """Whatever the disk has of the last line after a power failure."""
    ask(path, drawing(3))
    lines = path.read_bytes().splitlines(keepends=True)
    before, line = b"".join(lines[:step]), lines[step]
    for kept in range(0, len(line), 7):
        for torn in (line[:kept], line[:kept] + bytes(len(line) - kept)):
            path.write_bytes(before + torn)
            settled(path, drawing(3), "")


def test_killed_at_every_step(path, draw, tmp_path):
    header, step, drawn = path.read_bytes(), 0, tmp_path / "drawn"
    drawn.mkdir()
    while True:
        step += 1
        path.write_bytes(header)

        def killed(number=step):
            def noted():
                answers = draw()
                (drawn / str(number)).write_text(json.dumps(answers))
                return answers

            stepping(STEPS, number, lambda _: os.kill(os.getpid(), signal.SIGKILL))
            return ask(path, noted)

        _, told = in_child(killed)
        settled(path, draw, told)
        kept = json.dumps(Budget.file(path).answers("q"))
        if (drawn / str(step)).exists():  # what a dead process drew is told by no file
            text = (drawn / str(step)).read_text()
            files = [p.read_text("latin-1") for p in path.parent.iterdir() if p.is_file()]
            first = str(json.loads(text)[0])
            assert text == kept or not any(first in file for file in files)
        if told:
            break
    assert step > 10  # it got through to the end


def test_a_full_disk_at_every_step(path, draw, monkeypatch):
    header, step, refusals = path.read_bytes(), 0, []
    real = {name: getattr(os, name) for name in WRITING}

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    while True:
        step += 1
        path.write_bytes(header)
        budget = Budget.file(path)
        for name in WRITING:
            monkeypatch.setattr(os, name, real[name])
        seen = stepping(WRITING, step, full)
        told = ""
        try:
            told = json.dumps(charge_and_draw(budget, "q", QUESTION, draw))
        except BudgetError as error:
            refusals.append((str(error), type(error.__context__)))
        finally:
            for name in WRITING:
                setattr(os, name, real[name])
        settled(path, draw, told)
        if len(seen) < step:
            break
    assert len(refusals) >= 4
    assert all("No space left" in text and context is OSError for text, context in refusals)


def ask_once(path: Path) -> list[int]:
    return charge_and_draw(Budget.file(path), "q", QUESTION, drawing(1000), no_retry=True)


def lengths_beside(path: Path) -> list[int]:
    return [file.stat().st_size for file in path.parent.iterdir() if file != path]


def test_killed_at_every_step_of_what_is_drawn_once(path):
    """No file has the length of answers that nobody has: the next call removes it."""
    header, step, states = path.read_bytes(), 0, []
    while True:
        step += 1
        for file in path.parent.iterdir():
            file.write_bytes(header) if file == path else file.unlink()

        def killed(number=step):
            stepping(STEPS, number, lambda _: os.kill(os.getpid(), signal.SIGKILL))
            return ask_once(path)

        _, told = in_child(killed)
        with suppress(LabelError):
            ask_once(path)
        states.append(Budget.file(path).log()[0]["state"])
        assert states[-1] == "answered" or not any(lengths_beside(path))
        if told:
            break
    assert len(lengths_beside(path)) == 1
    assert states.count("failed") >= 8


def test_a_full_disk_at_every_step_of_what_is_drawn_once(path, monkeypatch):
    header, step, refusals = path.read_bytes(), 0, 0

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    while True:
        step += 1
        path.write_bytes(header)
        with monkeypatch.context() as patch:
            for name in WRITING:
                patch.setattr(os, name, getattr(os, name))  # and back again
            seen = stepping(WRITING, step, full)
            with suppress(BudgetError):
                ask_once(path)
        if len(seen) < step:
            break
        state = [entry["state"] for entry in Budget.file(path).log()]
        refusals += state == ["open"]
        assert state == ["answered"] or not any(lengths_beside(path))
        for file in path.parent.glob("*.answers"):
            file.unlink()
    assert refusals >= 4


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_no_room_for_any_number_of_bytes(path, size):
    """Limits of a file's size: writes that are cut short, as on a disk that is nearly full."""
    import resource

    header, outcomes = path.read_bytes(), set()
    for room in (*range(0, 800, 60), 4000, 10_000, 50_000):

        def limited(room=room):
            most = len(header) + room
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            return ask(path, drawing(size))

        path.write_bytes(header)
        _, told = in_child(limited)
        assert told.startswith(("[", "BudgetError: "))
        answers = told if told.startswith("[") else ""
        outcomes.add((bool(answers), Budget.file(path).charges))
        settled(path, drawing(size), answers)
    assert outcomes == {(False, 0), (False, 1), (True, 1)}


@pytest.mark.parametrize("step", WRITING[:2])
def test_a_failure_that_cannot_be_written_is_not_told(path, monkeypatch, step):
    """Else a full disk would tell for nothing that a record is missing, as often as one likes."""

    def missing():
        monkeypatch.setattr(os, step, full)
        raise InvalidRecords("told")

    def drawn():
        monkeypatch.setattr(os, step, full)
        return 3

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    messages = []
    for draw in (missing, drawn):
        with raises("answers that could not be kept") as caught:
            charge_and_draw(Budget.file(path), "q", QUESTION, draw)
        monkeypatch.undo()
        messages.append(str(caught.value))
        linked = [caught.value.__context__, caught.value.__cause__]
        assert not any(isinstance(error, InvalidRecords) for error in linked)
    assert messages[0] == messages[1]
    settled(path, drawing(1), "")


def test_the_length_of_what_is_kept_tells_nothing_of_it(path, tmp_path):
    """Else a disk that is nearly full would keep short answers and have long ones drawn again."""
    candidates = fx.Exponential(0.1, 1.0, candidates=["a", "a long one", 3, ("b", 2)])
    cases = [
        (QUESTION, [0, -(2**63), 0.1, 1 / 3, True, None]),
        (QUESTION, [np.array([0.0, 1.0]), np.array([-1e-300 / 3, 1 / 3])]),
        (Question(candidates), list(candidates.candidates)),
        (Question(candidates), [["a"] * 3, [("b", 2)] * 3]),
        (Question(fx.Laplace(0.1, 1, step=1), widest=320), [0, -(10**310)]),
    ]
    for number, (question, answers) in enumerate(cases):
        sizes = set()
        for place, answer in enumerate(answers):
            file = tmp_path / f"{number} {place}"
            charge_and_draw(Budget.file(file, epsilon=1.0), "q", question, lambda kept=answer: kept)
            sizes.add(file.stat().st_size)
        assert len(sizes) == 1


# ---- several processes ----


def started(action: Callable[[], object], count: int) -> list[tuple[int, int]]:
    """Forked children that begin together: their ids, and where they speak."""
    waiting, go = os.pipe()
    children = []
    for _ in range(count):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(waiting, 1)
            try:
                said = json.dumps(action())
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
            os.write(writing, said.encode())
            os._exit(0)
        os.close(writing)
        children.append((child, reading))
    os.close(waiting)
    os.close(go)
    return children


def heard(children: list[tuple[int, int]]) -> list[str]:
    said = []
    for child, reading in children:
        with os.fdopen(reading, "rb") as pipe:
            said.append(pipe.read().decode())
        os.waitpid(child, 0)
    return said


def slow(size: int, note: Path | None = None) -> Callable[[], list[int]]:
    def draw():
        if note is not None:
            with note.open("a") as file:
                file.write("drawn ")
        time.sleep(0.1)
        return drawing(size)()

    return draw


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_twenty_processes_with_one_label(path, size, tmp_path_factory):
    note = tmp_path_factory.mktemp("notes") / "draws"
    said = heard(started(lambda: ask(path, slow(size, note)), 20))
    assert len(set(said)) == 1
    assert note.read_text() == "drawn "
    settled(path, never, said[0])
    files = sorted(p.suffix for p in path.parent.iterdir())
    assert files == ([".budget"] if size == 3 else [".answers", ".budget"])


def test_twenty_processes_of_which_some_are_killed(path):
    children = started(lambda: ask(path, slow(3)), 20)
    for child, _ in children[::3]:
        time.sleep(0.03)
        os.kill(child, signal.SIGKILL)
    told = set(heard(children)) - {""}
    assert len(told) == 1
    settled(path, never, told.pop())


def test_twenty_processes_with_labels_of_their_own(path):
    budget = Budget.file(path)
    said = heard(
        started(lambda: charge_and_draw(budget, f"label {os.getpid() % 5}", QUESTION, slow(2)), 20)
    )
    answers = {entry["label"]: budget.answers(entry["label"]) for entry in budget.log()}
    assert {json.dumps(answer) for answer in answers.values()} == set(said)
    assert budget.charges == len(answers)


SCRIPT = """
import sys, fastexp as fx
budget = fx.Budget.file(sys.argv[1], epsilon=1.0)
median = fx.Median(0.1, bounds=(0, 10**6), step=1)
print(median.release(range(100), budget=budget, label="ages"))
"""


def test_programs_with_one_label(tmp_path):
    path = tmp_path / "new.budget"  # which they make, too
    command = [sys.executable, "-c", SCRIPT, str(path)]
    running = [processes.start(command, stdout=subprocess.PIPE) for _ in range(3)]
    said = {one.communicate(timeout=300)[0] for one in running}
    assert [one.returncode for one in running] == [0, 0, 0]
    assert said == {b"%d\n" % Budget.file(path).answers("ages")}
    assert Budget.file(path).charges == 1


# ---- forks ----


def test_a_child_that_is_forked_while_a_thread_draws_waits_for_it(path):
    drawn, go_on = threading.Event(), threading.Event()

    def draw():
        drawn.set()
        assert go_on.wait(60)
        return [1, 2, 3]

    thread = threading.Thread(target=ask, args=(path, draw))
    thread.start()
    assert drawn.wait(60)
    children = started(lambda: ask(path, never), 2)
    time.sleep(0.2)
    go_on.set()
    assert heard(children) == ["[1, 2, 3]"] * 2
    thread.join(60)
    assert Budget.file(path).charges == 1


def test_a_lock_dies_with_its_process_though_a_child_of_it_lives(path):
    """A child has copies of all handles; it gives up those that hold locks."""
    reading, writing = os.pipe()

    def draw():
        child = os.fork()
        if child == 0:
            time.sleep(120)
            os._exit(0)
        os.write(writing, str(child).encode())
        time.sleep(120)

    parent = os.fork()
    if parent == 0:
        ask(path, draw)
        os._exit(0)
    child = int(os.read(reading, 20))
    try:
        os.kill(parent, signal.SIGKILL)
        os.waitpid(parent, 0)
        begun = time.monotonic()
        assert len(ask(path, drawing(3))) == 3
        assert time.monotonic() - begun < 60
    finally:
        os.kill(child, signal.SIGKILL)
        os.close(reading)
        os.close(writing)
    assert Budget.file(path).charges == 1


def test_a_child_that_returns_from_its_parents_draw_tells_nothing(path):
    reading, writing = os.pipe()
    parent = os.getpid()

    def draw():
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        return os.getpid()

    try:
        answer = ask(path, draw)
    except BaseException as error:  # of the child
        if os.getpid() == parent:
            raise
        os.write(writing, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    finally:
        if os.getpid() != parent:
            os._exit(1)
    assert answer == Budget.file(path).answers("q") == parent
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read().startswith(b"BudgetError: the process was forked while it drew")
    # an earlier error may refer to one
    assert all(file.closed for file in atomic_files.LOCKED_FILES)
