"""Do draws of joint quantiles follow the exact law, whichever part of the engine they come from?

Small data sets on small grids, against the sum over all answers and totals
(`tests/support/all_answers.py`); and kernels against the exact walk, word by word. What is drawn
seldom, as totals far away, is in `test_quantile_branches.py`, each with its probability.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from tests.doors.intake import Counted, runs
from tests.doors.kernels import chain as kernels
from tests.doors.numbers import quantile_chains, quantile_few
from tests.doors.numbers import quantiles as engine
from tests.doors.parameters import make_grid
from tests.doors.randomness import Spare, seeds_of
from tests.doors.reference import exact_chain
from tests.support import all_answers as twin
from tests.support.checks import quantile_chains as checks
from tests.support.each import each
from tests.support.goodness import counts_fit

THIRDS = (Fraction(1, 3), Fraction(2, 3))
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
UNEVEN = (Fraction(1, 10), Fraction(3, 20), Fraction(1, 5), Fraction(9, 10))
DATA = {  # records, points
    "none": ((), 4),
    "unequal": ((1, 2, 5, 6), 8),
    "equal": ((4, 4, 4, 4), 5),
    "some equal": ((0, 3, 3, 6, 7, 7), 8),
    "few values": ((0, 1, 1, 1, 1, 2, 3, 3, 3, 3, 4, 4), 5),
}
HALF, NATS = Fraction(1, 2), 30  # beyond them nothing is seen


def weigh(rate):
    return cache(lambda distance: math.exp(-rate * distance))


def source(records, size):
    grid = make_grid((0, size - 1), step=1)
    return grid, Counted(*runs(np.array(sorted(records), np.int64)), grid)


@cache
def law(records, size, q, rate, lattice, ties):
    """P of every total and every answer."""
    totals = (
        [len(records)] if lattice is None else range(0, len(records) + int(NATS / rate), lattice)
    )
    weights = twin.enumerated(records, size, q, totals, weigh(rate), ties)
    whole = sum(weights.values())
    return {(*answers, t): weight / whole for (t, answers), weight in weights.items()}


@pytest.fixture
def by_ranks(monkeypatch):
    """No data set has few records."""
    monkeypatch.setattr(quantile_few, "MAX_RECORDS", -1)


def draws(records, size, q, rate, lattice, ties, number, seed=1):
    grid, records_on_grid = source(records, size)
    statistic = engine.QuantilesStatistic(q, rate, lattice, grid, ties)
    return statistic.simulate(records_on_grid, seeds_of(seed, np.zeros(1, np.uint64)), number)


def fit(drawn, expected):
    shape = np.maximum(drawn.max(axis=0), np.max(list(expected), axis=0)) + 1
    counts = np.bincount(np.ravel_multi_index(drawn.T, shape), minlength=np.prod(shape))
    cells = np.ravel_multi_index(np.array(list(expected)).T, shape)
    assert counts[cells].sum() == len(drawn)  # nothing else is drawn
    return counts_fit(counts[cells], np.array(list(expected.values())))


@each("most", [-1, quantile_few.MAX_RECORDS])
@each("ties", ["left", "spread"])
@each("name", DATA)
@each(
    ("q", "rate", "lattice"),
    [(THIRDS, HALF, 8), (QUARTILES, HALF / 2, None), (UNEVEN, Fraction(2), 4), ((HALF,), HALF, 8)],
)
@pytest.mark.statistical
def test_draws_follow_the_law(name, q, rate, lattice, ties, most, monkeypatch):
    monkeypatch.setattr(quantile_few, "MAX_RECORDS", most)
    setting = *DATA[name], q, rate, lattice, ties
    slow = most < 0 and name == "none"  # by sites, one after the other
    assert fit(draws(*setting, 2_000 if slow else 20_000), law(*setting))


@pytest.mark.statistical
@pytest.mark.parametrize("ties", ["left", "spread"])
@pytest.mark.parametrize("most", [-1, quantile_few.MAX_RECORDS])
def test_a_million_draws_tell_two_percent(ties, most, monkeypatch):
    monkeypatch.setattr(quantile_few, "MAX_RECORDS", most)
    setting = *DATA["some equal"], THIRDS, HALF, 8, ties
    drawn = draws(*setting, 1_000_000)
    assert fit(drawn, law(*setting))
    for wrong in (Fraction(51, 100), Fraction(49, 100)):
        other = *DATA["some equal"], THIRDS, wrong, 8, ties
        assert not fit(drawn, law(*other))


@pytest.mark.usefixtures("by_ranks")
@pytest.mark.statistical
def test_the_rest_follows_the_law_where_atoms_take_more_answers(monkeypatch):
    """The chain's weights are those of the rest there, too."""
    monkeypatch.setattr(quantile_chains, "REST_NATS", -40.0)
    monkeypatch.setattr(quantile_chains, "GUESS_NATS", 0.0)
    setting = (1,) * 5, 3, UNEVEN, Fraction(1, 8), None, "spread"
    grid, records = source(*setting[:2])
    chain = engine.Chain(engine.QuantilesStatistic(*setting[2:5], grid, "spread"), records)
    assert chain.dense
    assert fit(draws(*setting, 2_000), law(*setting))


@pytest.mark.statistical
def test_more_answers_lie_in_one_run_than_a_chain_counts(monkeypatch):
    """All of 16 answers lie between 1,050 records on either side, with probability 0.998."""
    monkeypatch.setattr(quantile_chains, "SMALL_ROOM", 1 << 19)
    q = tuple(Fraction(490 + 20 * k // 15, 1000) + Fraction(k, 10**6) for k in range(16))
    grid = make_grid((0, 1000), step=1)
    records = Counted(np.array([0, 1000]), np.array([1050, 1050]), grid)
    statistic = engine.QuantilesStatistic(q, Fraction(1, 40), 256, grid, "spread")
    assert 1 < engine.Chain(statistic, records).most < 16
    drawn = statistic.simulate(records, seeds_of(1, np.zeros(1, np.uint64)), 200)
    inside = ((drawn[:, :16] > 0) & (drawn[:, :16] < 1000)).sum(axis=1)
    assert (inside == 16).sum() >= 190


@pytest.mark.usefixtures("by_ranks")
def test_further_words_of_a_draw_are_read_once(monkeypatch):
    """Whatever coins of a draw are left open, none has the words of another one."""
    readers = Counter()

    class Read(Spare):
        def __init__(self, stream, number, first):
            super().__init__(stream, number, first)
            readers[number, first] += 1

    monkeypatch.setattr(engine, "Spare", Read)
    monkeypatch.setattr(quantile_chains, "NEAR_NATS", -1.0)  # coins choose among totals
    monkeypatch.setattr(quantile_chains, "SHARED", 2.0)
    monkeypatch.setattr(quantile_chains, "REST_NATS", 0.0)
    paths = kernels.draw_paths

    def all_open(*arguments):
        paths(*arguments)
        arguments[-2][:] = kernels.OPEN

    monkeypatch.setattr(kernels, "draw_paths", all_open)
    draws(*DATA["some equal"], THIRDS, HALF, 2, "spread", 100)
    assert len(readers) >= 100
    assert set(readers.values()) == {1}


def test_no_total_is_too_far(monkeypatch):
    """A word of zeros is not the last one that tells how far beyond the others a total is."""
    grid, records = source(*DATA["unequal"])
    chain = engine.Chain(engine.QuantilesStatistic(THIRDS, HALF, 8, grid, "left"), records)
    monkeypatch.setattr(exact_chain, "pick", lambda *_: 0)
    slot = len(chain.within) | 1  # beyond, on the right
    words = iter([0, ((2 * slot + 1) << 63) // chain.slots, 0, 1 << 60, *[1 << 63] * 40])
    *_, total = chain._from_rest(words.__next__)
    assert total == chain.within[-1] + 8 * (64 + 3 + 1)


@pytest.mark.parametrize("number", [3000, pytest.param(10**5, marks=pytest.mark.slow)])
def test_equal_records_have_answers(number):
    grid = make_grid((0, 100), step=1)
    records = Counted(np.array([40]), np.array([number]), grid)
    left, spread = (engine.QuantilesStatistic(THIRDS, HALF, 8, grid, x) for x in ("left", "spread"))
    assert left.release(records).size == 3
    assert spread.release(records)[:2].tolist() == [40, 40]


def test_sums_are_bounds_and_the_exact_walk_takes_the_kernels_way():
    checks.run()


@pytest.mark.parametrize("ties", ["left", "spread"])
def test_the_exact_walk_takes_the_kernels_way_among_many_records(ties):
    checks.kernels_take_the_exact_way(2_000, THIRDS, ties, 101)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "rate"), [(3_000, 1e-3), (20_000, 1e-3)])
def test_lattices_wider_than_the_number_of_records_have_answers(number, rate):
    """The nearest total is far, and many quantiles' volume is small."""
    q = tuple(Fraction(k, 100) for k in range(1, 100))
    rest = np.array([1] * 39 + [number - 39])
    grid = make_grid((0, 10**6), step=1)
    records = Counted(np.arange(40) * 10**4, rest, grid)
    chain = engine.Chain(
        engine.QuantilesStatistic(q, Fraction(rate) / 2, 16_384, grid, "spread"), records
    )
    assert chain.reach > abs(number - 16_384)
    assert chain.nodes
