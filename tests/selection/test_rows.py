"""Do rows draw from the law, each by itself, and at the same bytes whatever is around them?"""

from __future__ import annotations

import numpy as np
import pytest

import fastexp as fx
from tests.doors.kernels import BLOCK
from tests.doors.randomness import seeds_of
from tests.doors.selection import draw, plan
from tests.doors.selection import rows as _rows
from tests.messages import raises
from tests.proofs.test_distribution import N
from tests.support.cases import CASES, IDS
from tests.support.checks import rows as checks_rows
from tests.support.each import each
from tests.support.goodness import fits

M = fx.Exponential(1.0, 1.0)
SPREAD = 20 * np.random.default_rng(4).random((80, 12))


@pytest.mark.fast
@pytest.mark.slow
def test_deterministic_checks():
    checks_rows.everything_else()


@pytest.mark.slow
def test_rounds_end_in_the_whole_envelope():
    """A spike in each of 70 blocks: every coarse bound is a thousand times too large."""
    u = np.where(np.arange(70 * BLOCK) % BLOCK == 5, 0.0, -60.0)
    checks_rows.draws_follow_the_twin(M, u, None)


@pytest.mark.statistical
@each("case", CASES, ids=IDS)
@each("precision", [1, 50])
def test_one_draw_a_row_has_the_law(case, precision):
    """At a low precision nearly every draw needs exact tests."""
    n = 2000 if precision == 1 else N // 4
    whole = checks_rows.rows_of(case.mechanism, np.tile(case.utilities, (n, 1)))
    found = whole.draw(seeds_of(1, np.arange(n, dtype=np.uint64)), None, 1, precision)
    if case.utilities.size > 1 and case.probabilities().max() < 1 - 1e-4:
        assert fits(found, case.probabilities())
    else:
        assert (found == case.probabilities().argmax()).mean() > 0.99


@pytest.mark.statistical
def test_a_wrong_epsilon_is_noticed():
    u = np.tile(CASES[0].utilities, (N // 4, 1))
    found = fx.Exponential(1.1, 1.0).sample(u, rng=1)
    assert not fits(found, CASES[0].probabilities())


@pytest.mark.statistical
@each("name", checks_rows.SPIKES)
def test_two_levels_have_the_law(name):
    """Peaked, flat and spread rows of three blocks, 4,000 draws by their streams' names."""
    u = checks_rows.SPIKES[name]
    law = M.law(u)
    draws = np.array([M.sample(u, rng=9, streams=[i]) for i in range(4000)])
    order = np.argsort(-law.probabilities)
    group = np.empty(u.size, dtype=np.int64)  # sixty cells of about equal probability
    group[order] = np.minimum(60 * np.cumsum(law.probabilities[order]), 59).astype(np.int64)
    expected = np.bincount(group, weights=law.probabilities, minlength=60)
    if law.probabilities.max() > 0.999:
        assert (draws == law.probabilities.argmax()).all()
    else:
        assert fits(group[draws], expected / expected.sum())


@pytest.mark.statistical
@pytest.mark.parametrize("k", [40, 1500])
def test_float32_rows_follow_the_law(k):
    """And not that of an epsilon of 1.3."""
    u = (6 * np.random.default_rng(8).random(k)).astype(np.float32)
    order = np.argsort(u)
    group = np.empty(k, dtype=np.int64)
    group[order] = 20 * np.arange(k) // k
    with pytest.warns(fx.SensitivityWarning):
        draws = M.sample(np.tile(u, (8000, 1)), rng=5)
    for epsilon, right in ((1.0, True), (1.3, False)):
        p = fx.Exponential(epsilon, 1.0).law(u.astype(float)).probabilities
        assert fits(group[draws], np.bincount(group, weights=p)) == right


def test_float32_rows_are_those_of_equal_doubles():
    checks_rows.narrow_rows_draw_as_wide_ones()
    with pytest.warns(fx.SensitivityWarning):
        assert M.sample(np.zeros((0, 9), np.float32), rng=1).shape == (0,)


@pytest.mark.parametrize("size", [None, 1, 3, 30, 5000])
@pytest.mark.parametrize("method", [None, "envelope", "gumbel"])
class TestRowsAreThemselves:
    @pytest.mark.slow
    def test_alone_or_together(self, size, method):
        whole = M.sample(SPREAD, size, rng=7, method=method)
        assert whole.shape == (80,) + (() if size is None else (size,))
        assert whole.dtype == np.int64
        for i in (0, 5, 79):
            alone = M.sample(SPREAD[i], size, rng=7, streams=[i], method=method)
            assert np.array_equal(whole[i], alone)

    @pytest.mark.slow
    def test_order_and_names(self, size, method):
        names = np.random.default_rng(1).permutation(80) + 2**40
        order = np.argsort(names)
        some = M.sample(SPREAD, size, rng=7, streams=names, method=method)
        other = M.sample(SPREAD[order], size, rng=7, streams=names[order], method=method)
        assert np.array_equal(some[order], other)

    @pytest.mark.slow
    def test_threads(self, size, method, monkeypatch):
        monkeypatch.setattr(plan, "THREADED_CANDIDATES", 1)
        one = M.sample(SPREAD, size, rng=7, method=method)
        for threads in (2, 3, 0):
            assert np.array_equal(
                one, M.sample(SPREAD, size, rng=7, method=method, threads=threads)
            )


@each("k", [3, 40, 1024, 1025, 3000])
def test_memory_layout_changes_nothing(k):
    u = 20 * np.random.default_rng(k).random((9, k))
    draws = M.sample(u, rng=2)
    assert np.array_equal(draws, M.sample(np.asfortranarray(u), rng=2))
    assert np.array_equal(draws, M.sample(np.repeat(u, 2, axis=1)[:, ::2], rng=2))
    assert np.array_equal(draws[::2], M.sample(u[::2], rng=2, streams=np.arange(0, 9, 2)))
    assert np.array_equal(draws, M.sample(u.tolist(), rng=2))


class TestRelease:
    @pytest.mark.statistical
    def test_each_row_has_its_law(self):
        case = CASES[0]
        found = case.mechanism.release(np.tile(case.utilities, (N // 4, 1)))
        assert found.dtype == np.int64
        assert fits(found, case.probabilities())

    def test_threads_and_blocks(self, monkeypatch):
        monkeypatch.setattr(plan, "THREADED_CANDIDATES", 1)
        u = np.where(np.arange(3000) == 2500, 0.0, -300.0)
        assert (M.release(np.tile(u, (50, 1)), threads=3) == 2500).all()

    def test_candidates_come_as_a_list_in_order(self):
        m = fx.Exponential(1.0, 1.0, candidates=["a", "b", "c"])
        u = np.array([[900.0, 0, 0], [0, 0, 900], [0, 900, 0]])
        assert m.release(u) == ["a", "c", "b"]
        assert m.release(u[:0]) == []

    @pytest.mark.statistical
    @pytest.mark.slow
    def test_open_rounds_are_settled_from_their_own_words(self, monkeypatch):
        """With a coarse envelope most rows' rounds are open; the law must still be right."""
        from tests.doors.selection import draw

        monkeypatch.setattr(plan, "PRECISION", 2)
        monkeypatch.setattr(plan, "SCALE", 4.0)
        case = CASES[0]
        bits = checks_rows.data.utilities(np.tile(case.utilities, (6000, 1)), None, "raise")
        found = draw.release_rows(*bits, case.mechanism._weighting, 1)
        assert fits(found, case.probabilities())


class TestBudget:
    @each(
        ("how", "relation", "spent"),
        [
            ({}, "add-remove", 0.3),
            ({"disjoint": True}, "add-remove", 0.1),
            ({"disjoint": True}, "replace", 0.2),
            ({"disjoint": True, "membership": "public"}, "replace", 0.1),
        ],
    )
    def test_a_matrix_costs_its_total(self, how, relation, spent):
        budget = fx.Budget(epsilon=1.0, neighbors=relation)
        m = fx.Exponential(0.1, 1.0)
        m.release(np.zeros((3, 2)), budget=budget, **how)
        assert budget.spent == spent
        assert m.total(3, **how, neighbors=relation).epsilon == spent

    def test_nothing_is_drawn_beyond_it(self, monkeypatch):
        monkeypatch.setattr("os.urandom", lambda n: pytest.fail("drew"))
        with pytest.raises(fx.BudgetExceeded):
            fx.Exponential(0.1, 1.0).release(np.zeros((3, 2)), budget=fx.Budget(epsilon=0.2))


class TestRefused:
    @each("k", [5, 50, 2000])
    @each("bad", [np.nan, np.inf, -np.inf])
    def test_one_number_that_is_not_finite(self, k, bad):
        u = np.zeros((70, k))
        u[66, k // 2] = bad
        for call in (M.sample, M.release):
            with pytest.raises(fx.InvalidUtilities):
                call(u)

    def test_integers_that_a_list_would_round(self):
        with pytest.raises(fx.ParameterTypeError):
            M.sample([[0.5, 2**53 + 1], [1.0, 2.0]])


def test_no_rows_are_no_draws():
    assert M.sample(np.zeros((0, 3))).shape == (0,)
    assert M.sample(np.zeros((0, 3)), 4).shape == (0, 4)
    assert M.release(np.zeros((0, 3))).shape == (0,)


def test_too_many_exact_tests_are_reported(monkeypatch):
    monkeypatch.setattr(_rows, "MOST_ANSWERS", 0)
    rows = checks_rows.rows_of(M, np.zeros((40, 3)))
    with raises("too many exact tests"):
        rows.draw(seeds_of(1, np.arange(40, dtype=np.uint64)), None, 1, 0)


class TestReviewed:
    """Faults that were found by reading, each with the input that showed it."""

    def test_what_may_fail_with_the_data_is_charged_first(self):
        def score(data, label):
            raise ValueError(data)

        failing = fx.Exponential.from_score(score, ["a", "b"], epsilon=0.5, sensitivity=1.0)
        counting = fx.MostCommon(0.5, ["a", "b"])
        for m, data in ((failing, [1]), (counting, [[]])):
            budget = fx.Budget(epsilon=1.0)
            with pytest.raises((fx.ScoreError, fx.InvalidRecords)):
                m.release(data, budget=budget)
            assert budget.spent == 0.5
        budget = fx.Budget(epsilon=1.0, neighbors="replace")
        with pytest.raises(fx.InvalidRecords):
            fx.RandomizedResponse(0.5).release([2], budget=budget)
        assert budget.spent == 0.5

    def test_amounts_of_other_number_types_leave_a_file_readable(self, tmp_path):
        budget = fx.Budget.file(tmp_path / "b", epsilon=2.0)
        for amount in (1, np.float64(0.25)):
            budget.charge(fx.Guarantee(amount, None, None, None, 0.0, ""))
        assert fx.Budget.file(tmp_path / "b").spent == 1.25

    def test_rows_of_several_types_are_not_rounded_together(self):
        mixed = [np.array([2**53, 2**53 + 1]), np.array([0.5, 0.0])]
        with pytest.raises(fx.ParameterTypeError):
            M.sample(mixed)
        assert M.sample([[1, 2], [0.5, 1]], rng=1).shape == (2,)

    def test_masked_rows_of_a_list_are_refused(self):
        rows = [np.ma.array([1.0, 1e9], mask=[0, 1])] * 2
        with pytest.raises(fx.ParameterTypeError):
            M.sample(rows)

    def test_noisy_max_has_the_laws_that_are_known(self):
        u = [1.0, 0.0, 3.0]
        flip = fx.ReportNoisyMax(1.0, 1.0).law(u).probabilities
        assert flip.tolist() == fx.PermuteAndFlip(1.0, 1.0).law(u).probabilities.tolist()
        soft = fx.ReportNoisyMax(1.0, 1.0, noise="gumbel").law(u).probabilities
        assert soft.tolist() == M.law(u).probabilities.tolist()

    def test_labels_of_a_series_are_not_ignored(self):
        class Series(list):
            index = np.array(["b", "a"], dtype=object)

        with raises("utilities with labels"):
            M.release(Series([1.0, 2.0]))
        Series.index = np.array([0, 1])
        assert M.release(Series([1.0, 900.0])) == 1


class TestSingleDraws:
    """One row in a call of its own: the kernels `single_draw` and `envelope_block`."""

    @pytest.mark.statistical
    @each("name", ["spread", "ints", "unsigned", "a hundred"])
    def test_a_generator_gives_the_law(self, name):
        case = next(case for case in CASES if case.name == name)
        rng = np.random.default_rng(3)
        draws = [case.mechanism.sample(case.utilities, rng=rng) for _ in range(N // 20)]
        assert fits(np.array(draws), case.probabilities())
        released = [case.mechanism.release(case.utilities) for _ in range(N // 20)]
        assert fits(np.array(released), case.probabilities())

    @each("u", [SPREAD[0], np.arange(9), np.arange(9, dtype=np.uint64)])
    def test_a_row_alone_is_what_it_is_among_others(self, u):
        for rng in (5, np.random.SeedSequence(5), [1, 2]):
            wide = np.tile(u, (70, 1))
            whole = M.sample(wide, rng=rng)
            assert [M.sample(u, rng=rng, streams=[i]) for i in range(70)] == whole.tolist()
            assert M.sample(wide[:3], rng=rng).tolist() == whole[:3].tolist()
            assert M.sample(u, rng=rng) == M.sample(u, 1, rng=rng)[0]

    def test_a_draw_in_doubt_is_made_again_from_its_words(self, monkeypatch):
        seeds = range(40)
        sure = [M.sample(SPREAD[0], rng=np.random.default_rng(i)) for i in seeds]
        monkeypatch.setattr(draw.single, "single_draw", lambda *_: draw.envelope.UNSURE)
        again = [M.sample(SPREAD[0], rng=np.random.default_rng(i)) for i in seeds]
        assert sure == again

    @pytest.mark.parametrize("status", [draw.envelope.UNSURE, draw.envelope.AGAIN])
    def test_a_release_in_doubt_is_settled_from_its_words(self, monkeypatch, status):
        pairs = [(i << 58, (7 * i + 5) << 55) for i in range(40)]
        for pair in pairs:
            with monkeypatch.context() as patch:
                patch.setattr(draw, "os_pair", lambda pair=pair: pair)
                sure = M.release(SPREAD[0])
                patch.setattr(draw.envelope, "envelope_block", lambda *_: status)
                assert M.release(SPREAD[0]) == sure
