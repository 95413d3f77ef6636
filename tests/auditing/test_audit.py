"""Does an audit say how much of a promise a pair uses, refute what is wrong, and nothing else?"""

from __future__ import annotations

import math
import threading
from collections import Counter

import numpy as np
import pytest
from scipy.stats import beta, binom

import fastexp as fx
from fastexp.errors import ParameterError
from tests.doors.auditing import certificate
from tests.messages import says
from tests.support.each import each

BY_CHANCE = 1e-9  # that a right certificate fails a test
MEDIAN = fx.Median(1.0, (0, 10), step=1)
PAIR = [1, 2, 4, 7], [1, 2, 4]
RECORDS = np.random.default_rng(3).integers(0, 101, 200)


def halved(mechanism):
    """The mutant that believes in half its sensitivity: its weights fall twice as fast."""
    object.__setattr__(mechanism, "_rate", 2 * mechanism._rate)
    return mechanism


def ranks(n):
    return list(range(n))


CASES = [
    (lambda: fx.Exponential(1.0, 1.0), [3, 1, 0], [2, 2, 0]),
    (lambda: fx.PermuteAndFlip(1.0, 1.0), [3, 1, 0], [2, 2, 0]),
    (lambda: fx.MostCommon(1.0, ["a", "b"]), ["a"] * 3 + ["b"], ["a"] * 3),
    (lambda: fx.MostCommon(1.0, ["a", "b"], neighbors="replace"), ["a"] * 3, ["a", "a", "b"]),
    (lambda: fx.Median(1.0, (0, 100), step=1), RECORDS, RECORDS[1:]),
    (lambda: fx.Median(1.0, (0, 10), step=0.001), ranks(11), ranks(10)),
    (lambda: fx.Median(1.0, (0, 9), step=1, neighbors="replace"), [0, 5, 9], [0, 9, 9]),
    (lambda: fx.Maximum(1.0, (0, 9), step=1), [0, 5, 9], [0, 5]),
    (lambda: fx.Price(1.0, (1, 9), step=0.5), [2, 3, 9], [2, 3]),
]
MUTABLE = [  # pairs that use more than half of the promise
    (lambda: fx.Exponential(1.0, 1.0), [1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1]),
    (lambda: fx.PermuteAndFlip(1.0, 1.0), [3, 1, 0], [2, 2, 0]),
    (lambda: fx.Median(1.0, (0, 10), step=0.001), ranks(11), ranks(10)),
]
SIMPLE = [
    (fx.Laplace(1.0, 1, step=1), 10, 11),
    (fx.RandomizedResponse(1.0), 0, 1),
    (fx.TopK(2, epsilon=1.0, sensitivity=1.0), [3, 1, 0], [2, 2, 1]),
    (fx.Mode(1.0, (0, 9), step=1), [1, 1, 5], [1, 5]),
]


class TestByLaw:
    @each(("mechanism", "data", "neighbor"), [(make(), *pair) for make, *pair in CASES] + SIMPLE)
    def test_no_pair_uses_more_than_is_promised(self, mechanism, data, neighbor):
        found_out = fx.audit(mechanism, data, neighbor)
        loss = mechanism.law(data).privacy_loss(mechanism.law(neighbor))
        assert found_out.epsilon == max(loss.epsilon(), loss.reverse.epsilon()) > 0
        assert found_out.promised == mechanism.guarantee.epsilon
        assert found_out.share == pytest.approx(found_out.epsilon / found_out.promised)
        assert not found_out.refuted
        assert found_out.method == "law"

    @each(("make", "data", "neighbor"), MUTABLE)
    def test_a_mutant_is_refuted(self, make, data, neighbor):
        assert not fx.audit(make(), data, neighbor).refuted
        assert fx.audit(halved(make()), data, neighbor).refuted

    def test_with_delta_it_is_the_privacy_loss_at_that_delta(self):
        loss = MEDIAN.law(PAIR[0]).privacy_loss(MEDIAN.law(PAIR[1]))
        result = fx.audit(MEDIAN, *PAIR, delta=0.01)
        assert result.epsilon == max(loss.epsilon(0.01), loss.reverse.epsilon(0.01))
        assert result.delta == 0.01

    def test_the_worst_output_is_one_of_the_greatest_ratio(self):
        result = fx.audit(MEDIAN, *PAIR)
        first, second = (MEDIAN.law(each).pmf(float(result.event)) for each in PAIR)
        assert abs(math.log(first / second)) == pytest.approx(result.epsilon)
        named = fx.Exponential(1.0, 1.0, candidates=["tea", "milk"])
        assert fx.audit(named, [1, 0], [0, 0]).event == "'milk'"
        top = fx.audit(fx.TopK(2, epsilon=1.0, sensitivity=1.0), [3, 1, 0], [2, 2, 1])
        assert top.event in {"(0, 1)", "(1, 2)", "(1, 0)", "(2, 1)"}
        line = fx.audit(fx.Laplace(1.0, 1, step=1), 10, 11)
        assert line.event in {"10", "11"}

    def test_an_epsilon_may_be_stated(self):
        assert fx.audit(MEDIAN, *PAIR, epsilon=0.1).refuted

    def test_float_noise_has_no_exact_loss_but_draws(self):
        noisy = fx.LaplaceMedian(1.0, (0, 10))
        assert not fx.audit(noisy, *PAIR, draws=20_000, rng=1).refuted


class TestNeighbors:
    @each(
        ("mechanism", "data", "neighbor", "message"),
        [
            (MEDIAN, [1, 2, 4], [1, 2, 5], "neighbor by adding or removing"),
            (MEDIAN, [1, 2, 4], [1], "neighbor by adding or removing"),
            (fx.Median(1.0, (0, 9), neighbors="replace"), [1, 2], [1], "neighbor by replacing"),
            (fx.Median(1.0, (0, 9), neighbors="replace"), [1, 2], [3, 4], "neighbor by replacing"),
            (fx.LaplaceMedian(1.0, (0, 9)), [1, 2], [3, 4], "neighbor by one record"),
            (fx.MostCommon(1.0, ["a", "b"]), ["a"], ["b"], "neighbor by adding or removing"),
            (fx.Exponential(1.0, 1.0), [3, 1], [3, 2.5], "neighbor within the sensitivity"),
            (fx.Exponential(1.0, 1.0, monotonic=True), [3, 1], [2, 2], "neighbor in one direction"),
            (fx.Exponential(1.0, 1.0), [3, 1], [3, 1, 0], "neighbor of the same candidates"),
            (fx.Laplace(1.0, 0.1, step=0.1), 1, 1.3, "neighbor within the sensitivity"),
        ],
    )
    def test_a_pair_that_is_none_is_refused(self, mechanism, data, neighbor, message):
        for draws in (None, 1000):
            with pytest.raises(ParameterError, match=says(message)):
                fx.audit(mechanism, data, neighbor, draws=draws)

    def test_pairs_that_are_neighbors(self):
        fx.audit(MEDIAN, [1, 2, 2], [2, 1])
        fx.audit(MEDIAN, [1, 2], [2, 1])
        fx.audit(fx.Median(1.0, (0, 9), neighbors="replace"), [1, 2, 2], [2, 1, 9])
        fx.audit(fx.MostCommon(1.0, ["a", "b"], neighbors="replace"), ["a", "b"], ["a", "c"])
        fx.audit(fx.Laplace(1.0, 0.1, step=0.1), 0.2, 0.3)  # as decimals that print
        either = fx.LaplaceMedian(1.0, (0, 9))
        assert either.guarantee.neighbors == "both"
        for neighbor in ([1, 2], [1, 2, 4, 5], [1, 2, 9]):
            fx.audit(either, [1, 2, 4], neighbor, draws=1000)


def response(epsilon, answer, seed):
    """Randomized response: the answer with probability 1 / (1 + exp(-epsilon))."""
    random, keep = np.random.default_rng(seed), 1 / (1 + math.exp(-epsilon))
    return lambda size: np.where(random.random(size) < keep, answer, 1 - answer)


def geometric(epsilon, centre, seed):
    random, share = np.random.default_rng(seed), 1 - math.exp(-epsilon)
    return lambda size: centre + random.geometric(share, size) - random.geometric(share, size)


def wrong_certificates(make, true_epsilon, runs, alpha, draws=2000):
    pairs = ((make(0, 2 * run), make(1, 2 * run + 1)) for run in range(runs))
    return sum(fx.audit(*pair, draws=draws, alpha=alpha).epsilon > true_epsilon for pair in pairs)


class TestByDraws:
    @pytest.mark.statistical
    @each(
        ("make", "epsilon"),
        [
            (lambda side, seed: response(1.0, side, seed), 1.0),
            (lambda side, seed: geometric(1.0, side, seed), 1.0),
            (lambda side, seed: response(0.0, side, seed), 0.0),
        ],
    )
    def test_certificates_are_seldom_too_large(self, make, epsilon):
        """More than alpha says come with a chance of 1e-9; a twin shows that they would be seen."""
        most = int(binom.isf(BY_CHANCE, 200, 0.2))
        assert wrong_certificates(make, epsilon, 200, 0.2) <= most
        if epsilon:
            assert wrong_certificates(make, 0.5 * epsilon, 200, 0.2) > most

    @pytest.mark.statistical
    def test_draws_that_come_again_are_no_certificate(self, monkeypatch):
        """Of equal laws of many answers, the best event for some draws is above its mean in them.

        A twin whose draws certify what they themselves have chosen is wrong nearly always.
        """

        def make(_, seed):
            random = np.random.default_rng(seed)
            return lambda size: random.integers(0, 400, size)

        def repeating(_, seed):
            return lambda size: np.random.default_rng(seed).integers(0, 400, size)

        most = int(binom.isf(BY_CHANCE, 30, 0.2))
        assert wrong_certificates(make, 0.0, 30, 0.2, draws=8000) <= most
        monkeypatch.setattr(certificate, "_chunks", lambda draws, part: [(part, 6000)])
        assert wrong_certificates(make, 0.0, 30, 0.2, draws=8000) <= most
        assert wrong_certificates(repeating, 0.0, 30, 0.2, draws=8000) > most

    @pytest.mark.slow
    @each(("make", "data", "neighbor"), MUTABLE)
    def test_a_mutant_is_refuted_by_a_million_draws_and_the_right_one_is_not(
        self, make, data, neighbor
    ):
        """The mutant's true loss is far above; the right one fails with a chance of 1e-9."""
        right = fx.audit(make(), data, neighbor, draws=10**6, rng=4, alpha=BY_CHANCE)
        assert not right.refuted
        assert right.epsilon > 0.9 * fx.audit(make(), data, neighbor).epsilon
        mutant = fx.audit(halved(make()), data, neighbor, draws=10**6, rng=4, alpha=BY_CHANCE)
        assert mutant.refuted

    def test_draws_depend_on_the_seed_and_not_on_threads(self):
        one, two, other = (
            fx.audit(MEDIAN, *PAIR, draws=300_000, rng=seed, threads=threads)
            for seed, threads in ((1, 1), (1, 3), (2, 1))
        )
        assert one == two != other

    @pytest.mark.slow
    def test_a_callable_gives_one_answer_or_as_many_as_it_is_asked_for(self):
        sizes, calls = [], []

        def many(size):
            sizes.append((size, threading.get_ident()))
            return [0] * size

        def single():
            calls.append(0)
            return 1

        result = fx.audit(many, single, draws=400_000, alpha=0.05)
        assert sum(size for size, _ in sizes) == 400_000 == len(calls)
        assert max(size for size, _ in sizes) <= certificate.CHUNK_DRAWS
        assert result.draws == 300_000
        assert result.event in ("answer >= 1", "answer < 1")
        fx.audit(many, many, draws=800_000, threads=2)
        assert len({thread for _, thread in sizes}) >= 2

    @each(("one", "two"), [(0.0, -0.0), ((0.0,), (-0.0,)), (1, 1 + 2.0**-52)])
    def test_outcomes_that_are_close_or_equal_are_certified(self, one, two):
        for many in (True, False):
            sides = [
                (lambda size, x=x: np.array([x] * size)) if many else (lambda x=x: x)
                for x in (one, two)
            ]
            for pair in (sides, sides[::-1]):
                assert fx.audit(*pair, draws=1000).epsilon > 4

    def test_1_and_true_and_1_point_0_are_one_outcome(self):
        for one, two in ((1, True), (1.0, True), (1, 1.0)):
            assert fx.audit(lambda x=one: x, lambda x=two: x, draws=1000).epsilon == 0.0

    def test_exceptions_none_and_unhashable_answers_are_outcomes(self):
        def raising():
            raise KeyError("x")

        class Odd:
            __hash__ = None

        sides = {
            "nan": lambda: math.nan,
            "None": lambda: None,
            "'text'": lambda: "text",
            "an exception, KeyError": raising,
            "an object without a hash, Odd": Odd,
            "(1, 2)": lambda: [1, 2],
        }
        for text, side in sides.items():
            for first, second in ((side, lambda: 0.0), (lambda: 0.0, side)):
                result = fx.audit(first, second, draws=2000, alpha=1e-6)
                assert result.epsilon > 4
                assert result.event in (f"answer is {text}", "answer is a number")
            assert fx.audit(side, side, draws=2000).epsilon == 0

    def test_delta_is_granted(self):
        random = np.random.default_rng(1)

        def leaking(size):
            return np.where(random.random(size) < 0.1, 7, 0)

        def tight(size):
            return np.zeros(size)

        assert fx.audit(leaking, tight, draws=10_000).epsilon > 4
        assert fx.audit(leaking, tight, draws=10_000, delta=0.05).epsilon > 3
        assert fx.audit(leaking, tight, draws=10_000, delta=0.12).epsilon == 0
        assert fx.audit(leaking, tight, draws=10_000, delta=0.12, epsilon=0.1).refuted is False

    def test_what_certifies_was_not_looked_at_before(self):
        """Draws that choose and draws that certify are different ones, and all are used once."""
        given = Counter()

        def numbered(size):
            start = given["next"]
            given["next"] += size
            return np.arange(start, start + size)

        result = fx.audit(numbered, numbered, draws=8000)
        assert result.draws == 6000
        assert given["next"] == 16_000
        assert result.epsilon < 0.01 or result.hits is not None


def test_four_bounds_share_alpha_by_scipys_beta():
    audit = fx.audit(MEDIAN, *PAIR, draws=20_000, alpha=0.04, delta=0.01, rng=1)
    (more, fewer), n = audit.hits, audit.draws
    low = beta.ppf(0.01, more, n - more + 1) - 0.01
    high = beta.ppf(0.99, fewer + 1, n - fewer)
    assert audit.epsilon == pytest.approx(math.log(low / high), rel=1e-9)


def test_no_two_chunks_have_one_number():
    """By which they have their randomness."""
    parts = [certificate._chunks(draws, part) for part, draws in enumerate((0, 5, 10**6))]
    numbers = [number for part in parts for number, _ in part]
    assert len(set(numbers)) == len(numbers)
    assert [sum(size for _, size in part) for part in parts] == [0, 5, 10**6]
    assert max(size for _, size in parts[2]) == certificate.CHUNK_DRAWS


def test_nothing_private_is_in_a_repr_and_print_says_that_it_is_private():
    exact, drawn = fx.audit(MEDIAN, *PAIR), fx.audit(MEDIAN, *PAIR, draws=1000, rng=1)
    assert repr(exact) == "Audit(method='law', delta=0.0, promised=1.0)"
    assert repr(drawn) == "Audit(method='draws', delta=0.0, promised=1.0)"
    for audit in (exact, drawn):
        assert "Not private" in str(audit)
        assert f"{audit.epsilon:.6g}" in str(audit)
        assert "which proves nothing" in audit._repr_html_()


class TestMisuse:
    @each("alpha", [5e-324, 1e-300, 1e-17, 1e-10])
    def test_an_alpha_however_small_is_a_certificate(self, alpha):
        result = fx.audit(lambda size: [1] * size, lambda size: [2] * size, draws=2000, alpha=alpha)
        assert (result.epsilon > 0.5) == (alpha > 5e-324)
        assert f">= 1 - {alpha!r}" in str(result)

    @pytest.mark.slow
    @pytest.mark.parametrize("epsilon", [1e-9, 1e-7])
    def test_a_small_promise_is_not_refuted_by_rounding(self, epsilon):
        mechanism = fx.PermuteAndFlip(epsilon, 1.0, monotonic=True, any_epsilon=True)
        random = np.random.default_rng(3)
        for _ in range(100):
            k = int(random.integers(2, 9))
            data = random.integers(0, 20, k)
            neighbor = data + random.permutation(np.arange(k) < k - 1)
            result = fx.audit(mechanism, data, neighbor)
            assert not result.refuted
            assert fx.audit(mechanism, data, neighbor, epsilon=result.epsilon / 2).refuted
