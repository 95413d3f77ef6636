"""Is a release with a label charged once, whatever happens, and are its answers always the same?"""

from __future__ import annotations

import copy
import errno
import json
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fastexp as fx
from fastexp import Budget, BudgetError, BudgetExceeded, release_key
from fastexp.errors import InvalidRecords, InvalidUtilities, ParameterError, ParameterTypeError
from tests.doors.budget import Question, atomic_files, charge_and_draw, file_of, ledger
from tests.doors.intake import Records
from tests.doors.selection import draw as _draw
from tests.messages import raises, says
from tests.support.budget_lines import checked

MEDIAN = fx.Median(0.1, bounds=(0, 100), step=1)
CITIES = ["Oslo", "Rome"]
AGES, CITY = np.arange(100), np.array(CITIES * 50)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "survey.budget"


@pytest.fixture
def in_file(path):
    return Budget.file(path, epsilon=1.0)


@pytest.fixture(params=["memory", "file"])
def make(request, path):
    """A budget in memory or in a file."""
    if request.param == "memory":
        return Budget
    return lambda epsilon, **more: Budget.file(path, epsilon=epsilon, **more)


@pytest.fixture
def budget(make):
    return make(1.0)


def score(data, candidate):
    return data.count(candidate)


LABELS = ["tea", 3, 2.5, None, True, b"x", ("a", 1)]
GROUPED = {"by": CITY, "groups": CITIES}
RELEASES = {  # mechanism, data, further arguments
    "utilities": (fx.Exponential(0.1, 1.0), [1.0, 2.0, 3.0], {}),
    "candidates": (fx.Exponential(0.1, 1.0, candidates=LABELS), np.arange(7.0), {}),
    "rows": (fx.Exponential(0.1, 1.0), np.zeros((3, 50)), {}),
    "rows of candidates": (fx.Exponential(0.1, 1.0, candidates=["a", "bb"]), [[1, 2], [3, 4]], {}),
    "score": (fx.Exponential.from_score(score, ["a", "b"], epsilon=0.1, sensitivity=1.0), "ab", {}),
    "flip": (fx.PermuteAndFlip(0.1, 1.0), np.zeros(50), {}),
    "top": (fx.TopK(3, 0.1, 1.0), np.zeros(50), {}),
    "top of rows": (fx.TopK(2, 0.1, 1.0, candidates=list("abcd")), np.zeros((2, 4)), {}),
    "common": (fx.MostCommon(0.1, ["a", "b"]), ["a", "b"], {}),
    "common by": (fx.MostCommon(0.1, ["a", "b"]), ["a", "b"] * 50, GROUPED),
    "median": (MEDIAN, AGES, {}),
    "median of floats": (fx.Median(0.1, bounds=(0, 1)), [0.5], {}),
    "by": (MEDIAN, AGES, GROUPED),
    "from data": (MEDIAN, AGES, {"by": CITY, "groups": "from-data"}),
    "persons": (MEDIAN, AGES, GROUPED | {"person": AGES // 2, "max_rows": 2}),
    "offsets": (MEDIAN, AGES, {"offsets": [0, 30, 100]}),
    "segments": (MEDIAN, AGES.reshape(4, 25), {"disjoint": True}),
    "price": (fx.Price(0.1, bounds=(0, 1), step=0.1), [0.3], {}),
    "laplace": (fx.Laplace(0.1, 1, step=1), 10**300, {}),
    "laplace of floats": (fx.Laplace(0.1, 1.0, step=0.5, bounds=(0, 9)), 3.3, {}),
}


def equal(first, second) -> bool:
    """Also in type, all the way down."""
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(first, second)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(equal, first, second))
    return first == second


class Untouchable:
    """Data whose values must not be looked at."""

    def __array__(self, *_, **__):
        raise AssertionError("the data were read")

    __len__ = __iter__ = __getitem__ = __call__ = __array__


def never(*_):
    raise AssertionError("drawn again")


def reopened(budget):
    """A file's budget once more; in memory there is only the one."""
    return Budget.file(path) if (path := file_of(budget)) else budget


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fastexp.errors.PrivacyWarning")
@pytest.mark.parametrize("kind", RELEASES)
def test_a_retry_gives_the_answers_and_costs_nothing(kind, in_file, path):
    mechanism, data, how = RELEASES[kind]
    first = mechanism.release(data, budget=in_file, label="q", **how)
    spent, lines = in_file.spent, path.read_bytes()
    for again in (in_file, Budget.file(path)):
        for _ in range(2):
            assert equal(mechanism.release(data, budget=again, label="q", **how), first)
    assert (in_file.spent, in_file.charges, path.read_bytes()) == (spent, 1, lines)
    kept = in_file.answers("q")
    assert equal(tuple(kept) if kind == "from data" else kept, first)
    assert [p.name for p in path.parent.iterdir()] == [path.name]  # no locks are left


@pytest.mark.filterwarnings("ignore::fastexp.errors.PrivacyWarning")
@pytest.mark.parametrize("kind", RELEASES)
def test_a_budget_in_memory_keeps_answers_as_a_file_does(kind, in_file):
    mechanism, data, how = RELEASES[kind]
    in_memory = Budget(1.0)
    first = mechanism.release(data, budget=in_memory, label="q", **how)
    for _ in range(2):
        assert equal(mechanism.release(data, budget=in_memory, label="q", **how), first)
    kept = in_memory.answers("q")
    assert equal(tuple(kept) if kind == "from data" else kept, first)
    mechanism.release(data, budget=in_file, label="q", **how)
    logs = [budget.log() for budget in (in_memory, in_file)]
    for (entry,) in logs:
        del entry["time"]
    assert logs[0] == logs[1]
    assert (in_memory.spent, in_memory.charges) == (in_file.spent, 1)
    assert repr(in_memory).partition("neighbors")[2] == repr(in_file).partition("neighbors")[2]


MUTABLE = {
    "array": (MEDIAN, GROUPED),
    "list": (fx.MostCommon(0.1, [1, 2]), GROUPED),
    "bits": (fx.RandomizedResponse(0.1), {}),
}


@pytest.mark.parametrize("kind", MUTABLE)
def test_what_is_done_to_answers_does_not_change_what_is_kept(kind, make):
    mechanism, how = MUTABLE[kind]
    budget = make(9.0, neighbors="replace" if kind == "bits" else "add-remove")
    data = CITY == "Oslo" if kind == "bits" else AGES
    first = mechanism.release(data, budget=budget, label="q", **how)
    kept = copy.deepcopy(first)
    for answers in (first, mechanism.release(data, budget=budget, label="q", **how)):
        answers[0] = answers[1] = 3 if kind == "list" else not answers[0]
        assert equal(budget.answers("q"), kept)
    budget.answers("q")[0] = 77
    assert equal(mechanism.release(data, budget=budget, label="q", **how), kept)


def test_answers_of_a_query_and_of_a_session(make):
    rows = {"city": CITY, "age": AGES}
    query = fx.Query(by="city", groups=CITIES)
    answers = {"age": (MEDIAN, "age"), "ages": (fx.Quantiles([0.2, 0.5], 0.1, (0, 9)), "age")}
    budget = make(1.0)
    session = fx.Session(rows, budget=budget)
    for ask in (
        lambda **more: query.release(rows, answers, budget=budget, label="q", **more),
        lambda **more: session.release(query, answers, label="s", **more),
    ):
        before = budget.charges
        first = ask()
        first["age"][:] = -1  # a caller's own
        tables = [ask() for _ in range(2)]
        assert str(tables[0]) == str(tables[1]) != str(first)
        assert budget.charges == before + 1
        with raises("label of another question"):
            ask(nan="upper")
    assert [entry["state"] for entry in session.log()] == ["answered", "answered"]
    with raises("'s': label of another question, described"):
        session.release(fx.Query(), answers, label="s")


def test_a_score_of_a_session(make):
    def score(columns, candidates):
        return [int((columns["age"] == candidate).sum()) for candidate in candidates]

    budget = make(1.0)
    scores = {"votes": (score, list(range(100)), 1.0)}
    session = fx.Session({"age": AGES}, budget=budget, scores=scores)
    found = [session.release(None, {"a": ("votes", 0.1)}, label="q")["a"][0] for _ in range(9)]
    assert len(set(found)) == budget.charges == 1


def test_without_a_label_every_call_is_charged(budget):
    for _ in range(2):
        MEDIAN.release(AGES, budget=budget)
    assert budget.charges == 2


@pytest.mark.parametrize(
    ("mechanism", "call"),
    [(MEDIAN, {}), (fx.Laplace(0.1, 1, step=1), {}), (fx.MostCommon(0.1, ["a", "b"]), {})],
)
def test_a_retry_looks_at_no_record(mechanism, call, budget):
    data = 5 if isinstance(mechanism, fx.Laplace) else ["a"] if call else [1, 2]
    first = mechanism.release(data, budget=budget, label="q")
    assert mechanism.release(Untouchable(), budget=budget, label="q") == first


def test_changed_data_change_nothing(budget):
    first = MEDIAN.release(AGES, budget=budget, label="q", **GROUPED)
    other = MEDIAN.release(AGES[:4] * 0, budget=budget, label="q", by=CITY[:4], groups=CITIES)
    assert equal(first, other)
    assert budget.charges == 1


def test_a_key_is_not_part_of_the_question(budget):
    first = MEDIAN.release(AGES, budget=budget, label="q", key=release_key(), **GROUPED)
    assert equal(MEDIAN.release(AGES, budget=budget, label="q", **GROUPED), first)
    one = MEDIAN.release(AGES, budget=budget, label="all")
    assert MEDIAN.release(AGES, budget=budget, label="all", key=release_key()) == one
    drink = fx.MostCommon(0.1, ["a", "b"])
    cup = drink.release(["a", "b"], budget=budget, label="cup", key=release_key())
    assert drink.release(["b"], budget=budget, label="cup") == cup


def test_a_retry_under_a_key_was_charged_twice(make):
    key, tight = release_key(), make(0.1)
    found = [MEDIAN.release(AGES, key=key, label="q", budget=tight) for _ in range(3)]
    assert len(set(found)) == 1
    assert tight.remaining == 0.0


OTHERS = {
    "mechanism": (fx.Quantile(0.6, 0.1, bounds=(0, 100), step=1), {}),
    "epsilon": (fx.Median(0.2, bounds=(0, 100), step=1), {}),
    "bounds": (fx.Median(0.1, bounds=(0, 101), step=1), {}),
    "relation": (fx.Median(0.1, bounds=(0, 100), step=1, neighbors="replace"), {}),
    "nan": (MEDIAN, {"nan": "drop"}),
    "groups": (MEDIAN, {"groups": ["Rome", "Oslo"]}),
    "more groups": (MEDIAN, {"groups": [*CITIES, "Bern"]}),
    "no groups": (MEDIAN, {"by": None, "groups": None}),
    "limits": (MEDIAN, {"max_rows": 2}),
    "person": (MEDIAN, {"person": AGES}),
    "membership": (MEDIAN, {"membership": "public"}),
    "segments": (MEDIAN, {"by": None, "groups": CITIES, "offsets": [0, 50, 100]}),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_another_question_is_refused_and_nothing_is_read(kind, make, monkeypatch):
    relation = "replace" if kind in ("relation", "membership") else "add-remove"
    budget = make(9.0, neighbors=relation)
    first = MEDIAN.release(AGES, budget=budget, label="q", **GROUPED)
    before = budget.log()
    mechanism, changed = OTHERS[kind]
    monkeypatch.setattr(fx.grouped.verbs, "segments_of", never)
    monkeypatch.setattr(Records, "source", never)
    with raises("label of another question, described", "label of another question", label="'q'"):
        mechanism.release(AGES, budget=budget, label="q", **GROUPED | changed)
    assert budget.log() == before
    assert equal(budget.answers("q"), first)


def test_a_matrix_and_its_disjointness_are_part_of_the_question(budget):
    rows = np.zeros((2, 5))
    fx.Exponential(0.1, 1.0).release(rows, budget=budget, label="q")
    for data, how in ((rows[:1], {}), (rows[0], {}), (rows, {"disjoint": True})):
        with raises("label of another question, described"):
            fx.Exponential(0.1, 1.0).release(data, budget=budget, label="q", **how)
    assert budget.charges == 1


def test_what_is_claimed_of_rows_is_part_of_every_question(make):
    budget = make(9.0, neighbors="replace")
    drink = fx.MostCommon(0.1, ["a", "b"], neighbors="replace")
    drink.release(["a"], budget=budget, label="q")
    for claim in ({"disjoint": True}, {"membership": "public"}):
        with raises("label of another question, described"):
            drink.release(["a"], budget=budget, label="q", **claim)
    for name in ("disjoint", "membership"):
        with pytest.raises(
            (ParameterError, ParameterTypeError), match=says("amount of a promise", name=name)
        ):
            drink.release(["a"], budget=budget, label="q", **{name: "junk"})
    assert budget.charges == 1


class Odd:
    """Data of which nothing can be told."""

    @property
    def shape(self):
        raise AssertionError("read")

    @property
    def index(self):
        raise AssertionError("read")


@pytest.mark.engines
def test_the_form_of_data_is_not_asked_where_answers_are_kept(budget):
    pick = fx.Exponential(0.1, 1.0)
    first = pick.release([1.0, 2.0], budget=budget, label="q")
    for data in ([1.0], (1,), np.zeros(1), Odd()):
        assert pick.release(data, budget=budget, label="q") == first
    ages = pd.Series(AGES)
    keys = pd.Series(CITY)
    answers = MEDIAN.release(ages, by=keys, groups=CITIES, budget=budget, label="by")
    later = MEDIAN.release(ages[::-1], by=keys, groups=CITIES, budget=budget, label="by")
    assert equal(answers, later)
    assert budget.charges == 2
    for mistake, call in (
        ("at least two utilities", lambda: pick.release((1,), budget=budget, label="r")),
        (
            "by: index of the records",
            lambda: MEDIAN.release(ages[::-1], by=keys, groups=CITIES, budget=budget, label="r"),
        ),
    ):
        with pytest.raises(ParameterError, match=says(mistake)):
            call()
    assert budget.charges == 2


class Text(str):
    """Text that is another's: it hashes, compares and prints as it likes."""

    __slots__ = ()

    def __hash__(self):
        return 5

    def __eq__(self, other):
        return False

    def __str__(self):
        return "another"

    def isprintable(self):
        return True


@pytest.mark.parametrize("way", ["median", "by", "utilities", "laplace", "bits"])
def test_labels_are_plain_text(make, way):
    budget = make(9.0, neighbors="replace")
    relation = {"neighbors": "replace"}
    mechanism, data, more = {
        "median": (fx.Median(0.1, bounds=(0, 9), step=1, **relation), [1], {}),
        "by": (fx.Median(0.1, bounds=(0, 9), step=1, **relation), [1], {"by": [1], "groups": [1]}),
        "utilities": (fx.Exponential(0.1, 1.0), [1.0, 2.0], {}),
        "laplace": (fx.Laplace(0.1, 1, step=1), 3, {}),
        "bits": (fx.RandomizedResponse(0.1), [1, 0], {}),
    }[way]
    first = mechanism.release(data, budget=budget, label=Text("rents"), **more)
    assert equal(mechanism.release(data, budget=budget, label="rents", **more), first)
    assert [entry["label"] for entry in budget.log()] == ["rents"]
    assert equal(budget.answers(Text("rents")), first)
    with raises("label: line of text"):
        mechanism.release(data, budget=budget, label=Text("a\nb"), **more)


def test_a_failure_uses_the_label_up(budget):
    with pytest.raises(InvalidRecords):
        MEDIAN.release([1.0, np.nan], budget=budget, label="q")
    with pytest.raises(InvalidUtilities):
        fx.Exponential(0.1, 1.0).release([1.0, np.nan], budget=budget, label="u")
    with pytest.raises(InvalidRecords):
        fx.RandomizedResponse(0.1).release(
            [2], budget=Budget(1.0, neighbors="replace"), label="bits"
        )
    for again in (budget, reopened(budget)):
        with raises("'q': label used up"):
            MEDIAN.release([1.0], budget=again, label="q")
        with raises("'u': label used up"):
            fx.Exponential(0.1, 1.0).release([1.0, 2.0], budget=again, label="u")
        with raises("'q': label used up"):
            again.answers("q")
    assert [entry["state"] for entry in budget.log()] == ["failed", "failed"]
    assert budget.spent == 0.2


def test_the_form_of_data_is_looked_at_after_the_charge(budget):
    with pytest.raises(ParameterTypeError):
        fx.Exponential(0.1, 1.0).release([object(), None], budget=budget, label="q")
    assert budget.charges == 1


def test_an_error_after_a_charge_notes_the_charge(budget):
    median = fx.Median(0.25, (0, 9), step=1)
    for label, used_up in (None, ""), ("q", "; label 'q' is used up"):
        with pytest.raises(InvalidRecords) as caught:
            median.release([1.0, np.nan], budget=budget, label=label)
        (words,) = caught.value.__notes__
        assert words.startswith("0.25 of epsilon was charged to the budget")
        assert words.endswith(used_up)
    with pytest.raises(fx.BudgetExceeded) as caught:
        fx.Median(1e3, (0, 9), step=1).release([1.0], budget=budget)
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_is_no_failure(budget, monkeypatch, interruption):
    def interrupted(*_):
        raise interruption

    monkeypatch.setattr(_draw, "release", interrupted)
    with pytest.raises(interruption):
        fx.Exponential(0.1, 1.0).release([1.0, 2.0], budget=budget, label="q")
    monkeypatch.undo()
    assert [entry["state"] for entry in budget.log()] == ["open"]
    with raises("label without answers, got 'q'"):
        budget.answers("q")
    assert fx.Exponential(0.1, 1.0).release([1.0, 2.0], budget=budget, label="q") in (0, 1)
    assert budget.charges == 1


def test_an_open_label_is_no_other_questions(budget, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        charge_and_draw(budget, "q", Question(MEDIAN), interrupted)
    with raises("label of another question"):
        charge_and_draw(budget, "q", Question(fx.Median(0.2, bounds=(0, 100), step=1)), never)
    assert charge_and_draw(budget, "q", Question(MEDIAN), lambda: 3) == 3
    assert budget.charges == 1


def test_kept_answers_need_no_right_to_write(in_file, monkeypatch):
    found, real = MEDIAN.release(AGES, budget=in_file, label="q"), os.open

    def read_only(name, flags, *more):
        if flags & (os.O_RDWR | os.O_CREAT):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(name, flags, *more)

    monkeypatch.setattr(os, "open", read_only)
    assert MEDIAN.release(AGES, budget=in_file, label="q") == found
    with raises("budget file that cannot be used, got Permission denied"):
        MEDIAN.release(Untouchable(), budget=in_file, label="r")
    monkeypatch.undo()
    assert in_file.charges == 1


def test_the_file_holds_nothing_of_the_records(in_file, path):
    wide = fx.Median(0.1, bounds=(0, 10**9), step=10**6)
    marks = [123_456_789, 987_654_321]
    wide.release(marks * 50, budget=in_file, label="whole")
    keys = ["Marked", "Marked too"] * 50
    wide.release(
        marks * 50, by=keys, groups=["a", "b"], budget=in_file, label="by", person=marks * 50
    )
    with pytest.raises(InvalidRecords):
        wide.release([*marks, np.nan], budget=in_file, label="failed")
    text = "".join(p.read_text("latin-1") for p in path.parent.iterdir())
    assert not any(word in text for word in ("123456789", "987654321", "Marked"))


def test_what_does_not_fit_is_neither_charged_nor_read(make):
    budget = make(0.1)
    MEDIAN.release(AGES, budget=budget, label="q")
    before = budget.log()
    with pytest.raises(BudgetExceeded):
        MEDIAN.release(Untouchable(), budget=budget, label="r")
    assert budget.log() == before
    assert MEDIAN.release(AGES, budget=budget, label="q") == budget.answers("q")


def test_labels_are_lines_of_text(budget):
    for bad in ("", 3, b"q"):
        with pytest.raises(ParameterTypeError, match=says("label: text that is not empty")):
            MEDIAN.release(AGES, budget=budget, label=bad)
    for bad in ("a\nb", "\x1b[31m", "a\u202eb", "\ud800", "x" * 201):
        with raises("label: line of text"):
            MEDIAN.release(AGES, budget=budget, label=bad)
    assert budget.charges == 0
    for good in ("x" * 200, "Zürich, 東京, 🙂", '"}\\', " "):
        found = MEDIAN.release(AGES, budget=budget, label=good)
        assert reopened(budget).answers(good) == found
    assert [entry["label"] for entry in budget.log()][1] == "Zürich, 東京, 🙂"


def test_what_cannot_be_named_is_refused_before_the_charge(budget):
    odd = fx.Exponential(0.1, 1.0, candidates=[frozenset("a"), "b"])
    with raises("candidates: values that a label can name"):
        odd.release([1.0, 2.0], budget=budget, label="q")
    scored = fx.Exponential.from_score(lambda d, c: 0, ["a", "b"], epsilon=0.1, sensitivity=1.0)
    with raises("score: values that a label can name"):
        scored.release(["a"], budget=budget, label="q")
    assert budget.charges == 0
    assert odd.release([1.0, 2.0], budget=budget) in odd.candidates


# ---- several at once ----


def test_threads_wait_and_get_the_same(budget):
    drawn, start = [], threading.Barrier(8)
    other = reopened(budget)

    def draw():
        drawn.append(threading.get_ident())
        threading.Event().wait(0.2)
        return int.from_bytes(os.urandom(4), "big")

    def ask(i):
        start.wait(timeout=60)
        return charge_and_draw(budget if i % 2 else other, "q", Question(MEDIAN), draw)

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(ask, range(8)))
    assert len(drawn) == len(found) == budget.charges == 1


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("no_retry", [False, True])
def test_two_names_of_one_file_draw_once(in_file, path, link, no_retry):
    link(path, path.parent / "link")
    drawn, start = [], threading.Barrier(2)

    def draw():
        drawn.append(threading.get_ident())
        threading.Event().wait(0.2)
        return int.from_bytes(os.urandom(4), "big")

    def ask(name):
        budget = Budget.file(path.parent / name)
        start.wait(timeout=60)
        return charge_and_draw(budget, "q", Question(MEDIAN), draw, no_retry=no_retry)

    with ThreadPoolExecutor(2) as pool:
        found = set(pool.map(ask, [path.name, "link"]))
    assert len(drawn) == len(found) == in_file.charges == 1


def test_what_is_drawn_once_needs_a_charge_of_its_own(in_file, monkeypatch):
    """Another process may charge between a look and the charge, where it has another lock."""
    charge = ledger.File.charge
    monkeypatch.setattr(ledger.File, "charge", lambda *a: (charge(*a), charge(*a))[1])
    with raises("'q': begun draws"):
        charge_and_draw(in_file, "q", Question(MEDIAN), never, no_retry=True)
    assert [entry["state"] for entry in in_file.log()] == ["failed"]


def test_while_one_draws_others_may_charge(budget):
    def draw():
        reopened(budget).charge(MEDIAN.guarantee)
        MEDIAN.release(AGES, budget=budget)
        return 7

    assert charge_and_draw(budget, "q", Question(MEDIAN), draw) == 7
    assert budget.charges == 3


def test_a_label_within_the_draw_of_another_is_refused(budget):
    question = Question(MEDIAN)
    for outer, inner in (("q", "q"), ("r", "s")):
        with raises("label within a draw"):
            charge_and_draw(
                budget,
                outer,
                question,
                lambda name=inner: charge_and_draw(budget, name, question, never),
            )
    MEDIAN.release(AGES, budget=budget, label="later")


@pytest.mark.parametrize("first", ["answers", "fails"])
@pytest.mark.parametrize("second", ["answers", "fails"])
def test_the_first_to_end_counts_also_without_a_common_lock(in_file, monkeypatch, first, second):
    """As where two hosts do not see each other's locks: one charge, one outcome."""
    monkeypatch.setattr(ledger.File, "_exclusive", lambda *_: nullcontext())
    question = Question(MEDIAN)

    def outcome(way, number):
        if way == "fails":
            raise InvalidRecords(f"{number} is missing")
        return number

    def late():
        with (
            nullcontext()
            if first == "answers"
            else pytest.raises(InvalidRecords, match=says(re.compile("1 is")))
        ):
            assert charge_and_draw(in_file, "q", question, lambda: outcome(first, 1)) == 1
        return outcome(second, 2)

    if first == "answers":
        assert charge_and_draw(in_file, "q", question, late) == 1
    else:
        missing = re.compile("2 is missing") if second == "fails" else "'q': label used up"
        with pytest.raises((InvalidRecords, BudgetError), match=says(missing)):
            charge_and_draw(in_file, "q", question, late)
    assert in_file.charges == 1
    assert len(in_file.log()) == 1


def test_locks_exclude_each_other_though_their_files_go(tmp_path):
    path, inside, most = str(tmp_path / "lock"), [], []

    def hold(_):
        for _ in range(20):
            with atomic_files.exclusive_lock(path):
                inside.append(1)
                most.append(len(inside))
                threading.Event().wait(0.0005)
                inside.pop()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(hold, range(6)))
    assert len(most) == 120
    assert set(most) == {1}
    assert list(tmp_path.iterdir()) == []


# ---- answers in a file of their own ----

MANY = {"by": AGES, "groups": list(range(1000))}


def test_many_answers_lie_beside_the_ledger(in_file, path):
    found = MEDIAN.release(AGES, budget=in_file, label="q", **MANY)
    beside = [p for p in path.parent.iterdir() if p != path]
    assert len(beside) == 1
    assert beside[0].suffix == ".answers"
    assert beside[0].stem == json.loads(path.read_text().splitlines()[-1])["beside"]
    if os.name == "posix":
        assert beside[0].stat().st_mode & 0o777 == 0o600
    again = Budget.file(path)
    assert equal(MEDIAN.release([], budget=again, label="q", by=[], groups=MANY["groups"]), found)
    assert equal(again.answers("q"), found)


@pytest.mark.parametrize("harm", ["missing", "empty", "altered", "longer"])
def test_missing_or_altered_answers_are_never_drawn_anew(in_file, path, harm, monkeypatch):
    MEDIAN.release(AGES, budget=in_file, label="q", **MANY)
    (file,) = path.parent.glob("*.answers")
    raw = file.read_bytes()
    if harm == "missing":
        file.unlink()
    else:
        altered = raw[:99] + bytes([raw[99] ^ 1]) + raw[100:]
        file.write_bytes({"empty": b"", "altered": altered, "longer": raw + b" "}[harm])
    monkeypatch.setattr(fx.grouped.verbs, "segments_of", never)
    message = "cannot be used: No such file" if harm == "missing" else "was changed: it is not used"
    for attempt in (
        lambda: MEDIAN.release(AGES, budget=in_file, label="q", **MANY),
        lambda: Budget.file(path).answers("q"),
    ):
        with pytest.raises(BudgetError, match=says("file of answers", fault=message)):
            attempt()
    assert in_file.charges == 1


def test_answers_are_found_by_any_name_of_the_ledger(in_file, path, tmp_path):
    other = tmp_path / "folder"
    other.mkdir()
    (other / "link").symlink_to(path)
    found = MEDIAN.release(AGES, budget=Budget.file(other / "link"), label="q", **MANY)
    assert equal(in_file.answers("q"), found)
    assert [p.name for p in other.iterdir()] == ["link"]


@pytest.mark.parametrize(
    "text",
    [
        '{"array": "int64", "shape": [2], "values": [1]}',
        "{}",
        '{"array": "int64", "shape": [1], "values": [1.5]}',
        '{"array": "object", "shape": [], "values": []}',
        '{"tuple": 3}',
        '{"Decimal": "x"}',
        '{"Fraction": "1/0"}',
        '{"bytes": 3}',
        '{"other": 1}',
    ],
)
def test_answers_that_are_none_are_damage(in_file, path, text):
    MEDIAN.release(AGES, budget=in_file, label="q")
    lines = path.read_text().splitlines(keepends=True)
    entry = json.loads(lines[-1]) | {"answers": json.loads(text)}
    path.write_text(checked("".join(lines[:-1]) + json.dumps(entry) + "\n"))
    with raises("damaged answers, got 'q'"):
        Budget.file(path).answers("q")
