"""Does the exact twin of joint quantiles have the known figures, and do its two ways agree?

The ways are the sum over all answers and the chain over sites. Ties "spread" are also compared
with the literal thing: all places of the records on finer and finer grids.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import pytest

from tests.support import all_answers as twin
from tests.support.each import each
from tests.twins.quantiles import by_chain

QUARTILES = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
THIRDS = [Fraction(1, 3), Fraction(2, 3)]
OUTER = [Fraction(1, 4), Fraction(3, 4)]
HALF = [Fraction(1, 2)]
TWO = twin.power(Fraction(2))
VECTORS = {  # records, points, q, totals, sum of weights, a mode with P, means, law of totals
    "V1": (
        ([1, 2, 5, 6], 8, QUARTILES, [0, 4, 8]),
        "3969/128",
        ((2, 3, 6), "16/441"),
        ["2479/1323", "3229/882", "14299/2646"],
        ["320/1323", "748/1323", "85/441"],
    ),
    "V2": (
        ([1, 2, 5, 6, 7], 8, HALF, [0, 2, 4, 6, 8]),
        "13/2",
        ((3,), "41/208"),
        ["56/13"],
        ["1/26", "1/8", "37/104", "37/104", "1/8"],
    ),
    "V3": (
        ([0, 3, 3, 6, 7, 7], 8, THIRDS, [0, 3, 6, 9]),
        "5523/512",
        ((1, 4), "88/1841"),
        ["4840/1841", "10112/1841"],
        ["96/1841", "428/1841", "782/1841", "535/1841"],
    ),
    "VE": (([], 6, OUTER, [0, 4]), "357/16", ((0, 5), "1/21"), ["5/3", "10/3"], ["16/17", "1/17"]),
}


def means(law: dict[twin.Answers, Fraction]) -> list[Fraction]:
    m = len(next(iter(law)))
    return [sum(answers[j] * p for answers, p in law.items()) for j in range(m)]


@each("name", VECTORS)
def test_ties_left_have_the_known_figures(name):
    (records, size, q, totals), whole, (mode, p), expected, of_totals = VECTORS[name]
    weights = twin.enumerated(records, size, q, totals, TWO, "left")
    total_sum = sum(weights.values())
    law = twin.probabilities(weights)
    assert total_sum == Fraction(whole)
    assert law[mode] == Fraction(p) == max(law.values())
    assert means(law) == [Fraction(x) for x in expected]
    by_total = [by_chain(records, size, q, t, TWO, "left") / total_sum for t in totals]
    assert by_total == [Fraction(x) for x in of_totals]


def test_more_probabilities_of_quartiles():
    law = twin.probabilities(twin.enumerated([1, 2, 5, 6], 8, QUARTILES, [0, 4, 8], TWO, "left"))
    some = {(1, 3, 6): "16/1323", (2, 5, 6): "16/441", (2, 2, 2): "2/441", (0, 0, 0): "1/378"}
    assert {answers: law[answers] for answers in some} == {k: Fraction(v) for k, v in some.items()}


def test_replace_has_the_known_figures():
    """Weights 2**-(distance / 2): distances are even, as the total is n and n * q are integers."""
    records = [1, 2, 5, 6]
    weights = {}
    for key in twin.enumerated(records, 8, QUARTILES, [4], TWO, "left"):
        ranks = [sum(x < point for x in records) for point in key[1]]
        apart = twin.distance(twin.counts(ranks, 4), 4, QUARTILES)
        weights[key] = Fraction(1, 2 ** (apart / 2).numerator)
        assert (apart / 2).denominator == 1
    law = twin.probabilities(weights)
    assert sum(weights.values()) == Fraction(165, 4)
    assert law[2, 3, 6] == Fraction(4, 165)
    assert means(law) == [Fraction(102, 55), Fraction(109, 30), Fraction(591, 110)]


def test_three_equal_records_spread():
    weights = twin.enumerated([1, 1, 1], 3, HALF, [0, 2, 4], TWO, "spread")
    law = twin.probabilities(weights)
    assert sum(weights.values()) == Fraction(3, 2)
    assert law == {(0,): Fraction(1, 4), (1,): Fraction(1, 2), (2,): Fraction(1, 4)}
    left = twin.probabilities(twin.enumerated([1, 1, 1], 3, HALF, [0, 2, 4], TWO, "left"))
    assert set(left.values()) == {Fraction(1, 3)}


def test_spread_averages_weights_not_laws():
    """The mixture of the laws of all places of the records is another mechanism."""
    mixture = dict.fromkeys(range(3), Fraction(0))
    for places in product(range(4), repeat=3):
        weights = twin.enumerated([4 + x for x in places], 12, HALF, [0, 2, 4], TWO, "left")
        for (answer,), p in twin.probabilities(weights).items():
            mixture[answer // 4] += p / 64
    assert mixture == {0: Fraction(173, 672), 1: Fraction(163, 336), 2: Fraction(173, 672)}


def on_fine_grid(records, size, fine, q, total, weigh):
    """Weights of ties "spread" on a grid `fine` times as fine, where ties are rare, not gone.

    The average over all `fine**n` places of the records within their grid points; answers are
    summed over the fine points of theirs, of the volume 1/fine each. A polynomial in 1/fine whose
    value at 0 is `twin.enumerated`.
    """
    sums = {}
    cell = Fraction(1, fine ** (len(records) + len(q)))
    for places in product(range(fine), repeat=len(records)):
        moved = [fine * x + place for x, place in zip(records, places, strict=True)]
        weights = twin.enumerated(moved, fine * size, q, [total], weigh, "left")
        for (_, answers), fine_weight in weights.items():
            rounded = tuple(point // fine for point in answers)
            sums[rounded] = sums.get(rounded, Fraction(0)) + cell * fine_weight
    return sums


def at_zero(x: list[Fraction], y: list[Fraction]) -> Fraction:
    """The value at 0 of the polynomial through these points."""
    basis = (prod(b / (b - a) for b in x if b != a) for a in x)
    return sum((c * value for c, value in zip(basis, y, strict=True)), Fraction(0))


@pytest.mark.slow
@each(
    ("records", "size", "q", "total"),
    [
        ([1, 1, 1], 3, HALF, 2),
        ([1, 1], 2, OUTER, 4),
        ([0, 1, 1], 2, THIRDS, 3),
        ([0, 0], 2, OUTER, 0),
        ([0], 1, QUARTILES, 4),
    ],
)
def test_spread_is_the_limit_of_fine_grids(records, size, q, total):
    """Exactly: the weight is a polynomial of degree below n + m in the fine grid's step."""
    fine = range(1, len(records) + len(q) + 1)
    sums = [on_fine_grid(records, size, h, q, total, TWO) for h in fine]
    steps = [Fraction(1, h) for h in fine]
    weights = twin.enumerated(records, size, q, [total], TWO, "spread")
    for (_, answers), weight in weights.items():
        assert at_zero(steps, [row.get(answers, Fraction(0)) for row in sums]) == weight
    finest = [sums[-1].get(answers, Fraction(0)) for _, answers in weights]
    assert finest != list(weights.values())  # no grid is that fine


@pytest.mark.slow
@each("ties", ["left", "spread"])
@each("total", [0, 3, 4, 8])
@each("q", [HALF, OUTER, THIRDS, QUARTILES])
@each(
    ("records", "size"),
    [([], 4), ([0, 0, 3], 4), ([1, 2, 2, 2], 5), ([4, 4, 4, 4], 5), ([0], 1), ([0, 1, 2], 3)],
)
def test_the_chain_is_the_sum_over_all_answers(records, size, q, total, ties):
    """Also for weights that are no powers of anything."""

    def weigh(distance: Fraction) -> Fraction:
        return 1 / (1 + distance * distance)

    weights = twin.enumerated(records, size, q, [total], weigh, ties)
    assert by_chain(records, size, q, total, weigh, ties) == sum(weights.values())
