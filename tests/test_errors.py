"""Does a wrong call raise its class, with a message that helps and says nothing of the data?

A message of a public parameter names it, what is required, and what was got. Data contain the
number 987654.25 and messages must not: they are the same for all data.
"""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp import errors

SECRET = 987654.25
SECRETS = "987654", "7654.25"
VALUE, TYPE = errors.ParameterError, errors.ParameterTypeError
CHOOSE, MEDIAN = fx.Exponential(1.0, 1.0), fx.Median(1.0, (0, 9), step=1)
LABELS = fx.Exponential(1, 1, candidates=["a", "b", "c"])
SEQUENCE = "a sequence, as [1, 2]"
DAYS = fx.Median(1, (date(2024, 1, 1), date(2025, 1, 1)))
BASED = fx.Exponential(1, 1, base=[1, 0, 2])
Call = Callable[[], Any]


def scored(score: Any) -> Any:
    return fx.Exponential.from_score(score, ["a", "b"], epsilon=1, sensitivity=1)


# What is wrong, the class, words of the message.
PARAMETERS: list[tuple[Call, type[Exception], tuple[str, ...]]] = [
    (lambda: fx.Exponential(0, 1), VALUE, ("epsilon", "> 0", "got 0")),
    (lambda: fx.Exponential(-0.5, 1), VALUE, ("epsilon", "> 0", "got -0.5")),
    (lambda: fx.Exponential(float("nan"), 1), VALUE, ("epsilon", "finite", "got nan")),
    (lambda: fx.Exponential(float("inf"), 1), VALUE, ("epsilon", "finite", "got inf")),
    (lambda: fx.Exponential(Decimal("NaN"), 1), VALUE, ("epsilon", "finite", "got NaN")),
    (lambda: fx.Exponential("1", 1), TYPE, ("epsilon", "number", "got str")),
    (lambda: fx.Exponential(None, 1), TYPE, ("epsilon", "number", "got NoneType")),
    (lambda: fx.Exponential(True, 1), TYPE, ("epsilon", "number", "got")),
    (lambda: fx.Exponential([1], 1), TYPE, ("epsilon", "number", "got list")),
    (lambda: fx.Exponential(1 + 0j, 1), TYPE, ("epsilon", "number", "got complex")),
    (lambda: fx.Exponential(1e-300, 1e30), VALUE, ("epsilon", "sensitivity", "got 1e-300")),
    (lambda: fx.Exponential(1e300, 1e-30), VALUE, ("epsilon", "sensitivity", "got 1e+300")),
    (lambda: fx.Exponential(1, 0), VALUE, ("sensitivity", "> 0", "got 0")),
    (lambda: fx.Exponential(1, -2), VALUE, ("sensitivity", "> 0", "got -2")),
    (lambda: fx.Exponential(1, float("inf")), VALUE, ("sensitivity", "finite", "got inf")),
    (lambda: fx.Exponential(1, "2"), TYPE, ("sensitivity", "number", "got str")),
    (
        lambda: fx.Exponential(1, 1, monotonic="no"),
        TYPE,
        ("monotonic", "True or False", "got 'no'"),
    ),
    (lambda: fx.Exponential(1, 1, monotonic=1), TYPE, ("monotonic", "True or False", "got 1")),
    (lambda: fx.Exponential(1, 1, candidates=["a"]), VALUE, ("candidates", "two or more")),
    (lambda: fx.Exponential(1, 1, candidates=[]), VALUE, ("candidates", "two or more", "got 0")),
    (lambda: fx.Exponential(1, 1, candidates=["a", "a"]), VALUE, ("candidates", "distinct")),
    (lambda: fx.Exponential(1, 1, candidates=[1, 1.0]), VALUE, ("candidates", "distinct")),
    (lambda: fx.Exponential(1, 1, candidates=[float("nan"), 1]), VALUE, ("candidates", "distinct")),
    (lambda: fx.Median(1, 7), TYPE, ("bounds", "two public numbers", "got int")),
    (
        lambda: DAYS.release([datetime(2024, 5, 1, 7)]),
        TYPE,
        ("records", "must be dates, got timestamps; or give datetimes as bounds"),
    ),
    (lambda: DAYS.release(["2024-05-01"]), TYPE, ("records", "must be dates, got text")),
    (
        lambda: fx.expected_errors([[1, 2], [1]], [fx.Median(1, (0, 9))]),
        TYPE,
        ("records", "(rows, n) for rows of equal length"),
    ),
    (
        lambda: fx.Study({"m": fx.Median(1, (0, 9))}, {"d": [1]}, epsilon=1, n=[5]),
        TYPE,
        ("epsilon", SEQUENCE, "got 1"),
    ),
    (
        lambda: fx.Study({"m": fx.Median(1, (0, 9))}, {"d": [1]}, epsilon=[1], n=5),
        TYPE,
        ("n", SEQUENCE, "got 5"),
    ),
    (lambda: fx.Exponential(1, 1, candidates="ab"), TYPE, ("candidates", "sequence", "got str")),
    (lambda: fx.Exponential(1, 1, candidates={"a", "b"}), TYPE, ("candidates", "sequence", "set")),
    (lambda: fx.Exponential(1, 1, candidates=3), TYPE, ("candidates", "sequence", "got int")),
    (lambda: fx.Exponential(1, 1, candidates=[[1], [2]]), TYPE, ("candidates", "hashable")),
    (lambda: fx.Exponential(1, 1, base=[1, -1]), VALUE, ("base", "0 or a number")),
    (lambda: fx.Exponential(1, 1, base=[1, float("nan")]), VALUE, ("base", "2**1024")),
    (lambda: fx.Exponential(1, 1, base=[1, float("inf")]), VALUE, ("base", "2**1024")),
    (lambda: fx.Exponential(1, 1, base=[1, 0]), VALUE, ("base", "more than 0", "two")),
    (lambda: fx.Exponential(1, 1, base=[1, 1, 5e-324]), VALUE, ("base", "2**-1022")),
    (lambda: fx.Exponential(1, 1, base=[[1, 1]]), TYPE, ("base", "one-dimensional")),
    (lambda: fx.Exponential(1, 1, base="11"), TYPE, ("base", "numbers")),
    (lambda: fx.Exponential(1, 1, base=[True, True]), TYPE, ("base", "numbers")),
    (
        lambda: fx.Exponential(1, 1, base=[1, 1], candidates=[1, 2, 3]),
        VALUE,
        ("base", "each", "got 2"),
    ),
    (
        lambda: fx.Exponential.from_score(None, ["a", "b"], epsilon=1, sensitivity=1),
        TYPE,
        ("score", "function"),
    ),
    (lambda: fx.Median(0, (0, 9)), VALUE, ("epsilon", "> 0", "got 0")),
    (lambda: fx.Median(1, None), TYPE, ("bounds", "two", "lower", "upper")),
    (lambda: fx.Median(1, "09"), TYPE, ("bounds", "two", "lower", "upper")),
    (lambda: fx.Median(1, (0,)), TYPE, ("bounds", "two", "lower", "upper")),
    (lambda: fx.Median(1, (0, None)), TYPE, ("bounds", "number", "got NoneType")),
    (lambda: fx.Median(1, (9, 0)), VALUE, ("bounds", "lower", "got (9, 0)")),
    (lambda: fx.Median(1, (9, 9)), VALUE, ("bounds", "lower", "got (9, 9)")),
    (lambda: fx.Median(1, (0, float("inf"))), VALUE, ("bounds", "finite", "got inf")),
    (lambda: fx.Median(1, (0, float("nan"))), VALUE, ("bounds", "finite", "got nan")),
    (lambda: fx.Median(1, (0, 2**64), step=1), VALUE, ("step", "bounds", "2**40", "got")),
    (lambda: fx.Median(1, (0, 9), step=2), VALUE, ("step", "divide the bounds", "got step 2")),
    (lambda: fx.Median(1, (0, 9), step=0), VALUE, ("step", "> 0", "got step 0")),
    (lambda: fx.Median(1, (0, 9), step=-1), VALUE, ("step", "> 0", "got step -1")),
    (lambda: fx.Median(1, (0, 9), step="1"), TYPE, ("step", "number", "got str")),
    (lambda: fx.Median(1, (0, 9), step=True), TYPE, ("step", "number", "got")),
    (lambda: fx.Median(1, (0, 9), step=1e-30), VALUE, ("step", "larger", "got step 1e-30")),
    (
        lambda: fx.Median(1, (0, 9), neighbors="both"),
        VALUE,
        ("neighbors", "'add-remove' or 'replace'", "got 'both'"),
    ),
    (lambda: fx.Median(1, (0, 9), neighbors=None), VALUE, ("neighbors", "got None")),
    (lambda: fx.probabilities([1, 2], 0), VALUE, ("epsilon", "> 0", "got 0")),
    (lambda: fx.probabilities([1, 2], 1, 0), VALUE, ("sensitivity", "> 0", "got 0")),
    (
        lambda: fx.log_normalizer([1, 2], 1, monotonic=2),
        TYPE,
        ("monotonic", "True or False", "got 2"),
    ),
    (lambda: fx.log_normalizer([1, 2], 1, base=[1, 1, 1]), VALUE, ("base", "each", "got 3")),
    (lambda: fx.median_utilities([1], bounds=(1, 0)), VALUE, ("bounds", "lower", "got (1, 0)")),
    (lambda: fx.median_utilities([1], bounds=(0, 1), neighbors=1), VALUE, ("neighbors", "got 1")),
    (lambda: fx.median_utilities([1], bounds=(0, 1), points="a"), TYPE, ("points", "numbers")),
    (lambda: CHOOSE.sample([1, 2], 1.5), TYPE, ("size", "integer", "got float")),
    (lambda: CHOOSE.sample([1, 2], True), TYPE, ("size", "integer", "got bool")),
    (lambda: CHOOSE.sample([1, 2], (2, 3)), TYPE, ("size", "integer", "got tuple")),
    (lambda: CHOOSE.sample([1, 2], -1), VALUE, ("size", "between", "got -1")),
    (lambda: CHOOSE.sample([1, 2], 1 << 60), VALUE, ("size", "between", f"got {1 << 60}")),
    (lambda: CHOOSE.sample([1, 2], rng=-1), TYPE, ("rng", "SeedSequence", "got")),
    (lambda: CHOOSE.sample([1, 2], rng=1.5), TYPE, ("rng", "SeedSequence", "got float")),
    (lambda: CHOOSE.sample([1, 2], rng="1"), TYPE, ("rng", "SeedSequence", "got str")),
    (lambda: CHOOSE.sample([1, 2], rng=True), TYPE, ("rng", "SeedSequence", "got bool")),
    (lambda: CHOOSE.sample([1, 2], rng=[1, -1]), TYPE, ("rng", "SeedSequence", "got list")),
    (lambda: CHOOSE.sample([1, 2], rng=np.random), TYPE, ("rng", "SeedSequence", "got module")),
    (
        lambda: CHOOSE.sample([1, 2], rng=np.random.RandomState(1)),
        TYPE,
        ("rng", "SeedSequence", "got RandomState"),
    ),
    (
        lambda: CHOOSE.sample([1, 2], streams=[1, 2]),
        VALUE,
        ("streams", "integer in [0, 2**64)", "row"),
    ),
    (lambda: CHOOSE.sample([1, 2], streams=1), VALUE, ("streams", "integer in [0, 2**64)", "row")),
    (
        lambda: CHOOSE.sample([1, 2], streams=[-1]),
        VALUE,
        ("streams", "integer in [0, 2**64)", "row"),
    ),
    (
        lambda: CHOOSE.sample([1, 2], streams=[1.0]),
        VALUE,
        ("streams", "integer in [0, 2**64)", "row"),
    ),
    (lambda: CHOOSE.sample([1, 2], streams=[1 << 64]), VALUE, ("streams", "integer in [0, 2**64)")),
]

UTILITIES: list[Any] = [
    [SECRET],
    [],
    SECRET,
    None,
    str(SECRET),
    b"987654.25",
    [str(SECRET), "1"],
    [SECRET, "a"],
    [SECRET, 1 + 1j],
    [[SECRET, 1], [2]],
    [True, False],
    {SECRET, 1.0},
    {SECRET: 1, 2: 2},
    iter([SECRET, 1]),
    (x for x in [SECRET, 1]),
    [int(SECRET) << 70, 1],
    [Decimal(SECRET), Decimal(1)],
    np.array([int(SECRET), 1], "M8[s]"),
    np.array([int(SECRET), 1], "m8[s]"),
    np.array([SECRET, 1], np.longdouble),
    np.array([(SECRET, 1)], "f8, f8"),
    np.full((2, 2, 2), SECRET),
    np.array(SECRET),
    [(1 << 53) + 1, SECRET],
    ((1 << 53) + 1, SECRET),
    deque([(1 << 53) + 1, SECRET]),
    [-987654, (1 << 64) - 987654],
]
GAPS: list[Any] = [[SECRET, None], np.ma.masked_array([SECRET, 1], [False, True])]
RECORDS = [x for x in UTILITIES[2:] if not isinstance(x, (set, dict))] + [{SECRET}, {"a": SECRET}]


def fails(call: Call) -> Exception:
    with pytest.raises(Exception) as info:  # noqa: PT011
        call()
    return info.value


@pytest.mark.parametrize("case", range(len(PARAMETERS)))
def test_parameters(case: int) -> None:
    call, kind, words = PARAMETERS[case]
    error = fails(call)
    assert type(error) is kind
    assert isinstance(error, errors.FastexpError)
    assert all(word in str(error) for word in words), str(error)
    assert str(error).startswith(words[0])
    assert error.__cause__ is error.__context__ is None or error.__suppress_context__


def check_data(error: Exception, name: str) -> str:
    """Check that an error of data names them, says nothing of them, and has no other behind it."""
    assert type(error) in (VALUE, TYPE), repr(error)
    assert name in str(error)
    assert "must" in str(error)
    assert not any(secret in str(error) for secret in SECRETS)
    assert error.__cause__ is None
    assert error.__context__ is None
    return str(error)


@pytest.mark.parametrize("case", range(len(UTILITIES + GAPS)))
def test_utilities(case: int) -> None:
    data = (UTILITIES + GAPS)[case]
    for call in (
        lambda: CHOOSE.release(data),
        lambda: CHOOSE.sample(data, 3, rng=1),
        lambda: LABELS.release(data),
        lambda: BASED.sample(data, rng=1),
        lambda: fx.probabilities(data, 1),
        lambda: fx.log_normalizer(data, 1),
    ):
        check_data(fails(call), "utilities")


@pytest.mark.parametrize("case", range(len(RECORDS)))
def test_records(case: int) -> None:
    data = RECORDS[case]
    for call in (
        lambda: MEDIAN.release(data),
        lambda: MEDIAN.sample(data, 3, rng=1),
        lambda: fx.median_utilities(data, bounds=(0, 9)),
    ):
        check_data(fails(call), "records")


def test_numbers_of_candidates() -> None:
    for mechanism in (LABELS, BASED):
        for data in ([SECRET, 1], [SECRET] * 4, [[SECRET, 1]] * 2):
            message = check_data(fails(lambda m=mechanism, d=data: m.sample(d, rng=1)), "utilities")
            assert "3 numbers" in message
            assert f"got {np.shape(data)[-1]}" in message


def test_a_release_answers_once() -> None:
    for mechanism in (CHOOSE, MEDIAN):
        for rows in ([[SECRET, 1]], [[SECRET, 1]] * 2):
            assert "one" in check_data(fails(lambda m=mechanism, x=rows: m.release(x)), "data")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_utilities_that_are_not_finite(bad: float) -> None:
    """One constant message, by every path and wherever the utility is."""
    messages = set()
    for k in (2, 3, 40, 1024, 1025, 3000):
        for at in {0, 1, k // 2, k - 1}:
            u = np.full(k, SECRET)
            u[at] = bad
            based = fx.Exponential(1, 1, base=[0, *[1] * (k - 1)]) if k > 2 else CHOOSE
            for call in (
                lambda u=u: CHOOSE.release(u),
                lambda u=u, m=based: m.release(u),
                lambda u=u: CHOOSE.sample(u, rng=1),
                lambda u=u: CHOOSE.sample(u, 3, rng=1),
                lambda u=u: CHOOSE.sample(u, 300, rng=1),
                lambda u=u, m=based: m.sample(u, 300, rng=1),
                lambda u=u: CHOOSE.sample([np.zeros(u.size), u], rng=1),
                lambda u=u: CHOOSE.sample([np.zeros(u.size), u], 9, rng=1),
                lambda u=u: fx.probabilities(u, 1),
                lambda u=u: fx.log_normalizer([u, u], 1),
                lambda u=u, at=at: scored(lambda _, c: u[at - (c == "a")]).release(0),
                lambda k=k: CHOOSE.release([*range(1, k), bad]),
                lambda k=k: CHOOSE.sample([[bad, *range(1, k)]] * 2, rng=1),
            ):
                error = fails(call)
                assert type(error) is errors.InvalidUtilities, (k, at)
                assert error.__cause__ is error.__context__ is None
                messages.add(str(error))
    (message,) = messages
    assert message.startswith("utilities must be finite")


def test_missing_records() -> None:
    """One constant message, of short data, long ones and rows."""
    messages = set()
    for n in (1, 2, 100, 3000, 20_000):
        before = np.full(n, 9.0)  # a row whose regular sample misleads
        before[np.arange(256) * n // 256] = 0.0
        for at in {0, n // 2, n - 1}:
            x = np.full(n, SECRET)
            x[at] = np.nan
            for call in (
                lambda x=x: MEDIAN.release(x),
                lambda x=x: MEDIAN.release(x.tolist()),
                lambda n=n: MEDIAN.release([*range(1, n), float("nan")]),
                lambda x=x: MEDIAN.sample(x, 30, rng=1),
                lambda x=x, before=before: MEDIAN.sample([before, x], rng=1),
                lambda x=x: fx.median_utilities(x, bounds=(0, 9)),
            ):
                error = fails(call)
                assert type(error) is errors.InvalidRecords, (n, at)
                assert error.__cause__ is error.__context__ is None
                messages.add(str(error).partition(":")[0])
    assert messages == {"records must not be missing (NaN)"}


class Leak(Exception):
    """What a user's score, or a library in it, may raise."""


def raising(data: Any, _: str) -> float:
    held = [data]
    try:
        raise ValueError(f"a cell: {held}")
    except ValueError as error:
        raise Leak(data) from error


@pytest.mark.parametrize("size", [None, 3, "release"])
def test_a_score_that_fails(size: Any) -> None:
    """Its exception is withheld: message, cause, context and frames, as they quote cells."""
    mechanism, messages = scored(raising), set()
    for data in (SECRET, [SECRET, "another"]):
        verb = mechanism.release if size == "release" else lambda x: mechanism.sample(x, size)
        error = fails(lambda d=data, verb=verb: verb(d))
        assert type(error) is errors.ScoreError
        assert error.__cause__ is error.__context__ is None
        names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        assert "raising" not in names
        assert not any(secret in repr((error.args, vars(error))) for secret in SECRETS)
        messages.add(str(error))
    assert len(messages) == 1
    assert "score" in messages.pop()


@pytest.mark.parametrize(
    "value",
    [
        None,
        str(SECRET),
        [SECRET],
        1j,
        True,
        Decimal(SECRET),
        np.full(2, SECRET),
        int(SECRET) << 70,
    ],
)
def test_a_score_that_is_no_number(value: Any) -> None:
    error = fails(lambda: scored(lambda *_: value).release([SECRET]))
    assert isinstance(error, errors.FastexpError), repr(error)
    assert not any(secret in str(error) for secret in SECRETS)
    assert error.__cause__ is error.__context__ is None


def test_scores_that_numpy_would_round() -> None:
    """An integer above 2**53 beside a float: the sensitivity would not hold."""
    error = fails(lambda: scored(lambda _, c: (1 << 53) + 1 if c == "a" else 0.5).release([SECRET]))
    assert isinstance(error, errors.FastexpError), repr(error)


def test_an_interrupt_is_not_withheld() -> None:
    def interrupt(_: Any, __: str) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scored(interrupt).release([1])


def test_reprs_hold_no_data() -> None:
    """A mechanism that has drawn knows nothing of the data."""
    for mechanism in (CHOOSE, MEDIAN):
        mechanism.release([SECRET, 1.0])
        mechanism.sample([SECRET, 1.0], 300, rng=1)
        state = repr(mechanism) + repr(vars(mechanism)) + repr(mechanism.guarantee)
        assert not any(secret in state for secret in SECRETS)
