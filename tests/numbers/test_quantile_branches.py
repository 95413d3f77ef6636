"""Is the law of joint quantiles' draws the mechanism's, to thirty digits, by either engine?

Branch by branch (`tests/support/checks/quantile_branches.py`), and draws against the same laws.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement as combinations
from itertools import product

import numpy as np
import pytest
from mpmath import mp, mpf

import fastexp as fx
from tests.doors.kernels import chain as kernels
from tests.doors.numbers import quantile_sites
from tests.doors.randomness import seeds_of, stream_of
from tests.doors.reference import exact_chain
from tests.numbers.test_quantiles_twin import HALF as ONE
from tests.numbers.test_quantiles_twin import QUARTILES, VECTORS
from tests.support.checks import quantile_branches as checks
from tests.support.checks.quantile_branches import BITS, HALF, THIRDS, TIES, Case
from tests.support.each import each
from tests.support.goodness import counts_fit

with mp.workprec(BITS + 60):  # weights 2**-distance
    LN2 = Fraction(int(mp.ldexp(mp.ln(2), BITS + 40)), 1 << BITS + 40)
ENGINES = {"ranks": Case.by_ranks, "few": Case.by_few, "sites": Case.by_sites}
V1 = VECTORS["V1"][0][0]
EXACT = mpf(10) ** -30


@pytest.mark.slow
@each("ties", TIES)
@each("chains", [checks.chains_of_ranks, checks.chains_of_few, checks.chains_of_sites])
def test_every_branch_has_its_weight(chains, ties):
    chains(ties)


def test_bounds_hold_of_many_records():
    checks.bounds_hold_of_many_records()


@each("ties", TIES)
@each("engine", ENGINES)
@each("factor", [Fraction(49, 50), Fraction(51, 50)])
def test_two_percent_of_epsilon_are_seen(engine, ties, factor):
    case = Case([0, 1, 1], 2, THIRDS, HALF, None, ties)
    chain = ENGINES[engine](case)
    checks.law_is_that_of_the_twin(case, chain)
    with pytest.raises(AssertionError):
        checks.law_is_that_of_the_twin(case._replace(rate=case.rate * factor), chain)


def law_within(chain, totals):
    """Of the answers, where the total is one of these."""
    law = Counter()
    for (_, answers), p in checks.probabilities(checks.law(chain, totals)).items():
        law[answers] += p
    return law


def test_open_words_are_decided_by_further_ones():
    checks.picks_are_exact()


def number(text):
    return checks.number(Fraction(text))


@pytest.mark.slow
@each("engine", ENGINES)
@each("name", VECTORS)
def test_known_figures(name, engine):
    """Known sums are over some totals: the engine's law, given that the total is one of them."""
    (records, size, q, totals), _, (mode, p), means, of_totals = VECTORS[name]
    case = Case(records, size, tuple(q), LN2, totals[1], "left")
    with mp.workprec(BITS):
        drawn = checks.probabilities(checks.law(ENGINES[engine](case), totals))
        for t, known in zip(totals, of_totals, strict=True):
            assert abs(sum(p for (s, _), p in drawn.items() if s == t) - number(known)) < EXACT
        for j, known in enumerate(means):
            assert abs(sum(p * o[j] for (_, o), p in drawn.items()) - number(known)) < EXACT
        assert abs(sum(drawn[t, mode] for t in totals) - number(p)) < EXACT


@pytest.mark.statistical
@each("name", VECTORS)
def test_draws_have_the_known_figures(name):
    """The compiled kernels', against the exact law."""
    (records, size, q, totals), *_ = VECTORS[name]
    case = Case(records, size, tuple(q), LN2, totals[1], "left")
    seeds = seeds_of(1, np.zeros(1, np.uint64))
    drawn = case.statistic().simulate(case.source(), seeds, 60_000)
    drawn = drawn[np.isin(drawn[:, -1], totals)]
    weights = checks.twin.enumerated(
        records, size, q, totals, checks.twin.power(Fraction(2)), "left"
    )
    expected, whole = {(*o, t): w for (t, o), w in weights.items()}, sum(weights.values())
    counts = Counter(map(tuple, drawn.tolist()))
    assert counts_fit(
        np.array([counts[x] for x in expected]),
        np.array([float(w / whole) for w in expected.values()]),
    )


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_known_figures_of_replace_and_of_equal_records(engine):
    fixed = Case(V1, 8, tuple(QUARTILES), LN2 / 2, None, "left")
    equal = Case([1, 1, 1], 3, tuple(ONE), LN2, 2, "spread")
    with mp.workprec(BITS):
        law = law_within(ENGINES[engine](fixed), [4])
        assert abs(law[2, 3, 6] - number("4/165")) < EXACT
        for j, known in enumerate(["102/55", "109/30", "591/110"]):
            assert abs(sum(p * o[j] for o, p in law.items()) - number(known)) < EXACT
        law = law_within(ENGINES[engine](equal), [0, 2, 4])
        assert abs(law[0,] - number("1/4")) < EXACT
        assert abs(law[1,] - number("1/2")) < EXACT


@cache
def logs(engine, records, lattice, ties):
    """Logarithms of the probabilities of what the engine draws; epsilon is 2 or 4 ln 2."""
    chain = ENGINES[engine](Case([*records], 3, THIRDS, LN2, lattice, ties))
    return {x: mp.log(p) for x, p in checks.probabilities(checks.law(chain)).items()}


@pytest.mark.proof
@each("ties", TIES)
@each(("lattice", "moves"), [(8, 1), (None, 2)])
@each("engine", ENGINES)
def test_what_is_drawn_keeps_the_promise(engine, lattice, moves, ties):
    """Ratios and their range, over all neighbours of up to two records, or three under replace."""
    more = int(lattice is not None)  # records of the second data set, when the number is private
    data = [x for n in range(4 - more) for x in combinations(range(3), n)]
    neighbors = [
        (a, b)
        for a, b in product(data, data)
        if len(b) == len(a) + more and (Counter(b) - Counter(a)).total() == 1
    ]
    epsilon, worst, width = 2 * moves * float(LN2), 0.0, 0.0
    for first, second in neighbors:
        one, other = (logs(engine, records, lattice, ties) for records in (first, second))
        changes = [float(other[x] - one[x]) for x in one.keys() & other.keys()]
        worst = max(worst, *map(abs, changes))
        width = max(width, max(changes) - min(changes))
    assert 0.4 * epsilon < worst <= epsilon * (1 + 1e-12)
    assert 0.75 * epsilon < width <= epsilon * (1 + 1e-12)


@pytest.mark.statistical
@pytest.mark.parametrize("ties", TIES)
def test_floats_decide_among_sites_as_integers_do(ties, monkeypatch):
    case = Case([0, 1, 1, 2], 3, (Fraction(1, 5), HALF, Fraction(9, 10)), HALF, 8, ties)
    statistic, stream = case.statistic(), stream_of(seeds_of(1, np.zeros(1, np.uint64)), 0)
    drawn = statistic.draws(case.by_sites(most=2), stream, 300)
    monkeypatch.setattr(quantile_sites, "MARGIN", float("inf"))
    exact = statistic.draws(case.by_sites(most=2), stream, 300)
    np.testing.assert_array_equal(drawn, exact)


@pytest.mark.parametrize("records", [range(500, 505), [7]])
def test_many_quantiles_of_a_known_number_of_records_end(records):
    """All ranks are in the chain of sites: no rest is drawn, however much of the grid is far."""
    mechanism = fx.Quantiles(count=99, epsilon=20, bounds=(0, 10**6), step=1, neighbors="replace")
    source = mechanism._statistic.chain(Case([*records], 1000, (), HALF, None, "left").source())
    assert isinstance(source, quantile_sites.SiteChain)
    assert source.masses[-1] == 0
    answers = mechanism.release([*records])
    assert (np.diff(answers) >= 0).all()


@pytest.mark.slow
@each("ties", TIES)
@each("bits", [16, 40, 51])
def test_the_rest_has_all_answers_of_a_fine_grid(bits, ties):
    """Its mass is a bound: differences of logarithms of factorials would have no digits there."""
    for m, lattice in ((3, 8), (20, None)):
        q = tuple(Fraction(k + 1, m + 1) for k in range(m))
        case = Case([1, 5, 9] * 200, 1 << bits, q, HALF, lattice, ties)
        for chain in (case.by_ranks(), *([case.by_sites()] if lattice else [])):
            number = chain.slots * (
                math.comb(case.size + m - 1, m)
                if ties == "left"
                else Fraction(case.size**m, math.factorial(m))
            )
            with mp.workprec(BITS):
                most = checks.number(Fraction(number)) * mp.exp(-chain.rate * chain.reach)
                mass = mpf(float(chain.masses[-1])) * mp.exp(checks.number(chain.log_unit))
                assert most <= mass * mpf(2) ** chain.unit


def test_words_of_zeros_are_words():
    """A place is that of its two words, whatever they are."""
    for low, high, place in ((0, 3 << 61, 3), (1 << 63, 0, 0)):
        assert exact_chain._place(9, low, high, lambda: pytest.fail("a further word")) == place


def test_least_words_are_left_to_integers():
    """Ways before the first that a float sees may weigh something."""
    assert kernels.uncertain(0.0, 0.0, 1.0, 2.0**-38)
    assert not kernels.uncertain(0.5, 0.0, 1.0, 2.0**-38)
