"""Do `fastexp median`, `quantile` and `price` answer as the mechanisms do, and keep data secret?"""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp.cli import columns, number_law, number_question, number_view
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
    promised, grid = err.splitlines()
    assert promised.startswith("promised: 50-differential privacy, neighbors add-remove (")
    assert grid == "drawn from the public grid 0, 1, ..., 120 (121 points)"
    assert run("median", *ages, *CERTAIN, "--quiet") == (0, "37\n", "")


def test_a_release_as_json(run: Run, ages, bids) -> None:
    public = {"bounds": [0, 120], "step": 1, "points": 121, "nan": "raise", "epsilon": 50.0}
    ranked = {"neighbors": "add-remove", "convention": "weak", "widen": 0}
    head = {"kind": "release", "private": True, **public, **ranked}
    assert found(run, "median", *ages, *CERTAIN) == {"value": 37, "mechanism": "median", **head}
    upper = found(run, "quantile", *ages, *CERTAIN, "--q", "0.9")
    assert upper == {"value": 90, "mechanism": "quantile", "q": 0.9, **head}
    price = found(run, *bids, "--epsilon", "1e6")
    assert price == {
        "kind": "release", "private": True, "value": 1.0, "mechanism": "price", "epsilon": 1e6,
        "neighbors": "both", "scaling": "tight", "promised_epsilon": 1e6, "nan": "raise",
        "bounds": [0, 3.5], "step": 0.01, "points": 351,
    }  # fmt: skip


def test_the_textbook_promises_half(run: Run, bids) -> None:
    code, _, err = run(*bids, "--epsilon", "5", "--scaling", "textbook")
    assert code == 0
    assert err.startswith("promised: 2.5-differential privacy, neighbors both (one record joins,")
    law = fx.Price(5.0, (0, 3.5), step=0.01, scaling="textbook").law(BIDS)
    shown = found(run, *bids, "--epsilon", "5", "--scaling", "textbook", "--law")
    assert (shown["mean"], shown["promised_epsilon"]) == (law.mean(), 2.5)


GRIDS = [
    (["--bounds", "0", "120"], "from 0 to 120 in 2^40 equal steps"),
    (["--bounds", "0", "1", "--step", "0.5"], "0, 0.5, 1"),
    (["--bounds", "-0.5", "1e3", "--step", "0.25"], "-0.5, -0.25, ..., 1000 (4,003 points)"),
    (["--grid", "0,10,50,120"], "0, 10, 50, 120"),
    (["--grid", "1,2,3,4.5,5"], "1, 2, ..., 5 (5 points)"),
]


@pytest.mark.parametrize(("options", "text"), GRIDS)
def test_the_grid_is_told(run: Run, ages, options: list[str], text: str) -> None:
    code, _, err = run("median", *ages[:3], *CERTAIN, *options)
    assert code == 0
    hint = "no --step: if the numbers are rounded (ages, prices), give theirs\n"
    assert err.endswith(f"drawn from the public grid {text}\n" + hint * ("2^40" in text))


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
        shown = found(run, "median", *ages[:3], *CERTAIN, "--grid", given)
        assert (shown["value"], shown["grid"], shown["step"]) == (37, points, None)


def test_conventions_and_widening(run: Run, ages) -> None:
    for how in ({"convention": "upper"}, {"convention": "strict"}, {"widen": 2}):
        law = fx.Median(0.01, (0, 120), step=1, **how).law(AGES)
        options = [f"--{name}={value}" for name, value in how.items()]
        shown = found(run, "median", *ages, "--epsilon", "0.01", *options, "--law")
        assert [row["probability"] for row in shown["rows"]] == law.probabilities.tolist()
        assert how.items() <= shown.items()


# ---- the law and simulations ----


def test_the_law_is_the_mechanisms(run: Run, ages) -> None:
    law = fx.Median(0.005, (0, 120), step=1).law(AGES)
    shown = found(run, "median", *ages, "--epsilon", "0.005", "--law")
    assert (shown["kind"], shown["private"], shown["plot"]) == ("law", False, None)
    assert shown["truth"] == 37
    assert shown["mean"] == law.mean()
    assert shown["sd"] == math.sqrt(law.var())
    levels = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]
    assert shown["quantiles"] == {f"{p:g}": law.ppf(p) for p in levels}
    assert shown["expected_error"] == law.expected_error(37)
    assert shown["error_95"] == law.error_quantile(0.95, 37)
    assert shown["expected_loss"] == law.expected_loss()
    assert shown["loss_95"] == law.loss_quantile(0.95)


def test_the_table_of_a_law(run: Run, ages, bids) -> None:
    code, out, err = run("median", *ages, "--epsilon", "0.01", "--law")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].startswith("NOT PRIVATE")
    assert lines[1] == (
        "median, epsilon 0.01, neighbors add-remove, on the grid 0, 1, ..., 120 (121 points)"
    )
    assert lines[3].split() == ["output", "exact", "law"]
    assert lines[4].split() == ["true", "median", "37"]
    assert len({len(line) for line in lines[3:]}) == 1  # aligned
    for name in (
        "mean",
        "standard deviation",
        "50% quantile",
        "expected error",
        "best point (records)",
    ):
        assert name in out
    out = run(*bids, "--epsilon", "5", "--law")[1]
    assert "best price" in out
    assert "expected loss against the best point (revenue)" in out


def test_no_records_have_a_law_but_no_truth(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "none.csv"
    path.write_text("age\n")
    for which in ("median", "price"):
        options = [which, path, "--column", "age", "--epsilon", "1", "--bounds", "0", "9"]
        options += ["--step", "1"]
        assert int(run(*options)[1]) in range(10)
        shown = found(run, *options, "--law")
        assert (shown["truth"], shown["expected_error"], shown["mean"]) == (None, None, 4.5)
        assert run(*options, "--draws", "5")[0] == 0


def test_draws_are_those_of_sample(run: Run, ages) -> None:
    how = ["--epsilon", "0.005", "--draws", "2000", "--seed", "7"]
    drawn = fx.Median(0.005, (0, 120), step=1).sample(AGES, size=2000, rng=7)
    shown = found(run, "median", *ages, *how)
    assert (shown["kind"], shown["private"]) == ("draws", False)
    assert (shown["draws"], shown["seed"], shown["truth"]) == (2000, 7, 37)
    assert [row["observed"] for row in shown["rows"]] == np.bincount(drawn, minlength=121).tolist()
    assert sum(row["frequency"] for row in shown["rows"]) == pytest.approx(1)
    seen, exact = shown["observed"], shown["exact"]
    assert seen["mean"] == drawn.mean()
    assert seen["quantiles"]["0.5"] == np.sort(drawn)[999]
    assert seen["expected_error"] == np.abs(drawn - 37).mean()
    assert set(seen) == set(exact)
    code, out, _ = run("median", *ages, *how)
    assert code == 0
    assert "2,000 simulated draws, seed 7, beside the exact law" in out
    assert run("median", *ages, *how)[1] == out


def test_few_draws_of_a_fine_grid_are_listed(run: Run, ages) -> None:
    fine = [*ages[:3], "--bounds", "0", "120", "--epsilon", "0.01", "--seed", "3"]
    drawn = fx.Median(0.01, (0, 120)).sample(AGES, size=10_000, rng=3)
    shown = found(run, "median", *fine, "--draws", "10000")
    assert shown["values"] == drawn.tolist()
    assert "rows" not in shown
    assert "values" not in found(run, "median", *fine, "--draws", "10001")


# ---- the truth ----


class Plain:
    """What `number_law.truth` asks a mechanism."""

    def __init__(self, convention: str, q: Any) -> None:
        self.convention, self.q, self.bounds = convention, q, (0, 100)


def asked(name: str, made: Any, data: Any, nan: str = "raise") -> number_question.Question:
    return number_question.Question(name, made, np.array(data), nan, "x")


def true(name: str, data: Any, nan: str = "raise", **how: Any) -> Any:
    made = Plain(how.get("convention", "weak"), how.get("q", 0.5))
    return number_law.truth(asked(name, made, data, nan))


def test_the_true_median_is_the_lower_one() -> None:
    assert true("median", [4, 1, 3, 2]) == 2
    assert true("median", [4, 1, 3, 2], convention="upper") == 3
    assert true("median", [5, 1, 3]) == 3
    assert true("quantile", [10, 20, 30], q=Fraction(1, 3)) == 10
    assert true("quantile", [10, 20, 30], q=0.34) == 20
    assert true("quantile", [10, 20, 30], q=1e-3) == 10
    assert type(true("median", [2**62 + 1])) is int
    assert true("median", [2**62 + 1]) == 2**62 + 1


def test_missing_records_in_the_truth() -> None:
    gaps = [1, 2, 3, *[math.nan] * 4]
    assert true("median", gaps, "drop") == 2
    assert true("median", gaps, "lower") == 0  # the lower bound
    assert true("median", gaps, "upper") == 100


def test_the_best_price_is_found_among_bids() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        low, n = int(rng.integers(0, 4)), int(rng.integers(1, 7))
        made = fx.Price(1.0, (low, low + 9), step=1)
        bids = rng.integers(-2, 20, n)
        clamped = bids.clip(low, low + 9)
        revenue = [r * int((clamped >= r).sum()) for r in range(low, low + 10)]
        assert number_law.truth(asked("price", made, bids)) == low + int(np.argmax(revenue))


def test_prices_that_are_nearly_equal_are_compared_exactly() -> None:
    made = fx.Price(1.0, (0, 3), grid=[1 / 3, 1.0, 3.0])  # 3 * (1 / 3) is 1.0 as doubles only
    assert number_law.truth(asked("price", made, [1.0, 1 / 3, 1 / 3])) == 1.0
    assert number_law.truth(asked("price", fx.Price(1.0, (1, 4), step=1), [2, 1])) == 1  # the lower


# ---- files ----


@pytest.fixture(params=["csv", "stdin", "polars", "pyarrow", "npy"])
def source(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[list[Any]], list[object]]:
    """Write records in one of the forms; the arguments that read them."""

    def write(values: list[Any]) -> list[object]:
        text = "x\n" + "".join("\n" if v is None else f"{v}\n" for v in values)
        text = text.replace("\n\n", '\n""\n').replace("\n\n", '\n""\n')
        kind = request.param
        if kind == "stdin":
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
            return ["-", "--column", "x"]
        if kind == "csv":
            (tmp_path / "f.csv").write_text(text)
            return [tmp_path / "f.csv", "--column", "x"]
        if kind == "npy":
            np.save(tmp_path / "f.npy", np.array([math.nan if v is None else v for v in values]))
            return [tmp_path / "f.npy"]
        import polars as pl

        pl.DataFrame({"x": values, "y": values}).write_parquet(tmp_path / "f.parquet")
        if kind == "pyarrow":
            pytest.importorskip("pyarrow.parquet")
            monkeypatch.setitem(sys.modules, "polars", None)
        return [tmp_path / "f.parquet", "--column", "x"]

    return write


@pytest.mark.engines
@pytest.mark.parametrize(
    "values", [[1, 2, 2, 70], [0.5, -1.25, 99.75, 2.5], [-3, None, 2], [None, 0.1], [2**53 + 1, 7]]
)
def test_every_form_of_a_file_gives_the_same_law(run: Run, source, values: list[Any]) -> None:
    plain = [math.nan if v is None else v for v in values]
    law = fx.Median(0.5, (-10, 100), step=0.5).law(plain, nan="lower")
    how = ["--epsilon", "0.5", "--bounds", "-10", "100", "--step", "0.5", "--nan", "lower", "--law"]
    shown = found(run, "median", *source(values), *how)
    assert [row["probability"] for row in shown["rows"]] == law.probabilities.tolist()


@pytest.mark.engines
def test_missing_records_are_refused_by_default(run: Run, source) -> None:
    how = ["--epsilon", "0.5", "--bounds", "-10", "100"]
    code, out, err = run("median", *source([1, None, 2]), *how)
    assert (code, out) == (2, "")
    assert err == "fastexp: error: records must not be missing or NaN (see --nan)\n"


@pytest.mark.engines
def test_what_npy_and_parquet_must_hold(run: Run, tmp_path: Path) -> None:
    import polars as pl

    how = ["--epsilon", "1", "--bounds", "0", "9", "-q"]
    cases: list[tuple[Any, str]] = [
        (np.array([True]), "holds booleans"),
        (np.array([MARKER]), "holds text"),
        (np.array([1 + 2j]), "holds values of another kind"),
        (np.array([1], np.float16), "holds values of another kind"),
        (np.array(["2024-01-01"], "M8[D]"), "holds dates"),
        (np.zeros((2, 2)), "must hold a one-dimensional array"),
        (np.array([MARKER, 1], object), "cannot be read as .npy"),
    ]
    for array, message in cases:
        np.save(tmp_path / "f.npy", array, allow_pickle=True)
        code, out, err = run("median", tmp_path / "f.npy", *how)
        assert (code, out) == (2, "")
        assert message in err
        assert MARKER not in err
    (tmp_path / "f.npy").write_text(MARKER)
    assert "cannot be read as .npy" in run("median", tmp_path / "f.npy", *how)[2]
    assert "No such file" in run("median", tmp_path / "g.npy", *how)[2]
    frame = pl.DataFrame({"flag": [True], "text": [MARKER], "none": [None]})
    frame.write_parquet(tmp_path / "f.parquet")
    for column, message in (
        ("flag", "booleans"),
        ("text", "holds text"),
        ("no", "has no column"),
    ):
        code, _, err = run("median", tmp_path / "f.parquet", "--column", column, *how)
        assert code == 2
        assert message in err
        assert MARKER not in err
    code, out, _ = run("median", tmp_path / "f.parquet", "--column", "none", *how, "--nan", "drop")
    assert code == 0
    assert 0 <= float(out) <= 9
    for order in "<>":
        np.save(tmp_path / "f.npy", np.full(999, 4.0, f"{order}f8"))
        assert run("median", tmp_path / "f.npy", *how, "--step", "1")[1] == "4\n"


@pytest.mark.engines
def test_decimals_of_parquet(run: Run, tmp_path: Path) -> None:
    from decimal import Decimal

    import polars as pl

    column = pl.Series("x", [Decimal("1.10"), Decimal("2.20"), None], dtype=pl.Decimal(10, 2))
    pl.DataFrame({"x": column}).write_parquet(tmp_path / "f.parquet")
    how = ["--epsilon", "1", "--bounds", "0", "9", "--step", "0.1", "--nan", "drop", "--law"]
    shown = found(run, "median", tmp_path / "f.parquet", "--column", "x", *how)
    law = fx.Median(1.0, (0, 9), step=0.1).law([1.1, 2.2])
    assert [row["probability"] for row in shown["rows"]] == law.probabilities.tolist()


def test_large_integers_are_exact_or_refused(run: Run, tmp_path: Path) -> None:
    path, large = tmp_path / "f.csv", 2**53 + 1
    path.write_text("x\n" + f"{large}\n" * 900)
    how = ["--column", "x", *CERTAIN, "--grid", f"0,{large - 1},{large},{large + 1}"]
    assert run("median", path, *how)[1] == f"{large}\n"
    for other in ("0.5", '""'):
        path.write_text(f"x\n{large}\n{other}\n")
        code, out, err = run("median", path, *how, "--nan", "lower")
        assert (code, out) == (2, "")
        assert "holds integers beyond 2**53 beside decimals or gaps" in err


# ---- what is no number ----


NO_NUMBERS = [MARKER, "infin", "- inf", "N.A.", "7_341", '"7,341"', "0x7341", "true", "7341%"]
NO_NUMBERS += ["7341e999", "--7341", "7341-", "7341 7341", "7341.7341.7341", "e7341", ".", "+"]
NO_NUMBERS += ["\u0661\u0662", "-nan", "73:41", "7341/1"]


@pytest.mark.parametrize("before", ["", '"a""b"', 'a"b'])  # the last is left to the csv module
@pytest.mark.parametrize("text", NO_NUMBERS)
def test_texts_are_refused_unseen(run: Run, tmp_path: Path, text: str, before: str) -> None:
    path = tmp_path / "f.csv"
    path.write_text(f"n,my age\n{before},30\n{before},{text}\n{before},31\n", encoding="utf-8")
    how = ["--column", "my age", "--epsilon", "1", "--bounds", "0", "120"]
    for which in ("median", "price"):
        code, out, err = run(which, path, *how, "--nan", "drop")
        assert (code, out) == (2, "")
        assert f"column 'my age' of '{path}' must hold numbers only" in err
        shown = err.replace(str(path), "")
        assert "7341" not in shown
        assert "30" not in shown
        assert err.count("\n") == 1


@pytest.mark.parametrize("before", ["", '"a""b"', 'a"b'])
def test_gaps_and_infinities(run: Run, tmp_path: Path, before: str) -> None:
    """As R and SQL write them; infinite records lie beyond the bounds, as in .npy and Parquet."""
    path = tmp_path / "f.csv"
    written = ["", "NA", "na", " null ", "NaN", "inf", "-Infinity", "+INF", "30"]
    path.write_text("n,my age\n" + "".join(f"{before},{text}\n" for text in written))
    read = columns.records(str(path), "my age")
    assert np.isnan(read).sum() == 5
    assert sorted(read[~np.isnan(read)].tolist()) == [-math.inf, 30.0, math.inf, math.inf]
    how = ["--column", "my age", "--epsilon", "50", "--bounds", "0", "120", "--step", "10"]
    assert run("quantile", path, *how, "--q", "0.9", "--nan", "drop")[1] == "120\n"


def test_blanks_around_names_of_columns(run: Run, tmp_path: Path) -> None:
    path, how = tmp_path / "f.csv", [*CERTAIN, "--bounds", "0", "9", "--step", "1", "-q"]
    path.write_text("a , b\n1,2\n1,2\n")
    assert run("median", path, *how, "--column", "a")[0] == 0
    path.write_text("a ,a\n1,2\n1,2\n")  # as it is written comes first
    assert columns.records(str(path), "a").tolist() == [2, 2]
    assert columns.records(str(path), "a ").tolist() == [1, 1]


# ---- pictures ----


def test_pictures_of_laws_and_draws(run: Run, ages, bids, tmp_path: Path) -> None:
    median = ["median", *ages, "--epsilon", "0.01"]
    calls = {
        "png": [*median, "--law"],
        "svg": [*median, "--draws", "100"],
        "pdf": [*bids, "--epsilon", "1", "--law"],
    }
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for suffix, call in calls.items():
        target = tmp_path / f"picture.{suffix}"
        code, out, err = run(*call, "--plot", target)
        assert (code, err) == (0, f"picture: {target}\n")
        assert out.startswith("NOT PRIVATE")
        assert target.read_bytes().startswith(starts[suffix])
    assert found(run, *calls["svg"], "--plot", target)["plot"] == str(target)
    assert "matplotlib.pyplot" not in sys.modules


PICTURES = [
    ("median", ["--bounds", "0", "120", "--step", "1", "--epsilon", "0.01"], {"true median 37"}),
    ("median", ["--bounds", "0", "1e12", "--epsilon", "1e-3"], {"true median 37"}),
    ("median", ["--grid", "0,1,9,60,100", "--epsilon", "0.01"], {"true median 37"}),
    ("quantile", ["--q", "1/3", "--bounds", "0", "120", "--epsilon", "1"],
     {"true 1/3-quantile 37"}),
    ("quantile", ["--q", "123456789/1000000000", "--bounds", "0", "120", "--epsilon", "0.123456",
                  "--neighbors", "replace", "--convention", "lower", "--widen", "0.25"], set()),
    ("median", ["--bounds", "0", "9", "--step", "0.001", "--epsilon", "1"], set()),
    ("price", ["--bounds", "0", "100", "--step", "1", "--epsilon", "0.02"],
     {"best price 37", "ε = 0.004", "ε = 0.02", "ε = 0.1"}),
    ("price", ["--bounds", "0", "100", "--step", "0.01", "--epsilon", "1"],
     {"ε = 0.2", "ε = 1", "ε = 5"}),
    ("price", ["--bounds", "0", "100", "--epsilon", "1e6"], {"ε = 5e+06"}),
]  # fmt: skip


@pytest.mark.parametrize("step", [1, 0.01, 0.001, None, "grid"])
def test_what_is_drawn_sums_to_what_is_in_sight(step: Any) -> None:
    how = {"grid": [0, 1, 10, 11, 50, 120]} if step == "grid" else {"step": step}
    made, spread = fx.Median(0.1, (0, 120), **how), np.linspace(1, 99, 41)
    law = made.law(spread)
    view = number_view.in_sight(law, 50)
    heights = number_view.heights_of(law, view)
    wide = 1.0 if view.few else np.diff(view.edges)
    low, high = law.cdf(view.edges[[0, -1]])
    assert (heights * wide).sum() == pytest.approx(high - low, rel=1e-9)
    assert high - low >= 0.98
    assert view.few == (step in (1, "grid"))
    assert view.edges[0] <= 50 <= view.edges[-1]


@pytest.mark.parametrize("kind", [["--law"], ["--draws", "50"]])
@pytest.mark.parametrize(("which", "options", "texts"), PICTURES)
def test_no_text_of_a_picture_is_cut_off(
    run: Run, ages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which, options, texts, kind
) -> None:
    from matplotlib.figure import Figure

    kept = []
    monkeypatch.setattr(Figure, "savefig", lambda self, _: kept.append(self))
    code, _, err = run(which, *ages[:3], *options, *kind, "--plot", tmp_path / "p.png")
    assert code == 0, err
    figure = kept[0]
    figure.draw_without_rendering()
    (axes,) = figure.axes
    shown = [*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label]
    width, height = figure.bbox.size
    for text in [*shown, *axes.get_xticklabels(), *axes.get_yticklabels()]:
        box = text.get_window_extent()
        if text.get_text() and text.get_visible() and box.x1 > axes.bbox.x0 - 300:
            inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
            tick = text not in shown  # those beyond the axes are not drawn
            assert inside or (tick and not axes.bbox.overlaps(box)), text.get_text()
    if kind == ["--law"]:
        named = [text for legend in figure.legends for text in legend.get_texts()]
        assert texts <= {text.get_text() for text in (*axes.texts, *named)}
    assert axes.get_xlabel() == ("price (age)" if which == "price" else "age")
    assert "probability" in axes.get_ylabel()


def test_pictures_of_no_records(run: Run, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("$x_\n")
    how = [tmp_path / "f.csv", "--column", "$x_", "--epsilon", "1", "--bounds", "0", "9"]
    for which in ("median", "price"):
        for kind in (["--law"], ["--draws", "1"]):
            assert run(which, *how, *kind, "--plot", tmp_path / "p.svg")[0] == 0


# ---- budgets ----


def test_releases_are_charged(run: Run, ages, bids, tmp_path: Path) -> None:
    file = tmp_path / "b.budget"
    run("budget", file, "--epsilon", "51")
    code, out, err = run("median", *ages, *CERTAIN, "--budget", file)
    assert (code, out) == (0, "37\n")
    assert err.endswith("budget: charged 50.0 for add-remove; 1.0 of 51.0 epsilon remains\n")
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
    (["median", *GIVEN, "--grid", "FILE"], "must hold numbers only, separated by"),
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
    (["median", *GIVEN, "--column", "old"], "has no column 'old'; it has 'name', 'age'"),
    (["median", *GIVEN, "--delimiter", ";"], "is --delimiter right?"),
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
