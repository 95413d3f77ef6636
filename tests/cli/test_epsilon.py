"""Does `fastexp epsilon` print what `epsilon_for` says, and refuse what it must?"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from tests.support.command_line import Run
from tests.support.each import each

pytestmark = [pytest.mark.engines, pytest.mark.fast]
GRID = ["--bounds", "0", "120", "--step", "1"]
TARGET = ["--error", "2", "--probability", "0.95"]
FEW = ["--n", "300", "--datasets", "12", "--seed", "3"]


@pytest.fixture
def ages(tmp_path: Path) -> Path:
    path = tmp_path / "ages.csv"
    ages = np.random.default_rng(5).integers(15, 95, 300)
    path.write_text("age\n" + "".join(f"{age}\n" for age in ages))
    return path


def facts(run: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = run("epsilon", *arguments, "--json")
    assert (code, err) == (0, "")
    facts: dict[str, Any] = json.loads(out)
    assert (facts.pop("kind"), facts.pop("private")) == ("epsilon", False)
    return facts


def test_it_is_as_in_python(run: Run, ages: Path) -> None:
    median = fx.Median(1.0, (0, 120), step=1)
    enough = fx.epsilon_for(
        median, like=ages, column="age", n=300, datasets=12, rng=3, error=2, probability=0.95
    )
    words = ["median", *TARGET, "--like", ages, "--column", "age", *FEW, *GRID]
    assert run("epsilon", *words) == (0, f"{enough}\n", "")
    assert facts(run, *words) == {
        "mechanism": repr(median),
        "target": "error <= 2 with probability 0.95",
        "data": "age",
        "n": 300,
        "datasets": 12,
        "epsilon": {"median": enough.median, "95": enough.quantile(0.95), "worst": enough.worst},
    }


def test_of_generators_and_other_mechanisms(run: Run) -> None:
    like = ["--like", "normal:mean=40:sd=9", *FEW, *GRID]
    data = {"name": "normal", "mean": 40, "sd": 9}
    quantile = fx.Quantile(0.9, 1.0, (0, 120), step=1, widen=2)
    wanted = fx.epsilon_for(quantile, like=data, n=300, datasets=12, rng=3, expected_error=1.6)
    words = ["quantile:q=0.9", "--widen", "2", "--expected-error", "1.6"]
    assert facts(run, *words, *like)["epsilon"]["worst"] == wanted.worst
    flip = fx.PermuteAndFlip(1.0, sensitivity=2, monotonic=True)
    wanted = fx.epsilon_for(flip, like="votes", n=6, datasets=4, loss=9, probability=0.9)
    words = ["permute-and-flip", "--sensitivity", "2", "--monotonic", "--loss", "9"]
    rest = ["--probability", "0.9", "--like", "votes", "--n", "6", "--datasets", "4"]
    assert facts(run, *words, *rest)["epsilon"]["median"] == wanted.median


def test_where_none_is_enough_there_is_no_number(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "halves.csv"
    path.write_text("x\n1\n1.5\n")
    words = ["maximum", "--expected-error", "0.25", "--like", path, "--column", "x"]
    epsilon = facts(run, *words, "--n", "1", "--datasets", "30", *GRID)["epsilon"]
    assert epsilon["worst"] is None
    code, out, err = run("epsilon", *words[:2], "0.1", *words[3:], "--n", "30", *GRID)
    assert (code, out) == (2, "")
    assert "no epsilon up to 1e+06 reaches the expected_error" in err


@each(
    ("words", "message"),
    [
        (["medain"], "there is no mechanism 'medain': did you mean 'median'?"),
        (["median:stpe=1"], "NAME: median has no parameter 'stpe'"),
        (["quantile"], "NAME: quantile needs q, as quantile:q=..."),
        (["median", "--like", "agse"], "error: --like must be one of 'normal'"),
        (["median", "--like", "a.csv"], "--column is needed: the column of --like that holds"),
        (["median", "--like", "a.csv", "--column", "x"], "error: --like must be a path that can"),
        (["median", "--like", "bad.csv", "--column", "y"], "error: --like has no column 'y'"),
        (
            ["median", "--like", "bad.csv", "--column", "x"],
            "(missing: an empty cell, NA, null or nan)",
        ),
        (
            ["quantile:q=0.1,0.2"],
            "NAME: quantile has one q; for several there is quantiles:q=0.1,0.2",
        ),
        (["quantiles:q=0.1,x"], "NAME: q must be a decimal or a fraction"),
        (["median", "--like", "normal:mena=3"], "unknown parameters mena"),
        (["median", "--like", "votes"], "like must be data that Median takes"),
        (["median", "--loss", "2"], "exactly one of error"),
    ],
)
def test_what_is_wrong_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.csv").write_text("x\none\n")
    like = [] if "--like" in words else ["--like", "normal"]
    code, out, err = run("epsilon", *words, *like, *TARGET, *FEW, *GRID)
    assert (code, out) == (2, "")
    assert message in err


def test_without_bounds_its_own_option_is_named(run: Run) -> None:
    err = run("epsilon", "mode", "--like", "normal", *TARGET, *FEW).err
    assert err.endswith("if you know none, give --digits 3\n")


@each(("q", "numbers"), [("0.25,1/2,0.75", [0.25, 0.5, 0.75]), ("0.5", [0.5])])
def test_a_list_of_quantiles_can_be_written(run: Run, q: str, numbers: list[float]) -> None:
    like = ["--like", "normal:mean=40:sd=9", *FEW, *GRID, "--expected-error", "3"]
    asked = facts(run, f"quantiles:q={q}", *like)
    assert asked["mechanism"] == repr(fx.Quantiles(numbers, 1.0, (0, 120), step=1))
    fraction = facts(run, "quantile:q=1/3", *like)["mechanism"]
    assert fraction == repr(fx.Quantile(Fraction(1, 3), 1.0, (0, 120), step=1))


def test_help_explains_inf_and_never(run: Run) -> None:
    out = " ".join(run("epsilon", "--help-all").out.split())
    assert '"inf" means that no epsilon up to 1e6 is enough for that share of the data sets' in out
    assert '"never" counts those without one' in out


def test_data_and_their_size_must_be_said(run: Run) -> None:
    for words in ["--n", "9"], ["--like", "normal"]:
        code, _, err = run("epsilon", "median", *TARGET, *GRID, *words)
        assert (code, "is needed" in err) == (2, True)
