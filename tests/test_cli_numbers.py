"""Do `fastexp median`, `quantile` and `price` answer as the mechanisms do, and keep data secret?"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp.cli.options import values
from tests.command_line import Run

MARKER = "SECRET-7341"
AGES = [20] * 300 + [37] * 500 + [90] * 200
BIDS = [1, 1, 1, 3.01]
CERTAIN = ["--epsilon", "50"]  # the median is 37 but for one draw of e**5000


@pytest.fixture
def ages(tmp_path: Path) -> list[object]:
    path = tmp_path / "ages.csv"
    path.write_text("name,age\n" + "".join(f"{MARKER},{age}\n" for age in AGES))
    return [path, "--column", "age", "--bounds", "0", "120", "--step", "1"]


@pytest.fixture
def bids(tmp_path: Path) -> list[object]:
    path = tmp_path / "bids.csv"
    path.write_text("bid\n" + "".join(f"{bid}\n" for bid in BIDS))
    return ["price", path, "--column", "bid", "--bounds", "0", "3.5", "--step", "0.01"]


def found(run: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    parsed: dict[str, Any] = json.loads(out)
    return parsed


# ---- releases ----


def test_numbers_count_at_the_nearest_point(run: Run, tmp_path: Path) -> None:
    """49.5 at 50 on a grid of 25s, of a file and of groups; as a bid, at 25."""
    path = tmp_path / "numbers.csv"
    path.write_text("x,g\n" + "49,a\n49.5,a\n50.1,b\n" * 100)
    grid = [*CERTAIN, "--bounds", 0, 100, "--grid", "0,25,50,75,100"]
    assert run("median", path, "--column", "x", *grid)[1] == "50\n"
    groups = run("median", path, "--column", "x", "--by", "g", "--groups", "a,b", *grid)[1]
    assert groups.split() == ["g", "x", "a", "50", "b", "50"]
    prices = [*CERTAIN, "--bounds", 0, 50, "--grid", "0,25,50"]
    low = tmp_path / "bids.csv"
    low.write_text("x\n" + "49.5\n" * 100)
    assert run("price", low, "--column", "x", *prices)[1] == "25\n"


def test_a_release_is_all_of_stdout(run: Run, ages) -> None:
    code, out, err = run("median", *ages, *CERTAIN)
    assert (code, out) == (0, "37\n")
    assert err == "promises 50-differential privacy: one record joins or leaves\n"
    assert run("median", *ages, *CERTAIN, "--quiet") == (0, "37\n", "")


def test_a_release_as_json(run: Run, ages, bids) -> None:
    ranked = {"epsilon": 50.0, "bounds": [0, 120], "step": 1, "points": 121, "nan": "raise"}
    ranked |= {"neighbors": "add-remove", "convention": "weak", "widen": 0, "column": "age"}
    facts = found(run, "median", *ages, *CERTAIN)
    assert (facts["kind"], facts["private"]) == ("release", True)
    assert facts["rows"] == [{"age": 37}]
    assert facts["answers"] == {"age": {"mechanism": "median", **ranked}}
    assert facts["promised"]["epsilon"] == 50.0
    facts = found(run, "quantile", *ages, *CERTAIN, "--q", "0.9")
    assert facts["rows"] == [{"age": 90}]
    assert facts["answers"] == {"age": {"mechanism": "quantile", "q": 0.9, **ranked}}
    facts = found(run, *bids, "--epsilon", "1e6")
    assert facts["rows"] == [{"bid": 1.0}]
    assert facts["answers"]["bid"] == {
        "mechanism": "price", "epsilon": 1e6, "bounds": [0, 3.5], "step": 0.01, "points": 351,
        "scaling": "tight", "neighbors": "both", "column": "bid", "nan": "raise",
    }  # fmt: skip


def test_the_textbook_promises_half(run: Run, bids) -> None:
    code, _, err = run(*bids, "--epsilon", "5", "--scaling", "textbook")
    assert code == 0
    assert err.startswith("promises 2.5-differential privacy: one record joins, leaves or changes")
    law = fx.Price(5.0, (0, 3.5), step=0.01, scaling="textbook").law(BIDS)
    shown = found(run, *bids, "--epsilon", "5", "--scaling", "textbook", "--law")
    assert shown["mean"] == law.mean()


GRIDS = [
    (["--bounds", "0", "120"], "from 0 to 120 in 2^40 equal steps"),
    (["--bounds", "0", "1", "--step", "0.5"], "0, 0.5, 1"),
    (["--bounds", "-0.5", "1e3", "--step", "0.25"], "-0.5, -0.25, ..., 1000 (4,003 points)"),
    (["--grid", "0,10,50,120"], "0, 10, 50, 120"),
    (["--grid", "1,2,3,4.5,5"], "1, 2, ..., 5 (5 points)"),
]


@pytest.mark.parametrize(("options", "text"), GRIDS)
def test_the_grid_is_told_with_a_law(run: Run, ages, options: list[str], text: str) -> None:
    out = run("median", *ages[:3], *CERTAIN, *options, "--law").out
    assert out.splitlines()[1].endswith(f", on the grid {text}")


# ---- numbers in arguments are what is written ----

WRITTEN: list[tuple[list[str], dict[str, Any]]] = [
    (["--bounds", "-10", "10", "--step", "1"], {"bounds": (-10, 10), "step": 1}),
    (["--bounds", "-1e1", "1e+1", "--step", ".5"], {"bounds": (-10.0, 10.0), "step": 0.5}),
    (["--bounds", "-10.", "-1.5", "--step", "0.1"], {"bounds": (-10.0, -1.5), "step": 0.1}),
    (["--bounds", "0", "0.3", "--step", "0.1"], {"bounds": (0, 0.3), "step": 0.1}),
    (["--grid", "-3,-2.5,7"], {"bounds": (-3, 7), "grid": [-3.0, -2.5, 7.0]}),
    (["--grid", "1, 2,30", "--bounds", "0", "99"], {"bounds": (0, 99), "grid": [1, 2, 30]}),
]


@pytest.mark.parametrize(("options", "public"), WRITTEN)
def test_arguments_are_read_exactly(run: Run, ages, options: list[str], public) -> None:
    law = fx.Median(0.01, **public).law(AGES)
    shown = found(run, "median", *ages[:3], "--epsilon", "0.01", *options, "--law")
    assert [row["value"] for row in shown["rows"]] == law.points.tolist()
    assert [type(row["value"]) for row in shown["rows"]] == [type(x) for x in law.points.tolist()]
    assert [row["probability"] for row in shown["rows"]] == law.probabilities.tolist()


def test_decimals_beyond_float64_stay_exact() -> None:
    low, high = (values.exact(text) for text in ("0.1", "0.10000000000000000000001"))
    assert (type(low), low) == (float, 0.1)
    assert Fraction(high) == Fraction(10**22 + 1, 10**23)
    assert values.quantile("1/3") == Fraction(1, 3)
    assert values.quantile("0.9") == 0.9
    assert values.written("1" * 500) is None


@pytest.mark.parametrize("q", ["1/3", "0.9", "0.50", "1e-3"])
def test_quantiles_are_fractions_or_decimals(run: Run, ages, q: str) -> None:
    exact: Any = Fraction(q)
    law = fx.Quantile(exact, 0.01, (0, 120), step=1, neighbors="replace").law(AGES)
    how = ["--q", q, "--epsilon", "0.01", "--neighbors", "replace", "--law"]
    shown = found(run, "quantile", *ages, *how)
    assert [row["probability"] for row in shown["rows"]] == law.probabilities.tolist()
    assert shown["truth"] == sorted(AGES)[max(1, math.ceil(exact * 1000)) - 1]


def test_grids_from_files(run: Run, ages, tmp_path: Path) -> None:
    points = [0, 10, 37, 120]
    (tmp_path / "g.txt").write_text("0\n10 37,\n120\n")
    np.save(tmp_path / "g.npy", np.array(points))
    for given in ("0,10,37,120", tmp_path / "g.txt", tmp_path / "g.npy"):
        facts = found(run, "median", *ages[:3], *CERTAIN, "--grid", given)
        assert facts["rows"] == [{"age": 37}]
        assert (facts["answers"]["age"]["grid"], facts["answers"]["age"]["step"]) == (points, None)


def test_conventions_and_widening(run: Run, ages) -> None:
    for how in ({"convention": "upper"}, {"convention": "strict"}, {"widen": 2}):
        law = fx.Median(0.01, (0, 120), step=1, **how).law(AGES)
        options = [f"--{name}={value}" for name, value in how.items()]
        shown = found(run, "median", *ages, "--epsilon", "0.01", *options, "--law")
        assert [row["probability"] for row in shown["rows"]] == law.probabilities.tolist()
        assert how.items() <= shown.items()


# ---- budgets ----


def test_releases_are_charged(run: Run, ages, bids, tmp_path: Path) -> None:
    file = tmp_path / "b.budget"
    run("budget", file, "--epsilon", "51")
    code, out, err = run("median", *ages, *CERTAIN, "--budget", file)
    assert (code, out) == (0, "37\n")
    assert err.endswith("\ncharged 50.0; 1.0 of 51.0 epsilon remains\n")
    assert run("median", *ages, *CERTAIN, "--budget", file)[:2] == (3, "")
    assert run(*bids, "--epsilon", "1", "--scaling", "textbook", "--budget", file, "-q")[2] == ""
    assert fx.Budget.file(file).remaining == 0.5


def test_which_failures_are_charged(run: Run, ages, tmp_path: Path) -> None:
    file, gaps = tmp_path / "b.budget", tmp_path / "gaps.csv"
    run("budget", file, "--epsilon", "10")
    gaps.write_text("age,n\n,1\n3,1\n")
    how = ["--column", "age", "--bounds", "0", "9", "--epsilon", "1", "--budget", file]
    code, out, err = run("median", gaps, *how)
    assert (code, out) == (2, "")
    assert "charged nevertheless" in err
    assert fx.Budget.file(file).spent == 1.0
    for number, rows in enumerate(("x,1", "3,1,1", '"3,1', "3\xff,1")):  # any of them is one row
        gaps.write_bytes(b"age,n\n3,1\n" + rows.encode("latin-1") + b"\n3,1\n")
        code, out, err = run("median", gaps, *how)
        assert (code, out) == (2, "")
        assert "charged nevertheless" in err
        assert fx.Budget.file(file).spent == 2.0 + number
    gaps.write_bytes(b"")
    assert run("median", gaps, *how)[0] == 2  # nor can one row empty the file: not charged
    assert run("median", gaps, *how[2:], "--column", "no")[0] == 2
    assert run("median", ages[0], *how, "--step", "2")[0] == 2  # nor is a bad parameter
    assert run("median", ages[0], *how, "--law")[0] == 2
    assert fx.Budget.file(file).spent == 5.0
    missing = [*how[:-1], tmp_path / "none"]
    assert "there is no budget file" in run("median", ages[0], *missing)[2]


# ---- mistakes ----

GIVEN = ["FILE", "--column", "age", "--epsilon", "1", "--bounds", "0", "120"]
MISTAKES: list[tuple[list[str], str]] = [
    (["median", "FILE", "--column", "age", "--bounds", "0", "9"], "--total-epsilon is required"),
    (["median", "FILE", "--column", "age", "--epsilon", "1"], "--bounds is needed"),
    (["median", "FILE", "--epsilon", "1", "--bounds", "0", "9"], "--column is needed"),
    (["median", *GIVEN[:-1]], "must be two numbers, as 0 120 or 0,120, got '0'"),
    (["median", *GIVEN[:-1], "nan"], "must be two numbers, as 0 120 or 0,120, got '0,nan'"),
    (["median", *GIVEN[:-1], "1_0"], "must be two numbers"),
    (["median", *GIVEN[:-1], "-1"], "bounds must be finite with lower < upper"),
    (["median", *GIVEN, "--step", "7"], "step must divide the bounds"),
    (["median", *GIVEN, "--step", "0"], "step must be > 0"),
    (["median", *GIVEN, "--step", "1", "--grid", "1,2"], "not allowed with argument"),
    (["median", *GIVEN, "--grid", "1"], "at least two finite numbers in increasing order"),
    (["median", *GIVEN, "--grid", "2,1"], "in increasing order"),
    (["median", *GIVEN, "--grid", "none.txt"], "cannot read 'none.txt'"),
    (
        ["median", *GIVEN, "--grid", "FILE"],
        "must be numbers separated by commas, or a file of numbers",
    ),
    (["median", *GIVEN, "--q", "0.5"], "unknown option '--q'"),
    (["median", *GIVEN, "--epsilon", "0"], "epsilon must be finite and > 0"),
    (["median", *GIVEN, "--epsilon", "1e-12"], "add --any-epsilon"),
    (["median", *GIVEN, "--widen", "-1"], "widen must be finite and >= 0"),
    (["median", *GIVEN, "--convention", "middle"], "invalid choice"),
    (["median", *GIVEN, "--nan", "mean"], "invalid choice"),
    (["median", *GIVEN, "--nan", "drop", "--neighbors", "replace"], "under which nobody can"),
    (["median", *GIVEN, "--seed", "1"], "--seed belongs to --draws"),
    (["median", *GIVEN, "--plot", "a.png"], "--plot belongs to --law or --draws"),
    (["median", *GIVEN, "--law", "--plot", "a.doc"], ".png, .svg, .pdf"),
    (["median", *GIVEN, "--law", "--draws", "3"], "not allowed with argument"),
    (["median", *GIVEN, "--law", "--budget", "b"], "--budget is for releases"),
    (["median", *GIVEN, "--column", "old"], "must be in FILE, once: it has 'name', 'age'"),
    (["median", *GIVEN, "--delimiter", ";"], "is another delimiter between its columns?"),
    (["median", "a.npy", *GIVEN[1:]], "--column does not go with .npy"),
    (["quantile", *GIVEN], "required: --q"),
    (["quantile", *GIVEN, "--q", "1"], "q must be"),
    (["quantile", *GIVEN, "--q", "1/0"], "must be a decimal or a fraction"),
    (["quantile", *GIVEN, "--q", "half"], "must be a decimal or a fraction"),
    (["quantile", *GIVEN, "--q", "0.9", "--convention", "strict"], "invalid choice"),
    (["price", *GIVEN, "--neighbors", "replace"], "unknown option '--neighbors'"),
    (["price", *GIVEN[:-2], "-1", "9"], "must not hold prices below 0"),
    (["price", *GIVEN, "--scaling", "loose"], "invalid choice"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(run: Run, ages, arguments: list[str], message: str) -> None:
    code, out, err = run(*(ages[0] if a == "FILE" else a for a in arguments))
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert MARKER not in err


def test_missing_bounds_are_explained(run: Run, ages) -> None:
    err = run("median", *ages[:3], "--epsilon", "1")[2]
    for part in ("why:", "whatever", "do:", "--bounds 0 120 --step 1", "--grid"):
        assert part in err


@pytest.mark.parametrize("which", ["median", "quantile", "price"])
def test_help_has_examples_and_keys(run: Run, which: str) -> None:
    code, out, _ = run(which, "--help-all")
    assert code == 0
    assert f"  fastexp {which} " in out
    for part in ("choose them without looking at FILE", "keys of --json", "--nan", "probability"):
        assert part in out
    assert ("--neighbors" in out) == ("--convention" in out) == (which != "price")
