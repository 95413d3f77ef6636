"""Does ``fastexp quantiles`` say what `Quantiles` gives, on a line each or in a column each?"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import fastexp as fx
from tests.messages import raises
from tests.support.each import each

RECORDS = [1, 2, 3, 3, 4, 5, 5, 7, 8, 8, 9, 11]  # whose quartiles are inside equal ones
GRID = ["--bounds", "0", "12", "--step", "1"]
SURE = [*GRID, "--epsilon", "1000"]


@pytest.fixture
def ages(tmp_path: Path) -> str:
    rows = [f"{x},{town}" for town in "ab" for x in RECORDS]
    (tmp_path / "ages.csv").write_text("\n".join(["age,town", *rows]) + "\n")
    return str(tmp_path / "ages.csv")


def test_a_line_each(run: Any, ages: str) -> None:
    for which in (["--q", "0.25,1/2,.75"], ["--count", "3"], ["--q", "0.25", "0.5", "0.75"]):
        code, out, _ = run("quantiles", ages, "--column", "age", *SURE, *which)
        lines = [line.split() for line in out.splitlines()]
        named = [["age_0.25", "3"], ["age_0.5", "5"], ["age_0.75", "8"]]
        assert (code, lines) == (0, [["answer", "value"], *named])


def test_a_total_and_groups_and_a_file(run: Any, ages: str, tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    by = ["--by", "town", "--groups", "b,a,c", "--output", str(file)]
    code, _, _ = run(
        *("quantiles", ages, "--column", "age", *SURE, "--q", "0.25,0.75", "--with-total", *by)
    )
    with file.open(newline="") as opened:
        rows = list(csv.reader(opened))
    assert code == 0
    assert rows[0] == ["town", "age_0.25", "age_0.75", "age_total"]
    assert rows[1:3] == [["b", "3", "8", "12"], ["a", "3", "8", "12"]]
    assert (rows[3][0], rows[3][-1]) == ("c", "0")


@pytest.mark.parametrize("count", ["0", "101"])
def test_the_limits_of_the_number_are_those_of_a_draw(run: Any, ages: str, count: str) -> None:
    code, _, err = run("quantiles", ages, "--column", "age", *SURE, "--count", count)
    assert code == 2
    assert f"--count must be an integer between 1 and 100, got '{count}'" in err
    with raises("between two numbers", least="1", most="100"):
        fx.Quantiles(count=int(count), epsilon=1.0, bounds=(0, 12))


def test_as_json(run: Any, ages: str) -> None:
    arguments = ["--column", "age", *SURE, "--count", "3", "--with-total", "--json"]
    facts = json.loads(run("quantiles", ages, *arguments).out)
    row = {"age_0.25": 3, "age_0.5": 5, "age_0.75": 8, "age_total": 24}
    assert facts["rows"] == [row]
    asked = facts["answers"]["age"]
    assert (asked["mechanism"], asked["q"]) == ("quantiles", [0.25, 0.5, 0.75])


@pytest.mark.parametrize("by", [[], ["--by", "town", "--groups", "a,"]])
def test_what_is_not_private_has_a_row_each(run: Any, ages: str, by: list[str]) -> None:
    arguments = ["--column", "age", *GRID, "--epsilon", "1", "--q", "0.25,0.75", *by]
    mechanism = fx.Quantiles([0.25, 0.75], 1.0, (0, 12), step=1)
    law = mechanism.law(RECORDS if by else RECORDS * 2)
    facts = json.loads(run("quantiles", ages, *arguments, "--law", "--json").out)
    names = [group["group"]["quantile"] for group in facts["groups"]]
    assert names == ["0.25", "0.75"]
    errors = [group["expected_error"] for group in facts["groups"]]
    assert errors == pytest.approx(law.expected_error(), rel=1e-12)
    assert "expected_loss" not in facts["groups"][0]
    rows = json.loads(run("quantiles", ages, *arguments, "--accuracy", "--json").out)["rows"]
    assert [row["answer"] for row in rows] == ["age_0.25", "age_0.75"]
    assert [row["expected"] for row in rows] == pytest.approx(errors, rel=1e-12)
    draws = ["--draws", "200", "--seed", "1", "--with-total", "--json"]
    facts = json.loads(run("quantiles", ages, *arguments, *draws).out)
    assert [group["group"]["quantile"] for group in facts["groups"]] == names
    assert [len(group["rows"]) for group in facts["groups"]] == [13, 13]
    means = [group["observed"]["mean"] for group in facts["groups"]]
    assert means == pytest.approx([law.marginal(j).mean() for j in range(2)], abs=0.6)


@each(
    ("arguments", "message"),
    [
        ([], "--q or --count is needed"),
        (["--q", "0.5,0.25"], "q must be increasing, got 0.25 after 0.5"),
        (["--q", "half"], "must be a decimal or a fraction"),
        (["--q", "0.5", "--count", "3"], "--count"),
        (
            ["--count", "2", "--with-total", "--neighbors", "replace", "--nan", "lower"],
            "with_total",
        ),
    ],
)
def test_refusals(run: Any, ages: str, arguments: list[str], message: str) -> None:
    code, out, err = run("quantiles", ages, "--column", "age", *SURE, *arguments)
    assert (code, out) == (2, "")
    assert message.replace("_", "-") in err.replace("_", "-")
