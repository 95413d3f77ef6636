"""Does every hostile file get a clear message, in bounded time and memory, without being shown?"""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from tests.support.command_line import Run
from tests.support.each import each
from tests.support.processes import started

pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
MARKER = "SECRET-7341"
NUMBERS = ["--epsilon", "1", "--bounds", "0", "9", "--step", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where paths begin."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(run: Run, *arguments: object, code: int = 2) -> str:
    """The message: of what is refused, and not shown."""
    ended, out, err = run(*arguments)
    assert (ended, out) == (code, "")
    assert "7341" not in err
    assert "Traceback" not in err
    assert "unexpected" not in err
    return err.splitlines()[-1]


# ---- CSV ----

HEADER = "must be a file with a header row: the first line of 'f.csv' must name the columns"
ROWS = "'f.csv' must be UTF-8 text in rows as long as the header, with quotes that are closed"
RECORD = "its column names are not shown, because they may be a record (is there a header row?)"
PUBLIC: list[tuple[bytes, str]] = [  # told before the charge
    (b"", HEADER),
    (b"\n\n", HEADER),
    (b"\0" * 3_000_000, HEADER),
    (b"c" + b",c" * 10**6 + b"\n1\n", HEADER),
    (f"c,d\n{MARKER},1\n".encode("utf-16"), HEADER),
    (f"x,y\n{MARKER},1\n".encode(), "FILE has no column 'c': it has 'x', 'y'"),
    (f"c,c\n{MARKER},1\n".encode(), "FILE has several columns named 'c'"),
    (f"c;d\n{MARKER};1\n".encode(), "it has only 'c;d' (is another delimiter between its columns"),
    (f"{MARKER},39\n{MARKER},1\n".encode(), RECORD),
    (f"{MARKER},\n".encode(), RECORD),
    (f"{MARKER},{MARKER}\n".encode(), RECORD),
]
PRIVATE: list[tuple[bytes, str]] = [  # what rows are like is told by a charged release only
    (f"c,d\n{MARKER}\n".encode(), ROWS),
    (f"c,d\n{MARKER},1,2\n".encode(), ROWS),
    (f'c,d\n"{MARKER},1\n'.encode(), ROWS),
    (f'c,d\n"{MARKER}"x,1\n'.encode(), ROWS),
    (b"c,d\n" + MARKER.encode() * 200_000 + b",1\n", ROWS),
    (b"c,d\n1,2\n" + b"\0" * 3_000_000, ROWS),
    (f"c,d\n{MARKER} \xe9,1\n".encode("latin-1"), ROWS),
]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["median", "select", "by"])
def test_bad_csv(run: Run, command: str) -> None:
    budget = fx.Budget.file("b", epsilon=1000.0)
    ask: list[object] = ["median", "f.csv", "--column", "c", *NUMBERS]
    if command == "select":
        ask = ["select", "f.csv", "--column", "c", "--candidates", "a,b", "--epsilon", "1"]
    if command == "by":
        ask = ["mode", "f.csv", "--column", "d", *NUMBERS, "--by", "c", "--groups", "a,b"]
    for content, message in PUBLIC:
        Path("f.csv").write_bytes(content)
        assert message in refused(run, *ask, "--budget", "b")
    assert budget.charges == 0
    for number, (content, message) in enumerate(PRIVATE, 1):
        Path("f.csv").write_bytes(content)
        assert message in refused(run, *ask, "--budget", "b", code=4)
        assert budget.charges == number
    for name in ("f.csv.gz", "other.csv"):
        with gzip.open(name, "wb") if name.endswith("gz") else open(name, "wb") as file:  # noqa: PTH123
            file.write(b"c,d\n" + b"1,2\n" * 1000)
    with Path("f.csv.gz").open("r+b") as cut:
        cut.truncate(40)
    ask[1] = "f.csv.gz"
    assert "'f.csv.gz' cannot be read to its end" in refused(run, *ask)


@pytest.mark.slow
@each("cell", [MARKER, "1_0", '"7,341"', "0x7341", "1e999", "$7341"])
def test_what_are_no_numbers(run: Run, cell: str) -> None:
    Path("f.csv").write_text(f"c,d\n1,2\n{cell},3\n")
    message = refused(run, "median", "f.csv", "--column", "c", *NUMBERS)
    assert "column 'c' of 'f.csv' must hold numbers only, as 12, -0.5 or 1e3" in message
    assert "see --nan" in message


def test_what_people_have_is_read(run: Run) -> None:
    """Blanks, blank lines, marks, quotes, other ends of lines, gaps, exponents."""
    Path("f.csv").write_bytes(
        b"\xef\xbb\xbfrent, city, note\r\n 7e0 , Rome,\r\n\r\n7, Rome,x\r\nNA, Rome,\r\n"
        b"null, Rome,\r\n, Rome,\r\nnan,Rome,\r\n7.0,Rome,\r\n-inf,Oslo,\r\ninf,Oslo,"
    )
    more = ["--epsilon", "900", "--bounds", "0", "9", "--step", "1", "--nan", "drop"]
    ask = ["median", "f.csv", "--column", "rent", *more]
    code, out, err = run(*ask, "--by", "city", "--groups", "Rome,Oslo", "--json")
    assert code == 0, err
    rows = json.loads(out)["rows"]
    assert [row["city"] for row in rows] == ["Rome", "Oslo"]
    assert rows[0]["rent"] == 7
    Path("f.csv").write_text('name;x\n"a; ""b""";1\n"two\nlines";2\n' * 1)
    ask = ["select", "f.csv", "--column", "name", "--delimiter", ";", "--epsilon", "900"]
    Path("list.csv").write_text('n\n"a; ""b"""\nc\n')
    code, out, err = run(*ask, "--candidates", "list.csv:n")
    assert (code, out) == (0, 'a; "b"\n'), err


# ---- utilities ----

PAIRS: list[tuple[bytes, str]] = [
    (b"", "must be a file with a header row"),
    (b"candidate,utility\n", "has no candidates"),
    (f"a,b,c\n{MARKER},1,2\n".encode(), "must have two columns, candidate and utility"),
    (f"{MARKER},7341\nb,2\nc,3\n".encode(), "must be a header, such as candidate,utility"),
    (f"c,u\na,{MARKER}\nb,1\n".encode(), "must hold numbers only"),
    (b"c,u\na,\nb,1\n", "the utilities must be finite"),
    (b"c,u\na,7_341\nb,1\n", "must hold numbers only"),
    (b'c,u\na,"7,341"\nb,1\n', "must hold numbers only"),
    (b"c,u\na,7341\nb,nan\n", "the utilities must be finite"),
    (b"c,u\na,7341\nb,-inf\n", "the utilities must be finite"),
    (b"c,u\na,1e999\nb,7341\n", "must hold numbers only"),
    (b"c,u\na,73419223372036854775808\nb,1\n", "numbers must be below 2**63 in magnitude"),
    (b"c,u\na,-1e30\nb,1\n", "numbers must be below 2**63 in magnitude"),
    (b"c,u\na,9007199254740993\nb,0.5\n", "holds integers beyond 2**53 beside decimals"),
    (b"c,u\na," + b"7341" * 2000 + b"\nb,1\n", "must hold numbers only"),
    (f"c,u\n{MARKER},7341\n{MARKER},2\n".encode(), "candidates must be distinct"),
]


@each(("content", "message"), PAIRS)
def test_bad_utilities(run: Run, content: bytes, message: str) -> None:
    Path("f.csv").write_bytes(content)
    ask = ["select", "f.csv", "--utilities", "--sensitivity", "1", "--epsilon", "1"]
    assert message in refused(run, *ask)


# ---- files of other kinds ----

DEEP = "[" * 300_000
OTHERS: dict[str, tuple[str | bytes, str]] = {
    "f.txt": ("c\n1\n", "CSV of another name can be given by stdin: - < FILE"),
    "f.json": ('{"c": 1}', "must be a path that ends in .csv, .tsv, .jsonl"),
    "f.parquet": (MARKER * 100, "'f.parquet' must be Parquet that is whole"),
    "g.parquet": (
        b"PAR1" + b"\xff" * 60 + b"\xff\xff\xff\x00PAR1",
        "must be Parquet that is whole",
    ),
    "f.npy": (MARKER * 100, "a .npy file (numpy.save) of one one-dimensional array"),
    "deep.jsonl": (f'{{"c":{DEEP}{"]" * 300_000}}}\n', "the first line of 'deep.jsonl' must be an"),
    "later.jsonl": (f'{{"c":1}}\n{{"c":{DEEP}{"]" * 300_000}}}\n', "must hold numbers only"),
    "open.jsonl": (f'{{"c":1}}\n{{"c":{DEEP}', "must be one object of JSON in each line"),
    "long.jsonl": ('{"c":1}\n' + '{"c":"' + "x" * 2_000_000 + '"}', "must hold numbers only"),
}


@each("name", OTHERS)
def test_files_of_other_kinds(run: Run, name: str) -> None:
    content, message = OTHERS[name]
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    column = [] if name.endswith(".npy") else ["--column", "c"]
    assert message in refused(run, "median", name, *column, *NUMBERS)


@pytest.mark.slow
def test_what_is_no_file(run: Run) -> None:
    Path("folder").mkdir()
    Path("loop.csv").symlink_to("loop.csv")
    Path("broken.csv").symlink_to("nowhere.csv")
    cases = {
        "missing.csv": "got 'missing.csv': No such file or directory",
        "missing*.csv": "must be a path with files in it, got none in 'missing*.csv'",
        "folder": "must be a path with files in it, got none in 'folder'",
        "nul\0.csv": "FILE must be a path, got",
        "x" * 5000 + ".csv": "File name too long",
        "loop.csv": "symbolic links",
        "broken.csv": "No such file",
        "/dev/zero": "got '/dev/zero': not a regular file",
        "/dev/tty": "not a regular file",
    }
    for kind in ("csv", "npy", "parquet", "jsonl"):
        os.mkfifo(f"fifo.{kind}")
        Path(f"zero.{kind}").symlink_to("/dev/zero")
        cases |= dict.fromkeys([f"fifo.{kind}", f"zero.{kind}"], "not a regular file")
    Path("locked.csv").write_text("c\n1\n")
    Path("locked.csv").chmod(0)
    if not os.access("locked.csv", os.R_OK):  # root may read anything
        cases["locked.csv"] = "Permission denied"
    for name, message in cases.items():
        column = [] if name.endswith(".npy") else ["--column", "c"]
        assert message in refused(run, "median", name, *column, *NUMBERS), name


# ---- little memory ----

PEAK = """
import re, sys
from pathlib import Path
from fastexp.cli import main
code = main(sys.argv[1:])
print(int(re.search("VmHWM:\\\\s+([0-9]+)", Path("/proc/self/status").read_text())[1]) >> 10)
sys.exit(code)
"""


def bounded(*arguments: object, stdin: Any = None) -> tuple[int, str, int]:
    """Exit code, message and peak of memory in MB of a process."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PEAK, *map(str, arguments)],
        stdin=stdin,
        env={**os.environ, "PYTHONPATH": str(Path(fx.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stderr.splitlines()[-1], int(done.stdout.split()[-1])


@pytest.fixture
def long_strings() -> Path:
    """1 GB of text in a file of some KB."""
    path = Path("long.parquet")
    texts = pa.DictionaryArray.from_arrays(np.zeros(70_000, np.int32), ["s" * 13_000])
    pq.write_table(pa.table({"s": texts, "x": np.zeros(70_000, np.int64)}), path)
    assert path.stat().st_size < 100_000
    return path


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="kilobytes of resident memory")
@pytest.mark.parametrize("use", ["numbers", "candidates", "groups", "persons"])
def test_long_strings_take_little_memory(long_strings: Path, use: str) -> None:
    ask: list[object] = ["median", long_strings, "--column", "x", *NUMBERS, "--memory", "100MB"]
    if use == "numbers":
        ask[3] = "s"
    elif use == "candidates":
        ask = ["select", long_strings, "--column", "s", "--candidates", "a,b", "--epsilon", "1"]
    elif use == "groups":
        ask += ["--by", "s", "--groups", "a,b"]
    else:
        ask += ["--person", "s"]
    code, message, peak = bounded(*ask)
    assert code == (2 if use == "numbers" else 0), message
    assert use != "numbers" or "must be a column of integers, floats or decimals" in message
    assert peak < 450


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="kilobytes of resident memory")
@pytest.mark.parametrize("source", ["/dev/zero", "yes", "zeros behind a header"])
def test_endless_stdin_takes_little(tmp_path: Path, source: str) -> None:
    """A process that gives bytes without end, until it is told that nobody reads them."""
    start = {"zeros behind a header": b"c\n", "yes": b"c c\n"}.get(source, b"")
    rest = b"\0" * (1 << 16) if "zero" in source else b"1 2\n" * (1 << 14)
    giver = (
        f"import sys\nout = sys.stdout.buffer\nout.write({start!r})\n"
        f"rest = {rest[:4]!r} * {len(rest) // 4}\n"
        "while True:\n    out.write(rest)\n"
    )
    ask: list[object] = ["median", "-", "--column", "c", *NUMBERS, "--temp", tmp_path]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with started([sys.executable, "-c", giver], **pipes) as endless:
        code, message, peak = bounded(*ask, stdin=endless.stdout)
    assert code == 2
    wanted = {
        "/dev/zero": "first line of stdin must name the columns",
        "yes": "FILE has no column 'c': it has only 'c c'",
        "zeros behind a header": "stdin must be UTF-8 text in rows as long as the header",
    }
    assert wanted[source] in message
    assert peak < 450
    assert not list(tmp_path.glob("fastexp-*"))


# ---- larger than memory ----


@pytest.mark.slow
def test_answers_do_not_depend_on_the_form_of_the_file_or_on_memory(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of stdin, which is read once."""
    rng = np.random.default_rng(8)
    n = 40_000
    table = pa.table(
        {
            "city": np.char.add("c", rng.integers(0, 30, n).astype(str)).tolist(),
            "x": np.round(rng.normal(500, 150, n), 2),
            "id": rng.integers(0, 9000, n),
        }
    )
    pq.write_table(table, "f.parquet")
    lines = [f"{c},{x!r},{i}\n" for c, x, i in zip(*table.to_pydict().values(), strict=True)]
    content = "".join(["city,x,id\n", *lines]).encode()
    Path("f.csv").write_bytes(content)
    with gzip.open("f.csv.gz", "wb") as file:
        file.write(content)
    Path("k").write_text(fx.release_key().export())
    Path("k").chmod(0o600)
    ask = ["--column", "x", "--epsilon", "0.1", "--bounds", "0", "1000", "--step", "0.25"]
    ask += ["--by", "city", "--groups", ",".join(f"c{i}" for i in range(30)), "--person", "id"]
    ask += ["--key", "k", "--label", "rents", "--json"]

    def rows(file: str, *more: str) -> Any:
        code, out, err = run("median", file, *ask, *more)
        assert code == 0, err
        return json.loads(out)["rows"]

    answers = rows("f.csv")
    assert len({row["x"] for row in answers}) > 10
    for file in ("f.parquet", "f.csv.gz"):
        assert rows(file) == answers
    assert rows("f.csv", "--memory", "1MB") == answers
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert rows("-", "--memory", "1MB") == answers
