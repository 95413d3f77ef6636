"""Top-k by peeling: the epsilon of each round, and the promise of all rounds together.

In each round, the exponential mechanism selects one of the remaining candidates. Later rounds
depend on earlier answers, so only adaptive composition applies: the sums of epsilon, of rho, and of
exact Rényi divergences of a bounded range.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from .._parameters import validate
from .._typing import Relation
from ..errors import ParameterError
from . import amounts
from .conversion import RANGE, adaptive_log_delta
from .guarantee import Guarantee

HALVINGS = 60


def peeling_round(
    rounds: int,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
) -> Fraction:
    """Return the largest epsilon of each selection with which all of them keep a total.

    Parameters
    ----------
    rounds : int
        The number of selections, >= 1. Each is one of the exponential mechanism, hence of bounded
        range, and may depend on earlier ones.
    epsilon : float, optional
        The total, in nats; either this or `rho`.
    delta : float
        In [0, 1), with epsilon; 0: pure.
    rho : float, optional
        The total rho of zero-concentrated differential privacy.

    Returns
    -------
    fractions.Fraction
        If delta is 0, exactly epsilon / rounds. With rho, the largest float e with
        rounds * e**2 / 8 <= rho. With delta, a float, rounded down: the largest of epsilon / rounds
        (pure), the zero-concentrated bound in closed form, and the bound of exact Rényi
        divergences (`adaptive_epsilon`), which is nearly always the largest.

    Raises
    ------
    ParameterError, ParameterTypeError
        If not exactly one total is given, or one is outside its range.

    References
    ----------
    Durfee and Rogers, "Practical differentially private top-k selection with
    pay-what-you-get composition", NeurIPS 2019. Cesar and Rogers, "Bounding, concentrating,
    and truncating", ALT 2021.

    Examples
    --------
    >>> from fastexp import privacy
    >>> privacy.peeling_round(4, epsilon=1.0)
    Fraction(1, 4)
    >>> round(float(privacy.peeling_round(100, epsilon=1.0, delta=1e-6)), 4)
    0.0444
    """
    k = validate.counting("rounds", rounds)
    slack = validate.delta(delta)
    if (epsilon is None) == (rho is None) or (rho is not None and slack > 0.0):
        raise ParameterError(
            "either epsilon (with or without delta) or rho must be given, not both"
        )
    if rho is not None:
        return Fraction(_root(Fraction(validate.positive("rho", rho)) * 8 / k))
    total = validate.positive("epsilon", epsilon)
    if slack == 0.0:
        return Fraction(total) / k
    amounts.within("epsilon / rounds", total / k, RANGE)
    return Fraction(_with_delta(k, total, slack))


def peeling_guarantee(
    rounds: int,
    round_epsilon: Fraction | float,
    epsilon: float | None,
    delta: float,
    rho: float | None,
    assumes: str,
    neighbors: Relation | None = None,
) -> Guarantee:
    """Return the promise of all rounds together, each with the epsilon of `peeling_round`.

    Parameters
    ----------
    rounds : int
        As given to `peeling_round`.
    round_epsilon : Fraction or float
        The value that `peeling_round` returned.
    epsilon, delta, rho : float
        As given to `peeling_round`: the total that is promised.
    assumes : str
        What the caller must ensure.
    neighbors : {"add-remove", "replace", "both"}, optional
        The neighbour relation. None: the one for which the caller stated the sensitivity.

    Returns
    -------
    Guarantee
        If delta is 0, epsilon is pure: the total or, if rho was given, rounds * round_epsilon. It
        always states rho. It states no bounded range: that of several rounds is not the sum.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range or of the wrong type, or `round_epsilon` is more than
        the total allows.

    Examples
    --------
    >>> from fastexp import privacy
    >>> privacy.peeling_guarantee(4, privacy.peeling_round(4, epsilon=1.0), 1.0, 0.0, None, "").rho
    0.03125
    """
    each, k = validate.exact("round_epsilon", round_epsilon), validate.counting("rounds", rounds)
    if each > peeling_round(k, epsilon=epsilon, delta=delta, rho=rho):
        raise ParameterError(
            "round_epsilon must be at most the value of peeling_round for the total"
        )
    slack = validate.delta(delta)
    if rho is not None:
        pure, spent = amounts.up(each * k), validate.positive("rho", rho)
    else:
        pure = validate.positive("epsilon", epsilon)
        exact = amounts.exact(pure) / k if slack == 0.0 else each
        spent = amounts.up(exact**2 * k / 8)
    span = pure if k == 1 and slack == 0.0 else None
    return Guarantee(pure, neighbors, span, spent, slack, assumes)


def _root(square: Fraction) -> float:
    """Return the largest float whose square is at most a number > 0."""
    shift = 64 + max(0, square.denominator.bit_length() - square.numerator.bit_length())
    whole = math.isqrt((square.numerator << 2 * shift) // square.denominator)
    root = float(Fraction(whole, 1 << shift))
    return root if Fraction(root) ** 2 <= square else math.nextafter(root, 0.0)


@lru_cache(maxsize=64)
def _with_delta(rounds: int, epsilon: float, delta: float) -> float:
    """Return the epsilon of a round, by bisection above the value of closed formulas."""
    log = math.log(delta)
    closed = math.sqrt(8 * (epsilon - log)) + math.sqrt(-8 * log)
    closed = 8 * epsilon / (closed * math.sqrt(rounds))  # without the difference of the roots
    low = max(amounts.down(Fraction(epsilon) / rounds), amounts.below(closed))
    high = low
    while high < RANGE[1] and adaptive_log_delta(rounds, high, epsilon) <= log:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if adaptive_log_delta(rounds, middle, epsilon) <= log:
            low = middle
        else:
            high = middle
    return low
