"""Does the command line keep a budget, and tell what it refuses?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fastexp as fx
from fastexp import errors
from tests.messages import heard
from tests.support.command_line import Run

MARKER = "SECRET-7341"


@pytest.fixture
def select(tmp_path: Path) -> list[object]:
    """A release of epsilon 40 that hardly ever errs."""
    path = tmp_path / "colours.csv"
    path.write_text("colour\n" + "red\n" * 500 + f"{MARKER}\n")
    return ["select", path, "--column", "colour", "--candidates", "red,blue", "--epsilon", "40"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "survey.budget"


SHOWN = """\
unit       epsilon
neighbors  add-remove
total      100.0
spent      {spent}
remaining  {remaining}
charges    {charges}
"""


@pytest.mark.slow
def test_a_budget_is_created_charged_shown_and_kept(run: Run, select, file: Path) -> None:
    new = SHOWN.format(spent=0.0, remaining=100.0, charges=0)
    assert run("budget", file, "--epsilon", "100") == (0, new, "")
    for rest in (60.0, 20.0):
        code, out, err = run(*select, "--budget", file)
        assert (code, out) == (0, "red\n")
        promise, paid = err.splitlines()
        assert "40-differential privacy" in promise
        assert paid == f"charged 40.0; {rest} of 100.0 epsilon remains"
    code, out, err = run(*select, "--budget", file)
    assert (code, out) == (3, "")
    assert err.splitlines()[-1] == (
        "fastexp: error: the release costs 40.0 of epsilon, but only 20.0 of the budget of 100.0 "
        "remains; nothing was drawn or charged"
    )
    now = SHOWN.format(spent=80.0, remaining=20.0, charges=2)
    assert run("budget", file) == (0, now, "")
    assert run("budget", file, "--epsilon", "100", "--neighbors", "add-remove") == (0, now, "")
    assert MARKER not in file.read_text()


def test_as_json(run: Run, select, file: Path) -> None:
    code, out, err = run("budget", file, "--rho", "0.5", "--neighbors", "replace", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "unit": "rho",
        "neighbors": "replace",
        "total": 0.5,
        "spent": 0.0,
        "remaining": 0.5,
        "charges": 0,
        "log": [],
    }
    small = [*select[:-1], "0.1"]
    assert run(*small, "--budget", file, "--quiet")[0] == 0
    assert fx.Budget.file(file).spent == 0.005


def test_delta_is_shown(run: Run, file: Path) -> None:
    assert run("budget", file, "--epsilon", "1", "--delta", "1e-6")[0] == 0
    budget = fx.Budget.file(file, epsilon=1.0, delta=1e-6)
    fx.TopK(1, 0.5, 1.0, delta=1e-7).release([1.0, 2.0], budget=budget)
    code, out, err = run("budget", file)
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()[-3:]] == [
        ["total_delta", "1e-06"],
        ["spent_delta", "1e-07"],
        ["remaining_delta", "9e-07"],
    ]
    code, _, err = run("budget", file, "--delta", "1e-6")
    assert (code, err) == (2, "fastexp: error: delta must be given with epsilon\n")


def test_quiet_says_nothing_about_the_rest(run: Run, select, file: Path) -> None:
    run("budget", file, "--epsilon", "100")
    assert run(*select, "--budget", file, "--quiet") == (0, "red\n", "")
    assert fx.Budget.file(file).charges == 1


def test_utilities_are_charged_too(run: Run, file: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("candidate,utility\na,900\nb,3\n")
    run("budget", file, "--epsilon", "1")
    arguments = ["select", scores, "--utilities", "--sensitivity", "1", "--epsilon", "0.5"]
    assert run(*arguments, "--budget", file)[0] == 0
    assert fx.Budget.file(file).spent == 0.5


MISTAKES = [
    (["--law"], "--budget is for releases"),
    (["--draws", "9"], "--budget is for releases"),
    (["--neighbors", "replace"], "does not hold for 'add-remove'"),
]


@pytest.mark.parametrize(("more", "message"), MISTAKES)
def test_mistakes_cost_nothing(run: Run, select, file: Path, more, message: str) -> None:
    run("budget", file, "--epsilon", "100")
    code, out, err = run(*select, "--budget", file, *more)
    assert (code, out) == (2, "")
    assert message in err
    assert MARKER not in err
    assert fx.Budget.file(file).charges == 0


def test_candidates_from_data_cannot_be_charged(run: Run, select, file: Path) -> None:
    run("budget", file, "--epsilon", "100")
    arguments = [*select[:4], "--candidates", "from-data", *select[6:], "--budget", file]
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "which has no privacy guarantee" in err


def test_a_budget_must_exist(run: Run, select, file: Path) -> None:
    for arguments in (["budget", file], [*select, "--budget", file]):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert f"there is no budget file '{file}'; create it with: fastexp budget {file}" in err
    assert not file.exists()


BAD = [
    (["--epsilon", "0"], 2, "epsilon must be finite and > 0"),
    (["--epsilon", "1", "--rho", "1"], 2, "does not go with"),
    (["--epsilon", "x"], 2, "--epsilon must be a number"),
    (["--epsilon", "1", "--neighbors", "both"], 2, "invalid choice"),
    ([], 2, "there is no budget file"),
]


@pytest.mark.parametrize(("more", "code", "message"), BAD)
def test_bad_budgets(run: Run, file: Path, more, code: int, message: str) -> None:
    ended = run("budget", file, *more)
    assert ended[:2] == (code, "")
    assert message in ended[2]
    assert not file.exists()


def test_damage_is_a_mistake_as_no_retry_helps(run: Run, select, file: Path) -> None:
    file.write_text(f"{MARKER}\n")
    for arguments in (["budget", file], [*select, "--budget", file]):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert heard(err, "damaged budget file")
        assert MARKER not in err


def test_a_release_is_printed_even_if_the_rest_cannot_be_read(
    run: Run, select, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("budget", file, "--epsilon", "100")

    def gone(self: fx.Budget) -> float:
        raise errors.BudgetError("it is gone")

    monkeypatch.setattr(fx.Budget, "remaining", property(gone))
    code, out, err = run(*select, "--budget", file)
    assert (code, out) == (0, "red\n")
    assert err.endswith("\ncharged 40.0; but now it is gone\n")


def test_help_names_the_keys(run: Run) -> None:
    code, out, _ = run("budget", "--help-all")
    assert code == 0
    assert "keys of --json: unit, neighbors, total, spent, remaining, charges" in out
    assert "--budget FILE" in run("select", "--help")[1]
