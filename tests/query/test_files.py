"""Files by their paths: are their rows those that are written there, and others refused unseen?"""

from __future__ import annotations

import bz2
import csv
import datetime as dt
import gzip
import io
import json
import math
import os
import resource
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import FastexpError, InvalidRecords, ParameterError, ParameterTypeError
from tests.doors.intake import Numbers, number_columns
from tests.doors.keys import key_columns
from tests.doors.query import (
    ColumnRead,
    PathFrame,
    Room,
    connect,
    csv_rows,
    memory,
    number,
    quoted,
    row_file,
    text_cells,
)
from tests.messages import raises, says
from tests.support.each import each

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
arrow_csv = pytest.importorskip("pyarrow.csv")
feather = pytest.importorskip("pyarrow.feather")

MARKER = "SECRET-7341"


def listed(column: Any) -> list[Any]:
    """A column of a part as Python's values; None for what is missing."""
    if isinstance(column, Numbers):
        gaps = np.zeros(column.values.size, bool) if column.missing is None else column.missing
        pairs = zip(column.values.tolist(), gaps.tolist(), strict=True)
        return [None if gap or value != value else value for value, gap in pairs]
    if isinstance(column, np.ndarray):
        return [None if np.isnat(x) else str(x) for x in column]
    (chunk,) = column.chunks()
    there = np.ones(chunk.length, bool) if chunk.valid is None else chunk.valid
    if chunk.ends is not None:
        data = chunk.values.tobytes()
        pairs = zip(chunk.offsets.tolist(), chunk.ends.tolist(), strict=True)
        values: list[Any] = [data[a:b].decode() for a, b in pairs]
    else:
        values = chunk.values.tolist()
    return [x if known else None for x, known in zip(values, there.tolist(), strict=True)]


def read(path: Any, *uses: tuple[str, Any], **limits: Any) -> list[list[Any]]:
    """The columns of a path, of which types are looked at first."""
    frame = PathFrame(path, **limits)
    wanted = [ColumnRead(*use) for use in uses]
    frame.empty(wanted)
    columns: list[list[Any]] = [[] for _ in uses]
    for part in frame.parts(wanted):
        for column, rows in zip(columns, part, strict=True):
            column += listed(rows)
    return columns


def written(folder: Path, content: bytes | str, name: str = "f.csv") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# ---- numbers and keys in text ----

ALPHABET = "0123456789+-.eE naif\t_x"


@pytest.mark.slow
def test_numbers_are_those_that_python_reads(tmp_path: Path) -> None:
    rng, texts = Random(3), []  # noqa: S311
    while len(texts) < 40_000:
        size = rng.randint(1, 8)
        text = "".join(rng.choice(rng.choice([ALPHABET, "0123456789.-e"])) for _ in range(size))
        if number(text.encode()) is not None:
            texts.append(text)
    texts += [repr(rng.uniform(-1e9, 1e9)) for _ in range(5_000)]
    texts += [f"{rng.randrange(10**9)}.{rng.randrange(10**18):018d}" for _ in range(5_000)]
    texts += ["9007199254740992", "-9007199254740992", "1e22", "4.9e-324", "1" * 300, "1e308"]
    path = written(tmp_path, "x,y\n" + "".join(f'"{text}",0\n' for text in texts))
    (values,) = read(path, ("x", "numbers"))
    wanted = [number(text.encode()) for text in texts]
    assert len(values) == len(wanted)
    for text, value, exact in zip(texts, values, wanted, strict=True):
        assert (value is None) == math.isnan(exact), text
        assert value is None or repr(value) == repr(float(exact)) or value == exact == 0, text


NO_NUMBERS = ['"\v7"', '"\f7"', '"\n7"', '"7\r"', "\v7", "7\f"]
NO_NUMBERS += ["1_000", "+-1", "--1", "1e400", "-1e400", "0x10", "1 000", '"1,5"', "true", "1.2.3"]
NO_NUMBERS += ["1e", "x", "٣", "1" * 401, "$5", "1%", "NULLS", "infinit"]


@pytest.mark.slow
@pytest.mark.parametrize("text", NO_NUMBERS)
def test_texts_that_are_no_numbers_are_refused_unseen(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, f"x,y\n1,0\n{text},{MARKER}\n")
    with pytest.raises(InvalidRecords) as caught:
        read(path, ("x", "numbers"))
    assert str(caught.value) == str(text_cells.no_numbers(f"column 'x' of {str(path)!r}"))
    assert caught.value.__context__ is None


def test_doubles_are_enough_between_bounds_that_are_doubles(tmp_path: Path) -> None:
    """The nearest double of a larger number counts at the same bound."""
    path = written(tmp_path, "x,y\n9007199254740993,0\n1.5,0\n,0\n")
    assert read(path, ("x", "doubles")) == [[2.0**53, 1.5, None]]
    few, more = fx.Median(50.0, (0, 2**53), step=4), fx.Median(50.0, (0, 2**54), step=8)
    assert fx.Query().release(path, {"m": (few, "x")}, nan="drop").num_rows == 1
    with raises("large integers beside decimals"):
        fx.Query().release(path, {"m": (more, "x")}, nan="drop")


# What DuckDB does with a cell whose type is stated, and what is read: None is missing, an error
# a refusal.
SILENT: list[tuple[str, Any, list[Any] | None]] = [
    ("1.5,9007199254740993", "numbers", None),  # rounded to 2**53 beside a decimal
    ("1.5", "integers", [None]),  # 2
    ("0x10", "numbers", None),  # 16
    ("0x10", "integers", [None]),
    ("1_000", "numbers", None),  # 1000
    ("1_000", "integers", [None]),
    ("+-1", "numbers", None),  # -1
    ("1e400", "numbers", None),  # infinite
    ("inf,-Infinity", "numbers", [math.inf, -math.inf]),
    (",''", "text", ["", ""]),  # missing
    ("007,7", "keys", ["007", "7"]),  # one person
    ("01/02/2020", "dates", [None]),  # a date of a format that was guessed
    ("2020-01-02", "dates", [18263]),  # days since 1970
]


@each(("cells", "reading", "wanted"), SILENT)
def test_where_typed_reading_errs_silently(
    tmp_path: Path, cells: str, reading: Any, wanted: Any
) -> None:
    rows = "".join(f"{cell},0\n" for cell in cells.replace("'", '"').split(","))
    path = written(tmp_path, f"x,y\n{rows}")
    if wanted is None:
        with pytest.raises(InvalidRecords) as caught:
            read(path, ("x", reading))
        assert caught.value.__context__ is None
        assert not any(cell in str(caught.value) for cell in cells.split(","))
    else:
        assert read(path, ("x", reading)) == [wanted]


def test_a_blank_line_of_one_column_is_a_missing_number(tmp_path: Path) -> None:
    for content in ("x\n1\n\n2\n", 'x\n"1"\n\n2\n', "x\r\n1\r\n\r\n2\r\n"):
        path = written(tmp_path, content)
        for reading in ("doubles", "numbers"):
            assert read(path, ("x", reading)) == [[1, None, 2]]
    assert read(written(tmp_path, "x,y\n1,2\n\n3,4\n"), ("x", "numbers")) == [[1, 3]]


@pytest.mark.slow
def test_integers_stay_exact(tmp_path: Path) -> None:
    wide = ["9007199254740993", "5", "", "-9223372036854775808", "+9223372036854775807", " 7 "]
    path = written(tmp_path, "x,y\n" + "".join(f"{text},0\n" for text in wide))
    (values,) = read(path, ("x", "numbers"))
    assert values == [2**53 + 1, 5, None, -(2**63), 2**63 - 1, 7]
    for beside in ("0.5", "inf", "9223372036854775808", "1e3"):
        path = written(tmp_path, f"x,y\n{beside},0\n9007199254740993,0\n")
        with raises("large integers beside decimals"):
            read(path, ("x", "numbers"))


def test_the_type_of_a_column_does_not_depend_on_batches(tmp_path: Path, monkeypatch: Any) -> None:
    from tests.doors.query import path_frame

    monkeypatch.setattr(path_frame, "BATCH", 2048)
    path = written(tmp_path, "x,y\n" + "1,a\n" * 9_000 + "9007199254740993,a\n")
    parts = list(PathFrame(path).parts([ColumnRead("x", "numbers")]))
    assert len(parts) > 1
    assert {part[0].values.dtype for part in parts} == {np.dtype(np.int64)}


READINGS: list[tuple[str, list[str], list[Any]]] = [
    ("integers", ["7", "7.0", "1e2", " 7", "+7", "007"], [7, 7, 100, 7, 7, 7]),
    ("integers", ["7.5", "x", "", "1_0", "0x1", "true"], [None] * 6),
    ("integers", ["9007199254740993", "9223372036854775808"], [2**53 + 1, None]),
    ("text", ["a", " a", "a ", "", "NA", "Ä日", "007"], ["a", " a", "a ", "", "NA", "Ä日", "007"]),
    ("booleans", ["true", "FALSE", "True", "1", "yes", ""], [True, False, True, None, None, None]),
    (
        "dates",
        ["2020-02-29", "2021-02-29", "2020-2-9", "20200229", ""],
        ["2020-02-29"] + [None] * 4,
    ),
    ("keys", ["1", "-2", "0", ""], [1, -2, 0, None]),
    ("keys", ["1", "007", "-0"], ["1", "007", "-0"]),
    ("keys", ["1", "9223372036854775808"], ["1", "9223372036854775808"]),
    ("keys", ["1", "x", ""], ["1", "x", None]),
    ("keys", ["", ""], [None, None]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("reading", "texts", "wanted"), READINGS)
def test_keys_are_what_is_asked_for(
    tmp_path: Path, reading: Any, texts: list[str], wanted: list[Any]
) -> None:
    path = written(tmp_path, "k,y\n" + "".join(f"{text},0\n" for text in texts))
    (values,) = read(path, ("k", reading))
    if reading == "dates":
        values = [None if x is None else str(np.datetime64(x, "D")) for x in values]
    assert values == wanted


def stamps(path: Path, reading: Any, unit: str) -> list[str | None]:
    (values,) = read(path, ("t", reading))
    return [None if x is None else str(np.datetime64(x, unit)) for x in values]


def test_timestamps_keep_all_their_digits(tmp_path: Path) -> None:
    texts = ["2020-01-02 03:04:05.123456", "2020-01-02T03:04", "2020-01-02", "2020-01-02 25:00:00"]
    texts += ["3000-01-01 00:00:00", "2020-01-02 03:04:05Z", ""]
    path = written(tmp_path, "t,y\n" + "".join(f"{text},0\n" for text in texts))
    wanted = ["2020-01-02T03:04:05.123456", "2020-01-02T03:04:00.000000", None, None]
    wanted += ["3000-01-01T00:00:00.000000", None, None]
    assert stamps(path, "timestamps", "us") == wanted
    digits = ["1970-01-01 00:00:00.1234560", "1970-01-01 00:00:00.123456789"]
    path = written(tmp_path, "t,y\n" + "".join(f"{text},0\n" for text in digits))
    assert stamps(path, "timestamps", "us") == ["1970-01-01T00:00:00.123456", None]
    texts = ["1969-12-31T23:59:59.123456789", "1970-01-01 00:00:00.1", "3000-01-01 00:00:00", ""]
    ends = ["2262-04-11T23:47:16.854775807", "1677-09-21T00:12:43.145224193"]
    path = written(tmp_path, "t,y\n" + "".join(f"{text},0\n" for text in [*texts, *ends]))
    wanted = ["1969-12-31T23:59:59.123456789", "1970-01-01T00:00:00.100000000", None, None, *ends]
    assert stamps(path, "nanoseconds", "ns") == wanted


def test_timestamps_are_read_in_the_unit_of_the_list(tmp_path: Path) -> None:
    """One with more digits than the list has is none of its entries."""
    texts = ["2020-01-01 00:00:00.123456", "2020-01-01 00:00:00.123456789", "3000-01-01 00:00:00"]
    path = written(tmp_path, "t,x\n" + "".join(f"{text},5\n" * 99 for text in texts))
    answers = {"x": (fx.Median(9, bounds=(0, 9), step=1), "x")}
    for groups in (texts[:1] + texts[2:], texts[:2]):
        query = fx.Query(by="t", groups=np.array(list(map(np.datetime64, groups))))
        assert query.accuracy(path, answers)["n"].to_pylist() == [99, 99]


def test_long_texts_are_no_keys(tmp_path: Path) -> None:
    most = text_cells.MAX_KEY_BYTES
    path = written(tmp_path, f"k,y\n{'a' * most},0\n{'b' * (most + 9)},0\n")
    (values,) = read(path, ("k", "text"))
    assert values == ["a" * most, "b" * (most + 1)]  # which is in no list of names of that length
    with raises("long keys of a file"):
        read(path, ("k", "keys"))


# ---- CSV ----

GOOD: list[tuple[bytes, str, list[str]]] = [
    (b"c,d\n1,2\n", "f.csv", ["1"]),
    (b"\xef\xbb\xbfc,d\n1,2\n", "f.csv", ["1"]),  # byte order mark
    (b'\xef\xbb\xbf"c",d\n1,2\n', "f.csv", ["1"]),
    (b"d, c\n2, x\n2,  y \n", "f.csv", ["x", "y "]),  # blanks behind all delimiters
    (b'd, "c"\n2, x\n', "f.csv", ["x"]),
    (b"d, e,c\n2, 3, x\n", "f.csv", [" x"]),  # others are the value's
    (b'"d, e",c\n2," x"\n', "f.csv", [" x"]),
    (b'c,d\n"a, b",2\n"say ""hi""",2\n', "f.csv", ["a, b", 'say "hi"']),
    (b'c,d\n"two\nlines",2\n"a\r\nb",2\n', "f.csv", ["two\nlines", "a\r\nb"]),
    (b"c,d\r\n1,2\r\n\r\n3,4", "f.csv", ["1", "3"]),  # Windows, a blank line, no last newline
    (b"c\td\nx,y\t2\n", "f.tsv", ["x,y"]),
    (b"c,d\n,2\n", "f.csv", [""]),
    ("c,d\nÄ日,2\n".encode(), "f.csv", ["Ä日"]),
    (b"c,d\n", "f.csv", []),
    (b"c,d", "f.csv", []),
    (b'c\n1\n\n""\n2\n\n', "f.csv", ["1", "", "", "2", ""]),  # one column: blank lines are rows
    (b"c,d\nx\0y,2\n", "f.csv", ["x\0y"]),
    (b"c,d\n#1,2\nNULL,2\n", "f.csv", ["#1", "NULL"]),
    (gzip.compress(b"c,d\n1,2\n", mtime=0), "f.csv.gz", ["1"]),
    (
        gzip.compress(b"c,d\n1,2\n", mtime=0) + gzip.compress(b"3,2\n", mtime=0),
        "F.CSV.GZ",
        ["1", "3"],
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("content", "name", "wanted"), GOOD)
def test_csv_as_it_comes(tmp_path: Path, content: bytes, name: str, wanted: list[str]) -> None:
    assert read(written(tmp_path, content, name), ("c", "text")) == [wanted]


ROWS = "rows of a text file"
HEADER = "header row"
BAD: list[tuple[bytes, str]] = [
    (b"", HEADER),
    (b"\n\nc,d\n1,2\n", HEADER),
    (b'"c\n",d\n1,2\n', HEADER),
    (f"c,d\n{MARKER}\n".encode(), ROWS),
    (f"c,d\n{MARKER},1,2\n".encode(), ROWS),
    (f'c,d\n"{MARKER},1\n'.encode(), ROWS),  # a quote that is not closed, at the end
    (f'c,d\n"{MARKER},1\n'.encode() + b"x,y\n" * 5_000, ROWS),
    (f'c,d\n"{MARKER},1\n'.encode() + b"x,y\n" * 2_000_000, ROWS),
    (f'c,d\n"{MARKER}"x,1\n'.encode(), ROWS),
    (b"c,d\n" + MARKER.encode() * 200_000 + b",1\n", ROWS),  # a row of 2 MB
    (b"c,d\n1,2\n" + MARKER.encode() * 2_000_000, ROWS),  # the last one, of 20 MB
    (b"c\n1\n" + MARKER.encode() * 2_000_000, ROWS),
    (f"c,d\n{MARKER} \xe9,1\n".encode("latin-1"), ROWS),
    (f"c,d\n{MARKER},1\n".encode("utf-16"), HEADER),
    (f"c,d\r\n{MARKER},1\n".encode(), ROWS),
    (b"\0" * 100_000, HEADER),
    (b"a" * 3_000_000, HEADER),
    (f"x,y\n{MARKER},1\n".encode(), "'c': column of a file, got none"),
    (f"c,c\n{MARKER},1\n".encode(), "'c': column of a file, got 2"),
]


CELLS = ["", "7", "-7", "+7", " 7", "7.", ".5", "1e2", "1_0", "+-1", "nan", "NA", "é", "x;y", "\v7"]
CELLS += ["9007199254740992", "-9007199254740993", "0.12345678901234567", "1234567890123456.5"]
CELLS += ["9" * 40, "1e9007199254740993", "007", "2020-01-02", "true"]


@pytest.mark.slow
def test_files_without_quotes_are_read_as_those_with_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of which not the lines say how many rows there are, but a survey."""
    rng, outcomes = Random(8), {"read": 0, "refused": 0}  # noqa: S311
    for _ in range(20):
        few, alone = rng.choices(CELLS, k=rng.randint(1, 4)), rng.randrange(2)
        rows = [rng.choice(few) if alone else f"1,{rng.choice(few)}" for _ in range(40)]
        text = "".join(row + "\n" * rng.choice([1, 1, 2]) for row in rows)
        text = text.rstrip("\n") if rng.randrange(2) else text
        path = written(tmp_path, ("y\n" if alone else "k,y\n") + text)
        monkeypatch.setattr(row_file, "CHUNK_BYTES", rng.choice([40, 1 << 18]))
        for reading in ("numbers", "integers", "keys", "text"):
            found = []
            for known in (True, False):
                with monkeypatch.context() as patch:
                    if not known:
                        patch.setattr(csv_rows, "plain", lambda *_, **_named: None)
                    try:
                        found.append(repr(read(path, ("y", reading))))
                    except InvalidRecords as error:
                        found.append(str(error))
            assert found[0] == found[1], (reading, rows)
            outcomes["read" if found[0][0] == "[" else "refused"] += 1
    assert min(outcomes.values()) > 5


@pytest.mark.slow
def test_bytes_tell_how_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(4)  # noqa: S311
    for _ in range(500):
        monkeypatch.setattr(row_file, "CHUNK_BYTES", rng.randint(1, 40))
        cells_ = ["7" * rng.choice([0, 0, 5, 24]) for _ in range(rng.randrange(6))]
        text = "head" + "".join(f"\n{cell}" for cell in cells_) + rng.choice(["", "\n"])
        blank_is_row = bool(rng.randrange(2))
        found = row_file.plain(str(written(tmp_path, text)), 4, blank_is_row=blank_is_row)
        lines = text.removesuffix("\n").split("\n")[1:]
        rows = len([line for line in lines if line or blank_is_row])
        assert found == row_file.Plain(rows, False), text
    plain = partial(row_file.plain, blank_is_row=False)
    for byte in '"\r\0':
        assert plain(str(written(tmp_path, f"head\n1\n{byte}")), 4) is None
    for byte in "_+\v\f":
        assert plain(str(written(tmp_path, f"h_\n1\n{byte}")), 2) == (2, True)


def test_rows_that_a_reader_loses_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "c,d\n" + "1,2\n" * 9)
    whole = PathFrame._batches

    def losing(*arguments: Any) -> Any:
        for batch in whole(*arguments):
            yield [replace(column, length=column.length - 1) for column in batch]

    monkeypatch.setattr(PathFrame, "_batches", losing)
    parts = PathFrame(path).parts([ColumnRead("c", "text")])
    with pytest.raises(InvalidRecords, match=says(ROWS)):
        list(parts)


@pytest.mark.slow
def test_threads_do_not_change_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    wanted = [rng.integers(0, 10**9, 300_000).tolist(), rng.integers(0, 99, 300_000).tolist()]
    path = written(tmp_path, "c,d\n" + "".join(f"{c},{d}\n" for c, d in zip(*wanted, strict=True)))
    found = read(path, ("c", "integers"), ("d", "keys"), threads=2)
    assert sorted(zip(*found, strict=True)) == sorted(zip(*wanted, strict=True))


@pytest.mark.parametrize(("content", "message"), BAD)
def test_bad_csv_is_refused_without_showing_it(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(FastexpError, match=says(message)) as caught:
        read(path, ("c", "text"))
    assert MARKER not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.slow
def test_damaged_compressed_files_are_refused(tmp_path: Path) -> None:
    rng = Random(2)  # noqa: S311
    rows = "".join(f"{rng.random()},{rng.random()}\n" for _ in range(200_000))
    whole = gzip.compress(b"c,d\n" + rows.encode())
    for content in (whole[: len(whole) // 2], whole[:-4], b"c,d\n1,2\n"):
        path = written(tmp_path, content, "f.csv.gz")
        with pytest.raises(FastexpError, match=says("file cut off")):
            read(path, ("c", "numbers"))
    with raises("file cut off"):
        read(written(tmp_path, b"c,d\n1,2\n", "f.csv.zst"), ("c", "numbers"))


@pytest.mark.process
def test_a_bomb_takes_little_memory(tmp_path: Path) -> None:
    """A row of 500 MB in less than 1 MB, and a header as long; in a process with little memory."""
    bombs = []
    for name, start in (("row", b"c,d\n1,2\n"), ("header", b"c,d")):
        path = tmp_path / f"{name}.csv.gz"
        with gzip.open(path, "wb", 1) as file:
            file.write(start)
            for _ in range(500):
                file.write(b"0" * 1_000_000)
        bombs.append(str(path))
    code = (
        "import sys\n"
        f"from {PathFrame.__module__} import PathFrame\n"
        f"from {ColumnRead.__module__} import ColumnRead\n"
        f"from {Room.__module__} import Room\n"
        "from fastexp.errors import FastexpError\n"
        "import pyarrow\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n"
        "        list(PathFrame(path, Room(1 << 26)).parts([ColumnRead('c', 'numbers')]))\n"
        "    except FastexpError as error:\n"
        "        print(str(error)[-30:])\n"
        "status = open('/proc/self/status').read()\n"  # ru_maxrss has the parent's peak, too
        "print(int(status.split('VmHWM:')[1].split()[0]) >> 10)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *bombs], capture_output=True, text=True, timeout=120
    )
    *messages, peak = done.stdout.splitlines()
    assert len(messages) == 2, done.stderr
    assert int(peak) < 400


# ---- JSON lines ----


def of_json(path: Path, reading: Any, values: list[str]) -> list[Any]:
    path.write_text("".join(f'{{"y":0,"k/~":{value}}}\n' for value in values))
    (found,) = read(path, ("k/~", reading))
    return found


JSON: list[tuple[str, list[str], list[Any]]] = [
    (
        "numbers",
        ["1", "-2.5", "null", "1e2", "0.30000000000000004"],
        [1, -2.5, None, 100, 0.1 + 0.2],
    ),
    ("numbers", ["9007199254740993", "null", "-1"], [2**53 + 1, None, -1]),
    ("integers", ["1", "7.0", '"1"', "true", "null", "1.5"], [1, 7, None, None, None, None]),
    ("text", ['"a"', "1", "null", '"\\u00e9\\n"', '""', "[1]"], ["a", None, None, "é\n", "", None]),
    ("booleans", ["true", "false", '"true"', "1", "null"], [True, False, None, None, None]),
    ("keys", ["1", "-2", "null"], [1, -2, None]),
    ("keys", ['"1"', '"2"', "null"], ["1", "2", None]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("reading", "values", "wanted"), JSON)
def test_values_of_json_are_what_they_are(
    tmp_path: Path, reading: Any, values: list[str], wanted: list[Any]
) -> None:
    assert of_json(tmp_path / "f.jsonl", reading, values) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("value", ['"12"', "true", "[1]", "{}", "1e400"])
def test_values_of_json_that_are_no_numbers_are_refused(tmp_path: Path, value: str) -> None:
    with raises("numbers in a file"):
        of_json(tmp_path / "f.jsonl", "numbers", ["1", value])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "first line of JSON"),
        (b"[1]\n", "first line of JSON"),
        (b'{"c":1}\n[1]\n', "JSON in lines"),
        (b'{"c":1}\n{"c":' + MARKER.encode() + b"}\n", "JSON in lines"),
        (b'{"c":1}\n{"c":\xe9}\n', "JSON in lines"),
        (b'{"c":1}\n{"c":1', "JSON in lines"),
        (b'{"c":1}\n{"c":"' + b"x" * 40_000_000 + b'"}\n', "JSON in lines"),
        (b'{"c":1}\n{"c":[[1]]}\n', "keys of JSON"),
        (b'{"d":1}\n', "'c': column of a file, got none"),
        (b'{"c":1,"c":2}\n', "'c': column of a file, got 2"),
    ],
)
def test_bad_json_is_refused_without_showing_it(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(FastexpError, match=says(message)) as caught:
        read(written(tmp_path, content, "f.ndjson"), ("c", "keys"))
    assert MARKER not in str(caught.value)
    assert caught.value.__context__ is None


def test_json_may_begin_with_a_mark_and_blank_lines(tmp_path: Path) -> None:
    path = written(tmp_path, b'\xef\xbb\xbf\n \n {"c": 1}\r\n\n{"c": 2}', "f.jsonl")
    assert read(path, ("c", "numbers")) == [[1, 2]]


def test_of_json_only_the_first_line_is_looked_at_before_the_charge(tmp_path: Path) -> None:
    lines = b'\n{"c": 1, "\xc3\xa9": 2}\r\n{"c":'
    for name, content in {"f.jsonl": lines, "f.jsonl.gz": gzip.compress(lines, mtime=0)}.items():
        file = written(tmp_path, content, name)
        assert PathFrame(file).names() == ["c", "é"]
        budget = fx.Budget(epsilon=1.0)
        with raises("JSON in lines"):
            fx.Query().release(file, {"c": (fx.Median(1.0, bounds=(0, 9)), "c")}, budget=budget)
        assert budget.spent == 1.0, "how other lines are is told by a release only"


# ---- Parquet ----


def test_types_of_parquet_are_kept(tmp_path: Path) -> None:
    table = pa.table(
        {
            "i": pa.array([1, None, 2**63 - 1], pa.int64()),
            "u": pa.array([1, None, 2**64 - 1], pa.uint64()),
            "f": pa.array([1.5, None, float("inf")]),
            "d": pa.array([Decimal("0.1"), None, Decimal("-2.5")], pa.decimal128(9, 2)),
            "t": pa.array(["a", None, ""]),
            "c": pa.array(["a", None, "b"]).dictionary_encode(),
            "b": pa.array([True, None, False]),
            'odd "; -- \n': pa.array([1, 2, 3]),
            "A": pa.array([1, 2, 3]),
            "a": pa.array([4, 5, 6]),
        }
    )
    path = tmp_path / "f.parquet"
    pq.write_table(table, path)
    uses = [(name, "numbers") for name in ("i", "u", "f", "d", 'odd "; -- \n', "A", "a")]
    uses += [("t", "text"), ("c", "keys"), ("b", "booleans")]
    assert PathFrame(path).names() == table.column_names
    found = dict(zip([name for name, _ in uses], read(path, *uses), strict=True))
    for name, column in found.items():
        wanted = table[name].to_pylist()
        assert column == [float(x) if isinstance(x, Decimal) else x for x in wanted], name


@pytest.mark.slow
def test_types_are_looked_at_before_rows(tmp_path: Path) -> None:
    """Long texts where numbers are wanted: seen by their type, which takes no memory."""
    path = tmp_path / "f.parquet"
    values = pa.array(["x" * 1_000_000] * 200).dictionary_encode()
    pq.write_table(pa.table({"x": values, "l": [[1]] * 200, "s": [{"q": 1}] * 200}), path)
    assert path.stat().st_size < 2_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (texts, lists, structs) = PathFrame(path).empty(
        [ColumnRead("x", "numbers"), ColumnRead("l", "keys"), ColumnRead("s", "keys")]
    )
    with raises("numbers of a type, got text..."):
        number_columns.read(texts, "records")
    for nested in (lists, structs):
        with pytest.raises(ParameterTypeError):
            key_columns.read(nested, "by")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"x" * 99, b"x" * 99 + b"PAR1"])
def test_what_is_no_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    with raises("Parquet that is whole"):
        PathFrame(written(tmp_path, content, "f.parquet")).names()


def test_damaged_rows_of_parquet_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"x": np.random.default_rng(1).random(10_000)}), path)
    content = bytearray(path.read_bytes())
    content[4:400] = bytes(396)
    path.write_bytes(content)
    with pytest.raises(InvalidRecords):
        read(path, ("x", "numbers"))


# ---- paths ----

NAMES = ["q'q", 'd"d', "s;s", "--x", "n\nl", "st*ar", "qu?", "br[a-z]", "{a,b}", "sp ace", "ü", "~"]
NAMES += ["a\\b", "[!a]", "b[[]c", "%41", "$HOME", "year=2020", "**"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_name_is_the_file_of_this_name(tmp_path: Path, suffix: str) -> None:
    """Whatever SQL or patterns could make of it, among others that such a pattern would match."""
    for i, name in enumerate([*NAMES, "stXar", "quX", "brq", "a", "b[c"]):
        path = tmp_path / f"{name}{suffix}"
        column = 'c"; --'
        if suffix == ".parquet":
            pq.write_table(pa.table({column: [i]}), path)
        else:
            text = json.dumps({column: i}) if suffix == ".jsonl" else f'"c""; --"\n{i}'
            path.write_text(f"{text}\n")
    for i, name in enumerate(NAMES):
        assert read(tmp_path / f"{name}{suffix}", ('c"; --', "numbers")) == [[i]], name


@pytest.mark.slow
def test_patterns_and_folders(tmp_path: Path) -> None:
    for year in ("2020", "2021", "__HIVE_DEFAULT_PARTITION__"):
        for city in ("Rome", "S%C3%A3o%20Paulo"):
            first = year if year[0] == "2" else "0"
            written(tmp_path, f"x\n{first}\n", f"data/year={year}/city={city}/part.csv")
    written(tmp_path, "x\nnonsense\n", "data/_SUCCESS")
    written(tmp_path, "x\nnonsense\n", "data/.hidden.csv")
    uses = [("x", "numbers"), ("year", "integers"), ("city", "text")]
    for path in ("data", "data/year=*/*/part.csv", "data/**/*.csv"):
        rows = set(zip(*read(tmp_path / path, *uses), strict=True))
        assert rows == {(y or 0, y, c) for y in (2020, 2021, None) for c in ("Rome", "São Paulo")}
    assert PathFrame(tmp_path / "data").names() == ["x", "year", "city"]
    assert read(tmp_path / "data/year=2020", ("city", "text"), ("x", "keys")) == [
        ["Rome", "São Paulo"],
        [2020, 2020],
    ]


def test_files_of_a_folder_agree(tmp_path: Path) -> None:
    written(tmp_path, "x,y\n1,2\n", "a/1.csv")
    written(tmp_path, "y,x\n3,4.5\n", "a/2.csv")  # in another order
    assert read(tmp_path / "a", ("x", "numbers")) == [[1, 4.5]]
    written(tmp_path, "y,z\n3,4\n", "a/3.csv")
    with raises("'x': column of a file, got none", source="...3.csv'"):
        read(tmp_path / "a", ("x", "numbers"))
    written(tmp_path, "{}", "b/1.jsonl")
    written(tmp_path, "x\n1\n", "b/2.csv")
    with raises("files of one format"):
        PathFrame(tmp_path / "b").names()
    written(tmp_path, "x\n1\n", "c/year=1/2.csv")
    written(tmp_path, "x\n1\n", "c/2.csv")
    with raises("files in like folders"):
        PathFrame(tmp_path / "c").names()
    pq.write_table(pa.table({"x": [1]}), tmp_path / "b" / "1.parquet")
    pq.write_table(pa.table({"x": [1.5]}), tmp_path / "b" / "2.parquet")
    with raises("column of several files"):
        read(tmp_path / "b/*.parquet", ("x", "numbers"))


def test_what_is_no_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo.csv")
    Path(tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name in ("f.csv.bz2", "f.csv.xz", "f.xlsx", "f.parquet.gz", "f", "f.json"):
        written(tmp_path, bz2.compress(b"c\n1\n"), name)
    cases = {
        "none.csv": "path that can be read, got No such file...",
        "none*.csv": "files of a folder",
        "folder": "files of a folder",
        "fifo.csv": "path that can be read, got not a regular file...",
        "zero.csv": "path that can be read, got not a regular file...",
        "f.csv.bz2": "suffix of a path",
        "f.csv.xz": "suffix of a path",
        "f.xlsx": "suffix of a path",
        "f.parquet.gz": "suffix of a path",
        "f": "suffix of a path",
        "f.json": "suffix of a path",
        "f.csv/x.csv": "path that can be read, got No such file...",
    }
    for name, message in cases.items():
        with pytest.raises(ParameterError, match=says(message)):
            PathFrame(tmp_path / name).names()
    for text in ("", "a\0.csv"):
        with raises("path of a frame"):
            PathFrame(text).names()
    with raises("path of bytes"):
        PathFrame(b"f.csv").names()


def test_what_is_no_list_of_paths(tmp_path: Path) -> None:
    path, other = written(tmp_path, "c\n1\n"), written(tmp_path, '{"c": 1}', "f.jsonl")
    for paths, message in (
        ([path, str(path)], "different files"),
        ([path, other], "files of one format"),
    ):
        with raises(message):
            PathFrame(paths).names()
    assert PathFrame([str(path)]).names() == ["c"]


@each("address", ["s3://bucket/f.csv", "https://host/f.parquet", "gs://a/*.csv", "file:///f.csv"])
def test_what_is_elsewhere_is_read_by_a_dataset(address: str) -> None:
    """It would be taken for a path of this machine."""
    with raises("path elsewhere", path=repr(address), scheme=repr(address.partition(":")[0])):
        fx.Query().release(address, {"m": (fx.Median(1.0, (0, 9)), "c")})


def test_damaged_files_of_arrow_are_refused(tmp_path: Path) -> None:
    table = pa.table({"c": [MARKER] * 2_000, "d": range(2_000)})
    whole = put(table, tmp_path, ".arrow").read_bytes()
    for damaged, error in (
        (whole[:100], ParameterError),
        (b"ARROW1" + MARKER.encode(), ParameterError),
        (whole[:300] + b"\0" * 900 + whole[1200:], FastexpError),
    ):
        path = written(tmp_path, damaged, "g.arrow")
        with pytest.raises(error) as caught:
            read(path, ("c", "text"), ("d", "numbers"))
        assert MARKER not in str(caught.value)
        assert caught.value.__context__ is None


@pytest.mark.parametrize("change", ["more", "other", "broken", "gone"])
def test_a_file_that_changes_is_refused(tmp_path: Path, change: str) -> None:
    path = written(tmp_path, "c,d\n" + "1,2\n" * 5)
    frame = PathFrame(path)
    assert frame.names() == ["c", "d"]
    if change == "more":
        with path.open("a") as file:
            file.write("3,4\n")
    elif change == "gone":
        path.unlink()
    else:  # another file, with columns in another order, or with a row that is no text
        row = b"1,2\n" if change == "other" else b"1,\xff\n"
        written(tmp_path, b"d,c\n" + row * 5, "g.csv").rename(path)
    with raises("file that changes"):
        list(frame.parts([ColumnRead("c", "numbers")]))


# ---- queries ----

FORMS = [".csv", ".csv.gz", ".csv.zst", ".tsv", ".jsonl", ".parquet", "/", ".arrow", ".feather"]
FORMS += ["list"]
CITIES = ["Rome", "São Paulo", "O'Hare", "none"]


def table_of_rents() -> Any:
    rng = np.random.default_rng(5)
    n = 5_000
    rents = np.round(rng.gamma(2, 300, n), 2)
    return pa.table(
        {
            "city": pa.array([CITIES[i] if i < 3 else None for i in rng.integers(0, 4, n)]),
            "year": rng.integers(2020, 2023, n),
            "rent": pa.array(rents, mask=rng.random(n) < 0.01),
            "rooms": rng.integers(1, 9, n),
            "tenant": rng.integers(0, 900, n),
            "heating": pa.array(rng.choice(["gas", "oil", "coal, brown"], n)),
        }
    )


def put(table: Any, folder: Path, form: str) -> Any:
    """A table in a file, or a list of two, by its own writers."""
    path = folder / f"f{form}"
    if form == "list":
        halves = enumerate([table.slice(0, 2000), table.slice(2000)])
        return [put(half, folder, f"{i}.csv") for i, half in halves]
    if form == ".parquet":
        pq.write_table(table, path, row_group_size=700)
    elif form in (".arrow", ".feather"):
        compression = "uncompressed" if form == ".arrow" else "lz4"
        feather.write_feather(table, path, compression=compression, chunksize=700)
    elif form == "/":
        pads = pytest.importorskip("pyarrow.dataset")
        part = pads.partitioning(pa.schema([("year", pa.int64())]), flavor="hive")
        pads.write_dataset(table, path, format="parquet", partitioning=part)
    elif form.startswith(".jsonl"):
        path.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    else:
        text, mark = io.StringIO(newline=""), "\t" if form.startswith(".tsv") else ","
        rows = csv.writer(text, delimiter=mark)
        rows.writerow(table.column_names)
        rows.writerows(row.values() for row in table.to_pylist())
        content = text.getvalue().encode()
        with (
            pa.output_stream(path, compression="zstd")
            if form.endswith("zst")
            else path.open("wb") as file
        ):
            file.write(gzip.compress(content, mtime=0) if form.endswith("gz") else content)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_answers_are_those_of_rows_in_memory(tmp_path: Path, form: str) -> None:
    table, key = table_of_rents(), fx.release_key()
    path = put(table, tmp_path, form)
    answers = {
        "median": (fx.Median(0.5, bounds=(0, 5000), step=10), "rent"),
        "rooms": (fx.Quantile(0.9, 0.5, bounds=(1, 10), step=1), "rooms"),
        "heating": (fx.MostCommon(0.5, candidates=["gas", "oil", "coal, brown"]), "heating"),
    }
    groups = [(city, year) for city in CITIES for year in (2021, 2020, 1999)]
    if form != "/":  # there a year is the name of a folder, and so a text
        years = fx.Query(by="year", groups="from-data")
        with pytest.warns(fx.PrivacyWarning):
            found = years.release(path, {"n": answers["rooms"]}, key=key)
        with pytest.warns(fx.PrivacyWarning):
            assert found == years.release(table, {"n": answers["rooms"]}, key=key)
    query = fx.Query(by=["city", "year"], groups=groups, person="tenant", max_groups=2, max_rows=2)
    nan = {"median": "drop", "rooms": "raise", "heating": "raise"}
    found = query.release(path, answers, key=key, nan=nan)
    assert isinstance(found, pa.Table)
    assert found == query.release(table, answers, key=key, nan=nan)
    assert fx.Query().sample(path, answers, rng=1, nan="drop") == fx.Query().sample(
        table, answers, rng=1, nan="drop"
    )


def test_a_person_has_the_same_name_whoever_else_is_there(tmp_path: Path, monkeypatch: Any) -> None:
    """Integers are what they are elsewhere, also beside persons who have none."""
    monkeypatch.setattr(memory, "MIN_MEMORY", 1)
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, size, 900) for name, size in (("k", 6), ("p", 90), ("x", 99))}
    rows["k"] = np.array([f"g{k}" for k in rows["k"]])
    rows["p"] = np.select([rows["p"] == 0, rows["p"] == 1], [-(2**63), 2**63 - 1], rows["p"])
    key, answers = fx.release_key(), {"m": (fx.Median(0.5, bounds=(0, 99), step=1), "x")}
    query = fx.Query(by="k", groups=[f"g{i}" for i in range(6)], person="p", max_groups=2)
    wanted = query.release(rows, answers, key=key)["m"].tolist()
    table, others = (
        pa.table(rows),
        ["abc", "007", "+7", "-0", "1.5", str(2**63), "9" * 30, "\u0661"],
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    arrow_csv.write_csv(table, tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open("a") as file:
        file.writelines(f"other,{other},1\n" for other in others)
    more = [{"k": "other", "p": other, "x": 1} for other in others]
    lines = map(json.dumps, table.to_pylist() + more)
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    for suffix in (".parquet", ".csv", ".jsonl"):
        for room in ({}, {"memory": 1 << 15, "temp": tmp_path}):
            found = query.release(tmp_path / f"rows{suffix}", answers, key=key, **room)
            assert found["m"].to_pylist() == wanted, (suffix, room)
    texts = {**rows, "p": rows["p"].astype(str).tolist()}
    assert query.release(texts, answers, key=key)["m"].tolist() == wanted


@pytest.mark.slow
@pytest.mark.parametrize("form", [".csv", ".jsonl", ".parquet"])
def test_long_names_that_are_listed_are_found(tmp_path: Path, form: str) -> None:
    names = ["n" * (text_cells.MAX_KEY_BYTES + size) for size in (1, 2, 30)]
    table, key = pa.table({"k": names * 40, "x": [5, 6, 7] * 40}), fx.release_key()
    query = fx.Query(by="k", groups=names[:2])
    answers = {
        "x": (fx.Median(9.0, bounds=(0, 1000), step=1), "x"),
        "k_again": (fx.MostCommon(9.0, candidates=["m", *names[:2]]), "k"),
    }
    found = query.release(put(table, tmp_path, form), answers, key=key)
    assert found == query.release(table, answers, key=key)
    assert found["k_again"].to_pylist() == names[:2]


LONG_TEXTS = """
import re, sys
import fastexp as fx
path, use = sys.argv[1:]
column = {use: "s"}
limits = {"max_groups": 1, "max_rows": 1} if use == "person" else {"groups": "from-data"}
median = fx.Median(epsilon=1.0, bounds=(0, 9), step=1)
fx.Query(**column, **limits).release(path, {"x": (median, "x")}, memory="100MB")
print(int(re.search(r"VmHWM:\\s+([0-9]+)", open("/proc/self/status").read())[1]) >> 10)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
@pytest.mark.parametrize("use", ["by", "person"])
@pytest.mark.process
def test_long_texts_take_no_more_memory_than_they_may(tmp_path: Path, use: str) -> None:
    """500 MB of text in a small file."""
    path, number = tmp_path / "f.parquet", 35_000
    texts = pa.DictionaryArray.from_arrays(np.zeros(number, np.int32), ["s" * 15_000])
    pq.write_table(pa.table({"s": texts, "x": np.zeros(number, np.int64)}), path)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LONG_TEXTS, str(path), use],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert int(done.stdout) < 400, done.stderr


HEADERS = {
    "rant,city": "it has 'rant', 'city'; did you mean 'rant'?",
    "city,year": "it has 'city', 'year'",
    "rent,city,rent": "frame has several columns named 'rent'",
    "city;rent": "it has only 'city;rent' (is another delimiter between its columns?)",
    ",".join(f"c{i}" for i in range(30)): "'c18', 'c19', ...",
    f"{MARKER},39": "are not shown, because they may be a record (is there a header row?)",
    f"{MARKER},": "are not shown, because they may be a record (is there a header row?)",
    f"{MARKER},-.5": "are not shown, because they may be a record (is there a header row?)",
    f"{MARKER},{MARKER}": "are not shown, because they may be a record (is there a header row?)",
}


@pytest.mark.parametrize("header", HEADERS)
def test_a_column_that_is_not_there(tmp_path: Path, header: str) -> None:
    """What there is is said, unless it may be somebody's record in place of a header."""
    path, budget = written(tmp_path, f"{header}\n"), fx.Budget(1.0)
    with pytest.raises(ParameterError) as caught:
        fx.Query().release(path, {"m": (fx.Median(1.0, bounds=(0, 9)), "rent")}, budget=budget)
    assert str(caught.value).startswith(("frame has no column 'rent': ", HEADERS["rent,city,rent"]))
    assert str(caught.value).endswith(HEADERS[header])
    assert MARKER not in str(caught.value)
    assert budget.spent == 0


@pytest.mark.parametrize("library", ["duckdb", "pyarrow"])
def test_what_reading_needs_is_told_before_the_charge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    path, budget = written(tmp_path, "rent\n1\n"), fx.Budget(1.0)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        ParameterError, match=says("library of a path", library=library, name=library)
    ):
        fx.Query().release(path, {"m": (fx.Median(1.0, bounds=(0, 9)), "rent")}, budget=budget)
    assert budget.spent == 0


def test_rows_that_cannot_be_read_are_charged(tmp_path: Path) -> None:
    """And what a header shows is not."""
    answers = {"rent": (fx.Median(0.5, bounds=(0, 5000), step=10), "rent")}
    query, budget = fx.Query(by="city", groups=["Rome"]), fx.Budget(1.0)
    for content in ("city,rant\nRome,1\n", "", "city,rent,rent\nRome,1,2\n"):
        with pytest.raises(ParameterError):
            query.release(written(tmp_path, content), answers, budget=budget)
    assert budget.spent == 0
    with raises("numbers in a file"):
        query.release(written(tmp_path, f"city,rent\nRome,{MARKER}\n"), answers, budget=budget)
    assert budget.spent == 0.5


def test_kept_answers_come_back_without_their_file(tmp_path: Path) -> None:
    path = written(tmp_path, "city,rent\nRome,1\n")
    budget = fx.Budget.file(tmp_path / "budget", epsilon=1.0)
    found = rent_of(path, budget=budget, label="rents")
    path.unlink()
    assert rent_of(path, budget=budget, label="rents") == found
    assert budget.spent == 0.5
    with raises("path that can be read, got No such file..."):
        rent_of(path, budget=budget, label="others")


# ---- output= ----

PLACES = [".csv", ".tsv", ".jsonl", ".parquet"]


@pytest.mark.parametrize("suffix", PLACES)
def test_answers_are_in_a_file_as_well(tmp_path: Path, suffix: str) -> None:
    """Which is read back to the same, whatever names and groups hold."""
    odd = ["a", 'q"q', "c,d", "t\tt", "l\nf", "r\rr", " blanks ", "é", "007", "-1"]
    days = [dt.date(2020, 1, i + 1) for i in range(len(odd))]
    times = [dt.datetime(2020, 1, 1, 2, 3, i, 500) for i in range(len(odd))]
    groups = list(zip(odd, days, times, [True, False] * 5, strict=True))
    names = ["o'd,d", 'd"', "t", "b"]
    rows = {name: [row[i] for row in groups] for i, name in enumerate(names)}
    rows |= {"x": [0.25 * i for i in range(len(odd))]}
    query, key = fx.Query(by=names, groups=groups), fx.release_key()
    answers = {
        "x": (fx.Median(50, bounds=(0, 5), step=0.25), "x"),
        "n": (fx.Median(50, bounds=(0, 5), step=1), "x"),
        "c": (fx.MostCommon(50, candidates=odd), "o'd,d"),
    }
    place = tmp_path / f"o{suffix}"
    frame = pa.table(rows)
    found = query.release(frame, answers, key=key, output=place)
    assert found["c"].to_pylist() == odd
    if suffix == ".parquet":
        assert pq.read_table(place) == found
    uses = [(names[0], "text"), (names[1], "dates"), (names[2], "timestamps")]
    uses += [(names[3], "booleans"), ("x", "numbers"), ("n", "numbers"), ("c", "text")]
    columns = read(place, *uses)
    assert columns[0] == odd == columns[6]
    wanted = [found[name].to_pylist() for name in ("b", "x", "n")]
    assert columns[3:6] == wanted
    assert [str(np.datetime64(x, "D")) for x in columns[1]] == [str(day) for day in days]
    assert not list(tmp_path.glob(".fastexp-*"))


def rent_of(frame: Any, **options: Any) -> Any:
    answers = {"rent": (fx.Median(0.5, bounds=(0, 5000), step=10), "rent")}
    return fx.Query(by="city", groups=["Rome"]).release(frame, answers, **options)


def test_what_is_no_place_is_refused_before_the_charge(tmp_path: Path) -> None:
    data, budget = written(tmp_path, "city,rent\nRome,5\n"), fx.Budget(1.0)
    (tmp_path / "folder.csv").mkdir()
    written(tmp_path, "paid for", "paid.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "full.csv").symlink_to("/dev/full")
    before = sorted(tmp_path.iterdir())
    for name, options, message in [
        ("o.txt", {}, "...csv, .tsv, .parquet or .jsonl: suffix of an output"),
        ("no/o.csv", {}, "output to write, got No such file or directory"),
        ("folder.csv", {"force": True}, "output to write, got it is a folder"),
        ("pipe.csv", {"force": True}, "output to write, got ...no regular file"),
        ("full.csv", {"force": True}, "output to write, got ...no regular file"),
        ("paid.csv", {}, "output that exists"),
        ("f.csv", {"force": True}, "a file of the frame: output over another file"),
        ("a\0.csv", {}, "output to write, got not a path"),
    ]:
        with pytest.raises(ParameterError, match=says(message)):
            rent_of(data, budget=budget, output=tmp_path / name, **options)
    with raises("output of a type"):
        rent_of(data, budget=budget, output=3)
    with raises("force: true or false"):
        rent_of(data, budget=budget, output=tmp_path / "o.csv", force=1)
    assert budget.spent == 0
    assert sorted(tmp_path.iterdir()) == before
    rent_of(data, budget=budget, output=tmp_path / "paid.csv", force=True)
    assert (tmp_path / "paid.csv").read_text().startswith("city,rent\nRome,")


@pytest.mark.parametrize("source", ["rows", "rows/*.csv", "rows/b.csv"])
def test_no_file_of_the_rows_is_replaced(tmp_path: Path, source: str) -> None:
    written(tmp_path, "city,rent\nRome,5\n", "rows/a.csv")
    last, budget = written(tmp_path, "city,rent\nRome,6\n", "rows/b.csv"), fx.Budget(1.0)
    with raises("a file of the frame: output over another file"):
        rent_of(tmp_path / source, budget=budget, output=last, force=True)
    assert budget.spent == 0
    assert last.read_text() == "city,rent\nRome,6\n"


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_no_budget_is_replaced(tmp_path: Path, link: Any) -> None:
    data, file = written(tmp_path, "city,rent\nRome,5\n"), tmp_path / "survey.budget"
    budget = fx.Budget.file(file, epsilon=1.0)
    link(file, tmp_path / "o.csv")
    before = file.read_bytes()
    with raises("the file of the budget: output over another file"):
        rent_of(data, budget=budget, output=tmp_path / "o.csv", force=True)
    assert file.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("suffix", PLACES)
def test_groups_of_the_data_are_in_a_file_as_well(tmp_path: Path, suffix: str) -> None:
    query = fx.Query(by="city", groups="from-data")
    data, place = written(tmp_path, "city,rent\nRome,5\nOslo,6\n"), tmp_path / f"o{suffix}"
    answers = {"rent": (fx.Median(0.5, bounds=(0, 5000), step=10), "rent")}
    with pytest.warns(fx.PrivacyWarning):
        found = query.release(data, answers, output=place)
    assert read(place, ("city", "text"), ("rent", "integers")) == list(found.to_pydict().values())


def test_answers_that_a_disk_does_not_take_are_in_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, place = written(tmp_path, "city,rent\nRome,5\n"), tmp_path / "o.csv"
    budget = fx.Budget(1.0)

    def refused(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", refused)
        with raises("output that failed before the charge"):
            rent_of(data, budget=budget, output=place)
    assert budget.spent == 0
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refused)
        with raises("output that cannot be written, got No space left...") as caught:
            rent_of(data, budget=budget, output=place)
    assert budget.spent == 0.5
    assert caught.value.answers["city"].to_pylist() == ["Rome"]
    assert [path.name for path in tmp_path.iterdir()] == ["f.csv"]


def test_a_file_that_comes_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    data, place = written(tmp_path, "city,rent\nRome,5\n"), tmp_path / "o.csv"
    drawn = fx.Median._draws

    def late(*arguments: Any) -> Any:
        place.write_text("paid for")
        return drawn(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fx.Median, "_draws", late)
        with raises("output that cannot be written, got File exists"):
            rent_of(data, output=place)
    assert place.read_text() == "paid for"


# ---- our own connections ----


@pytest.mark.engines
def test_a_database_of_ours_reaches_nothing_else(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    allowed, other = written(tmp_path, "c\n1\n"), written(tmp_path, "c\n1\n", "g.csv")
    database = connect(memory=1 << 26, files=[str(allowed)])
    assert database.execute("SELECT * FROM read_csv($path)", {"path": str(allowed)}).fetchall()
    variable = pa.table({"x": [1]})
    assert variable.num_rows
    for statement in (
        f"FROM read_csv('{other}')",
        f"COPY (SELECT 1) TO '{tmp_path}/o.csv'",
        f"ATTACH '{tmp_path}/o.db'",
        "FROM read_parquet('https://localhost/o.parquet')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 2",
        "SET allowed_paths = ['/']",
        "SET enable_external_access = true",
        "FROM variable",
    ):
        with pytest.raises(duckdb.Error):
            database.execute(statement).fetchall()
    assert {path.name for path in tmp_path.iterdir()} == {"f.csv", "g.csv"}
    assert not Path(".tmp").exists()


@pytest.mark.process
def test_no_progress_is_printed() -> None:
    """DuckDB does so where Python runs without a file, as it does for whoever types."""
    code = (
        f"from {connect.__module__} import connect\n"
        "database = connect(memory=1 << 26)\n"
        "(found,) = database.sql(\"SELECT current_setting('enable_progress_bar')\").fetchall()\n"
        "assert found == (False,), found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.process
def test_files_are_read_in_a_notebook_without_widgets() -> None:
    """There DuckDB cannot draw its progress, and refuses to be told anything about it."""
    code = (
        "import sys, types\n"
        "shell = types.SimpleNamespace(config={'IPKernelApp': {}})\n"
        "sys.modules['IPython'] = types.ModuleType('IPython')\n"
        "sys.modules['IPython'].get_ipython = lambda: shell\n"
        "sys.modules['ipywidgets'] = None\n"
        f"from {connect.__module__} import connect\n"
        "assert connect(memory=1 << 26).sql('SELECT 1').fetchall() == [(1,)]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_any_text_is_a_name() -> None:
    database = connect(memory=1 << 26)
    for name in ("a", 'a"b', "'; --\n", "é", "*"):
        assert database.sql(f"SELECT 1 AS {quoted(name)}").columns == [name]
    database.close()


def test_an_interrupt_while_duckdb_reads_uses_no_label_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB has an error of its own in place of what the handler of a signal raised."""

    def batches(*_: object) -> Any:
        yield from ()
        raise RuntimeError("Query interrupted")

    path, budget = written(tmp_path, "x\n1\n"), fx.Budget.file(tmp_path / "b", epsilon=1.0)
    answers = {"m": (fx.Median(epsilon=1.0, bounds=(0, 9), step=1), "x")}
    with monkeypatch.context() as patch:
        patch.setattr(PathFrame, "_batches", batches)
        with pytest.raises(KeyboardInterrupt):
            fx.Query().release(path, answers, budget=budget, label="q")
    assert [entry["state"] for entry in budget.log()] == ["open"]
    assert len(fx.Query().release(path, answers, budget=budget, label="q")) == 1
    assert budget.charges == 1
