"""Every form in which a mechanism can be had, tried for `Hinge` of ranks or `Plurality` of counts.

A script for a process in which the package has that toy: `python toy_forms.py WORD` writes, as
JSON, the error of each form, "" where there is none. It imports nothing of the tests.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fastexp as fx
from fastexp.cli import main

EPSILON = 1.0
AGES = np.arange(300) % 100
VOTES = np.array(["a", "b", "a"])[np.arange(300) % 3]
TOWNS, PERSONS = np.arange(300) % 2, np.arange(300) // 3
PUBLICATION = """
source = "rows.csv"
budget = "a.budget"
label = "a"
[query]
by = "town"
groups = [0, 1]
person = "person"
max_groups = 2
max_rows = 2
[answers.toy]
column = "{column}"
mechanism = "{word}"
epsilon = 0.5
{settings}
"""


def command(*words: Any) -> str:
    """What a command prints; its mistakes are errors."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:
            code = end.code
    assert not code, err.getvalue()
    return out.getvalue()


class Forms:
    """The forms that all mechanisms have, for one of them; subclasses say what it is and takes."""

    word: str
    column: str
    settings: str  # of a publication
    data: Any
    neighbor: Any
    like: dict[str, Any]  # settings of a study
    toy: Any
    other: Any  # with another value of its own parameter

    def answers(self, answers: Any) -> None:
        """Check that all of several answers are such as it gives."""
        raise NotImplementedError

    def array(self) -> None:
        self.answers([self.toy.release(self.data)])
        self.answers(self.toy.sample(self.data, 3, rng=1))
        assert self.toy.law(self.data).mechanism == self.toy

    def groups(self) -> None:
        self.answers(self.toy.release(self.data, by=TOWNS, groups=[0, 1]))

    def persons(self) -> None:
        limits = {"person": PERSONS, "max_groups": 2, "max_rows": 2}
        self.answers(self.toy.release(self.data, by=TOWNS, groups=[0, 1], **limits))

    def query(self) -> None:
        frame, answer = {"town": TOWNS, self.column: self.data}, (self.toy, self.column)
        query = fx.Query("town", [0, 1])
        self.answers(query.release(frame, {"toy": answer})["toy"])
        assert len(query.accuracy(frame, {"toy": answer})["expected"]) == 2
        assert query.total({"toy": answer}).epsilon == EPSILON

    def session(self) -> None:
        session = fx.Session({self.column: self.data}, budget=fx.Budget(9.0))
        self.answers(session.release(None, {"toy": (self.toy, self.column)})["toy"])

    def publication(self) -> None:
        command("budget", "a.budget", "--epsilon", 9)
        text = PUBLICATION.format(word=self.word, column=self.column, settings=self.settings)
        Path("a.toml").write_text(text)
        assert self.word in command("release", "a.toml", "--check", "--like", "rows2.csv")
        assert len(json.loads(command("release", "a.toml", "--json"))["rows"]) == 2

    def accuracy(self) -> None:
        assert self.toy.accuracy(self.data).expected > 0

    def study(self) -> None:
        assert self.word in command("study", "list")
        mechanisms = [self.word, {"mechanism": self.other, "label": "other"}]
        study = fx.Study(name="toy", mechanisms=mechanisms, epsilon=EPSILON, **self.like)
        results = study.run(workers=1)
        assert results.agree
        assert {row["mechanism"] for row in results.rows} == {self.word, "other"}
        assert all(row["exact"] is not None for row in results.rows)

    def audit(self) -> None:
        assert 0 < fx.audit(self.toy, self.data, self.neighbor).share <= 1

    def comparison(self) -> None:
        assert self.word in command("compare", "rows.csv", *self.options, *self.mechanisms)

    def epsilon(self) -> None:
        assert command("epsilon", self.word, *self.target, "--datasets", 9)

    options: tuple[Any, ...]
    mechanisms: tuple[Any, ...]
    target: tuple[Any, ...]


class HingeForms(Forms):
    """Of numbers on a grid."""

    word, column, settings = "hinge", "age", 'bounds = [0, 100]\nstep = 1\nend = "upper"'
    data, neighbor = AGES, AGES[1:]
    grid = ("--bounds", 0, 100, "--step", 1)
    options = ("--column", "age", "--epsilon", EPSILON, *grid)
    mechanisms = ("--mechanisms", "median,hinge,hinge:end=upper")
    target = ("--like", "ages", "--n", 50, *grid, "--expected-error", 3)

    def __init__(self) -> None:
        kind: Any = fx.Hinge  # type: ignore[attr-defined]  # the toy
        self.toy, self.other = (kind(EPSILON, (0, 100), step=1, end=e) for e in ("lower", "upper"))
        self.like = {"data": "ages", "n": 50, "bounds": (0, 100), "datasets": 5, "draws": 20}

    def answers(self, answers: Any) -> None:
        assert all(15 <= answer <= 35 for answer in answers), answers

    def law(self) -> None:
        points = np.arange(101)
        below, above = (AGES[:, None] < points).sum(0), (AGES[:, None] > points).sum(0)
        distances = np.maximum(np.maximum(below - 75, above - 225), 0)
        weights = np.exp(-EPSILON * distances * 2 / 3)
        assert np.allclose(self.toy.law(AGES).pmf(points), weights / weights.sum(), rtol=1e-9)

    def rows(self) -> None:
        self.answers(self.toy.release(AGES.reshape(3, 100)))
        self.answers(self.toy.sample(AGES.reshape(3, 100), 4, rng=1).ravel())

    def errors(self) -> None:
        found = fx.expected_errors(AGES[None], [self.toy, self.other])
        assert np.allclose(found[0], [m.accuracy(AGES).expected for m in (self.toy, self.other)])

    def release(self) -> None:
        self.answers([int(command("hinge", "rows.csv", *self.options))])
        upper = command("hinge", "rows.csv", *self.options, "--end", "upper", "--json")
        (row,) = json.loads(upper)["rows"]
        assert 65 <= row["age"] <= 85
        law = command("hinge", "rows.csv", *self.options, "--law", "--json")
        assert json.loads(law)["truth"] == 24.5
        assert command("hinge", "rows.csv", *self.options, "--accuracy", "--by", "town",
                       "--groups", "0,1")  # fmt: skip

    def help(self) -> None:
        text = command("hinge", "--help-all")
        assert "--end lower|upper" in text
        assert "--widen W" in text
        assert "\n  --neighbors" not in text
        assert "\n  hinge      release an end of the middle half" in command("--help")

    def warmup(self) -> None:
        assert "kernels ready" in command("warmup", "--only", "hinge")


class PluralityForms(Forms):
    """Of candidates by counts."""

    word, column, settings = "plurality", "vote", 'candidates = ["a", "b"]'
    data, neighbor = VOTES, VOTES[1:]
    options = ("--column", "vote", "--candidates", "a,b", "--epsilon", EPSILON)
    mechanisms = ("--mechanisms", "exponential,plurality")
    target = ("--like", "votes", "--n", 8, "--sensitivity", 1, "--expected-loss", 5)

    def __init__(self) -> None:
        kind: Any = fx.Plurality  # type: ignore[attr-defined]  # the toy
        self.toy = kind(EPSILON, candidates=["a", "b"])
        self.other = kind(EPSILON, 2.0)
        data = {"name": "scores", "most": 4}
        self.like = {"data": data, "n": 7, "datasets": 5, "draws": 20}

    def answers(self, answers: Any) -> None:
        assert set(answers) <= {"a", 0}, answers

    def law(self) -> None:
        weights = np.exp([EPSILON * 2, EPSILON / 2])
        for law in (self.toy.law({"a": 4, "b": 1}), self.other.law([8, 2])):
            assert np.allclose(law.probabilities, weights / weights.sum(), rtol=1e-12)

    def rows(self) -> None:
        self.answers(self.toy.release([[90, 3], [80, 5]]))

    def release(self) -> None:
        select = ["select", "rows.csv", *self.options, "--mechanism", "plurality"]
        self.answers([command(*select).strip()])
        grouped = ["--by", "town", "--groups", "0,1", "--person", "person", "--max-groups", 2,
                   "--max-rows", 2]  # fmt: skip
        rows = json.loads(command(*select, *grouped, "--json"))["rows"]
        self.answers([row["vote"] for row in rows])
        assert json.loads(command(*select, "--law", "--json"))["expected_loss"] > 0
        scores = ["--utilities", "--sensitivity", 1, "--epsilon", 1, "--mechanism", "plurality"]
        self.answers([command("select", "scores.csv", *scores).strip()])

    def help(self) -> None:
        text = " ".join(command("select", "--help-all").split())
        assert "joint-top-k|plurality" in text
        assert "plurality: the most frequent one" in text


def tried(form: Callable[[], None]) -> str:
    """The error of a form."""
    try:
        form()
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}"[-500:] or "?"
    return ""


def tries(word: str) -> dict[str, str]:
    """The errors of all forms."""
    columns = zip(TOWNS, PERSONS, AGES, VOTES, strict=True)
    lines = ["town,person,age,vote", *(",".join(map(str, row)) for row in columns)]
    for file in ("rows.csv", "rows2.csv"):
        Path(file).write_text("\n".join(lines) + "\n")
    Path("scores.csv").write_text("candidate,utility\na,90\nb,3\n")
    forms = {"hinge": HingeForms, "plurality": PluralityForms}[word]()
    names = [name for name in dir(forms) if not name.startswith("_") and name != "answers"]
    methods = {name: getattr(forms, name) for name in names}
    return {name: tried(method) for name, method in methods.items() if callable(method)
            and name not in ("toy", "other")}  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(json.dumps(tries(sys.argv[1])))
