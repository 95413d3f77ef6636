"""Does every public call refuse what is not an argument by a message that names it, at once?"""

from __future__ import annotations

import math
import signal
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from inspect import signature
from types import FrameType
from typing import NoReturn

import numpy as np
import pytest

import fastexp as fx
from fastexp import privacy
from tests.doors.compiler import jit
from tests.doors.mechanisms import TABLE
from tests.messages import says
from tests.support.each import each
from tests.support.examples import arguments_of

SECONDS = 20  # of a call that goes through a list without end; others take milliseconds


class OddEquality:
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other):
        raise RuntimeError("equality")


class ArrayEquality:
    def __eq__(self, other):
        return np.array([True, False])

    def __hash__(self):
        return 1


class OddTruth:
    def __bool__(self):
        raise RuntimeError("truth")


class OddFloat(float):
    def __float__(self):
        raise RuntimeError("float")


class OddIndex:
    def __index__(self):
        raise RuntimeError("index")


class OddText(str):
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        raise RuntimeError("equality")


class OddIterator:
    def __iter__(self):
        raise RuntimeError("iterator")


class OddItems:
    def __len__(self):
        return 2

    def __getitem__(self, i):
        raise RuntimeError("item")


class OddArray:
    def __array__(self, *_, **__):
        raise RuntimeError("array")


ITSELF: list[object] = []
ITSELF.append(ITSELF)

ODD = [
    None, True, False, np.True_, math.nan, math.inf, -math.inf, -1, -1.0, 0, 0.0, 1e308, 5e-324,
    10**18, 2**63, 2**64, 2**70, -(2**63), 10**400, -(10**400), 10**5000, 1j,
    np.int8(3), np.uint64(2**63 + 1), np.float16(1), np.float32(0.5), np.float64(0.25),
    np.float64("nan"), np.longdouble(1), np.complex128(1), np.datetime64("2026-01-01"),
    np.datetime64("NaT", "s"), np.str_("replace"), np.array([]), np.array([1.0]), np.array([1]),
    np.array([1.0, 2.0, 3.0]), np.array(3), np.array(1.5), np.eye(2),
    np.array([None, "a"], dtype=object), np.array(["add-remove", "replace"]), np.ma.masked,
    np.ma.array([1.0, 2.0], mask=[0, 1]),
    Fraction(1, 3), Fraction(-1, 3), Fraction(10**400), Fraction(1, 10**400), Decimal("0.1"),
    Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e1000"), Decimal("1e-1000"),
    Decimal("1e999999"), Decimal("1e-999999999"),
    range(10**18), range(10**18, 0, -1), range(2**70), range(0), range(3), "bogus", "", "\0",
    "\ud800", b"x", memoryview(b"abc"), [], [1], [1.0, 2.0, None], [[1], [1, 2]], ITSELF, (), (1, 2),
    ("a", "b"), (None, None), (math.nan, 1.0), (0, 10**400), [2**70], [2**63, 1], [Fraction(1, 3)],
    {}, {"a": 1}, {1}, object(), int, OddEquality(), ArrayEquality(), OddTruth(), OddFloat(1.0),
    OddIndex(), OddText("replace"), OddIterator(), OddItems(), OddArray(),
    fx.Exponential(1.0, 1.0),
]  # fmt: skip

AGES, U = [30, 31, 32, 60], np.array([1.0, 3.0, 2.0])
PROMISE = fx.MostCommon(0.1, ["a", "b"]).guarantee
APPROXIMATE = privacy.advanced(PROMISE, 10, delta=1e-6)
MEDIAN, LAPLACE = fx.Median(1.0, (0, 100), step=1), fx.Laplace(1.0, 1, step=1)
QUARTILES = fx.Quantiles(count=3, epsilon=1.0, bounds=(0, 100), step=1)
SELECT, COMMON = fx.Exponential(1.0, 1.0), fx.MostCommon(1.0, ["a", "b"])
BITS, TOP = fx.RandomizedResponse(1.0), fx.TopK(2, 1.0, 1.0)
JOINT, COUNTS = fx.JointTopK(2, 1.0), np.array([1, 3, 2])
SMOOTH = fx.SmoothSensitivityMedian(1.0, 1e-6, bounds=(0, 100), noise="laplace")
NUMBERS = {"epsilon": 1.0, "bounds": (0, 100), "step": 1, "any_epsilon": False}
SCORES = {"epsilon": 1.0, "sensitivity": 1.0, "candidates": ["a", "b"], "any_epsilon": False}
SPENT = {"epsilon": 1.0, "delta": 0.0, "rho": None, "assumes": "", "neighbors": None}
STATED = {"epsilon": 1.0, "neighbors": "replace", "assumes": ""}
CALL = {"rows": 2, "membership": "private", "max_rows": 2, "neighbors": "add-remove"}
PARTED = {"disjoint": True, "groups": True, "max_groups": 2}
DRAWN = {"size": 2, "rng": 1, "streams": [3], "threads": 1, "method": "envelope"}
GROUPED = {"by": ["a", "b", "a", "b"], "groups": ["a", "b"], "person": [1, 2, 3, 4]}
LIMITS = {"max_groups": 1, "max_rows": 1}
RELEASED = {"disjoint": False, "membership": "private", "budget": None, "threads": 1}
PEELED = {"rounds": 4, "round_epsilon": 0.25}
ROUNDS = {"rounds": 10, "bounded_range": 0.1}

# What is called, and arguments that it takes.
CALLS = {
    **{row.name: (row.kind, arguments_of(row, full=True)) for row in TABLE.values()},
    "selection_guarantee": (privacy.selection_guarantee, STATED),
    "pure_guarantee": (privacy.pure_guarantee, STATED),
    "pure_rho": (privacy.pure_rho, {"epsilon": 1.0}),
    "peeling_guarantee": (privacy.peeling_guarantee, PEELED | SPENT),
    "peeling_guarantee, delta": (privacy.peeling_guarantee, PEELED | SPENT | {"delta": 1e-6}),
    "peeling_guarantee, rho": (
        privacy.peeling_guarantee,
        PEELED | SPENT | {"epsilon": None, "rho": 0.1},
    ),
    "peeling_round": (privacy.peeling_round, {"rounds": 4, "epsilon": 1.0, "delta": 1e-6}),
    "peeling_round, rho": (privacy.peeling_round, {"rounds": 4, "epsilon": None, "rho": 1.0}),
    "rank_rate": (privacy.rank_rate, {"epsilon": 1.0, "steps": 1}),
    "count_rate": (privacy.count_rate, {"epsilon": 1.0, "neighbors": "replace"}),
    "selection_rate": (
        privacy.selection_rate,
        {"epsilon": 1.0, "sensitivity": 1.0, "monotonic": False},
    ),
    "total": (privacy.total, {"guarantee": PROMISE} | CALL | PARTED),
    "total, delta": (privacy.total, {"guarantee": APPROXIMATE} | CALL),
    "mechanism.total": (SELECT.total, CALL | PARTED),
    "under": (PROMISE.under, {"neighbors": "replace"}),
    "group": (privacy.group, {"guarantee": PROMISE, "size": 2}),
    "group, delta": (privacy.group, {"guarantee": APPROXIMATE, "size": 2}),
    "advanced": (privacy.advanced, {"guarantee": PROMISE, "rounds": 3, "delta": 1e-6}),
    "parallel": (privacy.parallel, {"guarantees": [PROMISE]}),
    "sequential": (privacy.sequential, {"guarantees": [PROMISE]}),
    "adaptive_delta": (privacy.adaptive_delta, ROUNDS | {"epsilon": 0.5}),
    "adaptive_epsilon": (privacy.adaptive_epsilon, ROUNDS | {"delta": 1e-6}),
    "nonadaptive_delta": (privacy.nonadaptive_delta, ROUNDS | {"epsilon": 0.5}),
    "nonadaptive_epsilon": (privacy.nonadaptive_epsilon, ROUNDS | {"delta": 1e-6}),
    "divergence": (privacy.bounded_range_divergence, {"bounded_range": 1.0, "order": 2.0}),
    "zcdp_delta": (privacy.zcdp_delta, {"rho": 0.1, "epsilon": 1.0}),
    "zcdp_epsilon": (privacy.zcdp_epsilon, {"rho": 0.1, "delta": 1e-6}),
    "loss_bound": (
        fx.loss_bound,
        {"t": 0.0, "epsilon": 1.0, "sensitivity": 1.0, "k": 5, "optimal": 1, "monotonic": False},
    ),
    "expected_errors": (
        fx.expected_errors,
        {"records": np.array([AGES]), "mechanisms": [MEDIAN], "truth": None, "assume_sorted": False},
    ),
    "epsilon_for": (fx.epsilon_for, {"k": 5, "sensitivity": 1.0, "expected_loss": 1.0}),
    "epsilon_for, loss": (
        fx.epsilon_for,
        {"k": 5, "sensitivity": 1.0, "loss": 1.0, "failure": 0.05, "monotonic": False},
    ),
    "error_bound": (
        fx.error_bound,
        {"records": AGES, "epsilon": 1.0, "bounds": (0, 9), "failure": 0.05, "slope": None},
    ),
    "smooth_sensitivity": (
        fx.smooth_sensitivity,
        {"data": AGES, "beta": 0.1, "bounds": (0, 9), "rank": None, "neighbors": "replace",
         "midpoint": False, "nan": "raise", "assume_sorted": False},
    ),
    "restore": (fx.ReleaseKey.restore, {"text": fx.release_key().export()}),
    "Budget": (fx.Budget, {"epsilon": 1.0, "neighbors": "replace"}),
    "from_rate": (fx.Exponential.from_rate, {"alpha": 1.0, "sensitivity": 1.0}),
    "Scored": (fx.ScoredExponential, SCORES | {"score": lambda data, candidate: 1.0}),
    "TopK, rho": (fx.TopK, {"k": 2, "sensitivity": 1.0, "rho": 0.1}),
    "Median, grid": (
        fx.Median,
        {"epsilon": 1.0, "bounds": (0, 100), "grid": [0, 25, 50], "widen": 0},
    ),
    "Quantiles, listed": (
        fx.Quantiles,
        NUMBERS | {"q": [0.25, 0.5], "neighbors": "replace", "with_total": False},
    ),
    "Median.release": (
        MEDIAN.release,
        {"records": AGES, "nan": "raise", "assume_sorted": False, "key": None, "label": None}
        | RELEASED,
    ),
    "Median.release, by": (MEDIAN.release, {"records": AGES} | GROUPED | LIMITS | RELEASED),
    "Median.release, offsets": (
        MEDIAN.release,
        {"records": AGES, "offsets": [0, 2, 4], "groups": None},
    ),
    "Median.sample": (
        MEDIAN.sample,
        {"records": AGES, "nan": "raise", "assume_sorted": False} | DRAWN,
    ),
    "Median.law": (MEDIAN.law, {"records": AGES, "nan": "raise", "assume_sorted": False}),
    "Quantiles.release": (
        QUARTILES.release,
        {"records": AGES, "with_total": True, "nan": "raise", "assume_sorted": False} | RELEASED,
    ),
    "Quantiles.release, by": (QUARTILES.release, {"records": AGES} | GROUPED | LIMITS | RELEASED),
    "Quantiles.sample": (
        QUARTILES.sample,
        {"records": AGES, "with_total": True, "nan": "raise", "assume_sorted": False} | DRAWN,
    ),
    "Median.continuous_law": (MEDIAN.continuous_law, {"records": AGES, "nan": "raise"}),
    "Exponential.release": (SELECT.release, {"data": U, "nan": "raise"} | RELEASED),
    "Exponential.sample": (SELECT.sample, {"data": U, "nan": "raise", "labels": False} | DRAWN),
    "Exponential.law": (SELECT.law, {"data": U, "nan": "raise"}),
    "MostCommon.release": (
        COMMON.release,
        {"data": ["a", "b"], "by": ["x", "y"], "groups": ["x", "y"]},
    ),
    "MostCommon.sample": (COMMON.sample, {"data": ["a", "b"], "size": 1, "rng": 1, "labels": True}),
    "TopK.sample": (TOP.sample, {"data": U, "size": 1, "rng": 1, "labels": False}),
    "JointTopK.sample": (JOINT.sample, {"data": COUNTS, "size": 1, "rng": 1, "labels": False}),
    "Laplace.release": (LAPLACE.release, {"f": 3, "budget": None}),
    "Laplace.sample": (LAPLACE.sample, {"f": 3, "size": 2, "rng": 1, "streams": [1]}),
    "Laplace.law": (LAPLACE.law, {"f": 3}),
    "RandomizedResponse.release": (BITS.release, {"bits": [True, False]}),
    "RandomizedResponse.sample": (BITS.sample, {"bits": [True], "size": 1, "rng": 1, "threads": 1}),
    "SmoothSensitivityMedian.sample": (
        SMOOTH.sample,
        {"records": AGES, "size": 1, "rng": 1, "streams": [1], "threads": 1, "nan": "raise",
         "assume_sorted": False},
    ),
}  # fmt: skip

LAWS = {
    "FiniteLaw": SELECT.law(U),
    "PermuteAndFlipLaw": fx.PermuteAndFlip(1.0, 1.0).law(U),
    "TopKLaw": TOP.law(U),
    "JointTopKLaw": JOINT.law(COUNTS),
    "GridLaw": MEDIAN.law(AGES),
    "QuantilesLaw": fx.Quantiles([0.25, 0.75], 1.0, (0, 100), step=1).law(AGES),
    "ContinuousLaw": MEDIAN.continuous_law(AGES),
    "NoiseLaw": fx.LaplaceMedian(1.0, bounds=(0, 100)).law(AGES),
}
NO_LOSS = "ContinuousLaw", "NoiseLaw", "QuantilesLaw"
for law_name, law in LAWS.items():
    for method in dir(law):
        if not method.startswith("_") and callable(getattr(type(law), method, None)):
            if method == "privacy_loss" and law_name in NO_LOSS:
                continue  # they have none
            parameters = signature(getattr(law, method)).parameters.values()
            values = {p.name: 0.5 if p.default is p.empty else p.default for p in parameters}
            values |= {"selection": [0, 1]} if "selection" in values else {}
            values |= {"candidate": 1} if "candidate" in values else {}
            values |= {"points": 31} if "points" in values else {}
            values |= {"j": 1} if "j" in values else {}
            values |= {"other": law} if "other" in values else {}
            values |= {"expected_loss": 1.0} if "expected_loss" in values else {}
            if law_name in ("NoiseLaw", "QuantilesLaw") and method == "epsilon_for":
                values |= {"expected_loss": None, "expected_error": 50.0}  # it has no losses
            CALLS[f"{law_name}.{method}"] = (getattr(law, method), values)

LOSS = LAWS["GridLaw"].privacy_loss(MEDIAN.law(AGES[1:]))
CALLS |= {
    "PrivacyLoss.delta": (LOSS.delta, {"epsilon": 0.5}),
    "PrivacyLoss.epsilon": (LOSS.epsilon, {"delta": 0.5}),
    "PrivacyLoss.renyi": (LOSS.renyi, {"order": 2.0}),
}

# What messages also call an argument, or what another one that does not fit it any more is called.
NAMES = {
    "data": ("utilities", "counts", "records", "by"),
    "records": ("by", "streams", "person"),
    "candidates": ("base", "k must"),
    "k": ("sensitivity",),
    "rounds": ("round_epsilon",),
    "rho": ("round_epsilon",),
    "alpha": ("epsilon",),
    "sensitivity": ("epsilon",),
    "by": ("groups",),
    "groups": ("the public list",),
    "bits": ("reports",),
    "expected_loss": ("either", "limits so far apart"),
    "loss": ("either",),
    "failure": ("either",),
}


def too_long(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise TimeoutError("a call takes too long")


@contextmanager
def unhurried():
    """The alarm waits while a kernel is compiled."""
    left = signal.alarm(0)
    try:
        yield
    finally:
        signal.alarm(left)


def outcome(call, arguments):
    """The error of a call, None if there is none."""
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        call(**arguments)
    except fx.FastexpError as error:
        return error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return None


def refused_by_name(name, monkeypatch):
    monkeypatch.setattr(jit, "_watcher", unhurried)
    call, arguments = CALLS[name]
    assert outcome(call, arguments) is None
    for argument in arguments:
        if argument == "score":
            continue
        for odd in ODD:
            error = outcome(call, arguments | {argument: odd})
            if error is not None:
                text = str(error)
                assert any(n in text for n in (argument, *NAMES.get(argument, ()))), (argument, odd)
                assert len(text) < 400


# Pictures, and a search for an epsilon, take as long as all others.
LONG = {name for name in CALLS if name.endswith((".plot", ".epsilon_for"))}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fastexp.SensitivityWarning")
@each("name", sorted(LONG))
def test_odd_arguments_of_long_calls_are_refused_by_name(name, monkeypatch):
    refused_by_name(name, monkeypatch)


@pytest.mark.filterwarnings("ignore::fastexp.SensitivityWarning")
@each("name", sorted(CALLS.keys() - LONG))
def test_odd_arguments_are_refused_by_name(name, monkeypatch):
    refused_by_name(name, monkeypatch)


# What was taken without a word, or failed with an error of Python's.
WRONG = {
    "guarantee of -1": (lambda: privacy.selection_guarantee(-1.0, "add-remove", ""), "epsilon: finite and positive"),
    "guarantee of bogus": (lambda: privacy.selection_guarantee(1.0, "bogus", ""), "neighbors: one of several words"),
    "pure bogus": (lambda: privacy.pure_guarantee(1.0, "bogus", ""), "neighbors: one of several words"),
    "peeling of -1": (lambda: privacy.peeling_guarantee(4, -0.25, 1.0, 0.0, None, ""), "round_epsilon: finite and positive"),
    "peeling of more": (lambda: privacy.peeling_guarantee(4, 100.0, 1.0, 0.0, None, ""), "largest epsilon of a round"),
    "peeling bogus": (lambda: privacy.peeling_guarantee(4, 0.25, 1.0, 0.0, None, "", "bogus"), "neighbors: one of several words"),
    "rank_rate of 0": (lambda: privacy.rank_rate(1.0, 0), says("steps: at least a number", least="1")),
    "rank_rate of -1": (lambda: privacy.rank_rate(-1.0, 1), "epsilon: finite and positive"),
    "count_rate bogus": (lambda: privacy.count_rate(1.0, "bogus"), "neighbors: one of several words"),
    "selection_rate of 0": (lambda: privacy.selection_rate(1.0, 0.0, False), "sensitivity: finite and positive"),
    "selection_rate of text": (lambda: privacy.selection_rate("1", 1.0, False), "epsilon: real number"),
    "total of 3": (lambda: privacy.total(3), "guarantee: guarantee of a type"),
    "epsilon None": (lambda: fx.Exponential(epsilon=None, sensitivity=1.0), "epsilon: real number"),
    "membership array": (lambda: SELECT.release(U, membership=np.array(["private", "public"])), "membership: one of several words"),
    "membership of a number": (lambda: MEDIAN.release(AGES, membership="mine"), "membership: one of several words"),
    "under array": (lambda: PROMISE.under(np.array(["replace", "replace"])), "neighbors: one of several words"),
    "candidates 0-d": (lambda: fx.MostCommon(1.0, np.array(3)), "sequence of candidates"),
    "tiny sensitivity": (lambda: fx.loss_bound(0, epsilon=1, sensitivity=5e-324, k=2), "rate that kernels take"),
    "epsilon_for of 0": (lambda: fx.epsilon_for(k=5, sensitivity=5e-324, expected_loss=1e308), "loss in proportion"),
    "failure tiny": (lambda: fx.error_bound([], 1.0, bounds=(0, 9), slope=1e308), "no records"),
    "size": (lambda: SELECT.sample(U, 2**63), "size beyond 64 bits"),
    "size of 1e18": (lambda: SELECT.sample(U, 10**18), "largest size"),
    "candidates range": (lambda: fx.MostCommon(1.0, range(10**18)), "candidates: entries of a list"),
    "groups range": (lambda: MEDIAN.release(AGES, by=AGES, groups=range(10**18)), "groups: entries of a list"),
    "rng range": (lambda: MEDIAN.sample(AGES, rng=range(10**18)), "rng: entries of a list"),
    "rng itself": (lambda: MEDIAN.sample(AGES, rng=ITSELF), "rng of a type"),
    "base masked": (lambda: fx.Exponential(1.0, 1.0, base=np.ma.array([1.0, 2.0], mask=[0, 1])), "base of exact numbers"),
    "person": (lambda: MEDIAN.release(AGES, by=AGES, groups=AGES, person=[-1, 2**64, 3, 4]), "person: keys that can be numbered"),
}  # fmt: skip


@each("name", WRONG)
def test_what_was_taken_is_refused(name):
    call, text = WRONG[name]
    error = outcome(call, {})
    assert error is not None
    assert says(text).search(str(error))


def test_unknown_arguments_are_type_errors():
    for call, arguments in CALLS.values():
        with pytest.raises(TypeError):
            call(**arguments, nonsense=1)


def test_persons_beyond_int64_are_those_of_an_array():
    person = [2**63, 5, 2**64 - 1, 5]
    rows = {"by": [0, 0, 0, 0], "groups": [0], "size": 20, "rng": 5}
    for form in (person, tuple(person)):
        expected = MEDIAN.sample(AGES, person=np.array(person, np.uint64), **rows)
        assert (MEDIAN.sample(AGES, person=form, **rows) == expected).all()


def test_numbers_of_numpy_do_not_overflow():
    wide = fx.Median(1.0, (0, 1000), step=0.1, widen=np.int8(100))
    assert wide.law(AGES).mean() == fx.Median(1.0, (0, 1000), step=0.1, widen=100).law(AGES).mean()


def test_a_sensitivity_that_is_no_double_is_rounded_up():
    for exact in (Fraction(1, 3), Decimal("0.3"), Decimal("0.1")):
        stated = fx.Exponential(1.0, exact).sensitivity
        assert Fraction(stated) >= Fraction(exact) > Fraction(math.nextafter(stated, 0.0))
    assert fx.Exponential(1.0, Fraction(1, 4)).sensitivity == 0.25
