"""Does `--by` answer as a query does, say what it promises, and keep data secret?"""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import fastexp as fx
from tests.messages import heard
from tests.support.command_line import Run

pytestmark = [pytest.mark.engines, pytest.mark.fast]
MARKER = "SECRET-7341"
CITIES = ["Oslo", "Rome", "Bern, old", "Ur"]  # nobody is in Ur
CODES = [3, -7, 40, 8]
GRID = ["--epsilon", "0.02", "--bounds", "0", "9999", "--step", "0.5"]
COMMANDS: dict[str, list[str]] = {
    "median": ["--column", "rent", *GRID],
    "quantile": ["--column", "rent", *GRID, "--q", "1/3"],
    "maximum": ["--column", "rent", *GRID],
    "mode": ["--column", "rooms", "--epsilon", "0.02", "--bounds", "1", "9", "--step", "1"],
    "price": ["--column", "rent", "--epsilon", "0.02", "--bounds", "0", "1000", "--step", "1"],
    "select": ["--column", "heating", "--candidates", "gas,oil,wood", "--epsilon", "0.02"],
}
RENTS = {"bounds": (0, 9999), "step": 0.5}
MECHANISMS: dict[str, Any] = {
    "median": fx.Median(0.02, **RENTS),
    "quantile": fx.Quantile(Fraction(1, 3), 0.02, **RENTS),
    "maximum": fx.Maximum(0.02, **RENTS),
    "mode": fx.Mode(0.02, (1, 9), step=1),
    "price": fx.Price(0.02, (0, 1000), step=1),
    "select": fx.MostCommon(0.02, ["gas", "oil", "wood"]),
}


def frame(n: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    city, code = rng.choice([*CITIES[:3], MARKER], n), rng.choice([3, -7, 40, 5], n)
    rent = rng.integers(0, 4000, n) / 4
    return pl.DataFrame(
        {
            "city": [None if i % 97 == 0 else str(c) for i, c in enumerate(city)],
            "code": [None if i % 89 == 0 else int(c) for i, c in enumerate(code)],
            "rent": [None if i % 83 == 0 else float(x) for i, x in enumerate(rent)],
            "rooms": rng.integers(1, 9, n),
            "heating": rng.choice(["gas", "oil", "wood", MARKER], n),
            "tenant": [None if i % 79 == 0 else f"T{i // 3:04}" for i in range(n)],
            "id": rng.integers(0, n // 2, n),
        }
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In the folder that the process is in: rows, lists, a key."""
    monkeypatch.chdir(tmp_path)
    frame().write_csv("rents.csv")
    frame().write_parquet("rents.parquet", row_group_size=700)
    Path("cities.txt").write_text("".join(f"{city}\n" for city in CITIES))
    Path("codes.txt").write_text("".join(f"{code}\n" for code in CODES))
    Path("a.key").write_text(fx.release_key().export())
    Path("a.key").chmod(0o600)
    return tmp_path


def key() -> fx.ReleaseKey:
    return fx.ReleaseKey.restore(Path("a.key").read_text())


def command(which: str, file: str = "rents.csv", by: str = "city") -> list[str]:
    nan = [] if which == "select" else ["--nan", "drop"]
    listed = {"city": "cities.txt", "code": "codes.txt"}[by]
    return [which, file, *COMMANDS[which], *nan, "--by", by, "--groups", listed]


MEDIAN = command("median")


def shown(run: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    parsed: dict[str, Any] = json.loads(out)
    return parsed


def keyed(which: str, by: str, nan: str = "drop", label: str | None = None, **limits: Any) -> Any:
    """The rows of a query's answers under the key."""
    column = COMMANDS[which][1]
    query = fx.Query(by, CITIES if by == "city" else CODES, **limits)
    answers = {column: (MECHANISMS[which], column)}
    return query.release(frame(), answers, key=key(), label=label, nan=nan).to_dicts()


# ---- the answers are those of a query ----


@pytest.mark.parametrize("which", COMMANDS)
@pytest.mark.parametrize(("file", "by"), [("rents.csv", "city"), ("rents.parquet", "code")])
def test_keyed_answers_are_those_of_a_query(run: Run, folder, file: str, which, by: str) -> None:
    answer = shown(run, *command(which, file, by), "--key", "a.key")
    assert answer["rows"] == keyed(which, by)
    assert (answer["by"], answer["groups"], answer["private"]) == ([by], 4, True)


@pytest.mark.parametrize("person", ["tenant", "id"])
@pytest.mark.parametrize("file", ["rents.csv", "rents.parquet"])
def test_persons_are_bounded_as_in_a_query(run: Run, folder, file: str, person: str) -> None:
    options = ["--person", person, "--max-groups", "2", "--key", "a.key", "--label", "x"]
    answer = shown(run, *command("median", file), *options)
    exact = keyed("median", "city", label="x", person=person, max_groups=2)
    assert answer["rows"] == exact
    assert exact != keyed("median", "city", label="x")  # so that the limits matter here
    assert (answer["person"], answer["promised"]["epsilon"]) == (person, 0.04)


@pytest.mark.parametrize("nan", ["lower", "upper"])
def test_gaps_may_be_bounds(run: Run, folder, nan: str) -> None:
    answer = shown(run, *MEDIAN, "--nan", nan, "--key", "a.key")
    assert answer["rows"] == keyed("median", "city", nan)


def test_several_columns_of_groups(run: Run, folder) -> None:
    lists = "city=Oslo,Rome;code=3,40"
    options = ["--by", "city,code", "--groups", lists, "--key", "a.key", "--max-groups", "2"]
    answer = shown(run, *MEDIAN, *options)
    groups = [("Oslo", 3), ("Oslo", 40), ("Rome", 3), ("Rome", 40)]
    query = fx.Query(["city", "code"], groups, max_groups=2)
    answers = {"rent": (MECHANISMS["median"], "rent")}
    assert answer["rows"] == query.release(frame(), answers, key=key(), nan="drop").to_dicts()


def test_a_key_without_groups(run: Run, folder) -> None:
    code, out, err = run("median", "rents.csv", *COMMANDS["median"], "--nan", "drop", *KEYED)
    answers = {"rent": (MECHANISMS["median"], "rent")}
    exact = fx.Query().release(frame(), answers, key=key(), nan="drop")["rent"].to_list()
    assert (code, out) == (0, f"{exact[0]}\n")
    assert err.endswith("\nthe same key, label and records give the same answers\n")


KEYED = ["--key", "a.key"]


GAP = "records of column 'rent' must not be missing or NaN (see --nan)\n"


def test_a_gap_in_a_group_that_is_not_listed_is_none(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("city,rent\nOslo,1\nRome,\n")
    options = ["median", path, "--column", "rent", "--by", "city", *GRID, "-q"]
    assert run(*options, "--groups", "Oslo,Bern").code == 0
    ended = run(*options, "--groups", "Oslo,Rome")
    assert ended == (2, "", "fastexp: error: " + GAP)


@pytest.mark.parametrize("file", ["rents.csv", "rents.parquet"])
def test_groups_from_the_data_warn_and_promise_nothing(run: Run, folder, file: str) -> None:
    code, out, err = run(*command("median", file), "--groups", "from-data", "--json")
    answer = json.loads(out)
    assert (code, answer["private"], answer["promised"]) == (0, False, None)
    assert answer["groups"] == "from-data"
    assert err.startswith("WARNING: the groups were taken from FILE")
    assert err.endswith("\npromises nothing, as a list was taken from the data\n")
    assert [row["city"] for row in answer["rows"]] == sorted([*CITIES[:3], MARKER])


def test_columns_of_every_kind_that_parquet_has(run: Run, folder) -> None:
    frame().with_columns(
        pl.col("city").cast(pl.Categorical),
        pl.col("code").cast(pl.Int8),
        (pl.col("rooms") > 4).alias("large"),
        pl.col("rent").cast(pl.Decimal(12, 2)),
    ).write_parquet("kinds.parquet")
    for by in ("city", "code"):
        answer = shown(run, *command("median", "kinds.parquet", by), *KEYED)
        assert answer["rows"] == keyed("median", by)
    options = ["--by", "code", "--groups", "codes.txt", "--epsilon", "50", "-q"]
    for column, candidates, most in (("large", "true,false", bool), ("rooms", "1,5,8", int)):
        columns = ["--column", column, "--candidates", candidates]
        rows = shown(run, "select", "kinds.parquet", *columns, *options)["rows"]
        assert [type(row[column]) for row in rows] == [most] * 4


# ---- promises, budgets ----


def test_what_is_said(run: Run, folder) -> None:
    """At most two lines, and the first before a record is read."""
    said = "promises 0.12-differential privacy (6 x 0.02): one person joins or leaves, with 2 rows "
    code, out, err = run(*MEDIAN, "--max-groups", "3", "--max-rows", "2")
    assert (code, len(out.splitlines()), out.split()[:2]) == (0, 5, ["city", "rent"])
    claim = "your claim, not checked; --person COLUMN would enforce it"
    assert err == f"{said}in each of 3 groups ({claim})\n"
    assert run(*MEDIAN, "-q").err == ""
    fx.Budget.file("b", epsilon=1.0)
    written = ["--budget", "b", "--label", "rents", "--output", "o.csv"]
    promise, paid = run(*MEDIAN, "--person", "tenant", *written).err.splitlines()
    assert promise.endswith(
        "one person (column tenant) joins or leaves; at most 1 row of a person counts in 1 group"
    )
    several = run(*MEDIAN, "--person", "tenant", "--max-groups", "2").err
    assert "at most 1 row of a person counts in each of 2 groups\n" in several
    kept = "charged 0.02, kept under label 'rents'; 0.98 of 1.0 epsilon remains"
    assert paid == f"{kept}; written: o.csv"


def test_a_budget_is_charged_once_for_the_whole_call(run: Run, folder) -> None:
    budget = fx.Budget.file("b", epsilon=0.1)
    assert run(*MEDIAN, "--max-groups", "2", "--budget", "b").code == 0
    assert (budget.spent, budget.charges) == (0.04, 1)
    code, out, err = run(*MEDIAN, "--nan", "raise", "--budget", "b")  # told after the charge
    assert (code, out) == (4, "")
    assert "charged nevertheless" in err
    assert budget.spent == 0.06
    for mistake in (["--groups", "none.txt"], ["--by", "nowhere"], ["--output", "no/o.csv"]):
        assert run(*MEDIAN, "--budget", "b", *mistake).code == 2
    assert budget.spent == 0.06  # what is public costs nothing
    assert run(*MEDIAN, "--max-groups", "3", "--budget", "b").code == 3
    assert budget.charges == 2


# ---- where answers go ----


def test_output_files(run: Run, folder) -> None:
    rows, before = keyed("median", "city"), set(Path().iterdir())
    for name in ("o.parquet", "o.csv", "o.tsv", "o.jsonl"):
        code, out, err = run(*MEDIAN, *KEYED, "--output", name)
        assert (code, out) == (0, "")
        assert err.endswith(f"; written: {name}\n")
    assert pq.read_table("o.parquet").to_pylist() == rows
    cells = [["city", "rent"], *([row["city"], str(row["rent"])] for row in rows)]
    for name, mark in (("o.csv", ","), ("o.tsv", "\t")):
        with Path(name).open(newline="") as stream:
            assert list(csv.reader(stream, delimiter=mark)) == cells
    assert [json.loads(line) for line in Path("o.jsonl").read_text().splitlines()] == rows
    names = {path.name for path in set(Path().iterdir()) - before}
    assert names == {"o.parquet", "o.csv", "o.tsv", "o.jsonl"}  # nothing else is left
    assert run("median", "rents.csv", *COMMANDS["median"], "--nan", "drop", "--output", "one.csv")[
        :2
    ] == (0, "")
    assert Path("one.csv").read_text().startswith("rent\n")


def test_names_that_are_no_formulas(run: Run, folder) -> None:
    """An apostrophe, which spreadsheets do not show, keeps them from being computed."""
    names = ["=1+1", "+1", "-x", "@x", "plain"]
    Path("f.csv").write_text("g,v\n" + "".join(f"{name},1\n" for name in names))
    Path("g.txt").write_text("\n".join(names))
    given = ["median", "f.csv", "--column", "v", "--by", "g", "--groups", "g.txt"]
    given += [
        "--epsilon",
        "50",
        "--bounds",
        "0",
        "1",
        "--step",
        "1",
        "--output",
        "o.csv",
        "--force",
    ]
    for more, mark in ((["--quote-formulas"], "'"), ([], "")):
        assert run(*given, *more).code == 0
        lines = Path("o.csv").read_text().splitlines()[1:]
        assert [line.rpartition(",")[0] for line in lines] == [
            *[mark + n for n in names[:4]],
            "plain",
        ]
    assert "--quote-formulas needs --output" in run(*given[:-3], "--quote-formulas").err


def test_other_keys_are_refused_without_showing_them(run: Run, folder) -> None:
    bad = Path("bad.key")
    bad.write_text(Path("a.key").read_text()[:-3] + "zz\n")
    code, out, err = run(*MEDIAN, "--key", bad)
    assert (code, out) == (2, "")
    assert "holds no release key" in err
    assert bad.read_text()[20:40] not in err


# ---- what does not go together ----

LIST = ["--by", "city", "--groups", "a,b"]
TOGETHER = [
    (["--groups", "a,b"], "--groups needs --by"),
    (["--max-groups", "2"], "--max-groups needs --by"),
    (["--by", "city"], "--groups is needed"),
    ([*LIST, "--label", "x"], "--label needs --budget"),
    ([*LIST, "--membership", "public"], "--membership public needs --neighbors replace"),
    ([*LIST, "--accuracy", "--output", "o.csv"], "--output is for releases"),
    (["--by", "rent", "--groups", "a,b"], "must be different columns"),
    (["--by", "city", "--groups", "from-data", "--budget", "b"], "has no privacy guarantee"),
    (["--by", "city", "--groups", "from-data", *KEYED], "has no privacy guarantee"),
    ([*LIST, "--output", "o.xls"], "--output must end in .csv, .tsv, .parquet or .jsonl"),
    ([*LIST, "--memory", "9KB"], "must be a size from 1MB on"),
    (["--by", "city", "--groups", "a,,b"], "empty"),
    (["--by", "city", "--groups", "a,a"], "is a duplicate of entry 1"),
    (
        ["--by", "city", "--groups", "rents.csv:city", "--output", "rents.csv"],
        "must not be the file of --groups",
    ),
]


@pytest.mark.parametrize(("options", "text"), TOGETHER)
def test_options_that_do_not_go_together(run: Run, folder, options: list[str], text: str) -> None:
    fx.Budget.file("b", epsilon=1.0)
    code, out, err = run("median", "rents.csv", *COMMANDS["median"], *options)
    assert (code, out) == (2, "")
    assert text in err
    assert fx.Budget.file("b").spent == 0


@pytest.mark.parametrize("which", ["top-k", "--utilities"])
def test_what_has_no_groups(run: Run, folder, which: str) -> None:
    options = ["--mechanism", "top-k", "--k", "2"] if which == "top-k" else ["--utilities"]
    assert f"{which}" in run(*command("select"), *options).err
    assert run(*command("select"), *options)[:2] == (2, "")


def test_permute_and_flip_has_groups(run: Run, folder) -> None:
    answer = shown(run, *command("select"), "--mechanism", "permute-and-flip", *KEYED)
    mechanism = fx.MostCommon(0.02, ["gas", "oil", "wood"], mechanism="permute-and-flip")
    answers = {"heating": (mechanism, "heating")}
    rows = fx.Query("city", CITIES).release(frame(), answers, key=key(), nan="drop").to_dicts()
    assert answer["rows"] == rows


def test_messages_hold_no_data(run: Run, folder) -> None:
    path = Path("bad.csv")
    path.write_text(f"city,rent\nOslo,1\n{MARKER},2\nRome,{MARKER}\n")
    options = ["--column", "rent", "--by", "city", *GRID, "--groups", "Oslo,Rome"]
    assert heard(run("median", path, *options).err, "numbers in a file")
    for file, more in ((path, []), ("rents.parquet", ["--column", "heating"])):
        code, out, err = run("median", file, *options, *more)
        assert (code, out) == (2, "")
        assert MARKER not in err
    path.write_text(f"city,rent\nOslo,1,{MARKER}\n")
    code, out, err = run("median", path, *options)
    assert (code, out, MARKER in err) == (2, "", False)
