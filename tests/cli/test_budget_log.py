"""Does ``fastexp budget`` tell what was charged, when, for what, and what to do about it?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import fastexp as fx
from tests.doors.selection import draw
from tests.messages import heard
from tests.support.budget_lines import checked
from tests.support.command_line import Run

MEDIAN = fx.Median(0.5, bounds=(0, 9000), step=100)
FUEL = fx.MostCommon(0.25, ["gas", "oil"])
ANSWERS = {"median": (MEDIAN, "rent"), "fuel": (FUEL, "heating")}
RENTS = {
    "city": ["Rome", "Oslo"] * 50,
    "year": [2024] * 100,
    "rent": [600, 900] * 50,
    "heating": ["gas"] * 100,
    "tenant": list(range(100)),
}
QUERY = fx.Query(
    by=["city", "year"],
    groups=[("Rome", 2024), ("Oslo", 2024), ("Bern", 2024)],
    person="tenant",
    max_rows=3,
)
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "survey.budget"


@pytest.fixture
def budget(file: Path) -> fx.Budget:
    return fx.Budget.file(file, epsilon=10.0)


def left_open(budget: fx.Budget, label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that was interrupted while it drew."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(draw, "release", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fx.Exponential(0.1, 1.0).release([1.0, 2.0], budget=budget, label=label)


def failed(budget: fx.Budget, label: str) -> None:
    with pytest.raises(fx.errors.InvalidRecords):
        fx.Query().release({"x": [None, 1.0]}, {"m": (MEDIAN, "x")}, budget=budget, label=label)


def test_facts_are_aligned(run: Run, file: Path) -> None:
    fx.Budget.file(file, epsilon=1.0, delta=1e-6)
    code, out, err = run("budget", file)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    values = {line.rindex("  ") for line in lines}
    assert len(values) == 1  # all begin in one column
    assert lines[0].split() == ["unit", "epsilon"]
    assert lines[-1].split() == ["remaining_delta", "1e-06"]


def test_the_log_says_what_when_for_whom(run: Run, file: Path, budget, monkeypatch) -> None:
    QUERY.release(RENTS, ANSWERS, budget=budget, label="rents 2024", note="for the yearbook")
    budget.charge(FUEL.guarantee, name="elsewhere")
    first, second = budget.log()
    monkeypatch.setenv("COLUMNS", "250")
    code, out, err = run("budget", file, "--log")
    assert (code, err) == (0, "")
    table, sums = out.split("\n\n")
    assert sums == run("budget", file)[1]
    assert re.search("^spent +2.5$", sums, re.M)
    assert [re.split(" {2,}", line) for line in table.splitlines()] == [
        ["time", "what", "label", "note", "epsilon", "state"],
        [
            first["time"].replace("T", " "),
            first["about"],
            *("rents 2024", "for the yearbook", "2.25", "answered"),
        ],
        [second["time"].replace("T", " "), "elsewhere", "0.25", "charged"],
    ]


def test_the_log_fits_a_terminal(run: Run, file: Path, budget, monkeypatch) -> None:
    QUERY.release(RENTS, ANSWERS, budget=budget, label="rents 2024", note="for the yearbook")
    monkeypatch.setenv("COLUMNS", "80")
    out = run("budget", file, "--log")[1]
    assert all(len(line) <= 80 for line in out.splitlines())
    assert {*budget.log()[0]["about"].split(), "yearbook", "answered"} <= {*out.split()}


def test_the_log_as_json_has_everything(run: Run, file: Path, budget: fx.Budget) -> None:
    QUERY.release(RENTS, ANSWERS, budget=budget, label="rents 2024", note="for the yearbook")
    for more in ([], ["--log"]):
        code, out, err = run("budget", file, "--json", *more)
        assert (code, err) == (0, "")
        (entry,) = json.loads(out)["log"]
        assert re.fullmatch(TIME, entry.pop("time"))
        assert entry == {
            "name": "Median, MostCommon",
            "about": "Median of rent, MostCommon of heating; by city, year (3 groups); "
            "person tenant, max_rows 3",
            "label": "rents 2024",
            "note": "for the yearbook",
            "epsilon": 2.25,
            "delta": 0.0,
            "state": "answered",
        }


def test_nothing_is_charged(run: Run, file: Path, budget: fx.Budget) -> None:
    assert budget.charges == 0
    code, sums, _ = run("budget", file)
    assert run("budget", file, "--log") == (code, f"nothing is charged\n\n{sums}", "")


def test_columns_that_nobody_filled_are_left_out(run: Run, file: Path, budget: fx.Budget) -> None:
    budget.charge(FUEL.guarantee)
    header = run("budget", file, "--log")[1].splitlines()[0]
    assert header.split() == ["time", "epsilon", "state"]
    budget.charge(FUEL.guarantee, note="by telephone")
    assert "note" in run("budget", file, "--log")[1]


def test_rho_and_delta(run: Run, file: Path, tmp_path: Path) -> None:
    fx.Budget.file(file, rho=1.0).charge(FUEL.guarantee)
    assert "rho" in run("budget", file, "--log")[1]
    other = tmp_path / "other.budget"
    budget = fx.Budget.file(other, epsilon=1.0, delta=1e-6)
    fx.TopK(1, 0.5, 1.0, delta=1e-7).release([1.0, 2.0], budget=budget)
    out = run("budget", other, "--log")[1]
    assert "delta" in out
    assert "1e-07" in out


def test_open_labels_are_told(run: Run, file: Path, budget, monkeypatch) -> None:
    left_open(budget, "rents", monkeypatch)
    code, out, err = run("budget", file)
    assert (code, err) == (0, "")
    assert re.search(rf"^open +'rents', charged {TIME}$", out, re.M)
    told = "call with this label gives the answers, and is not charged again."
    assert told in out
    assert told in run("budget", file, "--log")[1]
    fx.Exponential(0.1, 1.0).release([1.0, 2.0], budget=budget, label="rents")  # as told
    assert budget.charges == 1
    for more in ([], ["--log"]):
        assert "open" not in run("budget", file, *more)[1]


def test_failures_are_told(run: Run, file: Path, budget: fx.Budget) -> None:
    failed(budget, "rents")
    out = run("budget", file, "--log")[1]
    assert "used up: take another one, which is charged anew." in out
    assert "used up" not in run("budget", file)[1]


@pytest.mark.parametrize("option", ["--log", "--json"])
def test_forged_words_move_no_terminal(run: Run, file: Path, option: str, monkeypatch) -> None:
    budget = fx.Budget.file(file, epsilon=10.0)
    left_open(budget, "FORGED", monkeypatch)
    QUERY.release(RENTS, ANSWERS, budget=budget, label="LABEL", note="NOTED")
    evil = rb"\u001b[31m\u202e\n\r\b\u0000\udead"
    text = file.read_bytes()
    for word in (b"FORGED", b"LABEL", b"NOTED", b"Median of rent"):
        text = text.replace(word, word[:1] + evil)
    text = text.replace(b'"time": "', b'"time": "' + evil)
    file.write_text(checked(text.decode("ascii")))
    for more in ([], [option]):
        code, out, err = run("budget", file, *more)
        assert (code, err) == (0, "")
        assert all(character.isprintable() for character in out.replace("\n", ""))
        assert "\udead" not in out


def test_a_file_of_another_version_is_told(run: Run, file: Path, budget: fx.Budget) -> None:
    file.write_text(file.read_text().replace('"version": 4', '"version": 3'))
    code, out, err = run("budget", file, "--log")
    assert (code, out) == (1, "")
    assert heard(err, "budget file of another version")


# ---- what commands say of themselves ----

NUMBERS = ["--column", "rent", "--epsilon", "0.5", "--bounds", "0", "9000", "--step", "100"]
PUBLICATION = """\
source = "rents.csv"
budget = "survey.budget"
label = "q"
note = "for the yearbook"
[answers.middle]
mechanism = "median"
column = "rent"
epsilon = 0.5
bounds = [0, 9000]
step = 100
"""
COMMANDS = {
    "Median of rent": ["median", "rents.csv", *NUMBERS],
    "Quantile of rent; by city (2 groups)": [
        *["quantile", "rents.csv", *NUMBERS, "--q", "0.9", "--by", "city", "--groups", "Rome,Oslo"]
    ],
    "Maximum of rent; person tenant, max_rows 2": [
        *["maximum", "rents.csv", *NUMBERS, "--person", "tenant", "--max-rows", "2"]
    ],
    "MostCommon of city": [
        *["select", "rents.csv", "--column", "city", "--candidates", "Rome,Oslo"],
        *["--epsilon", "0.5"],
    ],
    "Exponential": [
        *["select", "scores.csv", "--utilities", "--sensitivity", "1", "--epsilon", "0.5"]
    ],
    "TopK of city": [
        *["select", "rents.csv", "--column", "city", "--candidates", "Rome,Oslo"],
        *["--epsilon", "0.5", "--mechanism", "top-k", "--k", "1"],
    ],
}


@pytest.fixture
def folder(tmp_path: Path, budget: fx.Budget, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the process is in, with rents, scores and a budget."""
    rows = [f"{'Rome' if i % 2 else 'Oslo'},{i * 10},t{i}" for i in range(100)]
    (tmp_path / "rents.csv").write_text("\n".join(["city,rent,tenant", *rows]))
    (tmp_path / "scores.csv").write_text("candidate,utility\na,900\nb,3\n")
    (tmp_path / "p.toml").write_text(PUBLICATION)
    monkeypatch.chdir(tmp_path)
    assert budget.charges == 0
    return tmp_path


@pytest.mark.engines
@pytest.mark.parametrize("about", COMMANDS)
@pytest.mark.parametrize("label", [[], ["--label", "q"]])
def test_a_command_is_told_with_its_note(run: Run, folder, budget, about: str, label) -> None:
    asked = [*COMMANDS[about], "--budget", "survey.budget", "--note", "for the yearbook"]
    done = run(*asked, *label)
    assert done.code == 0, done.err
    (entry,) = budget.log()
    assert (entry["about"], entry["note"]) == (about, "for the yearbook")


@pytest.mark.engines
def test_a_publication_is_told_with_its_note(run: Run, folder, budget: fx.Budget) -> None:
    done = run("release", "p.toml")
    assert done.code == 0, done.err
    (entry,) = budget.log()
    assert (entry["about"], entry["note"]) == ("Median of rent", "for the yearbook")


@pytest.mark.engines
@pytest.mark.parametrize("bad", ["", "a\nb", "\x1b[2J", "\udcff", "x" * 201])
@pytest.mark.parametrize("about", ["Median of rent", "Exponential", "TopK of city"])
def test_a_hostile_note_is_refused(run: Run, folder, budget, about: str, bad: str) -> None:
    asked = [*COMMANDS[about], "--budget", "survey.budget"]
    code, out, err = run(*asked, "--note", bad)
    assert (code, out) == (2, "")
    assert "note must be" in err
    assert budget.charges == 0


@pytest.mark.engines
def test_a_note_needs_a_budget(run: Run, folder) -> None:
    for about in ("Median of rent", "Exponential"):
        code, out, err = run(*COMMANDS[about], "--note", "n")
        assert (code, out) == (2, "")
        assert "--note needs --budget" in err
