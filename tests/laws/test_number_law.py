"""Is the law of a private number that of its distance, and as private as it promises?"""

from __future__ import annotations

import itertools
import math
import os
import warnings
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastexp as fx
from tests.support.checks import numbers as checks
from tests.support.checks.numbers import (
    AR,
    CASES,
    CONVENTIONS,
    HALF,
    MEDIANS,
    MODES,
    ORDERS,
    QUANTILES,
    SW,
)
from tests.support.each import each
from tests.twins import numbers as twins

LN2 = 2 * math.log(2)  # the epsilon at which a step of distance halves the weight, nearly
FAR = 2**40  # points


def masses(mechanism, records, q=HALF):
    """Exact weights q**distance of every grid point, from the mechanism's cells."""
    return [q**d for d in checks.distances(mechanism, records)]


@pytest.mark.proof
class TestPromise:
    """All data sets of up to 4 records on all grids of up to 6 points, and all neighbours."""

    @each("case", CASES, ids=repr)
    def test_every_pair_keeps_epsilon(self, case):
        worst = checks.promises_hold((2, 3, 4, 5, 6), 4, [case])[case.name]
        assert 0.5 < worst + 0.04 < 1.04

    def test_also_on_points_that_are_given(self):
        checks.promises_hold_on_points((2, 3, 5, 6), 3)

    def test_a_thousand_points_come_close_to_epsilon(self):
        for epsilon in (0.5, 1.0, 2.0):
            ratio, width = checks.the_test_has_teeth(epsilon, half=30)
            assert ratio > 0.99
            assert width > 0.999

    def test_twice_the_rate_would_be_noticed(self):
        case = MEDIANS[0]
        pairs = [((0, 1, 1), (1, 0, 0)), ((2, 0, 2), (1, 1, 3))]
        rate = case.make(1.0, (0, 2), step=1)._statistic.weighting.rate
        assert checks.worst_ratio(pairs, rate, 1.0) <= 1.0
        with pytest.raises(AssertionError):
            checks.worst_ratio(pairs, 2 * rate, 1.0)

    def test_a_distance_for_add_remove_is_not_private_under_replace(self):
        wrong = MEDIANS[0]._replace(neighbors=SW)
        with pytest.raises(AssertionError):
            checks.promise_holds(wrong, 4, 3)

    @each("case", [MEDIANS[0], MEDIANS[12], QUANTILES[0], ORDERS[0], MODES[0]])
    def test_guarantees_say_so(self, case):
        found = case.make(0.7, (0, 3), step=1).guarantee
        assert found.epsilon == found.bounded_range == 0.7
        assert found.rho == pytest.approx(0.7**2 / 8)
        assert found.neighbors == case.neighbors


class TestLaw:
    """Cells and what they weigh, against the twins' distances at every point."""

    @pytest.mark.slow
    def test_probabilities_are_the_twins(self):
        checks.laws_are_the_twin()

    @pytest.mark.slow
    def test_cells_are_distances(self):
        checks.cells_are_distances()

    @pytest.mark.slow
    def test_loose_cells_are_bounds(self):
        assert checks.loose_cells_are_bounds() > 500

    def test_windows_hold_what_is_near(self):
        checks.windows_hold_what_is_near()

    @pytest.mark.slow
    def test_cells_of_any_source_are_the_same(self):
        checks.cells_of_any_source_are_the_same(40)

    @pytest.mark.slow
    @given(
        case=st.sampled_from(CASES),
        size=st.integers(2, 40),
        data=st.data(),
    )
    @settings(max_examples=300, deadline=None)
    def test_any_data_set(self, case, size, data):
        indices = sorted(data.draw(st.lists(st.integers(0, size - 1), max_size=25)))
        checks.cells_are_the_twin(case, size, indices)

    @pytest.mark.slow
    @given(
        count=st.lists(st.integers(1, 6), min_size=1, max_size=12),
        width=st.integers(0, 80),
        data=st.data(),
    )
    @settings(max_examples=300, deadline=None)
    def test_widening_is_brute_force(self, count, width, data):
        key = data.draw(st.lists(st.integers(0, 9), min_size=len(count), max_size=len(count)))
        checks.widening_is_brute_force(np.array(count), np.array(key), width)

    @each("neighbors", [AR, SW])
    @each("convention", CONVENTIONS)
    def test_the_half_quantile_is_the_median(self, neighbors, convention):
        rng = np.random.default_rng(2)
        own = {"step": 1, "neighbors": neighbors, "convention": convention, "widen": 1}
        median = fx.Median(1.3, (0, 30), **own)
        for q in (0.5, Fraction(1, 2)):
            quantile = fx.Quantile(q, 1.3, (0, 30), **own)
            assert quantile._statistic.weighting.rate == median._statistic.weighting.rate
            for n in (0, 1, 2, 13, 40):
                records = rng.integers(0, 31, n)
                cells = [checks.shape_of(m, records).cells for m in (median, quantile)]
                assert cells[0].start.tolist() == cells[1].start.tolist()
                assert cells[0].bits.tolist() == cells[1].bits.tolist()
                draws = [m.sample(records, 40, rng=n) for m in (median, quantile)]
                assert draws[0].tolist() == draws[1].tolist()

    def test_the_maximum_is_the_first_order_statistic(self):
        records = [3, 9, 9, 1, 4]
        pair = fx.Maximum(0.8, (0, 12), step=1), fx.OrderStatistic(1, 0.8, (0, 12), step=1)
        assert checks.distances(pair[0], records) == checks.distances(pair[1], records)
        draws = [m.sample(records, 60, rng=4).tolist() for m in pair]
        assert draws[0] == draws[1]

    @each("case", [*MEDIANS[::3], QUANTILES[1], ORDERS[1], MODES[0]], ids=repr)
    def test_records_count_at_their_grid_points(self, case):
        """At the nearest one, half-way at the even one; those outside at the ends."""
        mechanism = case.make(1.0, (0, 9), step=1)
        records = [-1e9, -0.5, 0.49, 0.5, 2.5, 3.0, 3.5, 3.7, 8.5, 8.999, 9.5, math.inf]
        mapped = [0, 0, 0, 0, 2, 3, 4, 4, 8, 9, 9, 9]
        assert checks.distances(mechanism, records) == checks.distances(mechanism, mapped)
        own = [d * case.unit for d in checks.distances(mechanism, records)]
        assert own == case.distances(mapped, 10)

    def test_no_records_give_the_uniform_law(self):
        for case in CASES:
            mechanism = case.make(1.0, (0, 9), step=1)
            assert len(set(checks.distances(mechanism, []))) == 1

    def test_gaps_of_a_fine_grid_take_no_work(self):
        mechanism = fx.Median(1.0, (0, FAR), step=1)
        cells = checks.shape_of(mechanism, [3, 3, 2**30, FAR - 1]).cells
        assert cells.start.tolist() == [0, 3, 4, 2**30, 2**30 + 1, FAR - 1, FAR]
        assert cells.count.sum() == FAR + 1


class TestPublishedFractions:
    """Densities of small data sets, exact in fractions, by way of a grid.

    The grid has the records' points and the middles of all unit intervals. A gap holds as
    many middles as it is long, and no record lies on one: given that the answer is a middle,
    gaps have the masses of the density.
    """

    AT: ClassVar = {
        (AR, "weak"): ([1, 2, 4, 7], [1, 4, 32, 12, 3]),
        (AR, "strict"): ([1, 2, 4, 7], [1, 4, 32, 12, 3]),
        (AR, "lower"): ([1, 2, 4, 7], [2, 8, 32, 12, 3]),
        (AR, "upper"): ([1, 2, 4, 7], [1, 4, 32, 24, 6]),
        (SW, "lower"): ([1, 2, 4, 7], [2, 4, 8, 6, 3]),
        (SW, "weak"): ([1, 2, 4, 7], [1, 2, 8, 6, 3]),
    }
    TIES: ClassVar = [([3, 3, 3, 5], [3, 8, 5]), ([-5, 2, 2, 20], [1, 4])]

    def gaps(self, mechanism, records, weights):
        """The masses of the middles of each gap, in proportion."""
        clamped = sorted({min(max(x, 0), 10) for x in records} | {0, 10})
        values = mechanism.grid.values(np.arange(mechanism.grid.size)).tolist()
        own = [(x, w) for x, w in zip(values, weights, strict=True) if x % 1]
        sums = [
            sum(w for x, w in own if low < x < high) for low, high in itertools.pairwise(clamped)
        ]
        return [s / sum(sums) for s in sums]

    def mechanism(self, records, **how):
        points = {float(min(max(x, 0), 10)) for x in records} | {i + 0.5 for i in range(10)}
        return fx.Median(LN2, (0, 10), grid=sorted(points), **how)

    @each(("neighbors", "convention"), AT)
    def test_conventions(self, neighbors, convention):
        records, printed = self.AT[neighbors, convention]
        m = self.mechanism(records, neighbors=neighbors, convention=convention)
        found = self.gaps(m, records, masses(m, records))
        assert found == [Fraction(p, sum(printed)) for p in printed]

    @pytest.mark.parametrize(("records", "printed"), TIES)
    def test_ties_and_records_outside(self, records, printed):
        m = self.mechanism(records)
        found = self.gaps(m, records, masses(m, records))
        assert found == [Fraction(p, sum(printed)) for p in printed]

    def test_the_law_itself(self):
        """One middle is left out, so that records and gaps together have the printed masses."""
        records, printed = self.AT[AR, "weak"]
        m = fx.Median(LN2, (0, 10), grid=[0, 1, 2, 4, 5, 6, 7, 8, 9, 10])
        law = checks.cell_law(checks.shape_of(m, records), 10)
        groups = [law[:1], law[1:2], law[2:4], law[4:7], law[7:]]
        found = [float(sum(g)) for g in groups]
        np.testing.assert_allclose(found, np.array(printed) / 52, rtol=1e-15)

    def test_published_scores(self):
        data = [1, 100, 102, 104, 105, 200, 365]
        m = fx.Median(1.0, (1, 365), step=1, convention="strict")
        own = checks.distances(m, data)
        assert {d: own.count(d) for d in set(own)} == {0: 1, 2: 3, 4: 97, 6: 264}
        assert [own[x - 1] for x in (104, 102, 103, 105, 200, 50)] == [0, 2, 2, 2, 4, 6]
        law = checks.cell_law(checks.shape_of(m, data), 365)
        assert float(law[103]) == pytest.approx(0.0352423567665807, rel=1e-14)
        assert sum(masses(m, data)) == Fraction("11.9375")

    @pytest.mark.parametrize(("epsilon", "p"), [(1, 2.718274439423e-6), (10, 0.0215517567616776)])
    def test_the_published_worst_case(self, epsilon, p):
        m = fx.Median(epsilon, (0, 10**6), step=1, convention="strict")
        _, count, bits, _, _ = checks.shape_of(m, [0] * 4 + [10**6] * 3).cells
        weights = count * np.exp(epsilon / 2 * bits.view(np.int64))
        assert weights[0] / weights.sum() == pytest.approx(p, rel=1e-12)
        assert count.tolist() == [1, 10**6 - 1, 1]


class TestEqualRecords:
    """The trap of a density: a single value has no mass. A grid point has."""

    @pytest.mark.slow
    def test_forty_on_eight_points(self):
        m = fx.Median(1.0, (0, 7), step=1)
        records = [3] * 40
        assert set(m.sample(records, 100_000, rng=1).tolist()) == {3}  # 1.4e-8 a draw
        assert {m.release(records) for _ in range(2000)} == {3}
        law = checks.cell_law(checks.shape_of(m, records), 8)
        assert float(1 - law[3]) == pytest.approx(7 * math.exp(-20), rel=1e-7)
        assert law == twins.grid_law(records, 8, twins.weak_add_remove, HALF, checks.DIGITS)

    @each("n", [20, 54, 55, 56, 80])
    def test_below_and_above_the_logarithm_of_the_grid(self, n):
        """n * epsilon / 2 against ln 2**40 = 27.7: a point among many, or nearly sure."""
        m = fx.Median(1.0, (0, FAR), step=1)
        start, _, bits, _, _ = checks.shape_of(m, [77] * n).cells
        assert start.tolist() == [0, 77, 78]
        assert (-bits.view(np.int64)).tolist() == [n, 0, n]
        p = 1 / (1 + FAR * math.exp(-n / 2))
        hits = int((m.sample([77] * n, 200_000, rng=n) == 77).sum())
        deviation = math.sqrt(200_000 * p * (1 - p))
        assert abs(hits - 200_000 * p) <= 6.5 * deviation + 1

    @pytest.mark.slow
    @pytest.mark.parametrize("epsilon", [1.0, 0.01])
    def test_one_more_makes_no_difference_that_shows(self, epsilon):
        """Elsewhere 2,977 equal records gave an answer and 2,978 a crash."""
        m = fx.Median(epsilon, (0, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for n in (2976, 2977, 2978, 2979, 100_000):
                for records in ([0.5] * n, np.full(n, 0.5), (np.array([0.5]), np.array([n]))):
                    draws = m.sample(records, 300, rng=n)
                    assert ((draws >= 0) & (draws <= 1)).all()
                    near = (draws == 0.5).mean()
                    assert (near == 1) == (epsilon * n / 2 > 60)
                    assert (m.release(records) == 0.5) or near < 1

    def test_underflow_is_no_event(self):
        """Weights of e**-5e8 beside 1, and all weights far below 1."""
        m = fx.Median(1000.0, (0, 9), step=1)
        assert set(m.sample(([2], [10**6]), 200, rng=1).tolist()) == {2}
        top = fx.Maximum(1000.0, (0, 9), step=1)
        assert set(top.sample(([9, 0], [5, 10**6]), 200, rng=1).tolist()) == {9}

    @each("widen", [0.0, 1e-4, 1e-2])
    def test_widening_gives_ties_a_neighbourhood(self, widen):
        """On a grid of 2**40 steps: 0.5 +- widen has distance 0."""
        n = 40
        m = fx.Median(1.0, (0, 1), widen=widen)
        width = int(Fraction(repr(widen)) * FAR)
        start, count, bits, _, _ = checks.shape_of(m, [0.5] * n).cells
        assert count.tolist()[1] == 2 * width + 1
        assert start.tolist() == [0, FAR // 2 - width, FAR // 2 + width + 1]
        assert (-bits.view(np.int64)).tolist() == [n, 0, n]
        draws = m.sample([0.5] * n, 50_000, rng=2)
        p = 1 / (1 + (FAR - 2 * width) / (2 * width + 1) * math.exp(-n / 2))
        inside = int((np.abs(draws - 0.5) <= widen).sum())
        assert abs(inside - 50_000 * p) <= 6.5 * math.sqrt(50_000 * p * (1 - p)) + 1
        if widen:
            assert len(np.unique(draws)) > 40_000


class TestPlacesAndCoins:
    """The integers that choose a point, and the coins that refuse one."""

    @pytest.mark.slow
    def test_places(self):
        checks.the_twin_of_places_is_uniform()
        checks.places_are_the_twin()
        checks.filled_places_are_the_twin(50_000)

    @pytest.mark.slow
    def test_coins(self):
        mpmath = pytest.importorskip("mpmath")

        def exp(exponent):
            with mpmath.workdps(60):
                found = mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)
                man, power = found.man_exp
                return Fraction(int(man)) * Fraction(2) ** int(power)

        rng = np.random.default_rng(3)
        heights = [*checks.HEIGHTS, *rng.exponential(3, 200), *10 ** rng.uniform(-12, 2.8, 200)]
        checks.coins_are_never_wrong([h for h in heights if h < 700], exp)
        assert checks.coins_are_never_wrong([0.5, 1.0, 3.7]) < 2.0**-30
        checks.exact_coins_draw_on()

    @pytest.mark.slow
    def test_draws_read_the_words_that_the_format_names(self):
        checks.simulations_are_the_twin()
        checks.releases_read_words()

    @pytest.mark.slow
    def test_draws_of_several_substreams(self):
        m = fx.Median(0.5, (0, 2**40), step=1)
        (shape,) = checks.small_windows(m, [5, 2**39, 2**39 + 1, 2**40], (1,))
        checks.draws_are_the_twin(shape, 9000, 7)

    def test_the_other_kernel_for_cells(self):
        m = fx.Median(0.5, (0, 40), step=1)
        (shape,) = checks.small_windows(m, [5, 6, 20, 33], (1,))
        checks.draws_are_the_twin(shape, 50, 7, "gumbel")
        checks.gumbels_count_points()


class TestMechanisms:
    @pytest.mark.process
    def test_releases_never_repeat(self):
        """Nor do those of forked children."""
        m = fx.Median(1.0, (0, 1))
        found = [m.release([0.5]) for _ in range(300)]
        assert len(set(found)) == 300
        if hasattr(os, "fork"):
            for _ in range(8):
                read, write = os.pipe()
                if os.fork() == 0:
                    os.write(write, repr(m.release([0.5])).encode())
                    os._exit(0)
                os.close(write)
                with os.fdopen(read) as pipe:
                    found.append(float(pipe.read()))
                os.wait()
            assert len(set(found)) == 308

    def test_types_of_answers(self):
        whole, fine = fx.Median(1.0, (0, 9), step=1), fx.Median(1.0, (0, 9))
        points = fx.Median(1.0, (0, 9), grid=[0.5, 1])
        for m, kind, dtype in ((whole, int, "i8"), (fine, float, "f8"), (points, float, "f8")):
            for records in ([1, 2, 3], [1.5, 2.5], []):
                assert type(m.release(records)) is kind
                assert type(m.sample(records)) is kind
                assert m.sample(records, 3).dtype == np.dtype(dtype)
                assert m.sample(records, 0).shape == (0,)
