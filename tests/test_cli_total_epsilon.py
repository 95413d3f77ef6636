"""Is a call told what all its answers cost, and never charged more than `--total-epsilon`?"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import fastexp as fx
from fastexp.cli import main

Run = Callable[..., tuple[int, str, str]]
BY = ["--by", "g", "--groups", "a,b"]
MEDIAN = ["median", "d.csv", "--column", "x", "--bounds", "0", "9", "--step", "1"]
PRICE = ["price", *MEDIAN[1:], "--scaling", "textbook"]
SELECT = ["select", "d.csv", "--column", "g", "--candidates", "a,b"]
SCORES = ["select", "s.csv", "--utilities", "--sensitivity", "1"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("g,x\n" + "a,1\nb,2\n" * 9)
    Path("s.csv").write_text("c,u\na,1\nb,2\n")

    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        return (code, *capsys.readouterr())

    return call


def test_what_is_more_than_epsilon_is_said(run: Run) -> None:
    fx.Budget.file("b", epsilon=90.0)
    limits = ["--max-groups", "2", "--max-rows", "3"]
    code, _, err = run(*MEDIAN, *BY, "--epsilon", "0.5", *limits, "--budget", "b")
    assert (code, fx.Budget.file("b").spent) == (0, 3.0)
    assert err.startswith("all answers together: epsilon 3.0 = 0.5 x 2 groups x 3 rows; --total")
    code, _, err = run(*MEDIAN, *BY, "--epsilon", "0.5", "--neighbors", "replace")
    assert err.startswith("all answers together: epsilon 1.0 = 0.5 x 2 (neighbors replace); ")
    for equal in (["--epsilon", "1"], [*BY, "--epsilon", 1]):
        assert "all answers together: " not in run(*MEDIAN, *equal)[2]


def test_quiet_does_not_hide_it(run: Run) -> None:
    code, _, err = run(*MEDIAN, *BY, "--epsilon", "0.5", "--max-groups", "2", "-q")
    assert code == 0
    assert err.startswith("all answers together: epsilon 1.0 = 0.5 x 2 groups; --total")
    assert err.count("\n") == 1


LIMITS = [[], ["--max-groups", "3"], ["--max-rows", "7"], ["--max-groups", "3", "--max-rows", "7"]]
CALLS = [
    *([*MEDIAN, *BY, *limits] for limits in LIMITS),
    [*MEDIAN, *BY, *LIMITS[3], "--neighbors", "replace"],
    [*MEDIAN, *BY, *LIMITS[3], "--neighbors", "replace", "--membership", "public"],
    [*PRICE, *BY, *LIMITS[3]],
    [*SELECT[:3], "x", "--candidates", "1,2", *BY, *LIMITS[3]],
    *(MEDIAN, PRICE, SELECT, SCORES),
    [*SELECT, "--mechanism", "top-k", "--k", "2"],
]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("limit", ["0.1", "1", "2.3"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0] + str(len(call)))
def test_the_total_is_kept_and_used_up(run: Run, call, limit: str, relation: str) -> None:
    relation = "replace" if "--neighbors" in call else relation
    fx.Budget.file("b", epsilon=float(limit), neighbors=relation)
    code, _, err = run(*call, "--total-epsilon", limit, "--budget", "b")
    assert code == 0, err
    assert "all answers together: " not in err
    spent = Fraction(str(fx.Budget.file("b").spent))
    assert Fraction(limit) * (1 - Fraction(1, 10**14)) < spent <= Fraction(limit)


def test_the_share_is_what_the_answers_have(run: Run) -> None:
    call = [*MEDIAN, *BY, *LIMITS[3], "--total-epsilon", "2.1", "--json"]
    found = json.loads(run(*call)[1])
    assert (found["epsilon"], found["promised"]["epsilon"]) == (0.1, 2.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--total-epsilon", "1", "--epsilon", "1"], "not allowed with"),
        ([], "--epsilon --total-epsilon is required"),
        (["--total-epsilon", "0"], "--total-epsilon must be finite and > 0"),
        (["--total-epsilon", "nan"], "--total-epsilon must be a number"),
        (["--total-epsilon", "1e-9", "--max-rows", "9"], "epsilon must be in [1e-09, 1e+06]"),
    ],
)
def test_what_is_no_total(run: Run, options: list[str], message: str) -> None:
    code, out, err = run(*MEDIAN, *BY, *options)
    assert (code, out) == (2, "")
    assert message in err


def test_helps_say_whose_epsilon_it_is(run: Run) -> None:
    for command in ("median", "quantile", "price", "select"):
        text = " ".join(run(command, "--help-all")[1].split())
        assert "--epsilon E how private each answer is, in nats" in text
        assert "--total-epsilon E of all answers together" in text
