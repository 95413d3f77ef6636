"""Is the privacy loss of two laws exact: against Fractions, all points, and dp_accounting?"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import fastexp as fx
from tests.messages import raises
from tests.support.each import each
from tests.twins import numbers, selection

EPSILONS = (-0.4, 0.0, 0.1, 0.37, 0.9, 3.0)
ORDERS = (0.25, 0.999999, 1 - 1e-12, 1.0, 1 + 1e-9, 1.000001, 1.0003, 2.0, 17.5)
ONE = Fraction(1)


def exp(x):
    """To 40 digits."""
    with mp.workdps(45):
        return Fraction(str(mp.exp(mp.mpf(x))))


def log(x):
    with mp.workdps(45):
        return mp.log(mp.mpf(x.numerator) / x.denominator)


def agrees(loss, first, second):
    """Every figure of a privacy loss against the definitions, of exact probabilities."""
    pairs = [(p, q) for p, q in zip(first, second, strict=True) if p]
    assert sum(first) == pytest.approx(1, abs=1e-30)
    ratios = [log(p / q) for p, q in pairs]
    for epsilon in EPSILONS:
        exact = sum(max(p - exp(epsilon) * q, Fraction(0)) for p, q in pairs)
        assert loss.delta(epsilon) == pytest.approx(float(exact), rel=1e-11, abs=1e-15)
    for order in ORDERS:
        with mp.workdps(45):
            masses = [mp.mpf(p.numerator) / p.denominator for p, _ in pairs]
            if order == 1:
                exact = mp.fdot(masses, ratios)
            else:
                powers = [mp.exp((mp.mpf(order) - 1) * r) for r in ratios]
                exact = mp.log(mp.fdot(masses, powers)) / (mp.mpf(order) - 1)
        assert loss.renyi(order) == pytest.approx(float(exact), rel=1e-9, abs=1e-15)
    most = float(max(ratios))
    assert loss.epsilon() == pytest.approx(max(most, 0.0), rel=1e-12, abs=1e-14)
    assert loss.renyi(math.inf) == loss.epsilon()
    assert loss.renyi(1e9) == pytest.approx(max(most, 0.0), abs=1e-7)
    assert float(loss.probabilities @ loss.losses) == pytest.approx(loss.renyi(1), abs=1e-14)
    assert loss.probabilities.sum() == pytest.approx(1)
    for delta in (1e-9, 1e-3, 0.02, 1.0):
        least = loss.epsilon(delta)
        assert loss.delta(least) <= delta
        assert least == 0 or loss.delta(np.nextafter(least, 0)) > delta


def both_ways(law, other, first, second):
    loss = law.privacy_loss(other)
    agrees(loss, first, second)
    agrees(loss.reverse, second, first)
    agrees(other.privacy_loss(law), second, first)


UTILITIES = [
    ([3, 1, 0, 0, 2], [2, 1, 1, 0, 3]),
    ([0.25, -7.5, 1e6, 999999.5], [0.0, -7.0, 999999.5, 1e6]),
    ([1, 1, 1], [1, 1, 1]),
    ([2**62, 2**62 - 3, 5], [2**62 - 1, 2**62 - 2, 4]),
]


@pytest.mark.slow
@each("pair", UTILITIES)
@each("epsilon", [1e-3, 0.7, 5.0])
def test_of_selections_against_fractions(pair, epsilon):
    utilities = [[Fraction(u) for u in each] for each in pair]
    mechanism = fx.Exponential(epsilon, 1.0)
    laws = [mechanism.law(u) for u in pair]
    rate = Fraction(epsilon) / 2
    exact = [selection.probabilities(rate, u, [ONE] * len(u)) for u in utilities]
    both_ways(*laws, *exact)


def test_a_base_cancels_out_and_candidates_without_base_do_not_count():
    base = [0.5, 0.0, 3.0, 1e-9]
    laws = [fx.Exponential(0.8, 1.0, base=base).law(u) for u in ([4, 9, 1, 0], [3, 8, 2, 1])]
    weights = [Fraction(b) for b in base]
    exact = [
        selection.probabilities(Fraction(0.8) / 2, [Fraction(x) for x in u], weights)
        for u in ([4, 9, 1, 0], [3, 8, 2, 1])
    ]
    assert laws[0].privacy_loss(laws[1]).losses.size <= 3
    both_ways(*laws, *exact)


@each("pair", [UTILITIES[0], UTILITIES[2], ([4, 4, 1, 0], [3, 5, 0, 0])])
def test_of_permute_and_flip_against_fractions(pair):
    rate, exact = Fraction(0.7) / 2, []
    for u in pair:
        weights = [exp(float(rate * Fraction(x - max(u)))) for x in u]
        exact.append(selection.permute_and_flip_law(weights))
    laws = [fx.PermuteAndFlip(0.7, 1.0).law(u) for u in pair]
    loss = laws[0].privacy_loss(laws[1])
    for epsilon in EPSILONS:
        most = exp(epsilon)
        delta = sum(max(p - most * q, Fraction(0)) for p, q in zip(*exact, strict=True))
        assert loss.delta(epsilon) == pytest.approx(float(delta), rel=1e-9, abs=1e-12)
    ratios = [float(log(p / q)) for p, q in zip(*exact, strict=True)]
    assert loss.epsilon() == pytest.approx(max(ratios), abs=2e-12)
    assert loss.reverse.epsilon() == pytest.approx(-min(ratios), abs=2e-12)


def test_of_top_k_against_fractions():
    mechanism, exact = fx.TopK(3, epsilon=2.4, sensitivity=1.0), []
    pair = [5, 3, 0, 4], [4, 2, 1, 4]
    rate = Fraction(mechanism.round_epsilon) / 2
    for u in pair:
        weights = [exp(float(rate * x)) for x in u]
        orders = itertools.permutations(range(4), 3)
        exact.append([selection.ordered_selection(weights, order) for order in orders])
    both_ways(*(mechanism.law(u) for u in pair), *exact)


RECORDS = [
    ([1, 2, 4, 7, 7], [1, 2, 4, 7]),
    ([3], [3, 9]),
    ([0, 0, 0, 10, 10, 10], [0, 0, 0, 10, 10]),
]


@each("pair", RECORDS)
def test_of_medians_against_fractions(pair):
    mechanism = fx.Median(1.3, (0, 10), step=1, convention="lower")
    laws = [mechanism.law(records) for records in pair]
    exact = []
    for records in pair:
        distance = [numbers.lower_add_remove(*numbers.ranks(records, x)) for x in range(11)]
        utilities = [Fraction(-d) for d in distance]
        exact.append(selection.probabilities(laws[0]._rate, utilities, [ONE] * 11))
    both_ways(*laws, *exact)


def points_agree(loss, first, second, near=1e-12):
    """Against probabilities of all points, in floats."""
    ratios = np.log(first / second)
    for epsilon in EPSILONS:
        delta = np.maximum(first - np.exp(epsilon) * second, 0.0).sum()
        assert loss.delta(epsilon) == pytest.approx(delta, rel=1e-9, abs=near)
    assert loss.delta(EPSILONS) == pytest.approx([loss.delta(e) for e in EPSILONS], rel=0)
    for order in (0.5, 3.0):
        divergence = np.log((first**order * second ** (1 - order)).sum()) / (order - 1)
        assert loss.renyi(order) == pytest.approx(divergence, rel=1e-9, abs=near)
    assert loss.renyi(1) == pytest.approx((first * ratios).sum(), rel=1e-9, abs=near)
    assert loss.epsilon() == pytest.approx(max(ratios.max(), 0), abs=near)
    assert loss.reverse.epsilon() == pytest.approx(max(-ratios.min(), 0), abs=near)


RANDOM = np.random.default_rng(5)
BIDS = np.round(RANDOM.uniform(1, 10, 40), 2)
MANY = [
    (fx.Price(2.0, (1, 10), step=0.01), BIDS, BIDS[1:]),
    (fx.Price(2.0, (1, 10), step=0.01), BIDS, np.append(BIDS[1:], 10)),
    (fx.Price(0.5, (1, 10), grid=np.sort(RANDOM.uniform(1, 10, 200))), BIDS, BIDS[:-1]),
    (fx.Laplace(1.5, 2, step=1, bounds=(0, 60)), 13, 15),
    (fx.Laplace(1.5, 0.5, step=0.25, bounds=(0, 60)), 13.1, 12.6),
    (fx.Laplace(3.0, 0.5, step=0.25, bounds=(0, 60)), 13.1, 12.6),
    (fx.Median(1.0, (0, 10), step=0.01, widen=0.2), BIDS, BIDS[1:]),
    (fx.Mode(1.0, (0, 10), step=0.5), BIDS.round(), BIDS.round()[1:]),
    (fx.Quantile(0.9, 1.0, (0, 10), step=0.01, neighbors="replace"), BIDS, np.append(BIDS[1:], 3)),
]


@each(("mechanism", "data", "neighbor"), MANY)
def test_of_grids_against_all_points(mechanism, data, neighbor):
    laws = [mechanism.law(each) for each in (data, neighbor)]
    points_agree(laws[0].privacy_loss(laws[1]), *(law.probabilities for law in laws))
    points_agree(laws[1].privacy_loss(laws[0]), *(law.probabilities for law in laws[::-1]))


@each(("f", "other"), [(10, 11), (-3, 40), (5, 5)])
def test_laplace_noise_on_the_whole_line(f, other):
    """The two laws see different parts of the line; the loss is of their union."""
    mechanism = fx.Laplace(0.5, 1, step=1)
    laws = mechanism.law(f), mechanism.law(other)
    loss = laws[0].privacy_loss(laws[1])
    points = np.arange(-600, 640)
    points_agree(loss, *(law.pmf(points) for law in laws), near=1e-10)
    assert loss.epsilon() == loss.reverse.epsilon() == pytest.approx(0.5 * abs(f - other))


def test_laplace_noise_of_statistics_that_do_not_see_each_other():
    mechanism = fx.Laplace(0.5, 1, step=1)
    loss = mechanism.law(10).privacy_loss(mechanism.law(10_000))
    for direction in (loss, loss.reverse):
        assert direction.delta(4000.0) == pytest.approx(1)
        assert direction.epsilon() == pytest.approx(4995)
        assert direction.renyi(1) == pytest.approx(4994, abs=1)


def test_a_fine_grid_is_what_its_points_are():
    """2**40 points, too many to look at: as 2**20 of them, up to the step."""
    figures = []
    for steps in (2**40, 2**20):
        mechanism = fx.Price(1.0, (0, 8), step=Fraction(8, steps))
        loss = mechanism.law(BIDS).privacy_loss(mechanism.law(BIDS[1:]))
        deltas = loss.delta([0.0, 0.1, 0.3])
        figures.append([*deltas, loss.epsilon(), loss.epsilon(0.01), loss.renyi(1), loss.renyi(5)])
        if steps == 2**40:
            with raises("grid too fine for its losses"):
                loss.losses  # noqa: B018  # raises
    assert figures[0] == pytest.approx(figures[1], rel=1e-4)


def test_tiny_losses_keep_their_digits():
    laws = [fx.Exponential(1e-8, 1.0).law([u, *[0.0] * 999]) for u in (5.0, 4.0)]
    with mp.workdps(40):
        p, q = (1 / (1 + 999 * mp.exp(-mp.mpf(1e-8) / 2 * gap)) for gap in (5, 4))
        mean = p * mp.log(p / q) + (1 - p) * mp.log((1 - p) / (1 - q))
        second = mp.log(p * p / q + (1 - p) ** 2 / (1 - q))
    loss = laws[0].privacy_loss(laws[1])
    assert loss.renyi(1) == pytest.approx(float(mean), rel=1e-5, abs=0)
    assert loss.renyi(2) == pytest.approx(float(second), rel=1e-5, abs=0)


@pytest.mark.peers
@pytest.mark.slow
def test_dp_accounting_brackets_the_same_curve():
    """Its distribution of losses is rounded up or down to multiples of an interval."""
    pytest.importorskip("dp_accounting")
    from dp_accounting.pld.privacy_loss_distribution import from_two_probability_mass_functions

    mechanism = fx.Median(0.8, (0, 50), step=1)
    records = RANDOM.integers(0, 51, 30)
    laws = mechanism.law(records), mechanism.law(records[1:])
    loss, interval = laws[0].privacy_loss(laws[1]), 1e-5
    for direction, pair in ((loss, laws), (loss.reverse, laws[::-1])):
        upper, lower = (dict(enumerate(law.log_probabilities)) for law in pair)
        for pessimistic in (True, False):
            theirs = from_two_probability_mass_functions(
                lower,
                upper,
                pessimistic_estimate=pessimistic,
                value_discretization_interval=interval,
            )
            for epsilon in (0.0, 0.1, 0.3):
                ours = direction.delta(epsilon)
                difference = theirs.get_delta_for_epsilon(epsilon) - ours
                assert difference == pytest.approx(0, abs=2 * interval)
                assert difference >= -1e-12 if pessimistic else difference <= 1e-12


def test_nothing_private_is_in_a_repr_and_print_says_that_it_is_private():
    mechanism = fx.Median(1.0, (0, 10), step=1)
    loss = mechanism.law([1, 2, 4]).privacy_loss(mechanism.law([1, 2]))
    assert repr(loss) == f"PrivacyLoss(of=GridLaw({mechanism!r}))"
    assert "Not private" in str(loss)
    assert f"{loss.epsilon():.6g}" in str(loss)


def test_orders_next_to_one_lose_no_digits_where_losses_vary_in_a_run():
    mechanism = fx.Price(epsilon=0.01, bounds=(0, 10), step=0.01)
    bids = np.random.default_rng(1).uniform(0, 10, 50)
    loss = mechanism.law(bids).privacy_loss(mechanism.law(bids[1:]))
    mean = loss.renyi(1)
    for order in (1 - 1e-9, 1 - 1e-12, 1 + 1e-12, 1 + 1e-9):
        assert loss.renyi(order) == pytest.approx(mean, rel=1e-8, abs=0)


def test_laws_of_other_mechanisms_are_refused():
    median, law = fx.Median(1.0, (0, 10), step=1), fx.Median(1.0, (0, 10), step=1).law([1, 2])
    for other in (
        fx.Median(2.0, (0, 10), step=1).law([1, 2]),
        fx.Median(1.0, (0, 9), step=1).law([1, 2]),
        fx.Median(1.0, (0, 10), step=0.5).law([1, 2]),
    ):
        with raises("law of the same mechanism"):
            law.privacy_loss(other)
    choice = fx.Exponential(1.0, 1.0).law([1, 2])
    for other in (choice, None, 3, median):
        with raises("GridLaw: law of the same type"):
            law.privacy_loss(other)


def test_arguments():
    law = fx.Exponential(1.0, 1.0).law([1, 2])
    loss = law.privacy_loss(law)
    assert (loss.epsilon(), loss.delta(0), loss.renyi(1)) == (0, 0, 0)
    assert loss.delta(np.zeros((2, 3))).shape == (2, 3)
    far = [fx.Exponential(1e6, 1.0).law(u) for u in ([1.7e308, 0], [-1.7e308, 0])]
    with raises("utilities too large for a loss"):
        far[0].privacy_loss(far[1])
