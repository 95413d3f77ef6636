"""Have quantiles by recursion the law that is said of them, and does it keep the promise?

The law is put together from the definition: all finer points of all records, and of each draw
every point, with weight exp(-epsilon * d / (2 * max(q, 1 - q))).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest

from tests.doors.intake import Counted, runs
from tests.doors.numbers import QuantileTree
from tests.doors.parameters import make_grid
from tests.doors.privacy import tree_epsilon
from tests.doors.randomness import seeds_of
from tests.support.each import each
from tests.support.goodness import counts_fit

QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
UNEVEN = (Fraction(1, 10), Fraction(7, 10))


def one(q, epsilon, records, low, high):
    """P of each point of a weak quantile, of records among these points."""
    weights, n = {}, len(records)
    for point in range(low, high + 1):
        below, above = sum(x < point for x in records), sum(x > point for x in records)
        d = max(0, below - q * n, above - (1 - q) * n)
        if n == 0 and q == Fraction(1, 2):
            d = 0
        weights[point] = math.exp(-epsilon * float(d / (2 * max(q, 1 - q))))
    whole = sum(weights.values())
    return {point: weight / whole for point, weight in weights.items()}


def all_of(q, epsilon, records, low, high, ends=(Fraction(0), Fraction(1))):
    """P of each tuple of answers."""
    if not q:
        return {(): 1.0}
    law, j = defaultdict(float), len(q) // 2
    share = (q[j] - ends[0]) / (ends[1] - ends[0])
    for at, p in one(share, epsilon, records, low, high).items():
        left = [x for x in records if x < at]
        right = [x for x in records if x >= at]
        lower = all_of(q[:j], epsilon, left, low, at, (ends[0], q[j]))
        upper = all_of(q[j + 1 :], epsilon, right, at, high, (q[j], ends[1]))
        for (a, x), (b, y) in itertools.product(lower.items(), upper.items()):
            law[(*a, at, *b)] += p * x * y
    return dict(law)


def law(q, epsilon, records, size, parts):
    """The same of records on points, each of which is `parts` finer ones."""
    sums, ways = defaultdict(float), list(itertools.product(range(parts), repeat=len(records)))
    for places in ways:
        fine = [x * parts + place for x, place in zip(records, places, strict=True)]
        for answers, p in all_of(q, epsilon, fine, 0, size * parts - 1).items():
            sums[tuple(x // parts for x in answers)] += p / len(ways)
    return dict(sums)


def tree(q, epsilon, size, parts):
    made_of = QuantileTree(q, Fraction(epsilon), make_grid((0, size - 1), 1))
    made_of.parts = parts
    return made_of


def draws(records, size, statistic, number):
    source = Counted(*runs(np.array(sorted(records), np.int64)), statistic.grid)
    return statistic.simulate(source, seeds_of(3, np.zeros(1, np.uint64)), number)


@pytest.mark.statistical
@pytest.mark.slow
@each("records", [(), (1,), (2, 2, 2), (0, 1, 1, 3)])
@each("q", [QUARTILES, UNEVEN])
def test_draws_follow_the_law(q, records):
    expected = law(q, 1.5, records, 4, 2)
    counts = Counter(map(tuple, draws(records, 4, tree(q, 1.5, 4, 2), 5_000).tolist()))
    observed = np.array([counts[answers] for answers in expected])
    assert observed.sum() == 5_000
    assert counts_fit(observed, np.array(list(expected.values())))
    wrong = law(q, 4.0, records, 4, 2)
    assert not records or not counts_fit(observed, np.array([wrong[x] for x in expected]))


def worst(q, epsilon, neighbors, part=None):
    """The greatest likelihood ratio of neighbours of up to three records on three points."""
    part = float(tree_epsilon(epsilon, len(q), neighbors)) if part is None else part
    sets = [x for n in range(4) for x in itertools.combinations_with_replacement(range(3), n)]
    laws = {records: law(q, part, records, 3, 2) for records in sets}
    ratio = 1.0
    for one_set, other in itertools.permutations(sets, 2):
        apart = (
            (Counter(one_set) - Counter(other)).total(),
            (Counter(other) - Counter(one_set)).total(),
        )
        if apart in ([(0, 1), (1, 0)] if neighbors == "add-remove" else [(1, 1)]):
            ratios = (p / laws[other][answers] for answers, p in laws[one_set].items())
            ratio = max(ratio, *ratios)
    return ratio


@pytest.mark.slow
@each("neighbors", ["add-remove", "replace"])
@each("q", [QUARTILES, UNEVEN])
def test_all_small_neighbours_keep_epsilon(q, neighbors):
    epsilon = 2 * math.log(2)
    ratio = worst(q, epsilon, neighbors)
    assert 1.2 < ratio <= math.exp(epsilon) * (1 + 1e-12)
    assert worst(q, epsilon, neighbors, part=4 * epsilon) > math.exp(epsilon)


def test_levels_share_epsilon():
    for count, levels in ((1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (99, 7)):
        assert tree_epsilon(1.5, count, "add-remove") == Fraction(3, 2) / levels
        assert tree_epsilon(1.5, count, "replace") == Fraction(3, 4) / levels

        def depth(first, last):
            middle = (first + last) // 2
            return 1 + max(depth(first, middle), depth(middle + 1, last)) if first < last else 0

        assert depth(0, count) == levels


def test_one_value_gives_it_and_many_parts_come_in_order():
    grid = make_grid((0, 1000), 1)
    statistic = QuantileTree(tuple(Fraction(j, 20) for j in range(1, 20)), Fraction(1, 4), grid)
    assert statistic.parts == 1 << 20
    source = Counted(np.array([500]), np.array([20_000]), grid)
    assert (statistic.release(source) == 500).all()
    source = Counted(np.arange(1000), np.full(1000, 10), grid)
    rows = statistic.simulate(source, seeds_of(1, np.zeros(1, np.uint64)), 20)
    assert (np.diff(rows, axis=1) >= 0).all()
    assert abs(rows - np.arange(50, 1000, 50)).max() < 40
    fine = QuantileTree(QUARTILES, Fraction(1), make_grid((0, 1)))
    assert fine.parts * fine.grid.size <= 1 << 52 < 2 * fine.parts * fine.grid.size
