"""Whichever call of the system fails for `output`: is the error ours, and has it what was paid?"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

import fastexp as fx
from fastexp.errors import OutputError, ParameterError
from tests.messages import raises
from tests.support.command_line import Run

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(os.name != "posix", reason="calls of POSIX"),
]
CALLS = (
    *("open", "close", "write", "fsync", "ftruncate", "posix_fallocate", "chmod", "stat"),
    *("lstat", "fstat", "link", "replace", "unlink"),
)
FOLDER, OLD = "folder-of-answers", b"old"
FEWEST, MOST = 10, 100  # calls of a release
FORMATS = (".csv", ".tsv", ".parquet", ".jsonl")
ROWS = {"x": [1] * 200}
ANSWERS = {"x": (fx.Median(epsilon=1e5, bounds=(0, 9), step=1), "x")}


class Faults:
    """Calls of the system about the folder of answers, of which one fails, counted from 0."""

    def __init__(self, number: int) -> None:
        self.failing, self.count, self.name = -1, 0, ""
        self._number, self._handles = number, set[int]()

    @contextmanager
    def of(self, failing: int) -> Iterator[None]:
        """In this block the call of this number fails, whose name is kept."""
        self.failing, self.count, self.name = failing, 0, ""
        with pytest.MonkeyPatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, self._counted(name, getattr(os, name)))
            yield

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            if not any(map(self._is_about, arguments)):
                return call(*arguments, **options)
            number, self.count = self.count, self.count + 1
            if name == "close":  # the handle is gone, whatever it says
                self._handles.discard(arguments[0])
                call(*arguments)
            if number == self.failing:
                self.name = name
                raise OSError(self._number, os.strerror(self._number))
            if name == "close":
                return None
            done = call(*arguments, **options)
            if name == "open":
                self._handles.add(done)
            return done

        return counted

    def _is_about(self, argument: object) -> bool:
        if isinstance(argument, int):
            return argument in self._handles
        text = os.fspath(argument) if isinstance(argument, (str, os.PathLike)) else ""
        return isinstance(text, str) and FOLDER in text


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where answers go, below the folder that the process is in."""
    monkeypatch.chdir(tmp_path)
    Path(FOLDER).mkdir()
    return Path(FOLDER, "answers")


def faults_of(file: Path, number: int, *, force: bool) -> Iterator[AbstractContextManager[None]]:
    """For each call a block in which it fails; after it the file is whole, not there or as it was.

    One block without a fault is the last.
    """
    faults = Faults(number)
    for failing in range(MOST):
        file.unlink(missing_ok=True)
        if force:
            file.write_bytes(OLD)
        yield faults.of(failing)
        there = [path for path in file.parent.iterdir() if path != file]
        assert not there or faults.name == "unlink"  # of the draft itself
        for path in there:
            path.unlink()
        if not faults.name:
            assert file.exists()
            assert failing > FEWEST
            return
        assert not file.exists() or b"1" in file.read_bytes() or file.read_bytes() == OLD
    raise AssertionError("more calls than expected")


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_of_a_query(file: Path, ending: str, force: bool, number: int) -> None:
    file = file.with_suffix(ending)
    fx.Query().release(ROWS, ANSWERS, output=file)  # what is imported late is there
    for fault in faults_of(file, number, force=force):
        budget, answers = fx.Budget(epsilon=1e5), None
        try:
            with fault:
                answers = fx.Query().release(ROWS, ANSWERS, budget=budget, output=file, force=force)
        except (OutputError, ParameterError) as error:
            answers = getattr(error, "answers", None)
        paid = {"x": [1]} if budget.charges else None
        assert (None if answers is None else {"x": answers["x"].tolist()}) == paid


@pytest.mark.parametrize(("force", "label"), [(False, []), (True, []), (True, ["--label", "q"])])
def test_of_the_command_line(run: Run, file: Path, force: bool, label: list[str]) -> None:
    """The answers are in the file, in another one, or under the label in the ledger."""
    Path("rows.csv").write_text("x\n" + "1\n" * 200)
    file = file.with_suffix(".csv")
    asked = ["median", "rows.csv", "--column", "x", "--epsilon", "1e5", "--bounds", "0", "9"]
    asked += ["--step", "1", "--output", str(file), *["--force"] * force]
    run(*asked)
    for i, fault in enumerate(faults_of(file, errno.EIO, force=force)):
        budget = fx.Budget.file(f"b{i}", epsilon=2e5)
        with fault:
            ended = run(*asked, "--budget", f"b{i}", *label)
        assert "unexpected" not in ended.err
        assert ended.code == 0 or "output" in ended.err
        rescued = [*Path().rglob("fastexp-answers-*")]
        kept = [entry["label"] for entry in budget.log()]
        if ended.code == 0:
            assert file.read_text() == "x\n1\n"
        elif label and kept:
            assert budget.answers("q")[1].tolist() == [1]
        elif kept:
            (path,) = rescued
            assert json.loads(path.read_text())["rows"] == [{"x": 1}]
            path.unlink()
        else:
            assert (budget.charges, rescued) == (0, [])


def test_in_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone, budget = tmp_path / "gone", fx.Budget(epsilon=1e5)
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with raises("output to write, got No such file or directory"):
        fx.Query().release(ROWS, ANSWERS, budget=budget, output="answers.csv")
    assert not budget.charges
