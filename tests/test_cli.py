"""`fastexp select` releases, analyses and refuses as its help says, and keeps data secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fastexp import MostCommon, errors
from tests.command_line import Run

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
    code, out, err = run(*count(colours, CERTAIN))
    assert (code, out) == (0, "red\n")
    assert err == "promises 50-differential privacy: one record joins or leaves\n"


def test_quiet_says_nothing_about_the_promise(run: Run, colours: Path) -> None:
    assert run(*count(colours, CERTAIN, "--quiet")) == (0, "red\n", "")


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_release_as_json(run: Run, colours: Path, neighbors: str) -> None:
    code, out, err = run(*count(colours, CERTAIN, "--json", "--neighbors", neighbors))
    facts = json.loads(out)
    assert code == 0
    assert (facts["kind"], facts["private"]) == ("release", True)
    assert facts["rows"] == [{"colour": "red"}]
    assert facts["promised"]["neighbors"] == neighbors
    assert facts["answers"]["colour"] == {
        "mechanism": "most-common", "selected_by": "exponential", "epsilon": 50.0,
        "candidates": ["red", "blue", "green"], "neighbors": neighbors, "column": "colour",
        "nan": "drop",
    }  # fmt: skip
    changes = {"add-remove": "joins or leaves", "replace": "changes"}[neighbors]
    assert err == f"promises 50-differential privacy: one record {changes}\n"


def test_numbers_of_a_csv_file_are_text(run: Run, colours: Path) -> None:
    ended = run("select", colours, "--column", "flag", "--candidates", "0,1", CERTAIN)
    assert ended.out == "1\n"


def test_file_without_records_still_gives_a_release(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "none.csv"
    path.write_text("colour\n")
    code, out, _ = run(*count(path, CERTAIN))
    assert code == 0
    assert out.strip() in {"red", "blue", "green"}


def test_candidates_from_data_warns_and_promises_nothing(run: Run, colours: Path) -> None:
    arguments = ["select", colours, "--column", "colour", "--candidates", "from-data", CERTAIN]
    code, out, err = run(*arguments)
    assert (code, out) == (0, "red\n")
    assert "WARNING: the candidates were taken from FILE" in err
    assert err.endswith("\npromises nothing, as a list was taken from the data\n")
    code, out, err = run(*arguments, "--json", "--quiet")
    assert json.loads(out)["private"] is False
    assert "WARNING" in err  # --quiet is about the promise only


def test_candidates_from_data_skips_gaps_and_sorts(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("c,x\nb,1\n,1\na,1\n")
    arguments = ["select", path, "--column", "c", "--candidates", "from-data", "--epsilon", "1"]
    rows = json.loads(run(*arguments, "--law", "--json").out)["rows"]
    assert [row["candidate"] for row in rows] == ["a", "b"]


def test_utilities_select_from_pairs(run: Run, scores: Path) -> None:
    code, out, err = run(*score(scores, "--epsilon", "9"))
    assert (code, out) == (0, "a, b\n")
    assert "one person changes as --sensitivity was stated for" in err
    facts = json.loads(run(*score(scores, "--epsilon", "9", "--json")).out)
    assert facts["promised"]["neighbors"] is None
    assert facts["rows"] == [{"selected": "a, b"}]


def test_any_epsilon_lifts_the_limits(run: Run, colours: Path) -> None:
    refused = run(*count(colours, "--epsilon", "1e-12"))
    assert refused.code == 2
    assert "add --any-epsilon" in refused.err
    assert run(*count(colours, "--epsilon", "1e-12", "--any-epsilon")).code == 0


# ---- mistakes: exit code 2, nothing on stdout, no traceback, no data ----

MISTAKES: list[tuple[list[str], str]] = [
    (["guess"], "unknown command 'guess'"),
    (["select", "FILE", "--column", "colour"], "--epsilon --total-epsilon is required"),
    (["select", "FILE", "--column", "colour", "--epsilon", "1"], "--candidates is needed"),
    (["select", "FILE", "--candidates", "a,b", "--epsilon", "1"], "--column is needed"),
    (["COUNT", "--epsilon", "x"], "--epsilon must be a number, as 12, -0.5 or 1e3, got 'x'"),
    (["COUNT", "--epsilon", "0"], "epsilon must be finite and > 0"),
    (["COUNT", "--epsilon", "nan"], "--epsilon must be a number"),
    (["COUNT", "--epsilon", "1", "--neighbors", "swap"], "invalid choice: 'swap'"),
    (["COUNT", "--epsilon", "1", "--eps", "2"], "unknown option '--eps'"),
    (["COUNT", "--epsilon", "1", "--candidates", "a,,b"], "an empty entry"),
    (["COUNT", "--epsilon", "1", "--candidates", ""], "there is no file"),
    (["COUNT", "--epsilon", "1", "--candidates", '"a,b'], "must be one line of CSV"),
    (["COUNT", "--epsilon", "1", "--candidates", "a,b,a"], "is there already: entry 1"),
    (
        ["COUNT", "--epsilon", "1", "--column", "hue"],
        "must be in FILE, once: it has 'colour', 'flag', 'note'",
    ),
    (["COUNT", "--epsilon", "1", "--delimiter", ";"], "is another delimiter between its columns?"),
    (["COUNT", "--epsilon", "1", "--delimiter", ";;"], "must be one character"),
    (["COUNT", "--epsilon", "1", "--sensitivity", "1"], "--sensitivity is for --utilities"),
    (["COUNT", "--epsilon", "1", "--monotonic"], "--monotonic is for --utilities"),
    (["COUNT", "--epsilon", "1", "--seed", "1"], "--seed belongs to --draws"),
    (["COUNT", "--epsilon", "1", "--plot", "a.png"], "--plot belongs to --law or --draws"),
    (["COUNT", "--epsilon", "1", "--law", "--seed", "1"], "--seed belongs to --draws"),
    (["COUNT", "--epsilon", "1", "--law", "--draws", "1"], "not allowed with argument --law"),
    (["COUNT", "--epsilon", "1", "--draws", "0"], "an integer between 1 and"),
    (["COUNT", "--epsilon", "1", "--draws", "many"], "an integer between 1 and"),
    (["COUNT", "--epsilon", "1", "--draws", "9", "--seed", "-1"], "an integer between 0 and"),
    (["COUNT", "--epsilon", "1", "--draws", "9", "--plot", "a.doc"], ".png, .svg, .pdf"),
    (["COUNT", "--epsilon", "1", "--draws", "9", "--plot", "/no/a.png"], "in a folder that exists"),
    (["SCORE", "--epsilon", "1", "--column", "c"], "--column does not go with --utilities"),
    (["SCORE", "--epsilon", "1", "--candidates", "c"], "--candidates does not go with"),
    (["SCORE", "--epsilon", "1", "--neighbors", "replace"], "--neighbors does not go with"),
    (["SCORE", "--epsilon", "1", "--sensitivity", "0"], "sensitivity must be finite and > 0"),
    (["select", "FILE", "--utilities", "--epsilon", "1"], "--utilities needs --sensitivity"),
    (["demo", "--records", "--json"], "--records does not go with --json"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(
    run: Run, colours: Path, scores: Path, arguments: list[str], message: str
) -> None:
    full: list[object] = [colours if a == "FILE" else a for a in arguments]
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
    run: Run,
    colours: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    code: int,
    message: str,
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(MostCommon, "_draws", fail)
    ended = run(*count(colours, CERTAIN))
    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err
    assert MARKER not in ended.err
    assert ended.err.count("\n") == 2  # and what is promised
