"""Does a results folder lose nothing that is finished, and take nothing that is not its own?"""

from __future__ import annotations

import errno
import io
import json
import multiprocessing
import os
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

import fastexp as fx
from fastexp.errors import StudyError
from tests.doors.studies import folder, machine, run_task
from tests.messages import heard, raises, says
from tests.support import processes
from tests.support.small_study import TASKS, small, tables, undisturbed

FILES = {"study.json", "tasks.jsonl", "table.csv", "table.json"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A folder that is complete."""
    path = tmp_path_factory.mktemp("whole") / "out"
    small().run(workers=1, out=path)
    return path


@pytest.fixture
def broken(whole, tmp_path) -> Path:
    """The same without tables, to be damaged."""
    path = tmp_path / "out"
    path.mkdir()
    for name in ("study.json", "tasks.jsonl"):
        (path / name).write_bytes((whole / name).read_bytes())
    return path


def lines_of(path: Path) -> list[bytes]:
    return (path / "tasks.jsonl").read_bytes().splitlines(keepends=True)


def run_again(path: Path, whole: Path) -> int:
    """Resume; how many tasks were missing. The tables are those of an undisturbed run."""
    counts: list[int] = []
    fx.Study.resume(path, workers=1, progress=lambda done, _: counts.append(done))
    assert tables(path) == tables(whole)
    assert {p.name for p in path.iterdir()} == FILES
    numbers = [result["task"] for line in lines_of(path) if (result := folder.parsed(line))]
    assert sorted(set(numbers)) == list(range(TASKS))
    return len(counts) - 1 if counts else 0


class TestFiles:
    @pytest.mark.slow
    def test_what_is_written(self, whole):
        assert {p.name for p in whole.iterdir()} == FILES
        assert tables(whole) == undisturbed(small())
        told = json.loads((whole / "study.json").read_text())
        assert fx.Study(**told["study"]) == small()
        assert told["key"] == small().key
        assert told["versions"]["fastexp"] == fx.__version__
        assert set(told["machine"]) == {"system", "cpu", "cores"}

    @pytest.mark.slow
    def test_a_line_a_task(self, whole):
        assert len(lines_of(whole)) == TASKS
        for number, line in enumerate(lines_of(whole)):
            text, check = line.rstrip(b"\n").split(b"\t")
            assert int(check, 16) == zlib.crc32(text)
            assert json.loads(text) == run_task(small(), number)

    @pytest.mark.slow
    def test_lines_are_there_at_once(self, tmp_path):
        """Each task is in the file before the next one is begun."""
        seen: list[tuple[int, int]] = []
        tell = lambda done, _: seen.append((done, len(lines_of(tmp_path))))  # noqa: E731
        small().run(workers=1, out=tmp_path, progress=tell)
        assert seen == [(done, done) for done in range(TASKS + 1)]

    @pytest.mark.slow
    def test_a_complete_folder_is_left_as_it_is(self, whole):
        before = lines_of(whole), tables(whole)
        called: list[int] = []
        results = fx.Study.resume(whole, progress=lambda done, _: called.append(done))
        assert (lines_of(whole), tables(whole)) == before
        assert not called
        assert results.to_csv().encode() == before[1][0]


class TestDamage:
    @pytest.mark.slow
    @pytest.mark.parametrize("part", [0.0, 0.001, 0.3, 0.77, 0.999])
    def test_a_torn_file(self, broken, whole, part):
        file = broken / "tasks.jsonl"
        content = file.read_bytes()[: int(part * file.stat().st_size)]
        file.write_bytes(content)
        assert run_again(broken, whole) == TASKS - content.count(b"\n")
        assert len(lines_of(broken)) == TASKS  # what was torn is cut off

    def test_what_follows_the_last_line_is_cut_off(self, broken, whole):
        with (broken / "tasks.jsonl").open("ab") as file:
            file.write(b"torn")
        assert run_again(broken, whole) == 0
        assert lines_of(broken) == lines_of(whole)

    def test_no_file(self, broken, whole):
        (broken / "tasks.jsonl").unlink()
        assert run_again(broken, whole) == TASKS

    def test_a_missing_newline(self, broken, whole):
        file = broken / "tasks.jsonl"
        file.write_bytes(file.read_bytes()[:-1])
        assert run_again(broken, whole) == 1

    def test_a_damaged_line_in_the_middle(self, broken, whole):
        lines = lines_of(broken)
        lines[5] = lines[5].replace(b'"rows":2', b'"rows":3')
        lines[7] = b"\x00\xff nothing\n"
        lines[9] = lines[9][:50] + b"\n"
        lines[11] = lines[11].replace(b"\t", b"\t0x")[:-1] + b"z\n"
        lines[12] = b"\n"
        assert lines[5] != lines_of(broken)[5]
        (broken / "tasks.jsonl").write_bytes(b"".join(lines))
        assert run_again(broken, whole) == 5

    def test_lines_twice_and_in_another_order(self, broken, whole):
        lines = lines_of(broken)
        (broken / "tasks.jsonl").write_bytes(b"".join([*lines[3::-1], *lines[2:20], lines[0]]))
        assert run_again(broken, whole) == 4

    @pytest.mark.parametrize(
        "change", [{"task": TASKS}, {"task": -1}, {"cells": []}, {"cells": [{}] * 4, "rows": None}]
    )
    def test_whole_lines_of_something_else(self, broken, change):
        result = {**run_task(small(), 0), **change}
        lines = [folder.line_of(result), *lines_of(broken)[1:]]
        (broken / "tasks.jsonl").write_bytes(b"".join(lines))
        with raises("result of another study"):
            fx.Study.resume(broken)
        assert lines_of(broken) == lines

    @pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"versions": [], "study": {}}'])
    def test_a_damaged_description(self, broken, content):
        (broken / "study.json").write_bytes(content)
        with raises("folder of no study"):
            fx.Study.resume(broken)

    @pytest.mark.parametrize("change", [{"draws": 9}, {"colour": 1}])
    def test_a_changed_description(self, broken, change):
        told = json.loads((broken / "study.json").read_text())
        told["study"] |= change
        (broken / "study.json").write_text(json.dumps(told))
        with raises("key of a damaged study"):
            fx.Study.resume(broken)

    def test_no_folder(self, tmp_path):
        with raises("folder of no study"):
            fx.Study.resume(tmp_path / "nowhere")

    def test_reading_changes_nothing(self, broken):
        file = broken / "tasks.jsonl"
        file.write_bytes(file.read_bytes()[:-5])
        before = file.read_bytes()
        assert folder.read(broken, small()).finished == TASKS - 1
        assert file.read_bytes() == before


class TestOthers:
    def test_another_study_is_refused_with_the_difference(self, broken):
        with pytest.raises(StudyError) as caught:
            fx.Study.resume(broken, study=small(draws=9, levels=[0.5]))
        lines = str(caught.value).splitlines()
        assert lines[0] == f"{broken} holds another study:"
        assert lines[1:] == ["  draws: 8 there, 9 here", "  levels: [0.5, 0.95] there, [0.5] here"]

    def test_integers_are_not_floats(self, broken):
        """They are equal, but not what keys of draws are made of."""
        with raises("...bounds: setting that changed, got [-10.0, 120.0]", there="[-10, 120]"):
            fx.Study.resume(broken, study=small(bounds=(-10.0, 120.0)))

    def test_the_same_study_is_taken(self, broken, whole):
        fx.Study.resume(broken, study=small())
        assert tables(broken) == tables(whole)

    @pytest.mark.parametrize("name", ["fastexp", "numpy"])
    def test_another_version_is_refused(self, broken, name):
        told = json.loads((broken / "study.json").read_text())
        told["versions"][name] = "0.0.1"
        (broken / "study.json").write_text(json.dumps(told))
        own = machine.versions()[name]
        with pytest.raises(
            StudyError,
            match=says("results of another version", name=name, there="0.0.1", here=f"{own}..."),
        ):
            fx.Study.resume(broken)

    def test_a_folder_that_is_not_empty(self, whole, tmp_path):
        with raises("results folder in use before"):
            small().run(out=whole)
        (tmp_path / "notes.txt").write_text("mine")
        with raises("results folder in use before"):
            small().run(out=tmp_path)
        assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]

    @pytest.mark.slow
    def test_a_folder_that_was_left_as_a_run_began(self, tmp_path, whole):
        """Killed before its description was written: there is nothing to go on with."""
        (tmp_path / "tasks.jsonl").write_bytes(b"")
        (tmp_path / ".study.json.draft").write_bytes(b"{")
        small().run(workers=1, out=tmp_path)
        assert tables(tmp_path) == tables(whole)
        assert {p.name for p in tmp_path.iterdir()} == FILES

    @pytest.mark.process
    def test_two_runs_at_once(self, broken):
        """Of one process or of two."""
        held = folder.opened(broken, fx.Study)
        with raises("results folder in use"):
            fx.Study.resume(broken)
        script = f"import fastexp as fx; fx.Study.resume({str(broken)!r})"
        ran = processes.run([sys.executable, "-c", script])
        assert heard(ran.stderr.decode(), "results folder in use")
        held.close()
        assert fx.Study.resume(broken).agree

    @pytest.mark.process
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks")
    @pytest.mark.filterwarnings("ignore:This process .*is multi-threaded:DeprecationWarning")
    def test_a_fork_does_not_keep_the_lock(self, broken):
        held = folder.opened(broken, fx.Study)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:  # lives until it may end
            os.close(writer)
            os.read(reader, 1)
            os._exit(0)
        try:
            held.close()  # as when its process is killed
            folder.opened(broken, fx.Study).close()
        finally:
            os.close(writer)
            os.close(reader)
            os.waitpid(child, 0)


class Full(io.FileIO):
    """A file on a disk that takes a number of bytes and no more."""

    room = 0

    def write(self, data: Any) -> int:
        taken = bytes(data)[: max(0, self.room)]
        if not taken and data:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= len(taken)
        return super().write(taken) or 0


class TestDisk:
    @pytest.mark.slow
    @pytest.mark.parametrize("workers", [1, 2])
    def test_a_full_disk(self, workers, tmp_path, whole, monkeypatch):
        room = len(b"".join(lines_of(whole)[:6])) + 30
        monkeypatch.setattr(folder.io, "FileIO", Full)
        monkeypatch.setattr(Full, "room", room)
        with raises("...tasks.jsonl: results that cannot be written, got No space left..."):
            small().run(workers=workers, out=tmp_path / "out")
        monkeypatch.undo()
        assert all(folder.parsed(line) for line in lines_of(tmp_path / "out"))
        kept = len(lines_of(tmp_path / "out"))
        assert kept >= 4
        assert run_again(tmp_path / "out", whole) == TASKS - kept

    @pytest.mark.slow
    def test_room_again_after_a_failure(self, tmp_path, whole, monkeypatch):
        """What is written after a part of a line was taken back stands where it must."""
        monkeypatch.setattr(folder.io, "FileIO", Full)
        monkeypatch.setattr(Full, "room", 100)
        store = folder.create(tmp_path / "out", small())
        with pytest.raises(StudyError):
            store.add(run_task(small(), 0))
        Full.room = 10**9
        store._file.room = 10**9
        store.add(run_task(small(), 1))
        store.close()
        monkeypatch.undo()
        assert run_again(tmp_path / "out", whole) == TASKS - 1

    @pytest.mark.process
    @pytest.mark.skipif(sys.platform == "win32", reason="no limits of files")
    def test_a_real_limit(self, tmp_path, whole):
        limit = len(b"".join(lines_of(whole)[:4])) + 10
        script = (
            "import resource, signal\n"
            "from pathlib import Path\n"
            "from tests.support.small_study import small\n"
            "small().run(workers=1)\n"  # compiled and kept
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
            f"small().run(workers=1, out=Path({str(tmp_path / 'out')!r}))\n"
        )
        root = Path(__file__).parents[2]
        command = [sys.executable, "-c", script]
        ran = processes.run(command, cwd=root)
        assert b"StudyError" in ran.stderr
        assert b"File too large; finished tasks are kept" in ran.stderr
        assert run_again(tmp_path / "out", whole) == TASKS - 4

    def test_tables_that_cannot_be_written(self, broken, whole, monkeypatch):
        def full(self: Path, data: bytes) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(Path, "write_bytes", full)
        with raises("...table.csv: results that cannot be written, got No space left..."):
            fx.Study.resume(broken)
        monkeypatch.undo()
        assert run_again(broken, whole) == 0

    @pytest.mark.parametrize("path", ["file/out", "file"])
    def test_no_place_for_a_folder(self, tmp_path, path):
        (tmp_path / "file").write_text("mine")
        with raises("out: folder to write to"):
            small().run(out=tmp_path / path)

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
    def test_a_folder_that_is_read_only(self, broken, tmp_path):
        (broken / "tasks.jsonl").chmod(0o400)
        with pytest.raises(
            StudyError, match=says("results that cannot be written, got Permission denied")
        ):
            fx.Study.resume(broken)
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(fx.ParameterError, match=says("out: folder to write to")):
            small().run(out=tmp_path / "closed" / "out")

    def test_what_may_not_be_opened(self, broken, monkeypatch):
        def refuse(*_: Any) -> int:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        monkeypatch.setattr(folder.os, "open", refuse)
        with raises("results that cannot be written, got Permission denied"):
            fx.Study.resume(broken)

    def test_infinite_figures_are_not_written(self, tmp_path):
        store = folder.create(tmp_path / "out", small())
        result = run_task(small(), 0)
        result["cells"][0]["error"]["moments"]["exact"][0] = float("inf")
        with raises("infinite figure"):
            store.add(result)
        store.close()
        assert lines_of(tmp_path / "out") == []


@pytest.mark.process
def test_nothing_runs_on() -> None:
    assert not multiprocessing.active_children()
