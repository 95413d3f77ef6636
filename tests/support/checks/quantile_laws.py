"""Checks of laws of several quantiles, which mutants must fail."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from mpmath import mp

from fastexp import QuantilesLaw
from tests.doors.intake import Counted
from tests.doors.numbers import QuantilesStatistic
from tests.doors.parameters import make_grid
from tests.support import all_answers as twin

TIES = ["left", "spread"]
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
SQUARES = [i * i % 61 for i in range(30)]
ORDER = (lambda x, y: x < y), (lambda x, y: x == y)


def law_of(records, size, q, rate, lattice, ties) -> QuantilesLaw:
    points, number = np.unique(np.array(records, np.int64), return_counts=True)
    grid = make_grid((0, size - 1), 1)
    statistic = QuantilesStatistic(q, Fraction(rate), lattice, grid, ties)
    truth = np.quantile(records, np.array(q, float)) if len(records) else None
    source = Counted(points, number, grid)
    return QuantilesLaw(statistic, source, 1.0, lambda _: truth, lambda *_: points, list)


@cache
def natural(rate: Fraction) -> twin.Weigh:
    """exp(-rate * distance) to 40 digits."""

    @cache
    def weigh(distance: Fraction) -> Fraction:
        with mp.workdps(45):
            exponent = -rate * distance
            weight = mp.exp(mp.mpf(exponent.numerator) / exponent.denominator)
            return Fraction(int(mp.ldexp(weight, 160)), 1 << 160)

    return weigh


CASES = [  # records, points, quantiles in twelfths, rate, step of totals
    ([0, 3, 3, 5], 6, (3, 9), 1, 2),
    ([1, 1, 1], 3, (6,), Fraction(1, 2), 4),
    ([2, 2, 2, 2, 2], 5, (1, 2, 11), Fraction(3, 2), 1),
    ([0, 0, 4], 5, (3, 6, 9), Fraction(7, 10), 4),
    ([], 4, (4, 8), 1, 8),
    ([1], 2, (1, 5, 6), 2, 1),
    ([0, 1, 2, 3], 4, (5, 7), 3, None),
    ([3, 3, 0, 1], 4, (2, 9), Fraction(1, 4), None),
    ([0, 5], 6, (1, 6, 11), Fraction(1, 3), 8),
]


def law_is_that_of_the_twin(case, ties) -> None:
    """Whole sums, totals, masses of points, errors and errors in rank, where runs hold several."""
    records, size, twelfths, rate, lattice = case
    q, n = tuple(Fraction(x, 12) for x in twelfths), len(records)
    law = law_of(records, size, q, rate, lattice, ties)
    most = 0 if lattice is None else int((n + 45 / rate) / lattice) + 2
    totals = [n] if lattice is None else [lattice * i for i in range(most)]
    weights = twin.enumerated(records, size, q, totals, natural(Fraction(rate)), ties)
    whole, points = sum(weights.values()), np.arange(size)
    assert law.log_normalizer == pytest.approx(float(mp.log(mp.mpf(float(whole)))), abs=1e-10)
    exact = np.zeros((len(q), size))
    for (_, answers), weight in weights.items():
        exact[range(len(q)), answers] += float(weight / whole)
    below, at = (np.array([sum(f(x, y) for x in records) for y in points]) for f in ORDER)
    for j in range(len(q)):
        marginal, target = law.marginal(j), float(q[j] * n)
        assert marginal.pmf(points) == pytest.approx(exact[j], abs=1e-10)
        assert marginal.mean() == pytest.approx(exact[j] @ points, abs=1e-10)
        away = np.maximum(np.maximum(below - target, target - (below + at)), 0.0)
        assert law.expected_rank_error()[j] == pytest.approx(exact[j] @ away, abs=1e-10)
        assert law.expected_error([2.5] * len(q))[j] == pytest.approx(
            exact[j] @ np.abs(points - 2.5), abs=1e-10
        )
    if lattice is not None:
        of_totals = [
            float(sum(w for (t, _), w in weights.items() if t == s) / whole) for s in totals
        ]
        assert law.total().pmf(totals) == pytest.approx(of_totals, abs=1e-10)


def known_figures() -> None:
    """Of thirty records, by sums over all tuples in doubles: add-remove, then replace."""
    law, fixed = (
        law_of(SQUARES, 61, QUARTILES, rate, step, "left")
        for rate, step in ((Fraction(1, 2), 8), (Fraction(1, 4), None))
    )
    means, truths = [law.marginal(j).mean() for j in range(3)], [13, 27, 47]
    assert law.log_normalizer == pytest.approx(5.675539183146, abs=1e-9)
    assert means == pytest.approx([12.4068487723, 28.2718635289, 46.8161686521], abs=1e-9)
    errors = [3.2257437397, 5.8491428765, 3.5907134563]
    assert law.expected_error(truths) == pytest.approx(errors, abs=1e-9)
    assert law.total().mean() == pytest.approx(29.70841559, abs=1e-8)
    assert fixed.log_normalizer == pytest.approx(7.065153180095, abs=1e-9)
    errors = [4.7820598071, 7.450552151, 5.3438351767]
    assert fixed.expected_error(truths) == pytest.approx(errors, abs=1e-9)


def sums_beyond_doubles() -> None:
    """Of 24 answers in a run of 2**50 points, and of totals whose weights are far apart."""
    q = tuple(Fraction(i, 25) for i in range(1, 25))
    law = law_of([], 1 << 50, q, 1, None, "spread")
    assert law.log_normalizer == pytest.approx(1200 * math.log(2) - math.lgamma(25), abs=1e-9)
    law = law_of([60] * 40, 61, (Fraction(5, 6), Fraction(11, 12)), 30, 1, "left")
    for places in law._chain.places:
        assert sum(p.sum() for p in places.values()) == pytest.approx(1, abs=1e-9)
    assert law.total().pmf(0) == pytest.approx(1, abs=1e-9)


def run() -> None:
    """All of them, shortly."""
    known_figures()
    sums_beyond_doubles()
    for case in (CASES[0], *CASES[2:5], CASES[6]):
        for ties in TIES:
            law_is_that_of_the_twin(case, ties)
