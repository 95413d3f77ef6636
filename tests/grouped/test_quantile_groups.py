"""Are several quantiles by group those of each group's own records and words?"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from tests.doors.grouped import QuantilesDraws, Segments, SimulatedWords, draw_all
from tests.doors.grouped import segments as modules
from tests.doors.kernels import chain, few_chains
from tests.doors.keys import KeyNames
from tests.doors.numbers import QuantilesStatistic
from tests.doors.parameters import make_grid
from tests.doors.randomness import make_key
from tests.doors.reference import exact
from tests.doors.selection import MASK_64
from tests.support import all_answers as twin
from tests.support.altered import changed
from tests.support.goodness import counts_fit

GRID = make_grid((0, 5), step=1)
Q, RATE, LATTICE = (Fraction(1, 3), Fraction(2, 3)), Fraction(1, 2), 8
GROUPS = [[], [1, 2, 5], [4, 4, 4, 0]]


def drawn(
    groups, size=1, threads=1, ties="spread", names=None, entries=3, q=Q, source=SimulatedWords
):
    """Draws from groups of whole numbers, by the words of a simulation."""
    statistic = QuantilesStatistic(q, RATE, LATTICE, GRID, ties)
    values = np.array([x for records in groups for x in records], np.float64)
    segments = Segments(values, np.cumsum([0, *map(len, groups)]))
    keys = KeyNames("integers", np.arange(len(groups)) if names is None else np.array(names))
    words = source(make_key(5), keys)
    return draw_all(QuantilesDraws(statistic, segments, words, size, entries), size, threads)


def law(records, ties):
    """P of every answer and total, from the sum over all of them."""

    def weigh(distance):
        return Fraction(sum(exact.exp_bounds(RATE * distance, 80)), 1 << 81)

    weights = twin.enumerated(sorted(records), GRID.size, Q, range(0, 80, LATTICE), weigh, ties)
    whole = sum(weights.values())
    return {(*answers, t): float(weight / whole) for (t, answers), weight in weights.items()}


@pytest.mark.statistical
@pytest.mark.parametrize("ties", ["left", "spread"])
def test_each_group_has_its_law(ties):
    samples = drawn(GROUPS, 20_000, ties=ties)
    for records, rows in zip(GROUPS, samples, strict=True):
        expected, counts = law(records, ties), Counter(map(tuple, rows.tolist()))
        assert not counts.keys() - expected.keys()
        observed = np.array([counts[outcome] for outcome in expected])
        assert counts_fit(observed, np.array(list(expected.values())))
    wrong, rows = law(GROUPS[1], ties), Counter(map(tuple, samples[2].tolist()))
    observed = np.array([rows[outcome] for outcome in wrong])
    assert not counts_fit(observed, np.array(list(wrong.values())))


def test_a_group_depends_on_its_records_and_its_name_alone():
    rng = np.random.default_rng(2)
    groups = [rng.integers(0, 6, n).tolist() for n in (0, 1, 7, 40, 3, 300)]
    samples = drawn(groups, 5)
    shuffled = [rng.permutation(records).tolist() for records in groups]
    with changed((modules, "CHUNK_RECORDS", 50), (modules, "MIN_THREADED_RECORDS", 1)):
        assert (drawn(shuffled, 5, threads=2) == samples).all()
    order = [3, 0, 5]
    some = drawn([groups[g] for g in order], 5, names=order)
    assert (some == samples[order]).all()
    assert (drawn([groups[g] for g in order], 5) != samples[order]).any()
    assert (drawn(groups, 5, entries=2) == samples[..., :2]).all()


class Extreme(SimulatedWords):
    """Words of which one in each draw is as great, or as small, as can be."""

    def round(self, first, last, size, *rest):
        words, more = super().round(first, last, size, *rest)
        draws = words.reshape((last - first) * SIZE, -1)
        places = np.arange(len(draws))
        draws[places, places // 2 % (5 * len(Q) + 4)] = np.where(places % 2, MASK_64, 0)
        return words, more


SIZE = 60


@pytest.mark.parametrize("words", [SimulatedWords, Extreme])
@pytest.mark.parametrize("ties", ["left", "spread"])
def test_integers_decide_as_the_kernel_does(words, ties):
    """Every draw by the exact walk; of extreme words the kernel leaves some open."""
    rng = np.random.default_rng(4)
    groups = [rng.integers(0, 6, n).tolist() for n in (0, 1, 2, 5, 9, 20, 60, 127, 128)]
    opened = []

    def counted(self, *arguments):
        opened.append(len(arguments[-1]))
        return exactly(self, *arguments)

    exactly = QuantilesDraws._exactly_all
    with changed((QuantilesDraws, "_exactly_all", counted)):
        by_kernel = drawn(groups, SIZE, ties=ties, source=words)
    assert opened.pop() == SIZE  # of the last group, which has too many records
    assert (sum(opened) > SIZE // 10) == (words is Extreme)

    def all_open(*arguments):
        arguments[-2][:] = chain.OPEN

    with changed((QuantilesDraws, "_fill", lambda *_: None), (chain, "draw_paths", all_open)):
        assert (drawn(groups, SIZE, ties=ties, source=words) == by_kernel).all()


def test_tables_of_more_records_have_the_same_weights():
    """A group has the answers alone that it has beside longer ones."""
    statistic = QuantilesStatistic(Q, RATE, LATTICE, GRID, "spread")
    few, many = statistic.tables(3), statistic.tables(100)
    totals = [int(known.line[few_chains.TOTALS]) for known in (few, many)]
    ranks = [int(known.line[few_chains.RANKS]) for known in (few, many)]
    some, others = (
        known.weights.reshape(len(Q) + 1, records + 2, -1)
        for known, records in zip((few, many), ranks, strict=True)
    )
    assert ranks[0] < ranks[1]
    assert totals[0] < totals[1]
    assert (some == others[:, : ranks[0] + 2, : totals[0]]).all()
