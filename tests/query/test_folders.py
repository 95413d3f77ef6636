"""Are folders of private rows private, fresh, gone afterwards, and else named?"""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from fastexp.errors import ParameterError
from tests.doors.query import LeftOver, folders, left_overs, private_folder
from tests.messages import raises, says
from tests.support.command_line import Run
from tests.support.each import each
from tests.support.processes import started

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and signals of POSIX")


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder for temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@posix
@pytest.mark.parametrize("umask", [0, 0o077, 0o027])
def test_nobody_else_can_read_it(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with private_folder(tmp_path) as folder:
            assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
            assert Path(folder).parent == tmp_path
    finally:
        os.umask(before)


def test_it_is_removed_at_the_end_and_at_errors(system: Path) -> None:
    for error in (None, ValueError, KeyboardInterrupt, SystemExit):
        try:
            with private_folder() as folder:
                assert Path(folder).parent == system
                Path(folder, "more").mkdir()
                Path(folder, "more", "rows").write_bytes(b"1")
                if error is not None:
                    raise error
        except (ValueError, KeyboardInterrupt, SystemExit):
            pass
        assert list(system.iterdir()) == []


@posix
def test_links_in_it_are_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("of somebody")
    with private_folder(tmp_path) as folder:
        Path(folder, "link").symlink_to(other)
        Path(folder, "file").symlink_to(other / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    assert (other / "file").read_text() == "of somebody"


@posix
def test_what_is_there_already_is_nobodys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names cannot be foreseen; if one were, a link or folder there is refused, and stays."""
    monkeypatch.setattr(folders.secrets, "token_hex", lambda size: "0" * 2 * size)
    other, trap = tmp_path / "other", tmp_path / f"fastexp-{os.getpid()}-{'0' * 16}"
    other.mkdir()
    for make in (lambda: trap.symlink_to(other), trap.mkdir):
        make()
        with raises("temp: folder to write to"), private_folder(tmp_path):
            pass
        assert list(other.iterdir()) == []
        assert trap.exists()
        trap.unlink() if trap.is_symlink() else trap.rmdir()


def test_names_are_random(tmp_path: Path) -> None:
    with private_folder(tmp_path) as one, private_folder(tmp_path) as other:
        names = Path(one).name, Path(other).name
        assert names[0][-16:] != names[1][-16:]
        for name in names:
            assert re.fullmatch(f"fastexp-{os.getpid()}-[0-9a-f]{{16}}", name)


@pytest.mark.parametrize("temp", ["missing", "file", "a\0b", "file/below"])
def test_temp_must_be_a_folder(tmp_path: Path, temp: str) -> None:
    (tmp_path / "file").write_text("")
    place = f"{tmp_path}/{temp}"
    with raises("temp: folder to write to"):
        private_folder(place).__enter__()


@each("temp", [1, b"/tmp", ["/tmp"], True])
def test_temp_must_be_a_path(temp: Any) -> None:
    with raises("temp of a type"):
        private_folder(temp).__enter__()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root writes anywhere")
def test_temp_must_be_writable(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ParameterError, match=says("temp: folder to write to")):
        private_folder(tmp_path).__enter__()


def test_the_current_folder_is_not_the_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # as where /tmp cannot be written to
    with raises("temp left out"):
        private_folder().__enter__()
    assert left_overs() == []
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # somebody says so
    with private_folder() as folder:
        assert Path(folder).parent == tmp_path


def test_left_over_are_folders_that_nobody_uses(system: Path) -> None:
    dead = system / f"fastexp-1-{'a' * 16}"
    dead.mkdir()
    (dead / "alive").write_text("")
    (dead / "more").mkdir()
    (dead / "more" / "rows").write_bytes(b"123")
    (system / "fastexp-1-abc").mkdir()  # not ours
    (system / f"fastexp-2-{'b' * 16}").write_text("")  # no folder
    if os.name == "posix":
        (system / f"fastexp-3-{'c' * 16}").symlink_to(dead)
    with private_folder():
        assert left_overs() == [LeftOver(str(dead), 3)]


@posix
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="gives a folder away")
def test_folders_of_others_are_theirs(system: Path) -> None:
    other = system / f"fastexp-1-{'a' * 16}"
    other.mkdir()
    assert left_overs() == [LeftOver(str(other), 0)]
    os.chown(other, 12345, 12345)
    assert left_overs() == []


@pytest.mark.slow
def test_info_names_them(system: Path, run: Run) -> None:
    assert "left over" not in run("info").out
    dead = system / f"fastexp-1-{'a' * 16}"
    dead.mkdir()
    (dead / "rows").write_bytes(b"12")
    assert f"left over   {dead} (2 bytes): remove it" in run("info").out
    assert json.loads(run("info", "--json").out)["left_over"] == [{"folder": str(dead), "bytes": 2}]
    assert dead.exists()


USE = """
import os, sys, threading, time
from contextlib import closing
import numpy as np
from tests.doors.query import Spill, SpillPart, private_folder

def sort():
    with private_folder() as folder, closing(Spill(folder, 1 << 16, 1, persons=False)) as spill:
        open(os.path.join(folder, "more"), "w").close()
        print(folder, flush=True)
        while True:
            codes = np.random.default_rng(1).integers(0, 99, 10_000)
            spill.add(SpillPart(codes, np.ones(10_000, np.int64), [codes]))
            if spill._rows._end > 1 << 22:
                spill._rows._end = 0

how = sys.argv[1]
if how == "thread":
    threading.Thread(target=sort, daemon=True).start()
    time.sleep(0.5)
    sys.exit()
if how == "term":
    import signal
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
if how == "fork":
    with private_folder() as folder:
        print(folder, flush=True)
        if os.fork() == 0:
            sys.exit()  # through the with block and atexit
        os.wait()
        assert os.path.isdir(folder)
        assert os.listdir(folder) == ["alive"]
    sys.exit()
sort()
"""


@posix
@pytest.mark.process
@pytest.mark.parametrize("end", ["int", "term", "kill", "thread", "fork"])
def test_however_a_process_ends(system: Path, run: Run, end: str) -> None:
    """SIGINT and SIGTERM (where it is handled) remove all; after SIGKILL the folder is named."""
    asked = [sys.executable, "-c", USE, end]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with started(asked, **pipes, text=True) as process:
        folder = process.stdout.readline().strip()
        assert Path(folder).parent == system
        signals = {"int": signal.SIGINT, "term": signal.SIGTERM, "kill": signal.SIGKILL}
        if end in signals:
            assert left_overs() == []  # it is in use
            time.sleep(0.3)
            process.send_signal(signals[end])
        code = process.wait(timeout=60)
    if end != "kill":
        assert not Path(folder).exists()
        assert code == {"int": -signal.SIGINT, "term": 3}.get(end, 0)
        return
    assert left_overs() == [LeftOver(folder, 0)]
    assert f"left over   {folder} (0 bytes)" in run("info").out
    assert {path.name for path in Path(folder).iterdir()} == {"alive", "more"}  # no rows
