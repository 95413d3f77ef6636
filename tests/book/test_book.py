"""Is the package what the frozen book says, and does the book name whatever is not?"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from tests.book import book, commands
from tests.book.__main__ import main
from tests.book.book import FOLDER
from tests.book.compare import differences
from tests.book.entries import numbers, written
from tests.support.each import each

MOST = 300_000  # bytes of all chapters
HIDDEN = "the draws that are written agree, later ones do not"


def changed(owner: Any, name: str, change: Callable[[Any], Any], patch: pytest.MonkeyPatch) -> None:
    """Let a function or method return something else."""
    original = getattr(owner, name)
    patch.setattr(owner, name, lambda *args, **options: change(original(*args, **options)))


def last_draw(draws: Any) -> Any:
    """The same draws, but for the last one."""
    draws = np.array(draws)
    draws.flat[-1] += 1
    return draws


def first_column(answers: dict[str, Any]) -> dict[str, Any]:
    """The same answers, but for the first ones."""
    name, *_ = answers
    return {**answers, name: last_draw(answers[name])}


def one_digit(patch: pytest.MonkeyPatch) -> None:
    """Let a resumed run change the last digit of its table."""
    resume = fx.Study.resume

    def resumed(folder: Path) -> None:
        resume(folder)
        file = folder / "table.csv"
        file.write_bytes(re.sub(rb"\d(?=\D*$)", b"x", file.read_bytes()))

    patch.setattr(fx.Study, "resume", resumed)


def other_promise(patch: pytest.MonkeyPatch) -> None:
    """Let the exponential mechanism promise a little more."""
    promise = dataclasses.replace(fx.Exponential(1.0, 1.0).guarantee, rho=0.13)
    patch.setattr(fx.Exponential, "guarantee", property(lambda mechanism: promise))


# How many of a chapter's first entries show it, what is changed, and what the book says of it.
PLANTS: dict[str, tuple[int, Callable[[pytest.MonkeyPatch], None], str]] = {
    "answers": (
        9,
        lambda patch: changed(fx.Query, "release", first_column, patch),
        r"^answers / all rows / rent: 'int64 1: \d+' -> 'int64 1: \d+'$",
    ),
    "commands": (
        25,
        lambda patch: changed(commands, "main", lambda code: code or 7, patch),
        r"^commands / --version\.code: 0 -> 7$",
    ),
    "docstrings": (
        9999,
        lambda patch: patch.setattr(fx.Median, "__doc__", fx.Median.__doc__.replace("Ex", "S", 1)),
        r"^docstrings / Median: \n--- book\n\+\+\+ now\n@@.*\n.*\n-Examples\n\+Samples\n",
    ),
    "draws": (
        2,
        lambda patch: changed(fx.Exponential, "sample", last_draw, patch),
        rf"^draws / spread, size=1000, method=gumbel: {HIDDEN} ",
    ),
    "functions": (
        1,
        lambda patch: changed(fx, "expected_errors", lambda errors: errors * (1 + 2e-12), patch),
        r"^functions / expected_errors / Median: Median\(.*\)\[0\]: [\d.]+ -> [\d.]+$",
    ),
    "groups": (
        3,
        lambda patch: changed(fx.Median, "sample", last_draw, patch),
        rf"^groups / sample / Median, size=None: {HIDDEN} ",
    ),
    "guarantees": (
        9,
        other_promise,
        r"^guarantees / Exponential: Exponential\(epsilon=1\.0.*\.rho: 0\.125 -> 0\.13$",
    ),
    "laws": (
        30,
        lambda patch: changed(fx.GridLaw, "mean", lambda mean: mean * (1 + 1e-11), patch),
        r"^laws / case \d+: \w+\(.*\)\.law\(\[.*\]\)\.mean: [\d.]+ -> [\d.]+$",
    ),
    "resumed": (
        9,
        one_digit,
        r"^resumed / table\.csv\.lines: 1 of \d+ words differ, first at \d+: \w{4} -> \w{4}$",
    ),
    "studies": (
        9,
        lambda patch: changed(fx.StudyTable, "text", lambda text: f"{text}?", patch),
        r"^studies / small / table: \n--- book\n\+\+\+ now\n",
    ),
}


@pytest.mark.parametrize(
    "chapter",
    [
        *("docstrings", "draws", "functions", "groups", "guarantees"),
        *(pytest.param(c, marks=pytest.mark.slow) for c in ("commands", "laws", "studies")),
        pytest.param("answers", marks=pytest.mark.engines),
        pytest.param("resumed", marks=pytest.mark.process),
    ],
)
class TestChapters:
    def test_the_package_is_what_the_book_says(self, chapter):
        assert main(["--chapter", chapter]) == 0  # what differs is printed

    def test_a_planted_change_is_named(self, chapter, monkeypatch, capsys):
        count, plant, message = PLANTS[chapter]
        plant(monkeypatch)
        entries = book.CHAPTERS[chapter]
        monkeypatch.setitem(book.CHAPTERS, chapter, lambda: islice(entries(), count))
        assert main(["--chapter", chapter]) == 1
        assert re.search(message, capsys.readouterr().out, re.MULTILINE)


def test_all_chapters_are_written_and_small():
    assert sorted(path.name for path in FOLDER.iterdir()) == [
        f"{c}.json.xz" for c in sorted(PLANTS)
    ]
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MOST


@each(
    ("old", "new", "lines"),
    [
        (1.0, 1 + 9e-13, []),
        (1.0, 1 + 2e-12, ["x: 1.0 -> 1.000000000002"]),
        (1e-300, 2e-300, ["x: 1e-300 -> 2e-300"]),
        (0.0, 9e-13, []),
        (0.0, 2e-12, ["x: 0.0 -> 2e-12"]),
        (float("nan"), float("nan"), []),
        (float("nan"), 1.0, ["x: nan -> 1.0"]),
        (float("inf"), 1e300, ["x: inf -> 1e+300"]),
        (1, 1.0, ["x: 1 -> 1.0"]),
        (1, True, ["x: 1 -> True"]),
        (1, None, ["x: 1 -> None"]),
        ([1, 2], [1, 3], ["x[1]: 2 -> 3"]),
        ([1, 2], [1], ["x: [1, 2] -> [1]"]),
        ({"a": 1, "b": 2}, {"a": 1, "c": 2}, ["x.b: is gone", "x.c: is new"]),
        ({"a b": [1]}, {"a b": [2]}, ["x / a b[0]: 1 -> 2"]),
        ("int64 3: 1 2 3", "int64 3: 1 2 4", ["x: 1 of 5 words differ, first at 4: 3 -> 4"]),
        ("int64 9: 1 2 ... ab", "int64 9: 1 2 ... cd", [f"x: {HIDDEN} (ab -> cd)"]),
        ("int64 9: 1 ... ab", "int64 9: 3 ... cd", ["x: 2 of 5 words differ, first at 2: 1 -> 3"]),
        ("a", "b", ["x: 'a' -> 'b'"]),
        ("a\nb", "a\nc", ["x: \n--- book\n+++ now\n@@ -1,2 +1,2 @@\n a\n-b\n+c"]),
    ],
)  # fmt: skip
def test_differences_name_what_differs(old, new, lines):
    assert list(differences("x", old, new)) == lines


def test_other_draws_are_other_texts():
    """Also of another type or shape, and where only draws differ that are not written."""
    draws = numbers(40, 9)
    forms = [
        draws,
        draws.reshape(4, 10),
        draws.astype(float),
        last_draw(draws),
        draws[:16],
        draws[0],
    ]
    assert len({written(form) for form in forms}) == len(forms)
    assert written(draws.astype(">i8")) == written(draws).replace("int64", ">i8")
