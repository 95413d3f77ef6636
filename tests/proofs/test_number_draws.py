"""Do draws of private numbers follow their laws, also where windows are small?

At 1e-9, against exact probabilities, with controls that must be rejected.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.stats import kstwo

import fastexp as fx
from tests.doors.intake import Records
from tests.doors.numbers import cells, rank
from tests.doors.randomness import Sampling
from tests.support.altered import changed
from tests.support.checks import numbers as checks
from tests.support.checks.numbers import AR, SW, median_case, mode_widened, on_ranks, order_case
from tests.support.checks.numbers import quantile_case as quantile
from tests.support.checks.records import SMALL_BUFFERS
from tests.support.each import each
from tests.support.goodness import ALPHA, fits, two_sample_fits
from tests.twins import numbers as twins

N = 400_000  # rejects an epsilon that is wrong by 5 % (see the power test)
COINS = 15_000  # draws from small windows: each looks at the records
RELEASES = 8_000
SIZE = 40
TIED = [0, 3, 3, 3, 9, 9, 10, 17, 17, 17, 17, 17, 18, 22, 25, 25, 31, 39, 39, 39]
SPREAD = [*range(0, 40, 2), 7, 21, 21, 33]

CASES = [
    (median_case(AR, "weak"), TIED),
    (median_case(AR, "weak", 2), TIED),
    (median_case(AR, "strict", 1), SPREAD),
    (median_case(SW, "lower"), SPREAD[:-1]),
    (median_case(SW, "strict"), SPREAD),
    (median_case(SW, "upper", 3), TIED),
    (quantile(0.1, AR, "weak"), SPREAD),
    (quantile(0.75, AR, "lower"), TIED),
    (quantile(Fraction(1, 3), SW, "weak", 1), SPREAD),
    (order_case(3), TIED),
    (order_case(1, 2), SPREAD),
    (checks.MODES[0], TIED),
    (checks.Case("mode", partial(fx.Mode, widen=3), AR, mode_widened(3)), TIED),
    (median_case(AR, "weak"), []),
    (median_case(SW, "weak"), [11]),
]


ROWS = [0, 3, 4, 6, 7, 9, 13, 14]  # of the cases: those without `widen`


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.number = function, 0

    def __call__(self, *arguments):
        self.number += 1
        return self.function(*arguments)


def name_of(value):
    return value.name if isinstance(value, checks.Case) else str(len(value))


def law(case, records, epsilon, size=SIZE):
    """Probabilities in float64, from the twin's distances."""
    rate = Fraction(epsilon) / (2 * case.sensitivity * case.unit)
    return np.array([float(p) for p in twins.law(case.distances(sorted(records), size), rate)])


def made(case, epsilon, size=SIZE):
    return case.make(epsilon, (0, size - 1), step=1)


class TestSamples:
    """On a grid of 40 points, against the twin's law."""

    @pytest.mark.statistical
    @each(("case", "records"), CASES, ids=name_of)
    def test_they_follow_the_law(self, case, records):
        p = law(case, records, 0.3)
        assert fits(made(case, 0.3).sample(records, N, rng=1), p)

    @pytest.mark.statistical
    @each(("case", "records"), CASES[:12], ids=name_of)
    def test_power_five_percent_are_noticed(self, case, records):
        """Of epsilon; or twice or half of the sensitivity. The weakest law needs more draws."""
        p = law(case, records, 0.3)
        for factor in (0.5, 0.95, 1.05, 2.0):
            wrong = made(case, 0.3 * factor).sample(records, 5 * N, rng=2)
            assert not fits(wrong, p), factor

    @pytest.mark.statistical
    def test_power_equality_is_noticed(self):
        """Records that count as in a density, or beside their point, are rejected."""
        case = median_case(AR, "weak")
        draws = made(case, 0.3).sample(TIED, N, rng=3)
        assert not fits(draws, law(median_case(AR, "strict"), TIED, 0.3))
        assert not fits(draws, law(case, [min(x + 1, 39) for x in TIED], 0.3))
        assert not fits(draws, law(case, TIED[:-1], 0.3))

    @pytest.mark.statistical
    def test_few_draws_at_a_time_follow_it(self):
        case = median_case(AR, "weak", 1)
        m, p = made(case, 0.3), law(case, SPREAD, 0.3)
        assert fits(np.array([m.sample(SPREAD, rng=i) for i in range(8000)]), p)
        assert fits(np.concatenate([m.sample(SPREAD, 4, rng=i) for i in range(8000)]), p)

    @pytest.mark.statistical
    @each("reach", [1, None], ids=["narrow", "as it is"])
    @each(("case", "records"), [CASES[i] for i in ROWS], ids=name_of)
    def test_one_draw_of_each_row_follows_it(self, case, records, reach):
        """Of many equal rows; with a narrow window most points take an exact coin."""
        p, size, m = law(case, records, 0.3), 3_000 if reach else N // 8, made(case, 0.3)
        statistic = m._statistic  # which equal mechanisms share
        with changed((statistic, "reach", reach or statistic.reach)):
            assert fits(m.sample(np.tile(records, (size, 1)), rng=1), p)

    @pytest.mark.statistical
    def test_power_of_rows(self):
        case, records = CASES[0]
        rows = np.tile(records, (N, 1))
        for factor in (0.9, 1.1):
            assert not fits(made(case, 0.3 * factor).sample(rows, rng=2), law(case, records, 0.3))

    @pytest.mark.statistical
    def test_by_gumbels_too(self):
        case = median_case(AR, "weak")
        draws = made(case, 0.3).sample(TIED, 100_000, rng=5, method="gumbel")
        assert fits(draws, law(case, TIED, 0.3))

    @pytest.mark.statistical
    def test_draws_are_independent(self):
        """Of each other, of the next draw, and of other streams."""
        case = median_case(AR, "weak")
        m, p = made(case, 0.3, 9), law(case, [1, 4, 4, 7], 0.3, 9)
        draws, other = (m.sample([1, 4, 4, 7], N, rng=6, streams=[i]) for i in (0, 1))
        pairs = np.outer(p, p).ravel()
        assert fits(9 * draws[:-1:2] + draws[1::2], pairs)
        assert fits(9 * draws[:-4096] + draws[4096:], pairs)
        assert fits(9 * draws + other, pairs)
        assert not fits(9 * draws + draws, pairs)

    @each("size", [None, 1, 5, 4097, 150_000])
    def test_threads_and_states_change_nothing(self, size):
        m = fx.Median(0.05, (0, 1))
        records = np.random.default_rng(1).random(300)
        one = np.asarray(m.sample(records, size, rng=9))
        for threads in (2, 0):
            again = np.asarray(m.sample(records, size, rng=9, threads=threads))
            assert again.tobytes() == one.tobytes()
        assert np.asarray(m.sample(records, size, rng=10)).tobytes() != one.tobytes()


class TestSmallWindows:
    """Windows of a rank or a few: many draws fall on bounds, and are accepted by coins."""

    @pytest.fixture(autouse=True)
    def _remembered_distances(self, monkeypatch):
        """Of each point once: draws that fall on bounds are meant to be rare."""
        kept, own = {}, rank.RankShape.distance

        def distance(shape, t):
            if (shape, t) not in kept:
                kept[shape, t] = own(shape, t)
            return kept[shape, t]

        monkeypatch.setattr(rank.RankShape, "distance", distance)

    @pytest.mark.statistical
    @each(("case", "records"), CASES[:11], ids=name_of)
    @each("reach", [1, 3])
    def test_samples_follow_the_law(self, case, records, reach):
        p = law(case, records, 0.3)
        (shape,) = checks.small_windows(made(case, 0.3), records, (reach,))
        assert shape.cells.loose is not None or len(records) < 4 * reach
        assert fits(cells.simulate(shape, Sampling(COINS, 1, None, 1, None)), p)

    @pytest.mark.statistical
    def test_coins_matter(self):
        """Without them the law is another one."""
        (shape,) = checks.small_windows(made(CASES[0][0], 0.3), TIED, (1,))
        exact = shape.cells
        shape.cells = exact._replace(loose=None)
        p = law(CASES[0][0], TIED, 0.3)
        assert not fits(cells.simulate(shape, Sampling(COINS, 1, None, 1, None)), p)
        assert not fits(np.array([cells.release(shape) for _ in range(RELEASES)]), p)
        shape.cells = exact
        assert fits(np.array([cells.release(shape) for _ in range(RELEASES)]), p)

    @pytest.mark.statistical
    @each("number", [1, 4, 6, 9, 10])
    def test_releases_follow_the_law(self, number):
        case, records = CASES[number]
        (shape,) = checks.small_windows(made(case, 0.3), records, (1,))
        assert fits(
            np.array([cells.release(shape) for _ in range(RELEASES)]), law(case, records, 0.3)
        )

    @pytest.mark.statistical
    def test_ties_across_the_edge(self):
        """A record's whole point belongs to the window, or none of it."""
        case, records = median_case(AR, "weak", 1), [*[4] * 30, 5, 6, 7, *[30] * 31]
        p = law(case, records, 0.05)
        for reach in (1, 2, 5):
            (shape,) = checks.small_windows(made(case, 0.05), records, (reach,))
            assert fits(cells.simulate(shape, Sampling(COINS, reach, None, 1, None)), p)

    @pytest.mark.statistical
    @pytest.mark.parametrize("threads", [1, 2])
    def test_unsorted_records_of_small_windows(self, threads):
        """The source counts the records of a point that a bound left open."""
        case = median_case(AR, "weak")
        records = np.random.default_rng(3).permutation(np.tile(SPREAD, 3)).astype(float)
        p = law(case, records.astype(int).tolist(), 0.05)
        statistic = checks.with_reach(made(case, 0.05), 2)
        with checks.changed(*SMALL_BUFFERS):
            for data in (records, lambda: np.array_split(records, 3), (records, np.ones(72, int))):
                shape = statistic.shape(Records(data).source(threads=threads))
                assert shape.cells.loose is not None
                assert fits(cells.simulate(shape, Sampling(COINS, 4, None, threads, None)), p)

    def test_few_draws_need_a_coin(self):
        """With the window as it is: fewer than one in a million."""
        m = fx.Median(1.0, (0, 1))
        records = np.random.default_rng(5).random(3000)
        shape = checks.shape_of(m, records)
        _, count, bits, _, loose = shape.cells
        weights = count * np.exp(float(shape.weighting.rate) * bits.view(np.int64))
        assert loose.any()
        assert weights[loose].sum() / weights.sum() < 2.0**-23


class TestReleases:
    """From the operating system's randomness."""

    @pytest.mark.statistical
    @each("number", [0, 2, 3, 6, 9, 11, 12, 13])
    def test_they_follow_the_law(self, number):
        case, records = CASES[number]
        m = made(case, 0.3)
        draws = np.array([m.release(records) for _ in range(RELEASES)])
        assert fits(draws, law(case, records, 0.3))

    @pytest.mark.statistical
    @pytest.mark.parametrize("epsilon", [0.1, 0.12])
    def test_long_windows_follow_the_law(self, monkeypatch, epsilon):
        """Points in the place of records; those of another epsilon are noticed."""
        case, records = quantile(0.003, AR, "weak"), sorted(SPREAD * 3)
        monkeypatch.setattr(rank, "MIN_LONG_RANKS", 0)
        monkeypatch.setattr(rank, "table", calls := Counted(rank.table))
        with checks.changed(*SMALL_BUFFERS):
            m = made(case, epsilon)
            draws = np.array([m.release(lambda: iter([np.array(records)])) for _ in range(20_000)])
        assert calls.number == 2 * draws.size
        assert fits(draws, law(case, records, 0.1)) == (epsilon == 0.1)

    @pytest.mark.statistical
    def test_power_a_fifth_of_epsilon_is_noticed(self):
        case = median_case(AR, "weak")
        m = made(case, 0.36)
        draws = np.array([m.release(TIED) for _ in range(3 * RELEASES)])
        assert not fits(draws, law(case, TIED, 0.3))

    @pytest.mark.statistical
    @pytest.mark.slow
    def test_they_agree_with_samples(self):
        m = fx.Quantile(0.25, 0.4, (0.0, 39.0), step=1.0)
        released = np.array([m.release(SPREAD) for _ in range(RELEASES)]).astype(int)
        drawn = m.sample(SPREAD, N, rng=1).astype(int)
        pair = [np.bincount(x, minlength=SIZE) for x in (released, drawn)]
        assert two_sample_fits(*pair)


def integral_transform(mechanism, records, draws, seed=0):
    """The exact cdf at each draw, and a uniform share of its point: uniform if the law is right."""
    start, count, bits, _, loose = checks.shape_of(mechanism, records).cells
    assert loose is None
    utility = bits.view(np.int64)
    weights = count * np.exp(float(mechanism._statistic.weighting.rate) * (utility - utility.max()))
    p = weights / weights.sum()
    before = np.concatenate([[0.0], np.cumsum(p)])
    index = mechanism.grid.index(draws)
    cell = np.searchsorted(start, index, "right") - 1
    inside = index - start[cell] + np.random.default_rng(seed).random(draws.size)
    return before[cell] + p[cell] * (inside / count[cell])


def distance_from_uniform(x):
    x = np.sort(x)
    steps = np.arange(x.size + 1) / x.size
    return max((steps[1:] - x).max(), (x - steps[:-1]).max())


class TestFineGrids:
    """Probability integral transforms on 2**40 points."""

    MECHANISMS = [  # noqa: RUF012
        fx.Median(0.5, (0, 1)),
        fx.Median(0.5, (0, 1), neighbors=SW, convention="strict", widen=0.03),
        fx.Quantile(0.9, 0.5, (0, 1)),
        fx.Maximum(0.5, (0, 1)),
        fx.Mode(3.0, (0, 1), widen=0.02),
    ]
    RECORDS = np.round(np.random.default_rng(8).random(31), 2)

    @pytest.mark.statistical
    @each("mechanism", MECHANISMS, ids=repr)
    def test_they_are_uniform(self, mechanism):
        draws = mechanism.sample(self.RECORDS, N, rng=1)
        x = integral_transform(mechanism, self.RECORDS, draws)
        assert distance_from_uniform(x) <= kstwo.isf(ALPHA, N)

    @pytest.mark.statistical
    @pytest.mark.slow
    def test_releases_too(self):
        m = self.MECHANISMS[0]
        draws = np.array([m.release(self.RECORDS) for _ in range(RELEASES)])
        x = integral_transform(m, self.RECORDS, draws)
        assert distance_from_uniform(x) <= kstwo.isf(ALPHA, RELEASES)

    @pytest.mark.statistical
    @pytest.mark.slow
    @each("number", [0, 2, 3])
    def test_power(self, number):
        """Five percent of epsilon, and a record less, are noticed."""
        m = self.MECHANISMS[number]
        limit = kstwo.isf(ALPHA, N)
        for factor in (0.9, 1.1):
            make = type(m)
            own = {"q": 0.9} if make is fx.Quantile else {}
            wrong = make(epsilon=0.5 * factor, bounds=(0, 1), **own).sample(self.RECORDS, N, rng=2)
            assert distance_from_uniform(integral_transform(m, self.RECORDS, wrong)) > limit
        draws = m.sample(np.sort(self.RECORDS)[:-2], N, rng=1)
        assert distance_from_uniform(integral_transform(m, self.RECORDS, draws)) > limit

    @pytest.mark.statistical
    def test_points_of_a_gap_are_equally_likely(self):
        """Their low bits, and their place in the gap, whatever the gap."""
        m = fx.Median(0.5, (0, 2**40), step=1)
        records = [2**20, 2**20 + 37, 3 * 2**38]
        draws = m.sample(records, N, rng=4)
        wide = draws[(draws > records[1]) & (draws < records[2])]
        assert wide.size > N / 5
        assert fits((wide % 64).astype(int), np.full(64, 1 / 64))
        place = (wide - records[1] - 1) * 50 // (records[2] - records[1] - 1)
        assert fits(place.astype(int), np.full(50, 1 / 50))
        assert not fits((wide // 2 * 2 % 64).astype(int), np.full(64, 1 / 64))

    @pytest.mark.statistical
    def test_a_short_gap(self):
        m = fx.Median(6.0, (0, 2**30), step=1)
        draws = m.sample([100] * 30 + [137] * 30, N, rng=4)
        inside = draws[(draws >= 100) & (draws <= 137)] - 100
        assert inside.size > 0.99 * N
        assert fits(inside, np.full(38, 1 / 38))

    @pytest.mark.statistical
    def test_the_critical_distance(self):
        assert math.isclose(kstwo.sf(kstwo.isf(ALPHA, N), N), ALPHA, rel_tol=1e-6)


def test_the_twins_are_not_the_mechanisms():
    """Laws here come from formulas written out, not from the cells that draws use."""
    own = on_ranks(twins.weak_add_remove)([3, 3, 5], 7)
    assert own == [3, 3, 3, 0, 1, 1, 3]


@each("r", [1, 2, 5, 50, 2**31 - 1])
@each("widen", [0, 2])
def test_more_ranks_than_records(r, widen):
    """The 50th largest of three: every point loses as much as it would take to have 50."""
    for n, epsilon in itertools.product((0, 1, 2, 3, 5), (1.0, 400.0)):
        m = fx.OrderStatistic(r, epsilon, (0, 10), step=1, widen=widen)
        records = np.arange(1.0, n + 1)
        own = twins.distances(list(range(1, n + 1)), 11, partial(twins.order_add_remove, r))
        own = twins.widened(own, widen)
        law = m.law(records)
        weights = np.exp(-epsilon / 2 * (np.array(own, float) - min(own)))
        assert np.allclose(law.pmf(np.arange(11)), weights / weights.sum(), rtol=1e-12, atol=1e-300)
        drawn = m.sample(records, 50, rng=1).tolist()
        for way in (lambda x=records: x, records[None], (records, np.ones(n, int))):
            assert np.ravel(m.sample(way, 50, rng=1)).tolist() == drawn
        assert law.sample(50, rng=1).tolist() == drawn
        assert m.release(records) in range(11)
