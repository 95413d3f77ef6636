"""Does the command line answer, charge and refuse as its transcripts say, and lose nothing?

A transcript has commands after "$", then what they print: lines of stderr after "! ", and the exit
code in brackets if it is not 0. `python -m tests.test_cli` writes the transcripts anew: read what
changed. Those whose name begins with "process" run in a shell, the others in this process.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import chdir, closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import fastexp as fx
from fastexp.cli import main, table

from . import child

TRANSCRIPTS = sorted(Path(__file__).with_name("transcripts").glob("*.txt"))


def write_files() -> None:
    """Write the files of all transcripts: answers are certain, but with probability 1e-30."""
    import pyarrow as pa
    from pyarrow import parquet

    n = 300
    columns: dict[str, Any] = {
        "city": ["Rome", "Oslo"] * n,
        "year": [2023, 2023, 2024, 2024] * (n // 2),
        "day": [date(2024, 1, 31), date(2024, 2, 1)] * n,
        "is_member": [True, False] * n,
        "id": [f"P{i // 4}" for i in range(2 * n)],
        "age": [37, 52] * n,
        "drink": ["tea", "a, b"] * n,
        "bid": [3.5, 1.0] * n,
    }
    parquet.write_table(pa.table(columns), "people.parquet")
    rows = [
        ",".join(f'"{x}"' if x == "a, b" else str(x) for x in row)
        for row in zip(*columns.values(), strict=True)
    ]
    Path("people.csv").write_text("\n".join([",".join(columns), *rows, ""]))
    german = "Ort;Größe\n" + "Köln;812,50\n" * n + "Bonn;?\n" * 3
    Path("german.csv").write_text(german, encoding="cp1252")
    Path("accent.csv").write_text("e\u0301ge\n1\n", encoding="utf-8")
    Path("cities.txt").write_text("Rome\nOslo\n\n")
    Path("blank.txt").write_text("Rome\n\nOslo\n")
    Path("cells.csv").write_text("city,year\nRome,2023\nOslo,2024\n")
    parquet.write_table(pa.table({"city": ["Rome"], "year": [2023]}), "cells.parquet")
    Path("broken.csv").write_text("age,x\n1,2\n3\n")
    Path("grid.txt").write_text("0\n37.5\n50\n")
    Path("drinks.txt").write_text('"a, b"\n"a ""c"" d"\ntea "e" f\n')
    Path("latin.txt").write_bytes(b"K\xf6ln\n")
    Path("folder").mkdir()


def read_transcript(path: Path) -> list[tuple[str, str]]:
    """Return the commands of a transcript, with what they print."""
    parts = re.split(r"^\$ ", path.read_text(), flags=re.MULTILINE)[1:]
    return [tuple(part.split("\n", 1)) for part in parts]  # type: ignore[misc]


def shown(out: str, err: str, code: int) -> str:
    """Return what a command prints, as transcripts have it."""
    text = (
        out + "".join(f"! {line}\n" for line in err.splitlines()) + (f"[{code}]\n" if code else "")
    )
    text = text.replace(str(Path.cwd()), "/home").replace(str(date.today()), "TODAY")
    text = re.sub(r"TODAYT\d\d:\d\d:\d\d\+00:00", "NOW", text)
    text = re.sub(r"fastexp \S+, NumPy .*", "fastexp VERSIONS", text)
    return text.replace("! still reading and drawing; Ctrl-C stops it\n", "")


def run(command: str) -> str:
    """Run a command in this process; nothing is charged if it exits with 2 or 3."""
    before = charges()
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = main(shlex.split(command)[1:])
    assert code not in (2, 3) or charges() == before
    texts = []
    for stream in out, err:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return shown(*texts, code)


def charges() -> list[Any]:
    """Return all charges of budgets in this folder."""
    return [fx.Budget.file(path).log() for path in sorted(Path().glob("*.budget"))]


def run_in_shell(command: str) -> str:
    """Run a command in a shell, which finds `fastexp` beside Python."""
    where = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        env={**os.environ, "PATH": where, "PYTHONUNBUFFERED": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return shown(done.stdout, done.stderr, done.returncode)


def evened(text: str) -> str:
    """Return a help with two blanks between columns, which differ between versions of Python."""
    gaps = r"(?<=\S) {2,}|(?<=  quantiles)\n +"
    return re.sub(gaps, "  ", text) if "usage:" in text else text


def replay(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the commands of a transcript, what they printed, and what they print now."""
    here = run_in_shell if path.stem.startswith("process") else run
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_files()
        for command, before in read_transcript(path):
            yield command, *map(evened, (before, here(command)))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    for command, before, now in replay(path):
        assert now == before.rstrip("\n") + "\n" * bool(before.strip()), command


def test_the_table_is_that_of_the_signatures() -> None:
    known = {name: text.split("  ")[0] for name, text in table.OPTIONS.items()}
    classes = {row.mechanism: row.parameters for row in table.MECHANISMS.values()}
    classes |= {"Query": table.QUERY, "CSV": f"path {table.CSV}"}
    for name, parameters in classes.items():
        kind = getattr(fx, name)
        public = [field.name for field in fields(kind) if field.init and field.name != "epsilon"]
        assert set(parameters.split()) - {"digits"} == set(public), name
        hints = get_type_hints(kind)
        for parameter in public:
            choices = get_args(hints[parameter])
            if choices and all(isinstance(choice, str) for choice in choices):
                assert known[parameter].split("|") == list(choices)
    for nan in known["nan"].split("|"):
        fx.Median(1.0, (0, 9)).release([1.0], nan=nan)  # type: ignore[arg-type]


def test_a_row_is_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Middle(fx.Median):
        """A mechanism of its own."""

    monkeypatch.setattr(fx, "Middle", Middle, raising=False)
    row = table.Row("Middle", "the middle", "bounds step", "bounds", "--bounds 0 9")
    monkeypatch.setitem(table.MECHANISMS, "middle", row)
    with chdir(tmp_path):
        write_files()
        command = "fastexp middle people.csv --column age --epsilon 2 --bounds 0 30 --step 1"
        assert run(command).startswith("30\n")
        assert "--bounds" in run("fastexp middle --help")
        assert "did you mean 'middle'?" in run("fastexp midle")
        assert "there is no option '--digits' here" in run(f"{command} --digits 3")


HELP = """
import contextlib, io, sys
from fastexp.cli import main, table
for name in ["", *table.MECHANISMS, *table.COMMANDS]:
    for kind in ["--help"] + ["--help-all"] * bool(name):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert main([name, kind][not name :]) == 0
        lines = out.getvalue().splitlines()
        print(len(lines), max(map(len, lines)), kind)
assert not {"numpy", "pyarrow", "sqlite3"} & {*sys.modules}
main(["--version"])
assert "numpy" in sys.modules
"""


def test_help_fits_one_screen_and_imports_nothing_heavy() -> None:
    *shapes, version = child.run(HELP).splitlines()
    assert version.startswith(f"fastexp {fx.__version__}, NumPy ")
    assert len(shapes) == 2 * len([*table.MECHANISMS, *table.COMMANDS]) + 1
    for shape in shapes:
        lines, width, kind = shape.split()
        assert int(width) <= 80
        assert int(lines) <= (24 if kind == "--help" else 99)


@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["median"], 2)])
def test_threads_of_others_cannot_abort_the_end(words: list[str], code: int) -> None:
    script = "import atexit, os, fastexp.cli; atexit.register(os.abort); fastexp.cli.main()"
    command = [sys.executable, "-c", script, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code
    assert (done.stdout or done.stderr).startswith("fastexp")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[list[str]]:
    """A folder with a budget and many rows, and a command that charges."""
    with chdir(tmp_path):
        Path("many.csv").write_text("age,x\n" + "37,1\n" * 500_000)
        fx.Budget.file("b.budget", epsilon=2)
        question = "--column age --epsilon 2 --bounds 0 30 --step 1 --budget b.budget --label x"
        yield [sys.executable, "-m", "fastexp", "median", "many.csv", *question.split()]


def start(command: list[str]) -> subprocess.Popen[str]:
    """Start a command that listens to signals, whatever the tests' parent ignores."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what is ignored is inherited
    return subprocess.Popen(command, text=True, **pipes)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_at_any_moment_loses_nothing(place: list[str], number: signal.Signals) -> None:
    ends = set()
    for i in range(5):
        with start(place) as process:
            time.sleep(0.2 + 0.25 * i)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        states = [line["state"] for line in fx.Budget.file("b.budget").log()]
        ends.add(process.returncode)
        assert "Traceback" not in err or process.returncode == -number
        assert states in ([], ["open"], ["answered"])
        if process.returncode == 128 + number:
            assert "fastexp: interrupted" in err  # perhaps after the promise
            told = "the same command" if states else "nothing was charged"
            assert told in err or err.endswith("fastexp: interrupted\n")  # a slow machine
        assert out in ("", "30\n")
    assert ends <= {0, 128 + number, -number}
    assert number == signal.SIGKILL or 128 + number in ends
    again = subprocess.run(place, capture_output=True, text=True, check=True, timeout=60)
    assert again.stdout == "30\n"
    assert fx.Budget.file("b.budget").spent == 2


class Stop:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("groups", "code", "told"),
    [("1,", 0, "goes on under"), ("private --groups-epsilon 1 --delta 1e-6", 2, "used up")],
)
def test_a_check_of_an_open_charge(place: list[str], groups: str, code: int, told: str) -> None:
    """Private groups are not drawn again, as other coins would show other groups."""
    with pytest.raises(KeyboardInterrupt):
        fx.Median(0.5, (0, 9)).release(Stop(), budget=fx.Budget.file("b.budget"), label="x")
    words = [*place, "--by", "x", "--groups", *groups.split(), "--check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, told in done.stdout + done.stderr) == (code, True)


def test_paid_answers_have_all_their_digits(tmp_path: Path) -> None:
    with chdir(tmp_path):
        Path("x.csv").write_text("g,x\n" + "a,123456.78\nb,3\n" * 900)
        out = run(
            "fastexp median x.csv --column x --by g --groups a,b --epsilon 1 --bounds 0 1000000"
            " --step 0.01"
        )
    assert "123456.78" in out


def test_an_interrupt_ends_a_wait_in_c_code(place: list[str]) -> None:
    with closing(sqlite3.connect("b.budget", isolation_level=None)) as db:
        db.execute("begin exclusive")  # so that the command waits for the file, inside SQLite
        with start(place) as process:
            time.sleep(4)
            process.send_signal(signal.SIGINT)
            try:
                _, err = process.communicate(timeout=60)  # not the ten minutes that SQLite waits
            finally:
                process.kill()
    assert process.returncode == 130
    told, interrupted, *_ = err.splitlines()
    assert told == "still reading and drawing; Ctrl-C stops it"
    assert interrupted.startswith("fastexp: interrupted")
    assert fx.Budget.file("b.budget").log() == []


if __name__ == "__main__":
    for path in TRANSCRIPTS:
        path.write_text("\n".join(f"$ {command}\n{now}" for command, _, now in replay(path)))
