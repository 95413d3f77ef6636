"""Are tables the same, byte for byte, after workers and runs are killed for real?"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fastexp as fx
from tests.doors.studies import executors, folder, run_task
from tests.support import processes
from tests.support.processes import started
from tests.support.small_study import TASKS, small, tables, undisturbed

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name != "posix", reason="no signals that kill"),
]
ROOT = Path(__file__).parents[2]
VICTIM = 7  # the task whose worker is killed
LONG = 120.0  # seconds: what takes longer hangs


@pytest.fixture(scope="module")
def wanted() -> tuple[bytes, bytes]:
    return undisturbed(small())


def until(true: Any, what: str) -> None:
    """Wait for something to be so."""
    end = time.monotonic() + LONG
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.005)


def waits_to_be_killed(study: fx.Study, number: int) -> Any:
    """For workers: the first one that comes to the victim's task says its id and waits."""
    if number == VICTIM:
        note = Path(os.environ["NOTE"])
        with contextlib.suppress(FileExistsError):
            os.close(os.open(note.with_suffix(".taken"), os.O_CREAT | os.O_EXCL))
            note.with_suffix(".draft").write_text(str(os.getpid()))
            note.with_suffix(".draft").replace(note)
            time.sleep(600)
    return run_task(study, number)


@contextlib.contextmanager
def killer(note: Path) -> Iterator[list[int]]:
    """Kills the worker that says its id, when it is there."""
    killed: list[int] = []

    def kill() -> None:
        until(note.exists, "no worker came")
        killed.append(int(note.read_text()))
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    yield killed
    thread.join()


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be counted off does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except OSError:
        return not Path("/proc/self").exists()


def whole_lines(out: Path) -> int:
    file = out / "tasks.jsonl"
    return sum(map(bool, map(folder.parsed, file.read_bytes().splitlines(keepends=True))))


class TestWorkers:
    @pytest.mark.engines
    @pytest.mark.filterwarnings("ignore::ResourceWarning")  # of dask's own sockets
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_a_worker_of_dask_is_killed(self, tmp_path, monkeypatch, wanted):
        distributed = pytest.importorskip("distributed")
        note = tmp_path / "note"
        monkeypatch.setenv("NOTE", str(note))
        monkeypatch.setattr(executors, "run_task", waits_to_be_killed)
        cluster = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=60,
            local_directory=str(tmp_path),
        )
        with cluster, distributed.Client(cluster, set_as_default=False) as client:
            before = {info["pid"] for info in client.run(os_facts).values()}
            with killer(note) as killed:
                small().run(client, out=tmp_path / "out")
            assert set(killed) < before
        assert tables(tmp_path / "out") == wanted


def os_facts() -> dict[str, int]:
    """For workers: which process they are."""
    return {"pid": os.getpid()}


class TestRuns:
    @pytest.mark.parametrize("executor", ["threads", "processes"])
    def test_a_run_is_killed_and_resumed(self, executor, tmp_path, wanted):
        out, enough = tmp_path / "out", 9
        run_of = [sys.executable, "-m", "tests.support.killed_run"]
        command = [*run_of, str(out), executor, str(enough)]
        with started(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
            assert run.stdout is not None
            workers = [int(pid) for pid in run.stdout.readline().split()]
            os.kill(run.pid, signal.SIGKILL)
            assert run.wait(LONG) == -signal.SIGKILL
        assert len(workers) == (2 if executor == "processes" else 0)
        until(lambda: not any(map(alive, workers)), "workers outlive their run")
        assert whole_lines(out) == enough
        assert not (out / "table.csv").exists()
        told: list[int] = []
        fx.Study.resume(out, progress=lambda done, _: told.append(done))
        assert told[0] == enough
        assert tables(out) == wanted


SETTINGS = """
name = "small"
data = "normal"
n = 60
bounds = [-10, 10]
epsilon = [0.5, 1.0]
mechanisms = ["median"]
figures = ["error", "error_quantile"]
datasets = 1200
draws = 200
block = 4
"""


@pytest.fixture(scope="module")
def whole() -> tuple[bytes, bytes]:
    return undisturbed(fx.Study(**tomllib.loads(SETTINGS)))


class TestCommandLine:
    """Tasks enough that a run is far from its end when its first ones are seen."""

    @pytest.mark.parametrize("which", [signal.SIGKILL, signal.SIGINT])
    def test_a_command_is_stopped_and_resumed(self, which, tmp_path, whole):
        out = tmp_path / "out"
        (tmp_path / "small.toml").write_text(SETTINGS)
        command = [sys.executable, "-m", "fastexp", "study"]
        how: dict[str, Any] = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        start = [*command, "run", str(tmp_path / "small.toml"), "--out", str(out)]
        with started(start, **how) as run:
            file = out / "tasks.jsonl"
            begun = lambda: file.exists() and file.stat().st_size > 0  # noqa: E731
            until(lambda: run.poll() is not None or begun(), "no task is finished")
            os.kill(run.pid, which)
            shown, said = (part.decode() for part in run.communicate(timeout=LONG))
        assert run.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130}[which], said
        assert not shown
        assert "Traceback" not in said
        kept = whole_lines(out)
        assert 0 < kept < 300
        if which is signal.SIGINT:
            told = re.search(r"(\d+) of 300 tasks are finished", said)
            assert told is not None
            assert kept - 1 <= int(told[1]) <= kept  # one may be written as the signal comes
        again = processes.run([*command, "resume", str(out)], timeout=LONG, **how)
        assert again.returncode == 0, again.stderr
        assert tables(out) == whole
        assert whole_lines(out) == 300
        assert len(list(out.iterdir())) == 4


def test_the_study_is_not_too_small() -> None:
    assert VICTIM < TASKS
