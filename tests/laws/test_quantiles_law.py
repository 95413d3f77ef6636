"""Are laws of several quantiles those of the exact twin, and of known cases?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta, betabinom

import fastexp as fx
from tests.messages import raises
from tests.support.checks import quantile_laws as checks
from tests.support.checks.quantile_laws import QUARTILES, SQUARES, law_of
from tests.support.each import each


@pytest.mark.slow
@each("ties", checks.TIES)
@each("case", checks.CASES)
def test_the_law_is_that_of_the_twin(case, ties):
    """Whole sums, totals, masses of points, errors and errors in rank."""
    checks.law_is_that_of_the_twin(case, ties)


@pytest.mark.slow
def test_a_wrong_rate_is_seen():
    """Power: 2 % of epsilon are more than a million tolerances."""
    right, wrong = (law_of(SQUARES, 61, QUARTILES, rate, 8, "left") for rate in (0.5, 0.51))
    assert abs(right.marginal(1).mean() - wrong.marginal(1).mean()) > 1e-3
    assert abs(right.log_normalizer - wrong.log_normalizer) > 1e-2


@pytest.mark.slow
def test_known_figures_of_thirty_records():
    """Sums over all tuples in doubles: add-remove at epsilon 1, then replace."""
    checks.known_figures()


def test_quantiles_without_a_common_denominator():
    """Shares of 1/10**18 of a record, beside their neighbours of 1/10**9."""
    records, half = [1, 2, 3] * 4, Fraction(1, 2)
    unlike = Fraction(1, 999_999_937), Fraction(1, 999_999_929), half
    alike = Fraction(1, 10**9), Fraction(2, 10**9), half
    errors = [
        fx.Quantiles(q, epsilon=1.0, bounds=(0, 10), step=1).law(records).expected_error()
        for q in (unlike, alike)
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-6)


def test_sums_that_no_double_holds():
    checks.sums_beyond_doubles()


@pytest.mark.slow
@each("size", [7, 1000, 1 << 30])
def test_answers_without_records_are_order_statistics(size):
    """All of them in one run, also where its points are too many to be listed."""
    for ties, shape in (("spread", beta), ("left", betabinom)):
        law = law_of([], size, QUARTILES, 1, 1, ties)
        for j in range(3):
            marginal = law.marginal(j)
            at = np.unique(np.linspace(0, size - 1, 40).astype(np.int64))
            if ties == "spread":
                exact = shape(j + 1, 3 - j).cdf((at + 1.0) / size)
            elif size <= 1000:
                exact = shape(size - 1, j + 1, 3 - j).cdf(at)
            else:
                continue
            assert marginal.cdf(at) == pytest.approx(exact, abs=5e-10)
            if size == 1 << 30:
                assert marginal.mean() == pytest.approx(size * (j + 1) / 4 - 0.5, rel=1e-9)


@pytest.mark.slow
def test_many_records_and_all_equal_ones():
    """Masses sum to 1 for n = 5,000; a million equal records are found."""
    x = np.random.default_rng(1).normal(size=5000).clip(-4, 4) * 1e6 + 4e6
    law = law_of(x.astype(np.int64).tolist(), 8_000_001, QUARTILES, Fraction(1, 2), 8, "spread")
    for j in range(3):
        assert sum(p.sum() for p in law._chain.places[j].values()) == pytest.approx(1, abs=1e-9)
    assert law.expected_rank_error() == pytest.approx([2.5] * 3, abs=1.5)
    equal = law_of([40] * 20_000, 100, QUARTILES, Fraction(1, 2), 8, "spread")
    assert [equal.marginal(j).pmf(40) > 0.99 for j in range(3)] == [True] * 3
    assert equal.expected_rank_error() == pytest.approx([0.0] * 3, abs=1e-9)


def test_what_a_marginal_refuses():
    """It has no utility, and is known at one epsilon."""
    law = law_of(SQUARES, 61, QUARTILES, Fraction(1, 2), 8, "spread")
    marginal = law.marginal(0)
    for call in (
        lambda: marginal.with_epsilon(2.0),
        lambda: marginal.expected_loss(),
        lambda: marginal.expected_utility(),
        lambda: marginal.loss_cdf(1.0),
        lambda: marginal.loss_tail(1.0),
        lambda: marginal.loss_quantile(0.5),
        lambda: marginal.log_normalizer,
        lambda: marginal.epsilon_for(expected_error=1.0, truth=3),
    ):
        with raises("utility of a marginal"):
            call()
    with raises("total of a public number"):
        law_of(SQUARES, 61, QUARTILES, Fraction(1, 4), None, "left").total()
    for j in (-1, 3):
        with raises("j: between two numbers"):
            law.marginal(j)
    with raises("one truth a quantile"):
        law.expected_error([1.0])


def test_what_takes_too_long_is_refused_each_time():
    law = fx.Quantiles(count=100, epsilon=1.0, bounds=(-1e3, 1e6)).law([])
    for _ in range(2):
        with raises("law that takes too long"):
            law.marginal(0)
    assert law.sample(2, rng=1).shape == (2, 100)
