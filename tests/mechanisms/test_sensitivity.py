"""Is the sensitivity that is found always shown by a pair, and never above the truth?"""

# ruff: noqa: E501  (a table, a row a case)

from __future__ import annotations

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from fastexp import check_sensitivity
from tests.doors.mechanisms import score_extremes as _extremes
from tests.messages import says
from tests.support.each import each

LABELS = ["a", "b", "c"]


def counts(data: list[str]) -> list[int]:
    return [data.count(label) for label in LABELS]


def small_data(most: int = 3):
    """All data sets of up to `most` records."""
    for n in range(most + 1):
        yield from itertools.product(LABELS, repeat=n)


def added():
    return ((data, (*data, label)) for data in small_data() for label in LABELS)


def replaced():
    return (
        (data, (*data[:i], label, *data[i + 1 :]))
        for data in small_data()
        for i in range(len(data))
        for label in LABELS
    )


class TestKnownSensitivities:
    """All neighbours of small data: the bound is the truth."""

    def test_counts_when_records_are_added(self):
        found = check_sensitivity(counts, added())
        assert (found.sensitivity, found.range_sensitivity, found.monotonic) == (1.0, 1.0, True)
        assert found.pairs == 3 * (1 + 3 + 9 + 27)

    def test_counts_when_records_are_replaced(self):
        found = check_sensitivity(counts, replaced())
        assert (found.sensitivity, found.range_sensitivity, found.monotonic) == (1.0, 2.0, False)

    def test_a_score_of_one_candidate_at_a_time(self):
        by_one = check_sensitivity(lambda data, r: data.count(r), replaced(), candidates=LABELS)
        assert by_one == check_sensitivity(counts, replaced())

    def test_the_direction_of_a_pair_does_not_matter(self):
        turned = ((b, a) for a, b in added())
        assert check_sensitivity(counts, turned) == check_sensitivity(counts, added())

    def test_nothing_that_changes(self):
        found = check_sensitivity(lambda data: [3.0, 4.0], [(0, 1)])
        assert found == fx.SensitivityLowerBound(0.0, 0.0, True, 1)

    def test_a_pair_that_is_not_tried_is_not_found(self):
        """A lower bound: the one pair that matters is missing."""
        score = lambda data: [100.0 * (sum(data) == 7)]  # noqa: E731
        tried = [([1, 2], [1, 3]), ([0], [1])]
        assert check_sensitivity(score, tried).sensitivity == 0.0
        assert check_sensitivity(score, [*tried, ([3, 4], [3, 5])]).sensitivity == 100.0


class TestRounding:
    """Exact differences, rounded down: a stated sensitivity below the bound is wrong for sure."""

    @each(
        ("before", "after"),
        [
            ([0.1], [0.3]),
            ([1.0], [1e-300]),
            ([1e16], [-1.0]),
            ([2.0**53], [-1.0]),
            ([0.1, 0.7], [0.9, -0.2]),
            ([5e-324], [-5e-324]),
            ([1.7e308], [-1.7e308]),
            ([1.7e308, 5e-324], [-1e307, 1.5e-310]),
            ([2**63 - 1], [-(2**63)]),
            ([2**64 - 1], [1]),
            ([2**64 - 1], [0.5]),
            ([2**53 + 1], [1.0]),
            ([-(2**63), 5], [2**63 - 1, -5]),
        ],
    )
    def test_it_is_the_greatest_float_that_is_not_above(self, before, after):
        found = check_sensitivity(lambda data: data, [(before, after)])
        changes = [Fraction(b) - Fraction(a) for a, b in zip(before, after, strict=True)]
        exact = max(map(abs, changes)), max(changes) - min(changes)
        for number, truth in zip((found.sensitivity, found.range_sensitivity), exact, strict=True):
            assert Fraction(number) <= truth
            assert (
                number == sys.float_info.max or Fraction(math.nextafter(number, math.inf)) > truth
            )

    def test_extremes_are_exact(self):
        """Also where many differences round to the same float."""
        rng = np.random.default_rng(1)
        for scale in (1.0, 2.0**52, 2.0**-1060):
            before = scale * rng.integers(0, 3, 300) + rng.random(300)
            after = before + rng.integers(0, 2, 300)
            changes = [Fraction(b) - Fraction(a) for a, b in zip(before, after, strict=True)]
            assert _extremes(before, after) == (min(changes), max(changes))

    def test_integers_and_floats_mix(self):
        scores = {0: [1, 2, 2**60 + 1], 1: [1.5, 2.5, 2.0**60]}
        found = check_sensitivity(scores.__getitem__, [(0, 1)])
        assert found == fx.SensitivityLowerBound(1.0, 1.5, False, 1)

    def test_the_rounding_of_a_score_counts(self):
        """A mean of counts in float: one record moves it by more than the formula says."""
        score = lambda data: [data * 0.1]  # noqa: E731
        assert check_sensitivity(score, [(n, n + 1) for n in range(40)]).sensitivity > 0.1


def failing():
    yield [1], [2]
    raise ValueError("7341")


SAME = [([1.0], [2.0])]
BAD = {
    "no pair": (lambda: check_sensitivity(len, []), fx.ParameterError, "no pairs of neighbors"),
    "not callable": (lambda: check_sensitivity(3, SAME), fx.ParameterTypeError, "score to call, got int"),
    "not iterable": (lambda: check_sensitivity(list, 3), fx.ParameterTypeError, "pairs of neighbors"),
    "none": (lambda: check_sensitivity(list, None), fx.ParameterTypeError, "pairs of neighbors"),
    "not pairs": (lambda: check_sensitivity(list, [([1],)]), fx.ParameterTypeError, "pairs of neighbors"),
    "triples": (lambda: check_sensitivity(list, ["abc"]), fx.ParameterTypeError, "pairs of neighbors"),
    "numbers": (lambda: check_sensitivity(list, [1, 2]), fx.ParameterTypeError, "pairs of neighbors"),
    "breaks off": (lambda: check_sensitivity(list, failing()), fx.ParameterTypeError, "pairs of neighbors"),
    "score fails": (lambda: check_sensitivity(lambda d: 1 / 0, SAME), fx.ScoreError, "failed score"),
    "one fails": (lambda: check_sensitivity(lambda d, r: d[r], SAME, candidates=["x"]), fx.ScoreError, "failed score"),
    "nan": (lambda: check_sensitivity(list, [([1.0], [math.nan])]), fx.InvalidUtilities, "finite utilities of a score"),
    "inf": (lambda: check_sensitivity(list, [([-math.inf], [1.0])]), fx.InvalidUtilities, "finite utilities of a score"),
    "sizes": (lambda: check_sensitivity(list, [([1.0], [1.0, 2.0])]), fx.ParameterError, "same number of utilities"),
    "sizes later": (lambda: check_sensitivity(list, [*SAME, ([1, 2], [1, 2])]), fx.ParameterError, "same number of utilities"),
    "number": (lambda: check_sensitivity(sum, SAME), fx.ParameterTypeError, "shape of utilities"),
    "matrix": (lambda: check_sensitivity(lambda d: [d], SAME), fx.ParameterTypeError, "shape of a score's utilities"),
    "rows": (lambda: check_sensitivity(lambda d, r: d, SAME, candidates=["x"]), fx.ParameterTypeError, "shape of a score's utilities"),
    "text": (lambda: check_sensitivity(list, [(["x"], ["y"])]), fx.ParameterTypeError, "types of utilities"),
    "nothing": (lambda: check_sensitivity(lambda d: None, SAME), fx.ParameterTypeError, "shape of utilities"),
    "empty": (lambda: check_sensitivity(list, [([], [])]), fx.ParameterError, "no utilities"),
    "candidates": (lambda: check_sensitivity(list, SAME, candidates=[]), fx.ParameterError, "not empty"),
    "twice": (lambda: check_sensitivity(list, SAME, candidates="ab"), fx.ParameterTypeError, "sequence of candidates"),
}  # fmt: skip


@each("name", BAD)
def test_bad_input_gets_a_clear_error_without_data(name):
    call, error, text = BAD[name]
    with pytest.raises(error, match=says(text)) as caught:
        call()
    assert caught.value.__context__ is None
    assert "7341" not in str(caught.value)


def test_pairs_are_taken_one_at_a_time():
    """A generator is not collected first, and interruptions pass."""
    seen = []

    def pairs():
        for i in range(3):
            seen.append(i)
            yield [float(i)], [0.0]

    def score(data):
        if len(seen) == 2:
            raise KeyboardInterrupt
        return data

    with pytest.raises(KeyboardInterrupt):
        check_sensitivity(score, pairs())
    assert seen == [0, 1]


def test_the_result_is_small_and_frozen():
    found = check_sensitivity(counts, added())
    with pytest.raises(AttributeError):
        found.sensitivity = 0.5
    assert repr(found) == (
        "SensitivityLowerBound(sensitivity=1.0, range_sensitivity=1.0, monotonic=True, pairs=120)"
    )
