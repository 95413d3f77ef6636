"""Deterministic checks of private groups: the rule, its coins, who is counted, what is paid.

Plain functions, so that `tests/mutants` can run them against broken copies of the package,
without the compiler (`python -m tests.support.checks.private_groups`).
"""

from __future__ import annotations

import contextlib
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

import fastexp as fx
from tests.doors.grouped import WORDS, Segments, draw_all, private_groups
from tests.doors.query import execute
from tests.doors.reference import exact
from tests.support.altered import changed

BITS = 256
TOP = (1 << 64) - 1
RULE_A, RULE_B = fx.PrivateGroups(1e-9, 1.0), fx.PrivateGroups(1e-9)
CERTAIN = RULE_A.smallest(1.0)
WAY = fx.MostCommon(1.0, ["a", "b"])
TOTALLED = fx.Quantiles([0.5], 1.0, bounds=(0, 3), step=1, with_total=True)


def rule_is_private(epsilon: float, delta: float) -> None:
    """Four inequalities between neighbouring numbers of persons; a greater number breaks one."""
    low, high = private_groups.bounds_of(epsilon, delta, BITS)
    falls = [Fraction(x, 1 << BITS) for x in exact.exp_bounds(Fraction(epsilon), BITS)]
    unit, exact_delta, slack = Fraction(1, 1 << BITS), Fraction(delta), Fraction(1, 1 << 150)
    pairs = [*zip(low, high, strict=True)][:61]
    assert pairs[0] == (0, 0)
    finer = private_groups.bounds_of(epsilon, delta, 2 * BITS)
    for (p_low, p_high), finer_low, finer_high in zip(pairs, *finer, strict=False):
        assert p_low << BITS <= finer_low <= finer_high <= p_high << BITS
    for (low_before, high_before), (p_low, p_high) in itertools.pairwise(pairs):
        assert 0 <= p_high - p_low < 1 << 64
        before, p = high_before * unit, p_low * unit
        assert p > low_before * unit
        assert broken(p, before, falls[1], exact_delta) <= slack
        if p < 1:
            more = min(p + Fraction(1, 10**12), Fraction(1))
            assert broken(more, low_before * unit, falls[0], exact_delta) > 0


def broken(p: Fraction, before: Fraction, fall: Fraction, delta: Fraction) -> Fraction:
    """By how much one of the four inequalities fails."""
    pairs = (p, before), (before, p), (1 - p, 1 - before), (1 - before, 1 - p)
    return max(one - other / fall - delta for one, other in pairs)


def thresholds_are_least() -> None:
    """Multiples of the total's step, from 2 * (max_rows + ln(1 / delta) / epsilon) on."""
    for epsilon, delta, max_rows in ((1.0, 1e-8, 1), (0.3, 1e-5, 2), (2.5, 1e-3, 3), (20, 1e-9, 1)):
        step = 1 << (math.ceil(8 / epsilon) - 1).bit_length()
        threshold = fx.PrivateGroups(delta).threshold(epsilon, max_rows)
        least = 2 * (max_rows + math.log(1 / delta) / epsilon)
        assert threshold % step == 0
        assert least - 1e-9 <= threshold < least + step


class Given:
    """Words that are the same for every group, and further ones."""

    keyed = False

    def __init__(self, word: int, further: int) -> None:
        self._word, self._further = word, further

    def round(self, first: int, last: int, size: int, *_: object) -> Any:
        words = np.full(WORDS * size * (last - first), self._word, np.uint64)
        return words, lambda *_: lambda: self._further


def coins_are_exact() -> None:
    """Words below, at and above the probability; at it, further words decide."""
    rules = RULE_A, fx.PrivateGroups(1e-30, 1.0)
    numbers = [(rule, rule.smallest(1.0) + i) for rule in rules for i in (-20, -1, 0, 9)]
    for rule, n in [*numbers, (RULE_A, 0), (RULE_A, 1), (rules[1], 1)]:
        coin = private_groups.Appearance(rule, 2, WAY)
        low, _ = private_groups.bounds_of(1.0, rule.delta, BITS)
        p = Fraction(low[min(n, len(low) - 1)], 1 << BITS)
        at = math.floor(p * (1 << 64))
        for word, further, wanted in (
            (at - 1, TOP, True),
            (at, 0, p > 0),
            (at, TOP, p == 1),
            (at + 1, 0, p == 1),
            (TOP, TOP, p == 1),
        ):
            if 0 <= word <= TOP:
                rows = max(2 * n - 1, 0)  # two rows a person, rounded up
                segments = Segments(np.zeros(rows, np.int64), np.array([0, rows]))
                draws = private_groups.AppearanceDraws(coin, segments, Given(word, further), 1)
                assert draw_all(draws, 1, 1).tolist() == [[int(wanted)]], (n, word, further)


def rows_of(*groups: tuple[int, int]) -> dict[str, Any]:
    """Groups of so many persons, of so many rows each."""
    shop = np.repeat(np.arange(len(groups)), [persons * rows for persons, rows in groups])
    person = np.concatenate(
        [np.arange(persons).repeat(rows) + 1000 * i for i, (persons, rows) in enumerate(groups)]
    )
    return {"shop": shop, "person": person, "x": np.array(["a", "b"])[person % 2], "y": person % 4}


def persons_are_counted() -> None:
    """Not their rows; without a column of persons, rows by the claim of each one's."""
    frame = rows_of((CERTAIN, 1), (CERTAIN // 4, 4), (1, 1), (CERTAIN, 4))
    for limits, wanted in (
        ({"person": "person", "max_rows": 4}, [0, 3]),
        ({"person": "person", "max_rows": 1}, [0, 3]),
        ({"max_rows": 4}, [3]),
    ):
        query = fx.Query(by="shop", groups=RULE_A, **limits)
        for more in ({}, {"key": fx.release_key()}):
            released = query.release(frame, {"x": (WAY, "x")}, **more)
            assert released["shop"].tolist() == wanted
            assert len(released["x"]) == len(wanted)
        options = {"by": frame["shop"], "groups": RULE_A, "max_rows": limits["max_rows"]}
        options |= {"person": frame["person"]} if "person" in limits else {}
        assert WAY.release(frame["x"], **options)[0] == wanted


def totals_decide() -> None:
    """A total that just reaches the threshold is enough; no record, and none is."""
    frame, key = rows_of((40, 1), (60, 1)), fx.release_key()
    frame["y"] = np.where(frame["shop"] == 1, frame["y"], np.nan)
    query = fx.Query(by="shop", groups=RULE_B, person="person")
    answers = {"y": (TOTALLED, "y"), "x": (WAY, "x")}
    with changed((fx.PrivateGroups, "threshold", lambda *_: 0)):
        released = query.release(frame, answers, nan="drop", key=key)
    assert released["shop"].tolist() == [1]
    total = int(released["y"][0, -1])
    for threshold, wanted in ((total, [1]), (total + 1, [])):
        with changed((fx.PrivateGroups, "threshold", lambda *_, t=threshold: t)):
            released = query.release(frame, answers, nan="drop", key=key)
        assert released["shop"].tolist() == wanted
    values, by = frame["y"][frame["shop"] == 1], frame["shop"][frame["shop"] == 1]
    asked = {"by": by, "groups": RULE_B, "key": key, "label": "y"}
    with changed((fx.PrivateGroups, "threshold", lambda *_: 0)):
        total = int(TOTALLED.release(values, **asked)[1][1][0])
    for threshold, wanted in ((total, [1]), (total + 1, [])):
        with changed((fx.PrivateGroups, "threshold", lambda *_, t=threshold: t)):
            assert TOTALLED.release(values, **asked)[0] == wanted
    late = fx.Quantiles([0.5], 0.1, bounds=(0, 3), step=1, with_total=True)
    assert private_groups.deciding(RULE_B, [WAY, late, TOTALLED, TOTALLED], 1) == (
        2,
        RULE_B.threshold(1.0),
    )


def promises_add_up() -> None:
    """(m * (epsilon + g * answers), m * delta), and twice that where a person is replaced."""
    for groups, own in ((RULE_A, 1.0), (RULE_B, 0.0)):
        query = fx.Query(by="shop", groups=groups, person="person", max_groups=3, max_rows=2)
        answers = {"y": (TOTALLED, "y"), "x": (WAY, "x")}
        for neighbors, steps in (("add-remove", 1), ("replace", 2)):
            total = query.total(answers, neighbors=neighbors)
            assert total.epsilon == steps * 3 * (own + 2 * 2.0)
            assert abs(total.delta - steps * 3e-9) < 1e-20
            assert total.rho is None
        budget = fx.Budget(epsilon=30, delta=1e-6)
        query.release(rows_of((3, 1)), answers, budget=budget)
        assert (budget.spent, round(budget.spent_delta, 12)) == (3 * (own + 4.0), 3e-9)


def begun_draws_are_not_repeated() -> None:
    """A run that ended between its charge and its answers has used up its label."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    query, answers = fx.Query(by="shop", groups=RULE_A, person="person"), {"x": (WAY, "x")}
    for key in (None, fx.release_key()):
        budget = fx.Budget(epsilon=9, delta=1e-6)
        asked = {"budget": budget, "label": "shops", "key": key}
        with changed((execute, "answered", interrupted)), contextlib.suppress(KeyboardInterrupt):
            query.release(rows_of((CERTAIN, 1)), answers, **asked)
        assert budget.charges == 1
        for other in (key, fx.release_key()):  # another key would have other words
            refused = False
            try:
                query.release(rows_of((CERTAIN, 1)), answers, **{**asked, "key": other})
            except fx.errors.LabelError:
                refused = True
            assert refused
    session = fx.Session(rows_of((9, 1)), budget=fx.Budget(epsilon=9, delta=1e-6), max_rows=2)
    refused = False
    try:
        session.release(fx.Query(by="shop", groups=RULE_A), answers)
    except fx.errors.ParameterError:
        refused = True
    assert refused


def run() -> None:
    """Everything, small enough for the interpreter."""
    for epsilon, delta in ((0.5, 1e-9), (2.0, 1e-3)):
        rule_is_private(epsilon, delta)
    thresholds_are_least()
    coins_are_exact()
    promises_add_up()
    persons_are_counted()
    totals_decide()
    begun_draws_are_not_repeated()


if __name__ == "__main__":
    run()
