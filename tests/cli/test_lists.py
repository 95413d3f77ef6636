"""Are public lists read as they are meant, or refused with what to do, before FILE's rows are?"""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from tests.doors.cli import InputFile, UserMistake, list_entries, public_lists
from tests.messages import raises, says
from tests.support.each import each

pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
MARKER = "SECRET-7341"
DATA = InputFile("a.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with FILE, where the list's paths begin."""
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(f"city,x\nOslo,1\n{MARKER},2\n")
    return tmp_path


def groups(text: str, by: str = "city", source: InputFile = DATA) -> Any:
    return public_lists.groups(text, by.split(","), source)


def refusal(text: str, by: str = "city", source: InputFile = DATA) -> str:
    with pytest.raises(UserMistake) as caught:
        groups(text, by, source)
    assert MARKER not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return str(caught.value)


def parquet(file: str, **columns: Any) -> InputFile:
    pq.write_table(pa.table(columns), file)
    return InputFile(file)


# ---- on the command line ----

TYPED: dict[str, list[Any]] = {
    "Rome,Oslo": ["Rome", "Oslo"],
    "Rome, Oslo": ["Rome", "Oslo"],
    '"a, b",c': ["a, b", "c"],
    "Rome,": ["Rome"],
    '"Bern, old",': ["Bern, old"],
    "13,7": [13, 7],
    "-1,0": [-1, 0],
    "13,Oslo": ["13", "Oslo"],
    "09,Rome": ["09", "Rome"],
    "10001,01001": ["10001", "01001"],  # codes of one width
    "13,10001": [13, 10001],
    "9223372036854775807,-9223372036854775808": [2**63 - 1, -(2**63)],
    "true,false": ["true", "false"],
}


@each("text", TYPED)
def test_names_that_are_typed(text: str) -> None:
    assert repr(groups(text)) == repr(TYPED[text])
    assert repr(public_lists.candidates(text, "city", DATA)) == repr(tuple(TYPED[text]))


@each("odd", ["13.0", "09", "+9", "1e3", "-0", "nan", "9223372036854775808"])
def test_other_numbers_among_integers_are_refused(odd: str) -> None:
    message = refusal(f"13,abc,{odd},8,7.0")
    assert f"entry 3 of the command line ({odd!r}) is a number, but is not written like" in message
    assert "write it without decimals" in message


EMPTY = "--groups has an empty entry (a comma too many?)"
NO_LISTS = {
    "Rome": "--groups: there is no file 'Rome'; give a file with one a line",
    "a\0b": "there is no file",
    "x" * 5000: "there is no file",
    "": "there is no file",
    "Rome,Oslo,": EMPTY,
    "Rome,,": EMPTY,
    ",": EMPTY,
    ",Rome": EMPTY,
    " ,Rome": EMPTY,
    'Rome,"Oslo': "--groups must be one line of CSV",
    "Rome,Oslo,Rome": "entry 3 of the command line ('Rome') is a duplicate of entry 1",
    "none.csv": "none.csv': No such file",
    "none.csv:city": "none.csv': No such file",
}


@each("text", NO_LISTS)
def test_what_is_no_list(text: str) -> None:
    assert NO_LISTS[text] in refusal(text)
    with pytest.raises(UserMistake) as caught:
        public_lists.candidates(text, "city", DATA)
    assert NO_LISTS[text].replace("--groups", "--candidates") in str(caught.value)


def test_a_list_may_be_longer_than_a_path() -> None:
    assert groups(",".join(f"c{i}" for i in range(5000)))[4999] == "c4999"


# ---- one a line ----


@each("end", ["", "\n", "\n\n", "\r\n\r\n \r\n", "\n\t\n"])
def test_blank_lines_at_the_end_are_none(end: str) -> None:
    Path("g.txt").write_bytes(f"\ufeffRome\nOslo, too{end}".encode())
    assert groups("g.txt") == ["Rome", "Oslo, too"]


LINES: dict[bytes, str] = {
    b"": "has no entries",
    b"\n\n": "has no entries",
    b"a\n\nb\n": "line 2 of 'g.txt' is blank",
    b"a\nb\na\n": "line 3 of 'g.txt' ('a') is a duplicate of line 1",
    b"a\n b\n": "line 2 of 'g.txt' (' b') has blanks at an end",
    b"city\nOslo\n": "is it a header? Rename the file to .csv and write FILE:COLUMN",
    b"a\0b\n": "'g.txt' is not UTF-8 text",
    "é\n".encode("latin-1"): "'g.txt' is not UTF-8 text",
}


@each("content", LINES)
def test_lines_that_are_no_list(content: bytes) -> None:
    Path("g.txt").write_bytes(content)
    assert LINES[content] in refusal("g.txt")


def test_a_file_is_not_read_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_entries, "MAX_FILE_BYTES", 3)
    monkeypatch.setattr(list_entries.content, "__defaults__", (3,))
    Path("g.txt").write_text("a\nb\nc\n")
    assert "must have at most" in refusal("g.txt")
    os.mkfifo("fifo")
    for path in ("/dev/zero", "fifo", "."):
        assert "there is no file" in refusal(path)
    Path("zero.csv").symlink_to("/dev/zero")
    Path("loop.csv").symlink_to("loop.csv")
    os.mkfifo("fifo.csv")
    for path in ("zero.csv", "fifo.csv"):
        assert "not a regular file" in refusal(path)
    assert "can be read, got" in refusal("loop.csv")


# ---- tables ----


@pytest.mark.slow
@each("suffix", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_a_column_of_a_table(suffix: str) -> None:
    file = f"t{suffix}"
    rows = {"city": ["Rome", " Bern, old "], "zip": ["00100", "13"], "n": [7, -1]}
    if suffix == ".parquet":
        parquet(file, **rows)
    elif suffix == ".jsonl":
        lines = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        Path(file).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    else:
        mark = "\t" if suffix == ".tsv" else ","
        text = mark.join(rows) + f'\nRome{mark}00100{mark}7\n" Bern, old "{mark}13{mark}-1\n'
        Path(file).write_text(text)
    assert groups(file) == groups(f"{file}:city") == rows["city"]
    assert groups(f"{file}:n") == groups(file, "n") == rows["n"]
    assert public_lists.candidates(f"{file}:n", "x", DATA) == (7, -1)
    assert groups(file, "city,n") == [("Rome", 7), (" Bern, old ", -1)]
    if suffix in (".parquet", ".jsonl"):  # what is text stays that
        assert groups(f"{file}:zip") == rows["zip"]
    else:
        assert "row 1 of 'zip' of" in refusal(f"{file}:zip")
    assert f"must have one column 'town' (one of another name: {file}:COLUMN)" in refusal(
        file, "town"
    )


def test_a_table_with_another_delimiter_is_as_that_of_file() -> None:
    Path("t.csv").write_text("city;n\nRome;7\n")
    assert groups("t.csv", "city,n", InputFile("a.csv", ";")) == [("Rome", 7)]


@each("header", ["city;n", "city\tn", "city|n", '"city,n"'])
def test_a_table_with_another_delimiter_than_file_is_refused(header: str) -> None:
    Path("t.csv").write_text(f"{header}\nRome\n")
    for text in ("t.csv", "t.csv:city"):
        message = refusal(text)
        assert "(is another delimiter between its columns? see --delimiter)" in message
        assert "n'" not in message
    if "," not in header:
        assert groups("t.csv", header) == ["Rome"]  # the name of the column of FILE


TABLES = {
    f"city\nOslo\n{MARKER}\n{MARKER}\n": "row 3 of 'city' of 't.csv' is a duplicate of row 2",
    "city\n13\n7341.0\n": "row 2 of 'city' of 't.csv' is a number, but is not written like",
    f'city,n\n"{MARKER}": 1\n': "must be UTF-8 text in rows as long as the header",
    "city,n\nOslo,1\n,2\n": "row 2 of 'city' of 't.csv' is blank",
    "city,n\n": "has no entries",
    "": "the list must be a file with a header row",
    "city,city\n1,2\n": "must have one column 'city'",
}


@each("content", TABLES)
def test_a_table_may_be_a_copy_of_the_data_and_is_not_shown(content: str) -> None:
    Path("t.csv").write_text(content)
    message = refusal("t.csv:city")
    assert TABLES[content] in message
    assert "7341" not in message


def test_missing_names_of_typed_tables_are_refused() -> None:
    parquet("t.parquet", city=["a", None])
    assert "--groups: must not hold missing names" in refusal("t.parquet")
    parquet("t.parquet", city=[1.5, 2.0])
    assert "decimals and mixtures are refused, got floats" in refusal("t.parquet")


# ---- several columns ----


def test_every_combination() -> None:
    listed = groups('year=2023,2024; city="a, b",c=d,e', "city,year")
    assert (
        fx.Query(["city", "year"], listed).groups
        == fx.Query(
            ["city", "year"], fx.product(city=["a, b", "c=d", "e"], year=[2023, 2024])
        ).groups
    )
    assert "--groups must have a list of each of the columns city, year, once" in refusal(
        "city=a,b;city=c", "city,year"
    )
    assert EMPTY in refusal("city=a,b;year=1,", "city,year")
    assert "year= has no entries" in refusal("city=a,b;year=", "city,year")
    assert "is a duplicate of" in refusal("city=a,a;year=1,2", "city,year")
    for text in ("a,b", "g.txt", "Rome", "city=a;b"):
        assert "--groups of several columns must be a table" in refusal(text, "city,year")


# ---- FILE is not a list ----


@pytest.mark.parametrize("kind", ["csv", "parquet", "folder"])
def test_the_data_are_no_public_list(kind: str) -> None:
    Path("d").mkdir()
    table = pa.table({"city": ["Oslo", MARKER, MARKER], "x": [1, 2, 3]})
    if kind == "parquet":
        pq.write_table(table, "d/d.parquet")
    else:
        Path("d/d.csv").write_text(f"city,x\nOslo,1\n{MARKER},2\n")
    file = next(Path("d").iterdir())
    source = InputFile("d" if kind == "folder" else str(file))
    Path(f"link{file.suffix}").symlink_to(file)
    os.link(file, f"hard{file.suffix}")
    for path in (str(file), f"./{file}", f"link{file.suffix}", f"hard{file.suffix}"):
        for form in ("{}", "{}:city", "{}:nowhere"):
            message = refusal(form.format(path), source=source)
            assert "is FILE itself, whose values are private" in message
            assert "--groups from-data (with its warning)" in message
    assert groups("from-data", source=source) == "from-data"


# ---- as the column of FILE is ----


@pytest.mark.slow
def test_names_are_what_the_column_of_parquet_holds() -> None:
    day, noon = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30)
    source = parquet("d.parquet", zip=["13"], n=[13], own=[True], day=[day], at=[noon], x=[0.5])
    assert groups("13,14", "zip", source) == ["13", "14"]
    assert groups("13,14.0", "zip", source) == ["13", "14.0"]
    assert groups("13,14", "n", source) == [13, 14]
    assert groups("True,false", "own", source) == [True, False]
    assert groups("2024-02-29,", "day", source) == [day]
    assert groups("2024-02-29 12:30,", "at", source) == [noon]
    assert groups("13,14", "x", source) == [13, 14]  # refused with the column, as all floats
    assert groups("13,14", "none", source) == [13, 14]
    assert groups("n=13,14;zip=1,2", "zip,n", source).names == ("zip", "n")
    for text, by in (("13,14.0", "n"), ("yes,no", "own"), ("2024-02-30,", "day"), ("1,", "at")):
        assert f"--groups: column {by!r} holds" in refusal(text, by, source)
    Path("t.csv").write_text(f"n\n13\n{MARKER}\n")
    message = refusal("t.csv", "n", source)
    assert "column 'n' holds integers, but row 2 of 'n' of 't.csv' is none" in message
    assert public_lists.candidates("2024-02-29,", "day", source) == ("2024-02-29",)  # no candidates


def test_kinds_that_differ_are_refused_before_the_charge() -> None:
    source, budget = parquet("d.parquet", zip=["13"], x=[1]), fx.Budget(1.0)
    answers = {"m": (fx.Median(1.0, bounds=(0, 9)), "x")}
    parquet("t.parquet", zip=[13, 14])
    query = fx.Query("zip", groups("t.parquet", "zip", source))
    with raises("column of the groups' kind", reading="integers"):
        query.release(source.path, answers, budget=budget)
    assert budget.spent == 0


def test_files_that_are_not_there_leave_it_to_the_list() -> None:
    for file in ("none.parquet", "-", "none.npy"):
        assert groups("13,14", "n", InputFile(file)) == [13, 14]


# ---- candidates ----


def test_candidates_from_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("d.csv").write_text("c,n\nb,2\na,10\n,\nb,\n")
    assert public_lists.candidates("from-data", "c", InputFile("d.csv")) == ("a", "b")
    assert public_lists.candidates("from-data", "n", InputFile("d.csv")) == (2, 10)
    np.save("d.npy", np.array([3, 1, 3]))
    assert public_lists.candidates("from-data", "value", InputFile("d.npy")) == (1, 3)
    Path("d.csv").write_text("c,n\n,1\n")
    with pytest.raises(UserMistake, match=says("candidates of an empty column, got 'c'")):
        public_lists.candidates("from-data", "c", InputFile("d.csv"))
    with pytest.raises(UserMistake, match=says("candidates from stdin")):
        public_lists.candidates("from-data", "c", InputFile("-"))


# ---- grids ----


def test_points_are_numbers_or_a_file_of_them() -> None:
    assert repr(public_lists.points("0,10,1e2,2.50,-1")) == "[0, 10, 100, 2.5, -1]"
    Path("g.txt").write_text("0 10,20\n 1e2\n")
    assert public_lists.points("g.txt") == [0, 10, 20, 100]
    np.save("g.npy", np.array([0.5, 2]))
    assert public_lists.points("g.npy") == [0.5, 2.0]
    np.save("bad.npy", np.array(["a"]))
    Path("bad.txt").write_text("0 ten\n")
    Path("empty.txt").touch()
    for text in ("0,ten", "ten", "", "bad.txt", "empty.txt", "bad.npy", "none.npy", "/dev/zero"):
        with pytest.raises(UserMistake, match=says("--grid: fault of an option")):
            public_lists.points(text)
