"""``fastexp study`` on threads, processes and dask: the same output, progress, and Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fastexp.cli import main
from tests.doors.cli import errors, waiting
from tests.doors.studies import executors
from tests.support import processes
from tests.support.command_line import Run
from tests.support.processes import started

TASKS = 6  # of the fixture `file`
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
STOPPED = "fastexp: interrupted\n"


# ---- workers ----


@pytest.mark.process
def test_processes_and_threads_give_the_same_output(run: Run, file: str) -> None:
    outputs = {
        run("study", "run", file, "--executor", name, "--workers", "2")[1]
        for name in ("threads", "processes")
    }
    assert len(outputs) == 1


def test_dask_is_asked_for_by_name_and_told_if_it_is_missing(
    run: Run, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, out, err = run("study", "run", file, "--executor", "dask")
    assert (code, out) == (1, "")
    assert "--executor dask needs a package" in err
    assert "pip install distributed" in err


class Scheduler:
    """What the command line uses of dask.distributed, in this process."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.closed: list[str] = []

    def LocalCluster(self, **settings: Any) -> Any:
        self.asked.append(settings)
        return _Closing(self, "cluster")

    def Client(self, address: Any, **settings: Any) -> Any:
        self.asked.append((address, settings))
        if address == "tcp://nobody:1":
            raise OSError
        return _Closing(self, "client")


class _Closing:
    def __init__(self, scheduler: Scheduler, name: str) -> None:
        self.scheduler, self.name = scheduler, name

    def __enter__(self) -> _Closing:
        return self

    def __exit__(self, *_: object) -> None:
        self.scheduler.closed.append(self.name)

    def get_executor(self) -> Any:
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(1)

    def nthreads(self) -> dict[str, int]:
        return {"tcp://one": 1}


def test_a_cluster_of_dask_is_begun_at_any_port_and_closed(
    run: Run, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = Scheduler()
    monkeypatch.setitem(sys.modules, "distributed", scheduler)
    code, out, _ = run("study", "run", file, "--executor", "dask", "--workers", "3")
    assert (code, scheduler.closed) == (0, ["client", "cluster"])
    settings = scheduler.asked[0]
    assert (settings["n_workers"], settings["dashboard_address"]) == (3, ":0")
    assert out == run("study", "run", file)[1]
    if hasattr(signal, "pthread_sigmask"):  # nothing stays blocked here
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_running_scheduler_is_used_and_left_alone(
    run: Run, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = Scheduler()
    monkeypatch.setitem(sys.modules, "distributed", scheduler)
    dask = ("run", file, "--executor", "dask", "--scheduler")
    assert run("study", *dask, "tcp://here:1")[0] == 0
    assert scheduler.closed == ["client"]
    assert scheduler.asked[0][0] == "tcp://here:1"
    code, _, err = run("study", *dask, "tcp://nobody:1")
    assert (code, "no scheduler answers at tcp://nobody:1" in err) == (1, True)


@pytest.mark.process
@pytest.mark.skipif(find_spec("distributed") is None, reason="dask.distributed is not installed")
def test_workers_of_dask_give_the_same_output(run: Run, file: str) -> None:
    arguments = ["run", file, "--executor", "dask", "--workers", "1", "-q"]
    command = [sys.executable, "-m", "fastexp", "study", *arguments]
    done = processes.run(command, encoding="utf-8", check=True, timeout=100)
    assert done.stderr == ""
    assert done.stdout == run("study", "run", file)[1]


@pytest.mark.process
@posix
def test_processes_begun_while_interrupts_are_blocked_do_not_take_them() -> None:
    with executors.interrupts_blocked():
        script = "import signal; print(signal.SIGINT in signal.pthread_sigmask(0, []))"
        inside = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, check=True, timeout=600
        )
    assert inside.stdout == b"True\n"


# ---- progress and Ctrl-C ----


class Terminal:
    """A stderr that is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(waiting, "announce_compilation", lambda: None)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(["study", "run", file]) == 0
    assert f"{TASKS}/{TASKS}" in terminal.text
    assert "/s" in terminal.text
    assert "━" in terminal.text
    assert "━" not in capsys.readouterr().out
    terminal.text = ""
    assert main(["study", "run", file, "-q"]) == 0
    assert terminal.text == ""
    monkeypatch.setattr(errors, "optional", lambda name: None)  # no rich
    assert main(["study", "run", file]) == 0
    assert "━" not in terminal.text


def test_progress_counts_where_nothing_is_shown() -> None:
    with waiting.ProgressBar(quiet=True) as shown:
        shown.progress(2, 5)
    assert (shown.finished, shown.tasks) == (2, 5)


@pytest.mark.parametrize("out", [True, False])
def test_ctrl_c_tells_how_to_go_on(
    run: Run,
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    out: bool,
) -> None:
    told = waiting.ProgressBar.progress

    def stopped(self: Any, finished: int, tasks: int) -> None:
        told(self, finished, tasks)
        if finished == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(waiting.ProgressBar, "progress", stopped)
    folder = str(tmp_path / "a b")
    more = ["--out", folder] if out else []
    code, shown, err = run("study", "run", file, "--workers", "1", *more)
    assert (code, shown) == (130, "")
    if not out:
        words = r"[456] of 6 tasks are finished; nothing was saved \(with --out DIR it would be\)\n"
        assert re.fullmatch(words + STOPPED, err)
        return
    first, rest = err.split("; ", 1)
    assert re.fullmatch("[456] of 6 tasks are finished and kept", first)
    assert rest.endswith(f"study resume '{folder}'\n{STOPPED}")
    monkeypatch.undo()
    code, again, _ = run("study", "resume", folder)
    assert code == 0
    assert again == run("study", "run", file)[1]


@pytest.mark.process
@posix
def test_ctrl_c_in_a_process_of_its_own(file: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run_study = [sys.executable, "-m", "fastexp", "study", "run", file, "--out", str(folder)]
    many = ["--datasets", "400000", "--workers", "2"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started([*run_study, *many], **pipes) as process:
        lines = folder / "tasks.jsonl"
        deadline = time.monotonic() + 100
        while not (lines.exists() and lines.stat().st_size):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (130, b"")
    assert b"tasks are finished and kept; go on with: " in err
    assert err.endswith(STOPPED.encode())
    assert b"Traceback" not in err
