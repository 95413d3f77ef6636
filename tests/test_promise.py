"""Do all neighbours of small data keep the guarantee, and do some use all of it?

The laws are those of public figures, which `test_law` compares with the definition.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import fastexp as fx

from . import oracle
from .oracle import ADD_REMOVE, REPLACE
from .table import ALL_RECORDS, MECHANISMS, NAMES, SIZE, Row

ORDERS = np.array([1.001, 1.5, 2, 3, 8, 64])  # of Rényi divergences
FULL = 0.999  # the share of a promise that a tight mechanism uses


def neighbours(row: Row) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of data that differ in one record, in all ways."""
    if row.kind == "utilities":
        for u in row.data:
            for move in itertools.product(row.moves, repeat=len(u)):
                yield u, tuple(x + d for x, d in zip(u, move, strict=True))
    elif row.kind in ("score", "labels"):
        for votes in row.data:
            for rest in (
                [votes[:i] + votes[i + 1 :] for i in range(len(votes))]
                if row.relation == REPLACE
                else [votes]
            ):
                yield from ((votes, rest + candidate) for candidate in row.released or ())
    elif row.kind == "number":
        yield from ((x, x + d) for x in row.data for d in row.moves)
    elif row.kind == "bit":
        yield from ((0, 1), (1, 0))
    else:
        for data in ALL_RECORDS:
            yield from ((data, e) for e in oracle.neighbours(data, SIZE, row.relation))


def log_ratios(row: Row) -> tuple[Any, Any]:
    """Return ln p and ln(p / q) of each answer for all pairs, a pair in a line; NaN beyond k."""
    laws: dict[Any, Any] = {}
    lines = []
    for pair in neighbours(row):
        for data in pair:
            if data not in laws:
                with np.errstate(divide="ignore"):
                    law = np.log(row.figures(data))
                laws[data] = np.append(
                    law[law > -np.inf], np.full(12 - (law > -np.inf).sum(), np.nan)
                )
        lines.append([laws[data] for data in pair])
    p, q = np.array(lines).transpose(1, 0, 2)
    assert (np.isnan(p) == np.isnan(q)).all(), "an answer is possible on one side only"
    return p, p - q


def spent(p: Any, ratios: Any) -> tuple[float, float, float]:
    """Return the worst log-ratio, range of log-ratios, and Rényi divergence over its order."""
    span = np.nanmax(ratios, 1) - np.nanmin(ratios, 1)
    orders = ORDERS[:, None, None]
    moments = np.nansum(np.exp(p + (orders - 1) * ratios), -1)
    divergence = np.log(moments) / (ORDERS - 1)[:, None] / ORDERS[:, None]
    return float(np.nanmax(np.abs(ratios))), float(span.max()), float(divergence.max())


def keeps(guarantee: fx.Guarantee, worst: tuple[float, float, float]) -> bool:
    """Whether nothing above the promise is spent."""
    promised = guarantee.epsilon, guarantee.bounded_range or np.inf, guarantee.rho or np.inf
    return all(a <= b * (1 + 1e-9) + 1e-12 for a, b in zip(worst, promised, strict=True))


def is_tight(guarantee: fx.Guarantee, worst: tuple[float, float, float]) -> bool:
    """Whether nearly all of the bounded range is used or, if none is promised, of epsilon."""
    log_ratio, span, _ = worst
    if guarantee.bounded_range:
        return span >= FULL * guarantee.bounded_range
    return log_ratio >= FULL * guarantee.epsilon


@pytest.mark.parametrize("row", MECHANISMS, ids=NAMES)
def test_promise(row: Row) -> None:
    worst, guarantee = spent(*log_ratios(row)), row.make().guarantee
    assert keeps(guarantee, worst)
    assert is_tight(guarantee, worst) == row.is_tight


@pytest.mark.parametrize("row", MECHANISMS, ids=NAMES)
def test_guarantee(row: Row) -> None:
    guarantee = row.make().guarantee
    own = row.relation if row.kind in ("records", "labels") else None
    assert guarantee.neighbors == (row.promised or own)
    assert guarantee.delta == 0
    assert guarantee.assumes


def test_log_ratio_of_epsilon_is_used() -> None:
    """An unlikely best candidate's ratio is nearly epsilon, not only the range."""
    p = np.log(fx.probabilities([0, 60], 1.0))
    q = np.log(fx.probabilities([1, 59], 1.0))
    assert 1 - 1e-9 < q[0] - p[0] <= 1 + 1e-9


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.1, 1.0, 7.0, 50.0, 800.0])
def test_rho(epsilon: float) -> None:
    """It is that of bounded range to the last digits, rounded up, and at most epsilon**2 / 8."""
    exact = oracle.bounded_range_rho(epsilon)
    assert exact <= fx.privacy.selection_rho(epsilon) <= exact * (1 + 1e-11)
    for mechanism in (
        fx.Exponential(epsilon, 3.0),
        fx.Exponential(epsilon, 3.0, monotonic=True),
        fx.Median(epsilon, (0, 10), step=1, neighbors=ADD_REMOVE),
        fx.Median(epsilon, (0, 10), step=1, neighbors=REPLACE),
    ):
        guarantee = mechanism.guarantee
        assert (guarantee.epsilon, guarantee.bounded_range) == (epsilon, epsilon)
        assert exact <= guarantee.rho <= exact * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 3, Fraction(1, 3), Decimal("0.1"), Decimal("1e-5"), 1e-9])
def test_amounts_are_rounded_up(epsilon: Any) -> None:
    """What is promised is at least what is meant, as the decimal that it prints."""
    guarantee = fx.Exponential(epsilon, 1).guarantee
    meant = Fraction(str(epsilon))
    assert meant <= Fraction(str(guarantee.epsilon)) <= meant * (1 + Fraction(1, 10**15))
    assert guarantee.bounded_range == guarantee.epsilon


@pytest.mark.parametrize("epsilon", [np.float32(0.1), np.float16(0.7), np.float32(1e-9)])
def test_floats_of_fewer_bits(epsilon: Any) -> None:
    """A rate takes their number, which may be far above what they print: so does the promise."""
    for mechanism in (
        fx.Exponential(epsilon, 1),
        fx.Median(epsilon, (0, 1), step=1),
        fx.Quantiles((0.1, 0.9), epsilon, (0, 1), step=1),
        fx.Price(epsilon, (0, 1), step=1),
        fx.Laplace(epsilon, 1, step=1),
        fx.RandomizedResponse(epsilon),
        fx.TopK(2, epsilon),
    ):
        assert mechanism.guarantee.epsilon == float(epsilon)
    assert fx.privacy.selection_rho(epsilon) == fx.privacy.selection_rho(float(epsilon))


def two_points(epsilon: float) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of laws on two points of this range: the worst ones are among them."""
    for t in np.linspace(0, epsilon, 22)[1:-1]:  # the greater log-ratio
        q = -np.expm1(t - epsilon) and np.expm1(epsilon - t) / np.expm1(epsilon)
        law = np.array([q, 1 - q])
        yield law * np.exp([t, t - epsilon]), law


def cost(p: Any, q: Any, orders: Any = (1 + 1e-4, 1.1, 1.5, 2, 3, 8, 30, 200)) -> float:
    """Return the greatest Rényi divergence over its order, in 40 digits."""
    worst = 0.0
    with mpmath.workdps(40):
        logs = [(mpmath.log(x), mpmath.log(y)) for x, y in zip(p, q, strict=True)]
        for order in map(mpmath.mpf, orders):
            moment = mpmath.fsum(mpmath.exp(order * x + (1 - order) * y) for x, y in logs)
            scale = mpmath.fsum(mpmath.exp(y) for _, y in logs)
            worst = max(worst, float(mpmath.log(moment / scale) / (order - 1) / order))
    return worst


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_rho_of_worst_pairs(epsilon: float) -> None:
    """No order costs more, and that of the Kullback-Leibler divergence nearly as much."""
    costs = [max(cost(p, q), cost(q, p)) for p, q in two_points(epsilon)]
    rho = fx.privacy.selection_rho(epsilon)
    assert 0.99 * rho < max(costs) <= rho * (1 + 1e-9)
    p = np.array([1, np.exp(epsilon)]) / (1 + np.exp(epsilon))
    pure = fx.privacy.pure_guarantee(epsilon, None, "").rho
    assert 0.999 * pure < cost(p, p[::-1]) <= pure


def noise(rate: float, center: float) -> Any:
    """Return the law of Laplace noise on all integers, to a relative 1e-15."""
    law = np.exp(-rate * np.abs(np.arange(-400, 401) - center))
    return law / law.sum()


@pytest.mark.parametrize(("epsilon", "steps"), [(0.4, 1), (0.4, 3), (1.5, 2), (1.5, 5), (4, 7)])
def test_rho_of_laplace(epsilon: float, steps: int) -> None:
    """It holds on the grid and between its points, and is tight; that of the line is too small."""
    rate, orders = epsilon / steps, (1.001, 1.5, 3, 20)
    rho = fx.Laplace(epsilon, steps, step=1).guarantee.rho
    moves = (steps, steps - 0.3, steps - 0.5, 0.2)
    pairs = [(f, f + move) for f in (0, 0.1, 0.5, 0.8) for move in moves]
    costs = [cost(noise(rate, a), noise(rate, b), orders) for a, b in pairs]
    assert 0.998 * rho < max(costs) <= rho * (1 + 1e-12)
    assert max(costs) > epsilon + np.expm1(-epsilon)
    with mpmath.workdps(40):
        a = mpmath.mpf(str(epsilon)) / steps
        exact = steps * a - a * (1 - mpmath.exp(-steps * a)) / mpmath.sinh(a)
        assert exact <= mpmath.mpf(str(rho)) <= exact * (1 + mpmath.mpf(1e-15))


def test_rho_of_laplace_with_a_longer_sensitivity() -> None:
    """The double 0.1 is more than ten hundredths, so that numbers may be eleven steps apart."""
    short = fx.Laplace(1.0, Decimal("0.1"), step=0.01).guarantee.rho
    long = fx.Laplace(1.0, 0.1, step=0.01).guarantee.rho
    assert short < long <= fx.privacy.pure_guarantee(1.0, None, "").rho
    assert cost(noise(0.1, 0), noise(0.1, 11), (1.001, 3)) <= long
    assert fx.Laplace(1e6, 1, step=1).guarantee.rho <= 1e6 * (1 + 1e-15)
    assert fx.Laplace(1e-9, 1e3, step=1).guarantee.rho == pytest.approx(5e-19, rel=1e-6)


@pytest.mark.parametrize("epsilon", [1e-200, 1e-30])
def test_rho_does_not_underflow(epsilon: float) -> None:
    exact = Fraction(str(epsilon)) ** 2
    for rho, share in (
        (fx.privacy.selection_rho(epsilon), 8),
        (fx.privacy.pure_guarantee(epsilon, None, "").rho, 2),
    ):
        assert Fraction(str(rho)) >= exact / share * (1 - Fraction(1, 10**15))
        assert rho > 0


def promise(epsilon: float = 0.1, neighbors: Any = ADD_REMOVE, **amounts: Any) -> fx.Guarantee:
    fields = {"bounded_range": epsilon, "rho": 0.001, "delta": 0.0, "assumes": "a; b"} | amounts
    return fx.Guarantee(epsilon, neighbors, **fields)


def test_conversions() -> None:
    """Amounts are multiplied and summed as the decimals that they print."""
    one = promise(delta=1e-6)
    two = one.under(REPLACE)
    assert (two.epsilon, two.bounded_range, two.rho, two.neighbors) == (0.2, 0.2, 0.004, REPLACE)
    with mpmath.workdps(30):
        exact = 2 * mpmath.exp(mpmath.mpf("0.1")) * mpmath.mpf("1e-6")
        assert exact <= mpmath.mpf(str(two.delta)) <= exact * (1 + 1e-10)
    assert promise(neighbors=None).under(REPLACE) == promise(neighbors=REPLACE)
    assert promise(neighbors="both").under(ADD_REMOVE) == promise()
    with pytest.raises(fx.errors.ParameterError, match="neighbors must be 'replace'"):
        two.under(ADD_REMOVE)
    three = fx.privacy.group(promise(), 3)
    assert (three.epsilon, three.bounded_range, three.rho) == (0.3, 0.3, 0.009)
    assert fx.privacy.group(promise(1000.0, delta=1e-9), 2).delta == 1
    some = fx.privacy.sequential([promise(), promise(neighbors=None), promise(0.3, delta=0.9)] * 2)
    assert (some.epsilon, some.rho, some.delta, some.neighbors) == (1.0, 0.006, 1, ADD_REMOVE)
    assert (some.bounded_range, some.assumes) == (None, "a; b")
    assert fx.privacy.sequential([promise(neighbors=None)]) == promise(neighbors=None)
    assert fx.privacy.sequential([promise(), promise(1e-25)]).epsilon == np.nextafter(0.1, 1)
    parts = fx.privacy.parallel([promise(0.3), promise(delta=0.1), promise(neighbors="both")])
    assert (parts.epsilon, parts.bounded_range, parts.rho, parts.delta) == (0.3, 0.3, 0.001, 0.1)
    for wrong in ([], [promise(), promise(neighbors=REPLACE)], [0.1], 7):
        with pytest.raises((fx.errors.ParameterError, fx.errors.ParameterTypeError)):
            fx.privacy.sequential(wrong)


@pytest.mark.parametrize(
    "amounts",
    [
        *({"epsilon": -0.1}, {"rho": -1}, {"delta": 2}, {"rho": float("nan")}, {"assumes": 1}),
        *({"neighbors": "all"}, {"epsilon": True}, {"epsilon": None}),
    ],
)
def test_wrong_promises(amounts: Any) -> None:
    with pytest.raises((fx.errors.ParameterError, fx.errors.ParameterTypeError)):
        promise(**amounts)


def test_total() -> None:
    """The tightest of the sums of epsilon, and of rho; within the delta that is allowed."""
    many = [promise(0.1, rho=fx.privacy.selection_rho(0.1))] * 100
    best = fx.privacy.total(many, delta=1e-6)
    rho = fx.privacy.sequential(many).rho
    assert best.epsilon == pytest.approx(fx.privacy.zcdp_epsilon(rho, 1e-6), rel=1e-9)
    assert (best.delta, best.rho) == (1e-6, rho)
    assert fx.privacy.total(many).epsilon == 10
    assert fx.privacy.total(many[:3], delta=1e-6).epsilon == 0.3
    gauss = promise(np.inf, rho=2.0, bounded_range=None)  # rho alone is promised
    assert fx.privacy.total([gauss], delta=1e-6).epsilon < np.inf
    noisy = promise(1.0, rho=np.inf, delta=1e-7, bounded_range=None)  # delta, and no rho
    mixed = fx.privacy.total([*many, noisy], delta=1e-6)
    assert mixed.epsilon == pytest.approx(1 + fx.privacy.zcdp_epsilon(rho, 9e-7), rel=1e-9)
    assert fx.privacy.total([noisy], delta=1e-7).epsilon == 1
    for none, delta in (([noisy], 1e-8), ([gauss, noisy], 1e-7), ([gauss], 1), ([gauss], -1)):
        with pytest.raises(fx.errors.ParameterError, match="delta must be"):
            fx.privacy.total(none, delta=delta)


@pytest.mark.parametrize("rho", [1e-12, 0.01, 1.0, 300.0])
@pytest.mark.parametrize("delta", [1e-30, 1e-6, 0.5])
def test_delta_of_rho(rho: float, delta: float) -> None:
    """At most a little above the least over all orders of Proposition 12, and never below it."""
    epsilon = fx.privacy.zcdp_epsilon(rho, delta)

    def bound(b: Any) -> Any:
        return (1 + b) * rho - mpmath.log(1 + 1 / b) - mpmath.log(delta * (1 + b)) / b

    with mpmath.workdps(40):
        least = min(bound(mpmath.exp(x)) for x in mpmath.linspace(-10, 25, 4000))
        assert least * (1 - mpmath.mpf(10) ** -5) <= epsilon <= max(0, least) * (1 + 1e-3) + 1e-300
    if epsilon:
        assert delta * (1 - 1e-9) <= fx.privacy.zcdp_delta(rho, epsilon) <= delta * (1 + 1e-9)


def excess(p: Any, q: Any, logs: Any) -> Any:
    """Return by how much p exceeds exp(log) times q, for each log."""
    return np.maximum(p - np.exp(logs)[:, None] * q, 0).sum(1)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_dominating_pair(epsilon: float) -> None:
    """Pairs of a range, alone and three together, are below it; at its losses one is equal."""
    p, q = fx.privacy.dominating_pair(promise(epsilon), Fraction(epsilon) / 50)
    assert p.sum() == pytest.approx(1, abs=1e-12) == q.sum()
    logs = np.linspace(-1.1, 1.1, 221) * epsilon
    ours, worst = excess(p, q, logs), np.zeros(logs.size)
    several = np.log(p / q)
    for a, b in two_points(epsilon):
        for pair in ((a, b), (b, a)):
            worst = np.maximum(worst, excess(*pair, logs))
            triple = [np.multiply.outer(np.outer(x, x), x).reshape(1, -1) for x in pair]
            sums = np.add.outer(np.add.outer(several, several), several)
            p3 = np.multiply.outer(np.outer(p, p), p)
            for log in (0.0, epsilon / 2, 2 * epsilon):
                mine = (p3 * np.maximum(0, -np.expm1(log - sums))).sum()
                assert excess(*triple, np.array([log]))[0] <= mine * (1 + 1e-9) + 1e-15
    assert (worst <= ours * (1 + 1e-9) + 1e-15).all()
    half = np.abs(logs) < epsilon
    exact = np.expm1((logs[half] - epsilon) / 2) ** 2 / -np.expm1(-epsilon)
    assert (ours[half] >= exact * (1 - 1e-9) - 1e-15).all()
    at = np.arange(-50, 51) * epsilon / 50
    closed = np.expm1((at - epsilon) / 2) ** 2 / -np.expm1(-epsilon)
    np.testing.assert_allclose(excess(p, q, at), closed, rtol=1e-9, atol=1e-14)


def test_dominating_pair_of_epsilon_and_delta() -> None:
    p, q = fx.privacy.dominating_pair(promise(1.0, bounded_range=None, delta=0.01), 0.25)
    np.testing.assert_allclose(excess(p, q, np.array([1.0, 7.0])), 0.01, rtol=1e-12)
    np.testing.assert_allclose([p.sum(), q.sum()], 1, rtol=1e-12)
    with pytest.raises(fx.errors.ParameterError, match="epsilon or a bounded range"):
        fx.privacy.dominating_pair(promise(np.inf, bounded_range=None))
    for interval in (1e-9, 0, -1):
        with pytest.raises(fx.errors.ParameterError, match="interval must"):
            fx.privacy.dominating_pair(promise(1.0), interval)


def test_composition_by_a_peer() -> None:
    """dp-accounting reads the pair: deltas are those of the closed profile; two compose as here."""
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    pmf = pytest.importorskip("dp_accounting.pld.pld_pmf")
    p, q = fx.privacy.dominating_pair(promise(0.5), 0.01)
    loss = pmf.create_pmf(dict(enumerate(p, -50)), 0.01, 0.0, True)
    law = pld.PrivacyLossDistribution(loss)
    for log in (0.0, 0.2, 0.5):
        assert law.get_delta_for_epsilon(log) == pytest.approx(
            np.expm1((log - 0.5) / 2) ** 2 / -np.expm1(-0.5), rel=1e-9, abs=1e-15
        )
    both = excess(np.outer(p, p).reshape(1, -1), np.outer(q, q).reshape(1, -1), np.array([0.3]))
    assert law.self_compose(2).get_delta_for_epsilon(0.3) == pytest.approx(both[0], rel=1e-9)


def test_extreme_amounts() -> None:
    """They are infinite, 0 or exact, and no error of floats."""
    wide = fx.privacy.selection_guarantee(800.0, "both", "")
    for law in fx.privacy.dominating_pair(wide, 100.0):
        assert np.isfinite(law).all()
        assert abs(law.sum() - 1) < 1e-12
    tiny = fx.privacy.zcdp_epsilon(0.1, Decimal("1e-400"))
    assert fx.privacy.zcdp_epsilon(0.1, 1e-300) < tiny < 40
    rounded = Decimal("2.6e-324")  # to 4.9e-324 as a double
    assert fx.privacy.zcdp_epsilon(0.1, rounded) > fx.privacy.zcdp_epsilon(0.1, 4e-324)
    assert fx.privacy.zcdp_epsilon(Fraction(10) ** 400, 0.5) == np.inf
    assert fx.privacy.zcdp_delta(Fraction(10) ** 400, 1.0) == 1
