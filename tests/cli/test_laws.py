"""Do --law, --draws and --accuracy say what the laws say, for each group, in tables and in JSON?"""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.parameters import readable
from tests.support.each import each

AGES = {"a": [20] * 30 + [37] * 50 + [90] * 20, "b": [50, 51, 53, 60], "c": []}
COLOURS = {"a": ["red"] * 40 + ["blue"] * 10, "b": ["blue"] * 3 + ["grey"], "c": []}
LEVELS = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]
GRID = {"bounds": (0, 120), "step": 1}
NUMBERS = {
    "median": fx.Median(0.05, **GRID),
    "quantile": fx.Quantile(Fraction(1, 3), 0.05, **GRID),
    "maximum": fx.Maximum(0.05, **GRID),
    "mode": fx.Mode(0.05, **GRID),
    "price": fx.Price(0.05, **GRID),
}
TRUTHS = {  # of all, of a, of b
    "median": [37, 37, 52],
    "quantile": [37, 37, 51],
    "maximum": [90, 90, 60],
    "mode": [37, 37, 50],
    "price": [37, 37, 50],
}
EVERY = AGES["a"] + AGES["b"]


@pytest.fixture
def ages(tmp_path):
    path = tmp_path / "ages.csv"
    rows = [f"{group},{age}" for group, own in AGES.items() for age in own]
    path.write_text("\n".join(["g,age", *rows, ""]))
    return [path, "--column", "age", "--bounds", 0, 120, "--step", 1, "--epsilon", 0.05]


@pytest.fixture
def colours(tmp_path):
    path = tmp_path / "colours.csv"
    rows = [f"{group},{colour}" for group, own in COLOURS.items() for colour in own]
    path.write_text("\n".join(["g,colour", *rows, ""]))
    return [path, "--column", "colour", "--candidates", "red,blue,green", "--epsilon", 0.05]


BY = ["--by", "g", "--groups", "b,a,c"]


def command(which, ages):
    return [which, *ages, *(["--q", "1/3"] if which == "quantile" else [])]


def told(run, *arguments):
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def table(out):
    """The cells below the headers, of what follows the first empty line."""
    lines = out.split("\n\n")[1].splitlines()
    return [line.split() for line in lines]


def law_facts(law, truth):
    wanted = {
        "truth": truth,
        "mean": law.mean(),
        "sd": math.sqrt(law.var()),
        "quantiles": {f"{p:g}": law.ppf(p) for p in LEVELS},
        "expected_error": None if truth is None else law.expected_error(truth),
        "error_95": None if truth is None else law.error_quantile(0.95, truth),
        "expected_loss": law.expected_loss(),
        "loss_95": law.loss_quantile(0.95),
    }
    points = zip(law.points.tolist(), law.probabilities.tolist(), strict=True)
    return {**wanted, "rows": [{"value": v, "probability": p} for v, p in points]}


@pytest.mark.slow
@each("which", NUMBERS)
def test_the_law_of_numbers(run, ages, which):
    facts = told(run, *command(which, ages), "--law")
    wanted = law_facts(NUMBERS[which].law(EVERY), TRUTHS[which][0])
    assert {name: facts[name] for name in wanted} == wanted
    assert (facts["kind"], facts["private"], facts["plot"]) == ("law", False, None)
    assert (facts["mechanism"], facts["n"], facts["by"]) == (which, len(EVERY), [])
    assert "groups" not in facts


@pytest.mark.slow
@each("which", NUMBERS)
def test_the_laws_of_numbers_by_group(run, ages, which):
    facts = told(run, *command(which, ages), "--law", *BY)
    truths = dict(zip("abc", [*TRUTHS[which][1:], None], strict=True))
    assert facts["by"] == ["g"]
    assert facts["groups"] == [
        {
            "group": {"g": name},
            "n": len(AGES[name]),
            **law_facts(NUMBERS[which].law(AGES[name]), truths[name]),
        }
        for name in "bac"
    ]


def test_the_table_of_a_law(run, ages):
    code, out, err = run("median", *ages, "--law")
    lines = out.splitlines()
    law = NUMBERS["median"].law(EVERY)
    assert (code, err) == (0, "")
    assert lines[0].startswith("NOT PRIVATE")
    assert lines[1] == (
        "median, epsilon 0.05, neighbors add-remove, on the grid 0, 1, ..., 120 (121 points)"
    )
    assert lines[3].split() == ["output", "exact", "law"]
    cells = {line.rsplit(None, 1)[0].strip(): line.rsplit(None, 1)[1] for line in lines[4:]}
    assert cells == {
        "true median": "37",
        "mean": readable(law.mean()),
        "standard deviation": readable(math.sqrt(law.var())),
        **{f"{p:.0%} quantile": str(law.ppf(p)) for p in LEVELS},
        "expected error": readable(law.expected_error(37)),
        "error in 95% of draws at most": readable(law.error_quantile(0.95, 37)),
        "expected loss against the best point (records)": readable(law.expected_loss()),
        "loss in 95% of draws at most": readable(law.loss_quantile(0.95)),
    }
    out = run("price", *ages, "--law")[1]
    assert "best price" in out
    assert "expected loss against the best point (revenue)" in out


@pytest.mark.slow
def test_the_table_of_laws_by_group(run, ages):
    code, out, err = run("median", *ages, "--law", *BY)
    assert (code, err) == (0, "no record has: 'c' (spelling?)\n")
    meaning, headers, *rows = table(out)
    assert " ".join(meaning) == "error: the expected abs(output - truth)"
    assert headers == ["g", "n", "truth", "mean", "sd", "5%", "50%", "95%", "error"]
    for row, name, truth in zip(rows, "bac", (52, 37, None), strict=True):
        law = NUMBERS["median"].law(AGES[name])
        error = None if truth is None else law.expected_error(truth)
        figures = [truth, law.mean(), math.sqrt(law.var()), *law.ppf([0.05, 0.5, 0.95]).tolist()]
        assert row == [name, str(len(AGES[name])), *(readable(x, 4) for x in (*figures, error))]
    _, headers, *rows = table(run("price", *ages, "--law", *BY)[1])
    assert headers[-1] == "loss"
    assert [row[2] for row in rows] == ["50", "37", "-"]
    loss = NUMBERS["price"].law(AGES["a"]).expected_loss()
    assert rows[1][-1] == readable(loss, 4)


def test_numbers_for_people():
    assert [readable(x) for x in (None, math.nan, 14976, 2**62 + 1)] == [
        "-",
        "-",
        "14,976",
        f"{2**62 + 1:,}",
    ]
    assert [readable(x, 4) for x in (0.123456, 1234.56, 12345.6, 1.5e20)] == [
        "0.1235", "1,235", "12,346", "1.5e20",
    ]  # fmt: skip
    assert readable(math.inf) == "inf"


# ---- simulated draws ----


def test_draws_are_those_of_a_query(run, ages):
    options = ["--draws", "2e3", "--seed", 7]
    answers, rows = {"age": (NUMBERS["median"], "age")}, {"age": EVERY}
    drawn = fx.Query().sample(rows, answers, size=2000, rng=7)["age"][0]
    facts = told(run, "median", *ages, *options)
    assert (facts["kind"], facts["private"]) == ("draws", False)
    assert (facts["draws"], facts["seed"], facts["truth"]) == (2000, 7, 37)
    times = [row["observed"] for row in facts["rows"]]
    assert times == np.bincount(drawn, minlength=121).tolist()
    assert [row["frequency"] for row in facts["rows"]] == [n / 2000 for n in times]
    law = NUMBERS["median"].law(EVERY)
    assert [row["probability"] for row in facts["rows"]] == law.probabilities.tolist()
    errors = np.sort(np.abs(drawn - 37))
    assert facts["observed"] == {
        "mean": drawn.mean(),
        "sd": drawn.std(),
        "quantiles": {f"{p:g}": np.sort(drawn)[math.ceil(2000 * p) - 1] for p in LEVELS},
        "expected_error": errors.mean(),
        "error_95": errors[1899],
    }
    wanted = law_facts(law, 37)
    assert facts["exact"] == {name: wanted[name] for name in facts["observed"]}


def test_draws_by_group_are_those_of_a_query(run, ages):
    rows = {"g": [g for g in AGES for _ in AGES[g]], "age": EVERY}
    query = fx.Query(by="g", groups=["b", "a", "c"])
    drawn = query.sample(rows, {"age": (NUMBERS["median"], "age")}, size=50, rng=3)["age"]
    facts = told(run, "median", *ages, *BY, "--draws", 50, "--seed", 3)
    assert [group["group"]["g"] for group in facts["groups"]] == ["b", "a", "c"]
    for own, group in zip(drawn, facts["groups"], strict=True):
        assert [row["observed"] for row in group["rows"]] == np.bincount(
            own, minlength=121
        ).tolist()
    _, headers, *rows = table(run("median", *ages, *BY, "--draws", 50, "--seed", 3)[1])
    assert headers == ["g", "n", "of", "mean", "sd", "5%", "50%", "95%", "error"]
    assert [row[-7] for row in rows] == ["draws", "law"] * 3
    assert rows[2][3] == readable(drawn[1].mean(), 4)
    assert rows[3][1] == readable(NUMBERS["median"].law(AGES["a"]).mean(), 4)


@pytest.mark.slow
def test_the_table_of_draws(run, ages):
    options = ["median", *ages, "--draws", 200, "--seed", 7]
    code, out, err = run(*options)
    assert (code, err) == (0, "")
    assert "200 simulated draws, seed 7, beside the exact law" in out
    drawn = fx.Query().sample({"x": EVERY}, {"age": (NUMBERS["median"], "x")}, size=200, rng=7)
    headers, mean, *_ = table(out)
    assert headers == ["output", "observed", "exact", "law"]
    assert mean == [
        "mean", readable(drawn["age"].mean()), readable(NUMBERS["median"].law(EVERY).mean()),
    ]  # fmt: skip
    assert run(*options)[1] == out
    assert "no seed" in run(*options[:-2])[1]


def test_few_draws_of_a_fine_grid_are_listed(run, ages):
    fine = ["median", *ages[:3], "--bounds", 0, 120, "--epsilon", 0.01, "--seed", 3]
    answers = {"age": (fx.Median(0.01, (0, 120)), "age")}
    drawn = fx.Query().sample({"age": EVERY}, answers, size=10_000, rng=3)["age"][0]
    facts = told(run, *fine, "--draws", 10_000)
    assert facts["values"] == drawn.tolist()
    assert "rows" not in facts
    assert "values" not in told(run, *fine, "--draws", 10_001)


@pytest.mark.slow
def test_no_records_have_a_law_but_no_truth(run, tmp_path):
    path = tmp_path / "none.csv"
    path.write_text("age\n")
    for which in ("median", "price", "mode"):
        call = [which, path, "--column", "age", "--epsilon", 1, "--bounds", 0, 9, "--step", 1]
        facts = told(run, *call, "--law")
        assert (facts["truth"], facts["expected_error"], facts["mean"]) == (None, None, 4.5)
        code, out, _ = run(*call, "--draws", 5)
        assert code == 0
        assert out.splitlines()[-2].split()[:2] == ["expected", "error"]
        assert out.splitlines()[-2].split()[2:] == ["-", "-"]
        by = [*call, "--by", "age", "--groups", "from-data", "--column", "age"]
        assert run(*by[:2], *by[4:], "--law")[0] == 2  # a column of groups is not an answer's


# ---- candidates ----


def test_the_law_of_candidates(run, colours):
    facts = told(run, "select", *colours, "--law")
    law = fx.MostCommon(0.05, ["red", "blue", "green"]).law(COLOURS["a"] + COLOURS["b"])
    assert (facts["kind"], facts["private"], facts["n"]) == ("law", False, 53)
    assert facts["expected_loss"] == law.expected_loss()
    assert facts["loss_95"] == law.loss_quantile(0.95)
    assert facts["rows"] == [
        {"candidate": c, "records": n, "probability": p, "log_probability": log}
        for c, n, p, log in zip(
            ["red", "blue", "green"],
            [40, 13, 0],
            law.probabilities.tolist(),
            law.log_probabilities.tolist(),
            strict=True,
        )
    ]
    code, out, err = run("select", *colours, "--law")
    assert (code, err) == (0, "no record has: 'green' (spelling?)\n")
    assert out.splitlines()[1].endswith(", 3 candidates")
    assert out.splitlines()[2].endswith("in records)")
    headers, *rows = table(out)
    assert headers == ["candidate", "records", "probability", "log-probability"]
    assert rows[0] == [
        "red",
        "40",
        f"{law.probabilities[0]:.6f}",
        f"{law.log_probabilities[0]:.4f}",
    ]


def test_the_laws_of_candidates_by_group(run, colours):
    facts = told(run, "select", *colours, "--law", *BY)
    mechanism = fx.MostCommon(0.05, ["red", "blue", "green"])
    for name, group in zip("bac", facts["groups"], strict=True):
        law = mechanism.law(COLOURS[name])
        assert group["group"] == {"g": name}
        assert group["expected_loss"] == law.expected_loss()
        chances = {row["candidate"]: row["probability"] for row in group["rows"]}
        assert [chances[c] for c in mechanism.candidates] == law.probabilities.tolist()
    _, headers, *rows = table(run("select", *colours, "--law", *BY)[1])
    assert headers == ["g", "n", "likeliest", "probability", "loss"]
    law = mechanism.law(COLOURS["b"])
    loss = readable(law.expected_loss(), 4)
    assert rows[0] == ["b", "3", "blue", f"{law.probabilities[1]:.6f}", loss]
    assert rows[1][:3] == ["a", "50", "red"]


def test_draws_of_candidates(run, colours):
    mechanism, rows = (
        fx.MostCommon(0.05, ["red", "blue", "green"]),
        {"c": COLOURS["a"] + COLOURS["b"]},
    )
    drawn = fx.Query().sample(rows, {"colour": (mechanism, "c")}, size=500, rng=7)["colour"][0]
    facts = told(run, "select", *colours, "--draws", 500, "--seed", 7)
    times = np.bincount(drawn, minlength=3).tolist()
    assert [row["candidate"] for row in facts["rows"]] == ["red", "blue", "green"]
    assert [row["observed"] for row in facts["rows"]] == times
    out = run("select", *colours, "--draws", 500, "--seed", 7)[1]
    assert "500 simulated draws, seed 7" in out
    assert table(out)[1][:4] == ["red", "40", str(times[0]), f"{times[0] / 500:.6f}"]
    headers = table(run("select", *colours, "--draws", 9, *BY)[1])[1]
    assert headers == ["g", "n", "likeliest", "frequency", "probability", "loss"]


@pytest.mark.slow
def test_laws_over_utilities(run, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(f"c,u\nworse,{2**62}\nbetter,{2**62 + 1}\n")  # equal as float64
    call = ["select", path, "--utilities", "--sensitivity", 1, "--epsilon", 2]
    facts = told(run, *call, "--law")
    assert [row["candidate"] for row in facts["rows"]] == ["better", "worse"]
    assert facts["rows"][0]["probability"] == pytest.approx(1 / (1 + math.exp(-1)))
    assert "records" not in facts["rows"][0]
    assert "in units of the utility" in run(*call, "--law")[1]
    drawn = fx.Exponential(2.0, 1.0).sample([2**62, 2**62 + 1], size=300, rng=1)
    facts = told(run, *call, "--draws", 300, "--seed", 1)
    assert facts["rows"][0]["observed"] == int(drawn.sum())


def test_the_first_of_several(run, colours):
    call = ["select", *colours, "--mechanism", "top-k", "--k", 2]
    law = fx.TopK(2, 0.05, 1.0, monotonic=True).law([40, 13, 0])
    facts = told(run, *call, "--law")
    assert [row["probability"] for row in facts["rows"]] == law.first_place_probabilities.tolist()
    assert [row["records"] for row in facts["rows"]] == [40, 13, 0]
    drawn = fx.TopK(2, 0.05, 1.0, monotonic=True).sample([40, 13, 0], size=60, rng=1)
    facts = told(run, *call, "--draws", 60, "--seed", 1)
    assert [row["observed"] for row in facts["rows"]] == np.bincount(
        drawn[:, 0], minlength=3
    ).tolist()


# ---- accuracy ----


@pytest.mark.slow
def test_accuracy_is_that_of_queries(run, ages):
    rows = {"g": [g for g in AGES for _ in AGES[g]], "age": EVERY}
    query = fx.Query(by="g", groups=["b", "a", "c"])
    figures = query.accuracy(rows, {"age": (NUMBERS["median"], "age")})
    facts = told(run, "median", *ages, "--accuracy", *BY)
    assert (facts["kind"], facts["private"], facts["by"]) == ("accuracy", False, ["g"])
    assert facts["answers"]["age"]["epsilon"] == 0.05
    for i, row in enumerate(facts["rows"]):
        assert row.pop("group") == {"g": "bac"[i]}
        assert row == {
            name: None if x != x else x
            for name in ("answer", "measure", "n", "truth", "bias", "expected", "quantile", "best")
            for x in [figures[name][i]]
        }
    code, out, _ = run("median", *ages, "--accuracy", *BY)
    assert code == 0
    assert out.startswith("NOT PRIVATE")
    _, headers, *cells = table(out)
    assert headers == ["g", "n", "truth", "bias", "error", "95%"]
    numbers = [figures[name][1] for name in ("truth", "bias", "expected", "quantile")]
    assert cells[1] == ["a", "100", *(readable(x, 4) for x in numbers)]
    assert cells[2] == ["c", "0", "-", "-", "-", "-"]
    assert table(run("median", *ages, "--accuracy")[1])[1][0] == "n"


def test_accuracy_of_candidates(run, colours):
    law = fx.MostCommon(0.05, ["red", "blue", "green"]).law(COLOURS["a"])
    _, meaning, headers, *cells = table(run("select", *colours, "--accuracy", *BY)[1])
    assert meaning[0] == "best:"
    assert headers == ["g", "n", "loss", "95%", "best"]
    most = law.probabilities[0]  # of red
    figures = [readable(x, 4) for x in (law.expected_loss(), law.loss_quantile(0.95), most)]
    assert cells[1] == ["a", "50", *figures]
