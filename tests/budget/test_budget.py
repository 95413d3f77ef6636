"""Can a budget be overspent, lost or counted twice? Decimals, threads, forks, killed processes."""

from __future__ import annotations

import copy
import dataclasses
import errno
import json
import math
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastexp as fx
from fastexp import Budget, BudgetError, BudgetExceeded, Guarantee, privacy
from fastexp.errors import InvalidUtilities, ParameterError, ParameterTypeError
from tests.doors.budget import Cost, Spent, atomic_files, ledger
from tests.doors.compiler import jit
from tests.doors.privacy import amounts
from tests.doors.selection import draw as _draw
from tests.messages import raises, says
from tests.support.budget_lines import checked
from tests.support.each import each
from tests.support.processes import started

posix = pytest.mark.skipif(os.name != "posix", reason="forks and signals of POSIX")


def promise(epsilon=0.1, neighbors="add-remove", rho=0.00125, delta=0.0) -> Guarantee:
    return Guarantee(epsilon, neighbors, None, rho, delta, "")


KINDS = ["memory", "file"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "survey.budget"


@pytest.fixture(params=KINDS)
def make(request, path):
    """A budget in memory or in a file."""

    def made(epsilon=None, **more):
        if request.param == "memory":
            return Budget(epsilon, **more)
        return Budget.file(path, epsilon=epsilon, **more)

    return made


# ---- amounts ----


def test_three_times_a_tenth_fits_and_not_a_fourth(make):
    budget = make(0.3)
    for _ in range(3):
        budget.charge(promise(0.1))
    assert (budget.spent, budget.remaining, budget.charges) == (0.3, 0.0, 3)
    with raises("0.1: budget exceeded", spent="0.0", unit="epsilon", limit="0.3"):
        budget.charge(promise(0.1))
    assert (budget.spent, budget.charges) == (0.3, 3)
    assert budget.total == 0.3
    assert not 0.1 + 0.1 + 0.1 <= 0.3  # floats would refuse the third


def test_refused_charges_leave_the_rest(make):
    budget = make(1.0)
    budget.charge(promise(0.75))
    with pytest.raises(BudgetExceeded):
        budget.charge(promise(0.25000000000000006))
    budget.charge(promise(0.25))
    assert budget.remaining == 0.0


def test_what_would_be_left_is_what_is_left(make):
    budget = make(0.3)
    for left in (0.2, 0.1, 0.0):
        assert budget.rest_after(promise(0.1)) == left
        budget.charge(promise(0.1))
        assert budget.remaining == left
    with raises("0.1: budget exceeded", spent="0.0", unit="epsilon", limit="0.3"):
        budget.rest_after(promise(0.1))
    assert budget.charges == 3


def test_rho(make):
    budget = make(rho=0.00375)
    for _ in range(3):
        budget.charge(fx.MostCommon(0.1, ["a", "b"]).guarantee)
    assert (budget.unit, budget.spent, budget.remaining) == ("rho", 0.00375, 0.0)
    with raises("budget exceeded", unit="rho"):
        budget.charge(promise(rho=1e-300))


@pytest.mark.slow
@given(st.lists(st.floats(1e-9, 1e3), max_size=30), st.floats(1e-3, 1e4))
def test_what_is_spent_is_the_sum_of_decimals(costs, limit):
    budget, truth = Budget(limit), Fraction(0)
    for cost in costs:
        fits = truth + Fraction(repr(cost)) <= Fraction(repr(limit))
        try:
            budget.charge(promise(cost))
        except BudgetExceeded:
            assert not fits
        else:
            assert fits
            truth += Fraction(repr(cost))
    assert amounts.exact(budget.spent) >= truth
    assert amounts.exact(budget.remaining) <= Fraction(repr(limit)) - truth
    assert budget.spent == pytest.approx(float(truth))


def test_amounts_of_any_size_add_exactly():
    spent, costs = Spent(), (1e300, 5e-324, 0.1, 1.7976931348623157e308, 1e-300, 0.1)
    for cost in costs:
        spent = spent.with_one(Cost(cost, cost))
    assert Fraction(spent.amount) == Fraction(spent.delta) == sum(Fraction(repr(c)) for c in costs)


def test_tiny_amounts_count():
    budget = Budget(1.0)
    budget.charge(promise(1e-300))
    assert budget.spent == 1e-300
    assert budget.remaining == math.nextafter(1.0, 0.0)
    with pytest.raises(BudgetExceeded):
        budget.charge(promise(1.0))


# ---- epsilon and delta ----


def test_basic_composition_of_epsilon_and_delta(make):
    budget = make(1.0, delta=3e-6)
    for _ in range(3):
        budget.charge(promise(0.1, delta=1e-6))
    budget.charge(promise(0.1))
    assert (budget.spent, budget.remaining) == (0.4, 0.6)
    assert (budget.total_delta, budget.spent_delta, budget.remaining_delta) == (3e-6, 3e-6, 0.0)
    with raises("1e-300: budget exceeded", spent="0.0", unit="delta", limit="3e-06"):
        budget.charge(promise(0.1, delta=1e-300))
    with raises("0.7: budget exceeded", unit="epsilon"):
        budget.charge(promise(0.7))
    assert budget.charges == 4
    text = "spent=0.4, remaining=0.6, spent_delta=3e-06, remaining_delta=0.0, charges=4)"
    assert repr(budget).endswith(f"epsilon=1.0, delta=3e-06, neighbors='add-remove', {text}")


def test_top_k_with_delta_can_be_charged(make):
    mechanism = fx.TopK(3, 0.5, 1.0, delta=1e-6)
    budget = make(1.0, delta=2e-6)
    for _ in range(2):
        mechanism.release([1.0, 2.0, 3.0, 4.0], budget=budget)
    assert (budget.remaining, budget.remaining_delta) == (0.0, 0.0)
    assert [entry["delta"] for entry in budget.log()] == [1e-6, 1e-6]


def test_delta_under_replace():
    budget = Budget(1.0, delta=0.1, neighbors="replace")
    budget.charge(promise(0.1, delta=1e-6))
    assert budget.spent == 0.2
    assert 2e-6 * math.exp(0.1) <= budget.spent_delta <= 2e-6 * math.exp(0.1) * (1 + 1e-9)


def test_a_file_keeps_its_delta(path):
    Budget.file(path, epsilon=1.0, delta=1e-6)
    assert Budget.file(path).total_delta == 1e-6
    Budget.file(path, epsilon=1.0, delta=Decimal("1e-6"))
    with raises("delta: terms of the budget file", held="1e-06"):
        Budget.file(path, epsilon=1.0)


# ---- promises ----


@each("amount", [Fraction(1, 3), Decimal(1) / 3, Fraction(10**30, 3)])
def test_amounts_of_promises_are_rounded_up(amount):
    made = Guarantee(amount, "replace", amount, amount, 0.0, "")
    for found in (made.epsilon, made.bounded_range, made.rho):
        assert type(found) is float
        assert Fraction(repr(found)) >= Fraction(amount)
        assert Fraction(repr(math.nextafter(found, 0.0))) < Fraction(amount)
    assert Fraction(repr(Guarantee(1.0, None, None, None, Fraction(1, 3), "").delta)) * 3 >= 1
    budget = Budget(Fraction(10**31), neighbors="replace")
    for _ in range(3):
        budget.charge(made)
    assert Fraction(repr(budget.spent)) >= 3 * Fraction(amount)
    made = privacy.selection_guarantee(amount, None, "")
    assert Fraction(repr(made.epsilon)) >= Fraction(amount)


def test_promises_cannot_be_subclassed():
    with raises("Guarantee: subclassed"):

        class Free(Guarantee):
            pass


@each("name", ["epsilon", "bounded_range", "rho", "delta"])
@each("amount", [-1, -1e-300, float("nan"), Decimal("nan"), "1", True, [1.0]])
def test_promises_of_no_amount_are_refused(name, amount):
    with pytest.raises(
        (ParameterError, ParameterTypeError), match=says("amount of a promise", name=name)
    ):
        dataclasses.replace(promise(), **{name: amount})


def test_promises_hold_what_they_must():
    bad = {"delta": [1.5, None], "neighbors": ["other", 3], "assumes": [None, b""]}
    for name, values in bad.items():
        for value in values:
            with pytest.raises(
                (ParameterError, ParameterTypeError), match=says("amount of a promise", name=name)
            ):
                dataclasses.replace(promise(), **{name: value})
    assert str(dataclasses.replace(promise(), epsilon=-0.0).epsilon) == "0.0"
    assert dataclasses.replace(promise(), epsilon=None).epsilon is None


def test_a_promise_that_was_tampered_with_is_not_charged():
    free = promise()
    object.__setattr__(free, "epsilon", -1.0)
    budget = Budget(1.0)
    with raises("epsilon: at least a number", least="0"):
        budget.charge(free)
    assert budget.charges == 0


class Tampered(fx.Median):
    """A promise that was written to after it was checked."""

    changed = ("epsilon", 0.5)

    @property
    def guarantee(self):
        stated = super().guarantee
        object.__setattr__(stated, *self.changed)
        return stated


def tampered(name, amount):
    mechanism = Tampered(epsilon=0.5, bounds=(0, 9), step=1)
    object.__setattr__(mechanism, "changed", (name, amount))
    return mechanism


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"label": "q"}, {"by": [1], "groups": [1, 2]}])
@pytest.mark.parametrize(
    ("name", "amount"),
    [
        *[("epsilon", bad) for bad in (-0.4, math.nan, "0.1", b"", True, 10**400, Decimal("nan"))],
        *[("epsilon", bad) for bad in ([], -Fraction(1, 3), Fraction(10**400))],
        ("delta", -0.5),
        ("delta", None),
        ("delta", math.nan),
        ("rho", "x"),
        ("neighbors", "nobody"),
        ("assumes", 3),
    ],
)
def test_what_was_tampered_with_releases_nothing(make, path, name, amount, more):
    budget = make(1.0)
    before = path.read_bytes() if path.exists() else b""
    with pytest.raises(
        (ParameterError, ParameterTypeError), match=says("amount of a promise", name=name)
    ):
        tampered(name, amount).release([1], budget=budget, **more)
    assert budget.charges == 0
    assert (path.read_bytes() if path.exists() else b"") == before


@pytest.mark.parametrize(
    ("amount", "cost"), [(Fraction(1, 3), 0.33333333333333337), (Decimal("0.4"), 0.4), (1, 1.0)]
)
def test_amounts_that_were_written_to_are_charged_as_numbers(make, path, amount, cost):
    budget = make(1.0)
    tampered("epsilon", amount).release([1], budget=budget)
    assert budget.spent == cost
    assert type(budget.log()[0]["epsilon"]) is float
    if path.exists():
        assert Budget.file(path).spent == cost


def test_a_guarantee_that_is_none_releases_nothing(make):
    class Free(fx.Median):
        @property
        def guarantee(self):
            return None

    budget = make(1.0)
    with raises("guarantee: guarantee of a type, got NoneType"):
        Free(epsilon=0.5, bounds=(0, 9), step=1).release([1], budget=budget)
    assert budget.charges == 0


@pytest.mark.parametrize("label", [None, "q"])
def test_a_mechanisms_name_cannot_spoil_the_file(path, label):
    """What says how a budget calls it is the class alone."""
    long = type("Survey" * 99, (fx.Median,), {"name": 2024})
    budget = Budget.file(path, epsilon=5.0)
    long(epsilon=0.5, bounds=(0, 9), step=1).release([1], budget=budget, label=label)
    assert Budget.file(path).log()[0]["name"] == ("Survey" * 99)[:200]


def test_a_line_that_could_not_be_read_again_is_not_written(path, monkeypatch):
    budget = Budget.file(path, epsilon=5.0)
    before = path.read_bytes()
    monkeypatch.setattr(ledger.ledger_lines, "line", lambda *_: b'{"charge": "np.float64"}\n')
    for label in (None, "q"):
        with raises("budget file left as it was"):
            fx.Exponential(0.1, 1.0).release([1, 2], budget=budget, label=label)
    monkeypatch.undo()
    assert path.read_bytes() == before
    budget.charge(promise())
    assert Budget.file(path).charges == 1


# ---- what is written down ----


def test_the_log(make):
    budget = make(1.0)
    fx.Exponential(0.1, 1.0).release([1, 2], budget=budget)
    fx.Exponential(0.2, 1.0).release([1, 2], budget=budget, label="second")
    budget.charge(promise(0.3), name="elsewhere", note="by telephone")
    log = budget.log()
    for entry in log:
        assert time.strptime(entry.pop("time"), "%Y-%m-%dT%H:%M:%SZ")
    words = ["name", "about", "label", "note", "epsilon", "delta", "state"]
    assert [[*entry.values()] for entry in log] == [
        ["Exponential", "Exponential", None, None, 0.1, 0.0, "charged"],
        ["Exponential", "Exponential", "second", None, 0.2, 0.0, "answered"],
        ["elsewhere", None, None, "by telephone", 0.3, 0.0, "charged"],
    ]
    assert [[*entry] for entry in log] == [words] * 3
    other = Budget(rho=1.0)
    other.charge(promise())
    assert [*other.log()[0]] == ["time", "name", "about", "label", "note", "rho", "state"]


def test_limits_of_any_number_type():
    assert Budget(Decimal("0.3")).total == 0.3
    assert Budget(Fraction(1, 4)).total == 0.25
    assert Budget(1).total == 1.0


# ---- relations and kinds of promises ----


@pytest.mark.parametrize(
    ("counts", "holds", "cost"),
    [
        ("add-remove", "add-remove", 0.1),
        ("add-remove", None, 0.1),
        ("add-remove", "both", 0.1),
        ("replace", "replace", 0.1),
        ("replace", None, 0.1),
        ("replace", "both", 0.1),
        ("replace", "add-remove", 0.2),
    ],
)
def test_relations(make, counts, holds, cost):
    budget = make(1.0, neighbors=counts)
    budget.charge(promise(0.1, holds))
    assert budget.spent == cost
    assert budget.neighbors == counts


def test_rho_under_replace_is_four_times_that_of_add_remove():
    budget = Budget(rho=1.0, neighbors="replace")
    budget.charge(promise())
    assert budget.spent == 0.005


def test_promises_that_do_not_count_are_refused(make):
    budget = make(1.0)
    with raises("relation that is not promised"):
        budget.charge(promise(neighbors="replace"))
    with raises("pure promises only"):
        budget.charge(promise(delta=1e-9))
    with raises("promise in another unit"):
        budget.charge(promise(None))
    with raises("guarantee: guarantee of a type, got float"):
        budget.charge(0.1)
    for name in ("name", "note"):
        for bad in (1, "", b"a"):
            with pytest.raises(ParameterTypeError, match=says("text that is not empty", name=name)):
                budget.charge(promise(), **{name: bad})
        for bad in ("a\nb", "\ud800", "x" * 201):
            with pytest.raises(ParameterError, match=says("line of text", name=name)):
                budget.charge(promise(), **{name: bad})
    assert budget.charges == 0
    with raises("promise in another unit"):
        Budget(rho=1.0).charge(promise(rho=None))
    Budget(rho=1.0).charge(promise(delta=1e-9))


def test_what_a_refusal_advises_takes_the_promise():
    """Of private groups the promise has delta and no rho."""
    groups = fx.PrivateGroups(delta=1e-8, epsilon=0.5).guarantee
    terms = "epsilon=..., delta=..."
    for budget, why in (
        (Budget(epsilon=1.0), "pure promises only"),
        (Budget(rho=1.0), "promise in another unit"),
    ):
        with raises(why, terms=terms):
            budget.charge(groups)
        assert budget.charges == 0
    with raises("pure promises only", terms=f"{terms}) or Budget(rho=..."):
        Budget(epsilon=1.0).charge(promise(delta=1e-9))
    with raises("promise in another unit", terms="rho=..."):
        Budget(epsilon=1.0).charge(promise(None))


BAD = [
    ({}, "epsilon or rho"),
    ({"epsilon": 1.0, "rho": 1.0}, "epsilon or rho"),
    ({"epsilon": 0.0}, "epsilon: finite and positive"),
    ({"epsilon": float("nan")}, "epsilon: finite and positive"),
    ({"rho": float("inf")}, "rho: finite and positive"),
    ({"rho": 1.0, "neighbors": "both"}, "neighbors: one of several words"),
    ({"epsilon": 1.0, "delta": 1.0}, "delta below 1"),
    ({"epsilon": 1.0, "delta": -0.1}, "delta below 1"),
    ({"rho": 1.0, "delta": 0.1}, "delta without epsilon"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_arguments(arguments, message, path):
    with pytest.raises(ParameterError, match=says(message)):
        Budget(**arguments)
    with pytest.raises(ParameterError, match=says(message if arguments else "budget file to open")):
        Budget.file(path, **arguments)
    assert not path.exists()


@each("where", [b"bytes", 3, None])
def test_bad_paths(where):
    with raises("path of a type"):
        Budget.file(where, epsilon=1.0)
    for text in ("", "a\0b"):
        with raises("path without a file name"):
            Budget.file(text, epsilon=1.0)


# ---- releases ----

DATA = {"Exponential": [1.0, 2.0], "MostCommon": ["a", "b"]}


@pytest.mark.parametrize("kind", DATA)
def test_release_charges_once_and_before_it_draws(kind, make, monkeypatch):
    budget = make(0.5)
    parameters = {"sensitivity": 1.0} if kind == "Exponential" else {"candidates": ["a", "b"]}
    mechanism, seen = getattr(fx, kind)(0.2, **parameters), []
    draw = _draw.release

    def watched(*args):
        seen.append(budget.charges)
        return draw(*args)

    monkeypatch.setattr(_draw, "release", watched)
    for _ in range(2):
        mechanism.release(DATA[kind], budget=budget)
    with pytest.raises(BudgetExceeded):
        mechanism.release(DATA[kind], budget=budget)
    assert seen == [1, 2]  # drawn after each charge, and not at all the third time
    assert (budget.spent, budget.charges) == (0.4, 2)
    mechanism.release(DATA[kind])
    mechanism.release(DATA[kind], budget=None)
    assert budget.charges == 2


def test_release_is_charged_under_the_budgets_relation():
    budget = Budget(1.0, neighbors="replace")
    fx.MostCommon(0.1, ["a", "b"]).release([], budget=budget)
    fx.MostCommon(0.1, ["a", "b"], neighbors="replace").release([], budget=budget)
    fx.Exponential(0.1, 1.0).release([1, 2], budget=budget)
    assert budget.spent == 0.4
    with raises("relation that is not promised"):
        fx.MostCommon(0.1, ["a", "b"], neighbors="replace").release([], budget=Budget(1.0))


def test_mistakes_cost_nothing_but_failures_do():
    """The form of data and parameters first; what depends on the data after the charge."""
    budget, mechanism = Budget(1.0), fx.Exponential(0.1, 1.0)
    for bad in ({"threads": -1}, {"nan": "drop"}):
        with pytest.raises(ParameterError):
            mechanism.release([1.0, 2.0], budget=budget, **bad)
    with pytest.raises(ParameterTypeError):
        mechanism.release("text", budget=budget)
    assert budget.charges == 0
    with pytest.raises(InvalidUtilities):
        mechanism.release([1.0, float("nan")], budget=budget)
    assert budget.charges == 1
    with raises("budget of a type, got float"):
        mechanism.release([1.0, 2.0], budget=1.0)


# ---- copies, forks, threads ----


def test_copies_and_pickles_are_refused(make):
    budget = make(1.0)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps, lambda b: pickle.dumps(b, 0)):
        with raises("copied or pickled"):
            attempt(budget)
    with raises("copied or pickled"):
        copy.deepcopy({"a": [budget]})
    with pytest.raises(AttributeError):
        budget.spent = 0.0


def in_child(action) -> str:
    """What a forked child says."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # never returns
        try:
            text = str(action())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said


@pytest.mark.process
@posix
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_cannot_spend_what_is_in_memory():
    budget = Budget(1.0)
    budget.charge(promise(0.25))
    assert "BudgetError: this budget belongs to the process" in in_child(
        lambda: budget.charge(promise(0.25))
    )
    assert in_child(lambda: (budget.spent, budget.remaining)) == "(0.25, 0.75)"
    median = fx.Median(0.25, bounds=(0, 9), step=1)
    kept = median.release([1], budget=budget, label="kept")

    def release(label):
        return median.release([1], budget=budget, label=label)

    ledger = budget._ledger  # locks that a thread of the parent holds: the child must not wait
    with ledger._writer, ledger._lock("new"):
        assert "BudgetError" in in_child(lambda: budget.charge(promise(0.25)))
        assert "BudgetError: this budget belongs" in in_child(lambda: release("new"))
        assert in_child(lambda: release("kept")) == str(kept)
    budget.charge(promise(0.5))


@pytest.mark.process
@posix
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_spends_from_the_same_file(path):
    budget = Budget.file(path, epsilon=1.0)
    budget.charge(promise(0.25))
    assert in_child(lambda: budget.charge(promise(0.5))) == "None"
    assert budget.spent == 0.75
    with pytest.raises(BudgetExceeded):
        budget.charge(promise(0.5))
    assert "BudgetExceeded" in in_child(lambda: budget.charge(promise(0.5)))


def test_threads_cannot_overspend(make):
    budget = make(3.0)
    start = threading.Barrier(8)

    def spend(_):
        start.wait(timeout=60)
        done = 0
        for _ in range(10):
            try:
                budget.charge(promise(0.1))
                done += 1
            except BudgetExceeded:
                pass
        return done

    with ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(spend, range(8)))
    assert done == budget.charges == 30
    assert budget.spent == 3.0


SPENDER = """
import sys, fastexp as fx
from fastexp.privacy import Guarantee
budget = fx.Budget.file(sys.argv[1], epsilon=float(sys.argv[2]))
one = Guarantee(0.1, "add-remove", None, None, 0.0, "")
print("ready", flush=True)
sys.stdin.readline()
while True:
    try:
        budget.charge(one)
    except fx.BudgetExceeded:
        break
    print("charged", flush=True)
"""


def spender(path: Path, limit: float) -> AbstractContextManager[subprocess.Popen[str]]:
    return started(
        [sys.executable, "-c", SPENDER, str(path), str(limit)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.process
def test_processes_cannot_overspend(path):
    """Three at once, which all try to create the file and spend all of it."""
    with ExitStack() as stack:
        running = [stack.enter_context(spender(path, 6.0)) for _ in range(3)]
        for one in running:
            assert one.stdout.readline() == "ready\n"
        for one in running:
            one.stdin.write("go\n")
            one.stdin.flush()
        said = [one.communicate(timeout=120)[0].splitlines() for one in running]
    assert [one.returncode for one in running] == [0, 0, 0]
    assert sum(map(len, said)) == 60 == Budget.file(path).charges
    assert Budget.file(path).remaining == 0.0
    assert [p.name for p in path.parent.iterdir()] == [path.name]  # no drafts are left


@pytest.mark.process
@posix
def test_killed_processes_neither_lose_nor_repeat_a_charge(path):
    """Whatever was confirmed is in the file, and at most one charge more for each kill."""
    confirmed = 0
    for kill in range(8):
        with spender(path, 1e6) as one:
            one.stdin.write("go\n")
            one.stdin.flush()
            assert one.stdout.readline() == "ready\n"
            time.sleep(0.01 + 0.013 * kill)
            one.send_signal(signal.SIGKILL)
            confirmed += one.stdout.read().count("charged")
        budget = Budget.file(path)
        assert confirmed <= budget.charges <= confirmed + kill + 1
        assert budget.spent == amounts.times(0.1, budget.charges)
    assert confirmed > 0
    Budget.file(path).charge(promise())


# ---- the file ----


def test_the_file_says_what_happened(path):
    budget = Budget.file(path, epsilon=0.3, neighbors="replace")
    fx.Exponential(0.1, 1.0).release([1, 2], budget=budget)
    budget.charge(promise(0.05))
    header, first, second = map(json.loads, path.read_text().splitlines())
    assert all(len(line.pop("check")) == 32 for line in (header, first, second))
    moment = header.pop("time")
    assert time.strptime(moment, "%Y-%m-%dT%H:%M:%SZ")
    assert header == {
        "format": "fastexp budget",
        "version": 4,
        "unit": "epsilon",
        "limit": "0.3",
        "delta": "0.0",
        "neighbors": "replace",
    }
    assert (first["charge"], first["name"]) == ("0.1", "Exponential")
    assert (second["charge"], second["name"]) == ("0.1", None)  # 0.05 under add-remove
    again = Budget.file(path)
    assert (again.spent, again.remaining, again.charges) == (0.2, 0.1, 2)
    assert (again.unit, again.total, again.neighbors) == ("epsilon", 0.3, "replace")
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_keeps_its_terms(path):
    Budget.file(path, epsilon=1.0, neighbors="replace")
    Budget.file(str(path), epsilon=Decimal("1.0"), neighbors="replace")
    Budget.file(path)
    with raises("terms of the budget file, got 2.0...", held="epsilon 1.0"):
        Budget.file(path, epsilon=2.0)
    with raises("rho: terms of the budget file", held="epsilon 1.0"):
        Budget.file(path, rho=1.0)
    with raises("neighbors: terms of the budget file"):
        Budget.file(path, neighbors="add-remove")


def test_the_folder_may_change(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    budget = Budget.file(path.name, epsilon=1.0)
    monkeypatch.chdir("/")
    budget.charge(promise())
    assert Budget.file(path).charges == 1


@pytest.mark.parametrize("cut", range(1, 40, 6))
def test_a_torn_last_line_is_cut_off(path, cut):
    budget = Budget.file(path, epsilon=1.0)
    budget.charge(promise(0.1))
    whole = path.read_bytes()
    budget.charge(promise(0.2))
    torn = path.read_bytes()[: len(whole) + cut]
    path.write_bytes(torn)
    again = Budget.file(path)
    assert (again.spent, again.charges) == (0.1, 1)
    assert path.read_bytes() == torn  # looking changes nothing
    again.charge(promise(0.3))
    assert path.read_bytes().startswith(whole)
    assert (Budget.file(path).spent, Budget.file(path).charges) == (0.4, 2)


TIME = '"time": "2026-01-01T00:00:00Z"'
HEADER = (
    '{"format": "fastexp budget", "version": 4, "unit": "epsilon", "limit": "1.0", '
    f'"delta": "0.0", "neighbors": "add-remove", {TIME}}}\n'
)
WORDS = '"name": null, "about": null, "note": null'
CHARGE = f'{{"charge": "0.1", "delta": "0.0", {WORDS}, {TIME}}}\n'
ASKED = CHARGE.replace("}", f', "label": "a", "question": "{64 * "0"}"}}')
ANSWERED = f'{{"answers": 7, "label": "a", {TIME}}}\n'
BESIDE = ANSWERED.replace('"answers": 7', f'"beside": "{64 * "0"}", "key": "{64 * "0"}"')
FAILED = f'{{"failed": "a", {TIME}}}\n'
DAMAGED = [  # also where the checks are right
    "",
    "\n",
    HEADER[:-1],
    "[]\n",
    "null\n",
    "[" * 100_000 + "\n",
    "\xff\n",
    HEADER.replace("fastexp budget", "other"),
    HEADER.replace("epsilon", "delta"),
    HEADER.replace("add-remove", "both"),
    HEADER.replace('"1.0"', "1.0"),
    HEADER.replace('"1.0"', '"1.00"'),
    HEADER.replace('"1.0"', '"0.0"'),
    HEADER.replace('"1.0"', '"nan"'),
    HEADER.replace('"1.0"', '"inf"'),
    HEADER.replace('"0.0"', '"1.0"'),
    HEADER.replace('"0.0"', '"-0.0"'),
    HEADER.replace('"0.0"', "0"),
    HEADER.replace('"epsilon"', '"rho"').replace('"0.0"', '"0.1"'),
    HEADER.replace('"delta": "0.0", ', ""),
    HEADER.replace("{", '{"more": 1, '),
    HEADER + "\n",
    HEADER + "\0\0\0\n",
    HEADER + "{}\n",
    HEADER + CHARGE.replace('"0.1"', "0.1"),
    HEADER + CHARGE.replace("0.1", "-0.1"),
    HEADER + CHARGE.replace("0.1", "1e-1"),
    HEADER + CHARGE.replace("0.1", "inf"),
    HEADER + CHARGE.replace("0.1", "1_0.0"),
    HEADER + CHARGE.replace("0.0", "-0.0"),
    HEADER + CHARGE.replace('"name": null', '"name": 1'),
    HEADER + CHARGE.replace('"about": null', '"about": ["Median"]'),
    HEADER + CHARGE.replace('"note": null', '"note": false'),
    HEADER + CHARGE.replace('"note": null, ', ""),
    HEADER + CHARGE.replace('"about": null, ', ""),
    HEADER + CHARGE.replace("{", '{"more": 1, '),
    HEADER + '{"cha' + CHARGE + CHARGE,
    HEADER + CHARGE[:-1] + "\r" + CHARGE,
    HEADER + ASKED + ASKED,
    HEADER + ASKED.replace("00", "0"),
    HEADER + ASKED.replace('"a"', "[]"),
    HEADER + ANSWERED,
    HEADER + FAILED,
    HEADER + ASKED + ANSWERED.replace('"a"', '"b"'),
    HEADER + ASKED + ANSWERED.replace('"a"', "[]"),
    HEADER + ASKED + ANSWERED.replace('"answers"', '"answer"'),
    HEADER + ASKED + ANSWERED + ANSWERED,
    HEADER + ASKED + ANSWERED + FAILED,
    HEADER + ASKED + FAILED + ANSWERED,
    HEADER + ASKED + BESIDE.replace("00", "0"),
    HEADER + ASKED + BESIDE + ANSWERED,
    HEADER + HEADER,
]


def test_whole_lines_are_read(path):
    """What is damaged above is whole except for one thing."""
    path.write_text(checked(HEADER + CHARGE + ASKED + ANSWERED))
    assert [entry["state"] for entry in Budget.file(path).log()] == ["charged", "answered"]
    path.write_text(checked(HEADER + ASKED + BESIDE))
    assert [entry["state"] for entry in Budget.file(path).log()] == ["answered"]
    path.write_text(checked(HEADER + ASKED + FAILED))
    assert [entry["state"] for entry in Budget.file(path).log()] == ["failed"]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_file_is_refused_and_left_alone(path, text):
    raw = checked(text).encode("latin-1")
    path.write_bytes(raw)
    for attempt in (lambda: Budget.file(path), lambda: Budget.file(path, epsilon=1.0)):
        with raises("damaged budget file"):
            attempt()
    assert path.read_bytes() == raw


def test_another_format_is_refused(path):
    path.write_text(HEADER.replace('"version": 4', '"version": 3') + CHARGE)  # without checks
    message = "budget file of another version"
    with pytest.raises(BudgetError, match=says(message)):
        Budget.file(path)


def test_damage_after_opening_is_noticed(path):
    budget = Budget.file(path, epsilon=1.0)
    budget.charge(promise(0.1))
    first = path.read_bytes()
    budget.charge(promise(0.2))
    for text in (first, b"", first.replace(b"0.1", b"0.0"), first + b"{}\n"):
        path.write_bytes(text)
        with raises("damaged budget file"):
            budget.charge(promise(0.1))
        assert path.read_bytes() == text
        assert repr(budget).endswith("neighbors='add-remove', unreadable)")
    path.unlink()
    with raises("budget file that cannot be used, got No such file..."):
        budget.charge(promise(0.1))
    assert not path.exists()


def test_a_file_that_is_replaced_while_waiting_is_looked_at_again(path, monkeypatch):
    """Renaming another file to it between opening and locking must not hide its charges."""
    budget = Budget.file(path, epsilon=1.0)
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    Budget.file(other).charge(promise(0.9))
    lock, renamed = atomic_files._lock, []

    def late(handle, *, exclusive):
        if not renamed:
            renamed.append(other.rename(path))
        lock(handle, exclusive=exclusive)

    monkeypatch.setattr(atomic_files, "_lock", late)
    with raises("budget exceeded", spent="0.1"):
        budget.charge(promise(0.2))
    assert renamed


# ---- what the system refuses ----


def failing(function, error: int):
    def fail(*_, **__):
        raise OSError(error, os.strerror(error))

    return fail


@pytest.mark.parametrize("step", ["write", "fsync"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_charge_that_is_not_on_disk_releases_nothing(path, monkeypatch, step, error):
    budget = Budget.file(path, epsilon=1.0)
    budget.charge(promise(0.1))
    before, write = path.read_bytes(), os.write

    def half(handle, data):
        if len(data) > 10:
            return write(handle, data[:10])
        raise OSError(error, os.strerror(error))

    failure = half if step == "write" else failing(os.fsync, error)
    monkeypatch.setattr(atomic_files.os, step, failure)
    monkeypatch.setattr(_draw, "release", None)  # is not called
    with pytest.raises(
        BudgetError,
        match=says("budget file that cannot be used", error=f"...{os.strerror(error)}..."),
    ):
        fx.Exponential(0.1, 1.0).release([1, 2], budget=budget)
    monkeypatch.undo()
    assert path.read_bytes() == before
    budget.charge(promise(0.1))
    assert (budget.charges, budget.spent) == (2, 0.2)


def test_if_the_line_cannot_be_taken_back_it_counts(path, monkeypatch):
    budget = Budget.file(path, epsilon=1.0)
    monkeypatch.setattr(atomic_files.os, "fsync", failing(os.fsync, errno.EIO))
    monkeypatch.setattr(atomic_files.os, "ftruncate", failing(os.ftruncate, errno.EIO))
    with raises("budget file that cannot be used"):
        budget.charge(promise(0.1))
    monkeypatch.undo()
    assert budget.spent == 0.1


def test_a_file_is_not_half_made(path, monkeypatch):
    monkeypatch.setattr(atomic_files.os, "fsync", failing(os.fsync, errno.ENOSPC))
    with raises("budget file that cannot be used, got No space left..."):
        Budget.file(path, epsilon=1.0)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("fails", [False, True])
def test_file_systems_without_links(path, monkeypatch, fails):
    monkeypatch.setattr(atomic_files.os, "link", failing(os.link, errno.EPERM))
    if fails:
        seen, sync = [], os.fsync

        def second(handle):
            seen.append(handle)
            if len(seen) == 2:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            sync(handle)

        monkeypatch.setattr(atomic_files.os, "fsync", second)
        with raises("budget file that cannot be used, got No space left..."):
            Budget.file(path, epsilon=1.0)
        assert list(path.parent.iterdir()) == []
        return
    Budget.file(path, epsilon=1.0).charge(promise())
    assert Budget.file(path).charges == 1
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_whoever_comes_second_opens_what_is_there(path, monkeypatch):
    """Another process creates the file after this one has looked for it."""
    Budget.file(path, epsilon=1.0).charge(promise())
    monkeypatch.setattr(ledger, "exists", lambda path: False)
    assert Budget.file(path, epsilon=1.0).charges == 1
    with raises("terms of the budget file, got 2.0; a limit cannot be changed"):
        Budget.file(path, epsilon=2.0)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_places_where_no_file_can_be(tmp_path):
    with raises("budget file that cannot be used, got No such file..."):
        Budget.file(tmp_path / "no" / "b", epsilon=1.0)
    with raises("budget file of another kind"):
        Budget.file(tmp_path)
    with raises("budget file that cannot be used, got File name too long"):
        Budget.file(tmp_path / ("x" * 300), epsilon=1.0)


@posix
def test_a_pipe_is_not_waited_for(path):
    os.mkfifo(path)
    with raises("budget file of another kind"):
        Budget.file(path)


def test_read_only_files_can_be_looked_at(path, monkeypatch):
    budget, real = Budget.file(path, epsilon=1.0), os.open

    def read_only(name, flags, *more):
        if flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(name, flags, *more)

    monkeypatch.setattr(atomic_files.os, "open", read_only)
    assert Budget.file(path).remaining == 1.0
    with raises("budget file that cannot be used, got Permission denied"):
        budget.charge(promise())


# ---- what is shown ----


def test_repr_shows_what_is_public(path):
    budget = Budget(0.3)
    budget.charge(promise(0.1))
    text = "neighbors='add-remove', spent=0.1, remaining=0.2, charges=1)"
    assert repr(budget) == f"Budget(epsilon=0.3, {text}"
    kept = Budget.file(path, rho=0.3)
    kept.charge(promise(rho=0.1))
    assert repr(kept) == f"Budget.file({str(path)!r}, rho=0.3, {text}"


def test_total_is_what_release_charges():
    mechanism = fx.MostCommon(0.1, ["a", "b"])
    assert mechanism.total() == privacy.total(mechanism.guarantee) == mechanism.guarantee


def test_a_compiler_that_cannot_be_imported_costs_nothing(make, monkeypatch):
    """It is imported before the charge: numba may be broken, or swallow an interrupt meanwhile."""
    budget = make(epsilon=1.0)

    def broken():
        raise ImportError("numba")

    monkeypatch.setattr(jit, "ready", broken)
    with pytest.raises(ImportError, match="numba"):
        fx.Median(0.5, (0, 120), step=1).release([1], budget=budget)
    assert (budget.spent, budget.log()) == (0.0, [])
