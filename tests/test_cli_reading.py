"""The command line reads the files that people have, and refuses others unseen."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from fastexp.cli import main, reading
from fastexp.cli.errors import Failure, UserMistake
from fastexp.cli.files import opened
from fastexp.cli.public_list import CANDIDATES, split

MARKER = "SECRET-7341"


def records(path: Path, content: bytes, delimiter: str = ",") -> list[str]:
    path.write_bytes(content)
    return reading.records(str(path), "c", delimiter).values


GOOD: list[tuple[bytes, str, list[str]]] = [
    (b"c,d\n1,2\n", ",", ["1"]),
    (b"\xef\xbb\xbfc,d\n1,2\n", ",", ["1"]),  # byte order mark
    (b'\xef\xbb\xbf"c",d\n1,2\n', ",", ["1"]),
    (b"d, c\n2, x\n2,  y\n", ",", ["x", "y"]),  # spaces after commas
    (b"d,c\n2,x \n", ",", ["x "]),  # other spaces are the value's
    (b'c,d\n"a, b",2\n"say ""hi""",2\n', ",", ["a, b", 'say "hi"']),
    (b'c,d\n"two\nlines",2\n', ",", ["two\nlines"]),
    (b"c,d\r\n1,2\r\n\r\n3,4", ",", ["1", "3"]),  # Windows, a blank line, no last newline
    (b"c\td\nx y\t2\n", "\t", ["x y"]),
    (b"c;d\n1,5;2\n", ";", ["1,5"]),
    (b"c d\n1 2\n", " ", ["1"]),
    (b"c,d\n,2\n", ",", [""]),
    ("c,d\nÄ日,2\n".encode(), ",", ["Ä日"]),
    (b"c,d\n", ",", []),
]


@pytest.mark.parametrize(("content", "delimiter", "wanted"), GOOD)
def test_csv_as_it_comes(tmp_path: Path, content: bytes, delimiter: str, wanted: list[str]) -> None:
    assert records(tmp_path / "f.csv", content, delimiter) == wanted


BAD: list[tuple[bytes, str]] = [
    (b"", "is empty: it needs a header row"),
    (b"\n\n", "is empty: it needs a header row"),
    (f"c,d\n{MARKER}\n".encode(), "do not all have as many fields"),
    (f"c,d\n{MARKER},1,2\n".encode(), "do not all have as many fields"),
    (f'c,d\n"{MARKER},1\n'.encode(), "is not valid CSV"),
    (f'c,d\n"{MARKER}"x,1\n'.encode(), "is not valid CSV"),
    (b"c,d\n" + MARKER.encode() * 20_000 + b",1\n", "is not valid CSV"),  # beyond csv's limit
    (f"c,d\n{MARKER} \xe9,1\n".encode("latin-1"), "is not UTF-8 text"),
    (f"c,d\n{MARKER},1\n".encode("utf-16"), "is not UTF-8 text"),
    (f"x,y\n{MARKER},1\n".encode(), "has no column 'c'; it has 'x', 'y'"),
    (f"c,c\n{MARKER},1\n".encode(), "more than one column 'c'"),
    (f"{MARKER},39\n{MARKER},1\n".encode(), "does not look like a header"),  # a record is first
    (f"{MARKER},\n".encode(), "does not look like a header"),
    (f"{MARKER},{MARKER}\n".encode(), "does not look like a header"),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_bad_csv_is_refused_without_showing_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, message: str
) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(content)
    code = main(["select", str(path), "--column", "c", "--candidates", "a,b", "--epsilon", "1"])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert message in err
    assert MARKER not in err
    assert "Traceback" not in err


def test_errors_hold_no_data_in_their_context(tmp_path: Path) -> None:
    with pytest.raises(UserMistake) as caught:
        records(tmp_path / "f.csv", f"c,d\n{MARKER} \xe9,1\n".encode("latin-1"))
    assert caught.value.__context__ is None


PAIRS_BAD: list[tuple[bytes, str]] = [
    (b"", "is empty"),
    (b"candidate,utility\n", "has a header but no candidates"),
    (f"a,b,c\n{MARKER},1,2\n".encode(), "must have two columns"),
    (f"{MARKER},7341\nb,2\n".encode(), "must be a header, such as candidate,utility"),
    (f"c,u\na,{MARKER}\n".encode(), "must hold numbers only"),
    (b"c,u\na,\n", "must hold numbers only"),
    (b"c,u\na,7_341\n", "must hold numbers only"),
    (b'c,u\na,"7,341"\n', "must hold numbers only"),
    (b"c,u\na,7341\nb,nan\n", "the utilities must be finite"),
    (b"c,u\na,7341\nb,inf\n", "the utilities must be finite"),
    (b"c,u\na,1e999\nb,7341\n", "the utilities must be finite"),
    (b"c,u\na,73419223372036854775808\n", "must fit into 64 bits"),
    (b"c,u\na," + b"7341" * 2000 + b"\nb,1\n", "the utilities must be finite"),
    (f"c,u\n{MARKER},7341\n{MARKER},2\n".encode(), "candidates must be distinct"),
]


@pytest.mark.parametrize(("content", "message"), PAIRS_BAD)
def test_bad_pairs_are_refused_without_showing_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, message: str
) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(content)
    code = main(["select", str(path), "--utilities", "--sensitivity", "1", "--epsilon", "1"])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert message in err
    assert "7341" not in err.replace(str(path), "")


def test_utilities_are_integers_only_if_all_are(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("c,u\na,1\nb, -2\nd,+3\n")
    assert reading.pairs(str(path)) == (("a", "b", "d"), [1, -2, 3])
    assert all(type(u) is int for u in reading.pairs(str(path)).utilities)
    path.write_text("c,u\na,1\nb,2.5\n")
    assert all(type(u) is float for u in reading.pairs(str(path)).utilities)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("a,b", ("a", "b")), ("a, b", ("a", "b")), ('"a, b",c', ("a, b", "c")), ("0,1", ("0", "1"))],
)
def test_candidates_are_a_line_of_csv(text: str, wanted: tuple[str, ...]) -> None:
    assert tuple(split(text, CANDIDATES)) == wanted


@pytest.mark.parametrize(
    ("name", "message"),
    [("missing.csv", "No such file"), ("", "Is a directory"), ("nul\0.csv", "not a path")],
)
def test_what_is_no_file(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(UserMistake, match=message):
        reading.records(f"{tmp_path}/{name}", "c")


def test_a_failing_disk_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(Failure, match="Input/output error"), opened(str(tmp_path / "f")):
        raise OSError(5, "Input/output error")


def test_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["select", "-", "--column", "c", "--candidates", "a,b", "--epsilon", "50"]
    content = b"\xef\xbb\xbfc\n" + b"a\n" * 500
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert main(arguments) == 0
    assert capsys.readouterr().out == "a\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert main(arguments) == 2
    assert "stdin is empty" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", None)
    assert main(arguments) == 2
    assert "there is no stdin" in capsys.readouterr().err


# ---- Parquet ----


@pytest.fixture(params=["polars", "pyarrow"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "pyarrow":
        pytest.importorskip("pyarrow.parquet")
        monkeypatch.setitem(sys.modules, "polars", None)
    return str(request.param)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import polars as pl

    path = tmp_path_factory.mktemp("parquet") / "f.parquet"
    frame = pl.DataFrame(
        {
            "text": ["a", "b", "b", None],
            "whole": [1, 2, 2, None],
            "real": [1.0, 2.5, 2.5, None],
            "flag": [True, False, False, None],
            "day": ["2024-01-01", "2024-01-02", "2024-01-02", None],
        }
    )
    frame.with_columns(pl.col("day").str.to_date()).write_parquet(path)
    return path


@pytest.mark.engines
@pytest.mark.parametrize(
    ("column", "candidates"),
    [
        ("text", "a,b"),
        ("whole", "1,2"),
        ("real", "1,2.5"),
        ("flag", "true,false"),
        ("day", "2024-01-01,2024-01-02"),
    ],
)
def test_parquet_columns_take_candidates_as_text(
    parquet: Path,
    backend: str,
    capsys: pytest.CaptureFixture[str],
    column: str,
    candidates: str,
) -> None:
    more = ["--epsilon", "1", "--law", "--json"]
    code = main(["select", str(parquet), "--column", column, "--candidates", candidates, *more])
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert code == 0
    assert [row["candidate"] for row in rows] == candidates.split(",")[::-1]
    assert rows[0]["probability"] == pytest.approx(0.7310585786300049)  # counts 2 and 1


@pytest.mark.engines
def test_candidates_from_a_parquet_column(
    parquet: Path, backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--candidates", "from-data", "--epsilon", "1", "--law", "--json"]
    assert main(["select", str(parquet), "--column", "real", *more]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["candidate"] for row in rows] == ["2.5", "1.0"]


@pytest.mark.engines
@pytest.mark.parametrize(
    ("column", "candidates", "message"),
    [
        ("whole", "a,2", "the column holds numbers, but the candidate 'a' is none"),
        ("flag", "yes,no", "the column holds booleans"),
        ("none", "a,b", "has no column 'none'; it has 'text', 'whole'"),
    ],
)
def test_parquet_mistakes(
    parquet: Path,
    backend: str,
    capsys: pytest.CaptureFixture[str],
    column: str,
    candidates: str,
    message: str,
) -> None:
    arguments = ["select", str(parquet), "--column", column, "--epsilon", "1"]
    assert main([*arguments, "--candidates", candidates]) == 2
    assert message in capsys.readouterr().err


def test_what_is_no_parquet(tmp_path: Path, backend: str) -> None:
    path = tmp_path / "f.parquet"
    path.write_text(MARKER * 100)
    with pytest.raises(UserMistake, match="cannot be read as Parquet") as caught:
        reading.records(str(path), "c")
    assert MARKER not in str(caught.value)
    with pytest.raises(UserMistake, match="reads CSV only"):
        reading.pairs(str(path))


@pytest.mark.engines
def test_parquet_needs_a_reader(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(Failure, match=r"pip install polars \(or pyarrow\)"):
        reading.records(str(parquet), "text")


def test_column_without_values_gives_no_candidates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.csv"
    path.write_text("c,d\n,1\n")
    arguments = ["select", str(path), "--column", "c", "--candidates", "from-data"]
    assert main([*arguments, "--epsilon", "1"]) == 2
    assert "holds no values to take candidates from" in capsys.readouterr().err
