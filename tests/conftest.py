"""Which tests are fast, which come first, what is said of the machine, and fixtures for many."""

from __future__ import annotations

import gc
import platform
import signal
import sys
from collections.abc import Generator, Iterator
from multiprocessing.process import BaseProcess
from typing import Any

import llvmlite
import numba
import numpy as np
import pytest

from tests.support.command_line import Ended, Run

TIERS = ("slow", "statistical", "engines", "process", "proof")
started: list[str] = []  # processes of Python, by the test that is running


def pytest_report_header() -> str:
    return (
        f"numpy {np.__version__}, numba {numba.__version__}, llvmlite {llvmlite.__version__}, "
        f"{platform.machine()}"
    )


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> Iterator[None]:
    """SIGINT interrupts tests and their processes, also where a script runs them with `&`."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Call the command line in this process."""

    def call(*arguments: object) -> Ended:
        from fastexp.cli import main

        code = main([str(argument) for argument in arguments])
        return Ended(code, *capsys.readouterr())

    return call


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not any(item.get_closest_marker(tier) for tier in TIERS):
            item.add_marker("fast")
        if "spark" in getattr(item, "fixturenames", ()):
            item.extra_keyword_matches.add("spark")  # `-k spark`, as .ci/run has it
    # The longest ones are among those of processes: first, so that no worker ends with one alone.
    items.sort(key=lambda item: item.get_closest_marker("process") is None)


def pytest_collection_finish() -> None:
    gc.freeze()  # some 100 MB that every collection of garbage would look through


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Where tests against other libraries are asked for, one that is skipped has failed."""
    report = yield
    if report.skipped and item.config.option.markexpr == "peers":
        report.outcome = "failed"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that starts a process without saying so: it would slow the fast ones."""
    started.clear()
    yield
    if started and item.get_closest_marker("process") is None:
        pytest.fail(f"it starts a process ({started[0]}): mark it `pytest.mark.process`")


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    # Of other programs there are few, and libraries start them for reasons of their own.
    if event == "os.fork" or (event == "subprocess.Popen" and sys.executable in arguments[1]):
        started.append(event)


def _start(process: BaseProcess, start=BaseProcess.start) -> None:
    started.append(process.name)  # spawned ones raise no audit event
    start(process)


sys.addaudithook(_watch)
BaseProcess.start = _start
