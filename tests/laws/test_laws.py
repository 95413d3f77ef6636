"""Is a law exact: probabilities, losses, bounds and the epsilon that they ask for?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import logsumexp

import fastexp as fx
from fastexp.errors import ParameterError
from tests.messages import raises
from tests.support.cases import CASES, IDS, Case
from tests.support.checks import sampler as checks
from tests.support.each import each

# Computed in 30 digits: scores (10, 8, 5, 5, 1), sensitivity 1, epsilon 1.
SCORES = np.array([10.0, 8.0, 5.0, 5.0, 1.0])
LAW = fx.Exponential(1.0, 1.0).law(SCORES)


@pytest.mark.slow
@each("case", CASES, ids=IDS)
def test_probabilities_are_the_references(case):
    checks.law_is_the_reference(case)


@pytest.mark.slow
@each("case", CASES, ids=IDS)
def test_loss_statistics_are_the_references(case):
    exact = [float(p) for p in case.exact()]
    values = [int(u) if case.utilities.dtype.kind in "iu" else u for u in case.utilities.tolist()]
    possible = [i for i, p in enumerate(exact) if p > 1e-50]
    best = max(values[i] for i in possible)
    losses = [float(best - values[i]) for i in possible]
    mean = sum(exact[i] * x for i, x in zip(possible, losses, strict=True))
    law = case.mechanism.law(case.utilities)
    near = {"rel": 1e-11, "abs": 1e-45 * max(losses)}
    assert law.expected_loss() == pytest.approx(mean, **near)
    with np.errstate(over="ignore"):
        variance = sum(
            exact[i] * np.square(x - mean) for i, x in zip(possible, losses, strict=True)
        )
    assert law.loss_variance() == pytest.approx(variance, rel=1e-9, abs=1e-40 * max(losses))
    for t in {0.0, *losses}:
        cdf = sum(exact[i] for i, x in zip(possible, losses, strict=True) if x <= t)
        tail = sum(exact[i] for i, x in zip(possible, losses, strict=True) if x >= t)
        assert law.loss_cdf(t) == pytest.approx(cdf, rel=1e-11)
        assert law.loss_tail(t) == pytest.approx(tail, rel=1e-10, abs=1e-49)


def test_vectors():
    printed = [0.648021601248, 0.238393824534, 0.0531928522467, 0.0531928522467, 0.00719886972497]
    assert LAW.probabilities == pytest.approx(printed, rel=1e-11)
    assert LAW.expected_loss() == pytest.approx(1.07350599906, rel=1e-11)
    assert LAW.expected_utility() == pytest.approx(10 - 1.07350599906, rel=1e-11)
    for t, tail in [(0, 0.1135845742), (1, 0.007198869725), (2, 0.007198869725)]:
        loss, bound, exact = LAW.theorem_6(t)
        assert exact == pytest.approx(tail, rel=1e-9)
        assert bound == pytest.approx(math.exp(-t))
        assert exact <= bound
        assert loss == pytest.approx(2 * (math.log(5) + t))
        assert loss == pytest.approx(fx.loss_bound(t, epsilon=1.0, sensitivity=1.0, k=5))


def test_loss_quantiles():
    sums = np.cumsum([0.648021601248, 0.238393824534, 0.1063857044934])
    assert LAW.loss_quantile(0.0) == 0
    for p, loss in [(sums[0] - 1e-9, 0), (sums[0] + 1e-9, 2), (sums[1] + 1e-9, 5), (1.0, 9)]:
        assert LAW.loss_quantile(p) == loss
        assert LAW.loss_cdf(loss) >= p
    assert fx.Exponential(1e6, 1.0).law([0.0, 1e9]).loss_quantile(1.0) == 0  # the possible ones
    far = fx.Exponential(1.0, 1.0).law([0.0, -100.0])  # P(loss = 100) is 2e-22
    assert far.loss_quantile(1.0) == 100
    assert far.loss_quantile(1 - 2.0**-53) == 0


@pytest.mark.parametrize("make", [fx.Exponential, fx.PermuteAndFlip])
def test_questions_about_losses_take_numbers_and_arrays(make):
    law = make(1.0, 1.0).law(SCORES)
    levels = np.array([[0.0, 0.1, 0.5], [0.5001, 0.99, 1.0]])
    losses = np.array([[-1.0, 0.0, 1.0], [2.0, 9.0, 10.0]])
    for question, arguments in (
        (law.loss_quantile, levels),
        (law.loss_cdf, losses),
        (law.loss_tail, losses),
    ):
        answers = question(arguments)
        assert answers.dtype == np.float64
        assert answers.tolist() == [[question(x) for x in row] for row in arguments.tolist()]
        assert type(question(np.float32(0.5))) is type(question(np.array(0.5))) is float
        assert question([]).shape == (0,)
        assert question(arguments[0].tolist()).tolist() == answers[0].tolist()
    for wrong in ([0.5, 1.5], -0.1, [[2.0]]):
        with raises("p from 0 to 1"):
            law.loss_quantile(wrong)
    for wrong in ("0.5", [True], None):
        with raises("p: numbers of one type"):
            law.loss_quantile(wrong)


def test_a_law_keeps_its_candidates():
    law = fx.Exponential(1.0, 1.0, candidates=list("vwxyz")).law(SCORES)
    assert law.candidates == law.with_epsilon(2.0).candidates == tuple("vwxyz")


def test_log_probabilities_of_gaps_beyond_float64():
    law = fx.Exponential(1e-9, 1e250).law([1e308, -1e308])
    assert law.log_probabilities[1] == pytest.approx(-1e-9 / 2e250 * 1e308 * 2, rel=1e-14)
    based = fx.Exponential(1e-9, 1e250, base=[1, 3, 0]).law([1e308, -1e308, 1e300])
    assert based.log_probabilities[1] == pytest.approx(-1e49, rel=1e-14)
    assert based.log_probabilities[2] == -np.inf


def test_cdf_and_tail_take_arrays():
    t = np.array([[-1.0, 0.0], [5.0, np.inf]])
    assert LAW.loss_cdf(t).shape == (2, 2)
    assert LAW.loss_cdf(t)[0] == pytest.approx([0.0, LAW.probabilities[0]])
    assert LAW.loss_cdf(t)[1, 1] == 1
    assert LAW.loss_tail(t)[0].tolist() == [1.0, 1.0]
    assert LAW.loss_tail(t)[1, 1] == 0


def test_far_tails_keep_their_digits():
    law = fx.Exponential(2.0, 1.0).law([0.0, -300.0, -600.0])
    assert law.loss_tail(301.0) == pytest.approx(math.exp(-600), rel=1e-12)
    assert law.log_probabilities[2] == pytest.approx(-600, rel=1e-15)


@each("k", [1, 2, 1023, 1024, 1025, 5000])
@each("scale", [1e-3, 1.0, 1e3])
def test_log_normalizer_against_scipy(k, scale):
    u = scale * np.random.default_rng(k).normal(size=k)
    law = fx.Exponential(1.0, 1.0).law(u)
    assert law.log_normalizer == pytest.approx(logsumexp(u / 2), rel=4e-15, abs=1e-14)
    assert law.probabilities.sum() == pytest.approx(1, rel=1e-13)
    assert np.exp(law.log_probabilities).sum() == pytest.approx(1, rel=1e-12)
    if k == 1:  # nothing for a base to tell apart
        return
    base = np.random.default_rng(3).random(k) * (np.arange(k) % 3 != 2)
    law = fx.Exponential(1.0, 1.0, base=base).law(u)
    assert law.log_normalizer == pytest.approx(logsumexp(u / 2, b=base), rel=1e-14, abs=1e-13)


def test_utilities_at_the_ends_of_float64():
    big = 1.7e308
    law = fx.Exponential(1.0, 1.0).law([big, -big, big])
    assert law.probabilities.tolist() == [0.5, 0.0, 0.5]
    assert law.expected_loss() == 0
    assert law.log_normalizer == big / 2
    tiny = fx.Exponential(1.0, 1.0).law([5e-324, 0.0, 1e-310, 2e-310] * 300)
    assert tiny.probabilities == pytest.approx(np.full(1200, 1 / 1200), rel=1e-15)
    assert tiny.log_normalizer == pytest.approx(math.log(1200), rel=1e-15)


@pytest.mark.slow
def test_a_million_equal_utilities():
    law = fx.Exponential(1.0, 1.0).law(np.full(10**6, 7.25))
    assert (law.probabilities == 1e-6).all()
    assert law.expected_loss() == law.loss_variance() == 0
    assert law.log_normalizer == pytest.approx(7.25 / 2 + math.log(10**6), rel=1e-15)


def test_equal_utilities_are_grouped_with_their_base():
    law = fx.Exponential(1.0, 1.0, base=[2, 0, 1, 3]).law([1.0, 9.0, -0.0, 0.0])
    assert law._groups.losses.tolist() == [0.0, 1.0]
    assert law._groups.masses.tolist() == [2.0, 4.0]


def test_another_epsilon_is_another_law_of_the_same_data():
    law = LAW.with_epsilon(3.0)
    assert law.probabilities == pytest.approx(fx.Exponential(3.0, 1.0).law(SCORES).probabilities)
    assert LAW._groups is law._groups
    with pytest.raises(ParameterError):
        LAW.with_epsilon(1e9)
    assert LAW.with_epsilon(1e9, any_epsilon=True).probabilities[0] == 1


class TestEpsilonFor:
    @each("target", [1e-6, 0.1, 1.0, 4.0])
    def test_a_law_finds_the_least_epsilon(self, target):
        e = LAW.epsilon_for(expected_loss=target)
        assert LAW.with_epsilon(e).expected_loss() <= target * (1 + 1e-12)
        assert LAW.with_epsilon(e / 1.0111).expected_loss() > target * (1 - 1e-12)

    def test_limits_of_the_range(self):
        assert LAW.epsilon_for(expected_loss=100.0) == 1e-9

    def test_without_data(self):
        """The epsilon is enough on adversarial data, and Corollary 7 gives it back."""
        e = fx.epsilon_for(k=50, sensitivity=2.0, loss=30.0, failure=0.01)
        assert fx.loss_bound(math.log(100), epsilon=e, sensitivity=2.0, k=50) == pytest.approx(30)
        for gap in (10.0, 30.0, 40.0):
            law = fx.Exponential(e, 2.0).law([0.0] + [-gap] * 49)
            assert law.loss_tail(30.0) <= 0.01
        e = fx.epsilon_for(k=50, sensitivity=1.0, expected_loss=3.0)
        for gap in np.linspace(0.5, 30, 60):
            assert fx.Exponential(e, 1.0).law([0.0] + [-gap] * 49).expected_loss() <= 3.0
        half = fx.epsilon_for(k=50, sensitivity=1.0, expected_loss=3.0, monotonic=True)
        assert half == e / 2

    @each(
        "more",
        [
            {},
            {"loss": 1.0},
            {"failure": 0.1},
            {"loss": 1.0, "failure": 0.1, "expected_loss": 1.0},
            {"loss": 1.0, "failure": 0.0},
            {"loss": 1.0, "failure": 1.0},
            {"loss": 1.0, "failure": math.nan},
            {"loss": -1.0, "failure": 0.5},
            {"expected_loss": 0.0},
        ],
    )
    def test_bad_requests(self, more):
        with pytest.raises(ParameterError):
            fx.epsilon_for(k=5, sensitivity=1.0, **more)


def test_theorem_6_with_a_base():
    law = fx.Exponential(1.0, 1.0, base=[1, 4, 0]).law([3.0, 0.0, 99.0])
    loss, bound, exact = law.theorem_6(0.0)
    assert loss == pytest.approx(2 * math.log(5))
    assert exact <= bound


def test_loss_bound_checks_its_parameters():
    good = {"epsilon": 1.0, "sensitivity": 1.0, "k": 5}
    assert fx.loss_bound(1.0, **good, monotonic=True) == fx.loss_bound(1.0, **good) / 2
    assert fx.loss_bound(0.0, **good, optimal=5) == 0
    for bad in ({"k": 0}, {"optimal": 6}, {"epsilon": 0.0}, {"sensitivity": math.inf}):
        with pytest.raises(ParameterError):
            fx.loss_bound(1.0, **{**good, **bad})
    with pytest.raises(ParameterError):
        fx.loss_bound(-1.0, **good)


def test_a_law_shows_nothing_of_its_data():
    assert repr(LAW) == "FiniteLaw(Exponential(epsilon=1.0, sensitivity=1.0), k=5)"
    assert LAW.k == 5
    for name in ("probabilities", "log_probabilities"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(LAW, name)[0] = 1


@each(("shift", "scale"), [(0.0, 2.0), (1024.0, 1.0), (-8.0, 1.0), (0.0, 0.25), (512.0, 4.0)])
def test_metamorphic_relations(shift, scale):
    """Exactly representable shifts and scales change neither the law nor a seeded draw."""
    m, n = fx.Exponential(1.0, 1.0), fx.Exponential(1.0, scale)
    moved = SCORES * scale + shift
    assert (m.law(SCORES).probabilities == n.law(moved).probabilities).all()
    assert (m.sample(SCORES, 4000, rng=1) == n.sample(moved, 4000, rng=1)).all()
    twice = fx.Exponential(2.0, 2.0)
    assert (m.sample(SCORES, 4000, rng=1) == twice.sample(SCORES, 4000, rng=1)).all()


def test_more_metamorphic_relations():
    order = [3, 1, 4, 0, 2]
    m = fx.Exponential(1.0, 1.0)
    moved = m.law(SCORES[order]).probabilities
    assert moved == pytest.approx(LAW.probabilities[order], rel=1e-15)
    double = m.law(np.append(SCORES, SCORES[1])).probabilities
    based = fx.Exponential(1.0, 1.0, base=[1, 2, 1, 1, 1]).law(SCORES).probabilities
    assert double[1] + double[5] == pytest.approx(based[1], rel=1e-14)
    raised = m.law(SCORES + np.array([0, 0, 1.0, 0, 0])).probabilities
    assert raised[2] > LAW.probabilities[2]
    assert (np.delete(raised, 2) < np.delete(LAW.probabilities, 2)).all()
    ints = SCORES.astype(np.int64)
    for same in (ints, ints.astype(np.uint64), ints.astype(np.int8), ints.astype(np.uint16)):
        assert (m.sample(same, 4000, rng=1) == m.sample(SCORES, 4000, rng=1)).all()
    base = Case("ones", fx.Exponential(1.0, 1.0, base=np.ones(5)), SCORES)
    assert base.mechanism.law(SCORES).probabilities == pytest.approx(LAW.probabilities, rel=1e-15)
