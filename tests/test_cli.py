"""`fastexp select` releases, analyses and refuses as its help says, and keeps data secret."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

import fastexp as fx
from fastexp import errors
from fastexp.cli import plot, reading, select
from tests.command_line import Run

MARKER = "SECRET-7341"
CERTAIN = "--epsilon=50"  # 300 records more than any other: wrong with probability < e**-10000


ABSENT = "no record has: 'green' (spelling?)\n"  # beside laws and draws of the colours


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
    assert err.startswith("promised: 50-differential privacy, neighbors add-remove (")
    assert err.count("\n") == 1


def test_quiet_says_nothing_about_the_promise(run: Run, colours: Path) -> None:
    assert run(*count(colours, CERTAIN, "--quiet")) == (0, "red\n", "")


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_release_as_json(run: Run, colours: Path, neighbors: str) -> None:
    code, out, err = run(*count(colours, CERTAIN, "--json", "--neighbors", neighbors))
    wanted = {"kind": "release", "private": True, "selected": "red", "epsilon": 50.0}
    wanted["mechanism"] = "exponential"
    assert code == 0
    assert json.loads(out) == {**wanted, "neighbors": neighbors}
    assert f"neighbors {neighbors} (" in err


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
    assert "WARNING: the candidates were taken from the file" in err
    assert "promised: nothing" in err
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
    assert "neighbors: those for which the sensitivity was stated" in err
    assert json.loads(run(*score(scores, "--epsilon", "9", "--json")).out)["neighbors"] is None


def test_any_epsilon_lifts_the_limits(run: Run, colours: Path) -> None:
    refused = run(*count(colours, "--epsilon", "1e-12"))
    assert refused.code == 2
    assert "add --any-epsilon" in refused.err
    assert run(*count(colours, "--epsilon", "1e-12", "--any-epsilon")).code == 0


# ---- the law and simulations ----


def test_law_is_the_mechanisms(run: Run, colours: Path) -> None:
    code, out, err = run(*count(colours, "--epsilon", "0.01", "--law", "--json"))
    law = fx.MostCommon(0.01, ["red", "blue", "green"]).law(["red"] * 400 + ["blue"] * 100)
    found = json.loads(out)
    rows = found.pop("rows")
    assert (code, err) == (0, "")
    assert found == {
        "kind": "law",
        "private": False,
        "mechanism": "exponential",
        "epsilon": 0.01,
        "neighbors": "add-remove",
        "expected_loss": law.expected_loss(),
        "loss_95": law.loss_quantile(0.95),
    }
    assert [row["candidate"] for row in rows] == ["red", "blue", "green"]
    assert [row["probability"] for row in rows] == law.probabilities.tolist()
    assert [row["log_probability"] for row in rows] == law.log_probabilities.tolist()


def test_law_table_is_sorted_and_marked(run: Run, colours: Path) -> None:
    arguments = ["select", colours, "--column", "colour", "--candidates", "green,blue,red"]
    code, out, err = run(*arguments, "--epsilon", "0.01", "--law")
    lines = out.splitlines()
    assert (code, err) == (0, ABSENT)
    assert lines[0].startswith("NOT PRIVATE")
    assert lines[1] == "exponential, epsilon 0.01, neighbors add-remove, 3 candidates"
    assert lines[2].startswith("expected loss ")
    assert lines[2].endswith("in records)")
    assert lines[4].split() == ["candidate", "probability", "log-probability"]
    assert [line.split()[0] for line in lines[5:]] == ["red", "blue", "green"]
    assert len({len(line) for line in lines[4:]}) == 1  # aligned


def test_monotonic_utilities_double_the_rate(run: Run, scores: Path) -> None:
    arguments = score(scores, "--epsilon", "0.002", "--law", "--json")
    plain, monotonic = run(*arguments).out, run(*arguments, "--monotonic").out
    for text, rate in ((plain, 0.001), (monotonic, 0.002)):
        second = json.loads(text)["rows"][1]
        assert second["log_probability"] == pytest.approx(-np.log1p(np.exp(rate * 897)))
    assert "in units of the utility" in run(*arguments[:-1]).out


def test_integer_utilities_stay_exact(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text(f"c,u\nworse,{2**62}\nbetter,{2**62 + 1}\n")  # equal as float64
    rows = json.loads(run(*score(path, "--epsilon", "2", "--law", "--json")).out)["rows"]
    assert [row["candidate"] for row in rows] == ["better", "worse"]
    assert rows[0]["probability"] == pytest.approx(1 / (1 + np.exp(-1)))


def test_what_json_does_not_know_is_null(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("c,u\nlow,-1.7e308\nhigh,1.7e308\n")
    found = json.loads(run(*score(path, "--epsilon", "1e6", "--law", "--json")).out)
    assert found["rows"][1] == {"candidate": "low", "probability": 0.0, "log_probability": None}


def test_draws_are_those_of_sample(run: Run, colours: Path) -> None:
    arguments = count(colours, "--epsilon", "0.005", "--draws", "2000", "--seed", "7", "--json")
    code, out, err = run(*arguments)
    mechanism = fx.MostCommon(0.005, ["red", "blue", "green"])
    records = ["red"] * 400 + ["blue"] * 100
    drawn = np.bincount(mechanism.sample(records, size=2000, rng=7), minlength=3)
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["draws"], found["seed"], found["plot"]) == (2000, 7, None)
    assert (found["kind"], found["private"]) == ("draws", False)
    assert [row["observed"] for row in found["rows"]] == drawn.tolist()
    assert [row["frequency"] for row in found["rows"]] == (drawn / 2000).tolist()
    exact = mechanism.law(records).probabilities.tolist()
    assert [row["probability"] for row in found["rows"]] == exact


def test_draws_table_is_marked_and_repeats_with_a_seed(run: Run, colours: Path) -> None:
    arguments = count(colours, "--epsilon", "0.005", "--draws", "500", "--seed", "7")
    first = run(*arguments)
    assert first.out.startswith("NOT PRIVATE")
    assert "500 simulated draws, seed 7" in first.out
    assert run(*arguments) == first
    assert run(*arguments[:-1], "8").out.splitlines()[5:] != first.out.splitlines()[5:]
    assert "no seed" in run(*arguments[:-2]).out


@pytest.mark.parametrize("kind", [["--law"], ["--draws", "10"]])
def test_one_kind_of_output_a_call(
    run: Run, colours: Path, kind: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(select, "_release", forbidden)
    assert run(*count(colours, CERTAIN, *kind)).code == 0
    assert run(*count(colours, CERTAIN)).code == 1  # the patch does forbid it


# ---- the picture ----


def test_picture_is_written(run: Run, colours: Path, tmp_path: Path) -> None:
    target = tmp_path / "picture.png"
    code, out, err = run(*count(colours, "--epsilon", "1e-3", "--draws", "9", "--plot", target))
    head = target.read_bytes()[:24]
    assert (code, err) == (0, f"{ABSENT}picture: {target}\n")
    assert out.startswith("NOT PRIVATE")
    assert head.startswith(b"\x89PNG")
    assert min(struct.unpack(">II", head[16:])) > 300  # pixels
    assert "matplotlib.pyplot" not in sys.modules


def test_picture_cuts_long_lists_and_takes_any_label(tmp_path: Path) -> None:
    names = ["$x_", "日本", "[bold]", "two\nlines", "long" * 20, *map(str, range(35))]
    exact = np.full(40, 1 / 40)
    plot.draw(str(tmp_path / "a.svg"), names, np.full(40, 2), exact, "epsilon 1")
    text = (tmp_path / "a.svg").read_text()
    assert "the 20 likeliest of 40 candidates" in text  # matplotlib keeps texts as comments
    assert "longlong" in text
    assert "long" * 20 not in text
    plot.draw(str(tmp_path / "b.svg"), names[:20], np.full(20, 2), exact[:20], "epsilon 1")
    assert "likeliest" not in (tmp_path / "b.svg").read_text()


def test_certain_candidate_can_be_drawn(tmp_path: Path) -> None:
    exact = np.array([1 + 2**-52, 0.0])  # a probability that was rounded up
    plot.draw(str(tmp_path / "a.png"), ["a", "b"], np.array([5, 0]), exact, "epsilon 1")
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_picture_that_cannot_be_written_is_a_failure(
    run: Run, colours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.figure import Figure

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", MARKER)

    monkeypatch.setattr(Figure, "savefig", full)
    ended = run(*count(colours, CERTAIN, "--draws", "9", "--plot", tmp_path / "p.png"))
    assert (ended.code, ended.out) == (1, "")
    assert "could not be written: No space left on device" in ended.err


def test_picture_needs_matplotlib(
    run: Run, colours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ended = run(*count(colours, CERTAIN, "--draws", "9", "--plot", tmp_path / "p.png"))
    assert (ended.code, ended.out) == (1, "")
    assert "pip install 'fastexp[plot]'" in ended.err


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
    (["COUNT", "--epsilon", "1", "--candidates", "a,b,a"], "names a candidate twice"),
    (["COUNT", "--epsilon", "1", "--column", "hue"], "no column 'hue'; it has 'colour', 'flag'"),
    (["COUNT", "--epsilon", "1", "--delimiter", ";"], "is --delimiter right?"),
    (["COUNT", "--epsilon", "1", "--delimiter", ";;"], "must be one character"),
    (["COUNT", "--epsilon", "1", "--sensitivity", "1"], "--sensitivity is for --utilities"),
    (["COUNT", "--epsilon", "1", "--monotonic"], "--monotonic is for --utilities"),
    (["COUNT", "--epsilon", "1", "--seed", "1"], "--seed belongs to --draws"),
    (["COUNT", "--epsilon", "1", "--plot", "a.png"], "--plot belongs to --draws"),
    (["COUNT", "--epsilon", "1", "--law", "--seed", "1"], "--seed belongs to --draws"),
    (["COUNT", "--epsilon", "1", "--law", "--draws", "1"], "not allowed with argument --law"),
    (["COUNT", "--epsilon", "1", "--draws", "0"], "an integer between 1 and"),
    (["COUNT", "--epsilon", "1", "--draws", "many"], "an integer between 1 and"),
    (["COUNT", "--epsilon", "1", "--draws", "9", "--seed", "-1"], "an integer between 0 and"),
    (["COUNT", "--epsilon", "1", "--draws", "9", "--plot", "a.doc"], ".png, .svg, .pdf"),
    (["COUNT", "--epsilon", "1", "--draws", "9", "--plot", "/no/a.png"], "existing folder"),
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

    monkeypatch.setattr(reading, "steps", fail)
    ended = run(*count(colours, CERTAIN))
    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err
    assert MARKER not in ended.err
    assert ended.err.count("\n") == 1
