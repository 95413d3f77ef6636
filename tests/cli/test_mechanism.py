"""Does --mechanism answer with the mechanism that it names, under the promise that holds?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fastexp as fx
from tests.support.command_line import Run
from tests.support.each import each

COUNTS = {"red": 30, "blue": 29, "green": 26}
RECORDS = [colour for colour, n in COUNTS.items() for _ in range(n)]
pytestmark = pytest.mark.engines


@pytest.fixture
def colours(tmp_path: Path) -> list[object]:
    path = tmp_path / "colours.csv"
    path.write_text("colour\n" + "".join(f"{colour}\n" for colour in RECORDS))
    return ["select", path, "--column", "colour", "--candidates", "red,blue,green"]


@pytest.fixture
def scores(tmp_path: Path) -> list[object]:
    path = tmp_path / "scores.csv"
    path.write_text("candidate,utility\na,3.5\nb,3\nc,1\n")
    return ["select", path, "--utilities", "--sensitivity", "1"]


def shown(run: Run, *arguments: object) -> dict[str, object]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def law_of(run: Run, *arguments: object) -> dict[str, float]:
    rows = shown(run, *arguments, "--law")["rows"]
    return {row["candidate"]: row["probability"] for row in rows}


@pytest.mark.parametrize(("neighbors", "monotonic"), [("add-remove", True), ("replace", False)])
def test_counts_under_either_relation(run: Run, colours, neighbors: str, monotonic: bool) -> None:
    options = ["--epsilon", "0.5", "--neighbors", neighbors, "--mechanism"]
    counts = list(COUNTS.values())
    flip = fx.PermuteAndFlip(0.5, 1.0, monotonic=monotonic).law(counts).probabilities
    top = fx.TopK(2, 0.5, 1.0, monotonic=monotonic).law(counts).first_place_probabilities
    common = fx.MostCommon(0.5, COUNTS, neighbors=neighbors).law(RECORDS).probabilities
    for name, exact in {"permute-and-flip": flip, "exponential": common}.items():
        assert law_of(run, *colours, *options, name) == dict(zip(COUNTS, exact, strict=True))
    found = law_of(run, *colours, *options, "top-k", "--k", 2)
    assert found == dict(zip(COUNTS, top, strict=True))


@pytest.mark.parametrize("monotonic", [False, True])
def test_utilities(run: Run, scores, monotonic: bool) -> None:
    """Decimals as they are; --monotonic doubles the rate."""
    options = ["--epsilon", 2, *["--monotonic"] * monotonic, "--mechanism"]
    kinds = {"permute-and-flip": fx.PermuteAndFlip, "exponential": fx.Exponential}
    for name, kind in kinds.items():
        exact = kind(2.0, 1.0, monotonic=monotonic).law([3.5, 3.0, 1.0]).probabilities
        assert list(law_of(run, *scores, *options, name).values()) == exact.tolist()


def test_top_k_prints_a_line_a_place(run: Run, colours) -> None:
    options = ["--mechanism", "top-k", "--k", 3, "--epsilon", 1e5]
    code, out, err = run(*colours, *options)
    assert (code, out) == (0, "red\nblue\ngreen\n")
    assert err == "promises 100,000-differential privacy: one record joins or leaves\n"
    answer = shown(run, *colours, *options)
    assert answer["rows"] == [{"selected": colour} for colour in COUNTS]
    parameters = answer["answers"]["selected"]
    assert (parameters["mechanism"], parameters["neighbors"]) == ("top-k", "add-remove")
    assert (parameters["k"], parameters["epsilon"], parameters["delta"]) == (3, 1e5, 0.0)
    assert answer["promised"]["neighbors"] == "add-remove"


def test_delta_is_promised_with_epsilon(run: Run, colours) -> None:
    options = ["--mechanism", "top-k", "--k", 2, "--epsilon", 1, "--delta", 1e-6]
    assert run(*colours, *options).err.startswith("promises (1, 1e-6)-differential privacy: ")


def test_draws_show_the_first_place(run: Run, colours) -> None:
    options = ["--mechanism", "top-k", "--k", 2, "--epsilon", 0.5, "--draws", 500, "--seed", 3]
    mechanism = fx.TopK(2, 0.5, 1.0, monotonic=True)
    drawn = np.bincount(mechanism.sample(list(COUNTS.values()), 500, rng=3)[:, 0], minlength=3)
    rows = shown(run, *colours, *options)["rows"]
    observed = {row["candidate"]: row["observed"] for row in rows}
    assert observed == dict(zip(COUNTS, drawn.tolist(), strict=True))


@pytest.mark.parametrize("utility", ["nan", f"{2**64}"])
def test_utilities_that_are_refused_are_charged(run: Run, tmp_path: Path, utility: str) -> None:
    """What they are like is learned after the charge."""
    path, budget = tmp_path / "u.csv", fx.Budget.file(tmp_path / "b", epsilon=1.0)
    path.write_text(f"candidate,utility\na,{utility}\nb,1\n")
    options = ["--utilities", "--sensitivity", 1, "--epsilon", 0.25, "--budget", tmp_path / "b"]
    code, out, err = run("select", path, *options)
    assert (code, out, budget.spent) == (4, "", 0.25)
    assert "charged nevertheless" in err
    assert "0.75 of 1.0 epsilon remains" in err


@each(
    ("options", "text"),
    [
        (["--k", 2], "--k needs --mechanism top-k or joint-top-k"),
        (["--delta", 0.1], "--delta needs --mechanism top-k"),
        (["--mechanism", "top-k"], "--mechanism top-k needs --k"),
        (["--mechanism", "joint-top-k"], "--mechanism joint-top-k needs --k"),
        (["--mechanism", "joint-top-k", "--delta", 0.1], "--delta needs --mechanism top-k"),
        (["--mechanism", "top-k", "--k", 4], "k must be at most the number of candidates, 3"),
        (["--mechanism", "top-k", "--k", 2, "--delta", 2], "delta must be in"),
        (["--mechanism", "laplace"], "--help"),
        (["--mechanism", "top-k", "--k", 0], "--help"),
    ],
)
def test_options_that_do_not_go_together(run: Run, colours, options, text: str) -> None:
    code, out, err = run(*colours, "--epsilon", 1, *options)
    assert (code, out) == (2, "")
    assert text in err
