"""Do `fastexp median`, `quantile` and `price` answer as the mechanisms do, and keep data secret?"""

from __future__ import annotations

import io
import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fastexp as fx
from tests.doors.parameters import grid_text
from tests.support.command_line import Run
from tests.support.each import each

pytestmark = [pytest.mark.engines, pytest.mark.fast]
MARKER = "SECRET-7341"
AGES = [20] * 300 + [37] * 500 + [90] * 200
BIDS = [1, 1, 1, 3.01]
CERTAIN = ["--epsilon", "50"]  # the median is 37 except for one draw of e**5000


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


def shown(run: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    parsed: dict[str, Any] = json.loads(out)
    return parsed


def probabilities(run: Run, *arguments: object) -> list[float]:
    return [row["probability"] for row in shown(run, *arguments, "--law")["rows"]]


# ---- releases ----


def test_a_release_is_all_of_stdout(run: Run, ages) -> None:
    promise = "promises 50-differential privacy: one record joins or leaves\n"
    assert run("median", *ages, *CERTAIN) == (0, "37\n", promise)
    assert run("median", *ages, *CERTAIN, "--quiet") == (0, "37\n", "")


def test_points_beyond_the_bounds_are_told_in_options(run: Run, ages) -> None:
    code, _, err = run("median", *ages[:3], *CERTAIN, "--bounds", 0, 5, "--digits", "3")
    assert code == 2
    assert "--grid or --digits must lie within --bounds" in err


def test_a_fine_grid_between_integers_is_told(run: Run, ages) -> None:
    bounded, hint = ages[:-2], "answers lie on 2^40 points between the bounds"
    for more in ([], ["--law"]):
        assert run("median", *bounded, *CERTAIN, *more).err.startswith(hint)
        assert hint not in run("median", *bounded, *CERTAIN, *more, "--quiet").err
    for more in (["--step", "1"], ["--grid", "0,9"]):
        assert hint not in run("median", *bounded, *CERTAIN, *more).err
    assert hint not in run("median", *bounded[:-2], "0", "120.5", *CERTAIN).err


def test_the_promise_follows_all_checks(run: Run, ages) -> None:
    """What is refused promises nothing."""
    for file, column in (("none.csv", "age"), (ages[0], "none")):
        given = ["median", file, "--column", column, *ages[3:], *CERTAIN]
        code, out, err = run(*given)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "promises" not in err


def test_numbers_count_at_the_nearest_point(run: Run, tmp_path: Path) -> None:
    """49.5 at 50 on a grid of 25s, of a file and of groups; as a bid, at 25."""
    path = tmp_path / "numbers.csv"
    path.write_text("x,g\n" + "49,a\n49.5,a\n50.1,b\n" * 100)
    grid = [*CERTAIN, "--bounds", 0, 100, "--grid", "0,25,50,75,100"]
    assert run("median", path, "--column", "x", *grid).out == "50\n"
    groups = run("median", path, "--column", "x", "--by", "g", "--groups", "a,b", *grid).out
    assert groups.split() == ["g", "x", "a", "50", "b", "50"]
    path.write_text("x\n" + "49.5\n" * 100)
    prices = [*CERTAIN, "--bounds", 0, 50, "--grid", "0,25,50"]
    assert run("price", path, "--column", "x", *prices).out == "25\n"


def test_parameters_are_in_json(run: Run, ages, bids) -> None:
    ranked = {"bounds": [0, 120], "step": 1, "points": 121, "nan": "raise", "epsilon": 50.0}
    ranked |= {"neighbors": "add-remove", "convention": "weak", "widen": 0, "column": "age"}
    ranked |= {"with_total": False}
    answer = shown(run, "median", *ages, *CERTAIN)
    assert answer["answers"] == {"age": {"mechanism": "median", **ranked}}
    assert answer["rows"] == [{"age": 37}]
    upper = shown(run, "quantile", *ages, *CERTAIN, "--q", "0.9")
    assert upper["answers"] == {"age": {"mechanism": "quantile", "q": 0.9, **ranked}}
    assert upper["rows"] == [{"age": 90}]
    price = shown(run, *bids, "--epsilon", "1e6")
    assert price["answers"] == {
        "bid": {
            "mechanism": "price",
            "epsilon": 1e6,
            "bounds": [0, 3.5],
            "step": 0.01,
            "scaling": "tight",
            "neighbors": "both",
            "points": 351,
            "column": "bid",
            "nan": "raise",
        }
    }
    assert price["rows"] == [{"bid": 1.0}]
    assert shown(run, "median", *ages[:3], *CERTAIN, "--grid", "0,37,50")["answers"]["age"][
        "grid"
    ] == [0, 37, 50]


@pytest.mark.parametrize(("which", "answer"), [("maximum", 90), ("mode", 37)])
def test_other_answers(run: Run, ages, which: str, answer: int) -> None:
    assert run(which, *ages, *CERTAIN).out == f"{answer}\n"


def test_the_textbook_promises_half(run: Run, bids) -> None:
    textbook = [*bids, "--epsilon", "5", "--scaling", "textbook"]
    said = "promises 2.5-differential privacy: one record joins, leaves or changes\n"
    assert run(*textbook).err == said
    law = fx.Price(5.0, (0, 3.5), step=0.01, scaling="textbook").law(BIDS)
    assert probabilities(run, *textbook) == law.probabilities.tolist()


GRIDS = [
    ({"bounds": (0, 120)}, "from 0 to 120 in 2^40 equal steps"),
    ({"bounds": (0, 1), "step": 0.5}, "0, 0.5, 1"),
    ({"bounds": (-0.5, 1e3), "step": 0.25}, "-0.5, -0.25, ..., 1000 (4,003 points)"),
    ({"bounds": (0, 120), "grid": [0, 10, 50, 120]}, "0, 10, 50, 120"),
    ({"bounds": (1, 5), "grid": [1, 2, 3, 4.5, 5]}, "1, 2, ..., 5 (5 points)"),
]


@each(("public", "text"), GRIDS)
def test_grids_in_words(public: dict[str, Any], text: str) -> None:
    assert grid_text(fx.Median(1.0, **public)) == text


# ---- numbers in arguments are what is written ----

WRITTEN: list[tuple[list[str], dict[str, Any]]] = [
    (["--bounds", "-10", "10", "--step", "1"], {"bounds": (-10, 10), "step": 1}),
    (["--bounds", "-1e1", "1e+1", "--step", ".5"], {"bounds": (-10, 10), "step": 0.5}),
    (["--bounds", "-10.,-1.5", "--step", "0.1"], {"bounds": (-10.0, -1.5), "step": 0.1}),
    (["--bounds", "0", "0.3", "--step", "0.1"], {"bounds": (0, 0.3), "step": 0.1}),
    (["--grid", "-3,-2.5,7"], {"bounds": (-3, 7), "grid": [-3.0, -2.5, 7.0]}),
    (["--grid", "1, 2,30", "--bounds", "0", "99"], {"bounds": (0, 99), "grid": [1, 2, 30]}),
    (["--digits", "1"], {"grid": fx.digits(1)}),
]


@each(("options", "public"), WRITTEN)
def test_arguments_are_read_exactly(run: Run, ages, options: list[str], public) -> None:
    law = fx.Median(0.01, **public).law(AGES)
    rows = shown(run, "median", *ages[:3], "--epsilon", "0.01", *options, "--law")["rows"]
    assert [repr(row["value"]) for row in rows] == [repr(x) for x in law.points.tolist()]
    assert [row["probability"] for row in rows] == law.probabilities.tolist()


@each("q", ["1/3", "0.9", "0.50", "1e-3"])
def test_quantiles_are_fractions_or_decimals(run: Run, ages, q: str) -> None:
    exact: Any = Fraction(q)
    law = fx.Quantile(exact, 0.01, (0, 120), step=1, neighbors="replace").law(AGES)
    options = ["--q", q, "--epsilon", "0.01", "--neighbors", "replace", "--law"]
    found = shown(run, "quantile", *ages, *options)
    assert [row["probability"] for row in found["rows"]] == law.probabilities.tolist()
    assert found["truth"] == sorted(AGES)[max(1, math.ceil(exact * 1000)) - 1]


@pytest.mark.parametrize("name", ["convention", "widen"])
def test_conventions_and_widening(run: Run, ages, name: str) -> None:
    for value in {"convention": ["upper", "strict"], "widen": [2]}[name]:
        law = fx.Median(0.01, (0, 120), step=1, **{name: value}).law(AGES)
        options = ["--epsilon", "0.01", f"--{name}={value}"]
        assert probabilities(run, "median", *ages, *options) == law.probabilities.tolist()


# ---- files ----

FORMS = ["csv", "stdin", "parquet", "npy"]


def written(form: str, values: list[Any], folder: Path, monkeypatch) -> list[object]:
    """Write records in one of the forms; the arguments that read them."""
    text = "x,y\n" + "".join(f"{'' if v is None else v},1\n" for v in values)
    if form == "stdin":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return ["-", "--column", "x"]
    file = folder / f"f.{form}"
    if form == "npy":
        np.save(file, np.array([math.nan if v is None else v for v in values]))
        return [file]
    if form == "csv":
        file.write_text(text)
    else:
        pl.DataFrame({"x": values}).write_parquet(file)
    return [file, "--column", "x"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "values", [[1, 2, 2, 70], [0.5, -1.25, 99.75, 2.5], [-3, None, 2], [None, 0.1]]
)
def test_every_form_has_the_same_law(run: Run, tmp_path, monkeypatch, form: str, values) -> None:
    options = ["--bounds", "0", "99", "--step", "0.5", "--epsilon", "1"]
    for nan in ("drop", "lower", "upper") if None in values else ("drop",):
        records = np.array([math.nan if v is None else v for v in values])
        law = fx.Median(1.0, (0, 99), step=0.5).law(records, nan=nan)
        file = written(form, values, tmp_path, monkeypatch)
        found = probabilities(run, "median", *file, *options, "--nan", nan)
        assert found == law.probabilities.tolist()
    file = written(form, values, tmp_path, monkeypatch)
    code, _, err = run("median", *file, *options)
    assert code == (2 if None in values else 0)
    assert ("must not be missing or NaN (see --nan)" in err) == (None in values)


def test_large_integers_are_exact_or_refused(run: Run, tmp_path: Path) -> None:
    path, large = tmp_path / "f.csv", 2**53 + 1
    path.write_text("x\n" + f"{large}\n" * 900)
    options = ["--column", "x", *CERTAIN, "--grid", f"0,{large - 1},{large},{large + 1}"]
    assert run("median", path, *options).out == f"{large}\n"
    path.write_text(f"x\n{large}\n0.5\n")
    code, out, err = run("median", path, *options)
    assert (code, out) == (2, "")
    assert "holds integers beyond 2**53 beside decimals" in err


def test_infinite_records_lie_beyond_the_bounds(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", np.array([-math.inf] * 200 + [math.inf] * 900))
    options = [*CERTAIN, "--bounds", "0", "120", "--step", "10"]
    assert run("median", tmp_path / "f.npy", *options).out == "120\n"


# ---- budgets ----


def test_releases_are_charged(run: Run, ages, bids, tmp_path: Path) -> None:
    file = tmp_path / "b.budget"
    run("budget", file, "--epsilon", "51")
    code, out, err = run("median", *ages, *CERTAIN, "--budget", file)
    assert (code, out) == (0, "37\n")
    assert err.endswith("\ncharged 50.0; 1.0 of 51.0 epsilon remains\n")
    assert err.count("\n") == 2
    assert run("median", *ages, *CERTAIN, "--budget", file)[:2] == (3, "")
    assert run(*bids, "--epsilon", "1", "--scaling", "textbook", "--budget", file, "-q").err == ""
    assert fx.Budget.file(file).remaining == 0.5


def test_which_failures_are_charged(run: Run, ages, tmp_path: Path) -> None:
    file, gaps = tmp_path / "b.budget", tmp_path / "gaps.csv"
    run("budget", file, "--epsilon", "10")
    options = ["--column", "age", "--bounds", "0", "9", "--epsilon", "1", "--budget", file]
    rows = ["\n,1\n3,1", "\nx,1", "\n3,1,1", '\n"3,1', "\n3\xff,1"]  # any of them is one row's
    for number, row in enumerate(rows, 1):
        gaps.write_bytes(b"age,n\n3,1" + row.encode("latin-1") + b"\n3,1\n")
        code, out, err = run("median", gaps, *options)
        assert (code, out) == (4, "")
        assert "charged nevertheless, as a failure may depend on the data" in err
        assert fx.Budget.file(file).spent == number
    gaps.write_bytes(b"")
    assert run("median", gaps, *options).code == 2  # nor can one row empty the file: not charged
    for more in (["--column", "no"], ["--step", "2"], ["--law"], ["--budget", tmp_path / "none"]):
        assert run("median", ages[0], *options, *more)[:2] == (2, "")
    assert fx.Budget.file(file).spent == len(rows)


# ---- mistakes ----

GIVEN = ["FILE", "--column", "age", "--epsilon", "1", "--bounds", "0", "120"]
BY = ["--by", "name", "--groups", "a,b"]
MISTAKES: list[tuple[list[str], str]] = [
    (["median", "FILE", "--column", "age", "--bounds", "0", "9"], "--total-epsilon is needed"),
    (["median", "FILE", "--column", "age", "--epsilon", "1"], "--bounds is needed"),
    (["median", "FILE", "--epsilon", "1", "--bounds", "0", "9"], "--column is needed"),
    (["median", *GIVEN[:-1]], "must be two numbers, as 0 120 or 0,120, got '0'"),
    (["median", *GIVEN[:-1], "nan"], "must be two numbers, as 0 120 or 0,120, got '0,nan'"),
    (["median", *GIVEN[:-1], "1_0"], "must be two numbers"),
    (["median", *GIVEN[:-1], "-1"], "bounds must be finite with lower < upper"),
    (["median", *GIVEN, "--step", "7"], "step must divide the bounds"),
    (["median", *GIVEN, "--step", "0"], "step must be > 0"),
    (["quantile", *GIVEN, "--q", "90"], "q must be in (0, 1), got 90; did you mean 0.9?"),
    (["quantile", *GIVEN, "--q", "0"], "q must be in (0, 1), got 0;"),
    (["median", *GIVEN, "--step", "1", "--grid", "1,2"], "does not go with"),
    (["median", *GIVEN, "--digits", "3", "--grid", "1,2"], "does not go with"),
    (["median", *GIVEN, "--digits", "16"], "16"),
    (["median", *GIVEN, "--grid", "1"], "at least two finite numbers in increasing order"),
    (["median", *GIVEN, "--grid", "2,1"], "in increasing order"),
    (["median", *GIVEN, "--grid", "FILE"], "separated by commas, or a file of numbers"),
    (["median", *GIVEN, "--grid", "none.txt"], "cannot read 'none.txt'"),
    (["median", *GIVEN, "--q", "0.5"], "unknown option '--q'"),
    (["median", *GIVEN, "--epsilon", "0"], "epsilon must be finite and > 0"),
    (["median", *GIVEN, "--widen", "-1"], "widen must be finite and >= 0"),
    (["median", *GIVEN, "--convention", "middle"], "invalid choice"),
    (["median", *GIVEN, "--nan", "mean"], "invalid choice"),
    (
        ["median", *GIVEN, "--nan", "drop", "--neighbors", "replace"],
        "under which the number of records is fixed",
    ),
    (["median", *GIVEN, "--law", "--draws", "3"], "does not go with"),
    (["median", *GIVEN, "--column", "old"], "FILE has no column 'old': it has 'name', 'age'"),
    (["median", *GIVEN, "--delimiter", ";"], "is another delimiter between"),
    (["median", "a.npy", *GIVEN[1:]], "--column does not go with .npy"),
    (["median", *GIVEN, *BY, "--membership", "public"], "--membership public needs --neigh"),
    (["mode", *GIVEN, *BY, "--membership", "public"], "--membership public needs --neighbors"),
    (["quantile", *GIVEN], "error: --q is needed"),
    (["quantile", *GIVEN, "--q", "1"], "q must be"),
    (["quantile", *GIVEN, "--q", "1/0"], "must be a decimal or a fraction"),
    (["quantile", *GIVEN, "--q", "0.9", "--convention", "strict"], "invalid choice"),
    (["price", *GIVEN, "--neighbors", "replace"], "unknown option '--neighbors'"),
    (["price", *GIVEN[:-2], "-1", "9"], "must not hold prices below 0"),
    (["price", *GIVEN, "--scaling", "loose"], "invalid choice"),
    (["price", *GIVEN, "--candidates", "a,b"], "unknown option '--candidates'"),
]


@each(("arguments", "message"), MISTAKES)
def test_mistakes(run: Run, ages, arguments: list[str], message: str) -> None:
    code, out, err = run(*(ages[0] if a == "FILE" else a for a in arguments))
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert MARKER not in err


def test_missing_bounds_are_explained(run: Run, ages) -> None:
    err = run("median", *ages[:3], "--epsilon", "1").err
    for part in ("why:", "whatever", "do:", "--bounds 0 120 --step 1", "--grid"):
        assert part in err
