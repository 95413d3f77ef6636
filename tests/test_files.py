"""Are files read as their rows, and refused where these cannot be told for certain?"""

from __future__ import annotations

import csv
import datetime as dt
import enum
import gzip
import io
import itertools
import random
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import fastexp as fx

from .frames import told

SURE = {"m": (fx.Median(1000.0, (0, 100), step=1), "v")}
QUERY = fx.Query("k", ["a", "b"])
READ: dict[str, tuple[bytes, dict[str, Any]]] = {  # files of which a has 1 and b has 3
    "plain": (b"k,v\na,1\nb,3\na,1\n", {}),
    "a mark": (b"\xef\xbb\xbfk,v\na,1\nb,3\n", {}),
    "a mark and a quote": (b'\xef\xbb\xbf"x\ny",k,v\n1,a,1\n2,b,3\n', {}),
    "CR LF": (b"k,v\r\na,1\r\nb,3\r\n", {}),
    "CR": (b"k,v\ra,1\rb,3\r", {}),
    "mixed": (b"k,v\r\na,1\nb,3\ra,1", {}),
    "blank lines": (b"\n\nk,v\n\n\na,1\n\r\nb,3\n\n", {}),
    "lines in the header": (b'k,v,"x\ny"\na,1,2\nb,3,4\n', {}),
    "lines in cells": (b'k,v,x\na,1,"2\n3\r\n\n"\nb,3,"""4"\n', {}),
    "lines in many blocks": (
        b"k,v,x\n" + (b'a,1,"' + b"l\n" * 90 + b'"\nb,3,"' + b"\n" * 90 + b'"\n') * 20_000,
        {},
    ),
    "a quote in a cell": (b'k,v,x\na,1,5" pipe\nb,3,4\n', {}),
    "NUL": (b"k,v\na,1\n\0,2\nb,3\n", {}),
    "a column twice": (b"k,x,v,x\na,9,1,2\nb,9,3,2\n", {}),
    "blanks around numbers": (b"k,v\na, 1\nb,3 \n", {}),
    "numbers": (b"k,v\na,1e0\nb,03.0\nb,+3\nb,3\n", {}),
    "semicolons": (
        "k;v\nä;9\na;1,0\nb;3,0\n".encode("cp1252"),
        {"delimiter": ";", "decimal": ",", "encoding": "cp1252"},
    ),
    "semicolons and quotes": (b'k;v;x\na;1;"2\n;"\nb;3;"4,"\n', {"delimiter": ";"}),
    "UTF-16": ("k,v\na,1\nb,3\n".encode("utf-16"), {"encoding": "utf-16"}),
    "no end": (b"k,v\na,1\nb,3", {}),
    "missing keys": (b"k,v\n?,9\na,1\n,9\nb,3\n", {"missing": "?"}),
}
REFUSED: dict[str, tuple[bytes, dict[str, Any], str]] = {  # after the charge
    "an open quote": (b'k,v,x\na,1,"5\nb,3,4\n', {}, "each quote closed"),
    "an open quote at the end": (b'k,v\na,1\nb,3\n"c,4\nd,5\n', {}, "each quote closed"),
    "a quote that closes another": (
        b'k,v,x\na,1,5" pipe\na,1,"open\nb,3,4\nb,3,5" pipe\nb,3,4\n',
        {},
        "each quote closed, at the end of its cell",
    ),
    "text after an empty cell": (b'k,v,x\na,1,""y\nb,3,4\n', {}, "at the end of its cell"),
    "a long row": (b"k,v\na,1\nb,3,4\n", {}, "a cell for each column"),
    "a short row": (b"k,v\na,1\nb\n", {}, "a cell for each column"),
    "text": (b"k,v\na,1\nb,secret\n", {}, "'v' must have numbers in all cells"),
    "a point": (b"k;v\na;1.5\nb;3\n", {"delimiter": ";", "decimal": ","}, "numbers in all cells"),
    "bad UTF-8": (b"k,v\na,1\n\xff,2\nb,3\n", {}, "in 'utf-8'"),
    "a question mark": (b"k,v\na,?\nb,3\n", {}, "numbers in all cells"),
    "a missing number": (b"k,v\na,NA\nb,3\n", {}, "'v' must not be missing"),
}
HEADERS: dict[str, tuple[bytes, dict[str, Any], str]] = {  # before the charge
    "nothing": (b"", {}, "must begin with a row of names"),
    "Latin 1": ("k,v,ä\na,1,2\n".encode("cp1252"), {}, "in 'utf-8': see encoding"),
    "UTF-16": ("k,v\na,1\n".encode("utf-16"), {}, "in 'utf-8': see encoding"),
    "other names": (b"k,w\na,1\n", {}, "no column 'v': it has 'k', 'w'"),
    "semicolons": (b"k;v\na;1\n", {}, "no column 'k': it has 'k;v'"),
    "a column twice": (b"k,v,v\na,1,2\n", {}, "two columns 'v'"),
    "a blank line before one column": (b"\nv\n1\n", {}, "must begin with a row of names"),
    "text behind a quote": (b'k,"v"w\na,1\n', {}, "each quote closed at the end of a name"),
    "an open quote": (b'k,v,"w\na,1,2\n', {}, "each quote closed at the end of a name"),
}


def file(folder: Path, data: bytes, options: dict[str, Any], ending: str = ".csv") -> Any:
    path = folder / f"rows{ending}"
    path.write_bytes(data)
    return fx.CSV(path, **options) if options else path


@pytest.mark.parametrize("name", READ)
def test_csv(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, options = READ[name]
    assert told(QUERY.release(file(tmp_path, data, options), SURE))["m"] == [1, 3]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    budget, source = fx.Budget(1000.0), fx.CSV("-", **options)
    for _ in range(2):  # the second time, nothing is left to read
        found = QUERY.release(source, SURE, budget=budget, label="once")
        assert told(found)["m"] == [1, 3]
    if "UTF-16" not in name:
        options = {"delimiter": ",", **options}
        packed = file(tmp_path, gzip.compress(data), options, ".csv.gz")
        assert told(QUERY.release(packed, SURE))["m"] == [1, 3]


@pytest.mark.parametrize("where", [0, 2048, 200_000])
@pytest.mark.parametrize("name", REFUSED)
def test_csv_that_is_refused(tmp_path: Path, name: str, where: int) -> None:
    """The message is ours, wherever the row stands, and quotes no cell."""
    data, options, message = REFUSED[name]
    head, rest = data.split(b"\n", 1)
    row = b"z;0\n" if b";" in data else b"z,0,0\n" if b",x" in head else b"z,0\n"
    budget = fx.Budget(1000.0)
    frame = file(tmp_path, head + b"\n" + where * row + rest, options)
    with pytest.raises(fx.errors.InvalidRecords, match=message) as caught:
        QUERY.release(frame, SURE, budget=budget)
    assert budget.spent == 1000.0
    assert caught.value.__context__ is None
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_are_refused(tmp_path: Path, name: str) -> None:
    data, options, message = HEADERS[name]
    budget = fx.Budget(1000.0)
    with pytest.raises(fx.errors.ParameterError, match=message):
        QUERY.release(file(tmp_path, data, options), SURE, budget=budget)
    assert budget.spent == 0


def rows_of(text: str) -> set[tuple[str, ...]] | None:
    """Return the rows by Python's reader, without those of empty cells; None if they are ragged."""
    header, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    if any(len(row) != len(header) for row in rows):
        return None
    return {tuple(row) for row in rows if all(row)}


@pytest.mark.parametrize("seed", range(5))
def test_any_change_of_a_byte(tmp_path: Path, seed: int) -> None:
    """The rows are those of Python's reader, or the file is refused."""
    rng, answered = random.Random(seed), 0  # noqa: S311
    for turn in range(100):
        narrow = turn % 4 == 0
        cells = [
            [
                rng.choice([f"x{i}", f"{i}", f'"q{i}"', f'"l\n{i}"', f'"c,{i}"', f'"d""{i}"'])
                for _ in "kv"
            ]
            for i in range(rng.choice([1, 3, 40]))
        ]
        text = "k\n" if narrow else "k,v\n"
        text += "".join((row[0] if narrow else ",".join(row)) + "\n" for row in cells)
        data = bytearray(text.encode())
        for _ in range(rng.choice([1, 1, 2])):
            at = rng.randrange(2 if narrow else 4, len(data) + 1)
            data[at : at + rng.randrange(2)] = rng.choice(
                [b'"', b",", b"\n", b"\r", b"\0", b" ", b"", b"\xc3", b"9"]
            )
        path = file(tmp_path, bytes(data), {})
        by = ["k"] if narrow else ["k", "v"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fx.PrivacyWarning)
            try:
                found = told(
                    fx.Query(by, "from-data").release(
                        path, {"c": (fx.MostCommon(1.0, ["a", "b"]), "k")}
                    )
                )
            except (fx.errors.InvalidRecords, fx.errors.ParameterError):
                continue
        answered += 1
        expected = rows_of(data.decode())
        assert expected is not None, bytes(data)
        assert set(zip(*(found[name] for name in by), strict=True)) == expected, bytes(data)
    assert answered > 25


@pytest.mark.parametrize("cells", [('5" pipe', '"open'), ('""', '"open'), ("b", '"open')])
def test_no_row_is_lost(tmp_path: Path, cells: tuple[str, str]) -> None:
    """A quote that is never closed is found, wherever another one stands."""
    for first, second in itertools.permutations(range(9), 2):
        rows = ["a,1,x"] * 9
        rows[first], rows[second] = (f"a,1,{cell}" for cell in cells)
        path = file(tmp_path, "\n".join(["k,v,x", *rows]).encode(), {})
        with pytest.raises(fx.errors.InvalidRecords, match="each quote closed"):
            QUERY.release(path, SURE)


@pytest.mark.parametrize("quotes", ['""', '"5"', '5" x', '"""5""\n"', '"",""', '"5,""6"'])
def test_quotes_at_the_end_of_a_block(tmp_path: Path, quotes: str) -> None:
    """Rows are the same, wherever the file is cut into the blocks that are read."""
    for shift in range(len(quotes) + 2):
        head = "k,v,x" + ",y" * quotes.count(",") * (quotes != '"5,""6"') + "\n"
        long = '"' + "l" * ((1 << 22) - len(head) - 7 - shift)
        data = f'{head}{long}","1",{quotes}\nb,3,{quotes}\na,1,{quotes}\n'
        found = QUERY.accuracy(file(tmp_path, data.encode(), {}), SURE)
        assert told(found)["n"] == [1, 1]


def test_keys_of_text(tmp_path: Path) -> None:
    """Cells are compared as they are written, for numbers, truth values and dates alike."""
    path = file(
        tmp_path, b"n,b,d,v\n7,True,2024-01-02,5\n07,FALSE,2024-01-2,1\n 7,no,x,1\n,,,1\n", {}
    )
    for by, key in (("n", 7), ("n", "7"), ("b", True), ("d", "2024-01-02")):
        assert told(fx.Query(by, [key]).release(path, SURE))["m"] == [5]
    day = pa.scalar("2024-01-02").cast(pa.date32()).as_py()
    assert told(fx.Query("d", [day]).release(path, SURE))["m"] == [5]
    assert told(fx.Query("b", [False]).release(path, SURE))["m"] == [1]
    for key in (7, enum.Enum("Number", {"SEVEN": 7}, type=int)(7)):
        votes = fx.MostCommon(1000.0, [8, key])
        assert told(fx.Query().sample(path, {"c": (votes, "n")}, rng=1))["c"] == [1]
    truth = enum.Enum("Truth", {"YES": "True"}, type=str)("True")  # whose own text is another
    assert told(fx.Query("b", [truth]).accuracy(path, SURE))["n"] == [1]
    for wrong in (
        pa.scalar(1).cast(pa.timestamp("s")).as_py(),
        pa.scalar(1).cast(pa.duration("s")).as_py(),
    ):
        with pytest.raises(fx.errors.ParameterTypeError, match="as they are written"):
            fx.Query("d", [wrong]).release(path, SURE)
    lines = "".join(f"{person},5\n" for person in ["P1", "p1", "P1 ", "NA", '"P1"', "", '""'] * 3)
    persons = file(tmp_path, f"p,v\n{lines}".encode(), {})
    coins = fx.MostCommon(1000.0, ["a", "b"])
    counted = fx.Query("p", ["P1", "p1", "P1 ", "NA"], "p").sample(
        persons, {"c": (coins, "p")}, rng=1
    )
    assert len(told(counted)["c"]) == 4


@pytest.mark.parametrize("mark", ["99", "-inf", "2024-01-02"])
def test_a_marker_may_look_like_a_value(tmp_path: Path, mark: str) -> None:
    """Also if all cells could be read as numbers or times."""
    is_time, days = "-0" in mark, (dt.date(2024, 1, 1), dt.date(2024, 1, 9))
    median = fx.Median(1000.0, days) if is_time else SURE["m"][0]
    rows = ("2024-01-03\n" if is_time else "7\n") * 9 + f"{mark}\n" * 20
    cells = fx.CSV(file(tmp_path, f"v\n{rows}".encode(), {}), missing=mark)
    found = told(fx.Query().accuracy(cells, {"m": (median, "v")}, nan="drop"))
    assert found["n"] == [9]


def test_numbers_by_person_are_those_of_frames(tmp_path: Path) -> None:
    """A person is the same, and so are the rows that count, if ids are text."""
    rows = "".join(f"{i % 40},{i}\n" for i in range(200))
    path = file(tmp_path, f"p,v\n{rows}".encode(), {})
    frame = {"p": [i % 40 for i in range(200)], "v": list(range(200))}
    asked = {"m": (fx.Median(0.1, (0, 200), step=1), "v")}
    query = fx.Query(person="p", max_rows=2)
    for seed in range(20):
        assert told(query.sample(path, asked, rng=seed)) == told(
            query.sample(frame, asked, rng=seed)
        )


def test_one_column(tmp_path: Path) -> None:
    """Each of its lines is a row, also a blank one."""
    for data in (
        b"v\n5\n\n9\n5\n",
        b"v\r\n5\r\n\r\n9\r\n5",
        b"v\r5\r\r9\r5\r",
        b'v\n"5"\n\n9\n5\n\n',
    ):
        path = file(tmp_path, data, {})
        assert told(fx.Query().release(path, SURE, nan="drop"))["m"] == [5]
        with pytest.raises(fx.errors.InvalidRecords, match="must not be missing"):
            fx.Query().release(path, SURE)
    for ending in (b"", b"\n"):
        assert len(told(fx.Query().release(file(tmp_path, b"v" + ending, {}), SURE))["m"]) == 1


def test_paths(tmp_path: Path) -> None:
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text(f"k,v\na,{name[0]}\nb,3\n")
    every, one = tmp_path / "*.csv", tmp_path / "1.csv"
    for path in (every, str(every), [one, tmp_path / "2.csv"]):
        assert told(fx.Query("v", [1, 2, 3]).release(path, SURE))["m"] == [1, 2, 3]
    assert fx.Query("k", one.parent / "1.csv").groups == ("a", "b")
    for wrong in (
        "nowhere.csv",
        tmp_path,
        tmp_path / "*.tsv",
        "rows.txt",
        [one, "x.parquet"],
        [f"{tmp_path}/./1.csv", str(every)],
        b"1.csv",
        "\ud800.csv",
    ):
        with pytest.raises(
            (fx.errors.ParameterError, fx.errors.ParameterTypeError), match="must be"
        ):
            QUERY.release(wrong, SURE)
    for options in (
        {"delimiter": ";;"},
        {"decimal": ","},
        {"encoding": "latin7000"},
        {"missing": [1]},
    ):
        with pytest.raises(
            (fx.errors.ParameterError, fx.errors.ParameterTypeError), match=next(iter(options))
        ):
            fx.CSV(one, **options)


def test_a_path_is_that_of_a_readable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file(tmp_path, READ["plain"][0], {})
    with pytest.raises(fx.errors.ParameterError, match="and not of a directory"):
        QUERY.release(tmp_path, SURE)
    monkeypatch.setattr("os.access", lambda *_: False)  # as of another user's file
    with pytest.raises(fx.errors.ParameterError, match="that you have permission to read"):
        QUERY.release(path, SURE)


def test_labels_do_not_open_files(tmp_path: Path) -> None:
    path, budget = file(tmp_path, READ["plain"][0], {}), fx.Budget(2000.0)
    asked = {"budget": budget, "label": "one"}
    first = QUERY.release(path, SURE, **asked)
    path.unlink()
    assert told(QUERY.release(path, SURE, **asked)) == told(first)
    with pytest.raises(fx.errors.LabelError, match="another question"):
        QUERY.release(tmp_path / "other.csv", SURE, **asked)
    assert budget.spent == 1000.0


def test_typed_files(tmp_path: Path) -> None:
    """Files agree in the columns that are read; those of other columns do not matter."""
    kinds = {"a": pa.int32(), "b": pa.int64(), "c": pa.string(), "none": pa.null()}
    for name, kind in kinds.items():
        values = pa.array([None, None] if name == "none" else [1, 1]).cast(kind)
        columns = {"k": ["a", "b"], "v": pa.array([1, 3], pa.int16()), "x": values}
        pa.parquet.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    every = tmp_path / "*.parquet"
    assert told(QUERY.release(every, SURE))["m"] == [1, 3]
    parts = [str(tmp_path / f"{name}.parquet") for name in "ac"]
    for frame in (every, pa.dataset.dataset(parts)):  # which Arrow would cast in silence
        with pytest.raises(
            fx.errors.ParameterError, match="one column 'x', of one type, got int32 and"
        ):
            fx.Query("x", [1]).release(frame, SURE)
    rest = pa.dataset.dataset(parts).filter(pa.dataset.field("v") > 1)
    assert told(fx.Query("k", ["b"]).release(rest, SURE))["m"] == [3]
    table = pa.table(columns)
    with pa.ipc.new_file(tmp_path / "parts.arrow", table.schema) as sink:
        sink.write_table(table, max_chunksize=1)
    reader = pa.ipc.open_file(tmp_path / "parts.arrow")  # which nobody can iterate over
    for _ in range(2):
        assert told(QUERY.release(reader, SURE))["m"] == [1, 3]
    some = [tmp_path / "b.parquet", tmp_path / "none.parquet"]
    for paths in (some, some[::-1]):
        assert told(fx.Query("x", [1, 2]).release(paths, SURE))["x"] == [1, 2]
    pa.parquet.write_table(pa.table({"k": ["a"]}), tmp_path / "short.parquet")
    with pytest.raises(fx.errors.ParameterError, match="'v'"):
        QUERY.release([some[0], tmp_path / "short.parquet"], SURE)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(fx.errors.ParameterError, match="be open and readable"):
        QUERY.release(tmp_path / "bad.parquet", SURE)
    budget = fx.Budget(epsilon=99)
    with pytest.raises(fx.errors.ParameterError, match="be open and readable"):
        QUERY.release([some[0], tmp_path / "bad.parquet"], SURE, budget=budget)
    assert budget.spent == 0
    instants = pa.array([1704164645123456789, 0], pa.timestamp("ns"))
    table = pa.table({"t": instants, "v": [5, 1]})
    pa.parquet.write_table(table, tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
    query = fx.Query("t", table.select(["t"]).slice(0, 1))
    for frame in (table, tmp_path / "t.parquet"):
        assert told(query.release(frame, SURE))["m"] == [5]
