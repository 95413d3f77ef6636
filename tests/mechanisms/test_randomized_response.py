"""Is randomised response exact, reproducible, private as promised, and the tutorial's example?"""

from __future__ import annotations

import copy
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import RandomnessError
from tests.doors.randomness import row_stream
from tests.doors.reference import exact as exact_twin
from tests.doors.selection import Flips
from tests.doors.selection import flips as _flips
from tests.messages import raises, says
from tests.support.checks import sampler as checks
from tests.support.each import each
from tests.support.goodness import fits
from tests.twins import selection

N = 1_000_000  # rejects an epsilon wrong by 2 % (see the power test)
MECHANISM = fx.RandomizedResponse(1.0)
BITS = np.arange(12_345) % 3 == 0
EPSILONS = [1e-9, 0.01, 0.5, 1.0, 3.0, 8.0]


def lie(epsilon: float) -> float:
    """1/(1 + e**epsilon), from 200 bits of the reference."""
    return float(Fraction(exact_twin.flip_cut(Fraction(epsilon), 200), 1 << 200))


class TestExactness:
    """The kernel against its twin, exhaustively where words are narrow."""

    def test_every_word_of_few_bits(self):
        checks.flips_are_exact()

    def test_the_exact_test_of_the_last_coins(self):
        checks.flips_draw_on_exactly()
        checks.one_coin_is_exact()

    @pytest.mark.slow
    def test_coins_equal_their_twin(self):
        checks.flips_are_the_reference(20_000)

    @each("width", [1, 2, 8, 63, 64])
    def test_coins_of_any_width_equal_their_twin(self, width):
        flips = Flips(Fraction(1, 3), width)
        twin = selection.stream_flips(flips.epsilon, (8, 9), 9000, width)
        assert flips.stream_coins(9000, np.array([8, 9], np.uint64)).tolist() == twin

    @each("epsilon", [5e-324, 1e-9, 1.0, 30.0, 50.0, 700.0, 1e6, 1e200])
    def test_the_cut_is_the_first_bits_of_p(self, epsilon):
        e = Fraction(epsilon)
        for bits in (8, 72, 300):
            cut = exact_twin.flip_cut(e, bits)
            lo, hi = exact_twin.flip_bounds(e, 3000)
            assert cut == lo >> (3000 - bits) == hi >> (3000 - bits)

    def test_bounds_of_p_hold_it(self):
        for epsilon in EPSILONS:
            exact = selection.probabilities(
                Fraction(epsilon), [Fraction(1), Fraction(0)], [Fraction(1)] * 2
            )[1]
            for precision in (8, 20, 64):
                lo, hi = exact_twin.flip_bounds(Fraction(epsilon), precision)
                assert lo <= exact * 2**precision <= hi <= lo + 3

    @pytest.mark.statistical
    def test_extreme_epsilons_never_lie_or_always_toss(self):
        sure = fx.RandomizedResponse(1e6)
        assert (sure.sample(BITS, 50, rng=1) == BITS[:, None]).all()
        assert (sure.release(BITS) == BITS).all()
        draws = fx.RandomizedResponse(1e-200, any_epsilon=True).sample(1, N, rng=2)
        assert fits(draws, np.array([0.5, 0.5]))


class TestLaw:
    """Draws on every path follow the law that is stated."""

    @pytest.mark.statistical
    @each("epsilon", EPSILONS)
    @each("bit", [0, 1])
    def test_samples_follow_it(self, epsilon, bit):
        m = fx.RandomizedResponse(epsilon)
        p = m.law(bit).probabilities
        assert fits(m.sample(bit, N, rng=1), p)
        assert fits(m.sample(np.full(N, bit), rng=2), p)

    @pytest.mark.statistical
    @each("wrong", [1.0, 1.02, 0.98])
    def test_power_two_percent_is_noticed(self, wrong):
        draws = fx.RandomizedResponse(wrong).sample(1, N, rng=3)
        assert fits(draws, MECHANISM.law(1).probabilities) == (wrong == 1.0)

    @pytest.mark.statistical
    def test_releases_follow_it(self):
        for bit in (0, 1):
            p = MECHANISM.law(bit).probabilities
            assert fits(MECHANISM.release(np.full(N, bit)), p)
            assert fits(np.array([MECHANISM.release(bit) for _ in range(5000)]), p)
        assert not fits(
            MECHANISM.release(np.ones(N, int)), fx.RandomizedResponse(1.03).law(1).probabilities
        )

    @pytest.mark.statistical
    @each("width", [1, 4, 9])
    def test_it_is_the_same_however_few_bits_a_word_has(self, width):
        coins = Flips(Fraction(1), width).stream_coins(200_000, row_stream(5, width))
        assert fits(coins, MECHANISM.law(0).probabilities)

    @each("epsilon", EPSILONS)
    def test_its_probabilities_are_the_formula(self, epsilon):
        m = fx.RandomizedResponse(epsilon)
        for bit in (0, 1):
            law = m.law(bit)
            assert law.candidates == (0, 1)
            np.testing.assert_allclose(law.probabilities[1 - bit], lie(epsilon), rtol=1e-14)
            np.testing.assert_allclose(law.probabilities[bit], 1 - lie(epsilon), rtol=1e-15)
        assert law.log_probabilities[1] - law.log_probabilities[0] == pytest.approx(epsilon)
        assert m.law(1).expected_loss() == pytest.approx(lie(epsilon))

    @pytest.mark.statistical
    def test_coins_are_independent(self):
        """Of neighbours, of draws of one bit, and of other streams."""
        p = MECHANISM.law(0).probabilities
        pairs = np.outer(p, p).ravel()
        draws = MECHANISM.sample(np.zeros(N, int), 2, rng=6)
        assert fits(2 * draws[0::2, 0] + draws[1::2, 0], pairs)
        assert fits(2 * draws[:, 0] + draws[:, 1], pairs)
        other = MECHANISM.sample(np.zeros(N, int), rng=6, streams=[1])
        assert fits(2 * draws[:, 0] + other, pairs)
        assert not fits(3 * draws[:, 0], pairs)  # power

    def test_of_a_great_epsilon(self):
        law = MECHANISM.law(1)
        assert law.with_epsilon(1e7, any_epsilon=True).probabilities.tolist() == [0.0, 1.0]
        assert repr(law) == "ResponseLaw(RandomizedResponse(epsilon=1.0), k=2)"


class TestReproducibility:
    """The bytes depend on bits, key, stream and size alone."""

    def test_shapes_and_types(self):
        bits = BITS[:60].reshape(3, 4, 5)
        assert type(MECHANISM.sample(1, rng=1)) is int
        assert type(MECHANISM.release(np.True_)) is int
        assert MECHANISM.sample(True, 0).shape == (0,)
        for array, size, shape in [(bits, None, (3, 4, 5)), (bits, 7, (3, 4, 5, 7)), (0, 7, (7,))]:
            out = MECHANISM.sample(array, size, rng=1)
            assert (out.shape, out.dtype) == (shape, np.int64)
            assert set(out.ravel().tolist()) <= {0, 1}
        assert MECHANISM.release(bits).shape == (3, 4, 5)
        assert MECHANISM.release(np.zeros((0, 3), bool)).shape == (0, 3)
        assert MECHANISM.sample([], 3).shape == (0, 3)

    def test_the_format_of_coins(self):
        """Draw t of bit e takes coin t * n + e."""
        n, size = 1234, 9
        coins = MECHANISM._flips.stream_coins(n * size, row_stream(7, 3))
        draws = MECHANISM.sample(np.zeros(n, int), size, rng=7, streams=[3])
        assert (draws == coins.reshape(size, n).T).all()
        flipped = MECHANISM.sample(np.ones(n, int), size, rng=7, streams=[3])
        assert (flipped == 1 - draws).all()

    def test_fewer_draws_and_fewer_bits_are_prefixes(self):
        many = MECHANISM.sample(BITS, 20, rng=8)
        assert (MECHANISM.sample(BITS, 13, rng=8) == many[:, :13]).all()
        assert (MECHANISM.sample(BITS, rng=8) == many[:, 0]).all()
        assert (MECHANISM.sample(BITS[:4099], rng=8) == many[:4099, 0]).all()

    @pytest.mark.parametrize("size", [None, 1, 3, 70])
    @pytest.mark.parametrize("threads", [2, 3, 7, 0])
    def test_threads_change_nothing(self, size, threads, monkeypatch):
        one = MECHANISM.sample(BITS, size, rng=9)
        monkeypatch.setattr(_flips, "THREADED", 1)
        assert np.array_equal(MECHANISM.sample(BITS, size, rng=9, threads=threads), one)

    @pytest.mark.parametrize("width", [1, 5])
    def test_threads_change_nothing_where_many_coins_stay_open(self, width):
        flips, stream = Flips(Fraction(1), width), row_stream(1, 1)
        one = flips.stream_coins(30_000, stream)
        assert (flips.stream_coins(30_000, stream, 3) == one).all()
        assert (flips.stream_coins(20_001, stream, 2) == one[:20_001]).all()

    def test_the_form_of_the_bits_changes_nothing(self):
        plain = MECHANISM.sample(BITS.astype(np.int64), rng=2)
        kinds = ["bool", "i1", "u1", ">i2", "<u2", "i4", ">u4", "u8", ">i8"]
        forms = [BITS.astype(kind) for kind in kinds]
        forms += [BITS.tolist(), tuple(BITS.astype(int).tolist()), np.repeat(BITS, 2)[::2]]
        forms += [np.where(BITS, 7, 0).astype(np.uint8).view(bool)]  # a byte that counts as True
        for form in forms:
            assert (MECHANISM.sample(form, rng=2) == plain).all()
        assert (MECHANISM.sample(BITS.reshape(15, -1).T, rng=2).shape) == (823, 15)


class TestReleases:
    """Words come from the operating system, and from nowhere else."""

    @pytest.fixture
    def supply(self, monkeypatch):
        """os.urandom with a memory: what it gave, in order."""
        given, rng = [], np.random.default_rng(1)

        def urandom(count: int) -> bytes:
            given.append(rng.bytes(count))
            return given[-1]

        monkeypatch.setattr(os, "urandom", urandom)
        return given

    def test_words_are_used_as_documented(self, supply):
        """A byte a coin in order; then a word for each coin that is open."""
        out = MECHANISM.release(np.zeros(4001, int))
        first, seconds = supply
        cut = exact_twin.flip_cut(Fraction(1), 72)
        assert len(first) == 4008
        open_ = [i for i, byte in enumerate(first) if byte == cut >> 64]
        assert len(seconds) == 8 * len(open_)
        coins = [int(byte < cut >> 64) for byte in first]
        for i, word in zip(open_, np.frombuffer(seconds, "<u8").tolist(), strict=True):
            coins[i] = int(word < cut & checks.MASK_64)
        assert out.tolist() == coins[:4001]

    @pytest.mark.statistical
    @pytest.mark.parametrize("threads", [1, 3])
    def test_long_arrays_come_in_chunks(self, threads, monkeypatch):
        monkeypatch.setattr(_flips, "THREADED", 1)
        bits = np.arange(3 * _flips.CHUNK_BITS + 77) % 2
        sure = fx.RandomizedResponse(40.0)
        assert (sure.release(bits, threads=threads) == bits).all()
        flipped = MECHANISM.release(bits, threads=threads) ^ bits
        assert fits(flipped, MECHANISM.law(0).probabilities)

    @pytest.mark.statistical
    def test_coins_that_stay_open_are_decided(self, supply):
        m = copy.copy(MECHANISM)
        object.__setattr__(m, "_flips", Flips(Fraction(1), 1))
        out = m.release(np.zeros(200_000, int))
        assert fits(out, MECHANISM.law(0).probabilities)
        assert min(map(len, supply)) == 8  # single words, for the exact test

    @each("clone", [lambda m: m, copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
    def test_no_release_repeats_another(self, clone):
        bits = np.zeros(400, int)
        draws = {tuple(clone(MECHANISM).release(bits).tolist()) for _ in range(50)}
        assert len(draws) == 50

    def test_no_randomness_no_release(self, monkeypatch):
        monkeypatch.setattr(os, "urandom", lambda count: b"")
        with pytest.raises(RandomnessError):
            MECHANISM.release(BITS)


class TestPromise:
    """The guarantee, by brute force over the exact law."""

    @each("epsilon", EPSILONS)
    def test_epsilon_is_the_worst_log_ratio_and_the_range_is_twice_it(self, epsilon):
        zero, one = (fx.RandomizedResponse(epsilon).law(bit).log_probabilities for bit in (0, 1))
        ratios = one - zero
        promise = fx.RandomizedResponse(epsilon).guarantee
        assert (promise.epsilon, promise.neighbors, promise.delta) == (epsilon, "replace", 0.0)
        assert promise.bounded_range is None  # it would be 2 * epsilon
        np.testing.assert_allclose(ratios, [-epsilon, epsilon], rtol=1e-6)
        np.testing.assert_allclose(np.ptp(ratios), 2 * epsilon, rtol=1e-6)

    @each("epsilon", [0.01, 0.5, 1.0, 3.0, 8.0])
    def test_rho_is_the_least_that_bounds_all_renyi_divergences(self, epsilon):
        p = 1 - lie(epsilon)
        rho = fx.RandomizedResponse(epsilon).guarantee.rho
        for order in (1.0001, 1.5, 2.0, 5.0, 50.0):
            moment = p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)
            assert np.log(moment) / (order - 1) <= rho * order * (1 + 1e-9)
        divergence = (2 * p - 1) * epsilon  # Kullback-Leibler: order 1
        assert rho == pytest.approx(divergence, rel=1e-9)
        assert rho > epsilon**2 / 8 or epsilon > 7  # what a bounded range would promise

    def test_one_bit_of_many_costs_epsilon_once(self):
        """Exact joint laws of three bits, for all pairs that differ in one of them."""
        laws = [MECHANISM.law(bit).probabilities for bit in (0, 1)]

        def joint(bits):
            out = np.ones(1)
            for bit in bits:
                out = np.outer(out, laws[bit]).ravel()
            return out

        for first in np.ndindex(2, 2, 2):
            for place in range(3):
                other = list(first)
                other[place] ^= 1
                worst = np.abs(np.log(joint(first) / joint(other))).max()
                assert worst == pytest.approx(1.0, rel=1e-12)


class TestBudget:
    """A release is charged before it draws, an array as one change of one bit."""

    def test_an_array_costs_epsilon_once(self):
        budget = fx.Budget(epsilon=2.5, neighbors="replace")
        assert MECHANISM.release(BITS, budget=budget).shape == BITS.shape
        MECHANISM.release(1, budget=budget)
        assert budget.spent == 2.0
        with pytest.raises(fx.BudgetExceeded):
            MECHANISM.release(1, budget=budget)
        assert budget.charges == 2

    def test_failures_are_charged_too(self, monkeypatch):
        """Whether bits are refused may depend on the data: a failure is no free answer."""
        budget = fx.Budget(epsilon=2.0, neighbors="replace")
        with pytest.raises(fx.InvalidRecords):
            MECHANISM.release(2, budget=budget)
        assert budget.spent == 1.0
        monkeypatch.setattr(os, "urandom", lambda count: b"")
        with pytest.raises(RandomnessError):
            MECHANISM.release(1, budget=budget)
        assert budget.spent == 2.0

    def test_add_remove_is_refused(self):
        budget = fx.Budget(epsilon=9.0)
        with raises("relation that is not promised"):
            MECHANISM.release(1, budget=budget)
        assert budget.spent == 0.0
        with raises("budget of a type"):
            MECHANISM.release(1, budget=1.0)

    def test_totals_add(self):
        whole = fx.RandomizedResponse(0.1).total(rows=3)
        assert (whole.epsilon, whole.neighbors, whole.bounded_range) == (0.3, "replace", None)
        assert MECHANISM.total() == MECHANISM.guarantee


class TestTheTutorial:
    """β = -1/4 and Δ = 1: utilities β(1 - 2x)r for the answers r = 0 and 1."""

    BETA, DELTA = -0.25, 1.0

    def utilities(self, x: int) -> list[float]:
        return [0.0, self.BETA * (1 - 2 * x)]

    @each("epsilon", [0.5, 1.0, 10.001, 80.0])
    def test_the_answer_is_true_with_probability_of_an_eighth_of_epsilon(self, epsilon):
        m = fx.Exponential(epsilon, self.DELTA)
        for x in (0, 1):
            truth = m.law(self.utilities(x)).probabilities[x]
            assert truth == pytest.approx(1 / (1 + np.exp(-epsilon / 8)), rel=1e-14)
            response = fx.RandomizedResponse(epsilon / 8).law(x).probabilities
            np.testing.assert_allclose(m.law(self.utilities(x)).probabilities, response, rtol=1e-14)

    def worst(self, m: fx.Exponential) -> float:
        laws = [m.law(self.utilities(x)).log_probabilities for x in (0, 1)]
        return float(np.abs(laws[0] - laws[1]).max())

    def test_its_true_epsilon_is_an_eighth(self):
        assert self.worst(fx.Exponential(1.0, self.DELTA)) == pytest.approx(1 / 8)

    def test_the_generic_bound_is_four_times_too_high(self):
        """With the tutorial's Δ = 2|β|, which its figure does not use."""
        m = fx.Exponential(1.0, 2 * abs(self.BETA))
        assert self.worst(m) == pytest.approx(1 / 4)
        found = fx.check_sensitivity(self.utilities, [(0, 1)])
        assert found.sensitivity == found.range_sensitivity == 2 * abs(self.BETA)


BAD = {
    "two": (lambda: MECHANISM.release(2), fx.InvalidRecords, "bits"),
    "minus one": (lambda: MECHANISM.release(-1), fx.InvalidRecords, "bits"),
    "bytes": (lambda: MECHANISM.release(np.array([0, 255], np.uint8)), fx.InvalidRecords, "bits"),
    "wide": (lambda: MECHANISM.sample(np.array([2**63, 1], np.uint64)), fx.InvalidRecords, "bits"),
    "law of two": (lambda: MECHANISM.law(2), fx.InvalidRecords, "bits"),
}  # fmt: skip


@each("name", BAD)
def test_bad_input_gets_a_clear_error(name):
    call, error, text = BAD[name]
    with pytest.raises(error, match=says(text)):
        call()


def test_equal_parameters_make_equal_mechanisms():
    m = fx.RandomizedResponse(1.0)
    assert m == MECHANISM == fx.RandomizedResponse(1, any_epsilon=True)
    assert eval(repr(fx.RandomizedResponse(1e7, any_epsilon=True)), vars(fx)).epsilon == 1e7  # noqa: S307
    assert m.sample(1, 9, rng=1, method="flips").tolist() == m.sample(1, 9, rng=1).tolist()
