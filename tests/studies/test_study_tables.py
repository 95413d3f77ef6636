"""Do the tables that readers see have the right numbers, in any width?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fastexp as fx
from tests.doors.parameters import readable
from tests.doors.studies import pivots
from tests.messages import raises

CAUCHY = {"name": "smooth-sensitivity-median", "noise": "cauchy"}


@pytest.fixture(scope="module")
def rivals() -> fx.StudyResults:
    return fx.Study(
        name="rivals",
        mechanisms=["median", {**CAUCHY, "label": "Cauchy noise"}, CAUCHY, "maximum"],
        epsilon=[0.5, 1.0, 4.0],
        n=[100, 1000],
        bounds=(-10, 10),
        figures=["error", "error_quantile"],
        datasets=4,
        draws=5,
    ).run(workers=1)


def row(**values: Any) -> dict[str, Any]:
    known = {"data": "normal", "n": 100, "mechanism": "median", "epsilon": 1.0, "level": None}
    numbers = {"figure": "error", "exact": 1.0, "monte_carlo": 1.1, "low": 0.8, "high": 1.3}
    promise = {"promised_epsilon": 1.0, "delta": 0.0, "rho": 0.1, "neighbors": "replace"}
    return {**known, **numbers, **promise, "agree": None, **values}


def test_every_number_is_in_its_cell(rivals: fx.StudyResults) -> None:
    for figure in ("error", "error_quantile"):
        table = rivals.table(figure)
        lines = {tuple(line[: table.keys]): line for line in table.rows}
        rows = [r for r in rivals.rows if r["figure"] == figure]
        names = list(dict.fromkeys(r["mechanism"] for r in rows))
        assert [*table.columns[table.keys :]] == names
        assert len(lines) * len(names) == len(rows)
        for r in rows:
            place = tuple(readable(r[column]) for column in table.columns[: table.keys])
            value = lines[place][table.keys + names.index(r["mechanism"])]
            assert value == readable(r["exact"], 3)
    assert rivals.table() == rivals.table("error")
    assert rivals.table().columns[:2] == ["n", "epsilon"]
    assert rivals.table().title == "Expected error (units of the records): normal"


@pytest.mark.parametrize("width", [30, 60, 80, 200])
def test_words_are_whole_and_what_is_left_out_is_named(rivals: fx.StudyResults, width: int) -> None:
    table = rivals.table()
    text = table.text(width)
    words = set(text.replace(",", " ").replace(";", " ").replace(".", " ").split())
    for name in ("median", "smooth-sensitivity-median", "maximum"):
        assert name in words
    _, _, names = " ".join(text.split()).partition(f"Left out, as a line has {width} columns: ")
    dropped = names.removesuffix(".").split(", ") if names else []
    count = len(table.columns) - len(dropped)
    assert dropped == table.columns[count:]
    assert count == {30: 3, 60: 5, 80: 6, 200: 6}[width]
    lines = {" ".join(line.split()) for line in text.splitlines()}
    assert {" ".join(row[:count]) for row in table.rows} <= lines
    if width >= 60:
        assert max(map(len, text.splitlines())) <= width


def test_print_is_as_wide_as_the_terminal(
    rivals: fx.StudyResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "47")
    assert str(rivals.table()) == repr(rivals.table()) == rivals.table().text(47)


def test_all_is_printed_where_there_is_no_terminal(
    rivals: fx.StudyResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    with Path(os.devnull).open() as file:
        monkeypatch.setattr(sys, "__stdout__", file)
        text = str(rivals.table())
    assert text == rivals.table().text(1000)
    assert "Left out" not in text
    assert "smooth-sensitivity-median noise=cauchy  maximum" in text


def test_figures_that_were_not_drawn_have_no_table() -> None:
    assert pivots([row(exact=None, monte_carlo=None)], {}) == []


def test_marks_and_notes_say_where_numbers_are_from() -> None:
    rows = [row(agree=False), row(epsilon=2.0, exact=None), row(mechanism="b", delta=0.01)]
    (table,) = pivots(rows, {})
    assert [list(line) for line in table.rows] == [["1", "1 !", "1"], ["2", "~1.1", ""]]
    assert table.note == (
        "~: by draws, as there is no exact figure. !: exact figures and draws disagree. Guarantees "
        "differ: neighbors replace (median), neighbors replace, delta = 0.01 (b)."
    )
    nothing = row(mechanism="c", promised_epsilon=None, delta=None, rho=None, neighbors=None)
    (table,) = pivots([row(), nothing], {})
    assert table.note == "Guarantees differ: neighbors replace (median), not stated (c)."
    only = row(mechanism="d", promised_epsilon=None)
    (table,) = pivots([row(), only], {})
    assert table.note.endswith("neighbors replace (median), neighbors replace, rho only (d).")
    (table,) = pivots([row(exact=None)], {})
    assert (table.rows, table.note) == (
        [["1", "1.1"]],
        "Means of draws: there are no exact figures.",
    )


def test_one_mechanism_has_epsilon_across_and_two_units_are_one_table() -> None:
    (table,) = pivots([row(epsilon=e, n=n) for n in (5, 50) for e in (1.0, 2.0)], {})
    assert table.columns == ["n", "epsilon = 1", "epsilon = 2"]
    assert table.title.endswith("median, normal")
    mixed = [row(), row(data="scores", mechanism="flips", exact=0.1)]
    (table,) = pivots(mixed, {"flips": "utilities"})
    assert table.title.startswith("Expected error (units of the records); wrong selections (prob")
    assert table.rows == [["normal", "1", ""], ["scores", "", "0.1"]]


@pytest.mark.engines
def test_tables_of_libraries_have_the_rows(rivals: fx.StudyResults) -> None:
    assert rivals.to_arrow().to_pylist() == rivals.rows
    assert rivals.to_polars().to_dicts() == rivals.rows
    assert pl.from_arrow(rivals.to_arrow()).equals(rivals.to_polars())
    assert list(rivals.to_pandas().columns) == list(rivals.columns)


def test_notebooks_see_what_there_is(rivals: fx.StudyResults) -> None:
    assert "72 rows" in rivals._repr_html_()
    assert rivals.rows[0]["mechanism"] in rivals.table()._repr_html_()
    assert rivals.table().note in rivals.table()._repr_html_()


def test_an_unfinished_folder_tells_what_there_is(tmp_path: Path) -> None:
    study = fx.Study(
        name="u", mechanisms=["median"], epsilon=1.0, bounds=(-1, 1), datasets=6, draws=0, block=2
    )
    whole = study.run(out=tmp_path / "out", workers=1)
    tasks = tmp_path / "out" / "tasks.jsonl"
    lines = tasks.read_bytes().splitlines(keepends=True)
    assert (whole.finished, whole.to_dict()["tasks"], len(lines)) == (3, 3, 3)
    tasks.write_bytes(lines[0])
    part = fx.StudyResults.open(tmp_path / "out")
    assert repr(part) == "<StudyResults of 'u': 1 row, 1 of 3 tasks>"
    assert (part.to_dict()["finished"], part.rows[0]["datasets"]) == (1, 2)
    tasks.write_bytes(b"")
    with raises("study without figures"):
        fx.StudyResults.open(tmp_path / "out").table()
    with raises("figure: one of several words, got 'loss'"):
        whole.table("loss")
