"""Audits, sensitivities of scores, and bounds: do they hold, and do they see what is wrong?"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp import errors
from fastexp.errors import (
    InvalidRecords,
    InvalidUtilities,
    ParameterError,
    ParameterTypeError,
    ScoreError,
)

PAIR = [1, 2, 4, 7], [1, 2, 4]
MEDIAN = fx.Median(epsilon=1.0, bounds=(0, 10), step=1)
EXPONENTIAL = fx.Exponential(epsilon=1.0, sensitivity=1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_audit_by_laws(epsilon: float) -> None:
    """Data that use all of the promise do, and data that break it are seen to."""
    exact = fx.audit(fx.Exponential(epsilon, 1), [0, 1, 0], [1, 0, 1])
    assert 0.5 < exact.epsilon / epsilon < 1
    assert (exact.method, exact.promised, exact.refuted) == ("law", epsilon, False)
    full = fx.audit(fx.RandomizedResponse(epsilon), 0, 1)
    assert math.isclose(full.epsilon, epsilon, rel_tol=1e-12)
    assert math.isclose(full.share or 0, 1, rel_tol=1e-12)
    assert not full.refuted
    broken = fx.audit(fx.Exponential(epsilon, 0.5), [0, 9 / epsilon], [1, 9 / epsilon - 1])
    assert broken.refuted and broken.epsilon > epsilon  # noqa: PT018
    one = fx.audit(fx.Laplace(epsilon, 1, step=1), 3, 4)
    assert math.isclose(one.epsilon, epsilon, rel_tol=1e-9) and not one.refuted  # noqa: PT018
    assert fx.audit(fx.Laplace(epsilon, 1, step=1), 3, 5).refuted
    loss = MEDIAN.law(PAIR[0]).privacy_loss(MEDIAN.law(PAIR[1]))
    least = max(loss.epsilon(0.05), loss.reverse.epsilon(0.05))
    assert fx.audit(MEDIAN, *PAIR, delta=0.05).epsilon == least
    assert str(broken.epsilon) not in repr(broken)


def test_sound_promises_are_not_refuted() -> None:
    """Neither by roundings of large counts, nor by less delta than is promised."""
    for n in range(10**8, 10**8 + 60):
        assert not fx.audit(fx.Exponential(0.7, 1), [n, 0.0], [n - 1, 1.0]).refuted
    forbidden = [9.0, 0.0, -1e17], [8.0, 1.0, -1e17]  # of which logarithms have no digits left
    assert not fx.audit(fx.Exponential(0.7, 1), *forbidden).refuted
    assert fx.audit(fx.Exponential(0.7, 0.5), *forbidden).refuted
    top, pair = fx.TopK(3, epsilon=0.1, delta=0.1), ([0.0] * 6, [-1.0] * 3 + [1.0] * 3)
    assert fx.audit(top, *pair).refuted is False
    exact = fx.audit(top, *pair, delta=0)
    assert (exact.epsilon > 0.1, exact.promised, exact.refuted) == (True, None, None)
    for delta in (-0.5, 1.5):
        with pytest.raises(ParameterError, match="delta must be in"):
            fx.audit(MEDIAN, *PAIR, draws=1000, rng=1, delta=delta)


def test_audit_by_draws() -> None:
    """A bound from draws is below the truth and near it, and refutes a promise that is not kept."""
    truth = fx.audit(MEDIAN, *PAIR).epsilon
    for seed in range(20):
        found = fx.audit(MEDIAN, *PAIR, draws=20_000, rng=seed)
        assert 0.4 * truth < found.epsilon < truth
        assert (found.method, found.alpha, found.refuted) == ("draws", 0.01, False)
    same = [fx.audit(MEDIAN, PAIR[0], PAIR[0], draws=2000, alpha=0.2, rng=i) for i in range(40)]
    assert sum(bound.epsilon > 0 for bound in same) <= 16  # 8 are expected at most
    response = fx.RandomizedResponse(1.0)  # of one event, which all bounds are of
    bits = [fx.audit(response, 0, 1, draws=2000, alpha=0.4, rng=i).epsilon for i in range(60)]
    assert sum(epsilon > 1 for epsilon in bits) <= 11  # some 4 are expected, and 22 by frequencies
    broken = fx.Exponential(epsilon=1.0, sensitivity=0.5, candidates=["a", "b"])
    assert fx.audit(broken, [0, 2], [2, 0], draws=4000, rng=1).refuted
    pair = fx.TopK(2, 2.0), [3, 1, 2, 0], [2, 2, 2, 1]
    assert 0 < fx.audit(*pair, draws=50_000, rng=1).epsilon < fx.audit(*pair).epsilon
    smooth = fx.SmoothSensitivityMedian(1.0, bounds=(0, 10))
    assert fx.audit(smooth, [1, 5, 9], [1, 5, 2], draws=1000, rng=1).epsilon < 1
    rng = np.random.default_rng(1)
    biased = [partial(rng.choice, ["a", "b"], p=p) for p in ([0.9, 0.1], [0.1, 0.9])]
    found = fx.audit(*biased, draws=4000)
    assert 1.8 < found.epsilon < math.log(9)
    assert (found.promised, found.share, found.refuted) == (None, None, None)
    assert [replace(found, promised=x).refuted for x in (1, 3)] == [True, False]
    exact = replace(fx.audit(MEDIAN, *PAIR), promised=1e-3)
    small = [replace(exact, epsilon=1e-3 * (1 + x)).refuted for x in (1e-10, 0.5)]
    assert small == [False, True]
    with pytest.raises(errors.ParameterTypeError, match="or two functions"):
        fx.audit("ab", rng.random, draws=1000)
    with pytest.raises(errors.ParameterError, match="round them"):
        fx.audit(rng.random, rng.random, draws=1000)

    assert fx.audit(*biased, draws=4000, delta=0.5).epsilon < math.log(0.4 / 0.1)


def test_check_sensitivity() -> None:
    """The greatest change, exact and rounded down; the opposite signs of replaced records."""

    def counts(data: Any) -> list[int]:
        return [data.count(letter) for letter in "abc"]

    added = fx.check_sensitivity(counts, [("ab", "abc"), ("", "a")])
    assert (added.sensitivity, added.range_sensitivity, added.monotonic) == (1.0, 1.0, True)
    swapped = fx.check_sensitivity(counts, iter([("ab", "ac"), ("aa", "a")]))
    assert (swapped.range_sensitivity, swapped.monotonic, swapped.pairs) == (2.0, False, 2)
    whole = fx.check_sensitivity(lambda data: [2**62 + data, 0], [(0, 1), (3, 1)])
    assert whole.sensitivity == 2
    sums = fx.check_sensitivity(lambda data: [math.fsum(data), 0.0], [([0.1, 0.2], [0.1])])
    assert 0.2 < sums.sensitivity <= 0.30000000000000004 - 0.1
    third = fx.check_sensitivity(lambda data: [data, 0.0], [(1.0, 2.0**-60)])
    assert third.sensitivity == math.nextafter(1, 0)


def test_error_bound() -> None:
    """The theorem holds for the exact law, and its figures are those of its formula."""
    rng = np.random.default_rng(5)
    for n, epsilon in ((2001, 1.0), (500, 3.0), (101, 10.0)):
        records = rng.normal(40, 8, n)
        law = fx.Median(epsilon, (0, 120), convention="lower").law(records)
        for failure in (0.05, 0.3):
            bound = fx.error_bound(records, epsilon, bounds=(0, 120), failure=failure)
            assert law.error_quantile(1 - failure, np.sort(records)[(n - 1) // 2]) <= bound
    ages = [20 + i / 50 for i in range(2001)]
    bound = fx.error_bound(ages, 1.0, bounds=(0, 120))
    # Of a record each 0.02, a step is as long; W solves W = ln(120 / (0.02 * 0.05 * W)).
    slope, w = 0.02, 9.0
    for _ in range(50):
        w = math.log(120 / (slope * 0.05 * w))
    spread = max(slope * (i + 1) * math.exp(-i / (4 * w)) for i in range(200))
    expected = 4 * (math.e - 1) * spread * w
    assert math.isclose(bound, expected, rel_tol=0.02)
    assert math.isclose(
        fx.error_bound(ages, 1.0, bounds=(0, 120), slope=0.016), expected, rel_tol=0.1
    )
    with pytest.raises(ParameterError, match="slope"):
        fx.error_bound(ages, 1.0, bounds=(0, 120), slope=1.0)


def test_loss_bound() -> None:
    """The loss is reached at most so often, with data and without; half as far if monotonic."""
    for u in [0] * 8 + [9], [5, 5, 5, 1, 0], list(range(30)):
        best = u.count(max(u))
        law = fx.Exponential(1.5, 2).law(u)
        for t in (0, 0.5, 3):
            for optimal in (1, best):
                bound = fx.loss_bound(t, epsilon=1.5, sensitivity=2, k=len(u), optimal=optimal)
                assert law.tail(bound) <= math.exp(-t)
                assert math.isclose(bound, 4 / 1.5 * (math.log(len(u) / optimal) + t))
    half = fx.loss_bound(1.0, epsilon=1, sensitivity=1, k=9, monotonic=True)
    assert half == fx.loss_bound(1.0, epsilon=1, sensitivity=1, k=9) / 2


def test_refusals() -> None:
    def wrong(_: Any) -> Any:
        raise ValueError("secret")

    bound = partial(fx.error_bound, epsilon=1.0, bounds=(0, 9))
    cases: list[tuple[Any, Any]] = [
        (lambda: fx.audit(MEDIAN, *PAIR, draws=9), ParameterError),
        (lambda: fx.audit(MEDIAN, *PAIR, draws=1000, alpha=1.5), ParameterError),
        (lambda: fx.audit(print, print), ParameterTypeError),
        (lambda: fx.audit(3, [1], [2]), ParameterTypeError),
        (lambda: fx.audit(fx.Quantiles([0.5, 0.9], 1.0, (0, 1)), [1], [2]), ParameterError),
        (lambda: fx.check_sensitivity(wrong, [(1, 2)]), ScoreError),
        (lambda: fx.check_sensitivity(len, [1]), ScoreError),
        (lambda: fx.check_sensitivity(lambda x: [x, 0], []), ParameterError),
        (lambda: fx.check_sensitivity(lambda x: [0] * x, [(2, 3)]), ParameterError),
        (lambda: fx.check_sensitivity(lambda _: [[1, 2]], [(2, 3)]), ParameterTypeError),
        (lambda: fx.check_sensitivity(lambda _: [1, math.nan], [(2, 3)]), InvalidUtilities),
        (lambda: bound([]), InvalidRecords),
        (lambda: bound([1, math.nan]), InvalidRecords),
        (lambda: bound([[1, 2]]), ParameterTypeError),
        (lambda: bound([1], failure=2), ParameterError),
        (lambda: bound([1], slope=-1), ParameterError),
        (lambda: fx.loss_bound(-1, epsilon=1, sensitivity=1, k=3), ParameterError),
        (lambda: fx.loss_bound(1, epsilon=1, sensitivity=1, k=3, optimal=4), ParameterError),
    ]
    for call, error in cases:
        with pytest.raises(error) as caught:
            call()
        assert "secret" not in str(caught.value)
