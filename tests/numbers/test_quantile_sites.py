"""Do draws by sites of joint quantiles follow the exact law, and end where answers crowd?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.intake import Counted, RecordSource, runs
from tests.doors.numbers import QuantilesStatistic, quantile_sites, quantiles
from tests.doors.parameters import make_grid
from tests.doors.randomness import seeds_of, stream_of
from tests.numbers.test_quantiles_draws import fit, law
from tests.support.each import each

HALF = Fraction(1, 2)
TENTHS = tuple(Fraction(k, 10) for k in (1, 2, 4, 5, 7, 9))
CASES = {  # records, points, q, rate, lattice
    "two points": ((0, 0, 0), 2, TENTHS, HALF, 4),
    "an atom": ((1, 1, 1), 3, TENTHS[:4], HALF, 4),
    "atoms": ((0, 1, 1, 2), 3, TENTHS[1:5], Fraction(1), 2),
    "gap": ((0, 2, 2), 3, TENTHS[:5], Fraction(1, 8), 16),
    "known number": ((0, 0, 2, 2), 3, TENTHS[:5], HALF, None),
}


def draws(case, ties, number):
    records, size, q, rate, lattice = case
    grid = make_grid((0, size - 1), step=1)
    statistic = QuantilesStatistic(q, rate, lattice, grid, ties)
    source = Counted(*runs(np.array(sorted(records), np.int64)), grid)
    chain = quantile_sites.SiteChain(statistic, source)
    stream = stream_of(seeds_of(1, np.zeros(1, np.uint64)), 0)
    return statistic.draws(chain, stream, number)


@pytest.mark.statistical
@each("ties", ["left", "spread"])
@each("name", [name for name in CASES if name != "atoms"])  # those are below
def test_draws_by_sites_follow_the_law(name, ties):
    drawn = draws(CASES[name], ties, 1_000)
    assert fit(drawn, law(*CASES[name], ties))


@pytest.mark.statistical
@pytest.mark.parametrize("ties", ["left", "spread"])
def test_draws_by_sites_tell_another_rate(ties):
    records, size, q, rate, lattice = CASES["atoms"]
    drawn = draws(CASES["atoms"], ties, 2_000)
    assert fit(drawn, law(*CASES["atoms"], ties))
    for other in (rate * HALF, rate * 2):
        assert not fit(drawn, law(records, size, q, other, lattice, ties))


@pytest.mark.slow
@each("n", [1, 5, 40])
def test_many_quantiles_of_few_records_end(n):
    records = np.random.default_rng(1).integers(0, 40, n)
    answers = fx.Quantiles(count=99, epsilon=1, bounds=(0, 39), step=1).release(records)
    assert (np.diff(answers) >= 0).all()
    assert 0 <= answers[0] <= answers[-1] <= 39


@pytest.mark.statistical
@pytest.mark.parametrize("records", [np.full(10_000, 40), np.repeat(np.arange(17, 90), 450)])
def test_equal_records_to_the_left_have_their_law(records):
    mechanism = fx.JointExponentialQuantiles([0.2, 0.5], 4, (0, 100), step=1)
    drawn = np.asarray(mechanism.sample(records, 300, rng=1))
    law_of = mechanism.law(records)
    for j in range(2):
        marginal = law_of.marginal(j)
        middle = marginal.ppf(0.5)
        for at in (marginal.ppf(0.1), middle, marginal.ppf(0.9)):
            p = float(marginal.cdf(at))
            assert abs(np.mean(drawn[:, j] <= at) - p) < 5 * (p * (1 - p) / 300) ** 0.5 + 0.004


def test_a_chain_that_refuses_hands_over_to_sites_and_these_to_more_states():
    grid = make_grid((0, 3), step=1)
    source: RecordSource = Counted(*runs(np.array([1, 1, 2], np.int64)), grid)
    statistic = QuantilesStatistic(TENTHS, HALF, 4, grid, "spread")
    chain = statistic.chain(source)
    assert statistic.after(chain, quantiles.MAX_ATTEMPTS - 1) is chain
    assert isinstance(statistic.after(chain, quantiles.MAX_ATTEMPTS), quantile_sites.SiteChain)
    sites = quantile_sites.SiteChain(statistic, source, most=2)
    assert statistic.after(sites, quantile_sites.MAX_REFUSALS - 1) is sites
    more = statistic.after(sites, quantile_sites.MAX_REFUSALS)
    assert more.most == 4
    most = statistic.after(more, 10**6)
    assert most.most == statistic.after(most, 10**7).most == len(TENTHS)
