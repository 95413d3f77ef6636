"""One promise in other terms, and many of bounded range that may depend on each other."""

from __future__ import annotations

import math

from .._parameters import validate
from . import amounts, renyi

RANGE = (1e-100, 1e9)  # of a bounded range or rho: where the formulas are accurate


def bounded_range_divergence(bounded_range: float, order: float) -> float:
    """The greatest Rényi divergence of an order that a bounded range allows, exactly.

    At most bounded_range**2 / 8 * order (that is rho), and at most bounded_range. Rényi
    divergences of one order add up, also where later *queries* depend on earlier answers.

    Parameters
    ----------
    bounded_range : float
        That of one release, in [1e-100, 1e9]: epsilon of the exponential mechanism.
    order : float
        In [1.00001, 1e30].

    Returns
    -------
    float
        In nats; rounded up by a relative 1e-12 (1e-8 at the least orders).

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
    eta = _range(bounded_range)
    a = amounts.within("order", validate.positive("order", order), (1.00001, 1e30))
    return renyi.bounded_range_divergence(eta, a)


def adaptive_delta(rounds: int, bounded_range: float, epsilon: float) -> float:
    """The delta of many releases of bounded range, for a total epsilon.

    By exact Rényi divergences (`bounded_range_divergence`), each order converted as well as
    one order allows, and the best order. Later *queries* may depend on earlier answers; the
    amounts and their number are fixed beforehand.

    Parameters
    ----------
    rounds : int
        How many releases, >= 1.
    bounded_range : float
        That of each release, in [1e-100, 1e9]: epsilon of the exponential mechanism.
    epsilon : float
        The total, >= 0, in nats.

    Returns
    -------
    float
        Rounded up by a relative 1e-12 or more; 0 where bounded_range * rounds is at most
        epsilon.

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
    k, eta = validate.counting("rounds", rounds), _range(bounded_range)
    e = validate.at_least("epsilon", epsilon, 0.0)
    if amounts.exact(eta) * k <= amounts.exact(e):
        return 0.0
    return min(1.0, amounts.above(math.exp(adaptive_log_delta(k, eta, e))))


def adaptive_epsilon(rounds: int, bounded_range: float, delta: float) -> float:
    """The total epsilon of many releases of bounded range, for a delta.

    The inverse of `adaptive_delta`, under the same conditions.

    Parameters
    ----------
    rounds : int
        How many releases, >= 1.
    bounded_range : float
        That of each release, in [1e-100, 1e9]: epsilon of the exponential mechanism.
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
    k, eta = validate.counting("rounds", rounds), _range(bounded_range)
    log = amounts.open_fraction("delta", delta)

    def divergence(order: float) -> float:
        return k * renyi.bounded_range_divergence(eta, order)

    return min(amounts.times(eta, k) or 0.0, renyi.least_epsilon(divergence, log))


def adaptive_log_delta(rounds: int, bounded_range: float, epsilon: float) -> float:
    """The logarithm of `adaptive_delta`, for checked arguments."""

    def divergence(order: float) -> float:
        return rounds * renyi.bounded_range_divergence(bounded_range, order)

    return renyi.least_log_delta(divergence, epsilon)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """The delta of the (epsilon, delta)-DP that a rho implies, for an epsilon.

    The least over orders a > 1 of exp((a - 1) (a rho - epsilon)) / (a - 1) * (1 - 1/a)**a.
    Bun and Steinke's exp(-(epsilon - rho)**2 / (4 rho)) is larger: 12 times in the example.

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
    amount = amounts.within("rho", validate.positive("rho", rho), RANGE)
    e = validate.at_least("epsilon", epsilon, 0.0)
    return min(1.0, amounts.above(math.exp(renyi.least_log_delta(lambda a: a * amount, e))))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The epsilon of the (epsilon, delta)-DP that a rho implies, for a delta.

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
    amount = amounts.within("rho", validate.positive("rho", rho), RANGE)
    return renyi.least_epsilon(lambda a: a * amount, amounts.open_fraction("delta", delta))


def _range(value: float) -> float:
    return amounts.within("bounded_range", validate.positive("bounded_range", value), RANGE)
