"""FILE on the command line: a path, stdin, an array; are other ones refused in bounded time?"""

from __future__ import annotations

import gzip
import io
import os
import pickle
import sys
import tempfile
import tomllib
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import ParameterError
from tests.doors.cli import VALUE, Failure, InputFile, UserMistake, open_rows
from tests.doors.query import ColumnRead, PathFrame, SampleCall, answers_of, path_frame
from tests.doors.query import execute_call as execute
from tests.messages import raises, says
from tests.query.test_files import listed
from tests.support.command_line import Run

pytest.importorskip("duckdb")
MARKER = "SECRET-7341"


def rows(source: InputFile, *uses: tuple[str, Any], **limits: Any) -> list[list[Any]]:
    """The columns of a file, of which names and types are looked at first."""
    wanted = [ColumnRead(*use) for use in uses]
    columns: list[list[Any]] = [[] for _ in uses]
    with open_rows(source, **limits) as frame:
        frame.names()
        frame.empty(wanted)
        for part in frame.parts(wanted):
            for column, read in zip(columns, part, strict=True):
                numbers = isinstance(read, np.ndarray) and read.dtype.kind != "M"
                column += read.tolist() if numbers else listed(read)
    return columns


class Pipe(io.BytesIO):
    """Bytes that come one after the other; without end if `rest` is given."""

    def __init__(self, start: bytes, rest: bytes = b"") -> None:
        super().__init__(start)
        self._rest, self.taken = rest, 0

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer)
        if not size and self._rest:
            size = len(buffer)
            memoryview(buffer)[:] = (self._rest * (size // len(self._rest) + 1))[:size]
        self.taken += size
        return size


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Give stdin; what is left over in the folder of copies is seen at the end."""
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    def give(start: bytes, rest: bytes = b"") -> Pipe:
        stream = Pipe(start, rest)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
        return stream

    yield give
    assert not list(folder.iterdir()), "a copy of records was left behind"


STDIN = InputFile("-")


# ---- stdin ----


@pytest.mark.parametrize("compressed", [False, True])
def test_stdin_is_csv(pipe: Any, compressed: bool) -> None:
    content = b'\xef\xbb\xbfcity, rent\nRome, 7\n\n"a, b",1e3\r\n'.replace(b"\r", b"")
    pipe(gzip.compress(content) if compressed else content)
    assert rows(STDIN, ("city", "text"), ("rent", "numbers")) == [["Rome", "a, b"], [7, 1000]]


@pytest.mark.slow
def test_stdin_is_larger_than_what_is_looked_at_first(pipe: Any) -> None:
    pipe(b"k;x\n" + b"".join(b"%d;a\n" % i for i in range(400_000)))
    with open_rows(InputFile("-", ";")) as frame:
        assert frame.names() == ["k", "x"]
    pipe(b"k;x\n" + b"".join(b"%d;a\n" % i for i in range(400_000)))
    (numbers,) = rows(InputFile("-", ";"), ("k", "integers"))
    assert sorted(numbers) == list(range(400_000))


def test_stdin_is_not_touched_before_something_is_asked(pipe: Any) -> None:
    stream = pipe(b"c\n1\n")
    with open_rows(STDIN):
        assert stream.taken == 0


ENDLESS = {
    "zeros": (b"", b"\0", "header row, got stdin"),
    "no end of the first line": (b"", b"x", "header row"),
    "a million columns": (b"c" + b",c" * 10**6, b"\n", "header row"),
    "no name": (b"\n", b"1\n", "header row"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_has_no_header_is_refused_before_the_rest_is_read(pipe: Any, name: str) -> None:
    start, rest, message = ENDLESS[name]
    stream = pipe(start, rest)
    with open_rows(STDIN) as frame, pytest.raises(ParameterError, match=says(message)):
        frame.names()
    assert stream.taken < 8 << 20


@pytest.mark.parametrize("byte", [b"\0", b"x", b",", b'"'])
def test_a_row_without_end_ends_the_copy(
    pipe: Any, monkeypatch: pytest.MonkeyPatch, byte: bytes
) -> None:
    """It is told after the charge, as it is about records; also where a reader does not mind."""
    stream = pipe(b"c,d\n1,2\n", byte)
    monkeypatch.setattr(PathFrame, "parts", lambda *_: iter([]))
    with open_rows(STDIN) as frame:
        assert frame.names() == ["c", "d"]
        with raises("stdin: rows of a text file"):
            list(frame.parts([ColumnRead("c", "text")]))
    assert stream.taken < 8 << 20


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [False, True])
def test_a_copy_leaves_room_on_the_disk(
    pipe: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compressed: bool
) -> None:
    usage, asked = namedtuple("usage", "total free"), []
    full = 64 << 20

    def disk_usage(folder: Any) -> Any:
        asked.append(sum(path.stat().st_size for path in Path(folder).iterdir()))
        return usage(10 * full, 2 * full - asked[-1])

    monkeypatch.setattr("shutil.disk_usage", disk_usage)
    if compressed:
        member = gzip.compress(b"y\n" * (1 << 22))
        pipe(member, member)
    else:
        pipe(b"y\n", b"y\n")
    with open_rows(STDIN) as frame:
        assert frame.names() == ["y"]
        with pytest.raises(Failure, match=says("room for a copy of stdin")):
            frame.empty([ColumnRead("y", "text")])
    assert 32 << 20 < max(asked) <= full


@pytest.mark.slow
@pytest.mark.parametrize("cut", [9, 40, 3_000])
@pytest.mark.parametrize("lines", [9_000, 300_000])
def test_compressed_stdin_that_is_damaged_costs_nothing(pipe: Any, cut: int, lines: int) -> None:
    numbers = np.random.default_rng(1).integers(0, 10**9, lines).tolist()
    whole = gzip.compress(b"c\n" + b"".join(b"%d\n" % i for i in numbers))
    pipe(whole[:-cut] if cut > 9 else whole[:-cut] + b"123456789")
    with (
        open_rows(STDIN) as frame,
        pytest.raises(Failure, match=says("damaged stdin")),
    ):
        frame.empty([ColumnRead("c", "text")])


def test_what_is_no_stdin(pipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def message(stdin: Any) -> str:
        monkeypatch.setattr(sys, "stdin", stdin)
        with open_rows(STDIN) as frame, pytest.raises((UserMistake, Failure)) as caught:
            frame.names()
        return str(caught.value)

    assert "there is no stdin" in message(None)
    closed = io.TextIOWrapper(io.BytesIO())
    closed.close()
    assert "there is no stdin" in message(closed)
    terminal = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    assert "stdin is a terminal" in message(terminal)

    class Failing(io.BytesIO):
        def readinto(self, _buffer: Any) -> int:
            raise IsADirectoryError(21, "Is a directory")

    assert "stdin cannot be read or copied: Is a directory" in message(io.TextIOWrapper(Failing()))


def test_an_interrupted_copy_leaves_nothing(pipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Pipe):
        def readinto(self, buffer: Any) -> int:
            if self.taken > 4 << 20:
                raise KeyboardInterrupt
            return super().readinto(buffer)

    stream = Interrupted(b"c\n", b"1\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    with pytest.raises(KeyboardInterrupt), open_rows(STDIN) as frame:
        frame.empty([ColumnRead("c", "text")])
    assert stream.taken > 4 << 20


# ---- paths ----


def test_the_delimiter_is_that_of_the_format_or_given(tmp_path: Path) -> None:
    (tmp_path / "f.tsv").write_text("c\td\nx,y\t2\n")
    (tmp_path / "f.csv").write_text('c;d\n"x;y";1,5\n')
    with gzip.open(tmp_path / "f.csv.gz", "wt") as file:
        file.write("c|d\nx;y|2\n")
    assert rows(InputFile(str(tmp_path / "f.tsv")), ("c", "text")) == [["x,y"]]
    assert rows(InputFile(str(tmp_path / "f.csv"), ";"), ("c", "text")) == [["x;y"]]
    assert rows(InputFile(str(tmp_path / "f.csv.gz"), "|"), ("c", "text")) == [["x;y"]]
    with raises("delimiter of one character"):
        rows(InputFile(str(tmp_path / "f.csv"), "ab"), ("c", "text"))


# ---- arrays ----

ARRAYS: list[Any] = [
    np.arange(-5, 700_000),
    np.array([2**53 + 1, 5], np.uint64),
    np.array([0.5, np.nan, np.inf]),
    np.array([0.5, 2], np.float32),
    np.array([0.5, 2], ">f8"),
    np.array([1, 2], ">i4"),
    np.array([1, 2], np.uint8),
    np.zeros(0, np.int64),
]


@pytest.mark.slow
@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_numbers_of_an_array(tmp_path: Path, array: Any) -> None:
    np.save(tmp_path / "a.npy", array)
    (values,) = rows(InputFile(str(tmp_path / "a.npy")), (VALUE, "numbers"))
    assert repr(values) == repr(array.tolist())


@pytest.mark.parametrize("dtype", ["<i8", ">i8", ">f8", "<f4", "u1"])
def test_answers_of_an_array_are_those_of_its_numbers(tmp_path: Path, dtype: str) -> None:
    array = (np.arange(3000) % 90).astype(dtype)
    np.save(tmp_path / "a.npy", array)
    query, answers = fx.Query(), {"m": (fx.Median(1.0, bounds=(0, 99), step=1), VALUE)}
    wanted = query.sample({VALUE: array.tolist()}, answers, size=9, rng=3)["m"].tolist()
    way = SampleCall(query, answers_of(answers, (), "raise"), 9, 3, 1)
    with open_rows(InputFile(str(tmp_path / "a.npy"))) as frame:
        (column,) = execute(way, frame)
    assert (column.name, column.values.tolist()) == ("m", wanted)


NO_ARRAYS: dict[str, tuple[Any, str]] = {
    "text": (np.array(["a", "b"]), "types of an array file"),
    "booleans": (np.array([True]), "bool: types of an array file"),
    "dates": (np.array(["2020-01-01"], "M8[D]"), "datetime64...: types of an array file"),
    "halves": (np.array([1.0], np.float16), "float16: types of an array file"),
    "complex": (np.array([1j]), "complex128: types of an array file"),
    "structures": (np.zeros(3, [("c", "i8")]), "types of an array file"),
    "objects": (np.array([MARKER, 1], object), "types of an array file"),
    "a number": (np.array(7), "one array in a file"),
    "a matrix": (np.zeros((2, 2)), "one array in a file"),
}


@pytest.mark.parametrize("name", NO_ARRAYS)
def test_other_arrays_are_refused(tmp_path: Path, name: str) -> None:
    array, message = NO_ARRAYS[name]
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    with pytest.raises(ParameterError, match=says(message)) as caught:
        rows(InputFile(str(tmp_path / "a.npy")), (VALUE, "numbers"))
    assert MARKER not in str(caught.value)


def header(shape: str, size: int, filler: int = 0) -> bytes:
    text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (filler or 117 - len(text)) + b"\n"
    major, width = (1, 2) if len(text) < 1 << 16 else (2, 4)
    version = bytes([major, 0]) + len(text).to_bytes(width, "little")
    return b"\x93NUMPY" + version + text + bytes(size)


class Bomb:
    def __reduce__(self) -> Any:
        return os.mkdir, ("exploded",)


FILES: dict[str, bytes] = {
    "nothing": b"",
    "text": MARKER.encode() * 99,
    "zeros": bytes(1 << 20),
    "pickle": pickle.dumps([1, 2]),
    "bomb": pickle.dumps(Bomb()),
    "cut": header("(9,)", 71),
    "more": header("(9,)", 73),
    "shape": header("(10**30,)", 8),
    "large": header(f"({10**30},)", 8),
    "negative": header("(-1,)", 8),
    "long header": header("(1,)", 8, 60_000),
    "huge header": header("(1,)", 8, 1 << 25),
    "code": header("(__import__('os').mkdir('exploded'),)", 8),
    "deep": header("(" * 5000, 8, 1),
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.npy").write_bytes(FILES[name])
    with raises("one array in a file", "file that is whole", path="'a.npy'") as caught:
        rows(InputFile("a.npy"), (VALUE, "numbers"))
    assert MARKER not in str(caught.value)
    assert caught.value.__context__ is None
    assert not Path("exploded").exists()


def test_an_array_that_changes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(600_000))
    for change in ("cut", "other"):
        with open_rows(InputFile(str(path))) as frame:
            parts = frame.parts([ColumnRead(VALUE, "numbers")])
            next(parts)
            with path.open("r+b") as file:
                file.truncate(1_000_000) if change == "cut" else file.write(b"x")
            with raises("file that changes"):
                list(parts)
        np.save(path, np.arange(600_000))


def test_entries_that_are_not_read_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "a.npy", np.arange(9))
    whole = np.fromfile
    monkeypatch.setattr(np, "fromfile", lambda raw, dtype, n: whole(raw, dtype, n)[:-1])
    with raises("file that changes"):
        rows(InputFile(str(tmp_path / "a.npy")), (VALUE, "numbers"))


def test_what_files_need_is_installed_with_the_command_line() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    for extra in ("cli", "files"):
        assert set(path_frame.NEEDED) <= {name.partition(">")[0] for name in extras[extra]}


def test_a_package_that_is_missing_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    monkeypatch.setattr(path_frame, "find_spec", lambda name: None if name == "pyarrow" else name)
    ended = run("mode", tmp_path / "a.csv", "--column", "x", "--epsilon", "1", "--bounds", "0", "9")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith("error: FILE needs pyarrow: pip install pyarrow\n")
