"""Does ``fastexp select --mechanism joint-top-k`` select from records, groups and counts?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fastexp as fx
from tests.support.command_line import Run

COUNTS = {"tea": 60, "milk": 40, "rye": 20, "ale": 0}
CUPS = [drink for drink, count in COUNTS.items() for _ in range(count)]
OPTIONS = ["--candidates", "tea,milk,rye,ale", "--mechanism", "joint-top-k", "--k", 2]
pytestmark = pytest.mark.engines


@pytest.fixture
def cups(tmp_path: Path) -> list[object]:
    path = tmp_path / "cups.csv"
    rows = [f"{'ab'[i % 2]},{drink}" for i, drink in enumerate(CUPS)]
    path.write_text("\n".join(["g,cup", *rows, ""]))
    return ["select", path, "--column", "cup", *OPTIONS]


@pytest.fixture
def counted(tmp_path: Path) -> list[object]:
    path = tmp_path / "counts.csv"
    path.write_text("\n".join(["candidate,count", *(f"{a},{b}" for a, b in COUNTS.items()), ""]))
    options = ["--sensitivity", 1, "--mechanism", "joint-top-k", "--k", 2]
    return ["select", path, "--utilities", *options]


def shown(run: Run, *arguments: object) -> dict[str, object]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_a_release(run: Run, cups) -> None:
    code, out, err = run(*cups, "--epsilon", 1e5)
    assert code == 0
    assert [line.split() for line in out.splitlines()[1:]] == [["cup_1", "tea"], ["cup_2", "milk"]]
    assert err == "promises 100,000-differential privacy: one record joins or leaves\n"
    facts = shown(run, *cups, "--epsilon", 2, "--neighbors", "replace")
    assert facts["promised"]["rho"] == 0.5
    assert facts["answers"]["cup"]["neighbors"] == "replace"


def test_by_group(run: Run, cups) -> None:
    found = shown(run, *cups, "--epsilon", 1e5, "--by", "g", "--groups", "b,a")["rows"]
    assert found == [{"g": g, "cup_1": "tea", "cup_2": "milk"} for g in "ba"]


def test_the_law_is_of_the_first_place_and_the_worst_loss(run: Run, cups) -> None:
    for options, neighbors in (([], "add-remove"), (["--neighbors", "replace"], "replace")):
        law = fx.JointTopK(2, 0.1, neighbors=neighbors).law(list(COUNTS.values()))
        found = shown(run, *cups, "--epsilon", 0.1, *options, "--law")
        assert found["expected_loss"] == law.expected_loss()
        assert found["loss_95"] == law.loss_quantile(0.95)
        chances = {row["candidate"]: row["probability"] for row in found["rows"]}
        assert chances == dict(zip(COUNTS, law.first_place_probabilities, strict=True))
    text = run(*cups, "--epsilon", 0.1, "--law")[1]
    assert "the first of 2 places" in text
    assert "of the worst place" in text


def test_draws_and_accuracy(run: Run, cups) -> None:
    found = shown(run, *cups, "--epsilon", 0.1, "--draws", 300, "--seed", 4)["rows"]
    assert sum(row["observed"] for row in found) == 300
    law = fx.JointTopK(2, 0.1).law(list(COUNTS.values()))
    (row,) = shown(run, *cups, "--epsilon", 0.1, "--accuracy")["rows"]
    assert row["expected"] == pytest.approx(law.expected_loss())
    assert row["best"] == pytest.approx(law.loss_cdf(0.0))


def test_a_file_of_counts(run: Run, counted) -> None:
    code, out, _ = run(*counted, "--epsilon", 1e5)
    assert (code, out) == (0, "tea\nmilk\n")
    law = fx.JointTopK(2, 0.1, neighbors="replace").law(list(COUNTS.values()))
    found = shown(run, *counted, "--epsilon", 0.1, "--neighbors", "replace", "--law")
    assert found["expected_loss"] == law.expected_loss()
    code, _, err = run(*counted, "--epsilon", 1, "--monotonic")
    assert (code, "--monotonic does not go with --mechanism joint-top-k" in err) == (2, True)
    Path(counted[1]).write_text("candidate,count\ntea,1.5\nmilk,2\n")
    assert "counts must be integers" in run(*counted, "--epsilon", 1)[2]


def test_a_comparison(run: Run, counted) -> None:
    words = ["--mechanisms", "joint-top-k:k=2,top-k:k=2", "--sensitivity", 1, "--epsilon", 0.1]
    rows = shown(run, "compare", counted[1], "--utilities", *words)["rows"]
    assert [row["name"] for row in rows] == ["joint-top-k", "top-k, by draws"]
    counts = np.array(list(COUNTS.values()))
    assert rows[0]["expected"] == fx.JointTopK(2, 0.1).law(counts).expected_loss()
