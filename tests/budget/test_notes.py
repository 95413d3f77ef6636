"""Does a budget's log say what was asked, and what its users noted?"""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import fastexp as fx
from fastexp import Budget, BudgetExceeded, LabelError
from fastexp.errors import ParameterError, ParameterTypeError
from tests.doors.budget import Question, charge_and_draw
from tests.messages import raises, says
from tests.support import processes

MEDIAN = fx.Median(0.1, bounds=(0, 100), step=1)
FUEL = fx.MostCommon(0.1, ["gas", "oil"])
AGES, CITY = np.arange(100), np.array(["Oslo", "Rome"] * 50)
BY = {"by": CITY, "groups": ["Oslo", "Rome"]}
FRAME = {"city": CITY, "year": [2024] * 100, "age": AGES, "who": AGES // 2, "fuel": ["gas"] * 100}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "survey.budget"


@pytest.fixture(params=["memory", "file"])
def budget(request, path):
    return Budget(9.0) if request.param == "memory" else Budget.file(path, epsilon=9.0)


def never(*_):
    raise AssertionError("the rows were read")


# ---- what was asked ----

ASKED = {
    "Median": (MEDIAN, AGES, {}),
    "Median; 2 groups": (MEDIAN, AGES, BY),
    "MostCommon; 1 group": (FUEL, ["gas"], {"by": ["Oslo"], "groups": ["Oslo"]}),
    "Median; groups from the data": (MEDIAN, AGES, {"by": CITY, "groups": "from-data"}),
    "Median; 2 groups; persons bounded, max_rows 2": (
        MEDIAN,
        AGES,
        {**BY, "person": AGES // 2, "max_rows": 2},
    ),
    "Median; 2 groups; max_groups 2, max_rows 3 (claimed)": (
        MEDIAN,
        AGES,
        {**BY, "max_groups": 2, "max_rows": 3},
    ),
    "Median; 2 groups; public membership": (MEDIAN, AGES, {**BY, "membership": "public"}),
    "Median; 2 data sets": (MEDIAN, AGES, {"offsets": [0, 30, 100]}),
    "Median; 4 data sets, disjoint": (MEDIAN, AGES.reshape(4, 25), {"disjoint": True}),
    "Median; 3 data sets; persons bounded": (
        MEDIAN,
        AGES,
        {"offsets": [0, 30, 60, 100], "person": AGES},
    ),
    "Exponential; 3 data sets": (fx.Exponential(0.1, 1.0), np.zeros((3, 5)), {}),
    "Laplace": (fx.Laplace(0.1, 1, step=1), 3, {}),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fastexp.errors.PrivacyWarning")
@pytest.mark.parametrize("label", [None, "q"])
@pytest.mark.parametrize("about", ASKED)
def test_what_a_mechanism_was_asked(about, label, budget):
    mechanism, data, how = ASKED[about]
    mechanism.release(data, budget=budget, label=label, **how)
    assert [entry["about"] for entry in budget.log()] == [about]


QUERIES = {
    "Median of age": {},
    "Median of age; by city (2 groups)": {"by": "city", "groups": ["Oslo", "Rome"]},
    "Median of age; by city, year (4 groups)": {
        "by": ["city", "year"],
        "groups": fx.product(city=["Oslo", "Rome"], year=[2024, 2025]),
    },
    "Median of age; by city (groups from the data)": {"by": "city", "groups": "from-data"},
    "Median of age; person who": {"person": "who"},
    "Median of age; by city (1 group); person who, max_groups 2, max_rows 3": {
        "by": "city",
        "groups": ["Rome"],
        "person": "who",
        "max_groups": 2,
        "max_rows": 3,
    },
    "Median of age; max_rows 3 (claimed)": {"max_rows": 3},
    "Median of age; by city (1 group); public membership": {
        "by": "city",
        "groups": ["Rome"],
        "membership": "public",
    },
}


@pytest.mark.filterwarnings("ignore::fastexp.errors.PrivacyWarning")
@pytest.mark.parametrize("about", QUERIES)
def test_what_a_query_asked(about, budget):
    fx.Query(**QUERIES[about]).release(FRAME, {"m": (MEDIAN, "age")}, budget=budget)
    assert [entry["about"] for entry in budget.log()] == [about]


def test_several_answers(budget):
    answers = {"m": (MEDIAN, "age"), "f": (FUEL, "fuel")}
    fx.Query().release(FRAME, answers, budget=budget, label="q")
    (entry,) = budget.log()
    assert entry["about"] == "Median of age, MostCommon of fuel"
    assert entry["name"] == "Median, MostCommon"


def test_odd_names_of_columns_are_one_line(budget):
    for name in ("a\nb", "\x1b[31m", "a\u202eb", "x" * 5000, "\x1b" * 999):
        fx.Query().release({name: AGES}, {"m": (MEDIAN, name)}, budget=budget)
    abouts = [entry["about"] for entry in budget.log()]
    assert all(about.isprintable() and len(about) <= 1000 for about in abouts)
    assert abouts[:2] == [r"Median of a\nb", r"Median of \x1b[31m"]
    assert [about[-3:] for about in abouts[3:]] == ["..."] * 2


def test_odd_classes_are_one_line(budget):
    odd = type("Odd\n\u202e" * 9, (fx.Median,), {})
    odd(0.1, bounds=(0, 9), step=1).release([1], budget=budget)
    assert [entry["about"] for entry in budget.log()] == [r"Odd\n\u202e" * 9]


def test_another_question_under_a_label_is_told_by_what_it_asked(path):
    budget = Budget.file(path, epsilon=9.0)
    query, answers = fx.Query(), {"m": (MEDIAN, "age")}
    query.release(FRAME, answers, budget=budget, label="q")
    other = {"m": (FUEL, "fuel")}
    message = says(
        "'q': label of another question, described, got 'MostCommon of...", that="'Median of age'"
    )
    with pytest.raises(LabelError, match=says(message)):
        query.release(FRAME, other, budget=budget, label="q")
    finer = {"m": (fx.Median(0.1, bounds=(0, 99), step=1), "age")}
    with raises("label of another question"):
        query.release(FRAME, finer, budget=budget, label="q")
    assert budget.charges == 1


# ---- notes ----


def test_a_note_is_in_the_log(budget):
    answers = {"m": (MEDIAN, "age")}
    fx.Query().release(FRAME, answers, budget=budget, note="Zürich, 東京, 🙂")
    fx.Query().release(FRAME, answers, budget=budget, note='"}\\', label="q")
    budget.charge(MEDIAN.guarantee, note="x" * 200)
    fx.Query().release(FRAME, answers, budget=budget)
    notes = ["Zürich, 東京, 🙂", '"}\\', "x" * 200, None]
    assert [entry["note"] for entry in budget.log()] == notes


def test_a_note_is_kept_in_the_file(path):
    Budget.file(path, epsilon=9.0).charge(MEDIAN.guarantee, name="elsewhere", note="Jahrbuch ß")
    assert Budget.file(path).log()[0]["note"] == "Jahrbuch ß"
    assert path.read_bytes().isascii()


@pytest.mark.parametrize(
    "bad", ["", 3, b"note", "a\nb", "a\r", "\x1b[2J", "a\u202eb", "\ud800", "\0", "x" * 201]
)
def test_a_hostile_note_is_refused_before_anything(bad, budget, path):
    lines = path.read_bytes() if path.exists() else b""
    query, answers = fx.Query(), {"m": (MEDIAN, "age")}
    for label in (None, "q"):
        with pytest.raises(
            (ParameterError, ParameterTypeError),
            match=says("line of text", "text that is not empty", name="note"),
        ):
            query.release(never, answers, budget=budget, label=label, note=bad)
    assert budget.charges == 0
    assert (path.read_bytes() if path.exists() else b"") == lines


def test_whatever_releases_has_its_note_checked(budget):
    with raises("note: line of text"):
        charge_and_draw(budget, None, Question(MEDIAN), never, note="a\nb")
    with raises("note without budget"):
        charge_and_draw(None, None, Question(MEDIAN), never, note="n")
    assert budget.charges == 0


def test_a_long_note_is_not_repeated_in_its_refusal(budget):
    with pytest.raises(ParameterError) as caught:
        fx.Query().release(FRAME, {"m": (MEDIAN, "age")}, budget=budget, note="n" * 10_000_000)
    assert len(str(caught.value)) < 200
    assert budget.charges == 0


def test_a_note_of_a_subclass_is_plain_text(budget):
    class Sly(str):
        __slots__ = ()

        def __str__(self):
            return "a\nb"

        def isprintable(self):
            return True

    budget.charge(MEDIAN.guarantee, note=Sly("plain"))
    assert type(budget.log()[0]["note"]) is str
    with raises("note: line of text"):
        budget.charge(MEDIAN.guarantee, note=Sly("a\nb"))
    assert budget.charges == 1


def test_a_note_needs_a_budget():
    query, answers = fx.Query(), {"m": (MEDIAN, "age")}
    for more in ({}, {"key": fx.release_key()}):
        with raises("note without budget"):
            query.release(never, answers, note="n", **more)


def test_a_note_is_no_part_of_the_question(path):
    budget, query, answers = Budget.file(path, epsilon=9.0), fx.Query(), {"m": (MEDIAN, "age")}
    first = query.release(FRAME, answers, budget=budget, label="q", note="first")
    for note in (None, "edited"):
        again = query.release(FRAME, answers, budget=budget, label="q", note=note)
        assert again["m"].tolist() == first["m"].tolist()
    assert [entry["note"] for entry in budget.log()] == ["first"]


def test_a_charge_that_does_not_fit_leaves_no_note(budget):
    with pytest.raises(BudgetExceeded):
        budget.charge(fx.Median(99.0, bounds=(0, 1)).guarantee, note="too much")
    assert budget.log() == []


@pytest.mark.engines
def test_an_attached_table_has_a_note(path):
    duckdb = pytest.importorskip("duckdb")
    con, budget = duckdb.connect(), Budget.file(path, epsilon=9.0)
    con.execute("CREATE TABLE ages AS SELECT range AS age FROM range(99)")
    answers = {"m": (MEDIAN, "age")}
    fx.Query().attach(con, "ages", answers, name="medians", budget=budget, note="for SQL")
    assert [entry["note"] for entry in budget.log()] == ["for SQL"]
    with raises("note: line of text"):
        fx.Query().attach(con, "ages", answers, name="more", budget=budget, note="a\nb")
    assert budget.charges == 1


# ---- several at once ----


def test_threads_keep_each_others_notes(budget):
    start = threading.Barrier(4)

    def spend(number):
        start.wait(timeout=60)
        for i in range(5):
            budget.charge(MEDIAN.guarantee, note=f"{number} {i}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(spend, range(4)))
    notes = sorted(entry["note"] for entry in budget.log())
    assert notes == [f"{number} {i}" for number in range(4) for i in range(5)]
    assert budget.spent == 2.0


SPENDER = """
import sys, fastexp as fx
budget = fx.Budget.file(sys.argv[1])
for i in range(5):
    budget.charge(fx.Median(0.1, bounds=(0, 9)).guarantee, note=f"{sys.argv[2]} {i}")
"""


@pytest.mark.process
def test_processes_keep_each_others_notes(path):
    budget = Budget.file(path, epsilon=9.0)
    environment = {**os.environ, "PYTHONPATH": str(Path(fx.__file__).parents[1])}
    programs = [
        processes.start([sys.executable, "-c", SPENDER, path, str(number)], env=environment)
        for number in range(3)
    ]
    assert [program.wait(timeout=300) for program in programs] == [0, 0, 0]
    notes = sorted(entry["note"] for entry in budget.log())
    assert notes == [f"{number} {i}" for number in range(3) for i in range(5)]


def test_a_note_that_does_not_reach_the_disk_charges_nothing(path, monkeypatch):
    budget = Budget.file(path, epsilon=9.0)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with raises("budget file that cannot be used, got No space left..."):
        budget.charge(MEDIAN.guarantee, note="lost")
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert budget.log() == []
