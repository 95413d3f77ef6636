"""Is joint top-k exact: its law, its draws, what it promises and what it refuses?"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import fastexp as fx
from tests.doors.selection import joint_top_k
from tests.messages import raises
from tests.support.checks import joint_top_k as checks
from tests.support.each import each
from tests.support.goodness import counts_fit

COUNTS = [10, 8, 8, 7, 1, 0]


class TestLaw:
    def test_the_twin_is_the_definition(self):
        checks.twin_is_the_definition()

    def test_against_all_selections(self):
        checks.laws_are_exact()

    @pytest.mark.slow
    def test_many_candidates_and_places(self):
        """Numbers of selections far beyond float64: their logarithms sum to 1."""
        counts = (5e4 / np.arange(1, 3001) ** 1.1).astype(np.int64)
        law = fx.JointTopK(200, 0.5).law(counts)
        assert law._loss_probabilities.sum() == pytest.approx(1, abs=1e-12)
        assert law._slices.sum() == pytest.approx(1, abs=1e-9)
        assert law.first_place_probabilities.sum() == pytest.approx(1, abs=1e-9)
        assert law.place_probabilities(0).sum() <= 1
        assert law.loss_cdf(law.loss_quantile(0.5)) >= 0.5
        more = law.with_epsilon(5.0)
        assert more.expected_loss() < law.expected_loss()
        assert law._groups is more._groups

    def test_losses_listed_or_looked_up(self):
        """Far apart, losses are differences of counts; near each other, all integers."""
        near, far = np.array([18, 14, 12, 4, 4]), np.array([18, 14, 12, 4, 4]) << 40
        one, other = fx.JointTopK(2, 1.0).law(near), fx.JointTopK(2, 1.0, 2.0**40).law(far)
        assert other.loss_pmf(near * 2.0**40) == pytest.approx(one.loss_pmf(near), rel=1e-13)
        assert other.log_normalizer == pytest.approx(one.log_normalizer, rel=1e-14)

    @each(
        "target", [{"expected_loss": 2.0}, {"loss": 3, "probability": 0.9}, {"expected_loss": 0.01}]
    )
    def test_epsilon_for_is_the_least(self, target):
        law = fx.JointTopK(3, 1.0).law(COUNTS)
        least = law.epsilon_for(**target)

        def holds(epsilon):
            there = law.with_epsilon(epsilon)
            if "probability" in target:
                return there.loss_cdf(target["loss"]) >= target["probability"]
            return there.expected_loss() <= target["expected_loss"]

        assert holds(least)
        assert not holds(least / 1.0111)

    def test_epsilon_for_of_masses_beyond_float64(self):
        counts = (5e3 / np.arange(1, 2001) ** 1.1).astype(np.int64)
        law = fx.JointTopK(150, 1.0).law(counts)
        epsilon = law.epsilon_for(expected_loss=20.0)
        assert law.with_epsilon(epsilon).expected_loss() == pytest.approx(20.0, rel=0.011)

    def test_privacy_loss_and_audit(self):
        top = fx.JointTopK(2, 1.0, candidates=["a", "b", "c", "d"])
        loss = top.law([3, 2, 2, 0]).privacy_loss(top.law([4, 2, 3, 0]))
        logs = [
            top.law(c).log_probability(s)
            for c in ([3, 2, 2, 0], [4, 2, 3, 0])
            for s in itertools.permutations(range(4), 2)
        ]
        ratios = np.subtract(logs[:12], logs[12:])
        assert loss.epsilon() == pytest.approx(ratios.max(), rel=1e-12)
        assert loss.reverse.epsilon() == pytest.approx(-ratios.min(), rel=1e-12)
        assert max(loss.epsilon(), loss.reverse.epsilon()) <= 1.0
        assert set(loss.worst) <= set("abcd")
        by_law = fx.audit(top, [3, 2, 2, 0], [4, 2, 3, 0])
        assert by_law.epsilon == pytest.approx(abs(ratios).max(), rel=1e-12)
        assert fx.audit(top, [3, 2, 2, 0], [4, 2, 3, 0], draws=4000, rng=1).epsilon < 1.0


class TestDraws:
    def test_bounds(self):
        checks.bounds_are_certified()

    def test_kernels(self):
        checks.kernels_are_the_twin()
        checks.words_that_are_refused()
        checks.positions_have_slots()
        checks.the_rest_is_left_open()

    @pytest.mark.slow
    @pytest.mark.statistical
    @pytest.mark.parametrize("check", ["draws_are_the_law", "wide_cells_draw_the_law"])
    def test_few(self, check):
        getattr(checks, check)()

    @pytest.mark.slow
    @pytest.mark.statistical
    def test_many_and_a_wrong_epsilon_is_seen(self):
        """1e6 draws fit, and would not fit the law of an epsilon 2 % away."""
        chosen = list(itertools.permutations(range(6), 3))
        top = fx.JointTopK(3, 0.5)
        numbers = {s: i for i, s in enumerate(chosen)}
        code = np.array([36, 6, 1])
        lookup = np.full(216, -1)
        lookup[[int(np.dot(s, code)) for s in chosen]] = list(numbers.values())
        drawn = np.bincount(lookup[top.sample(COUNTS, 10**6, rng=1) @ code], minlength=120)
        for epsilon, fit in ((0.5, True), (0.51, False), (0.49, False)):
            law = top.law(COUNTS).with_epsilon(epsilon)
            assert counts_fit(drawn, np.exp([law.log_probability(s) for s in chosen])) == fit

    @pytest.mark.statistical
    def test_wide_cells(self):
        """A tiny epsilon: cells of several slices, and counts that lie as far apart."""
        counts, top = np.array([9, 7, 6, 2]) * 10**8, fx.JointTopK(2, 2e-8)
        slices = joint_top_k.Slices(counts, 2, top._weighting)
        shift, cells, _, scale = slices._plan
        assert shift > 0
        assert cells < 2000
        sums, lift = slices._bounds
        all_slices = math.exp(top.law(counts).log_normalizer) / top._weighting.rate_nats
        weights = all_slices * 2.0 ** (scale - lift - shift)  # of a slice of each cell, summed
        assert weights <= sums[-1] <= weights * math.exp(0.25) * (1 + 1e-6)
        chosen = list(itertools.permutations(range(4), 2))
        drawn = Counter(map(tuple, top.sample(counts, 4000, rng=3).tolist()))
        probabilities = np.exp([top.law(counts).log_probability(s) for s in chosen])
        assert counts_fit(np.array([drawn[s] for s in chosen]), probabilities)

    @each("count", [0, 1, 63, 64, 65, 130, 192, 830])
    def test_bits_are_the_leading_ones_of_words(self, count):
        words = [2**64 - 1, 1 << 63, 2**64 - 2] * 5
        every = sum(word << 64 * (14 - i) for i, word in enumerate(words))
        assert joint_top_k._bits(count, iter(words).__next__) == every >> 15 * 64 - count

    @each("epsilon", [1e-20, 1e-40, 1e-60, 1e-250])
    def test_the_least_epsilon(self, epsilon):
        top = fx.JointTopK(2, epsilon, any_epsilon=True)
        drawn = top.sample([3, 2, 1], 20, rng=1)
        assert len(set(map(tuple, drawn.tolist()))) > 2

    def test_one_place_is_the_exponential_mechanism(self):
        rows = np.array([COUNTS, COUNTS[::-1]])
        for neighbors, sensitivity in (("add-remove", 2.0), ("replace", 4.0)):
            top = fx.JointTopK(1, 0.7, 2.0, neighbors=neighbors)
            one = fx.Exponential(0.7, sensitivity, monotonic=True)
            for data, size in itertools.product((COUNTS, rows), (None, 5, 5000)):
                same = one.sample(data, size, rng=4)
                assert np.array_equal(top.sample(data, size, rng=4)[..., 0], same)
            losses = 10.0 - np.array(COUNTS)
            first = top.law(COUNTS).first_place_probabilities
            assert first == pytest.approx(one.law(COUNTS).probabilities, rel=1e-13)
            assert top.law(COUNTS).expected_loss() == pytest.approx(first @ losses)
        assert fx.JointTopK(1, 1e6).release(COUNTS).tolist() == [0]

    @pytest.mark.statistical
    def test_all_equal_all_selected_and_one_far_ahead(self):
        top = fx.JointTopK(3, 1.0)
        assert np.array_equal(np.sort(top.sample([4, 4, 4], 20, rng=1)), [[0, 1, 2]] * 20)
        drawn = top.sample([4, 4, 4], 6000, rng=1) @ [9, 3, 1]
        counts = np.unique(drawn, return_counts=True)[1]
        assert counts_fit(counts, np.full(6, 1 / 6))
        far = fx.JointTopK(2, 1.0).sample([5, 2**63 - 1, 5, 7, -(2**63)], 100, rng=1)
        assert set(far[:, 0]) == {1}
        assert 4 not in far

    def test_counts_of_any_integers(self):
        counts = np.array([9, 7, 6, 2])
        top, high = fx.JointTopK(2, 1.0), counts.astype(np.uint64) + np.uint64(2**64 - 100)
        first = top.sample(counts, 50, rng=1)
        for data in (counts.tolist(), counts.astype(np.uint8), counts + np.int64(-(2**63)), high):
            assert np.array_equal(top.sample(data, 50, rng=1), first)

    def test_rows_and_streams(self):
        rows = np.random.default_rng(1).integers(0, 9, (5, 8))
        top = fx.JointTopK(3, 1.0)
        drawn = top.sample(rows, 4, rng=1)
        assert drawn.shape == (5, 4, 3)
        assert np.array_equal(top.sample(rows, rng=1), drawn[:, 0])
        for i, row in enumerate(rows):
            assert np.array_equal(top.sample(row, 4, rng=1, streams=[i]), drawn[i])
        assert np.array_equal(top.law(rows[0]).sample(4, rng=1), drawn[0])
        assert top.release(rows).shape == (5, 3)

    def test_the_order_of_items_changes_no_rank(self):
        counts = np.random.default_rng(1).permutation(30) * 3
        order = np.random.default_rng(2).permutation(30)
        top = fx.JointTopK(5, 0.3)
        one, other = top.sample(counts, 40, rng=1), top.sample(counts[order], 40, rng=1)
        assert np.array_equal(order[other], one)

    def test_labels(self):
        top = fx.JointTopK(2, 100.0, candidates=["x", "y", "z"])
        assert top.release([1, 90, 50]) == ["y", "z"]
        assert top.release({"y": 90, "z": 50}) == ["y", "z"]
        assert top.sample([1, 90, 50], labels=True, rng=1) == ["y", "z"]


class TestPromise:
    @pytest.mark.slow
    def test_all_small_neighbours(self):
        checks.promises_hold()

    def test_guarantee_and_total(self):
        top = fx.JointTopK(5, 0.4)
        assert (top.guarantee.epsilon, top.guarantee.rho) == (0.4, pytest.approx(0.02))
        assert top.guarantee.neighbors == "add-remove"
        assert top.total(rows=3).epsilon == pytest.approx(1.2)
        budget = fx.Budget(epsilon=1.0)
        top.release(COUNTS, budget=budget)
        assert budget.spent == pytest.approx(0.4)


class TestRefusals:
    def test_a_law_of_too_many_losses(self):
        counts = np.random.default_rng(1).integers(0, 1 << 60, 1 << 17)
        with raises("losses of a joint selection"):
            fx.JointTopK(100, 1.0).law(counts)


def test_weights_are_those_of_epsilon():
    """exp(-epsilon * loss / (2 * sensitivity)), half of that under replace."""
    one = fx.JointTopK(2, 1.0, 3.0).law(COUNTS)
    ratio = one.log_probability([0, 1]) - one.log_probability([0, 3])
    assert ratio == pytest.approx(1 / 6)
    other = fx.JointTopK(2, 1.0, 3.0, neighbors="replace").law(COUNTS)
    ratio = other.log_probability([0, 1]) - other.log_probability([0, 3])
    assert ratio == pytest.approx(1 / 12)
    assert math.isclose(other.with_epsilon(2.0).log_normalizer, one.log_normalizer, rel_tol=1e-14)
