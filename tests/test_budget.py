"""Is each release charged once, before data are read, whatever dies, waits or was edited?

Children are forked: they end by `os._exit`, or are killed.
"""

from __future__ import annotations

import contextlib
import copy
import enum
import functools
import json
import os
import pickle
import random
import resource
import shutil
import signal
import sqlite3
import stat
import sys
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import (
    BudgetError,
    BudgetExceeded,
    InvalidRecords,
    InvalidUtilities,
    LabelError,
    NotReleasable,
    ParameterError,
    ParameterTypeError,
    ScoreError,
)
from fastexp.privacy.budget import charge  # its option `once`
from fastexp.privacy.question import Question

from .table import MECHANISMS, Row

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
KILLS = int(os.environ.get("FASTEXP_KILLS", "20"))
PATIENCE = 30  # seconds, for what takes milliseconds
TENTH = fx.MostCommon(0.1, ["a", "b"])
BITS = fx.Median(0.1, (0, 2.0**40), step=1)  # of no records: an answer has 40 random bits
ANY = fx.privacy.pure_guarantee(0.1, None, "")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "survey.budget"


@pytest.fixture(params=["memory", "file"])
def make(request: Any, path: Path) -> Callable[..., fx.Budget]:
    if request.param == "memory":
        return fx.Budget
    return lambda epsilon=None, **terms: fx.Budget.file(path, epsilon=epsilon, **terms)


def forked(action: Callable[[int], Any]) -> tuple[int, Any]:
    """Start a child that does something with the end of a pipe; return it and the other end."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            action(writing)
            os._exit(0)
        finally:
            os._exit(3)  # never goes on as a test
    os.close(writing)
    return child, os.fdopen(reading)


def in_child(action: Callable[[], Any]) -> tuple[int, Any]:
    """Return how a forked child ended, and what it told; None if it died before."""

    def tell(writing: int) -> None:
        try:
            told = action()
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(writing, json.dumps(told).encode())

    child, pipe = forked(tell)
    with pipe:
        told = pipe.read()
    return os.waitpid(child, 0)[1], json.loads(told) if told else None


def bits(budget: fx.Budget, label: str | None = "q") -> float:
    return float(BITS.release([], budget=budget, label=label))


# ---- amounts ----


def test_amounts_are_decimals(make: Any) -> None:
    """Three times 0.1 fits into 0.3, and no more; spent is rounded up, remaining down."""
    budget = make(0.3)
    assert [TENTH.release(["a"], budget=budget) in "ab" for _ in range(3)] == [True] * 3
    assert (budget.spent, budget.remaining) == (0.3, 0.0)
    with pytest.raises(BudgetExceeded, match=r"costs 1e-300 of epsilon, but only 0.0 of .* 0.3"):
        budget.charge(fx.privacy.pure_guarantee(1e-300, None, ""))
    assert len(budget.log()) == 3


def test_sums_are_exact() -> None:
    budget = fx.Budget(1e308)
    for amount in (1e308 * 0.9, 1e-300, 0.1, 1e-20):
        budget.charge(fx.privacy.pure_guarantee(amount, None, ""))
    assert budget.spent == np.nextafter(1e308 * 0.9, np.inf)
    small = fx.Budget(1.0)
    for amount in (0.1, 1e-25):
        small.charge(fx.privacy.pure_guarantee(amount, None, ""))
    assert (small.spent, small.remaining) == (np.nextafter(0.1, 1), np.nextafter(0.9, 0))
    limit = fx.Budget(Fraction(1, 3))  # rounded down, as a decimal
    with pytest.raises(BudgetExceeded):
        limit.charge(fx.privacy.pure_guarantee(Fraction(1, 3), None, ""))


class Printed(float):
    """A number that prints, and tells, another one."""

    def __str__(self) -> str:
        return "0.01"

    __repr__ = __str__

    def as_integer_ratio(self) -> tuple[int, int]:
        return 1, 100


@pytest.mark.parametrize("epsilon", [np.float16(0.3), np.float32(0.3), Printed(0.3)])
def test_a_charge_is_that_of_the_number(epsilon: Any) -> None:
    """Of narrow floats and subclasses: the law is that of the number, whatever it prints."""
    exact = float(np.float64(epsilon))
    for mechanism in (
        *(fx.Median(epsilon, (0, 9), step=1), fx.Quantiles([0.1, 0.5], epsilon, bounds=(0, 9))),
        *(fx.Price(epsilon, bounds=(1, 9), step=1), fx.Laplace(epsilon, 1, step=1)),
        *(fx.Exponential(epsilon, 1), fx.PermuteAndFlip(epsilon, 1), fx.TopK(2, epsilon)),
        *(fx.MostCommon(epsilon, ["a", "b"]), fx.RandomizedResponse(epsilon)),
    ):
        assert mechanism.guarantee.epsilon == exact, mechanism
    error = fx.Median(epsilon, (0, 9), step=1).law([0] * 9).expected_error()
    assert error == fx.Median(exact, (0, 9), step=1).law([0] * 9).expected_error()
    full = fx.Budget(epsilon)
    full.charge(fx.Median(epsilon, (0, 9), step=1).guarantee)
    assert full.remaining == 0


def test_an_amount_is_a_double() -> None:
    for terms in ({"epsilon": 10**400}, {"rho": Fraction(10**400)}):
        with pytest.raises(ParameterError, match=r"must be at most 1.79\S+, the greatest double"):
            fx.Budget(**terms)
    with pytest.raises(ParameterError, match="epsilon must be at most"):
        fx.privacy.pure_guarantee(Decimal("1e400"), None, "")


def test_delta(make: Any) -> None:
    budget = make(3.0, delta=1e-6)
    top = fx.TopK(2, 1.0, delta=5e-7)
    for _ in range(2):
        top.release([3, 1, 2], budget=budget)
    assert (budget.spent, budget.spent_delta, budget.remaining_delta) == (2.0, 1e-6, 0.0)
    with pytest.raises(BudgetExceeded, match=r"costs 5e-07 of delta, but only 0.0"):
        top.release([3, 1, 2], budget=budget)
    assert budget.spent == 2.0
    assert "delta=1e-06, spent_delta=1e-06" in repr(budget)
    with pytest.raises(ParameterError, match="without delta"):
        top.release([3, 1, 2], budget=fx.Budget(9.0))


def test_rho_and_relations(make: Any) -> None:
    budget = make(rho=0.1, neighbors="replace")
    TENTH.release(["a"], budget=budget)
    assert budget.spent == TENTH.guarantee.under("replace").rho
    fx.Exponential(0.1, 1).release([1, 2], budget=budget)  # stated by the caller
    (_, last) = budget.log()
    assert (last["rho"], "delta" in last) == (fx.privacy.selection_rho(0.1), False)
    with pytest.raises(ParameterError, match="neighbors must be 'replace'"):
        fx.RandomizedResponse(1.0).release(1, budget=fx.Budget(9.0))
    none = fx.Guarantee(1.0, None, None, np.inf, 0.0, "")
    with pytest.raises(ParameterError, match="promises of rho"):
        budget.charge(none)
    assert len(budget.log()) == 2


@pytest.mark.parametrize(("disjoint", "cost"), [(True, 0.5), (False, 1.5)])
def test_rows(disjoint: bool, cost: float) -> None:
    """Rows of disjoint parts are charged once, others each."""
    for mechanism, data in (
        (fx.Exponential(0.5, 1), [[1, 2, 3]] * 3),
        (fx.Median(0.5, (0, 9), step=1), np.ones((3, 7))),
        (fx.Laplace(0.5, 1, step=1), [4, 5, 6]),
    ):
        budget = fx.Budget(9.0)
        answers = mechanism.release(data, disjoint=disjoint, budget=budget, label="rows")
        again = mechanism.release(data, disjoint=disjoint, budget=budget, label="rows")
        assert (len(answers), budget.spent) == (3, cost)
        assert (answers.tolist(), answers.dtype) == (again.tolist(), again.dtype)


# ---- before and after the charge ----

SCORED = fx.Exponential.from_score(lambda data, r: data[r], [0, 1], epsilon=0.1, sensitivity=1)
MEDIAN = fx.Median(0.1, (0, 9), step=1)
PUBLIC = {
    "option": (MEDIAN, [1], {"nan": "skip"}),
    "option of utilities": (fx.Exponential(0.1, 1), [1, 2], {"nan": "drop"}),
    "flag": (MEDIAN, [1], {"disjoint": 1}),
    "matrix": (MEDIAN, [[1], [2]], {}),
    "no rows": (MEDIAN, np.ones((0, 3)), {"disjoint": True}),
    "matrix of utilities": (fx.Exponential(0.1, 1), [[1, 2]], {}),
    "number of utilities": (fx.Exponential(0.1, 1, candidates=["a", "b", "c"]), [1, 2], {}),
    "one utility": (fx.Exponential(0.1, 1), [1], {}),
    "three axes": (fx.Exponential(0.1, 1), np.ones((2, 2, 2)), {}),
    "axes of records": (MEDIAN, np.ones((1, 1, 1)), {"disjoint": True}),
    "a number": (fx.Exponential(0.1, 1), 5, {}),
    "few utilities": (fx.TopK(3, 0.1), [1, 2], {}),
    "work": (fx.TopK(1 << 20, 0.1), np.ones(1 << 20), {}),
    "bits of bits": (fx.RandomizedResponse(0.1), [[1]], {}),
    "promise": (fx.RandomizedResponse(0.1), 1, {}),
    "label": (MEDIAN, [1], {"label": "two\nlines"}),
    "no text": (MEDIAN, [1], {"label": 7}),
    "long": (MEDIAN, [1], {"label": "x" * 201}),
    "empty": (MEDIAN, [1], {"label": ""}),
    "function": (SCORED, [1, 2], {"label": "a lambda has no name"}),
}


class Disguised:
    """A matrix that says that it is one data set."""

    shape = (3,)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones((2, 3))


PRIVATE = {
    "disguised rows": (MEDIAN, Disguised(), ParameterTypeError),
    "text": (MEDIAN, ["x"], ParameterTypeError),
    "missing": (MEDIAN, [None], InvalidRecords),
    "infinite": (fx.Exponential(0.1, 1), [1, np.inf], InvalidUtilities),
    "ragged": (fx.Exponential(0.1, 1), [[1, 2], [3]], ParameterTypeError),
    "mixed": (fx.Exponential(0.1, 1), [2**60, 0.5], ParameterTypeError),
    "score": (SCORED, [1], ScoreError),
    "labels": (TENTH, [1], ParameterTypeError),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_mistakes_cost_nothing(name: str) -> None:
    mechanism, data, options = PUBLIC[name]
    budget = fx.Budget(9.0)
    with pytest.raises((ParameterError, ParameterTypeError)):
        mechanism.release(data, budget=budget, **options)
    assert budget.log() == []


@pytest.mark.parametrize("name", PRIVATE)
def test_what_data_decide_is_charged(name: str, make: Any) -> None:
    """The error says so; with a label it is used up, and others are not told why."""
    mechanism, data, error = PRIVATE[name]
    budget = make(9.0)
    options = {"disjoint": True} if name == "ragged" else {}
    with pytest.raises(error) as caught:
        mechanism.release(data, budget=budget, **options)
    (note,) = caught.value.__notes__
    assert note.startswith("0.1 of epsilon was charged to the budget")
    assert budget.spent == 0.1
    if mechanism is SCORED:
        return
    with pytest.raises(error) as caught:
        mechanism.release(data, budget=budget, label="q", **options)
    assert "'q' is used up" in caught.value.__notes__[0]
    with pytest.raises(LabelError, match="'q' is used up in the budget"):
        mechanism.release(data, budget=budget, label="q", **options)
    assert (budget.spent, budget.log()[-1]["state"]) == (0.2, "failed")


def test_nothing_is_read_before_the_charge(make: Any) -> None:
    class Records:
        shape = (3,)

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            seen.append(budget.spent)
            return np.ones(3)

    budget, seen = make(1.0), []
    MEDIAN.release(Records(), budget=budget, label="q")
    assert set(seen) == {0.1}
    seen.clear()
    MEDIAN.release(Records(), budget=budget, label="q")
    with pytest.raises(BudgetExceeded):
        fx.Median(1.0, (0, 9), step=1).release(Records(), budget=budget)
    assert seen == []


def test_errors_of_foreign_objects_come_after_the_charge() -> None:
    class Records:
        @property
        def shape(self) -> Any:
            raise ValueError("record 7")

    budget = fx.Budget(1.0)
    with pytest.raises(ParameterTypeError, match="records must be numbers"):
        MEDIAN.release(Records(), budget=budget)
    assert budget.spent == 0.1


def test_wrong_arguments() -> None:
    for wrong in ({"label": "q"}, {"budget": 1.0}, {"budget": fx.Budget, "label": "q"}):
        with pytest.raises(ParameterTypeError, match=r"budget"):
            MEDIAN.release([1], **wrong)
    with pytest.raises(NotReleasable):
        fx.SmoothSensitivityMedian(1.0, bounds=(0, 9)).release([1], budget=fx.Budget(1.0))
    for terms in (
        *({}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"epsilon": -1}, {"rho": np.inf}),
        *({"epsilon": 1, "delta": 1}, {"rho": 1, "delta": 0.1}, {"epsilon": 1, "delta": -0.1}),
        *({"epsilon": 1, "neighbors": "both"}, {"epsilon": "1"}),
    ):
        with pytest.raises((ParameterError, ParameterTypeError)):
            fx.Budget(**terms)
    with pytest.raises(ParameterTypeError, match="guarantee must be a Guarantee"):
        fx.Budget(1.0).charge(0.1)
    forged = fx.privacy.pure_guarantee(0.1, None, "")
    object.__setattr__(forged, "epsilon", -5.0)
    with pytest.raises(ParameterError, match="epsilon must be >= 0"):
        fx.Budget(1.0).charge(forged)


# ---- labels and questions ----

NAMED = [row for row in MECHANISMS if row.kind != "score"]  # that of the table is a lambda


class Season(enum.StrEnum):
    SPRING = "spring"


@pytest.mark.parametrize("label", [np.str_("spring"), Season.SPRING])
def test_a_label_is_its_text(label: str, make: Any) -> None:
    """Of NumPy and of enumerations, too, which print as more than that."""
    budget = make(1.0)
    told = bits(budget, label)
    assert (bits(budget, "spring"), bits(budget, label)) == (told, told)
    with pytest.raises(LabelError):
        budget.charge(ANY, label=label)
    assert [line["label"] for line in budget.log()] == ["spring"]


@pytest.mark.parametrize("row", NAMED, ids=[row.name for row in NAMED])
def test_answers_are_kept(row: Row) -> None:
    """Of every mechanism: the same answer, of the same type, for one charge."""
    mechanism, budget = row.make(), fx.Budget(99.0, neighbors=row.relation)
    for i, data in enumerate(row.data):
        first, again = (
            mechanism.release(row.told(data), budget=budget, label=f"{i}") for _ in range(2)
        )
        assert type(first) is type(again)
        assert np.array_equal(first, again)
    promise = mechanism.guarantee.under(row.relation)
    assert [entry["epsilon"] for entry in budget.log()] == [promise.epsilon] * len(row.data)


def count(data: Any, candidate: Any) -> int:
    return list(data).count(candidate)


def scored(score: Any = count, candidates: Any = ("a", "b"), **options: Any) -> fx.Exponential:
    options = {"epsilon": 1, "sensitivity": 1} | options
    return fx.Exponential.from_score(score, candidates, **options)


def other(data: Any, candidate: Any) -> int:
    return count(data, candidate)


def test_equal_questions(make: Any) -> None:
    """Equal numbers ask the same, however they are written; so do other data."""
    budget = make(99.0)
    forms = (1, 1.0, Decimal(1), Fraction(1), np.float64(1), np.int8(1))
    bounds = ((0, 120), [0.0, 120], np.array([0, 120]))
    answers = {
        fx.Median(e, b, step=e).release(data, budget=budget, label="age")
        for e in forms
        for b in bounds
        for data in ([], [5] * 99, np.arange(3.0))
    }
    assert (len(answers), len(budget.log())) == (1, 1)
    assert len({scored().release("ab", budget=budget, label="s") for _ in range(20)}) == 1


NARROW = np.float32(0.1)
CHANGES: list[dict[str, Any]] = [
    *({"score": other}, {"candidates": ("b", "a")}, {"candidates": ("a", 1)}),
    *({"monotonic": True}, {"base": [1, 2]}, {"sensitivity": Decimal("0.1")}),
]
MEDIANS = {"epsilon": 0.1, "bounds": (0, 10), "step": 1}


@pytest.mark.parametrize(
    "change",
    [
        *({"epsilon": Decimal("0.1")}, {"epsilon": 0.2}, {"bounds": (0, 12)}, {"step": 2}),
        *({"neighbors": "replace"}, {"convention": "lower"}, {"step": None, "bounds": (0, 8)}),
        *({"release": {"nan": "drop"}}, {"release": {"disjoint": True}}, {"class": fx.Quantile}),
        {"bounds": None, "step": None, "grid": [0, 5, 10]},
    ],
)
def test_other_questions_are_refused(change: Any, make: Any) -> None:
    budget = make(99.0, neighbors="replace")
    fx.Median(**MEDIANS).release([5], budget=budget, label="age")
    made = MEDIANS | {k: v for k, v in change.items() if k not in ("release", "class")}
    if "class" in change:
        made["q"] = 0.5
    another = change.get("class", fx.Median)(**made)
    with pytest.raises(LabelError, match=r"'age' belongs to another question in the budget"):
        another.release([5], budget=budget, label="age", **change.get("release", {}))
    assert len(budget.log()) == 1


@pytest.mark.parametrize(
    ("first", "second", "data"),
    [
        *((scored(), scored(**change), "ab") for change in CHANGES),
        (fx.Exponential(1, 1), fx.PermuteAndFlip(1, 1), [1, 2]),
        (fx.Exponential(1, 1), fx.TopK(1, 1), [1, 2]),
        (fx.Exponential(1, NARROW), fx.Exponential(1, float(NARROW)), [1, 2]),
        (fx.Laplace(1, 1, step=0.1), fx.Laplace(1, 1, step=Fraction(0.1)), 5),
    ],
)
def test_other_mechanisms_are_refused(first: Any, second: Any, data: Any) -> None:
    budget = fx.Budget(99.0)
    first.release(data, budget=budget, label="s")
    for another, other_data in ((second, data), (fx.Exponential(1, 1), [1, 2, 3])):
        with pytest.raises(LabelError, match="another question"):
            another.release(other_data, budget=budget, label="s")


def test_kept_answers_have_a_public_width(path: Path) -> None:
    """An answer's length on the disk does not depend on the draw or the data."""
    budget = fx.Budget.file(path, epsilon=1e4)
    noise = fx.Laplace(1e-3, 1, step=0.25)
    for i in range(30):
        noise.release((-1) ** i * 7.0**i, budget=budget, label=f"{i:02d}")
        noise.release([i, 2.0 ** (4 * i)], disjoint=True, budget=budget, label=f"{i:02d} rows")
        fx.Laplace(1, 1, step=1).release(10 ** (9 * i), budget=budget, label=f"{i:02d} large")
    with contextlib.closing(sqlite3.connect(path)) as db:
        rows = db.execute(
            "select substr(label, 4), length(body) from lines where body like '%kind%'"
            " or body like '%answers%'"
        ).fetchall()
    lengths: dict[str, set[int]] = {}
    for label, length in rows:
        lengths.setdefault(label, set()).add(length)
    sums = 12  # the sums of charges, which are public, have one to some digits
    assert all(max(sizes) - min(sizes) <= sums for sizes in lengths.values())
    assert len(rows) == 90


def test_a_charge_made_elsewhere(make: Any) -> None:
    budget = make(1.0)
    budget.charge(ANY, label="by telephone")
    with pytest.raises(LabelError, match="'by telephone' was used in the budget"):
        budget.charge(ANY, label="by telephone")
    with pytest.raises(LabelError, match="another question"):
        TENTH.release(["a"], budget=budget, label="by telephone")
    TENTH.release(["a"], budget=budget, label="colour")
    with pytest.raises(LabelError):
        budget.charge(ANY, label="colour")
    first, second = budget.log()
    assert (first["name"], first["label"], first["epsilon"]) == (None, "by telephone", 0.1)
    assert (second["name"], second["state"], second["delta"]) == ("MostCommon", "answered", 0.0)
    assert (first["state"], budget.remaining) == ("charged", 0.8)


# ---- interrupts, threads, forks ----

ACTION: list[Callable[[], Any]] = []  # what `act` does while it scores


def act(data: Any, candidate: Any) -> int:
    if ACTION:
        ACTION.pop()()
    return 0


ACTS = scored(act)


def interrupt() -> None:
    raise KeyboardInterrupt


def full_disk() -> None:
    """Files of this process may not grow, nor may they be written beyond a page."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))


def fail_once() -> None:
    """SQLite fails when it is used next, and then no more."""
    connect = sqlite3.connect

    def failing(*place: Any, **options: Any) -> Any:
        sqlite3.connect = connect
        raise sqlite3.OperationalError("disk is full")

    sqlite3.connect = failing  # type: ignore[assignment]


def test_an_interrupted_draw_is_not_used_up(make: Any) -> None:
    is_drawn_again(make(9.0), interrupt, KeyboardInterrupt)


@pytest.mark.parametrize("action", [full_disk, fail_once])
def test_an_answer_that_cannot_be_kept_is_not_used_up(action: Any, path: Path) -> None:
    is_drawn_again(fx.Budget.file(path, epsilon=9.0), action, BudgetError)


def is_drawn_again(budget: fx.Budget, action: Any, error: type[BaseException]) -> None:
    """Nobody has seen an answer: the same question is drawn under the same charge."""
    ACTION.append(action)
    try:
        with pytest.raises(error) as caught:
            ACTS.release("", budget=budget, label="q")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    assert "the same call goes on at no further cost" in caught.value.__notes__[0]
    assert (budget.spent, budget.log()[0]["state"]) == (1.0, "open")
    with pytest.raises(LabelError, match="another question"):
        ACTS.release("", budget=budget, label="q", disjoint=True)
    answers = {ACTS.release("", budget=budget, label="q") for _ in range(9)}
    assert (len(answers), budget.spent) == (1, 1.0)


def test_a_failure_that_cannot_be_kept_says_its_charge(path: Path) -> None:
    def fail() -> None:
        fail_once()
        raise ValueError("record 7")

    budget = fx.Budget.file(path, epsilon=9.0)
    ACTION.append(fail)
    with pytest.raises(BudgetError, match="disk is full") as caught:
        ACTS.release("", budget=budget, label="q")
    assert caught.value.__notes__ == [
        f"1.0 of epsilon was charged to the budget file {str(path)!r}"
    ]
    assert budget.spent == 1.0


@pytest.mark.parametrize("action", [interrupt, lambda: os._exit(0)])
def test_once(action: Any, path: Path) -> None:
    """If the length of an answer tells of the draw, an interrupt or a death uses its label up."""
    budget = fx.Budget.file(path, epsilon=1.0)
    question = Question("groups", ANY, 1, ())

    def run(action: Any = lambda: 7) -> Any:
        with charge(budget, "q", question, once=True) as receipt:
            return receipt.answer if receipt.kept else receipt.keep(action())

    in_child(lambda: run(action))
    with pytest.raises(LabelError, match="'q' is used up"):
        run()
    assert (budget.spent, budget.log()[0]["state"]) == (0.1, "failed")


def test_a_slow_draw_blocks_its_own_label_only(make: Any, path: Path) -> None:
    budget, started, go = make(99.0), threading.Event(), threading.Event()
    answers: list[Any] = []

    def wait() -> None:
        started.set()
        assert go.wait(PATIENCE)

    def ask() -> None:
        answers.append(ACTS.release("", budget=budget, label="slow"))

    ACTION.append(wait)
    threads = [threading.Thread(target=ask) for _ in range(2)]
    threads[0].start()
    assert started.wait(PATIENCE)
    threads[1].start()
    TENTH.release(["a"], budget=budget)  # these would hang
    TENTH.release(["a"], budget=budget, label="fast")
    if path.exists():
        told = in_child(lambda: bits(fx.Budget.file(path), "of a process"))[1]
        assert told == bits(budget, "of a process")
    time.sleep(0.1)
    assert answers == []
    go.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(answers) == 2
    assert len(set(answers)) == 1
    assert [e["epsilon"] for e in budget.log() if e["label"] == "slow"] == [1.0]


def test_a_handler_may_charge_inside_a_charge() -> None:
    """As one of a signal, at any line of the ledger: what was charged is in the sum."""
    budget, before, charged = fx.Budget(9999.0), sys.gettrace(), []

    def attempt() -> None:
        with contextlib.suppress(BudgetError):
            budget.charge(ANY)
            charged.append(1)

    def at(wanted: int) -> Any:
        seen = []

        def trace(frame: Any, event: str, _: Any) -> Any:
            if event == "line" and Path(frame.f_code.co_filename).name == "ledger.py":
                seen.append(1)
                if len(seen) == wanted:
                    attempt()
            return trace

        return trace

    for line in range(1, 80):
        sys.settrace(at(line))
        attempt()
        sys.settrace(before)
    assert len(charged) > 80
    assert (len(budget.log()), budget.spent) == (len(charged), len(charged) / 10)


def test_a_draw_cannot_wait_for_another(make: Any) -> None:
    budget = make(9.0)
    caught: list[Any] = []

    def nested() -> None:
        with pytest.raises(BudgetError, match="inside the draw of another") as error:
            TENTH.release(["a"], budget=budget, label="q")
        caught.append(error)
        TENTH.release(["a"], budget=budget)

    ACTION.append(nested)
    ACTS.release("", budget=budget, label="q")
    assert len(caught) == 1
    assert budget.spent == 1.1
    TENTH.release(["a"], budget=budget, label="later")


def test_a_budget_is_not_copied_nor_that_in_memory_forked(make: Any, path: Path) -> None:
    budget = make(1.0)
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(BudgetError, match="cannot be copied or pickled"):
            duplicate(budget)
    if path.exists():
        assert in_child(lambda: bits(budget))[1] == bits(budget)
        assert budget.spent == 0.1
        return
    for label in (None, "q"):
        _, told = in_child(lambda label=label: bits(budget, label))
        assert "BudgetError: a budget in memory belongs to the process" in told
    assert budget.spent == 0


@pytest.mark.parametrize("label", [None, "q"])
def test_a_fork_in_a_draw_has_no_answer(label: str | None, make: Any) -> None:
    """The child would show a second answer for one charge."""

    class Records:
        shape = (0,)
        child = None

        def __array__(self, *_: Any, **__: Any) -> Any:
            self.child = os.fork() if self.child is None else self.child
            return np.zeros(0)

    budget, records, mother = make(1.0), Records(), os.getpid()
    try:
        BITS.release(records, budget=budget, label=label)
        own = 1
    except BudgetError:
        own = 2
    finally:
        if os.getpid() != mother:
            os._exit(own)
    assert os.waitpid(int(records.child or 0), 0)[1] == 2 << 8
    assert (own, budget.spent) == (1, 0.1)


def test_ten_processes(path: Path) -> None:
    """They create one budget, spend all of it and no more; all have the answer of one draw."""

    def spend(writing: int) -> None:
        budget, passed = fx.Budget.file(path, epsilon=0.6), 0
        answer = bits(budget, "of all")
        for _ in range(3):
            with contextlib.suppress(BudgetExceeded):
                budget.charge(fx.privacy.pure_guarantee(0.05, None, ""))
                passed += 1
        os.write(writing, json.dumps([answer, passed]).encode())

    told = []
    for child, pipe in [forked(spend) for _ in range(10)]:
        with pipe:
            told.append(json.load(pipe))
        assert os.waitpid(child, 0)[1] == 0
    answers, passed = zip(*told, strict=True)
    assert (len(set(answers)), sum(passed)) == (1, 10)
    assert (fx.Budget.file(path).spent, fx.Budget.file(path).remaining) == (0.6, 0.0)


def test_the_first_answer_is_that_of_all(path: Path) -> None:
    """Also if the file of locks is deleted during a draw, so that two draw at once."""
    budget, told = fx.Budget.file(path, epsilon=9.0), []
    large = scored(act, range(100, 10**4))

    def ask() -> None:
        told.append(large.release("", budget=fx.Budget.file(path), label="q"))

    def meanwhile() -> None:
        path.with_name(f"{path.name}-labels").unlink()
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(PATIENCE)

    ACTION.append(meanwhile)
    assert [large.release("", budget=budget, label="q")] == told
    assert budget.spent == 1.0


# ---- deaths ----


def settled(path: Path, label: str, told: Any) -> None:
    """After a death the file is whole; a retry gives what was told, for one charge in all."""
    before = fx.Budget.file(path)
    known = [entry["state"] for entry in before.log() if entry["label"] == label]
    assert known in ([], ["open"], ["answered"])
    assert told is None or known == ["answered"]
    answer = bits(fx.Budget.file(path), label)
    assert told in (None, answer)
    assert bits(fx.Budget.file(path), label) == answer
    assert [e["label"] for e in fx.Budget.file(path).log()].count(label) == 1


def die_at(statement: int) -> None:
    """From here on this process ends before SQLite runs the statement of this number."""
    connect, seen = sqlite3.connect, []

    def traced(*place: Any, **options: Any) -> sqlite3.Connection:
        def see(_: str) -> None:
            seen.append(1)
            if len(seen) == statement:
                os._exit(1)

        db = connect(*place, **options)
        db.set_trace_callback(see)
        return db

    sqlite3.connect = traced  # type: ignore[assignment]


def test_death_at_each_statement(path: Path) -> None:
    """Of a charge with its answer, and of the creation of a file."""
    budget, ended = fx.Budget.file(path, epsilon=1e3), []
    for statement in range(1, 200):
        label = f"{statement}"

        def run(statement: int = statement, label: str = label) -> float:
            die_at(statement)
            return bits(budget, label)

        status, told = in_child(run)
        ended.append(status)
        settled(path, label, told)
        if status == 0:
            break
    assert ended[15:][-1] == 0
    assert len(fx.Budget.file(path).log()) == len(ended)
    for statement in range(1, 200):
        new = path.with_name(f"{statement}")

        def create(statement: int = statement, new: Path = new) -> float:
            die_at(statement)
            return fx.Budget.file(new, epsilon=1.0).spent

        status, told = in_child(create)
        assert fx.Budget.file(new, epsilon=1.0).spent == 0
        if status == 0:
            break
    assert (statement > 5, told) == (True, 0)


def test_kills_at_random(path: Path) -> None:
    """A process that is killed has told no answer that was not kept, and lost no charge."""
    fx.Budget.file(path, epsilon=1e6)
    chance, charged = random.Random(7), 0  # noqa: S311
    for kill in range(KILLS):

        def spend(writing: int, kill: int = kill) -> None:
            budget = fx.Budget.file(path)
            for i in range(10_000):
                label = f"{kill}-{i}"
                os.write(writing, f"{label} {bits(budget, label)!r}\n".encode())
                bits(budget, None)
                os.write(writing, b"charged 0\n")

        child, pipe = forked(spend)
        time.sleep(chance.uniform(0.02, 0.12))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with pipe:
            lines = [line.split() for line in pipe]
        told = {label: float(answer) for label, answer in lines if label != "charged"}
        charged += len(lines) - len(told)
        budget = fx.Budget.file(path)
        log = [e for e in budget.log() if (e["label"] or "").startswith(f"{kill}-")]
        assert all(bits(budget, label) == answer for label, answer in told.items())
        states = [entry["state"] for entry in log]
        assert states.count("answered") - len(told) in (0, 1)
        assert states.count("open") <= 1
        last = f"{kill}-{len(told)}"
        settled(path, last, told.get(last))
        assert 0 <= [e["label"] for e in budget.log()].count(None) - charged <= kill + 1
    assert budget.spent == pytest.approx(0.1 * len(budget.log()), rel=1e-12)


# ---- files ----


def test_a_file_is_for_its_user(path: Path) -> None:
    old = os.umask(0)
    try:
        bits(fx.Budget.file(path, epsilon=1.0))
    finally:
        os.umask(old)
    files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert files == dict.fromkeys([path.name, f"{path.name}-journal", f"{path.name}-labels"], 0o600)


def test_terms_of_a_file(path: Path) -> None:
    with pytest.raises(
        BudgetError, match=r"is not there; Budget.file\(path, epsilon=...\) makes one"
    ):
        fx.Budget.file(path)
    with pytest.raises(BudgetError, match="is a directory"):
        fx.Budget.file(path.parent)
    first = fx.Budget.file(path, epsilon=1.0, delta=1e-6)
    for again in (
        fx.Budget.file(str(path)),
        fx.Budget.file(path, epsilon=1, delta=Decimal("1e-6")),
    ):
        assert repr(again) == repr(first)
    for terms, name in (
        ({"epsilon": 2.0, "delta": 1e-6}, "amount and delta"),
        ({"epsilon": 1.0}, "amount and delta"),
        ({"rho": 1.0}, "unit"),
        ({"epsilon": 1.0, "delta": 1e-6, "neighbors": "replace"}, "neighbors"),
    ):
        with pytest.raises(ParameterError, match=f"{name} must be that of the budget file"):
            fx.Budget.file(path, **terms)
    with pytest.raises(ParameterTypeError, match="path must be"):
        fx.Budget.file(7)


def edit(*statements: str) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        with sqlite3.connect(path) as db:
            for statement in statements:
                db.execute(statement)
        db.close()

    return run


def written(data: bytes) -> Callable[[Path], Any]:
    return lambda path: path.write_bytes(data)


def cut(share: float) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, int(path.stat().st_size * share))


def copied(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def foreign(path: Path) -> None:
    path.unlink()
    edit("create table lines(id, label, body, seal)", "insert into lines values (1, 0, '{}', 0)")(
        path
    )


def flipped(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"cost": ["0.1"', b'"cost": ["0.0"'))


DAMAGE = {
    "empty": cut(0),
    "a page": cut(0.4),
    "header alone": cut(0.01),
    "text": written(b"spent: 0\n" * 400),
    "edited amount": flipped,
    "edited limit": edit("update lines set body = replace(body, '1.0', '9.0') where id = 1"),
    "edited sum": edit("update lines set body = replace(body, '\"0.2\"', '\"0.0\"') where id = 5"),
    "blob": edit("update lines set body = x'00' where id = 3"),
    "moved label": edit("update lines set label = 'r' where label = 'q'"),
    "deleted in the middle": edit("delete from lines where id = 2"),
    "deleted at the end": edit("delete from lines where id > 2"),
    "deleted": edit("delete from lines"),
    "exchanged": edit(
        "update lines set id = 99 where id = 2",
        "update lines set id = 2 where id = 3",
        "update lines set id = 3 where id = 99",
    ),
    "no table": edit("drop table lines"),
    "foreign": foreign,
    "a copy": copied,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files_are_refused(name: str, path: Path) -> None:
    """By name, when it is opened, or by a release if the damage is in what it looks at."""
    budget = fx.Budget.file(path, epsilon=1.0)
    bits(budget)
    bits(budget, "r")
    DAMAGE[name](path)
    for opening in (lambda: fx.Budget.file(path), lambda: fx.Budget.file(path, epsilon=1.0)):
        with pytest.raises(BudgetError, match=f"the budget file '{path}'"):
            opening()
    with pytest.raises(BudgetError, match=f"the budget file '{path}'"):
        budget.log()
    if name not in ("edited amount", "blob", "moved label", "exchanged", "deleted in the middle"):
        with pytest.raises(BudgetError, match=f"the budget file '{path}'"):
            bits(budget, "new")


def test_a_file_of_the_earlier_format(path: Path) -> None:
    header = b'{"format": "fastexp budget", "version": 4, "unit": "epsilon", "limit": "1.0"'
    path.write_bytes(header + b', "check": "0"}\n')
    with pytest.raises(BudgetError, match=r"an earlier fastexp wrote it: make a budget in another"):
        fx.Budget.file(path, epsilon=1.0)
    assert path.read_bytes().startswith(header)


def test_a_file_that_is_gone(path: Path) -> None:
    budget = fx.Budget.file(path, epsilon=1.0)
    path.unlink()
    with pytest.raises(BudgetError, match="is not there"):
        bits(budget)
    assert not path.exists()
    with pytest.raises(BudgetError, match="cannot be created"):
        fx.Budget.file(path / "no" / "folder", epsilon=1.0)


def test_a_file_has_one_name(path: Path) -> None:
    """A transaction that died has its journal beside one name: by another one it is not found."""
    budget, second = fx.Budget.file(path, epsilon=1.0), path.with_name("second")
    second.hardlink_to(path)
    for act in (lambda: bits(budget), lambda: fx.Budget.file(second)):
        with pytest.raises(BudgetError, match="or has a second name"):
            act()
    second.unlink()
    second.symlink_to(path)
    assert bits(fx.Budget.file(second)) == bits(budget)


@pytest.mark.parametrize("label", [None, "q"])
def test_a_budget_is_the_file_that_was_opened(label: str | None, path: Path) -> None:
    """Another one in its place may have another unit: 0.1 of epsilon is 0.00125 of rho."""

    class Records:
        shape = (0,)

        def __array__(self, *_: Any, **__: Any) -> Any:
            path.unlink()
            fx.Budget.file(path, epsilon=1.0)
            return np.zeros(0)

    budget = fx.Budget.file(path, rho=1.0)
    with contextlib.nullcontext() if label is None else pytest.raises(BudgetError) as caught:
        BITS.release(Records(), budget=budget, label=label)
    assert label is None or "was charged to the budget" in caught.value.__notes__[0]
    for act in (lambda: bits(budget), lambda: budget.charge(ANY), lambda: budget.spent):
        with pytest.raises(BudgetError, match="was replaced by another one"):
            act()
    assert fx.Budget.file(path).spent == 0


def test_a_moved_file_goes_on(path: Path) -> None:
    answer = bits(fx.Budget.file(path, epsilon=1.0))
    moved = path.with_name("100 % of it?#.budget")
    path.rename(moved)
    assert bits(fx.Budget.file(moved)) == answer


def likes(data: Any, label: str) -> int:
    return int(data.count(label))


def decorated(sign: int) -> Any:
    @functools.wraps(likes)
    def score(data: Any, label: str) -> int:
        return sign * likes(data, label)

    return score


def test_a_function_with_the_name_of_another_has_no_label(make: Any) -> None:
    budget = make(epsilon=9)
    one, *others = (
        fx.Exponential.from_score(score, ["a", "b"], epsilon=1, sensitivity=1)
        for score in (likes, decorated(1), decorated(-1))
    )
    one.release(["a"], budget=budget, label="x")
    for other in others:
        with pytest.raises(ParameterTypeError, match="score must be a function of a module"):
            other.release(["a"], budget=budget, label="x")
    assert budget.spent == 1


def test_an_iterator_is_read_by_no_score(make: Any) -> None:
    budget = make(epsilon=9)
    mechanism = fx.Exponential.from_score(likes, ["a", "b"], epsilon=1, sensitivity=1)
    with pytest.raises(ParameterTypeError, match="data must not be an iterator"):
        mechanism.release(iter(["a"]), budget=budget)
    assert budget.spent == 0


def test_terms_without_an_amount(path: Path) -> None:
    fx.Budget.file(path, epsilon=1)
    for terms in ({"neighbors": "replace"}, {"delta": 0.1}):
        with pytest.raises(ParameterError, match="epsilon or rho must be given"):
            fx.Budget.file(path, **terms)
