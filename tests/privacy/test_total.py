"""What does a whole batched or grouped call promise? Against exact laws of all small cases."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastexp as fx
from fastexp import Guarantee, privacy
from fastexp.errors import ParameterError, ParameterTypeError
from fastexp.privacy import total
from tests.messages import raises, says
from tests.support.each import each

EPSILON, SLACK = 0.5, 1e-12
RECORDS = [(part, label) for part in range(2) for label in range(2)]


def mechanism(neighbors: str = "add-remove") -> fx.MostCommon:
    return fx.MostCommon(EPSILON, [0, 1], neighbors=neighbors)


def log_law(one: fx.MostCommon, records, rows: int, parted: bool) -> np.ndarray:
    """ln P of all joint outputs: `rows` draws of all records, or one of each part."""
    parts = [[label for part, label in records if part == p] for p in range(2)]
    if not parted:
        parts = [[label for _, label in records]]
    logs = np.zeros(1)
    for counted in parts:
        heights = float(one._weighting.rate) * np.bincount(counted, minlength=2)
        single = heights - np.logaddexp(*heights)
        for _ in range(rows):
            logs = (logs[:, None] + single).ravel()
    return logs


def worst(one, pairs, rows: int = 1, parted: bool = False) -> tuple[float, float, float]:
    """The worst log-ratio, range, and divergence of order 2 over 2."""
    ratio = span = rho = 0.0
    for first, second in pairs:
        p, q = log_law(one, first, rows, parted), log_law(one, second, rows, parted)
        ratio = max(ratio, float(abs(p - q).max()))
        span = max(span, float((p - q).max() - (p - q).min()))
        rho = max(rho, math.log(np.exp(2 * p - q).sum()) / 2)
    return ratio, span, rho


def people(groups: int, rows: int) -> list[list[tuple[int, int]]]:
    """All that one person can have: up to `rows` records in up to `groups` groups."""
    out = []
    for size in range(groups * rows + 1):
        for mine in itertools.combinations_with_replacement(RECORDS, size):
            parts = [part for part, _ in mine]
            if len(set(parts)) <= groups and all(parts.count(p) <= rows for p in parts):
                out.append(list(mine))
    return out


OTHERS = [[], [(0, 0)], [(0, 1), (1, 1), (1, 1)]]


def neighbours(neighbors: str, groups: int = 1, rows: int = 1, stays: bool = False):
    """Pairs of data sets that differ in one person."""
    mine = people(groups, rows)
    for rest in OTHERS:
        for first in mine:
            if neighbors == "add-remove":
                yield rest + first, rest
                continue
            for second in mine:
                parts = [sorted(part for part, _ in x) for x in (first, second)]
                if first and second and (parts[0] == parts[1] or not stays):
                    yield rest + first, rest + second


# own relation, relation asked, arguments of total
CASES = [
    ("add-remove", "add-remove", {"rows": 3}),
    ("add-remove", "replace", {"rows": 2}),
    ("replace", "replace", {"rows": 2}),
    ("add-remove", "add-remove", {"groups": True}),
    ("add-remove", "replace", {"groups": True}),
    ("replace", "replace", {"groups": True}),
    ("add-remove", "replace", {"groups": True, "membership": "public"}),
    ("replace", "replace", {"groups": True, "membership": "public"}),
    ("add-remove", "add-remove", {"rows": 2, "disjoint": True}),
    ("add-remove", "replace", {"rows": 2, "disjoint": True}),
    ("add-remove", "add-remove", {"rows": 2, "groups": True}),
    ("add-remove", "add-remove", {"groups": True, "max_groups": 2, "max_rows": 2}),
    ("add-remove", "replace", {"groups": True, "max_groups": 2, "max_rows": 2}),
    ("replace", "replace", {"groups": True, "max_groups": 2, "max_rows": 2}),
    ("replace", "replace", {"groups": True, "max_groups": 2, "membership": "public"}),
    ("add-remove", "add-remove", {"max_rows": 3}),
    ("add-remove", "replace", {"max_rows": 2}),
    ("replace", "replace", {"max_rows": 2}),
]


@pytest.mark.slow
@each(("own", "asked", "call"), CASES)
def test_no_pair_of_neighbours_exceeds_the_total(own, asked, call):
    one = mechanism(own)
    whole = one.total(**call, neighbors=asked)
    parted = call.get("groups", False) or call.get("disjoint", False)
    rows = 1 if call.get("disjoint") else call.get("rows", 1)
    pairs = neighbours(
        asked,
        call.get("max_groups", 1),
        call.get("max_rows", 1),
        call.get("membership") == "public",
    )
    ratio, span, rho = worst(one, pairs, rows, parted)
    assert whole.neighbors == asked
    assert ratio <= whole.epsilon + SLACK
    assert span <= whole.bounded_range + SLACK
    assert rho <= whole.rho + SLACK
    if own == "add-remove":  # counts under replace cost half of what it says (both directions)
        assert span > 0.9 * whole.bounded_range or asked == "replace"


def test_each_factor_is_needed():
    """Power: without it, some pair exceeds the promise of one draw."""
    one, single = mechanism(), EPSILON
    assert worst(one, neighbours("add-remove"), rows=2)[1] > 1.9 * single
    assert worst(one, neighbours("replace"), parted=True)[1] > 1.9 * single
    assert worst(one, neighbours("add-remove", rows=2))[1] > 1.9 * single
    assert worst(one, neighbours("add-remove", groups=2), parted=True)[1] > 1.9 * single
    assert worst(one, neighbours("replace", groups=2), parted=True)[1] > 3.8 * single


# ---- numbers ----

PROMISE = Guarantee(0.1, "add-remove", 0.1, 0.00125, 0.0, "text")
TABLE = [
    ({}, 0.1, 0.00125, "add-remove"),
    ({"rows": 3}, 0.3, 0.00375, "add-remove"),
    ({"rows": 0}, 0.0, 0.0, "add-remove"),
    ({"rows": 0, "disjoint": True}, 0.0, 0.0, "add-remove"),
    ({"rows": 3, "disjoint": True}, 0.1, 0.00125, "add-remove"),
    ({"groups": True}, 0.1, 0.00125, "add-remove"),
    ({"groups": True, "neighbors": "replace"}, 0.2, 0.005, "replace"),
    ({"rows": 3, "groups": True}, 0.3, 0.00375, "add-remove"),
    ({"rows": 3, "neighbors": "replace"}, 0.6, 0.015, "replace"),
    ({"max_rows": 3}, 0.3, 0.01125, "add-remove"),
    ({"groups": True, "max_groups": 2, "max_rows": 3}, 0.6, 0.0225, "add-remove"),
    (
        {"groups": True, "max_groups": 2, "max_rows": 3, "neighbors": "replace"},
        1.2,
        0.09,
        "replace",
    ),
]


@each(("call", "epsilon", "rho", "neighbors"), TABLE)
def test_numbers(call, epsilon, rho, neighbors):
    whole = total(PROMISE, **call)
    assert (whole.epsilon, whole.rho, whole.neighbors) == (epsilon, rho, neighbors)
    assert whole.bounded_range == epsilon


STATED = [
    (None, {}, 0.1, None),
    (None, {"rows": 3}, 0.3, None),
    (None, {"groups": True}, 0.1, "add-remove"),
    (None, {"disjoint": True, "rows": 2}, 0.1, "add-remove"),
    (None, {"max_rows": 2}, 0.2, "add-remove"),
    (None, {"groups": True, "neighbors": "replace"}, 0.2, "replace"),
    (None, {"groups": True, "neighbors": "replace", "membership": "public"}, 0.1, "replace"),
    (None, {"neighbors": "replace"}, 0.1, "replace"),
    ("both", {}, 0.1, "both"),
    ("both", {"rows": 2}, 0.2, "both"),
    ("both", {"groups": True}, 0.1, "add-remove"),
    ("both", {"groups": True, "neighbors": "replace"}, 0.2, "replace"),
    ("both", {"neighbors": "replace"}, 0.1, "replace"),
    ("replace", {}, 0.1, "replace"),
    ("replace", {"groups": True}, 0.2, "replace"),
    ("replace", {"groups": True, "membership": "public"}, 0.1, "replace"),
    ("replace", {"rows": 3, "disjoint": True}, 0.2, "replace"),
]


@each(("own", "call", "epsilon", "neighbors"), STATED)
def test_relations(own, call, epsilon, neighbors):
    whole = total(Guarantee(0.1, own, 0.1, 0.00125, 0.0, "text"), **call)
    assert (whole.epsilon, whole.neighbors) == (epsilon, neighbors)


def test_what_is_assumed_is_told():
    replace = Guarantee(0.1, "replace", None, 0.1, 0.0, "text")
    text = total(replace, groups=True, max_groups=2, max_rows=3).assumes
    assert text == (
        "at most 3 records of a person count in each of at most 2 groups; text; adding or removing "
        "a record costs no more than replacing one"
    )
    assert total(replace).assumes == "text"
    median = fx.Median(0.5, (0, 9)).total(max_rows=2).assumes
    assert median.startswith("at most 2 records of a person count; bounds and grid were chosen")
    both = Guarantee(0.1, "both", None, 0.1, 0.0, "text")
    assert total(both, groups=True, neighbors="replace").assumes == "text"


def test_delta_is_multiplied_as_a_group_and_added():
    promise = Guarantee(0.1, "add-remove", None, None, 1e-9, "")
    whole = total(promise, groups=True, max_groups=2, max_rows=3)
    assert whole.delta == pytest.approx(2 * 3 * math.exp(0.2) * 1e-9)
    assert (whole.rho, whole.bounded_range) == (None, None)
    assert total(promise, rows=3).delta == 3e-9
    assert total(promise, rows=10**12).delta == 1.0


WRONG = [
    ({"rows": -1}, says("rows: at least a number", least="0")),
    ({"max_groups": 2}, "max_groups without groups"),
    ({"max_groups": 0, "groups": True}, says("max_groups: at least a number", least="1")),
    ({"max_rows": 0}, says("max_rows: at least a number", least="1")),
    ({"membership": "known"}, "membership: one of several words"),
    ({"neighbors": "both"}, "neighbors: one of several words"),
]


@each(("call", "message"), WRONG)
def test_bad_arguments(call, message):
    with pytest.raises(ParameterError, match=says(message)):
        mechanism().total(**call)


def test_bad_types():
    for call in ({"rows": 2.0}, {"disjoint": 1}, {"groups": None}, {"max_rows": True}):
        with pytest.raises(ParameterTypeError):
            mechanism().total(**call)
    with raises("relation that is not promised"):
        mechanism("replace").total(neighbors="add-remove")


@pytest.mark.slow
@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 50), st.booleans())
def test_more_never_costs_less(rows, groups, records, public):
    call = {"membership": "public" if public else "private"}
    for own, asked in itertools.product(("add-remove", "replace", None), ("replace", "add-remove")):
        promise = Guarantee(0.1, own, 0.1, 0.00125, 1e-12, "")
        if (own, asked) == ("replace", "add-remove"):
            continue
        whole = total(
            promise,
            rows=rows,
            groups=True,
            max_groups=groups,
            max_rows=records,
            neighbors=asked,
            **call,
        )
        less = total(promise, rows=rows, groups=True, max_rows=records, neighbors=asked, **call)
        least = total(promise, rows=rows, neighbors=asked)
        for big, small in ((whole, less), (less, least)):
            assert big.epsilon >= small.epsilon
            assert big.rho >= small.rho
            assert big.delta >= small.delta
        bound = rows * groups * records * (2 if asked == "replace" else 1)
        assert whole.epsilon <= privacy.amounts.times(0.1, bound)
