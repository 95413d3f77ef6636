"""Do promises of several releases hold? Vectors, brute force over worst pairs, mpmath."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastexp as fx
from fastexp import Guarantee, privacy
from fastexp.errors import ParameterError
from tests.doors.privacy import amounts, conversion
from tests.house.test_docs import documented_parameters
from tests.messages import raises, says
from tests.support.each import each

SLACK = 1e-9


def sides(eta: float, t: np.ndarray) -> np.ndarray:
    """Q(A) of the worst pair: P/Q is exp(t) on A and exp(t - eta) off it."""
    return np.expm1(t - eta) * np.exp(-t) / np.expm1(-eta)


def hockey_stick(log_ratios: np.ndarray, masses: np.ndarray, epsilon: float) -> float:
    """delta(epsilon), from ln P/Q and Q of all outcomes."""
    return float((masses * np.maximum(np.exp(log_ratios) - math.exp(epsilon), 0)).sum())


def composed(eta: float, ts: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """All outcomes of independent rounds: ln P/Q and Q."""
    logs, masses = np.zeros(1), np.ones(1)
    for t in ts:
        p = float(sides(eta, np.array(t)))
        logs = np.concatenate([logs + t, logs + t - eta])
        masses = np.concatenate([masses * p, masses * (1 - p)])
    return logs, masses


def adaptive_optimum(rounds: int, eta: float, epsilon: float, grid: int = 24) -> float:
    """The worst delta if each round's pair is chosen after the answers before: brute force."""
    ts = np.linspace(0, eta, grid + 2)[1:-1]
    ps = sides(eta, ts)

    def worst(so_far: np.ndarray, left: int) -> np.ndarray:
        if left == 0:
            return np.maximum(np.exp(so_far) - math.exp(epsilon), 0)
        up = worst(so_far[..., None] + ts, left - 1)
        down = worst(so_far[..., None] + ts - eta, left - 1)
        return (ps * up + (1 - ps) * down).max(axis=-1)

    return float(worst(np.zeros(()), rounds))


# ---- the optimum for fixed queries ----

VECTORS = [(1, 1.0, 0.0), (1, 1.0, 0.5), (10, 0.1, 0.5), (100, 0.1, 1.0)]


@each(("rounds", "eta", "epsilon"), VECTORS)
def test_the_optimum_for_fixed_queries_is_the_worst_pair_in_every_round(rounds, eta, epsilon):
    """By definition: the divergence of as many equal pairs, at its maximum over all t."""
    t, away = np.linspace(0, eta, 20_001)[1:-1, None], np.arange(rounds + 1)
    p = sides(eta, t)
    ways = np.array([math.comb(rounds, int(i)) for i in away], float)
    masses = ways * p ** (rounds - away) * (1 - p) ** away
    gains = np.maximum(np.exp(rounds * t - away * eta) - math.exp(epsilon), 0)
    worst = (masses * gains).sum(axis=1).max()
    claimed = privacy.nonadaptive_delta(rounds, eta, epsilon)
    assert worst <= claimed * (1 + SLACK)
    assert claimed == pytest.approx(worst, rel=1e-6)


@pytest.mark.slow
@each("eta", [0.05, 0.7, 3.0])
@each("rounds", [1, 2, 3])
def test_no_pairs_fixed_beforehand_beat_the_optimum_and_some_reach_it(rounds, eta):
    for share in (0.0, 0.2, 0.6, 0.9):
        epsilon = share * rounds * eta
        claimed = privacy.nonadaptive_delta(rounds, eta, epsilon)
        coarse = np.linspace(0, eta, 9)[1:-1]
        for ts in itertools.combinations_with_replacement(coarse, rounds):
            assert hockey_stick(*composed(eta, ts), epsilon) <= claimed * (1 + SLACK)
        fine = np.linspace(0, eta, 4001)[1:-1]
        best = max(hockey_stick(*composed(eta, (t,) * rounds), epsilon) for t in fine)
        assert best == pytest.approx(claimed, rel=1e-3)


def test_the_optimum_for_fixed_queries_does_not_hold_for_adaptive_ones():
    """Why there are two: the brute force over adaptive pairs exceeds the one, not the other."""
    for rounds, eta, epsilon in [(3, 1.0, 0.5), (3, 0.5, 0.5), (3, 0.5, 0.2)]:
        fixed = privacy.nonadaptive_delta(rounds, eta, epsilon)
        adaptive = adaptive_optimum(rounds, eta, epsilon)
        assert fixed * 1.01 < adaptive <= privacy.adaptive_delta(rounds, eta, epsilon)
    assert adaptive_optimum(1, 1.0, 0.5) <= privacy.nonadaptive_delta(1, 1.0, 0.5)


@pytest.mark.slow
def test_many_rounds_agree_with_a_plain_sum():
    """k = 700: where bounds skip most of the l, and windows most of the terms."""
    k, eta, epsilon = 700, 0.02, 0.4
    with mpmath.workdps(40):
        found = mpmath.mpf(0)
        for last in range(330, 371):
            t = (mpmath.mpf(epsilon) + (last + 1) * mpmath.mpf(eta)) / (k + 1)
            whole = -mpmath.expm1(-mpmath.mpf(eta))
            p = (mpmath.exp(-t) - mpmath.exp(-mpmath.mpf(eta))) / whole
            term, total = (1 - p) ** 0 * p**k, mpmath.mpf(0)
            for i in range(last + 1):
                total += term * (mpmath.exp(k * t - i * eta) - mpmath.exp(epsilon))
                term *= (k - i) * (1 - p) / ((i + 1) * p)
            found = max(found, total)
        assert privacy.nonadaptive_delta(k, eta, epsilon) == pytest.approx(float(found), rel=1e-8)
        assert privacy.nonadaptive_delta(k, eta, epsilon) >= found


def test_a_small_window_is_widened(monkeypatch):
    from tests.doors.privacy import planning

    wanted = privacy.nonadaptive_delta(900, 0.05, 1.0)
    monkeypatch.setattr(planning, "SHORT", 4 - 12 * 30)  # 4 terms
    assert privacy.nonadaptive_delta(900, 0.05, 1.0) == pytest.approx(wanted, rel=1e-8)


# ---- divergences and what they imply ----


def reference_divergence(eta: float, order: float) -> mpmath.mpf:
    """The closed formula in 60 digits."""
    with mpmath.workdps(60):
        a, e = mpmath.mpf(order), mpmath.exp(-mpmath.mpf(eta))
        first = mpmath.log((e - e**a) / ((a - 1) * (1 - e)))
        second = mpmath.log((a - 1) * (1 - e**a) / (a * (e - e**a)))
        return (first + a * second) / (a - 1)


@each("eta", [1e-9, 1e-4, 0.1, 0.99, 1.01, 4.0, 29.0, 31.0, 300.0])
@each("above_one", [2**-10, 0.3, 1.0, 40.0, 2.0**30, 2.0**60])
def test_the_divergence_keeps_its_digits(eta, above_one):
    order = 1 + above_one
    exact = reference_divergence(eta, order)
    found = privacy.bounded_range_divergence(eta, order)
    assert exact <= found <= exact * (1 + mpmath.mpf("1e-8"))


@each("eta", [0.2, 1.0, 5.0])
@each("order", [1.3, 2.0, 7.0])
def test_the_divergence_is_the_worst_over_all_pairs(eta, order):
    t = np.linspace(0, eta, 20001)[1:-1]
    p = sides(eta, t)
    values = np.log(p * np.exp(order * t) + (1 - p) * np.exp(order * (t - eta))) / (order - 1)
    assert values.max() == pytest.approx(privacy.bounded_range_divergence(eta, order), rel=1e-6)
    assert values.max() <= privacy.bounded_range_divergence(eta, order)


def divergence(p: np.ndarray, q: np.ndarray, order: float) -> float:
    return math.log(float((p**order * q ** (1 - order)).sum())) / (order - 1)


@each("epsilon", [0.1, 1.0, 4.0])
def test_rho_of_pure_privacy_holds_and_an_eighth_does_not(epsilon):
    """Randomised response and permute-and-flip: tanh holds, epsilon**2 / 8 is refuted."""
    truth = 1 / (1 + math.exp(-epsilon))
    response = np.array([truth, 1 - truth]), np.array([1 - truth, truth])
    w = math.exp(-epsilon)  # two candidates, monotone counts (1, 0) and (1, 1)
    flips = np.array([1 - w / 2, w / 2]), np.array([0.5, 0.5])
    orders = (1.0001, 1.1, 2.0, 5.0, 30.0)
    rho = privacy.pure_rho(epsilon)
    for p, q in (response, flips, flips[::-1]):
        assert all(divergence(p, q, a) <= a * rho + 1e-12 for a in orders)
    assert any(divergence(*response, a) > a * epsilon**2 / 8 for a in orders)
    if epsilon <= 1:  # beyond, an eighth of the square is generous
        assert any(divergence(*flips, a) > a * epsilon**2 / 8 for a in orders)
    assert divergence(*response, 1.0001) > rho * (1 - 1e-3)  # it is the least that holds


def test_rho_of_pure_privacy_is_the_limit_of_the_divergence():
    for epsilon in (1e-12, 0.3, 50.0):
        with mpmath.workdps(40):
            exact = mpmath.mpf(epsilon) * mpmath.tanh(mpmath.mpf(epsilon) / 2)
        assert exact <= privacy.pure_rho(epsilon) <= exact * (1 + 3e-12)


@each("rho", [1e-20, 1e-6, 0.01, 1.0, 300.0])
@each("depth", [0.1, 1.0, 5.0])
def test_rho_to_delta_is_the_best_order(rho, depth):
    """Against the root of the derivative (2a - 1) rho - epsilon + ln(1 - 1/a), in 50 digits."""
    epsilon = rho + depth * 2 * math.sqrt(rho)
    with mpmath.workdps(50):
        r, e = mpmath.mpf(rho), mpmath.mpf(epsilon)
        low, high = mpmath.mpf("1e-15"), 2 * (e + 1) / r
        for _ in range(250):
            middle = (low + high) / 2
            rising = (2 * middle + 1) * r - e + mpmath.log(middle / (1 + middle)) > 0
            low, high = (low, middle) if rising else (middle, high)
        b, a = low, 1 + low
        exact = mpmath.exp(b * (a * r - e)) / b * (1 - 1 / a) ** a
    found = privacy.zcdp_delta(rho, epsilon)
    assert exact * (1 - mpmath.mpf("1e-14")) <= found <= exact * (1 + mpmath.mpf("1e-8"))


@each("rho", [0.01, 0.5, 4.0])
def test_the_gaussian_mechanism_is_covered(rho):
    """rho is sharp for Gaussian noise of variance 1 / (2 rho), whose delta is known exactly."""
    shift = math.sqrt(2 * rho)
    for epsilon in (0.5 * rho, rho, rho + shift, rho + 4 * shift):
        upper = mpmath.ncdf(shift / 2 - epsilon / shift)
        exact = upper - mpmath.exp(epsilon) * mpmath.ncdf(-shift / 2 - epsilon / shift)
        assert exact <= privacy.zcdp_delta(rho, epsilon) <= 40 * exact


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.floats(1e-8, 10.0), st.floats(1e-12, 0.5), st.integers(1, 300))
def test_epsilon_and_delta_are_inverse(amount, delta, rounds):
    for epsilon, delta_of in [
        (privacy.zcdp_epsilon(amount, delta), partial(privacy.zcdp_delta, amount)),
        (
            privacy.adaptive_epsilon(rounds, amount, delta),
            partial(privacy.adaptive_delta, rounds, amount),
        ),
        (
            privacy.nonadaptive_epsilon(min(rounds, 40), amount, delta),
            partial(privacy.nonadaptive_delta, min(rounds, 40), amount),
        ),
    ]:
        assert delta_of(epsilon * (1 + 1e-8)) <= delta * (1 + 1e-6)
        if epsilon > 1e-12:
            assert delta_of(epsilon * (1 - 1e-6)) >= delta * (1 - 1e-6)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.floats(1e-6, 20.0),
    st.floats(1e-6, 20.0),
    st.floats(0.0, 30.0),
    st.floats(0.0, 30.0),
    st.integers(1, 40),
)
def test_more_is_worse_and_better_theorems_are_better(eta, other, epsilon, second, rounds):
    small, large = sorted((eta, other))
    near, far = sorted((epsilon, second))
    for delta_of in (privacy.nonadaptive_delta, privacy.adaptive_delta):
        give = 1 + 1e-7
        assert delta_of(rounds, small, near) <= delta_of(rounds, large, near) * give
        assert delta_of(rounds, small, far) <= delta_of(rounds, small, near) * give
        assert delta_of(rounds, small, near) <= delta_of(rounds + 1, small, near) * give
        assert 0.0 <= delta_of(rounds, large, near) <= 1.0
        assert delta_of(rounds, small, rounds * small * (1 + 1e-9)) == 0.0
    fixed = privacy.nonadaptive_delta(rounds, eta, epsilon)
    adaptive = privacy.adaptive_delta(rounds, eta, epsilon)
    by_rho = privacy.zcdp_delta(rounds * eta**2 / 8, epsilon)
    assert fixed <= adaptive * (1 + 1e-7)
    assert adaptive <= by_rho * (1 + 1e-7)
    divergence_ = privacy.bounded_range_divergence(eta, 1.5)
    assert divergence_ <= min(eta, 1.5 * eta**2 / 8 * (1 + 1e-9))


@each("rounds", [1, 10, 10**6, 10**12])
def test_extremes_give_numbers(rounds):
    for eta in (1e-100, 1e-9, 1.0, 1e9):
        assert 0.0 <= privacy.adaptive_epsilon(rounds, eta, 1e-300) <= rounds * eta * (1 + 1e-9)
        assert 0.0 <= privacy.adaptive_delta(rounds, eta, 1e-3) <= 1.0
    wide = privacy.nonadaptive_delta(1, 500.0, 499.0)
    assert wide == pytest.approx((1 - math.exp(-0.5)) ** 2, rel=1e-8)
    assert privacy.nonadaptive_delta(1, 1e-12, 0.0) == pytest.approx(2.5e-13, rel=1e-6)
    assert privacy.pure_rho(1e-200) == 5e-324  # above the truth, which is no float
    assert privacy.pure_rho(1e308) >= 1e308


# ---- promises as a whole ----


def of(epsilon=0.1, neighbors="add-remove", delta=0.0, rho=0.00125, span=0.1, text="a"):
    return Guarantee(epsilon, neighbors, span, rho, delta, text)


def test_sequential_adds_decimals():
    whole = privacy.sequential([of(), of(0.2, rho=0.005), of(text="b", delta=1e-6)])
    assert whole == Guarantee(0.4, "add-remove", None, 0.0075, 1e-6, "a; b")
    assert privacy.sequential([of()]) == of()
    assert privacy.sequential(of() for _ in range(3)).epsilon == 0.3
    assert privacy.sequential([of(), of(rho=None)]).rho is None
    assert privacy.sequential([of(), of(None)]).epsilon is None
    assert privacy.sequential([of(delta=0.7)] * 2).delta == 1.0


def test_relations_must_agree():
    def relation(*given):
        return privacy.sequential([of(neighbors=n) for n in given]).neighbors

    assert relation(None, None) is None
    assert relation(None, "both") is None
    assert relation("both", "both") == "both"
    assert relation(None, "replace", "both") == "replace"
    with raises("guarantees of one relation"):
        relation("add-remove", "replace")


def test_parallel_takes_the_greatest():
    whole = privacy.parallel([of(0.3, None, rho=0.01), of(delta=1e-7, span=None)])
    assert whole.assumes == "a; the parts are disjoint, whatever the data are"
    assert (whole.epsilon, whole.rho, whole.delta) == (0.3, 0.01, 1e-7)
    assert (whole.neighbors, whole.bounded_range) == ("add-remove", None)
    with raises("relation that is not promised"):
        privacy.parallel([of(neighbors="replace")])


def test_groups_cost_what_a_chain_of_steps_costs():
    whole = privacy.group(of(delta=1e-9), 3)
    assert (whole.epsilon, whole.bounded_range, whole.rho) == (0.3, 0.3, 0.01125)
    chain = 1e-9 * (1 + math.exp(0.1) + math.exp(0.2))
    assert chain <= whole.delta == pytest.approx(3 * math.exp(0.2) * 1e-9)
    assert whole.assumes == "a; for groups of up to 3 records"
    assert privacy.group(of(), 1) == of()
    assert privacy.group(of(10.0, delta=1e-9), 1000).delta == 1.0


@each("epsilon", [0.2, 1.0])
@each("size", [2, 3])
def test_groups_on_counts(epsilon, size):
    """The exponential mechanism on counts that differ by `size` records."""
    promise = privacy.group(fx.MostCommon(epsilon, list("abc")).guarantee, size)
    reached = 0.0
    for added in itertools.combinations_with_replacement(range(3), size):
        first = np.array([2.0, 0.0, 1.0])
        second = first + np.bincount(added, minlength=3)
        p, q = (np.exp(epsilon * x) / np.exp(epsilon * x).sum() for x in (first, second))
        logs = np.log(p / q)
        reached = max(reached, logs.max() - logs.min())
        assert abs(logs).max() <= promise.epsilon + SLACK
        assert logs.max() - logs.min() <= promise.bounded_range + SLACK
        assert divergence(p, q, 2.0) <= 2 * promise.rho + SLACK
    assert reached > size * epsilon * 0.99


@each("epsilon", [0.01, 0.1, 1.0])
@each("rounds", [1, 7, 60, 400])
def test_advanced_composition_covers_randomised_response(epsilon, rounds):
    """The worst pure mechanism, composed exactly; Kairouz, Oh and Viswanath 2015."""
    for delta in (1e-9, 1e-3, 0.2):
        whole = privacy.advanced(of(epsilon, rho=1.0), rounds, delta=delta)
        i = np.arange(rounds + 1.0)
        logs = np.array([math.lgamma(x + 1) for x in i])
        truth = -math.log1p(math.exp(-epsilon))
        masses = np.exp(logs[-1] - logs - logs[::-1] + rounds * truth - epsilon * (rounds - i))
        assert hockey_stick(epsilon * (rounds - 2 * i), masses, whole.epsilon) <= delta
        assert delta <= whole.delta <= delta * (1 + 1e-11)
        assert whole.rho == rounds
        older = epsilon * math.sqrt(-2 * rounds * math.log(delta))
        assert whole.epsilon <= older + rounds * epsilon * math.expm1(epsilon)
        assert whole.epsilon <= rounds * epsilon * (1 + 1e-9)
    assert privacy.advanced(of(delta=1e-6), 10, delta=1e-6).delta == pytest.approx(1.1e-5, rel=1e-4)
    assert privacy.advanced(of(delta=1.0), 10, delta=1e-6).delta == 1.0


# ---- what is refused, and what is said ----

WRONG = [
    (lambda: privacy.sequential([]), "guarantees: not empty"),
    (lambda: privacy.parallel([]), "guarantees: not empty"),
    (lambda: privacy.group(of(), 0), says("size: at least a number, got 0", least="1")),
    (lambda: privacy.advanced(of(), 0, delta=0.1), says("rounds: at least a number", least="1")),
    (lambda: privacy.advanced(of(), 1, delta=0.0), "delta: between 0 and 1, got 0.0"),
    (lambda: privacy.advanced(of(None), 1, delta=0.1), "guarantee without epsilon"),
    (lambda: privacy.pure_rho(0.0), "epsilon: finite and positive"),
    (lambda: privacy.pure_rho(math.nan), "epsilon: finite and positive"),
    (
        lambda: privacy.zcdp_delta(1e-101, 1.0),
        says("rho: within limits", low="1e-100", high="1e+09"),
    ),
    (lambda: privacy.zcdp_delta(1.0, -1.0), says("epsilon: finite and at least", least="0")),
    (lambda: privacy.zcdp_epsilon(1.0, 1.0), "delta: between 0 and 1"),
    (lambda: privacy.adaptive_delta(1, 1e10, 1.0), "bounded_range: within limits"),
    (lambda: privacy.adaptive_epsilon(0, 1.0, 0.1), says("rounds: at least a number", least="1")),
    (lambda: privacy.bounded_range_divergence(1.0, 1.0), "order: within limits"),
    (
        lambda: privacy.nonadaptive_delta(10_001, 1.0, 1.0),
        says("rounds: between two numbers", least="1", most="10000"),
    ),
    (lambda: privacy.nonadaptive_epsilon(1, 501.0, 0.1), "bounded_range: within limits"),
    (lambda: of(neighbors="replace").under("add-remove"), "relation that is not promised"),
    (lambda: of().under("both"), "neighbors: one of several words"),
]


@each(("call", "message"), WRONG)
def test_bad_arguments(call, message):
    with pytest.raises(ParameterError, match=says(message)):
        call()


def test_only_guarantees_compose():
    with raises("guarantees of a type, got float"):
        privacy.sequential([of(), 0.1])


def test_the_table_says_what_holds_when():
    """The table in the docstring, and as a value; each name is public."""
    rows = re.findall(r"^(`.*?)  +\S.*?  +(adaptive \w+|fixed queries)$", privacy.__doc__, re.M)
    told = {name: when for names, when in rows for name in re.findall(r"`(\w+)`", names)}
    assert told == dict(privacy.HOLDS_FOR)
    assert set(told) <= {*privacy.__all__, "Budget"}
    words = {"adaptive amounts": "amounts*", "adaptive queries": "*queries*"}
    for name, when in told.items():
        doc = inspect.getdoc(getattr(privacy, name, fx.Budget)) or ""
        linked = "The inverse of" in doc or name in ("Budget", "parallel", "peeling_round")
        assert linked or words.get(when, "planning") in doc


@each("name", privacy.__all__)
def test_functions_are_documented(name):
    thing = getattr(privacy, name)
    if not inspect.isfunction(thing) or name.startswith(("selection_", "count_")):
        return
    doc = inspect.getdoc(thing) or ""
    accepted = set(inspect.signature(thing).parameters)
    if name == "pure_guarantee":
        return
    assert set(documented_parameters(doc)) == accepted
    assert "Examples\n--------" in doc
    assert fx.privacy is privacy


# ---- amounts ----

DECIMALS = st.floats(1e-12, 1e12)


def test_three_times_a_tenth():
    assert amounts.times(0.1, 3) == 0.3 != 0.1 * 3
    assert amounts.added([0.1, 0.2]) == 0.3 != 0.1 + 0.2
    assert fx.MostCommon(0.1, list("ab")).guarantee.rho == 0.00125 != 0.1 * 0.1 / 8
    assert amounts.times(None, 3) is None
    assert amounts.times(0.1, 0) == 0.0
    assert amounts.times(1e308, 100) == math.inf
    assert amounts.up(amounts.exact(1.7976931348623157e308) + 1) == math.inf
    assert amounts.up(amounts.exact(0.3) + Fraction(1, 10**30)) == math.nextafter(0.3, 1.0)
    assert amounts.added([0.1, math.inf]) == math.inf
    assert amounts.up(amounts.exact(1e-300) ** 2) == 5e-324
    assert amounts.down(amounts.exact(1e-300) ** 2) == 0.0


@pytest.mark.slow
@given(DECIMALS, DECIMALS, st.integers(1, 10**6))
def test_amounts_are_never_below_the_truth(first, second, count):
    product = amounts.times(first, count)
    truth = amounts.exact(first) * count
    assert amounts.exact(product) >= truth > amounts.exact(math.nextafter(product, 0.0))
    assert amounts.exact(amounts.added([first, second])) >= amounts.exact(first) + amounts.exact(
        second
    )
    assert amounts.exact(amounts.down(truth)) <= truth
    assert amounts.above(first) > first > amounts.below(first)


@each("x", [0.0, 1e-9, 0.3, 0.999, 1.0, 2.0, 50.0, 1e4])
def test_helpers_of_the_divergence(x):
    with mpmath.workdps(40):
        y = mpmath.mpf(x)
        sinhc = mpmath.log(mpmath.sinh(y / 2) / (y / 2)) if x else mpmath.mpf(0)
        langevin = mpmath.coth(y) - 1 / y if x else mpmath.mpf(0)
    assert conversion.log_sinhc(x) == pytest.approx(float(sinhc), rel=2e-14)
    assert conversion.langevin(x) == pytest.approx(float(langevin), rel=2e-14)
