"""Is nothing lost that was paid for, on full disks, in closed pipes, by kills and retries?"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fastexp as fx
from fastexp import _files, _ledger
from fastexp.cli import main
from fastexp.cli.ask import payment
from fastexp.query import call
from fastexp.query import output as output_file

pytestmark = [
    pytest.mark.process,
    pytest.mark.engines,
    pytest.mark.skipif(os.name != "posix", reason="devices, signals and links of POSIX"),
]
Run = Callable[..., tuple[int, str, str]]
NUMBER = ["--column", "x", "--epsilon", "1", "--bounds", "0", "9999"]
BY = ["--by", "g", "--groups", "a,b,c"]
WHICH = {
    "median": ["median", *NUMBER],
    "price": ["price", *NUMBER],
    "quantile by": ["quantile", *NUMBER, "--q", "0.3", *BY],
    "select": ["select", "--column", "g", "--candidates", "a,b", "--epsilon", "1"],
    "top-k": [
        *["select", "--column", "g", "--candidates", "a,b,c", "--epsilon", "1"],
        *["--mechanism", "top-k", "--k", "2"],
    ],
    "select by": [
        *["select", "--column", "x", "--candidates", "1,2", "--epsilon", "1", *BY],
    ],
}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        return (code, *capsys.readouterr())

    return call


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


def process(arguments: list[object], **how: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "fastexp", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(fx.__file__).parents[1])},
        stderr=subprocess.PIPE,
        check=False,
        timeout=300,
        **how,
    )


# ---- stdout ----


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux")
@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_answers_that_stdout_does_not_take_are_in_a_file(data, which: str, form) -> None:
    with Path("/dev/full").open("wb") as full:
        done = process([*ask(which), *form], stdout=full)
    assert done.returncode == 1
    assert charges() == 1
    found = rescued(done.stderr.decode())
    assert found["kind"] == "release"
    assert found["rows"]
    assert b"could not be written: No space left" in done.stderr


def test_nobody_reads_the_pipe(data) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = process(ask("quantile by"), stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, charges()) == (1, 1)
    assert [row["g"] for row in rescued(done.stderr.decode())["rows"]] == ["a", "b", "c"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux")
@pytest.mark.parametrize("which", WHICH)
def test_with_a_label_the_ledger_has_them(run: Run, data, which: str) -> None:
    arguments = [*ask(which), "--label", "q"]
    with Path("/dev/full").open("wb") as full:
        done = process(arguments, stdout=full)
    assert (done.returncode, charges()) == (1, 1)
    assert b"charged; the answers are kept in the budget file under label 'q'" in done.stderr
    assert not list(Path().glob("fastexp-answers-*"))
    data.unlink()  # they are kept whatever the data are by now
    code, first, err = run(*arguments)
    assert code == 0
    assert "charged nothing, kept under label 'q'; 89.0 of 90.0 epsilon remains" in err
    assert run(*arguments)[:2] == (0, first)
    assert charges() == 1


def test_where_no_file_can_be_made_stderr_has_them(
    run: Run, data, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(payment._files, "create", full)
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
    assert "may hold answers that were paid for" in err
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


NO_PLACES = ["/dev/stdout", "/dev/null", "pipe.csv", "full.csv", "folder.csv", "no/o.csv", "o.txt"]


@pytest.mark.parametrize("name", [*NO_PLACES, "loop.csv", "b.csv", "d.csv", "x" * 300 + ".csv"])
def test_what_is_no_place_is_refused_before_the_charge(run: Run, data, name: str) -> None:
    os.mkfifo("pipe.csv")
    Path("full.csv").symlink_to("/dev/full")
    Path("loop.csv").symlink_to("loop.csv")
    Path("b.csv").symlink_to("b")
    Path("folder.csv").mkdir()
    before = sorted(Path().iterdir())
    code, out, err = run(*ask("quantile by"), "--output", name, "--force")
    assert (code, out, charges()) == (2, "", 0)
    assert "--output" in err
    assert sorted(Path().iterdir()) == before


def test_nothing_that_is_read_is_replaced(run: Run, data) -> None:
    Path("cities.csv").write_text("g\na\nb\n")
    Path("grid.csv").write_text("0,10\n")
    assert run("key", "k.csv")[0] == 0
    before = {path: path.read_bytes() for path in Path().iterdir()}
    base = [*ask("quantile by"), "--label", "q", "--force"]
    for more in (
        ["--groups", "cities.csv", "--output", "cities.csv"],
        ["--groups", "cities.csv:g", "--output", "./cities.csv"],
        ["--grid", "grid.csv", "--output", "grid.csv"],
        ["--key", "k.csv", "--output", "k.csv"],
        ["--output", "d.csv"],
    ):
        code, out, err = run(*base, *more)
        assert (code, out) == (2, ""), more
        assert "--output must be another file than" in err
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_answers_go_where_a_link_leads(run: Run, data) -> None:
    Path("runs").mkdir()
    Path("last.csv").symlink_to("runs/1.csv")
    assert run(*ask("quantile by"), "--output", "last.csv")[0] == 0
    assert Path("last.csv").is_symlink()
    assert Path("runs/1.csv").read_text().startswith("g,x\n")


LIMITED = """
import resource, sys
from fastexp.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
sys.exit(main(sys.argv[1:]))
"""


def test_without_room_nothing_is_charged(data) -> None:
    """Room is reserved before: here beyond the size that a process may write."""
    arguments = map(str, [*ask("quantile by"), "--output", "o.csv"])
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(fx.__file__).parents[1])},
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, charges()) == (1, 0)
    assert b"nothing was read, drawn or charged" in done.stderr
    assert not list(Path().glob(".fastexp-*"))


STEPS = {
    "reserved": "output_file.OutputFile.__init__",
    "drawn": "call.drawn",
    "written": "output_file._files.write",
    "published": "output_file.OutputFile._publish",
    "synced": "output_file._files.sync_folder",
}
KILLED = """
import os, signal, sys
from fastexp.cli import main
from fastexp.query import call, output as output_file
def kill(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)
def then_kill(*arguments):
    step(*arguments)
    kill()
owner, name = {step!r}.rsplit(".", 1)
step = getattr(eval(owner), name)
before = {before!r} and name in ("drawn", "write", "sync_folder")
if name in ("write", "sync_folder"):  # the ledger's own come first
    place = output_file.OutputFile.write
    def write(*arguments):
        setattr(eval(owner), name, kill if before else then_kill)
        place(*arguments)
    output_file.OutputFile.write = write
else:
    setattr(eval(owner), name, kill if {before!r} else then_kill)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_loses_no_answers_that_have_a_label(run: Run, data, step: str, before: bool) -> None:
    arguments = [*ask("quantile by"), "--label", "q", "--output", "o.jsonl"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED.format(step=STEPS[step], before=before)]
        + [str(argument) for argument in arguments],
        env={**os.environ, "PYTHONPATH": str(Path(fx.__file__).parents[1])},
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    kept = None
    if charges() and fx.Budget.file("b").log()[0]["state"] == "answered":
        kept = fx.Budget.file("b").answers("q")
    written = Path("o.jsonl").read_bytes() if Path("o.jsonl").exists() else None
    assert (kept is not None) is (step in ("written", "published", "synced"))
    assert run(*arguments, "--force")[0] == 0
    assert charges() == 1
    rows = [json.loads(line) for line in Path("o.jsonl").read_text().splitlines()]
    assert written in (None, Path("o.jsonl").read_bytes())  # whole, or not there
    assert kept is None or kept[1].tolist() == [row["x"] for row in rows]


# ---- labels ----


@pytest.mark.parametrize("which", WHICH)
def test_the_label_of_another_question_is_refused(run: Run, data, which: str) -> None:
    assert run(*ask(which), "--label", "q")[0] == 0
    others = [["--epsilon", "2"], ["--neighbors", "replace"], ["--column", "t"]]
    if which.endswith("by"):
        others += [["--groups", "a,c,b"], ["--max-rows", "2"], ["--person", "t"]]
    if which == "price":
        others[1] = ["--nan", "lower"]
    if which == "median":
        others += [["--nan", "upper"], ["--step", "1"]]
    for other in others:
        if other == ["--neighbors", "replace"]:  # that is no promise of this budget at all
            continue
        code, out, err = run(*ask(which), "--label", "q", *other)
        assert (code, out) == (2, ""), other
        assert "label 'q' names another question" in err
    assert charges() == 1


def test_a_label_is_used_up_by_a_row_that_cannot_be_read(run: Run, data) -> None:
    for which in ("median", "select", "quantile by"):
        data.write_text("g,x,t\na,1,z\nb,SECRET-7341\n")
        arguments = [*ask(which), "--label", which]
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert f"charged nevertheless, as a failure may tell of the data: label '{which}'" in err
        data.write_text("g,x,t\na,1,z\n")
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert "is used up" in err
    assert charges() == 3


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
    assert "--label belongs to --budget" in run(*bare, "--label", "q")[2]
    for more in (["--law"], ["--draws", "3"]):
        assert "--label is for releases" in run(*bare, "--label", "q", *more)[2]
    assert "label" in run(*ask("median"), "--label", "")[2]
    assert "label" in run(*ask("median"), "--label", "x" * 999)[2]
    assert charges() == 0
    assert run(*ask("median"), "--label", "jün", "-q")[0] == 0
    assert "jün" in run("budget", "b", "--log")[1]


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
    monkeypatch.setattr(call, "drawn", interrupted)
    code, out, err = run(*ask("median"))
    assert (code, out, charges()) == (130, "", 1)
    assert err.endswith(f"\n{NEVERTHELESS} remains\nfastexp: interrupted\n")


def test_an_interrupt_before_the_charge_tells_of_none(run: Run, data, monkeypatch) -> None:
    assert run(*ask("median"))[0] == 0  # an equal charge, of before
    monkeypatch.setattr(_files, "append", interrupted)
    code, out, err = run(*ask("median"))
    assert (code, out, charges()) == (130, "", 1)
    assert "charged" not in err
    assert err.endswith("\nfastexp: interrupted\n")


def test_an_interrupt_after_answers_are_kept(run: Run, data, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(_ledger.File, "_kept", interrupted)
        code, out, err = run(*ask("median"), "--label", "q")
    assert (code, out) == (130, "")
    assert "charged; the answers are kept in the budget file under label 'q'" in err
    assert run(*ask("median"), "--label", "q")[0] == 0
    assert charges() == 1
