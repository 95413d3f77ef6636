"""Do joint quantiles keep their promise? All small neighbouring data sets, in Fractions.

Of answers and total together: what is released is a function of them. Epsilon is 2 ln 2.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import pytest

from tests.support import all_answers as twin
from tests.support.each import each

OUTER = Fraction(1, 4), Fraction(3, 4)
THIRDS = Fraction(1, 3), Fraction(2, 3)
QUARTILES = Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)
ADD_REMOVE = [
    (5, OUTER, (0, 4, 8)),
    (5, THIRDS, (0, 3, 6)),
    (3, QUARTILES, (0, 4, 8)),
    (4, (Fraction(1, 2),), (0, 2, 4, 6)),
]
TIES = ["left", "spread"]
MOST = 4  # records

pytestmark = pytest.mark.proof


@cache
def weights(records, size, q, totals, ties):
    """Base 2; without totals it is the number of records, at 2**12: distances are twelfths."""
    if totals:
        return twin.enumerated(records, size, q, totals, twin.power(Fraction(2)), ties)
    weigh = twin.power(Fraction(2), 12)
    each = twin.enumerated(records, size, q, [len(records)], weigh, ties)
    return {answers: summand for (_, answers), summand in each.items()}


def all_records(size):
    for n in range(MOST + 1):
        yield from combinations_with_replacement(range(size), n)


def worst(pairs, *law):
    """Over all pairs: the greatest change of a weight, of a probability, and span of changes."""
    change, ratio, span = Fraction(1), Fraction(1), Fraction(1)
    for first, second in pairs:
        a, b = weights(first, *law), weights(second, *law)
        changes = [b[key] / a[key] for key in a]
        low, high, scale = min(changes), max(changes), sum(a.values()) / sum(b.values())
        change = max(change, high, 1 / low)
        ratio = max(ratio, high * scale, 1 / (low * scale))
        span = max(span, high / low)
    return change, ratio, span


def added(size):
    for records in all_records(size):
        if len(records) < MOST:
            for x in range(size):
                yield records, tuple(sorted((*records, x)))


def replaced(size):
    for records in all_records(size):
        for i, x in enumerate(records):
            for y in range(x + 1, size):
                yield records, tuple(sorted((*records[:i], *records[i + 1 :], y)))


@each("ties", TIES)
@each(("size", "q", "totals"), ADD_REMOVE)
def test_one_record_more(size, q, totals, ties):
    """A weight changes by a factor of 2 at most, and both ways: exp(epsilon) is 4."""
    change, ratio, span = worst(added(size), size, q, totals, ties)
    assert change == 2
    assert 2 < ratio <= 4
    assert span == 4


@each("ties", TIES)
@each(("size", "q"), [(4, OUTER), (4, THIRDS), (3, QUARTILES)])
def test_one_record_replaced(size, q, ties):
    """The total is n: one count up and one down change a weight by the square of the base."""
    change, ratio, span = worst(replaced(size), size, q, (), ties)
    assert change == Fraction(2) ** (2 * 12)
    assert ratio <= Fraction(2) ** (4 * 12)
    assert Fraction(2) ** 47 < span <= Fraction(2) ** (4 * 12)


@each("ties", TIES)
@each(("q", "sensitivity"), [(OUTER, Fraction(3, 2)), (THIRDS, Fraction(4, 3))])
def test_the_number_of_records_as_the_total_has_twice_the_sensitivity(q, sensitivity, ties):
    """Power: targets that move with n change by 2 * (1 - min d), as JointExp's do."""
    change, _, span = worst(added(3), 3, q, (), ties)
    assert change == Fraction(2) ** (sensitivity * 12).numerator
    assert span > Fraction(2) ** (2 * 12)
