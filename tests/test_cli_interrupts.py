"""Does SIGINT before a charge leave the budget alone, at whatever moment it comes?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fastexp as fx
from fastexp.cli import interrupts, main

pytestmark = [
    pytest.mark.process,
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
# Where tests run in the background, SIGINT is ignored, and that is inherited.
START = "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
RUN = "from fastexp.cli import main\nsys.exit(main(sys.argv[1:]))\n"
SWALLOWED = """
from fastexp.query import call, counts
from fastexp.query.columns import fit
def swallow(*arguments):
    fit(*arguments)
    try:
        signal.raise_signal(signal.SIGINT)
    except BaseException:
        pass
call.fit = counts.fit = swallow  # what is looked at last before the charge
"""
SWALLOWED_IN_AN_IMPORT = """
from fastexp import _jit
def swallow():
    try:
        signal.raise_signal(signal.SIGINT)
    except BaseException:
        pass
_jit.ready = swallow  # as numba does
"""


@pytest.fixture
def budget(tmp_path: Path) -> str:
    fx.Budget.file(tmp_path / "b", epsilon=9.0)
    return str(tmp_path / "b")


@pytest.mark.parametrize("name", QUESTIONS)
def test_one_that_is_swallowed_stops_the_release(budget: str, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START + SWALLOWED + RUN, *QUESTIONS[name], "--budget", budget],
        input=DATA,
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert fx.Budget.file(budget).charges == 0
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr.splitlines()[1:] == [b"fastexp: interrupted"]


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("charged", [True, False])
def test_one_that_an_import_swallows_stops_it_too(budget: str, name: str, charged: bool) -> None:
    charge = ["--budget", budget] if charged else []
    done = subprocess.run(
        [sys.executable, "-c", START + SWALLOWED_IN_AN_IMPORT + RUN, *QUESTIONS[name], *charge],
        input=DATA,
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert fx.Budget.file(budget).charges == 0
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr.splitlines()[1:] == [b"fastexp: interrupted"]


@pytest.mark.parametrize("wait", [0.02, 0.2, 0.4, 0.6, 0.9, 1.3])
def test_at_any_moment_before_the_data_are_there(budget: str, wait: float) -> None:
    """Nothing can be charged before stdin is read: whenever it came, the budget is whole."""
    arguments = [*QUESTIONS["median by"], "--budget", budget]
    with subprocess.Popen(
        [sys.executable, "-c", START + "print(flush=True)\n" + RUN, *arguments],
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
            process.wait(300)
    assert process.returncode in (130, -signal.SIGINT)  # the latter: before `main` began
    assert fx.Budget.file(budget).charges == 0


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
