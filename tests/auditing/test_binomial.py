"""Are confidence bounds of a probability Clopper and Pearson's, and never on the wrong side?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from tests.doors.auditing import log_tail, lower_bound, upper_bound
from tests.support.each import each

CASES = [
    (hits, draws)
    for draws in (1, 7, 100, 12_345, 10**7)
    for hits in sorted({0, 1, draws // 1000, draws // 3, draws - 2, draws - 1, draws})
    if 0 <= hits <= draws
]


@pytest.mark.slow
@each("alpha", [0.2, 0.0025, 1e-9])
@each(("hits", "draws"), CASES)
def test_bounds_are_quantiles_of_beta_laws(hits, draws, alpha):
    low, high = lower_bound(hits, draws, alpha), upper_bound(hits, draws, alpha)
    exact = beta.ppf(alpha, hits, draws - hits + 1) if hits else 0.0
    assert low == pytest.approx(exact, rel=1e-5, abs=1e-15)
    above = beta.isf(alpha, hits + 1, draws - hits) if hits < draws else 1.0
    assert high == pytest.approx(above, rel=1e-5)
    assert low <= exact * (1 + 1e-12)
    assert high >= above * (1 - 1e-12)
    assert 0.0 <= low < hits / draws or low == hits == 0
    assert hits / draws < high <= 1.0 or high == 1.0


def test_tails_are_never_too_small():
    random = np.random.default_rng(2)
    for _ in range(300):
        draws = int(10 ** random.uniform(0, 6))
        hits = int(random.integers(1, draws + 1))
        p = hits / draws * random.uniform(0.3, 1.0) * (1 - 1e-9)
        exact = binom.logsf(hits - 1, draws, p)
        if exact < -600:  # where scipy's are 0
            continue
        assert log_tail(hits, draws, p) >= exact - 1e-10 * (1 + abs(exact))
        assert log_tail(hits, draws, p) == pytest.approx(exact, rel=1e-6, abs=1e-6)


@pytest.mark.slow
def test_the_bound_holds_as_often_as_it_says():
    """Exactly: the sum over all hits whose bound is above the truth."""
    for draws, p in ((50, 0.3), (400, 0.02)):
        hits = np.arange(draws + 1)
        wrong = np.array([lower_bound(int(x), draws, 0.05) > p for x in hits])
        chance = binom.pmf(hits, draws, p)[wrong].sum()
        assert 0.005 < chance <= 0.05
        assert wrong[-1]
        assert math.isclose(chance, binom.sf(hits[~wrong].max(), draws, p))
