"""`fastexp select` releases and refuses as its help says, and keeps data secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fastexp as fx
from fastexp import errors
from tests.doors.cli import payment
from tests.doors.query import execute
from tests.support.command_line import Run
from tests.support.each import each

pytestmark = [pytest.mark.engines, pytest.mark.fast]
MARKER = "SECRET-7341"
CERTAIN = "--epsilon=50"  # 300 records more than any other: wrong with probability < e**-10000


@pytest.fixture
def colours(tmp_path: Path) -> Path:
    """red 400 times, blue 100 times, and one person's secret; 3 columns."""
    path = tmp_path / "colours.csv"
    rows = ["red,1,x"] * 400 + ["blue,0,x"] * 100 + [f"{MARKER},1,{MARKER}"]
    path.write_text("colour,flag,note\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text('candidate,utility\n"a, b",900\nc,3\n')
    return path


def count(path: object, *more: object) -> list[object]:
    return ["select", path, "--column", "colour", "--candidates", "red,blue,green", *more]


def score(path: object, *more: object) -> list[object]:
    return ["select", path, "--utilities", "--sensitivity", "1", *more]


# ---- releases ----


def test_release_is_all_of_stdout_and_the_promise_is_on_stderr(run: Run, colours: Path) -> None:
    promise = "promises 50-differential privacy: one record joins or leaves\n"
    assert run(*count(colours, CERTAIN)) == (0, "red\n", promise)
    assert run(*count(colours, CERTAIN, "--quiet")) == (0, "red\n", "")


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_release_as_json(run: Run, colours: Path, neighbors: str) -> None:
    code, out, _ = run(*count(colours, CERTAIN, "--json", "--neighbors", neighbors))
    found = json.loads(out)
    promise = fx.MostCommon(50.0, ["red", "blue", "green"], neighbors=neighbors).guarantee
    assert code == 0
    assert found.pop("answers")["colour"] == {
        "mechanism": "most-common",
        "epsilon": 50.0,
        "candidates": ["red", "blue", "green"],
        "neighbors": neighbors,
        "selected_by": "exponential",
        "column": "colour",
        "nan": "drop",
    }
    assert found.pop("promised") == {
        "epsilon": 50.0,
        "delta": 0.0,
        "rho": promise.rho,
        "neighbors": neighbors,
    }
    assert found == {
        "kind": "release",
        "private": True,
        "by": [],
        "groups": None,
        "person": None,
        "max_groups": 1,
        "max_rows": 1,
        "membership": "private",
        "budget": None,
        "output": None,
        "rows": [{"colour": "red"}],
    }


def test_every_release_has_the_same_keys(run: Run, colours: Path, scores: Path) -> None:
    """Also over utilities, and with a budget."""
    of_counts = json.loads(run(*count(colours, CERTAIN, "--json")).out)
    budget = fx.Budget.file(colours.with_name("b"), epsilon=9.0)
    paid = ["--budget", colours.with_name("b"), "--label", "x", "--json"]
    of_scores = json.loads(run(*score(scores, "--epsilon", 2, *paid)).out)
    assert of_scores.keys() == of_counts.keys()
    assert of_scores["budget"] == {
        "unit": "epsilon",
        "neighbors": "add-remove",
        "charged": 2.0,
        "total": 9.0,
        "remaining": budget.remaining,
        "label": "x",
    }


def test_numbers_of_a_csv_file_may_be_candidates(run: Run, colours: Path) -> None:
    ended = run("select", colours, "--column", "flag", "--candidates", "0,1", CERTAIN)
    assert ended.out == "1\n"


def test_file_without_records_still_gives_a_release(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "none.csv"
    path.write_text("colour\n")
    assert run(*count(path, CERTAIN)).out.strip() in {"red", "blue", "green"}


def test_candidates_from_data_warn_and_promise_nothing(run: Run, colours: Path) -> None:
    arguments = ["select", colours, "--column", "colour", "--candidates", "from-data", CERTAIN]
    code, out, err = run(*arguments)
    assert (code, out) == (0, "red\n")
    assert err.startswith("WARNING: the candidates were taken from FILE")
    assert err.endswith("\npromises nothing, as a list was taken from the data\n")
    code, out, err = run(*arguments, "--json", "--quiet")
    assert (json.loads(out)["private"], json.loads(out)["promised"]) == (False, None)
    assert err.startswith("WARNING")  # --quiet is about the promise only


def test_utilities_select_from_pairs(run: Run, scores: Path) -> None:
    code, out, err = run(*score(scores, "--epsilon", "9"))
    assert (code, out) == (0, "a, b\n")
    assert err.endswith(": one person changes as --sensitivity was stated for\n")


def test_integer_utilities_stay_exact(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text(f"c,u\nworse,{2**62}\nbetter,{2**62 + 1}\n")  # equal as float64
    rows = json.loads(run(*score(path, "--epsilon", "2", "--law", "--json")).out)["rows"]
    exact = fx.Exponential(2.0, 1.0).law([1, 0]).probabilities.tolist()
    assert [(row["candidate"], row["probability"]) for row in rows] == [
        ("better", exact[0]),
        ("worse", exact[1]),
    ]


@pytest.mark.parametrize("kind", [["--law"], ["--draws", "10"], ["--accuracy"]])
def test_what_is_not_private_draws_no_release(run: Run, colours, kind, monkeypatch) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(payment, "charge_and_draw", forbidden)
    ended = run(*count(colours, CERTAIN, *kind))
    assert (ended.code, ended.out.startswith("NOT PRIVATE")) == (0, True)
    assert run(*count(colours, CERTAIN)).code == 1  # the patch does forbid it


# ---- mistakes: exit code 2, nothing on stdout, no traceback, no data ----

COUNTED = ["COUNT", "--epsilon", "1"]
SCORED = ["SCORE", "--epsilon", "1"]
FREE = ["COUNT", "--candidates", "from-data", "--epsilon", "1"]
MISTAKES: list[tuple[list[str], str]] = [
    (["guess"], "unknown command 'guess'"),
    (["select", "FILE", "--column", "colour"], "--epsilon or --total-epsilon is needed"),
    (["select", "FILE", "--column", "colour", "--epsilon", "1"], "--candidates is needed"),
    (["select", "FILE", "--candidates", "a,b", "--epsilon", "1"], "--column is needed"),
    (["COUNT", "--epsilon", "x"], "--epsilon must be a number, as 12, -0.5 or 1e3, got 'x'"),
    (["COUNT", "--epsilon", "0"], "epsilon must be finite and > 0"),
    (["COUNT", "--epsilon", "nan"], "--epsilon must be a number"),
    (["COUNT", "--epsilon", "1e-12"], "add --any-epsilon"),
    ([*COUNTED, "--neighbors", "swap"], "invalid choice: 'swap'"),
    ([*COUNTED, "--eps", "2"], "unknown option '--eps'"),
    ([*COUNTED, "--candidates", "a,,b"], "empty"),
    ([*COUNTED, "--candidates", '"a,b'], "must be one line of CSV"),
    ([*COUNTED, "--candidates", ""], "there is no file"),
    ([*COUNTED, "--candidates", "a,b,a"], "is a duplicate of entry 1"),
    ([*COUNTED, "--column", "hue"], "it has 'colour', 'flag', 'note'"),
    ([*COUNTED, "--delimiter", ";"], "is another delimiter between"),
    ([*COUNTED, "--delimiter", ";;"], "must be one character"),
    ([*COUNTED, "--sensitivity", "1"], "--sensitivity needs --utilities"),
    ([*COUNTED, "--monotonic"], "--monotonic needs --utilities"),
    ([*COUNTED, "--seed", "1"], "--seed needs --draws"),
    ([*COUNTED, "--law", "--seed", "1"], "--seed needs --draws"),
    ([*COUNTED, "--plot", "a.png"], "--plot needs --law, --draws or --accuracy"),
    ([*COUNTED, "--law", "--draws", "1"], "--draws does not go with --law"),
    ([*COUNTED, "--law", "--output", "o.csv"], "redirect stdout"),
    ([*COUNTED, "--draws", "3", "--key", "k"], "--key is for releases"),
    ([*COUNTED, "--accuracy", "--budget", "b"], "--budget is for releases"),
    ([*COUNTED, "--draws", "0"], "an integer between 1 and"),
    ([*COUNTED, "--draws", "9", "--seed", "-1"], "an integer between 0 and"),
    ([*COUNTED, "--force"], "--force needs --output"),
    ([*COUNTED, "--note", "x"], "--note needs --budget"),
    ([*COUNTED, "--membership", "public"], "--membership needs --by"),
    ([*COUNTED, "--person", "note", "--max-groups", "2"], "--max-groups needs --by"),
    (
        [*COUNTED, "--mechanism", "top-k", "--k", "2", "--person", "note"],
        "--person does not go with",
    ),
    (
        [*COUNTED, "--mechanism", "top-k", "--k", "2", "--max-rows", "2"],
        "--max-rows does not go with",
    ),
    ([*COUNTED, "--mechanism", "top-k", "--k", "2", "--accuracy"], "--accuracy does not go with"),
    ([*FREE, "--budget", "b"], "--budget does not go with --candidates from-data"),
    ([*FREE, "--label", "x", "--key", "k"], "--label does not go with --candidates from-data"),
    ([*FREE, "--key", "k"], "--key does not go with --candidates from-data"),
    ([*FREE, "--mechanism", "top-k", "--k", "2"], "from-data does not go with"),
    ([*SCORED, "--column", "c"], "--column does not go with --utilities"),
    ([*SCORED, "--candidates", "c"], "--candidates does not go with"),
    ([*SCORED, "--neighbors", "replace"], "--neighbors does not go with"),
    ([*SCORED, "--by", "c"], "--by does not go with"),
    ([*SCORED, "--key", "k"], "--key does not go with"),
    ([*SCORED, "--output", "o.csv"], "--output does not go with"),
    ([*SCORED, "--accuracy"], "--accuracy does not go with"),
    ([*SCORED, "--label", "x"], "--label needs --budget"),
    ([*SCORED, "--sensitivity", "0"], "sensitivity must be finite and > 0"),
    (["select", "FILE", "--utilities", "--epsilon", "1"], "--utilities needs --sensitivity"),
    (["select", "FILE", "--utilities", "--sensitivity", "1", "--epsilon", "1"], "two columns"),
]


@each(("arguments", "message"), MISTAKES)
def test_mistakes(run: Run, colours, scores, arguments: list[str], message: str) -> None:
    full: list[Any] = [colours if a == "FILE" else a for a in arguments]
    if full[:1] == ["COUNT"]:
        full = count(colours, *full[1:])
    elif full[:1] == ["SCORE"]:
        full = score(scores, *full[1:])
    code, out, err = run(*full)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert MARKER not in err


def test_missing_candidates_are_explained(run: Run, colours: Path) -> None:
    err = run("select", colours, "--column", "colour", "--epsilon", "1").err
    for part in ("why:", "whatever epsilon is", "do:", "code book", "--candidates from-data"):
        assert part in err


def test_any_epsilon_lifts_the_limits(run: Run, colours: Path) -> None:
    assert run(*count(colours, "--epsilon", "1e-12", "--any-epsilon")).code == 0


# ---- failures: what an error says, and what it withholds ----

OUTCOMES: list[tuple[Exception, int, str]] = [
    (ValueError(MARKER), 1, "unexpected ValueError at "),
    (KeyError(MARKER), 1, "its message is withheld"),
    (MemoryError(MARKER), 1, "not enough memory"),
    (errors.RandomnessError("no randomness"), 1, "no randomness"),
    (errors.RoundingModeError("rounding mode"), 1, "rounding mode"),
    (errors.InvalidRecords("records must be labels"), 2, "records must be labels"),
    (errors.InvalidUtilities("see the argument nan"), 2, "the utilities must be finite"),
    (errors.ParameterTypeError("epsilon must be real"), 2, "epsilon must be real"),
]


@pytest.mark.parametrize(("error", "code", "message"), OUTCOMES)
def test_every_error_has_its_exit_code(
    run: Run, colours: Path, monkeypatch: pytest.MonkeyPatch, error, code: int, message: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(execute, "answered", fail)
    ended = run(*count(colours, CERTAIN, "--quiet"))
    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err
    assert MARKER not in ended.err
    assert ended.err.count("\n") == 1
