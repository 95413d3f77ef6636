"""Does a repr tell a mechanism from others that differ in one public parameter?"""

from __future__ import annotations

from itertools import combinations

import fastexp as fx
from tests.support.each import each

NUMBERS = {"epsilon": 1, "bounds": (0, 100)}


def by_length(data, word):
    """A score."""
    return len(word)


def by_name(data, word):
    """Another one."""
    return data.count(word)


LISTS = {
    "medians": [
        fx.Median(**NUMBERS),
        fx.Median(**NUMBERS, step=1),
        fx.Median(**NUMBERS, step=2),
        fx.Median(**NUMBERS, step=1, widen=3),
        fx.Median(**NUMBERS, step=1, neighbors="replace"),
        fx.Median(**NUMBERS, step=1, convention="lower"),
        fx.Quantile(0.5, **NUMBERS, step=1),
        fx.Quantile(0.9, **NUMBERS, step=1),
    ],
    "few points": [fx.Median(**NUMBERS, grid=points) for points in ([0, 1, 5], [0, 2, 5], [0, 1])],
    "many points": [
        fx.Median(**NUMBERS, grid=range(50)),
        fx.Median(**NUMBERS, grid=range(51)),
        fx.Median(**NUMBERS, grid=range(1, 51)),
    ],
    "many candidates": [
        fx.MostCommon(epsilon=1, candidates=range(first, first + 50)) for first in (0, 1, 100)
    ],
    "bases": [
        fx.Exponential(epsilon=1, sensitivity=1, base=[1] * 20),
        fx.Exponential(epsilon=1, sensitivity=1, base=[1] * 19 + [2]),
        fx.Exponential(epsilon=1, sensitivity=1),
        fx.PermuteAndFlip(epsilon=1, sensitivity=1),
    ],
    "scores": [
        fx.Exponential.from_score(score, ["a", "bc"], epsilon=1, sensitivity=1)
        for score in (by_length, by_name)
    ],
}


@each("mechanisms", LISTS.values(), ids=LISTS)
def test_mechanisms_in_a_list_are_told_apart(mechanisms):
    for one, other in combinations(mechanisms, 2):
        assert repr(one) != repr(other)
        assert one != other
    assert all(len(repr(mechanism)) < 120 for mechanism in mechanisms)


def test_few_points_and_candidates_are_written_as_they_are_given():
    written = repr(fx.Median(epsilon=1, grid=[0, 1, 4.5]))
    assert written == "Median(epsilon=1.0, bounds=(0.0, 4.5), grid=[0.0, 1.0, 4.5])"
    assert repr(fx.Median(epsilon=1, grid=range(30))).endswith("grid=<30 points: 0, ..., 29>)")
    named = repr(fx.MostCommon(epsilon=1, candidates=[*"abcdefghijkl"]))
    assert "candidates=<12 values: 'a', ..., 'l'>" in named


def test_a_score_is_called_as_its_function_is():
    scored = LISTS["scores"][0]
    assert "candidates=('a', 'bc'), score=by_length)" in repr(scored)
