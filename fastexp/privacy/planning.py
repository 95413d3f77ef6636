"""Optimal composition of bounded ranges for queries that are fixed beforehand, for planning.

Dong, Durfee and Rogers 2020, Theorem 3: for k releases of bounded range eta, chosen before any
answer is seen,

    delta(epsilon) = max over l of sum_i B(i) [exp(k t - i eta) - exp(epsilon)]_+

with B(i) = C(k, i) p**(k-i) (1-p)**i, t = (epsilon + (l + 1) eta) / (k + 1) clipped to [0, eta],
p = (exp(-t) - exp(-eta)) / (1 - exp(-eta)) and l = 0, ..., k: k randomised responses with
unequal sides. The terms of one l are i = 0, ..., l, since k t - i eta - epsilon =
(l + 1 - i) eta - t. A clipped t adds nothing.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from .._parameters import validate
from .._typing import FloatArray
from . import amounts

MOST_ROUNDS = 10_000  # for these the inverse takes some seconds
PLAN_RANGE = (1e-12, 500.0)
SAFETY = 1e-9
CLOSE = 1e-9  # relative precision of the inverse
ORDERS = 48  # the number of divergences whose minimum is the upper bound for an l
SHORT = 64  # most rounds for which every l is computed


def nonadaptive_delta(rounds: int, bounded_range: float, epsilon: float) -> float:
    """Return the smallest delta of many releases of bounded range that are fixed beforehand.

    For planning: it holds only if **no query depends on an earlier answer**. Otherwise use
    `adaptive_delta`, which is larger.

    Parameters
    ----------
    rounds : int
        The number of releases, in [1, 10000].
    bounded_range : float
        The range of each release, in [1e-12, 500]: the epsilon of an exponential mechanism.
    epsilon : float
        The total, >= 0, in nats.

    Returns
    -------
    float
        Rounded up by a relative 1e-9.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range.

    References
    ----------
    Dong, Durfee and Rogers, "Optimal differential privacy composition for exponential
    mechanisms", ICML 2020, Theorem 3.

    Examples
    --------
    >>> from fastexp import privacy
    >>> f"{privacy.nonadaptive_delta(100, 0.1, 1.0):.6e}"
    '6.887477e-03'
    """
    k, eta = _arguments(rounds, bounded_range)
    return min(1.0, math.exp(_log_delta(k, eta, validate.at_least("epsilon", epsilon, 0.0))))


def nonadaptive_epsilon(rounds: int, bounded_range: float, delta: float) -> float:
    """Return the smallest total epsilon of releases that are fixed beforehand, for a delta.

    The inverse of `nonadaptive_delta`, under the same conditions.

    Parameters
    ----------
    rounds : int
        The number of releases, in [1, 10000].
    bounded_range : float
        The range of each release, in [1e-12, 500]: the epsilon of an exponential mechanism.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        In nats, at most bounded_range * rounds; its `nonadaptive_delta` is at most delta.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range.

    Examples
    --------
    >>> from fastexp import privacy
    >>> round(privacy.nonadaptive_epsilon(100, 0.1, 1e-6), 4)
    2.246
    """
    k, eta = _arguments(rounds, bounded_range)
    target = math.log(amounts.open_fraction("delta", delta))
    low, high = 0.0, amounts.times(eta, k) or 0.0
    at_low, at_high = _log_delta(k, eta, low) - target, -math.inf
    if at_low <= 0.0:
        return low
    while high - low > CLOSE * high:  # regula falsi with halving (Illinois), or bisection
        share = 0.5 if math.isinf(at_high) else at_low / (at_low - at_high)
        middle = low + (high - low) * min(max(share, 1e-3), 1 - 1e-3)
        at_middle = _log_delta(k, eta, middle) - target
        if at_middle <= 0.0:
            high, at_high, at_low = middle, at_middle, at_low / 2
        else:
            low, at_low, at_high = middle, at_middle, at_high / 2
    return high


def _arguments(rounds: int, bounded_range: float) -> tuple[int, float]:
    k = validate.counting("rounds", rounds, most=MOST_ROUNDS)
    return k, amounts.within("bounded_range", bounded_range, PLAN_RANGE)


def _log_delta(k: int, eta: float, epsilon: float) -> float:
    """Return the maximum over l; an l is skipped if its upper bound is below the best found."""
    sides = (epsilon + eta * np.arange(1.0, k + 2)) / (k + 1)
    open_ = np.flatnonzero((sides > 0.0) & (sides < eta))
    sides, best = sides[open_], -math.inf
    bounds = np.zeros(sides.size) if k <= SHORT else _bounds(k, eta, epsilon, sides)
    for j in np.argsort(-bounds, kind="stable"):
        if bounds[j] < best:
            break
        best = max(best, _log_sum(k, eta, float(sides[j]), int(open_[j])))
    return min(0.0, epsilon + best + SAFETY)


@lru_cache(maxsize=8)
def _log_binomials(k: int) -> FloatArray:
    logs = np.array([math.lgamma(i + 1) for i in range(k + 1)])
    binomials: FloatArray = logs[-1] - logs - logs[::-1]
    return binomials


def _log_sum(k: int, eta: float, t: float, last: int) -> float:
    """Return the logarithm of the sum for one l, divided by exp(epsilon).

    All terms are positive and log-concave in i: the terms before a window add up to less than a
    geometric series.
    """
    whole = math.expm1(-eta)
    log_p = math.log(math.expm1(t - eta) / whole) - t
    log_q = math.log(math.expm1(-t) / whole)
    first = max(0, last - 12 * math.isqrt(k) - SHORT)
    while True:
        i = np.arange(first, last + 1.0)
        gain = (last + 1 - i) * eta - t
        terms = _log_binomials(k)[first : last + 1] + (k - i) * log_p + i * log_q
        terms += gain + np.log(-np.expm1(-gain))
        top = float(terms.max())
        sizes = np.exp(terms - top)
        total, ratio = float(sizes.sum()), float(sizes[0] / (sizes[1:2].sum() or 1.0))
        if first == 0 or (ratio < 1.0 and sizes[0] * ratio / (1 - ratio) < total * SAFETY / 10):
            return top + math.log(total)
        first = max(0, last - 2 * (last - first))


def _bounds(k: int, eta: float, epsilon: float, sides: FloatArray) -> FloatArray:
    """Return an upper bound on ln delta for each t, from Rényi divergences of some orders."""
    whole = math.expm1(-eta)
    log_p = np.log(np.expm1(sides - eta) / whole) - sides
    log_q = np.log(np.expm1(-sides) / whole)
    spread = math.sqrt(k) * eta
    best = np.zeros(sides.size)
    for b in np.geomspace(0.01 / spread, 100 * max(1.0, epsilon / spread) / spread, ORDERS):
        a = float(b) + 1
        moment = np.logaddexp(log_p + a * sides, log_q + a * (sides - eta))
        bound = k * moment - b * epsilon - math.log(b) + a * math.log1p(-1 / a)
        best = np.minimum(best, bound)
    return best + 1e-3  # far more than the error of the arithmetic
