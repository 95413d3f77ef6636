"""Does --mechanism answer with the mechanism that it names, under the promise that holds?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fastexp as fx
from tests.command_line import Run

COUNTS = {"red": 30, "blue": 29, "green": 26}


@pytest.fixture
def colours(tmp_path: Path) -> list[object]:
    path = tmp_path / "colours.csv"
    path.write_text("colour\n" + "".join(f"{c}\n" * n for c, n in COUNTS.items()))
    return ["select", path, "--column", "colour", "--candidates", "red,blue,green"]


@pytest.fixture
def scores(tmp_path: Path) -> list[object]:
    path = tmp_path / "scores.csv"
    path.write_text("candidate,utility\na,3.5\nb,3\nc,1\n")
    return ["select", path, "--utilities", "--sensitivity", "1"]


def law_of(run: Run, *arguments: object) -> dict[str, float]:
    code, out, _ = run(*arguments, "--law", "--json")
    assert code == 0
    return {row["candidate"]: row["probability"] for row in json.loads(out)["rows"]}


@pytest.mark.parametrize(("neighbors", "monotonic"), [("add-remove", True), ("replace", False)])
def test_counts_under_either_relation(run: Run, colours, neighbors: str, monotonic: bool) -> None:
    how = ["--epsilon", "0.5", "--neighbors", neighbors, "--mechanism"]
    counts = list(COUNTS.values())
    flip = fx.PermuteAndFlip(0.5, 1.0, monotonic=monotonic).law(counts)
    found = law_of(run, *colours, *how, "permute-and-flip")
    assert [found[c] for c in COUNTS] == flip.probabilities.tolist()
    top = fx.TopK(2, 0.5, 1.0, monotonic=monotonic).law(counts)
    found = law_of(run, *colours, *how, "top-k", "--k", 2)
    assert [found[c] for c in COUNTS] == top.first_place_probabilities.tolist()
    assert law_of(run, *colours, *how, "exponential") == dict(
        zip(COUNTS, fx.MostCommon(0.5, COUNTS, neighbors=neighbors).law(
            [c for c, n in COUNTS.items() for _ in range(n)]
        ).probabilities.tolist(), strict=True)
    )  # fmt: skip


def test_utilities(run: Run, scores) -> None:
    found = law_of(run, *scores, "--epsilon", 2, "--mechanism", "permute-and-flip")
    exact = fx.PermuteAndFlip(2.0, 1.0).law([3.5, 3.0, 1.0]).probabilities
    assert list(found.values()) == exact.tolist()


def test_top_k_prints_a_line_a_place(run: Run, colours) -> None:
    how = ["--mechanism", "top-k", "--k", 3, "--epsilon", 1e5]
    code, out, err = run(*colours, *how)
    assert (code, out) == (0, "red\nblue\ngreen\n")
    assert err.startswith("promised: 100000-differential privacy, neighbors add-remove")
    code, out, _ = run(*colours, *how, "--json")
    assert json.loads(out) == {
        "kind": "release", "private": True, "selected": ["red", "blue", "green"],
        "mechanism": "top-k", "epsilon": 1e5, "neighbors": "add-remove", "k": 3, "delta": 0.0,
    }  # fmt: skip


def test_delta_is_promised_with_epsilon(run: Run, colours) -> None:
    how = ["--mechanism", "top-k", "--k", 2, "--epsilon", 1, "--delta", 1e-6]
    code, _, err = run(*colours, *how)
    assert code == 0
    assert err.startswith("promised: (1, 1e-06)-differential privacy")


def test_draws_show_the_first_place(run: Run, colours) -> None:
    how = ["--mechanism", "top-k", "--k", 2, "--epsilon", 0.5, "--draws", 500, "--seed", 3]
    code, out, _ = run(*colours, *how, "--json")
    mechanism = fx.TopK(2, 0.5, 1.0, monotonic=True)
    drawn = mechanism.sample(list(COUNTS.values()), 500, rng=3)[:, 0]
    observed = dict(zip(COUNTS, np.bincount(drawn, minlength=3).tolist(), strict=True))
    assert code == 0
    assert {r["candidate"]: r["observed"] for r in json.loads(out)["rows"]} == observed
    assert "top-k (the first of 2 places), epsilon 0.5" in run(*colours, *how)[1]


@pytest.mark.parametrize(
    ("relation", "own", "spent"),
    [
        ("add-remove", "add-remove", 0.1),
        ("replace", "add-remove", 0.2),
        ("replace", "replace", 0.1),
    ],
)
def test_a_budget_is_charged_under_its_relation(
    run: Run, colours, tmp_path: Path, relation: str, own: str, spent: float
) -> None:
    """Counts are monotone under add-remove only: that promise costs double under replace."""
    file = tmp_path / "b"
    assert run("budget", file, "--epsilon", 1, "--neighbors", relation)[0] == 0
    how = ["--epsilon", 0.1, "--neighbors", own, "--budget", file]
    assert run(*colours, *how, "--mechanism", "permute-and-flip")[0] == 0
    assert fx.Budget.file(file).spent == spent


def test_a_promise_that_does_not_hold_is_refused(run: Run, colours, tmp_path: Path) -> None:
    file = tmp_path / "b"
    run("budget", file, "--epsilon", 1)
    how = ["--epsilon", 0.1, "--neighbors", "replace", "--budget", file]
    code, out, err = run(*colours, *how, "--mechanism", "permute-and-flip")
    assert (code, out) == (2, "")
    assert "replace" in err
    assert fx.Budget.file(file).spent == 0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--k", 2], "--k belongs to --mechanism top-k"),
        (["--delta", 0.1], "--delta belongs to --mechanism top-k"),
        (["--mechanism", "top-k"], "--mechanism top-k needs --k"),
        (["--mechanism", "top-k", "--k", 4], "k must be at most the number of candidates, 3"),
        (["--mechanism", "top-k", "--k", 2, "--delta", 2], "delta must be in"),
    ],
)
def test_options_that_do_not_go_together(run: Run, colours, options, text: str) -> None:
    code, out, err = run(*colours, "--epsilon", 1, *options)
    assert (code, out) == (2, "")
    assert text in err


def test_a_failure_that_is_charged_says_so(run: Run, tmp_path: Path) -> None:
    path, file = tmp_path / "u.csv", tmp_path / "b"
    path.write_text("candidate,utility\na,nan\nb,1\n")
    run("budget", file, "--epsilon", 1)
    how = ["--utilities", "--sensitivity", 1, "--epsilon", 0.25, "--budget", file]
    code, out, err = run("select", path, *how)
    assert (code, out) == (2, "")
    assert "charged nevertheless" in err
    assert "0.75 of 1.0 epsilon remains" in err


def test_a_budget_file_that_is_not_there(run: Run, colours, tmp_path: Path) -> None:
    code, out, err = run(*colours, "--epsilon", 1, "--budget", tmp_path / "none")
    assert (code, out) == (2, "")
    assert "create it with: fastexp budget" in err


def test_unknown_mechanisms_and_places(run: Run, colours) -> None:
    for options in (["--mechanism", "laplace"], ["--mechanism", "top-k", "--k", 0]):
        code, out, err = run(*colours, "--epsilon", 1, *options)
        assert (code, out) == (2, "")
        assert "--help" in err
