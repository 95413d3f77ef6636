"""Do signals before a charge leave the budget alone, and after it answers, whenever they come?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

import fastexp as fx
from fastexp.cli import main
from tests.doors.cli import interrupts, parser, payment, run_module
from tests.doors.compiler import jit
from tests.doors.query import execute, frame_columns
from tests.support.command_line import Ended, Run
from tests.support.each import each
from tests.support.processes import started

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(os.name != "posix", reason="signals of POSIX"),
]
PRICES = ["--column", "x", "--epsilon", "1", "--bounds", "0", "9", "--step", "1"]
SELECT = ["select", "-", "--column", "g", "--candidates", "a,b", "--epsilon", "1"]
QUESTIONS = {
    "median": ["median", "-", *PRICES],
    "median by": ["median", "-", *PRICES, "--by", "g", "--groups", "a,b"],
    "select": SELECT,
    "top-k": [*SELECT, "--mechanism", "top-k", "--k", "2"],
}
DATA = b"g,x\n" + b"a,1\nb,2\n" * 50
# Where tests run in the background, SIGHUP may be ignored, and that is inherited.
START = (
    "import signal, sys\n"
    "for name in ('SIGTERM', 'SIGHUP'):\n"
    "    signal.signal(getattr(signal, name), signal.SIG_DFL)\n"
    "print(flush=True)\nfrom fastexp.cli import main\nsys.exit(main(sys.argv[1:]))\n"
)


@pytest.fixture
def budget(tmp_path: Path) -> str:
    fx.Budget.file(tmp_path / "b", epsilon=9.0)
    return str(tmp_path / "b")


@pytest.fixture
def swallowed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """A SIGINT of which only the handler hears, as of one while numba is imported."""

    def swallow() -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(DATA)))
    yield swallow
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("name", QUESTIONS)
def test_one_that_is_swallowed_stops_the_release(
    run: Run, budget: str, monkeypatch: pytest.MonkeyPatch, swallowed: Callable[[], None], name: str
) -> None:
    fit = frame_columns.fit

    def late(*arguments: Any) -> None:
        fit(*arguments)
        swallowed()

    for module in (execute, frame_columns):  # what is looked at last before the charge
        monkeypatch.setattr(module, "fit", late)
    stopped(run(*QUESTIONS[name], "--budget", budget), budget)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("charged", [True, False])
def test_one_that_an_import_swallows_stops_it_too(
    run: Run,
    budget: str,
    monkeypatch: pytest.MonkeyPatch,
    swallowed: Callable[[], None],
    name: str,
    charged: bool,
) -> None:
    monkeypatch.setattr(jit, "ready", swallowed)
    stopped(run(*QUESTIONS[name], *(["--budget", budget] if charged else [])), budget)


def stopped(ended: Ended, budget: str) -> None:
    assert fx.Budget.file(budget).charges == 0
    assert (ended.code, ended.out) == (130, "")
    assert ended.err.splitlines()[1:] == ["fastexp: interrupted"]


# Interrupts itself when a module is looked for, or ("exit") when the interpreter ends.
INTERRUPTED = """
import atexit, os, signal, sys
handler, moment = getattr(signal, sys.argv.pop(1)), sys.argv.pop(1)
signal.signal(signal.SIGINT, handler)
from fastexp.cli import main
class Moment:
    def find_spec(self, name, *_):
        if name == moment:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Moment())
if moment == "exit":
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.exit(main())
"""


@pytest.mark.process
@each(
    ("moment", "code"),
    [
        (run_module.__name__, -signal.SIGINT),
        (interrupts.__name__, -signal.SIGINT),
        (parser.__name__, 130),
        ("exit", -signal.SIGINT),
    ],
)
def test_while_the_process_starts_or_ends(moment: str, code: int) -> None:
    for handler, wanted in (("default_int_handler", code), ("SIG_IGN", 0)):
        ended = subprocess.run(
            [sys.executable, "-c", INTERRUPTED, handler, moment, "--version"],
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert ended.returncode == wanted
        assert ended.stderr == (b"fastexp: interrupted\n" if wanted == 130 else b"")


@pytest.mark.process
@pytest.mark.parametrize(
    ("wait", "imported"), [(0.02, "package"), (0.2, "nothing"), (0.5, "package")]
)
def test_at_any_moment_before_the_data_are_there(budget: str, wait: float, imported: str) -> None:
    """Nothing can be charged before stdin is read: whenever it came, the budget is whole.

    A new process is interrupted while it imports, a forked one that has as it waits for rows.
    """
    arguments = [*QUESTIONS["median by"], "--budget", budget]
    with started(
        [sys.executable, "-c", START, *arguments],
        imported=imported,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # from here on the handler is Python's at least
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(DATA, timeout=300)
        except BrokenPipeError:
            process.wait(60)
    assert process.returncode in (130, -signal.SIGINT)  # the latter: before `main` began
    assert fx.Budget.file(budget).charges == 0


@pytest.mark.process
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_the_copy_of_stdin_goes(budget: str, tmp_path: Path, name: str) -> None:
    number, temp = getattr(signal, name), tmp_path / "temp"
    temp.mkdir()
    arguments = [*QUESTIONS["median"], "--budget", budget, "--temp", str(temp)]
    with started(
        [sys.executable, "-c", START, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(DATA)
        process.stdin.flush()
        while not list(temp.glob("*/stdin.csv")) and process.poll() is None:
            time.sleep(0.02)
        (folder,) = temp.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        process.send_signal(number)
        assert process.wait(60) == 128 + number
    assert list(temp.iterdir()) == []
    assert fx.Budget.file(budget).charges == 0


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("label", [[], ["--label", "q"]])
def test_what_was_drawn_is_not_lost(
    run: Run,
    budget: str,
    monkeypatch: pytest.MonkeyPatch,
    swallowed: Callable[[], None],
    name: str,
    label: list[str],
) -> None:
    """Answers that nobody has seen yet are kept, or put into a file."""
    assert swallowed

    def late(*arguments: Any, no_retry: bool) -> Any:
        answers = charge_and_draw(*arguments, no_retry=no_retry)
        signal.raise_signal(signal.SIGINT)
        return answers

    charge_and_draw = payment.charge_and_draw
    monkeypatch.setattr(payment, "charge_and_draw", late)
    monkeypatch.chdir(Path(budget).parent)
    ended = run(*QUESTIONS[name], "--budget", budget, *label)
    assert (ended.code, ended.out) == (130, "")
    (entry,) = fx.Budget.file(budget).log()
    if label:
        assert entry["state"] == "answered"
        assert "kept in the budget file under label 'q'" in ended.err
        return
    (rescued,) = Path().glob("fastexp-answers-*.json")
    assert rescued.name in ended.err
    rows = 2 if name in ("median by", "top-k") else 1
    assert len(json.loads(rescued.read_text())["rows"]) == rows


def test_the_second_one_does_not_wait() -> None:
    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with interrupts.remembered():
            interrupts.hold()
            signal.raise_signal(signal.SIGTERM)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
            interrupts.hold()
            with pytest.raises(KeyboardInterrupt):
                interrupts.heed()
            assert interrupts.exit_code() == 143
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        with interrupts.remembered():
            interrupts.hold()
            interrupts.heed()  # none of a call before
            assert interrupts.exit_code() == 130
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_failure_by_one_is_an_interrupt(
    run: Run, budget: str, monkeypatch: pytest.MonkeyPatch, swallowed: Callable[[], None]
) -> None:
    def broken() -> None:
        swallowed()
        raise ImportError

    monkeypatch.setattr(jit, "ready", broken)
    ended = run(*QUESTIONS["median"], "--budget", budget)
    assert (ended.code, ended.err.splitlines()[-1]) == (130, "fastexp: interrupted")


def test_in_process_it_is_remembered_until_the_next_call() -> None:
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with interrupts.remembered():
            interrupts.check()
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                interrupts.check()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with interrupts.remembered():
            interrupts.check()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with interrupts.remembered():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert main(["--version"]) == 0
    finally:
        signal.signal(signal.SIGINT, before)
