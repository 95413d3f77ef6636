"""Is permute-and-flip exact: its law, its draws word for word, and what it promises?"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad

import fastexp as fx
from tests.doors.intake import FLOAT
from tests.doors.laws import finite as law_file
from tests.doors.laws import flip_law
from tests.doors.randomness import row_stream
from tests.doors.reference import exact as exact_twin
from tests.doors.selection import permute_flip, plan
from tests.messages import raises
from tests.support.checks import selection as checks
from tests.support.each import each
from tests.support.goodness import fits, two_sample_fits
from tests.twins import selection

ONE = fx.PermuteAndFlip(1.0, 1.0)
TEN = np.array([9.0, 8, 7, 6.5, 6, 5, 4, 3, 2, 0])
LATER = np.concatenate([np.full(400, -9.0), [0.0, -0.7]])  # two good ones: later coins


def by_permutations(weights: list[Fraction]) -> tuple[list[Fraction], Fraction]:
    """(law, expected number of flips), over all orders in which candidates may come."""
    law, flips = [Fraction(0)] * len(weights), Fraction(0)
    for order in itertools.permutations(range(len(weights))):
        failed = Fraction(1, math.factorial(len(weights)))
        for i in order:
            flips += failed
            law[i] += failed * weights[i]
            failed *= 1 - weights[i]
    return law, flips


def law_of(*weights: float) -> np.ndarray:
    """The law from weights, one a candidate, by integrals."""
    w = np.array(weights)
    return flip_law(w, np.ones(w.size))[0] * w


def quadrature(weights: list[mpmath.mpf]) -> mpmath.mpf:
    """The integral of the product of 1 - t*w, by another rule."""
    with mpmath.workdps(20):
        return mpmath.quad(lambda t: mpmath.fprod(1 - t * w for w in weights), [0, 0.1, 1])


class TestLaw:
    def test_vectors(self):
        assert law_of(1, 0.5, 0.25) == pytest.approx([2 / 3, 11 / 48, 5 / 48], rel=1e-15)
        assert law_of(1, 0.5) == pytest.approx([0.75, 0.25], rel=1e-15)
        p = fx.PermuteAndFlip(2.0, 1.0).law([0.0, -1.0]).probabilities
        assert p[1] == pytest.approx(math.exp(-1) / 2, rel=1e-14)
        assert p[1] == pytest.approx(0.18394, abs=1e-5)

    @pytest.mark.statistical
    def test_expected_number_of_flips(self):
        """The sum of the integrals; 37/24 for weights 1, 1/2, 1/4."""
        weights = [Fraction(1), Fraction(1, 2), Fraction(1, 4)]
        assert by_permutations(weights)[1] == Fraction(37, 24)
        w = np.array([1, 0.5, 0.25])
        assert flip_law(w, np.ones(3))[0].sum() == pytest.approx(37 / 24, rel=1e-15)
        m = fx.PermuteAndFlip(2.0, 1.0)
        stream = tuple(int(x) for x in row_stream(1, 0))
        gaps = [Fraction(0), -Fraction(math.log(2)), -2 * Fraction(math.log(2))]
        coins = [
            selection.permute_and_flip(m._weighting.rate, gaps, stream, t) for t in range(4000)
        ]
        counts = np.bincount([flips for _, flips in coins], minlength=4)
        shares = [7 / 12, 7 / 24, 1 / 8]  # P of 1, 2 and 3 flips
        assert np.dot(shares, [1, 2, 3]) == pytest.approx(37 / 24)
        assert fits(np.repeat([0, 1, 2], counts[1:]), shares)

    @each("k", [1, 2, 3, 4, 5, 6])
    def test_polynomials_are_all_permutations(self, k):
        rng = np.random.default_rng(k)
        weights = [Fraction(1), *(Fraction(int(x), 64) for x in rng.integers(0, 65, k - 1))]
        exact = by_permutations(weights)[0]
        assert selection.permute_and_flip_law(weights) == exact
        found = law_of(*map(float, weights))
        assert np.allclose(found, [float(p) for p in exact], rtol=1e-14, atol=0)

    @pytest.mark.slow
    def test_fractions(self):
        checks.flip_laws_are_exact()
        checks.flip_laws_of_mechanisms()

    @pytest.mark.slow
    @each(("k", "spread"), [(30, 5.0), (200, 1.0), (200, 60.0)])
    def test_integrals_in_many_digits(self, k, spread):
        u = spread * np.random.default_rng(k).random(k)
        law = ONE.law(u)
        with mpmath.workdps(160):  # a hundred more than what is lost by alternating sums
            weights = [mpmath.exp(-(mpmath.mpf(u.max()) - mpmath.mpf(x)) / 2) for x in u]
            for r in {0, 7, int(u.argmax()), int(u.argmin())}:
                rest = weights[:r] + weights[r + 1 :]
                product = [mpmath.mpf(1)]
                for w in rest:
                    pairs = zip([*product, 0], [0, *product], strict=True)
                    product = [same - w * below for same, below in pairs]
                integral = mpmath.fsum(c / (n + 1) for n, c in enumerate(product))
                exact = float(weights[r] * integral)
                assert k > 30 or abs(integral - quadrature(rest)) < 1e-18
                assert law.probabilities[r] == pytest.approx(exact, rel=1e-12)
                assert law.log_probabilities[r] == pytest.approx(math.log(exact), rel=1e-13)
        assert law.probabilities.sum() == pytest.approx(1, abs=1e-12)

    @pytest.mark.slow
    @each("kind", ["distinct", "grouped", "one leads"])
    def test_a_million_candidates(self, kind):
        """Where alternating sums end at a hundred."""
        u = 20 * np.random.default_rng(1).random(10**6)
        if kind == "grouped":
            u = np.round(u).astype(np.int64)
        if kind == "one leads":
            u[5] = 40
        law = ONE.law(u)
        assert law.probabilities.sum() == pytest.approx(1, abs=1e-12)
        assert law.probabilities.min() > 0
        order = np.argsort(u, kind="stable")
        assert (np.diff(law.probabilities[order]) >= 0).all()

    @each("k", [1, 2, 7, 1025, 100_000])
    def test_equal_utilities(self, k):
        law = ONE.law(np.full(k, 3.25))
        assert np.allclose(law.probabilities, 1 / k, rtol=1e-13, atol=0)
        assert np.allclose(law.log_probabilities, -math.log(k), rtol=0, atol=1e-13)
        assert law.expected_loss() == law.loss_variance() == 0

    def test_huge_gaps(self):
        law = ONE.law([0.0, 1e300, -1e300, 1e300])
        assert law.probabilities == pytest.approx([0.0, 0.5, 0.0, 0.5], rel=0, abs=1e-15)
        assert law.log_probabilities[0] == pytest.approx(-5e299, rel=1e-15)
        far = ONE.law([-1.7e308, 1.7e308])
        assert far.probabilities == pytest.approx([0.0, 1.0], abs=1e-15)
        assert far.log_probabilities[0] == pytest.approx(-1.7e308, rel=1e-15)
        slow = fx.PermuteAndFlip(1e-9, 1e250).law([1e308, -1e308, 9e307])
        assert slow.log_probabilities[1] == pytest.approx(-1e49, rel=1e-14)
        assert fx.PermuteAndFlip(4.0, 1.0).law([-1.7e308, 1.7e308]).log_probabilities[0] == -np.inf
        ints = ONE.law(np.array([-(2**63), 2**63 - 1, 2**63 - 3]))
        assert ints.probabilities[1] == pytest.approx(1 - math.exp(-1) / 2, rel=1e-14)

    @pytest.mark.parametrize(
        ("name", "value"), [("MAX_ERROR", 1e-18), ("FACTOR", 1.0), ("NODES", 3), ("ROUNDING", 1e-9)]
    )
    def test_what_cannot_be_promised_is_refused(self, name, value, monkeypatch):
        """A bound that is too wide, and a rule that is too coarse for its bound."""
        assert ONE.law(TEN).probabilities.sum() == pytest.approx(1, abs=1e-14)
        monkeypatch.setattr(law_file, name, value)
        with raises("law of permute-and-flip"):
            ONE.law(TEN).probabilities  # noqa: B018

    def test_losses(self):
        law, p = ONE.law(TEN), ONE.law(TEN).probabilities
        losses = TEN.max() - TEN
        assert law.expected_loss() == pytest.approx(p @ losses, rel=1e-14)
        assert law.expected_utility() == pytest.approx(p @ TEN, rel=1e-14)
        assert law.loss_variance() == pytest.approx(p @ losses**2 - (p @ losses) ** 2, rel=1e-12)
        for t in (0.0, 1.0, 2.5, 9.0):
            assert law.loss_cdf(t) == pytest.approx(p[losses <= t].sum(), rel=1e-13)
            assert law.loss_tail(t) == pytest.approx(p[losses >= t].sum(), rel=1e-13)
            loss, bound, exact = law.theorem_6(t)
            assert exact == law.loss_tail(loss) <= bound
        assert law.loss_quantile(p[0] + 1e-9) == 1
        assert law.loss_quantile(1.0) == 9

    def test_another_epsilon(self):
        law = ONE.law(TEN).with_epsilon(3.0)
        wanted = fx.PermuteAndFlip(3.0, 1.0).law(TEN)
        assert (law.probabilities == wanted.probabilities).all()

    @each("target", [3.0, 0.5, 1e-3])
    def test_epsilon_for_an_expected_loss(self, target):
        law = ONE.law(TEN)
        epsilon = law.epsilon_for(expected_loss=target)
        assert law.with_epsilon(epsilon).expected_loss() <= target * (1 + 1e-12)
        assert law.with_epsilon(epsilon / 1.0111).expected_loss() > target
        assert epsilon < fx.Exponential(1.0, 1.0).law(TEN).epsilon_for(expected_loss=target)

    def test_epsilon_for_where_the_loss_hardly_falls(self):
        """Candidates are almost uniform: another limit of 1e-12 is another epsilon of 1e-9."""
        law, w = fx.PermuteAndFlip(0.01, 1.0).law([6.0, 5.0, 5.0]), math.exp(-0.005)
        loss = 1 - (1 - w + w * w / 3)
        assert law.expected_loss() == pytest.approx(loss, rel=1e-13)
        assert law.epsilon_for(expected_loss=loss) == pytest.approx(0.01, rel=0.011)

    def test_a_law_shows_no_data(self):
        law = ONE.law([7341e-9, 0.0])
        assert repr(law) == "PermuteAndFlipLaw(PermuteAndFlip(epsilon=1.0, sensitivity=1.0), k=2)"
        assert repr(law) == repr(law.with_epsilon(1.0))
        with raises("epsilon out of reach") as caught:
            law.epsilon_for(expected_loss=1e-300)
        assert "7341" not in str(caught.value)

    @each("seed", range(6))
    def test_never_worse_than_the_exponential_mechanism(self, seed):
        """Also every tail of the loss (McKenna and Sheldon, Theorem 2)."""
        rng = np.random.default_rng(seed)
        u = np.round(rng.normal(0, rng.uniform(0.5, 8), rng.integers(2, 60)), 1)
        for epsilon in (0.1, 1.0, 5.0):
            ours = fx.PermuteAndFlip(epsilon, 1.0).law(u)
            theirs = fx.Exponential(epsilon, 1.0).law(u)
            assert ours.expected_loss() <= theirs.expected_loss() * (1 + 1e-12)
            assert 2 * ours.expected_loss() >= theirs.expected_loss() * (1 - 1e-12)
            t = np.unique(u.max() - u)
            assert (ours.loss_tail(t) <= theirs.loss_tail(t) * (1 + 1e-12)).all()
        m, e = fx.PermuteAndFlip(1.0, 1.0, monotonic=True), fx.Exponential(1.0, 1.0, monotonic=True)
        assert m.law([1.0, 0.0]).expected_loss() == pytest.approx(0.1839397, abs=1e-7)
        assert e.law([1.0, 0.0]).expected_loss() == pytest.approx(0.2689414, abs=1e-7)


class TestDraws:
    @each("name", checks.FLIPS)
    def test_word_for_word(self, name):
        """Tries, later coins and the choice, in samples and releases."""
        checks.flips_are_the_twin(checks.FLIPS[name], 4 if name == "blocks" else 150)

    @pytest.mark.slow
    def test_coins_are_certified(self):
        checks.coins_are_certified()

    @pytest.mark.statistical
    @each(
        "u",
        [
            TEN,
            np.array([0.0, -1.0]),
            np.zeros(3),
            np.round(TEN).astype(np.int64) - 5,
            TEN.astype(np.uint64) + np.uint64(2**63),
            np.array([-1.7e308, 1.7e308, 1.7e308]),
            np.sin(np.arange(100.0)),
        ],
        ids=["ten", "two", "equal", "ints", "unsigned", "overflowing", "hundred"],
    )
    def test_draws_follow_the_law(self, u):
        p = ONE.law(u).probabilities
        assert fits(ONE.sample(u, 200_000, rng=1), p)
        assert fits(np.array([ONE.release(u) for _ in range(6000)]), p)
        rng = np.random.default_rng(1)
        assert fits(np.array([ONE.sample(u, rng=rng) for _ in range(6000)]), p)

    @pytest.mark.statistical
    def test_later_coins_follow_the_law(self):
        law = ONE.law(LATER).probabilities
        p = np.append(law[:400].reshape(4, 100).sum(axis=1), law[400:])
        for draws in (ONE.sample(LATER, 100_000, rng=2), _releases(ONE, LATER, 8000)):
            assert fits(np.where(draws < 400, draws // 100, draws - 396), p)

    @pytest.mark.statistical
    def test_many_blocks_follow_the_law(self):
        u = np.sort(8 * np.random.default_rng(7).random(3000))
        p = ONE.law(u).probabilities.reshape(100, 30).sum(axis=1)
        assert fits(ONE.sample(u, 60_000, rng=1) // 30, p)
        spiked = np.concatenate([np.full(1100, -12.0), [0.0], np.full(1100, -12.0), [-0.3, -3.0]])
        law = ONE.law(spiked).probabilities
        merged = [law[:1100].sum(), law[1100], law[1101:2201].sum(), law[2201], law[2202]]
        cells = np.repeat(np.arange(5), [1100, 1, 1100, 1, 1])
        assert fits(cells[ONE.sample(spiked, 30_000, rng=1)], np.array(merged))
        assert fits(cells[_releases(ONE, spiked, 3000)], np.array(merged))

    @pytest.mark.statistical
    @each("scale", [1.0, 1.02, 0.98])
    def test_power_two_percent_is_noticed(self, scale):
        draws = fx.PermuteAndFlip(scale, 1.0).sample(TEN, 1_000_000, rng=2)
        assert fits(draws, ONE.law(TEN).probabilities) == (scale == 1.0)

    @pytest.mark.statistical
    def test_it_is_not_the_exponential_mechanism(self):
        draws = ONE.sample(TEN, 20_000, rng=2)
        assert not fits(draws, fx.Exponential(1.0, 1.0).law(TEN).probabilities)

    @pytest.mark.statistical
    def test_rows_and_streams(self):
        u = np.tile(LATER, (5, 1)) + np.arange(5.0)[:, None]
        names = np.array([4, 2**64 - 1, 0, 7, 2], np.uint64)
        for size in (None, 6):
            every = ONE.sample(u, size, rng=3, streams=names)
            for i, row in enumerate(u):
                alone = ONE.sample(row, size, rng=3, streams=names[i : i + 1])
                assert np.array_equal(every[i], alone)
        rows = ONE.sample(np.tile(TEN, (60_000, 1)), rng=3)
        p = ONE.law(TEN).probabilities
        assert fits(rows, p)
        assert fits(10 * rows[:-1:2] + rows[1::2], np.outer(p, p).ravel())

    def test_threads_change_nothing(self, monkeypatch):
        u = np.random.default_rng(4).random((7, 200)) * 9
        one = ONE.sample(u, 9, rng=1)
        monkeypatch.setattr(plan, "THREADED_CANDIDATES", 1)
        for threads in (2, 3, 0):
            assert (ONE.sample(u, 9, rng=1, threads=threads) == one).all()
            assert ONE.release(u, threads=threads).shape == (7,)

    def test_labels_and_shapes(self):
        m = fx.PermuteAndFlip(50.0, 1.0, candidates=["a", "b"])
        assert m.release([0.0, 100.0]) == "b"
        assert m.release([[0.0, 100.0], [100.0, 0.0]]) == ["b", "a"]
        assert m.sample([0.0, 100.0], 3, rng=1).tolist() == [1, 1, 1]
        assert m.sample(np.zeros((0, 2)), rng=1).shape == (0,)
        assert type(ONE.release([0.0, 1.0])) is int

    def test_a_coin_in_doubt_is_tossed_exactly(self, monkeypatch):
        """A release whose first coin lies where the bounds leave it open."""
        ask, every = [], np.full(64, 2**64 - 1, np.uint64)
        accept = exact_twin.accept

        def watched(*args):
            ask.append(args[:4])
            return accept(*args)

        monkeypatch.setattr(exact_twin, "accept", watched)
        monkeypatch.setattr(permute_flip, "os_words", lambda count: every[:count])
        assert ONE._drawn(np.array([3.5]).view(np.uint64), FLOAT, 1) == 0
        assert ask == [(Fraction(1, 2), Fraction(0), Fraction(2**40), 2**40 - 1)]

    def test_wrong_utilities(self):
        for bad in ([1.0, math.nan], [math.inf, 1.0], np.full((2, 3), -math.inf)):
            for verb in (ONE.release, ONE.sample):
                with raises("utilities that are finite"):
                    verb(bad)
        assert ONE.release([math.nan, 1.0, -1e9], nan="lowest") == 1


def _releases(m: fx.PermuteAndFlip, u: np.ndarray, count: int) -> np.ndarray:
    return np.array([m.release(u) for _ in range(count)])


@pytest.mark.proof
class TestPromises:
    @pytest.mark.parametrize("k", [2, 3])
    def test_epsilon_is_kept_and_spent(self, k):
        checks.promises_hold((0.1, 1.0, 4.0), k)

    def test_power_a_wrong_rate_is_refuted(self):
        """Monotonic weights for utilities that are not: twice epsilon."""
        m = fx.PermuteAndFlip(1.0, 1.0, monotonic=True)
        laws = lambda u: m.law(u).log_probabilities  # noqa: E731
        worst, _ = checks.worst_ratio(laws, checks.neighbours(False, 3))
        assert worst == pytest.approx(2.0, abs=1e-12)

    def test_the_range_is_not_bounded(self):
        checks.range_of_permute_and_flip_is_not_bounded()
        g = ONE.guarantee
        assert (g.epsilon, g.delta, g.bounded_range, g.neighbors) == (1.0, 0.0, None, None)
        assert g.rho == pytest.approx(math.tanh(0.5), rel=1e-12)
        assert "monotonic" in fx.PermuteAndFlip(1.0, 1.0, monotonic=True).guarantee.assumes


class TestReportNoisyMax:
    U = np.array([2.0, 0.5, 1.7, -1.0])

    @pytest.mark.statistical
    def test_exponential_noise_is_permute_and_flip(self):
        """Ding et al. 2021: equal in law."""
        m = fx.ReportNoisyMax(1.0, 1.0)
        draws = m.sample(self.U, 400_000, rng=1)
        assert fits(draws, ONE.law(self.U).probabilities)
        assert not fits(draws, fx.Exponential(1.0, 1.0).law(self.U).probabilities)
        ours = ONE.sample(self.U, 400_000, rng=2)
        assert two_sample_fits(np.bincount(draws), np.bincount(ours))
        many = np.sort(8 * np.random.default_rng(7).random(3000))
        p = ONE.law(many).probabilities.reshape(100, 30).sum(axis=1)
        assert fits(m.sample(many, 40_000, rng=1) // 30, p)

    @pytest.mark.statistical
    def test_gumbel_noise_is_the_exponential_mechanism(self):
        m = fx.ReportNoisyMax(1.0, 1.0, noise="gumbel", monotonic=True)
        e = fx.Exponential(1.0, 1.0, monotonic=True)
        assert fits(m.sample(self.U, 200_000, rng=1), e.law(self.U).probabilities)
        wanted = e.sample(self.U, 200, rng=1, method="gumbel")
        assert (m.sample(self.U, 200, rng=1) == wanted).all()

    @pytest.mark.statistical
    def test_laplace_noise_by_quadrature(self):
        u = 0.75 * np.array([1.0, 0.0, 0.4])  # in units of the scale

        def density(x: float) -> float:
            return math.exp(-abs(x)) / 2

        def below(x: float) -> float:
            return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2

        p = []
        for i in range(3):
            others = [u[j] for j in range(3) if j != i]
            f = lambda x, i=i, o=others: density(x - u[i]) * below(x - o[0]) * below(x - o[1])  # noqa: E731
            kinks = [-45.0, *sorted(u), 45.0]
            p.append(sum(quad(f, a, b)[0] for a, b in itertools.pairwise(kinks)))
        assert sum(p) == pytest.approx(1, abs=1e-9)
        m = fx.ReportNoisyMax(1.5, 1.0, noise="laplace")
        draws = m.sample([1.0, 0.0, 0.4], 1_000_000, rng=1)
        assert fits(draws, np.array(p) / sum(p))
        wrong = fx.ReportNoisyMax(1.6, 1.0, noise="laplace").sample([1.0, 0.0, 0.4], 10**6, rng=1)
        assert not fits(wrong, np.array(p) / sum(p))

    def test_words_and_promises(self):
        checks.report_noisy_max_has_its_noise()

    def test_it_releases_nothing(self):
        with pytest.raises(fx.NotReleasable):
            fx.ReportNoisyMax(1.0, 1.0).release([1.0], budget=fx.Budget(1.0))

    def test_forms(self):
        m = fx.ReportNoisyMax(2.0, 1.0, noise="laplace")
        assert m.sample(np.zeros((3, 4)), 5, rng=1).shape == (3, 5)
        assert m.sample(np.zeros((3, 4)), rng=1).shape == (3,)
        assert type(m.sample([0.0, 1.0], rng=1)) is int
        with pytest.raises(fx.InvalidUtilities):
            m.sample([1.0, math.nan])
