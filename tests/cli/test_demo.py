"""Does the demo tell its story in any folder, with true figures, each question at once?"""

from __future__ import annotations

import json
import os
import shlex
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import fastexp
from fastexp.cli import main
from tests.doors.cli import demo
from tests.support import processes

posix = pytest.mark.skipif(os.name != "posix", reason="a shell")


def run(
    *arguments: str, cwd: Path | None = None, given: str = ""
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fastexp", *arguments]
    return processes.run(command, cwd=cwd, given=given, encoding="utf-8")


def test_each_question_is_there_before_its_answers_are_computed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever has to be imported or compiled for them."""
    printed = []

    def answered(chapter: demo.Chapter) -> demo.Chapter:
        def answers() -> list[demo.Facts]:
            printed.append(capsys.readouterr().out)
            return chapter.answers()

        return chapter._replace(answers=answers)

    monkeypatch.setattr(demo, "CHAPTERS", tuple(map(answered, demo.CHAPTERS)))
    assert main(["demo"]) == 0
    assert [text.count("?\n") for text in printed] == [1, 1, 1, 1]
    assert printed[0].startswith("What is the most common marital status of the 32,561 people")
    assert "(not private)" not in printed[0]
    assert all("(not private)" in text for text in printed[1:])  # of the one before


@pytest.mark.process
def test_demo_tells_its_story_anywhere(tmp_path: Path) -> None:
    done = run("demo", cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert len(lines) <= 64  # four chapters and the commands, on 80 columns
    assert max(map(len, lines[:-5])) <= 80
    assert "32,561 people" in lines[0]
    for epsilon in ("0.0001", "0.001", "0.01"):
        assert any(f" {epsilon} " in line for line in lines)
    assert "Married-civ-spouse" in done.stdout  # certain at 0.01, up to e**-42
    assert done.stdout.count("(not private)") == 4
    for part in ("0, 1, ..., 120", "youngest", "for each marital status", "1, 1, 1 and 3.01"):
        assert part in done.stdout
    assert "\x1b" not in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_demo_in_process(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert sum(line.startswith("  fastexp demo --records | ") for line in out.splitlines()) == 3


@pytest.mark.process
@posix
def test_commands_that_the_demo_names_work(tmp_path: Path) -> None:
    commands = json.loads(run("demo", "--json").stdout)["next"]
    marital = ("Married-civ-spouse\n", "Never-married\n")
    asked = [("select", marital), *[("select", ("NOT PRIVATE",))] * 2]
    asked += [("median", tuple("23456")), ("price", ("NOT PRIVATE",))]
    assert len(commands) == len(asked)
    for number, (command, (name, start)) in enumerate(zip(commands, asked, strict=True)):
        assert command.startswith("python -m fastexp demo --records")
        assert f" | python -m fastexp {name} - --column " in command
        if number == 0:
            called = command.replace("python ", f"'{sys.executable}' ")
            shell = ["/bin/sh", "-c", called]
            done = processes.run(shell, cwd=tmp_path, text=True)
        else:
            giving, taking = (shlex.split(part)[3:] for part in command.split(" | "))
            done = run(*taking, cwd=tmp_path, given=run(*giving).stdout)
        assert done.returncode == 0
        assert done.stdout.startswith(start)


def test_demo_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "demo"
    assert [step["epsilon"] for step in found["steps"]] == [0.0001, 0.001, 0.01]
    statuses, ages = demo._records(demo.COLUMN), [int(age) for age in demo._records("age")]
    candidates = tuple(dict.fromkeys(statuses))
    law = fastexp.MostCommon(0.0001, candidates).law(statuses)
    first = found["steps"][0]
    assert first["probability"] == law.probabilities[candidates.index(first["released"])]
    assert all(command.startswith("fastexp demo") for command in found["next"])
    assert [step["epsilon"] for step in found["medians"]] == [0.0001, 0.001, 0.01]
    assert all(step["released"] in range(121) for step in found["medians"])
    assert statistics.median(ages) == 37
    for step in found["medians"]:
        law = fastexp.Median(step["epsilon"], (0, 120), step=1).law(ages)
        assert step["expected_error"] == law.expected_error(37)
    pairs = Counter({tuple(p.split("/")): n for p, n in demo._counts("ages_by_status").items()})
    for place, counts in enumerate(map(demo._counts, ("marital_status", "ages"))):
        sums: Counter[str] = Counter()
        for pair, number in pairs.items():
            sums[pair[place]] += number
        assert sums == counts
    assert [step["group"] for step in found["groups"]] == list(candidates)
    errors = [step["expected_error"] for step in found["groups"]]
    assert errors == sorted(errors)  # from the largest group to the smallest
    assert all(step["released"] in range(121) for step in found["groups"])
    assert [step["epsilon"] for step in found["prices"]] == [0.01, 1.0, 5.0, 50.0]
    revenues = [step["expected_revenue"] for step in found["prices"]]
    assert revenues == sorted(revenues)
    law = fastexp.Price(5.0, (0, 3.5), step=0.001).law([1, 1, 1, 3.01])
    assert revenues[2] == law.expected_utility()
    assert all(0 <= step["released"] <= 3.5 for step in found["prices"])


def test_demo_records_are_the_census(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--records"]) == 0
    header, *people = capsys.readouterr().out.splitlines()
    assert header == "marital-status"
    assert {status: people.count(status) for status in set(people)} == {
        "Married-civ-spouse": 14976,
        "Never-married": 10683,
        "Divorced": 4443,
        "Separated": 1025,
        "Widowed": 993,
        "Married-spouse-absent": 418,
        "Married-AF-spouse": 23,
    }


def test_other_demo_records(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--records", "bid"]) == 0
    assert capsys.readouterr().out == "bid\n1\n1\n1\n3.01\n"
    assert main(["demo", "--records", "age"]) == 0
    header, *ages = capsys.readouterr().out.splitlines()
    assert (header, len(ages), ages[0], ages[-1], ages.count("36")) == (
        "age",
        32561,
        "17",
        "90",
        898,
    )
