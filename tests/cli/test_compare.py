"""Does `fastexp compare` print what `compare` says of the same records, and refuse what it must?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fastexp as fx
from tests.support.command_line import Run
from tests.support.each import each

pytestmark = [pytest.mark.engines, pytest.mark.fast]
AGES = np.random.default_rng(5).integers(15, 95, 300)
COMMON = ["--column", "age", "--epsilon", "0.2", "--bounds", "0", "120", "--step", "1"]
BOUNDS: Any = {"bounds": (0, 120), "step": 1}


@pytest.fixture
def ages(tmp_path: Path) -> Path:
    path = tmp_path / "ages.csv"
    path.write_text("age,party\n" + "".join(f"{age},{'abc'[age % 3]}\n" for age in AGES))
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text("candidate,utility\na,9\nb,7.5\nc,3\n")
    return path


def facts(run: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = run("compare", *arguments, "--json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    assert (found.pop("kind"), found.pop("private")) == ("comparison", False)
    return found


def plain(comparison: fx.Comparison) -> Any:
    return json.loads(json.dumps(comparison.as_dict()))


def test_numbers_are_compared_as_in_python(run: Run, ages: Path) -> None:
    words = ["--mechanisms", "median,median:widen=2", "laplace-median"]
    mechanisms = [
        fx.Median(0.2, **BOUNDS),
        fx.Median(0.2, **BOUNDS, widen=2),
        fx.LaplaceMedian(0.2, bounds=(0, 120)),
    ]
    wanted = fx.compare(mechanisms, AGES)
    assert facts(run, ages, *COMMON, *words) == {"plot": None, **plain(wanted)}
    code, out, err = run("compare", ages, *COMMON, *words)
    assert (code, out, err) == (0, f"{wanted}\n", "")
    assert "Not private" in out
    wanted = fx.compare(mechanisms, AGES, truth=47.5)
    assert facts(run, ages, *COMMON, *words, "--truth", "47.5")["rows"] == plain(wanted)["rows"]


def test_options_are_of_all_mechanisms_that_have_them(run: Run, ages: Path) -> None:
    words = ["--mechanisms", "quantile:q=0.9,order-statistic:r=2,mode,maximum", "--widen", "3"]
    mechanisms = [
        fx.Quantile(0.9, 0.2, **BOUNDS, widen=3),
        fx.OrderStatistic(2, 0.2, **BOUNDS, widen=3),
        fx.Mode(0.2, **BOUNDS, widen=3),
        fx.Maximum(0.2, **BOUNDS, widen=3),
    ]
    assert facts(run, ages, *COMMON, *words)["rows"] == plain(fx.compare(mechanisms, AGES))["rows"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_grids_are_read_and_missing_numbers_too(run: Run, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"few.{ending}"
    if ending == "csv":
        path.write_text("age\n10\n\n30\nNA\n41\n")
    else:
        pl.DataFrame({"age": [10, None, 30, None, 41]}).write_parquet(path)
    options = ["--column", "age", "--epsilon", "1", "--bounds", "0", "60", "--grid", "0,20,60"]
    found = facts(run, path, *options, "--mechanisms", "median,maximum", "--nan", "drop")
    kinds = [kind(1.0, (0, 60), grid=[0, 20, 60]) for kind in (fx.Median, fx.Maximum)]
    assert found["rows"] == plain(fx.compare(kinds, [10, 30, 41]))["rows"]
    code, _, err = run("compare", path, *options, "--mechanisms", "median,maximum")
    assert (code, "missing" in err) == (2, True)


def test_selections_by_utilities_and_by_counts(run: Run, ages: Path, scores: Path) -> None:
    words = ["--mechanisms", "exponential,permute-and-flip,report-noisy-max,top-k:k=2"]
    labels = {"sensitivity": 1.0, "candidates": ["a", "b", "c"]}
    kinds = [fx.Exponential, fx.PermuteAndFlip]
    wanted = [kind(epsilon=0.5, **labels) for kind in kinds]
    wanted += [fx.ReportNoisyMax(0.5, 1.0), fx.TopK(2, 0.5, **labels)]
    found = facts(run, scores, "--utilities", "--sensitivity", "1", "--epsilon", "0.5", *words)
    assert found["rows"] == plain(fx.compare(wanted, [9, 7.5, 3]))["rows"]
    counted = [kind(epsilon=0.01, monotonic=True, **labels) for kind in kinds]
    counts = [int((i == AGES % 3).sum()) for i in range(3)]
    options = ["--column", "party", "--candidates", "a,b,c", "--epsilon", "0.01", words[0]]
    found = facts(run, ages, *options, "exponential,permute-and-flip")
    assert found["rows"] == plain(fx.compare(counted, counts))["rows"]


def test_promises_that_differ_are_converted_if_that_is_said(run: Run, ages: Path) -> None:
    words = [*COMMON, "--mechanisms", "median,median:neighbors=replace"]
    code, out, err = run("compare", ages, *words)
    assert (code, out) == (2, "")
    assert "add-remove" in err
    assert "--convert" in err
    rows = facts(run, ages, *words, "--convert")["rows"]
    assert [row["epsilon"] for row in rows] == [0.4, 0.2]


def test_a_picture_is_written(run: Run, ages: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "compared.png"
    found = facts(run, ages, *COMMON, "--mechanisms", "median,maximum", "--plot", picture)
    assert found["plot"] == str(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


@each(
    ("words", "message"),
    [
        (["median,medain"], "there is no mechanism 'medain'"),
        (["median,exponential"], "--mechanisms: exponential selects, and others give numbers\n"),
        (["median:stpe=2"], "median has no parameter 'stpe'"),
        (["quantile"], "quantile needs q, as quantile:q=..."),
        (["median", "--plot", "a.gif"], "must end in one of"),
        (["exponential"], "--candidates is needed"),
        (["exponential", "--utilities"], "--utilities needs --sensitivity"),
    ],
)
def test_what_does_not_go_together_is_refused(
    run: Run, ages: Path, words: list[str], message: str
) -> None:
    code, out, err = run("compare", ages, *COMMON, "--mechanisms", *words)
    assert (code, out) == (2, "")
    assert message in err


def test_a_column_is_needed(run: Run, ages: Path) -> None:
    code, _, err = run("compare", ages, *COMMON[2:], "--mechanisms", "median")
    assert (code, "--column is needed" in err) == (2, True)
