"""Promises in other terms: rho as (epsilon, delta), and pairs of laws that dominate."""

from __future__ import annotations

from math import ceil, exp, inf, log, nextafter, tanh

import numpy as np

from ..errors import ParameterError
from ..parameters import checks
from ..types import Floats, Number
from .guarantee import Guarantee, genuine, up

MOST_POINTS = 1 << 22
SLIP = 1e-14  # more than the sums below err, relative to their terms


def zcdp_epsilon(rho: Number, delta: Number) -> float:
    """Return the epsilon of the (epsilon, delta)-DP that a rho implies, for a delta.

    Parameters
    ----------
    rho : float
        > 0.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        In nats, rounded up. The best of 65,536 orders; each order alone gives a valid epsilon.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range.

    References
    ----------
    Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020,
    Proposition 12.

    Examples
    --------
    >>> import fastexp as fx
    >>> round(fx.privacy.zcdp_epsilon(0.125, 1e-6), 4)
    2.4191
    """
    checks.positive("rho", rho)
    if not 0 < checks.positive("delta", delta) < 1:
        raise ParameterError(f"delta must be in (0, 1), got {delta!r}")
    exact = checks.exact("delta", delta)
    near = float(exact)  # rounded to a few bits below 2**-1022
    part = (log(near) if near > 1e-300 else log(exact.numerator) - log(exact.denominator)) * (
        1 + SLIP
    )
    b, logs = _logs(up(checks.exact("rho", rho)))
    return max(0.0, float(((logs - part) / b).min()) * (1 + SLIP))


def zcdp_delta(rho: Number, epsilon: Number) -> float:
    """Return the delta of the (epsilon, delta)-DP that a rho implies, for an epsilon.

    Parameters
    ----------
    rho : float
        > 0.
    epsilon : float
        In nats, >= 0.

    Returns
    -------
    float
        At most 1, rounded up. The best of 65,536 orders; each order alone gives a valid delta.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range.

    References
    ----------
    Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020,
    Proposition 12.

    Examples
    --------
    >>> import fastexp as fx
    >>> f"{fx.privacy.zcdp_delta(0.125, 1.0):.4g}"
    '0.01799'
    """
    checks.positive("rho", rho)
    if checks.exact("epsilon", epsilon) < 0:
        raise ParameterError(f"epsilon must be >= 0, got {epsilon!r}")
    b, logs = _logs(up(checks.exact("rho", rho)))
    return min(1.0, nextafter(exp(min(0.0, (logs - b * float(epsilon) * (1 - SLIP)).min())), inf))


def _logs(rho: float) -> tuple[Floats, Floats]:
    """Return b > 0, and bounds of ln(delta) + b * epsilon by the divergence of order 1 + b."""
    b = np.geomspace(1e-15, 1e60, 1 << 16)
    with np.errstate(over="ignore"):
        terms = np.array([b * (1 + b) * rho * (1 + SLIP), -b * np.log1p(1 / b), -np.log1p(b)])
    return b, terms.sum(0) + SLIP * (1 + np.abs(terms).sum(0))


def dominating_pair(guarantee: Guarantee, interval: Number = 1e-3) -> tuple[Floats, Floats]:
    """Return two laws that dominate a promise, for numerical composition.

    For neighbours P and Q of the mechanism, and every factor, P exceeds that multiple of Q by at
    most what the first law exceeds it of the second. So does each adaptive composition.

    Parameters
    ----------
    guarantee : Guarantee
        Of a bounded range, else of (epsilon, delta).
    interval : float
        > 0. All privacy losses (log-ratios of the two laws) are multiples of it, in nats; so
        epsilon is rounded up to a multiple. At most 2**22 of them.

    Returns
    -------
    p, q : ndarray of float64, shape (2 * m + 1,) or (2 * m + 3,)
        Probabilities of the same outcomes, with the losses -m * interval, ..., m * interval; if
        there is a delta, with an infinite loss at both ends. p is rounded up. Without delta,
        ``dp_accounting.pld.pld_pmf.create_pmf(dict(enumerate(p, -m)), interval, 0.0, True)``
        takes them.

    Raises
    ------
    ParameterError, ParameterTypeError
        If there is no epsilon, or `interval` is not > 0 or too small.

    Notes
    -----
    No two-point laws dominate all mechanisms of a bounded range e. The greatest excess over a
    factor exp(g) is (1 - exp((g - e) / 2))**2 / (1 - exp(-e)) for |g| <= e. It is convex in exp(g);
    the laws here have these values at multiples of the interval, and are linear between them.
    Alone, selections compose better by rho: 100 of epsilon 0.1 have 2.42 by `total` for a delta of
    1e-6, and 2.61 by this pair, as no mechanism has the greatest excess at all factors. The pair is
    for composition with mechanisms whose rho is worse.

    References
    ----------
    Dong, Durfee and Rogers, ICML 2020 (worst pairs). Zhu, Dong and Wang, "Optimal accounting of
    differential privacy via characteristic function", AISTATS 2022 (composition of such pairs).
    Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, "Connect the dots", PoPETs 2022 (grid).

    Examples
    --------
    >>> import fastexp as fx
    >>> promise = fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee
    >>> p, q = fx.privacy.dominating_pair(promise)
    >>> p.size, bool(abs(p.sum() - 1) < 1e-12)
    (201, True)
    """
    promise, width = genuine(guarantee), checks.positive("interval", interval)
    is_bounded = promise.bounded_range is not None
    most = promise.epsilon if promise.bounded_range is None else promise.bounded_range
    if most == inf:
        raise ParameterError("guarantee must have an epsilon or a bounded range, got none")
    half = ceil(checks.decimal("guarantee", most) / width)
    if not 0 < half <= MOST_POINTS // 2:
        raise ParameterError(
            f"interval must divide epsilon into 1 to 2**21 parts, got {interval!r}"
        )
    step, epsilon = float(width), float(width * half)
    losses = np.arange(-half, half + 1) * step
    if is_bounded:
        p = 2 * tanh(step / 4) / -np.expm1(-epsilon) * np.exp((losses - epsilon) / 2)
        p[[0, -1]] /= 2
    else:
        p = np.zeros(losses.size)
        p[0], p[-1] = exp(-epsilon) / (1 + exp(-epsilon)), 1 / (1 + exp(-epsilon))
    if promise.delta and not is_bounded:
        p = np.concatenate([[0.0], p * (1 - promise.delta), [promise.delta]])
    return p * (1 + SLIP), p[::-1].copy()
