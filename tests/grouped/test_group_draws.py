"""Do kernels of segments draw what the exact twin draws, from the same cells and words?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.grouped import (
    ExponentialCountDraws,
    FlipCountDraws,
    PriceDraws,
    RankDraws,
    Segments,
    ShapeDraws,
    chunks,
    draw_all,
    intake,
    pivots,
    prices,
    regular,
    segments,
)
from tests.doors.kernels import segment_prices, segment_sort
from tests.doors.numbers import table
from tests.doors.reference import exact, group_draw, upper, weight_floor
from tests.support.checks.groups import KEY, POINTS, by_kernel, exact_draws, twin_draws
from tests.support.each import each
from tests.support.goodness import counts_fit, fits
from tests.support.small_words import GivenWords, SortedWords


class TestWeights:
    @each("rate", [Fraction(1, 2), Fraction(1, 77), Fraction(1, 4000), Fraction(9)])
    def test_every_entry_is_the_next_integer_above_the_weight(self, rate):
        found = table(rate, 10**6)
        places = {0, 1, 2, 1023, 1024, 1025, found.size - 2, found.size - 1}
        for e in sorted(p for p in places if 0 <= p < found.size):
            lo, hi = exact.exp_bounds(rate * e, 400)
            weight = int(found[e])
            assert weight << 340 >= hi
            assert e == 0 or weight - 1 << 340 <= lo

    @pytest.mark.parametrize("exponent", [Fraction(1, 10**250), Fraction(1, 3 << 60)])
    def test_next_to_1_as_bounds_of_many_digits_tell(self, exponent):
        for e in (exponent, Fraction(1, 1 << 60), Fraction(1 + exponent, 1 << 60)):
            lo, hi = exact.exp_bounds(e, 2000)
            assert lo >> 1940 == hi - 1 >> 1940 == weight_floor(e, 1)

    def test_the_last_entry_stands_for_all_that_follow(self):
        found = table(Fraction(1, 3), 10**9)
        assert found[-1] == 1
        assert upper(Fraction(1, 3), found.size + 5) == 1

    def test_a_short_table_begins_like_a_long_one(self):
        short, long = table(Fraction(1, 50), 20), table(Fraction(1, 50), 900)
        assert short.size >= 21
        assert (long[: short.size] == short).all()


class TestTheTwin:
    @pytest.mark.statistical
    @pytest.mark.slow
    def test_its_law_is_the_mechanisms(self):
        """Three cells, one of them only bounded: true distances 1, 0, 0, 0, 3 and 2."""
        cells = [(0, 1, 1, False), (1, 3, 0, False), (4, 2, 2, True)]
        true = {4: 3, 5: 2}.__getitem__
        rng, draws = np.random.default_rng(3), 40_000
        counts = np.zeros(6, dtype=int)

        def word():
            return int(rng.integers(2**64, dtype=np.uint64))

        for _ in range(draws):
            first = [word() for _ in range(4)]
            counts[group_draw(cells, Fraction(7, 10), first, word, true)] += 1
        weights = np.exp(-0.7 * np.array([1, 0, 0, 0, 3, 2]))
        assert counts_fit(counts, weights / weights.sum())


MECHANISMS = [
    fx.Median(epsilon=1.0, bounds=(0, 20), step=1),
    fx.Median(epsilon=0.3, bounds=(0, 20), step=1, neighbors="replace"),
    fx.Median(epsilon=2.0, bounds=(0, 20), step=1, convention="strict"),
    fx.Median(epsilon=6.0, bounds=(0, 1000)),
    fx.Median(epsilon=1.0, bounds=(0, 20), grid=[0, 1, 4, 9, 16, 20]),
    fx.Median(epsilon=1.0, bounds=(-(2**60), 2**60), step=2**20),
    fx.Median(epsilon=1.0, bounds=(-3.7, 3.3), step=0.1),
    fx.Quantile(0.3, epsilon=1.0, bounds=(0, 20), step=1),
    fx.Quantile(0.9, epsilon=4.0, bounds=(0, 20), step=1, convention="lower"),
    fx.OrderStatistic(2, epsilon=1.0, bounds=(0, 20), step=1),
    fx.OrderStatistic(40, epsilon=3.0, bounds=(0, 20), step=1),
    fx.Maximum(epsilon=5.0, bounds=(0, 20), step=1),
]


class TestRanks:
    @pytest.mark.slow
    @each("mechanism", MECHANISMS, ids=lambda m: repr(m)[:40])
    @each("floats", [True, False])
    def test_draws_are_those_of_the_twin(self, mechanism, floats):
        statistic, rng = mechanism._statistic, np.random.default_rng(1)
        lengths = [0, 1, 2, 3, 7, 0, 20, 31, 32, 33, 64, 65, 100, 150]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        values = rng.integers(-2, 24, offsets[-1])
        values = values + 0.25 * (values % 3) if floats else values
        words = GivenWords(KEY, len(lengths))
        found = by_kernel(statistic, values, offsets, words, 3)
        for g in range(len(lengths)):
            own = values[offsets[g] : offsets[g + 1]]
            assert found[g].tolist() == twin_draws(statistic, own, words, g, 3)

    @pytest.mark.slow
    @each(
        "make",
        [
            lambda rng, n: rng.normal(0, 1, n),
            lambda rng, n: np.sort(rng.normal(0, 1, n)),
            lambda rng, n: rng.integers(0, 3, n) / 10,
            lambda rng, n: np.zeros(n),
            lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, rng.normal(0, 1, n)),
            lambda rng, n: np.where(np.arange(n) % (n // 256 + 1) == 0, 9.0, rng.normal(0, 1, n)),
        ],
        ids=["normal", "sorted", "few", "equal", "half equal", "a sample misleads"],
    )
    @each("epsilon", [0.05, 1.0, 30.0])
    def test_long_segments_need_not_be_sorted(self, make, epsilon):
        """Their window is found by pivots, or by a full sort: the same draws."""
        mechanism = fx.Median(epsilon=epsilon, bounds=(-4, 4))
        rng, lengths = np.random.default_rng(2), [513, 600, 5_000, 70_000]
        values = np.concatenate([make(rng, n) for n in lengths])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        words = [kind(KEY, len(lengths)) for kind in (GivenWords, SortedWords)]
        short, long = (by_kernel(mechanism._statistic, values, offsets, w, 2) for w in words)
        assert (short == long).all()
        for g in (0, 2, 3):
            own = values[offsets[g] : offsets[g + 1]]
            assert short[g].tolist() == twin_draws(mechanism._statistic, own, words[0], g, 2)

    def test_draws_that_bounds_leave_open_are_drawn_exactly(self, monkeypatch):
        """High epsilon and few records: cells beyond the window are loose, and are met."""
        mechanism = fx.Median(epsilon=0.001, bounds=(0, 2**30), step=1)
        monkeypatch.setattr(mechanism._statistic, "reach", 2)  # everything else is loose
        rng = np.random.default_rng(4)
        values, offsets = rng.integers(0, 2**30, 4_000), np.arange(0, 4_001, 40)
        words, asked = GivenWords(KEY, 100), []
        original = RankDraws._exactly
        monkeypatch.setattr(RankDraws, "_exactly", lambda *args: asked.append(1) or original(*args))
        found = by_kernel(mechanism._statistic, values, offsets, words, 2)
        assert len(asked) > 50
        for g in range(100):
            own = values[offsets[g] : offsets[g + 1]]
            assert found[g].tolist() == twin_draws(mechanism._statistic, own, words, g, 2)

    def test_chunks_and_threads_do_not_matter(self, monkeypatch):
        mechanism = fx.Median(epsilon=1.0, bounds=(0, 1))
        rng = np.random.default_rng(5)
        lengths = rng.integers(0, 60, 2_000)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        values, words = rng.random(offsets[-1]), GivenWords(KEY, lengths.size)
        whole = by_kernel(mechanism._statistic, values, offsets, words, 2)
        assert (
            by_kernel(mechanism._statistic, values, offsets, words, 2, threads=3) == whole
        ).all()
        monkeypatch.setattr(segments, "CHUNK_RECORDS", 100)
        assert (by_kernel(mechanism._statistic, values, offsets, words, 2) == whole).all()


class TestFlips:
    """The most common candidate by permute-and-flip, by the public verbs."""

    RNG = np.random.default_rng(9)
    BY, LABELS = RNG.integers(0, 50, 3_000), RNG.integers(0, 20, 3_000)
    FLIPS = fx.MostCommon(0.2, range(20), mechanism="permute-and-flip")

    def test_a_group_is_drawn_for_alone(self):
        """Whatever other groups, chunks, threads and the order of records are."""
        found = self.FLIPS.sample(self.LABELS, 3, by=self.BY, groups=range(50), rng=1)
        for g in (0, 7, 49):
            mine = g == self.BY
            how = {"groups": [99, g], "rng": 1}
            alone = self.FLIPS.sample(self.LABELS[mine][::-1], 3, by=self.BY[mine], **how)
            assert (alone[1] == found[g]).all()

    def test_chunks_and_threads_do_not_matter(self, monkeypatch):
        how = {"by": self.BY, "groups": range(50), "rng": 1}
        whole = self.FLIPS.sample(self.LABELS, 3, **how)
        monkeypatch.setattr(segments, "CHUNK_RECORDS", 100)
        monkeypatch.setattr(segments, "MIN_THREADED_RECORDS", 1)
        assert (self.FLIPS.sample(self.LABELS, 3, **how, threads=3) == whole).all()

    def test_keyed_releases_repeat_and_fresh_ones_do_not(self):
        key, how = fx.release_key(), {"by": self.BY, "groups": range(50)}
        keyed = {**how, "key": key, "label": "q"}
        first = self.FLIPS.release(self.LABELS, **keyed)
        order = np.random.default_rng(1).permutation(self.BY.size)
        mixed = {**keyed, "by": self.BY[order]}
        assert self.FLIPS.release(self.LABELS[order], **mixed, threads=2) == first
        assert self.FLIPS.release(self.LABELS, **how) != first
        exponential = fx.MostCommon(0.2, range(20))
        assert exponential.release(self.LABELS, **keyed) != first

    def test_one_candidate_wins_for_sure_where_it_is_far_ahead(self):
        flips = fx.MostCommon(1e6, range(3), mechanism="permute-and-flip")
        by = [g for g in range(200) for _ in range(3)]
        assert flips.release([0, 1, 1] * 200, by=by, groups=range(200)) == [1] * 200

    def test_memory_is_that_of_a_chunk(self, monkeypatch):
        """Words of a draw from many candidates are many: few groups go together."""
        taken = []
        original = FlipCountDraws.chunk
        monkeypatch.setattr(
            FlipCountDraws,
            "chunk",
            lambda d, a, b, *p: taken.append(b - a) or original(d, a, b, *p),
        )
        flips = fx.MostCommon(1.0, range(2_000), mechanism="permute-and-flip")
        flips.release(np.arange(2_000), by=np.arange(2_000), groups=range(2_000))
        assert sum(taken) == 2_000
        assert max(taken) <= 70


class TestChunks:
    def test_every_group_is_in_one_chunk(self):
        rng = np.random.default_rng(6)
        for _ in range(50):
            lengths = rng.integers(0, 200_000, rng.integers(1, 30))
            edges = chunks(np.concatenate([[5], 5 + np.cumsum(lengths)]), 2)
            assert edges[0] == 0
            assert edges[-1] == lengths.size
            assert (np.diff(edges) > 0).all()


class TestSort:
    @each("n", [0, 1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 129, 1000])
    @each("distinct", [1, 3, 2**52])
    def test_segments_are_sorted(self, n, distinct):
        rng = np.random.default_rng(n)
        t = rng.integers(0, distinct, 3 * n)
        expected = np.sort(t.reshape(3, n), axis=1).reshape(-1)
        offsets = np.arange(4) * n
        segment_sort.sort_segments(offsets, n, t, np.empty(max(n, 0) + 80, np.int64))
        assert (t == expected).all()


def law_of(mechanism, values):
    law = mechanism.law(values)
    return law.pmf(mechanism.grid.values(np.arange(mechanism.grid.size)))


class TestLaws:
    """One draw of each of many groups with the same records."""

    RECORDS = np.array([3, 5, 5, 6, 9, 12, 12, 18])
    GROUPS = 60_000

    def drawn(self, draws, values):
        offsets = np.arange(self.GROUPS + 1) * values.size
        segments = Segments(np.tile(values, self.GROUPS), offsets)
        return draw_all(draws(segments, GivenWords(KEY, self.GROUPS)), 1, 1)[:, 0]

    @pytest.mark.statistical
    @each("mechanism", MECHANISMS[:3] + MECHANISMS[7:], ids=lambda m: repr(m)[:40])
    def test_of_rank_statistics(self, mechanism):
        s = mechanism._statistic
        found = self.drawn(lambda part, words: RankDraws(s, part, words, 1), self.RECORDS)
        assert fits(found, law_of(mechanism, self.RECORDS))
        others = self.RECORDS[:-2], self.RECORDS[2:]  # power controls: two records less
        assert not all(fits(found, law_of(mechanism, other)) for other in others)

    @pytest.mark.statistical
    @pytest.mark.slow
    def test_of_long_groups_by_keys(self, monkeypatch):
        """Rows between pivots, by the public verb, against the law of each group."""
        rng, groups = np.random.default_rng(5), 3
        sizes, windowed = [], pivots.windowed
        by, values = rng.integers(0, groups, 140_000), rng.normal(5_000, 1_000, 140_000)

        def counting(*args):
            segments = windowed(*args)
            sizes.append(segments.values.size)
            return segments

        monkeypatch.setattr(intake, "windowed", counting)
        median = fx.Median(epsilon=0.05, bounds=(0, 10_000), step=1)
        found = median.sample(values, 20_000, by=by, groups=range(groups), rng=6)
        assert sizes[0] < values.size / 3
        for g in range(groups):
            assert fits(found[g], law_of(median, values[by == g]))
        assert not fits(found[0], law_of(median, values[by == 1]))

    @pytest.mark.fast
    @pytest.mark.statistical
    @pytest.mark.parametrize("scaling", ["tight", "textbook"])
    def test_of_prices(self, scaling):
        price = fx.Price(epsilon=2.0, bounds=(0, 20), step=1, scaling=scaling)
        assert regular(price._prices)
        found = self.drawn(
            lambda part, words: PriceDraws(price._prices, part, words, 1), self.RECORDS
        )
        assert fits(found, law_of(price, self.RECORDS))
        assert not fits(found, law_of(price, self.RECORDS[:-1]))

    @pytest.mark.fast
    @pytest.mark.statistical
    def test_of_the_most_common(self):
        mechanism = fx.MostCommon(epsilon=0.7, candidates=range(5))
        labels = np.array([0, 1, 1, 2, 2, 2, 4])
        rate = mechanism._weighting.rate
        found = self.drawn(
            lambda part, words: ExponentialCountDraws(5, rate, part, words, 1), labels
        )
        assert fits(found, mechanism.law(labels).probabilities)
        assert not fits(found, mechanism.law(labels[1:]).probabilities)

    @pytest.mark.fast
    @pytest.mark.statistical
    @each("neighbors", ["add-remove", "replace"])
    @each("k", [5, 12, 13, 40])
    def test_of_the_most_common_by_permute_and_flip(self, k, neighbors):
        how = {"epsilon": 1.2, "candidates": range(k), "neighbors": neighbors}
        mechanism = fx.MostCommon(**how, mechanism="permute-and-flip")
        labels = np.array([0, 1, 1, 2, 2, 2, 4, k - 1, k - 1])
        rate = mechanism._weighting.rate
        found = self.drawn(lambda part, words: FlipCountDraws(k, rate, part, words, 1), labels)
        assert fits(found, mechanism.law(labels).probabilities)
        assert not fits(found, mechanism.law(labels[:-1]).probabilities)
        assert not fits(found, fx.MostCommon(**how).law(labels).probabilities)

    @pytest.mark.statistical
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "mechanism",
        [
            fx.Median(epsilon=1.0, bounds=(0, 20), step=1, widen=2),
            fx.Quantile(0.8, epsilon=1.0, bounds=(0, 20), grid=POINTS, widen=2.5),
            fx.Mode(epsilon=1.0, bounds=(0, 20), step=1),
            fx.Mode(epsilon=1.0, bounds=(0, 20), step=1, widen=2),
            fx.Price(epsilon=2.0, bounds=(0.5, 20.5), grid=[0.5, 0.7, 3.3, 9.1, 20.5]),
        ],
        ids=["widened", "widened points", "mode", "widened mode", "irregular prices"],
    )
    @pytest.mark.parametrize("by_shape", [False, True])
    def test_of_widths_modes_and_prices(self, mechanism, by_shape, monkeypatch):
        """As they are drawn, and by the ways of one data set, which have any mechanism's."""
        monkeypatch.setattr(type(self), "GROUPS", 3_000)
        grid, shape = mechanism.grid, mechanism._shape

        def draws(part, words):
            if by_shape:
                return ShapeDraws(shape, grid, part, words, 1)
            return mechanism._draws(part, words, 1)

        found = self.drawn(draws, self.RECORDS)
        assert fits(found, law_of(mechanism, self.RECORDS))
        assert not fits(found, law_of(mechanism, self.RECORDS[2:]))

    @pytest.mark.statistical
    @pytest.mark.parametrize(
        "mechanism",
        [
            fx.Quantile(0.123456789, epsilon=1.0, bounds=(0, 20), step=1),
            fx.Quantile(0.123456789, epsilon=0.5, bounds=(0, 20), grid=POINTS, widen=2.5),
        ],
    )
    def test_where_weights_are_too_many_for_a_table(self, mechanism, monkeypatch):
        """Then by the ways of one data set, whose time the digits of a quantile do not change."""
        monkeypatch.setattr(type(self), "GROUPS", 3_000)
        assert mechanism._ranks is None
        found = self.drawn(lambda part, words: mechanism._draws(part, words, 1), self.RECORDS)
        assert fits(found, law_of(mechanism, self.RECORDS))
        assert not fits(found, law_of(mechanism, np.append(self.RECORDS, [0] * 12)))


class TestPrices:
    @pytest.mark.statistical
    def test_refused_coins_are_drawn_anew(self, monkeypatch):
        """By the exact way, with bounds so high that coins are refused all the time."""
        price = fx.Price(epsilon=2.0, bounds=(0.5, 20.5), grid=[0.5, 0.7, 3.3, 9.1, 20.5])
        bids, fill = np.array([0, 1, 2, 2, 3, 3, 4]), segment_prices.revenues_fill

        def high(*given):
            fill(*given)
            given[-1].view(np.float64)[:] *= 1.25

        monkeypatch.setattr(segment_prices, "revenues_fill", high)
        words = GivenWords(KEY, 4_000)
        some = Segments(price.grid.values(np.tile(bids, 4_000)), 7 * np.arange(4_001))
        draws = PriceDraws(price._prices, some, words, 1)
        found = exact_draws(draws, 1)[:, 0]
        law = price.law(price.grid.values(bids)).probabilities
        assert fits(found, law)
        monkeypatch.setattr(prices, "coin", lambda *_: True)
        found = exact_draws(draws, 1)[:, 0]
        assert not fits(found, law)

    def test_open_draws_are_drawn_exactly(self):
        """All of them again by the exact way: the same answers."""
        price = fx.Price(epsilon=1.0, bounds=(0, 30), step=0.5)
        rng = np.random.default_rng(8)
        values, offsets = rng.random(3_000) * 30, np.arange(0, 3_001, 30)
        segments, words = Segments(values, offsets), GivenWords(KEY, 100)
        found = draw_all(PriceDraws(price._prices, segments, words, 2), 2, 1)
        again = exact_draws(PriceDraws(price._prices, segments, words, 2), 2)
        assert (again == found).all()
