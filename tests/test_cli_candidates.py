"""Is `--candidates` a list as it is meant, in a file too, and never the name of the file?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import fastexp as fx
from fastexp.cli import main

pytestmark = pytest.mark.engines
Run = Callable[..., tuple[int, str, str]]
STATUS = ["single", "married", "widowed, or so"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        return (code, *capsys.readouterr())

    return call


@pytest.fixture
def ask(tmp_path: Path) -> list[object]:
    """A release that hardly ever errs, charged to a budget."""
    frame = pl.DataFrame({"status": STATUS[1:2] * 500, "rooms": [3] * 500, "own": [True] * 500})
    frame.write_csv(tmp_path / "people.csv")
    frame.write_parquet(tmp_path / "people.parquet")
    fx.Budget.file(tmp_path / "b", epsilon=90.0)
    more = ["--epsilon", "40", "--budget", tmp_path / "b", "--candidates"]
    return ["select", tmp_path / "people.csv", "--column", "status", *more]


def charges(ask: list[object]) -> int:
    return fx.Budget.file(str(ask[7])).charges


def test_a_file_with_one_a_line(run: Run, ask: list[object], tmp_path: Path) -> None:
    path = tmp_path / "status.txt"
    path.write_text("".join(f"{x}\r\n" for x in STATUS))
    assert run(*ask, path)[:2] == (0, "married\n")
    code, out, _ = run(*ask[:6], *ask[8:], path, "--law", "--json")
    assert code == 0
    assert [row["candidate"] for row in json.loads(out)["rows"]] == ["married", *STATUS[::2]]


def test_a_column_of_a_file(run: Run, ask: list[object], tmp_path: Path) -> None:
    pl.DataFrame({"s": STATUS}).write_csv(tmp_path / "list.csv")
    assert run(*ask, f"{tmp_path}/list.csv:s")[:2] == (0, "married\n")
    pl.DataFrame({"s": STATUS}).write_parquet(tmp_path / "list.parquet")
    assert run(*ask, f"{tmp_path}/list.parquet:s")[:2] == (0, "married\n")


@pytest.mark.parametrize("data", ["people.csv", "people.parquet"])
def test_values_of_parquet_are_as_the_column_is(
    run: Run, ask: list[object], tmp_path: Path, data: str
) -> None:
    pl.DataFrame({"n": [2, 3], "b": [False, True], "t": ["x", "3"]}).write_parquet(
        tmp_path / "list.parquet"
    )
    how = ["--epsilon", "40", "--candidates"]
    for column, listed, wanted in (("rooms", "n", "3"), ("rooms", "t", None), ("own", "b", None)):
        asked = ["select", tmp_path / data, "--column", column, *how]
        code, out, err = run(*asked, f"{tmp_path}/list.parquet:{listed}")
        if wanted is not None:
            assert (code, out) == (0, f"{wanted}\n")
        elif data.endswith("csv") and listed == "t":
            assert (code, out) == (0, "3\n")
        elif listed == "b" and data.endswith("parquet"):
            assert (code, out) == (0, "True\n")
        else:
            assert (code, out) == (2, "")
            assert "is none" in err


ONE_OR_NONE = [
    ("status.txt", "--candidates: there is no file 'status.txt'"),
    ("married", "--candidates: there is no file 'married'"),
    ("married,", "candidates must be at least two"),
    ("{folder}/one.txt", "candidates must be at least two"),
    ("{folder}/twice.txt", "line 3 of '{folder}/twice.txt' names 'a' again"),
    ("{folder}/gap.txt", "line 1 of '{folder}/gap.txt' is blank"),
    ("{folder}/head.txt", "is line 1 a header?"),
    ("{folder}/people.csv", "is FILE, and the candidates of the data are private"),
    ("{folder}/people.csv:status", "is FILE, and the candidates of the data are private"),
    ("{folder}/people.parquet", "which column? Write it as FILE:COLUMN"),
    ("{folder}/none.csv:x", "cannot read"),
    ("a\0b", "there is no file"),
]


@pytest.mark.parametrize(("listed", "message"), ONE_OR_NONE)
def test_what_is_no_list_is_refused_and_costs_nothing(
    run: Run, ask: list[object], tmp_path: Path, listed: str, message: str
) -> None:
    (tmp_path / "one.txt").write_text("married\n")
    (tmp_path / "twice.txt").write_text("a\nb\na\n")
    (tmp_path / "gap.txt").write_text("\nb\na\n")
    (tmp_path / "head.txt").write_text("status\nb\na\n")
    for by in ([], ["--by", "rooms", "--groups", "3,4"]):
        code, out, err = run(*ask, listed.format(folder=tmp_path), *by)
        assert (code, out) == (2, "")
        assert message.format(folder=tmp_path) in err
    assert charges(ask) == 0


@pytest.mark.parametrize("by", [False, True])
def test_a_list_may_be_longer_than_a_path(run: Run, ask: list[object], by: bool) -> None:
    listed = ",".join(["married", *(f"candidate {i}" for i in range(500))])
    more = ["--by", "rooms", "--groups", ",".join(map(str, range(3, 2000)))] if by else []
    code, out, err = run(*ask, listed, *more, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["rows"][0]["selected"] if by else found["selected"]) == "married"


def test_by_group_it_is_the_same_list(run: Run, ask: list[object], tmp_path: Path) -> None:
    path = tmp_path / "status.txt"
    path.write_text("".join(f"{x}\n" for x in STATUS))
    code, out, _ = run(*ask, path, "--by", "rooms", "--groups", "3,", "--json")
    assert (code, json.loads(out)["rows"]) == (0, [{"group": 3, "selected": "married"}])
    assert json.loads(out)["candidates"] == STATUS
