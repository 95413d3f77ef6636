"""Does `--by` answer as the mechanisms do by group, say what it promises, and keep data secret?"""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import fastexp as fx
from fastexp.cli import grouped_csv, grouped_parquet, output
from tests.command_line import Run

MARKER = "SECRET-7341"
CITIES = ["Oslo", "Rome", "Bern, old", "Ur"]  # nobody is in Ur
CODES = [3, -7, 40, 8]
BOUNDS = ["--bounds", "0", "9999", "--step", "0.5"]
MEDIAN = ["median", "{file}", "--column", "rent", "--epsilon", "0.02", *BOUNDS]


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
    )  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    data = frame()
    data.write_csv(tmp_path / "rents.csv")
    data.write_parquet(tmp_path / "rents.parquet", row_group_size=700)
    (tmp_path / "cities.txt").write_text("".join(f"{c}\n" for c in CITIES))
    (tmp_path / "codes.txt").write_text("".join(f"{c}\n" for c in CODES))
    (tmp_path / "a.key").write_text(fx.release_key().export())
    (tmp_path / "a.key").chmod(0o600)
    return {path.name: str(path) for path in tmp_path.iterdir()}


def key_of(files: dict[str, str]) -> fx.ReleaseKey:
    return fx.ReleaseKey.restore(Path(files["a.key"]).read_text())


def found(run: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    parsed: dict[str, Any] = json.loads(out)
    return parsed


def values(answer: dict[str, Any], name: str = "value") -> list[Any]:
    return [row[name] for row in answer["rows"]]


READERS = ["rents.csv", "rents.parquet", "pyarrow"]


@pytest.fixture
def reader(request: pytest.FixtureRequest, files, monkeypatch) -> str:
    """A file; with pyarrow alone for the last one."""
    if request.param == "pyarrow":
        monkeypatch.setitem(sys.modules, "polars", None)
        return files["rents.parquet"]
    return files[request.param]


def command(which: str, file: str) -> list[str]:
    if which == "select":
        options = ["--column", "heating", "--candidates", "gas,oil,wood", "--epsilon", "0.02"]
    elif which == "price":
        options = ["--column", "rent", "--epsilon", "0.02", "--bounds", "0", "1000", "--step", "1"]
    else:
        options = ["--column", "rent", "--epsilon", "0.02", *BOUNDS]
    more = ["--q", "1/3"] if which == "quantile" else []
    drop = [] if which == "select" else ["--nan", "drop"]
    return [which, file, *options, *more, *drop]


def mechanism(which: str) -> tuple[Any, str, dict[str, Any]]:
    from fractions import Fraction

    how = {"nan": "drop"}
    return {
        "median": (fx.Median(0.02, (0, 9999), step=0.5), "rent", how),
        "quantile": (fx.Quantile(Fraction(1, 3), 0.02, (0, 9999), step=0.5), "rent", how),
        "price": (fx.Price(0.02, (0, 1000), step=1), "rent", how),
        "select": (fx.MostCommon(0.02, ["gas", "oil", "wood"]), "heating", {}),
    }[which]


WHICH = ["median", "quantile", "price", "select"]


# ---- the answers are the mechanism's ----


@pytest.mark.engines
@pytest.mark.parametrize("by", ["city", "code"])
@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("reader", READERS, indirect=True)
def test_keyed_answers_are_those_of_python(
    run: Run, files, reader: str, which: str, by: str
) -> None:
    made, column, how = mechanism(which)
    groups = CITIES if by == "city" else CODES
    data, label = frame(), f"{column} by {by}"
    exact = made.release(
        data[column], by=data[by], groups=groups, key=key_of(files), label=label, **how
    )
    listed = files["cities.txt" if by == "city" else "codes.txt"]
    options = ["--by", by, "--groups", listed, "--key", files["a.key"]]
    shown = found(run, *command(which, reader), *options)
    assert [row["group"] for row in shown["rows"]] == groups
    assert values(shown, "selected" if which == "select" else "value") == list(exact)
    assert shown["keys"] == ("text" if by == "city" else "integers")
    assert (shown["label"], shown["private"]) == (label, True)


@pytest.mark.engines
@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("reader", READERS[:2], indirect=True)
def test_seeded_draws_are_those_of_python(run: Run, files, reader: str, which: str) -> None:
    made, column, how = mechanism(which)
    data = frame()
    exact = made.sample(data[column], 7, by=data["code"], groups=CODES, rng=3, **how)
    if which == "select":
        exact = np.array(made.candidates)[exact]
    options = ["--by", "code", "--groups", files["codes.txt"], "--draws", "7", "--seed", "3"]
    shown = found(run, *command(which, reader), *options)
    assert (shown["kind"], shown["private"]) == ("draws", False)
    assert values(shown, "observed" if which == "select" else "values") == exact.tolist()


@pytest.mark.engines
@pytest.mark.parametrize("person", ["tenant", "id"])
@pytest.mark.parametrize("reader", READERS, indirect=True)
def test_persons_are_bounded_as_in_python(run: Run, files, reader: str, person: str) -> None:
    made, _, how = mechanism("median")
    data, key = frame(), key_of(files)
    limits: dict[str, int] = {"max_groups": 2, "max_rows": 1}
    exact = made.release(
        data["rent"], by=data["city"], groups=CITIES, person=data[person], **limits,
        key=key, label="x", **how,
    )  # fmt: skip
    options = ["--by", "city", "--groups", files["cities.txt"], "--person", person]
    options += ["--max-groups", "2", "--key", files["a.key"], "--label", "x"]
    shown = found(run, *command("median", reader), *options)
    assert values(shown) == exact.tolist()
    free = made.release(data["rent"], by=data["city"], groups=CITIES, key=key, label="x", **how)
    assert exact.tolist() != free.tolist()  # so that the limits matter here
    assert (shown["persons"], shown["promised"]["epsilon"]) == ("enforced", 0.04)


@pytest.mark.engines
@pytest.mark.parametrize("nan", ["lower", "upper"])
@pytest.mark.parametrize("reader", READERS[:2], indirect=True)
def test_gaps_may_be_bounds(run: Run, files, reader: str, nan: str) -> None:
    data, made = frame(), mechanism("median")[0]
    how = {"by": data["city"], "groups": CITIES, "key": key_of(files), "label": "rent by city"}
    exact = made.release(data["rent"], nan=nan, **how)
    options = ["--by", "city", "--groups", files["cities.txt"], "--key", files["a.key"]]
    shown = found(run, *command("median", reader)[:-1], nan, *options)
    assert values(shown) == exact.tolist()


def test_a_gap_in_a_group_that_is_not_listed_is_none(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("city,rent\nOslo,1\nRome,\n")
    how = ["median", path, "--column", "rent", "--by", "city", "--epsilon", "1", *BOUNDS]
    assert run(*how, "--groups", "Oslo,Bern")[0] == 0
    code, out, err = run(*how, "--groups", "Oslo,Rome")
    assert (code, out) == (2, "")
    assert err == "fastexp: error: records must not be missing or NaN (see --nan)\n"


@pytest.mark.engines
def test_groups_from_the_data(run: Run, files) -> None:
    made, column, how = mechanism("median")
    data = frame()
    for by in ("city", "code"):
        with pytest.warns(fx.PrivacyWarning):
            names, exact = made.release(
                data[column], by=data[by], groups="from-data", key=key_of(files),
                label=f"rent by {by}", **how,
            )  # fmt: skip
        for file in (files["rents.csv"], files["rents.parquet"]):
            options = ["--by", by, "--groups", "from-data", "--key", files["a.key"]]
            code, out, err = run(*command("median", file), *options, "--json")
            shown = json.loads(out)
            assert (code, shown["private"], shown["promised"]) == (0, False, None)
            assert err.startswith("WARNING: the groups were taken from the file")
            assert "promised: nothing, as the groups were taken from the data" in err
            assert [row["group"] for row in shown["rows"]] == names
            assert values(shown) == exact.tolist()


@pytest.mark.engines
def test_columns_of_every_kind_that_parquet_has(run: Run, files, tmp_path: Path) -> None:
    data = frame().with_columns(
        pl.col("city").cast(pl.Categorical),
        pl.col("code").cast(pl.Int8),
        (pl.col("rent") > 500).alias("dear"),
        pl.col("rent").cast(pl.Decimal(12, 2)),
    )
    data.write_parquet(tmp_path / "kinds.parquet")
    made, key = mechanism("median")[0], key_of(files)
    plain = frame()
    more = ["--key", files["a.key"], "--nan", "drop"]
    for by, groups in (("city", CITIES), ("code", CODES)):
        how = {"by": plain[by], "groups": groups, "key": key, "label": f"rent by {by}"}
        exact = made.release(plain["rent"], **how, nan="drop")
        listed = files["cities.txt" if by == "city" else "codes.txt"]
        asked = [*MEDIAN[2:], "--by", by, "--groups", listed, *more]
        assert values(found(run, "median", tmp_path / "kinds.parquet", *asked)) == exact.tolist()
    asked = ["--by", "code", "--groups", files["codes.txt"], "--key", files["a.key"]]
    for column, candidates in (("dear", "true,false"), ("rooms", "1,5,8")):
        labels: list[Any] = [True, False] if column == "dear" else [1, 5, 8]
        record = data[column].to_list()
        how = {"by": plain["code"], "groups": CODES, "key": key, "label": f"{column} by code"}
        exact = fx.MostCommon(0.1, labels).release(record, **how)
        options = ["--column", column, "--candidates", candidates, "--epsilon", "0.1", *asked]
        shown = found(run, "select", tmp_path / "kinds.parquet", *options)
        assert values(shown, "selected") == exact


# ---- keys of CSV are cells as the csv module has them ----

ODD = [
    'city,n,x\r\n"a, b",1,1\r\n"say ""hi""",2,2\r\n  c,3,3\r\n" d",4,4\r\n"",5,5\r\ne ,6,6\r\n',
    'n;city\n1;"x;""y"""\n2;  z\n3;é\n\n4;"""q"""\n5;" "\n',
]


@pytest.mark.parametrize("text", ODD)
def test_cells_are_those_of_the_csv_module(tmp_path: Path, text: str) -> None:
    path, delimiter = tmp_path / "a.csv", ";" if ";" in text.splitlines()[0] else ","
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    header, *rows = [row for row in lines if row]
    at, seen = header.index("city"), []
    for cells in grouped_csv.blocks_of(str(path), ["city", "n"], delimiter):
        if cells:
            found = grouped_csv.texts(cells[0])
            bounds = zip(found.offsets[:-1], found.offsets[1:], strict=True)
            seen += [found.values[a:b].tobytes().decode() for a, b in bounds]
    assert seen == [row[at] for row in rows]


def test_rows_that_are_not_plain_are_read_by_the_csv_module(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("city,n\n" + '"two\nlines",7\na, "5"\n' * 400)
    how = ["median", path, "--column", "n", "--by", "city", "--epsilon", "50"]
    shown = found(run, *how, "--bounds", "0", "9", "--step", "1", "--groups", '"two\nlines",a')
    assert values(shown) == [7, 5]


# ---- integers or text ----


@pytest.mark.parametrize(
    ("listed", "keys", "groups"),
    [
        ("7\n-8\n0\n8\n", "integers", [7, -8, 0, 8]),
        ("007\n", "text", ["007"]),
        ("7\nx\n", "text", ["7", "x"]),
        ("-0\n", "text", ["-0"]),
        ("9223372036854775808\n", "text", ["9223372036854775808"]),
    ],
)
def test_the_list_decides_for_csv(run: Run, tmp_path: Path, listed: str, keys: str, groups) -> None:
    path, names = tmp_path / "a.csv", tmp_path / "g.txt"
    path.write_text(
        "c,x\n" + "007,1\n7,2\n7,2\n-8,3\n0,4\nx,5\n-0,6\n9223372036854775808,7\n8.0,8\n" * 200
    )
    names.write_text("\ufeff" + listed.replace("\n", "\r\n"), encoding="utf-8")
    how = ["median", path, "--column", "x", "--by", "c", "--epsilon", "50", "--groups", names]
    code, out, err = run(*how, "--bounds", "0", "9", "--step", "1", "--json")
    shown = json.loads(out)
    assert (code, shown["keys"]) == (0, keys)
    assert f"column 'c' was read as {keys}" in err
    assert [row["group"] for row in shown["rows"]] == groups
    cells = {"007": 1, "7": 2, "x": 5, "-0": 6, "9223372036854775808": 7, 7: 2, -8: 3, 8: 8}
    assert all(values(shown)[i] == cells[g] for i, g in enumerate(groups) if g != 0)


@pytest.mark.engines
def test_parquet_decides_for_its_lists(run: Run, files, tmp_path: Path) -> None:
    lists = tmp_path / "lists.parquet"
    pl.DataFrame({"city": CITIES, "code": CODES, "x": [0.5, 1.5, 2.5, 3.5]}).write_parquet(lists)
    (tmp_path / "lists.csv").write_text('n,city\n1,Oslo\n2,"Bern, old"\n')
    ask = [*command("median", files["rents.parquet"]), "--by"]
    assert found(run, *ask, "city", "--groups", f"{lists}:city")["keys"] == "text"
    assert found(run, *ask, "code", "--groups", f"{lists}:code")["keys"] == "integers"
    shown = found(run, *ask, "city", "--groups", f"{tmp_path / 'lists.csv'}:city")
    assert [row["group"] for row in shown["rows"]] == ["Oslo", "Bern, old"]
    for by, column, text in (
        ("city", "code", "holds integers, but column 'city' text"),
        ("code", "city", "holds text, but column 'code' integers"),
        ("city", "x", "must be one column of integers, text"),
    ):
        code, out, err = run(*ask, by, "--groups", f"{lists}:{column}")
        assert (code, out) == (2, "")
        assert text in err


LISTS = [
    ("a\n\nb\n", "line 2 of {} is blank"),
    ("a\n \nb\n", "line 2 of {} is blank"),
    ("\n \n", "{} names no group"),
    ("a\nb\na\n", "line 3 of {} names 'a' again (the first time: line 1)"),
    ("", "{} names no group"),
    ("a\nb \n", "line 2 of {} has blanks at an end: 'b '"),
    ("a\0\n", "{} is not UTF-8 text"),
]


@pytest.mark.engines
@pytest.mark.parametrize(("content", "text"), LISTS)
def test_faults_of_a_list_are_named(run: Run, files, tmp_path, content: str, text: str) -> None:
    path = tmp_path / "g.txt"
    path.write_text(content)
    code, out, err = run(*command("median", files["rents.csv"]), "--by", "city", "--groups", path)
    assert (code, out) == (2, "")
    assert text.format(repr(str(path))) in err


# ---- promises, budgets ----


@pytest.mark.engines
def test_the_report(run: Run, files) -> None:
    how = [*command("median", files["rents.csv"]), "--by", "city", "--groups", files["cities.txt"]]
    code, out, err = run(*how, "--max-groups", "3", "--max-rows", "2")
    lines = err.splitlines()
    assert (code, len(out.splitlines())) == (0, 5)
    assert out.split()[:2] == ["city", "rent"]
    assert lines[0].startswith("all answers together: epsilon 0.12 = 0.02 x 3 groups x 2 rows; ")
    lines = lines[1:]
    assert lines[0].startswith("groups: 4 of ")
    assert lines[1].startswith("promised: 0.12-differential privacy of all answers together, ")
    assert "(one person joins or leaves, with all of their records)" in lines[1]
    assert lines[2].startswith("claimed by you, not checked: each person is in at most 3 groups, ")
    assert run(*how, "--quiet")[2] == ""
    err = run(*how, "--person", "tenant")[2]
    assert "enforced: of each person (column 'tenant') at most 1 group and in each" in err


@pytest.mark.engines
def test_replacing_costs_twice_unless_groups_are_public(run: Run, files) -> None:
    how = [*command("median", files["rents.csv"])[:-1], "lower", "--by", "city"]
    how += ["--groups", files["cities.txt"], "--neighbors", "replace"]
    assert found(run, *how)["promised"]["epsilon"] == 0.04
    assert found(run, *how, "--membership", "public")["promised"]["epsilon"] == 0.02


@pytest.mark.engines
def test_a_budget_is_charged_once_for_the_whole_call(run: Run, files, tmp_path: Path) -> None:
    path = tmp_path / "b.budget"
    run("budget", path, "--epsilon", "0.1")
    how = [*command("median", files["rents.csv"]), "--by", "city", "--groups", files["cities.txt"]]
    code, _, err = run(*how, "--max-groups", "2", "--budget", path)
    assert code == 0
    assert err.splitlines()[-1].startswith("budget: charged 0.04 for add-remove; 0.06 of 0.1")
    failing = [*how[:-6], "--nan", "raise", *how[-4:], "--budget", path]
    code, out, err = run(*failing)  # a gap: told after the charge
    assert (code, out) == (2, "")
    assert err.startswith("charged nevertheless")
    assert found(run, "budget", path)["spent"] == 0.06
    for mistake in (["--groups", "none.txt"], ["--by", "nowhere"], ["--output", "no/o.csv"]):
        assert run(*how, "--budget", path, *mistake)[0] == 2
    assert found(run, "budget", path)["spent"] == 0.06  # what is public costs nothing
    assert run(*how, "--max-groups", "3", "--budget", path)[0] == 3
    assert found(run, "budget", path)["charges"] == 2


# ---- where answers go ----


@pytest.mark.engines
def test_output_files(run: Run, files, tmp_path: Path, monkeypatch) -> None:
    how = [*command("median", files["rents.parquet"]), "--by", "city", "--groups"]
    how += [files["cities.txt"], "--key", files["a.key"]]
    answers = values(found(run, *how))
    for name in ("o.parquet", "o.csv", "o.json"):
        code, out, err = run(*how, "--output", tmp_path / name)
        assert (code, out) == (0, "")
        assert f"written: {tmp_path / name}" in err
    table = pq.read_table(tmp_path / "o.parquet")
    assert table.to_pydict() == {"city": CITIES, "rent": answers}
    with (tmp_path / "o.csv").open(newline="") as stream:
        assert list(csv.reader(stream)) == [
            ["city", "rent"], *([c, str(x)] for c, x in zip(CITIES, answers, strict=True))
        ]  # fmt: skip
    rows = json.loads((tmp_path / "o.json").read_text())
    assert rows == [{"city": c, "rent": x} for c, x in zip(CITIES, answers, strict=True)]
    monkeypatch.setitem(sys.modules, "polars", None)
    assert run(*how, "--output", tmp_path / "p.parquet")[0] == 0
    assert pq.read_table(tmp_path / "p.parquet").to_pydict() == table.to_pydict()
    assert {p.name for p in tmp_path.iterdir()} == {
        *files,
        "o.parquet",
        "o.csv",
        "o.json",
        "p.parquet",
    }


@pytest.mark.engines
def test_draws_as_lists_or_rows(run: Run, files, tmp_path: Path) -> None:
    how = [*command("select", files["rents.csv"]), "--by", "code", "--groups", files["codes.txt"]]
    how += ["--draws", "3", "--seed", "1"]
    drawn = values(found(run, *how), "observed")
    run(*how, "--output", tmp_path / "o.parquet")
    assert pl.read_parquet(tmp_path / "o.parquet")["heating"].to_list() == drawn
    run(*how, "--output", tmp_path / "o.csv")
    listed = pl.read_csv(tmp_path / "o.csv")
    assert listed["heating"].to_list() == [x for row in drawn for x in row]
    out = run(*how)[1]
    assert out.startswith("NOT PRIVATE")
    assert "3 simulated draws of each of 4 groups, seed 1" in out


# ---- what does not go together ----

TOGETHER = [
    (["--groups", "a,b"], "--groups belongs to --by"),
    (["--max-rows", "2"], "--max-rows belongs to --by"),
    (["--output", "o.csv"], "--output belongs to --by"),
    (["--by", "city"], "--groups is needed"),
    (["--by", "city", "--groups", "a,b", "--law"], "--law does not go with --by"),
    (["--by", "city", "--groups", "a,b", "--label", "x"], "--label belongs to --budget"),
    (["--by", "rent", "--groups", "a,b"], "must be two columns"),
    (["--by", "city", "--groups", "from-data", "--budget", "b"], "keeps no promise"),
    (["--by", "city", "--groups", "a,b", "--output", "o.xls"], "must end in .parquet"),
    (["--by", "city", "--groups", "a,b", "--memory", "9KB"], "must be a size from 1MB on"),
    (["--by", "city", "--groups", "a,,b"], "--groups has an empty entry"),
    (["--by", "city", "--groups", "a,a"], "--groups names a group twice"),
    (["--by", "city", "--groups", "{file}"], "the groups of the data are private"),
    (["--by", "city", "--groups", "{file}:city", "--output", "{file}"], "would overwrite"),
]


@pytest.mark.engines
@pytest.mark.parametrize(("options", "text"), TOGETHER)
def test_options_that_do_not_go_together(run: Run, files, options: list[str], text: str) -> None:
    given = [option.format(file=files["rents.csv"]) for option in options]
    code, out, err = run(*command("median", files["rents.csv"]), *given)
    assert (code, out) == (2, "")
    assert text in err


@pytest.mark.engines
def test_only_the_exponential_mechanism_has_groups(run: Run, files) -> None:
    how = [*command("select", files["rents.csv"]), "--by", "city", "--groups", "Oslo,Rome"]
    assert "exponential only" in run(*how, "--mechanism", "permute-and-flip")[2]


@pytest.mark.engines
def test_messages_hold_no_data(run: Run, files, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"city,rent\nOslo,1\n{MARKER},2\nRome,{MARKER}\n")
    ask = ["--column", "rent", "--by", "city", "--epsilon", "1", *BOUNDS, "--groups", "Oslo,Rome"]
    assert "must hold numbers only" in run("median", path, *ask)[2]
    for file, more in ((path, []), (files["rents.parquet"], ["--column", "heating"])):
        code, out, err = run("median", file, *ask, *more)
        assert (code, out) == (2, "")
        assert MARKER not in err
    path.write_text(f"city,rent\nOslo,1,{MARKER}\n")
    code, out, err = run("median", path, *ask)
    assert (code, out, MARKER in err) == (2, "", False)


@pytest.mark.engines
def test_what_parquet_must_hold(run: Run, files, monkeypatch) -> None:
    how = command("median", files["rents.parquet"])
    err = run(*how, "--by", "rooms", "--groups", "1,x")[2]
    assert "column 'rooms' holds integers, but entry 2 of the command line ('x') is none" in err
    err = run("median", *how[1:], "--column", "rooms", "--by", "rent", "--groups", "1,2")[2]
    assert "column 'rent' of " in err
    assert "holds floats, neither integers nor text" in err
    monkeypatch.setattr(output, "optional", lambda _: None)
    monkeypatch.setattr(grouped_parquet, "optional", lambda _: None)
    code, _, err = run(*how, "--by", "city", "--groups", "1,x")
    assert (code, "pip install polars" in err) == (1, True)
