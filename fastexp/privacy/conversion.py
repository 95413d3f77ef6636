"""Conversions of promises, and composition of bounded ranges with adaptive queries.

Only positive terms are added, so that no digits cancel if eta is tiny or the order large.
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

from .._parameters import validate
from . import amounts

RANGE = (1e-100, 1e9)  # of a bounded range or rho for which the formulas are accurate
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
GOLDEN = (math.sqrt(5) - 1) / 2
Function = Callable[[float], float]


def bounded_range_divergence(bounded_range: float, order: float) -> float:
    """Return the largest Rényi divergence of an order that a bounded range allows, exactly.

    It is at most rho * order = bounded_range**2 / 8 * order, and at most bounded_range. Rényi
    divergences of one order add up, even if later *queries* depend on earlier answers.

    Parameters
    ----------
    bounded_range : float
        The range of one release, in [1e-100, 1e9]: the epsilon of an exponential mechanism.
    order : float
        In [1.00001, 1e30].

    Returns
    -------
    float
        In nats; rounded up by a relative 1e-12 (1e-8 at the smallest orders).

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range.

    References
    ----------
    The worst pairs: Dong, Durfee and Rogers, "Optimal differential privacy composition for
    exponential mechanisms", ICML 2020, Lemma 3.3. Additivity: Mironov, "Rényi differential
    privacy", CSF 2017, Proposition 1.

    Examples
    --------
    >>> from fastexp import privacy
    >>> round(privacy.bounded_range_divergence(1.0, 2.0), 8)
    0.24022901
    """
    eta = amounts.within("bounded_range", bounded_range, RANGE)
    return _divergence(eta, amounts.within("order", order, (1.00001, 1e30)))


def adaptive_delta(rounds: int, bounded_range: float, epsilon: float) -> float:
    """Return the delta of many releases of bounded range, for a total epsilon.

    Exact Rényi divergences (`bounded_range_divergence`) are converted to delta by the best formula
    for a single order, at the best order. Later *queries* may depend on earlier answers; the
    amounts and their number are fixed beforehand.

    Parameters
    ----------
    rounds : int
        The number of releases, >= 1.
    bounded_range : float
        The range of each release, in [1e-100, 1e9]: the epsilon of an exponential mechanism.
    epsilon : float
        The total, >= 0, in nats.

    Returns
    -------
    float
        Rounded up by a relative 1e-12 or more; 0 if bounded_range * rounds is at most epsilon.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range.

    References
    ----------
    Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", NeurIPS
    2020, Proposition 12 (the conversion); see also `bounded_range_divergence`.

    Examples
    --------
    >>> from fastexp import privacy
    >>> f"{privacy.adaptive_delta(10, 0.1, 0.5):.3g}"
    '9.55e-05'
    """
    k = validate.counting("rounds", rounds)
    eta = amounts.within("bounded_range", bounded_range, RANGE)
    e = validate.at_least("epsilon", epsilon, 0.0)
    if amounts.exact(eta) * k <= amounts.exact(e):
        return 0.0
    return min(1.0, amounts.above(math.exp(adaptive_log_delta(k, eta, e))))


def adaptive_epsilon(rounds: int, bounded_range: float, delta: float) -> float:
    """Return the total epsilon of many releases of bounded range, for a delta.

    The inverse of `adaptive_delta`, under the same conditions.

    Parameters
    ----------
    rounds : int
        The number of releases, >= 1.
    bounded_range : float
        The range of each release, in [1e-100, 1e9]: the epsilon of an exponential mechanism.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        In nats, at most bounded_range * rounds; rounded up by a relative 1e-12 or more.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range.

    Examples
    --------
    >>> from fastexp import privacy
    >>> round(privacy.adaptive_epsilon(100, 0.1, 1e-6), 4)
    2.4002
    """
    k = validate.counting("rounds", rounds)
    eta = amounts.within("bounded_range", bounded_range, RANGE)
    slack = amounts.open_fraction("delta", delta)
    least = _best_epsilon(lambda order: k * _divergence(eta, order), slack)
    return min(amounts.times(eta, k) or 0.0, least)


def adaptive_log_delta(rounds: int, bounded_range: float, epsilon: float) -> float:
    """Return the logarithm of `adaptive_delta`, for checked arguments."""
    return _best_log_delta(lambda order: rounds * _divergence(bounded_range, order), epsilon)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return the delta of the (epsilon, delta)-DP that a rho implies, for an epsilon.

    It is the minimum over orders a > 1 of exp((a - 1) (a rho - epsilon)) / (a - 1) * (1 - 1/a)**a.
    Bun and Steinke's exp(-(epsilon - rho)**2 / (4 rho)) is larger: in the example, 12 times.

    Parameters
    ----------
    rho : float
        In [1e-100, 1e9].
    epsilon : float
        >= 0, in nats.

    Returns
    -------
    float
        Rounded up by a relative 1e-12 or more; at most 1.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range.

    References
    ----------
    Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", NeurIPS
    2020, Proposition 12.

    Examples
    --------
    >>> from fastexp import privacy
    >>> f"{privacy.zcdp_delta(0.125, 1.0):.5g}"
    '0.017985'
    """
    amount = amounts.within("rho", rho, RANGE)
    e = validate.at_least("epsilon", epsilon, 0.0)
    return min(1.0, amounts.above(math.exp(_best_log_delta(lambda order: order * amount, e))))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon of the (epsilon, delta)-DP that a rho implies, for a delta.

    The inverse of `zcdp_delta`.

    Parameters
    ----------
    rho : float
        In [1e-100, 1e9].
    delta : float
        In (0, 1).

    Returns
    -------
    float
        In nats; rounded up by a relative 1e-12 or more.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range.

    Examples
    --------
    >>> from fastexp import privacy
    >>> round(privacy.zcdp_epsilon(0.125, 1e-6), 4)
    2.4191
    """
    amount, slack = amounts.within("rho", rho, RANGE), amounts.open_fraction("delta", delta)
    return _best_epsilon(lambda order: order * amount, slack)


def _best_log_delta(divergence: Function, epsilon: float) -> float:
    """Return the smallest ln delta, at most 0, that Rényi divergences imply; safely rounded up.

    delta = exp((a - 1) (divergence - epsilon)) / (a - 1) * (1 - 1/a)**a is the best bound for one
    order: Canonne, Kamath and Steinke 2020, Proposition 12.
    """

    def log_delta(order: float) -> float:
        b = order - 1
        terms = b * divergence(order), -b * epsilon, -math.log(b), order * math.log1p(-1 / order)
        return sum(terms) + amounts.MARGIN * (1.0 + sum(map(abs, terms)))

    return min(0.0, _least(log_delta))


def _best_epsilon(divergence: Function, delta: float) -> float:
    """Return the smallest epsilon by the same formula, solved for it; safely rounded up."""

    def epsilon(order: float) -> float:
        b, log = order - 1, order * math.log1p(-1 / order)
        terms = divergence(order), -math.log(delta) / b, -math.log(b) / b, log / b
        return max(0.0, sum(terms) + amounts.MARGIN * sum(map(abs, terms)))

    return _least(epsilon)


def _least(bound: Function) -> float:
    """Return the minimum over orders > 1 of a bound that falls and then rises.

    Golden sections in ln(order - 1). The bound of each order holds, so that a search that misses
    the best order is only slightly conservative.
    """
    bounds: dict[float, float] = {}

    def at(log: float) -> float:
        if log not in bounds:
            bounds[log] = bound(1 + math.exp(log))
        return bounds[log]

    low, high = -12.0, 80.0
    first, second = cuts(low, high)
    for _ in range(81):
        if at(first) <= at(second):
            high, second = second, first
            first, _ = cuts(low, high)
        else:
            low, first = first, second
            _, second = cuts(low, high)
    return min(bounds.values())


def cuts(low: float, high: float) -> tuple[float, float]:
    """Return the two points at which a golden section cuts a range, the lower one first."""
    return high - GOLDEN * (high - low), low + GOLDEN * (high - low)


def log_sinhc(x: float) -> float:
    """Return ln(sinh(x/2) / (x/2)) for x >= 0."""
    if x < 1.0:
        square, total = x * x, 0.0
        for c in reversed(SERIES):
            total = (total + c) * square
        return total
    return x / 2 - math.log(x) + _log1mexp(x)


def langevin(y: float) -> float:
    """Return coth y - 1/y for y >= 0: twice the derivative of `log_sinhc` at 2y."""
    if y < 0.5:
        x, total = 2 * y, 0.0
        for n in range(len(SERIES), 0, -1):
            total = total * x * x + 2 * n * SERIES[n - 1]
        return 2 * total * x
    return 1 / math.tanh(y) - 1 / y


def _log1mexp(x: float) -> float:
    """Return ln(1 - exp(-x)) for x > 0."""
    return math.log(-math.expm1(-x))


def _divergence(eta: float, order: float) -> float:
    """Return an upper bound on the Rényi divergence of an eta-bounded-range mechanism."""
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
    return min(
        amounts.above(max(0.0, value) + slip * min(1.0, a * eta)),
        eta,
        amounts.above(a * eta * (eta / 8)),
    )
