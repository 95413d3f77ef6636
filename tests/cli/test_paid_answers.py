"""Is nothing lost that was paid for, on full disks, in closed pipes, by kills and retries?"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fastexp as fx
from tests.doors.budget import atomic_files, ledger
from tests.doors.cli import payment
from tests.doors.query import execute, output_file
from tests.messages import heard
from tests.support import processes
from tests.support.command_line import Run

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(os.name != "posix", reason="devices, signals and links of POSIX"),
]
NUMBER = ["--column", "x", "--epsilon", "1", "--bounds", "0", "9999"]
BY = ["--by", "g", "--groups", "a,b,c"]
SELECT = ["select", "--column", "g", "--candidates", "a,b", "--epsilon", "1"]
WHICH = {
    "median": ["median", *NUMBER],
    "price": ["price", *NUMBER],
    "quantile by": ["quantile", *NUMBER, "--q", "0.3", *BY],
    "select": SELECT,
    "top-k": [*SELECT, "--mechanism", "top-k", "--k", "2"],
    "select by": ["select", "--column", "x", "--candidates", "1,2", "--epsilon", "1", *BY],
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In the folder that the process is in, beside a budget."""
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"g": ["a", "b", "a"] * 60, "x": [1, 2, 3] * 60, "t": ["z"] * 180})
    frame.write_csv("d.csv")
    frame.write_parquet("d.parquet")
    fx.Budget.file("b", epsilon=90.0)
    return Path("d.csv")


def ask(which: str, file: object = "d.csv") -> list[object]:
    name, *options = WHICH[which]
    return [name, file, *options, "--budget", "b"]


def charges() -> int:
    return fx.Budget.file("b").charges


def rescued(err: str) -> dict[str, Any]:
    (path,) = re.findall(r"charged; the answers are in (.*) \(JSON\)", err)
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    found: dict[str, Any] = json.loads(Path(path).read_text())
    return found


def unheard(run: Run, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> tuple[int, str]:
    """Exit code and stderr of a call whose stdout is a full disk."""
    with Path("/dev/full").open("w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        code, _, err = run(*arguments)
    return code, err


def process(
    arguments: list[object], stdout: Any = subprocess.PIPE, start: str = ""
) -> subprocess.CompletedProcess[bytes]:
    script = f"import sys\nfrom fastexp.cli import main\n{start}\nsys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", script, *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": str(Path(fx.__file__).parents[1])}
    return processes.run(command, env=env, stdout=stdout)


# ---- stdout ----


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux")
@pytest.mark.parametrize(
    ("which", "form"),
    [("median", []), ("quantile by", ["--json"]), ("select by", []), ("top-k", ["--json"])],
)
def test_answers_that_stdout_does_not_take_are_in_a_file(
    run: Run, data, monkeypatch: pytest.MonkeyPatch, which: str, form: list[str]
) -> None:
    code, err = unheard(run, monkeypatch, *ask(which), *form)
    assert (code, charges()) == (1, 1)
    found = rescued(err)
    assert found["kind"] == "release"
    assert len(found["rows"]) == (3 if "by" in which else 2 if which == "top-k" else 1)
    assert "could not be written: No space left" in err


@pytest.mark.process
def test_nobody_reads_the_pipe(data) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = process(ask("quantile by"), writing)
    finally:
        os.close(writing)
    assert (done.returncode, charges()) == (1, 1)
    assert [row["g"] for row in rescued(done.stderr.decode())["rows"]] == ["a", "b", "c"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux")
@pytest.mark.parametrize("which", ["quantile by", "top-k"])
def test_with_a_label_the_ledger_has_them(
    run: Run, data, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    arguments = [*ask(which), "--label", "q"]
    code, err = unheard(run, monkeypatch, *arguments)
    assert (code, charges()) == (1, 1)
    assert "charged; the answers are kept in the budget file under label 'q'" in err
    assert not list(Path().glob("fastexp-answers-*"))
    data.unlink()  # they are kept whatever the data are by now
    code, first, err = run(*arguments)
    assert code == 0
    assert (
        "charged nothing: these answers were kept under label 'q'; 89.0 of 90.0 epsilon remains"
        in err
    )
    assert run(*arguments)[:2] == (0, first)
    assert charges() == 1


def test_where_no_file_can_be_made_stderr_has_them(
    run: Run, data, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(payment.atomic_files, "create", full)
    monkeypatch.setattr(output_file.OutputFile, "_publish", full)
    code, out, err = run(*ask("quantile by"), "--output", "o.csv")
    assert (code, out) == (1, "")
    (line,) = re.findall(r"charged; the answers are: (.*)", err)
    assert len(json.loads(line)["rows"]) == 3


# ---- --output ----


def test_an_output_file_is_replaced_by_force_only(run: Run, data) -> None:
    Path("o.csv").write_text("paid for\n")
    Path("o.csv").chmod(0o640)
    code, out, err = run(*ask("quantile by"), "--output", "o.csv")
    assert (code, out, charges()) == (2, "", 0)
    assert heard(err, "output that exists")
    assert Path("o.csv").read_text() == "paid for\n"
    assert run(*ask("quantile by"), "--output", "o.csv", "--force")[0] == 0
    assert Path("o.csv").read_text().startswith("g,x\na,")
    assert stat.S_IMODE(Path("o.csv").stat().st_mode) == 0o640
    assert not list(Path().glob(".fastexp-*"))


def test_a_file_that_comes_meanwhile_is_not_replaced(run: Run, data, monkeypatch) -> None:
    write = output_file.OutputFile.write

    def late(place: output_file.OutputFile, content: bytes) -> None:
        Path("o.csv").write_text("paid for\n")
        write(place, content)

    monkeypatch.setattr(output_file.OutputFile, "write", late)
    code, _, err = run(*ask("quantile by"), "--output", "o.csv")
    assert (code, charges(), Path("o.csv").read_text()) == (1, 1, "paid for\n")
    assert "cannot write --output 'o.csv': File exists" in err
    assert len(rescued(err)["rows"]) == 3


NO_PLACES = ["/dev/stdout", "pipe.csv", "no/o.csv", "o.txt", "loop.csv", "b.csv", "d.csv"]


@pytest.mark.parametrize("name", [*NO_PLACES, "x" * 300 + ".csv"])
def test_what_is_no_place_is_refused_before_the_charge(run: Run, data, name: str) -> None:
    os.mkfifo("pipe.csv")
    Path("loop.csv").symlink_to("loop.csv")
    Path("b.csv").symlink_to("b")
    before = sorted(Path().iterdir())
    code, out, err = run(*ask("quantile by"), "--output", name, "--force")
    assert (code, out, charges()) == (2, "", 0)
    assert "--output" in err
    assert sorted(Path().iterdir()) == before


def test_nothing_that_is_read_is_replaced(run: Run, data) -> None:
    Path("cities.csv").write_text("g\na\nb\n")
    Path("grid.csv").write_text("0,10\n")
    assert run("key", "k.csv").code == 0
    before = {path: path.read_bytes() for path in Path().iterdir()}
    for more in (
        ["--groups", "cities.csv", "--output", "cities.csv"],
        ["--groups", "cities.csv:g", "--output", "./cities.csv"],
        ["--grid", "grid.csv", "--output", "grid.csv"],
        ["--key", "k.csv", "--output", "k.csv"],
        ["--output", "d.csv"],
    ):
        code, out, err = run(*ask("quantile by"), "--label", "q", "--force", *more)
        assert (code, out) == (2, ""), more
        assert "--output must not be " in err
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"


@pytest.mark.process
def test_without_room_nothing_is_charged(data) -> None:
    """Room is reserved before: here beyond the size that a process may write."""
    done = process([*ask("quantile by"), "--output", "o.csv"], start=LIMITED)
    assert (done.returncode, charges()) == (1, 0)
    assert b"nothing was read, drawn or charged" in done.stderr
    assert not list(Path().glob(".fastexp-*"))


# ---- labels ----


OTHERS = {
    "median": [["--nan", "upper"], ["--step", "1"], ["--max-rows", "2"], ["--delimiter", ";"]],
    "price": [["--nan", "lower"], ["--scaling", "textbook"]],
    "quantile by": [["--groups", "a,c,b"], ["--max-rows", "2"], ["--person", "t"], ["--q", "0.4"]],
    "select": [["--candidates", "b,a"], ["--mechanism", "permute-and-flip"]],
    "top-k": [["--k", "1"], ["--candidates", "a,c"], ["--delta", "1e-9"], ["--delimiter", ";"]],
    "select by": [["--by", "t"], ["--max-groups", "2"]],
}


@pytest.mark.parametrize("which", WHICH)
def test_the_label_of_another_question_is_refused(run: Run, data, which: str) -> None:
    fx.Budget.file("other", epsilon=1.0, delta=1e-6)
    assert run(*ask(which), "--label", "q", "--budget", "other").code == 0
    Path("copy.csv").write_bytes(data.read_bytes())
    both = [["--epsilon", "0.5"], ["--column", "t"]]
    asked = [[*ask(which), *more] for more in [*both, *OTHERS[which]]]
    for question in [
        *asked,
        ask(which, "copy.csv"),
        ask("median" if "by" in which else "select by"),
    ]:
        code, out, err = run(*question, "--label", "q", "--budget", "other")
        assert (code, out) == (2, ""), question
        rows = ("label of another question", "label of another question, described")
        assert heard(err, *rows, label="'q'")
    assert fx.Budget.file("other").charges == 1


def test_a_label_is_used_up_by_a_row_that_cannot_be_read(run: Run, data) -> None:
    for which in ("median", "select", "quantile by"):
        data.write_text("g,x,t\na,1,z\nb,SECRET-7341\n")
        arguments = [*ask(which), "--label", which]
        code, out, err = run(*arguments)
        assert (code, out) == (4, "")
        assert f"charged nevertheless, as a failure may depend on the data: label '{which}'" in err
        data.write_text("g,x,t\na,1,z\n")
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert heard(err, "label used up")
    assert charges() == 3


@pytest.mark.parametrize("label", [[], ["--label", "q"]], ids=["none", "label"])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (fx.InvalidRecords("records cannot be counted"), "error: records cannot be counted"),
        (OSError(errno.ENOSPC, "No space left"), "error: No space left"),
        (ValueError("SECRET-7341"), "error: unexpected ValueError"),
    ],
)
def test_a_failure_after_the_charge_has_a_code_of_its_own(
    run: Run, data, monkeypatch, label: list[str], error: Exception, message: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(execute, "answered", fail)
    code, out, err = run(*ask("median"), *label)
    assert (code, out, charges()) == (4, "", 1)
    assert "charged nevertheless" in err
    assert err.splitlines()[-1].startswith(f"fastexp: {message}")
    assert "SECRET" not in err


def test_mistakes_that_the_header_shows_cost_nothing(run: Run, data) -> None:
    for which in WHICH:
        column = "g" if which.startswith("select") or which == "top-k" else "x"
        for file in ("d.csv", "d.parquet", "missing.csv"):
            arguments = [*ask(which, file), "--label", "q", "--column", f"{column}{column}"]
            assert run(*arguments)[:2] == (2, "")
    assert run(*ask("median", "d.parquet"), "--column", "t")[:2] == (2, "")
    typed = ["--column", "x", "--candidates", "one,two"]
    assert run(*ask("select", "d.parquet"), *typed)[:2] == (2, "")
    assert charges() == 0


def test_what_a_label_goes_with(run: Run, data) -> None:
    bare = ask("median")[:-2]
    assert "--label needs --budget" in run(*bare, "--label", "q")[2]
    for more in (["--law"], ["--draws", "3"]):
        assert "--label is for releases" in run(*bare, "--label", "q", *more)[2]
    assert "label" in run(*ask("median"), "--label", "")[2]
    assert "label" in run(*ask("median"), "--label", "x" * 999)[2]
    assert charges() == 0
    assert run(*ask("median"), "--label", "jün", "-q")[0] == 0
    assert "jün" in run("budget", "b", "--log").out


# ---- interrupts ----

NEVERTHELESS = "charged nevertheless, as it was interrupted after the charge; 89.0 of 90.0 epsilon"


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_while_the_charge_is_synced_is_told(run: Run, data, monkeypatch) -> None:
    for which, label in (("median", None), ("select by", None), ("median", "q")):
        Path("b").unlink()
        fx.Budget.file("b", epsilon=90.0)
        real = os.fsync

        def late(handle: int, sync: Callable[[int], None] = real) -> None:
            sync(handle)
            if os.path.samestat(os.fstat(handle), Path("b").stat()):
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", late)
            code, out, err = run(*ask(which), *([] if label is None else ["--label", label]))
        assert (code, out, charges()) == (130, "", 1)
        goes_on = "charged; the same command with label 'q' goes on without a charge\n"
        assert (NEVERTHELESS if label is None else goes_on) in err
    assert run(*ask("median"), "--label", "q")[0] == 0
    assert charges() == 1


def test_an_interrupt_is_no_failure_of_the_data(run: Run, data, monkeypatch) -> None:
    monkeypatch.setattr(execute, "answered", interrupted)
    code, out, err = run(*ask("median"))
    assert (code, out, charges()) == (130, "", 1)
    assert err.splitlines()[-2:] == [f"{NEVERTHELESS} remains", "fastexp: interrupted"]


def test_an_interrupt_before_the_charge_tells_of_none(run: Run, data, monkeypatch) -> None:
    assert run(*ask("median"))[0] == 0  # an equal charge, of before
    monkeypatch.setattr(atomic_files, "append", interrupted)
    code, out, err = run(*ask("median"))
    assert (code, out, charges()) == (130, "", 1)
    assert err.splitlines()[-2].startswith("promises ")
    assert err.endswith("\nfastexp: interrupted\n")


def test_an_interrupt_after_answers_are_kept(run: Run, data, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ledger.File, "_answers", interrupted)
        code, out, err = run(*ask("median"), "--label", "q")
    assert (code, out) == (130, "")
    assert "charged; the answers are kept in the budget file under label 'q'" in err
    assert run(*ask("median"), "--label", "q")[0] == 0
    assert charges() == 1
