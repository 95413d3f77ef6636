"""Divergences and what they imply, as numbers: the worst pair of a bounded range, and delta.

Only positive terms are added, so that nothing is lost where eta is tiny or the order large.
With psi(x) = ln(sinh(x/2) / (x/2)), the exact divergence of order a = b + 1 of an
eta-bounded-range mechanism (Dong, Durfee and Rogers 2020, maximised over the worst pairs) is

    (a psi(a eta) - b psi(b eta) - psi(eta)) / b
      = (psi(a eta) - psi(eta) + b ln(1 + d b / a)) / b,
    d = (exp(psi(eta)) - 1) / b + sinh(eta/2) L(b eta/2) + 2 sinh(eta/4)**2,

where L(y) = coth y - 1/y.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .amounts import MARGIN, above
from .golden_section import cuts

# ln(sinh(x/2) / (x/2)) = sum of c[n] x**(2n), n = 1, 2, ...: Bernoulli numbers / (2n (2n)!).
SERIES = (
    1 / 24,
    -1 / 2880,
    1 / 181440,
    -1 / 9676800,
    1 / 479001600,
    -691 / 2730 / (12 * math.factorial(12)),
    7 / 6 / (14 * math.factorial(14)),
    -3617 / 510 / (16 * math.factorial(16)),
)
WIDE = 30.0  # from here on sinh could overflow, and the plain formula loses nothing


def log_sinhc(x: float) -> float:
    """ln(sinh(x/2) / (x/2)) for x >= 0."""
    if x < 1.0:
        square, total = x * x, 0.0
        for c in reversed(SERIES):
            total = (total + c) * square
        return total
    return x / 2 - math.log(x) + math.log(-math.expm1(-x))


def langevin(y: float) -> float:
    """Coth y - 1/y for y >= 0: twice the derivative of `log_sinhc` at 2y."""
    if y < 0.5:
        x, total = 2 * y, 0.0
        for n in range(len(SERIES), 0, -1):
            total = total * x * x + 2 * n * SERIES[n - 1]
        return 2 * total * x
    return 1 / math.tanh(y) - 1 / y


def _log1mexp(x: float) -> float:
    """ln(1 - exp(-x)) for x > 0."""
    return math.log(-math.expm1(-x))


def bounded_range_divergence(eta: float, order: float) -> float:
    """The greatest Rényi divergence of an eta-bounded-range mechanism; never below it."""
    a, b = order, order - 1
    if eta > WIDE:
        ends = a * _log1mexp(a * eta) - b * _log1mexp(b * eta) - _log1mexp(eta)
        value = eta + (ends - a * math.log1p(b) + b * math.log(b)) / b
    else:
        growth = math.expm1(log_sinhc(eta)) / b + math.sinh(eta / 2) * langevin(b * eta / 2)
        growth += 2 * math.sinh(eta / 4) ** 2
        rise = log_sinhc(a * eta) - log_sinhc(eta)
        value = rise / b + math.log1p(growth * b / a)
    slip = 1e-15 * eta / min(b, 1.0)  # for orders close to 1
    return min(above(max(0.0, value) + slip * min(1.0, a * eta)), eta, above(a * eta * (eta / 8)))


def log_delta(divergence: float, order: float, epsilon: float) -> float:
    """ln delta of (epsilon, delta) from a Rényi divergence; safely rounded up.

    delta = exp((a - 1) (divergence - epsilon)) / (a - 1) * (1 - 1/a)**a: Canonne, Kamath and
    Steinke 2020, Proposition 12, which is the best for one order.
    """
    b = order - 1
    terms = b * divergence, -b * epsilon, -math.log(b), order * math.log1p(-1 / order)
    return sum(terms) + MARGIN * (1.0 + sum(map(abs, terms)))


def epsilon_at(divergence: float, order: float, delta: float) -> float:
    """The epsilon that `log_delta` gives for a delta, solved for it; safely rounded up."""
    b = order - 1
    terms = (
        divergence,
        -math.log(delta) / b,
        -math.log(b) / b,
        order * math.log1p(-1 / order) / b,
    )
    return max(0.0, sum(terms) + MARGIN * sum(map(abs, terms)))


def least(function: Callable[[float], float]) -> float:
    """The minimum over orders > 1 of a function that falls and then rises.

    Golden sections in ln(order - 1). Each order gives a bound that holds, so that a search
    that misses the best one is only a little too careful.
    """
    low, high = -12.0, 80.0
    first, second = cuts(low, high)
    at_first, at_second = function(1 + math.exp(first)), function(1 + math.exp(second))
    best = min(at_first, at_second)
    for _ in range(80):
        if at_first <= at_second:
            high, second, at_second = second, first, at_first
            first, _ = cuts(low, high)
            at_first = function(1 + math.exp(first))
        else:
            low, first, at_first = first, second, at_second
            _, second = cuts(low, high)
            at_second = function(1 + math.exp(second))
        best = min(best, at_first, at_second)
    return best


def least_log_delta(divergence: Callable[[float], float], epsilon: float) -> float:
    """The best ln delta over all orders; at most 0."""
    return min(0.0, least(lambda order: log_delta(divergence(order), order, epsilon)))


def least_epsilon(divergence: Callable[[float], float], delta: float) -> float:
    """The best epsilon over all orders."""
    return least(lambda order: epsilon_at(divergence(order), order, delta))
