"""The promise of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import expm1, inf, log, nextafter, tanh

from ..parameters import checks
from ..types import Neighbors, Number, Relation


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The privacy promise of one draw of a mechanism.

    Attributes
    ----------
    epsilon : float
        In nats. Between neighbouring data sets, the probability of no output changes by more than
        a factor exp(epsilon), plus `delta`.
    neighbors : {"add-remove", "replace", "both"} or None
        The neighbour relation of the promise. None: the one for which the caller stated the
        sensitivity.
    bounded_range : float or None
        The log-ratios of all output probabilities lie in one interval of this length (Durfee and
        Rogers 2019). None: not promised.
    rho : float
        The parameter of zero-concentrated differential privacy (Cesar and Rogers 2021).
    delta : float
        The delta of (epsilon, delta); 0 if the promise is pure.
    assumes : str
        What the caller must ensure.
    """

    epsilon: float
    neighbors: Relation | None
    bounded_range: float | None
    rho: float
    delta: float
    assumes: str


def selection_guarantee(epsilon: Number, neighbors: Relation | None, assumes: str) -> Guarantee:
    """Return the promise of the exponential mechanism: epsilon-DP and epsilon-bounded-range.

    Its rho is r - 1 - ln r with r = epsilon / (exp(epsilon) - 1), and at most epsilon**2 / 8.
    """
    amount = up(checks.decimal("epsilon", epsilon))
    return Guarantee(amount, neighbors, amount, range_rho(amount), 0.0, assumes)


def range_rho(epsilon: float) -> float:
    """Return the least rho of all mechanisms of this bounded range, rounded up.

    Below 0.1 by a series that is at most a relative 7e-12 too large, as the formula cancels; above
    by s - 1 - ln s with s = r + epsilon. Both err by less than 1e-13 in doubles.
    """
    if epsilon < 0.1:
        square = epsilon * epsilon
        rho = square / 8 - square * square / 576 + square * square * square / 25920
    else:
        s = epsilon / -expm1(-epsilon)
        rho = s - 1 - log(s)
    return min(rho * (1 + 1e-13), up(checks.decimal("epsilon", epsilon) ** 2 / 8))


def pure_guarantee(epsilon: Number, neighbors: Relation | None, assumes: str) -> Guarantee:
    """Return the promise of an epsilon-DP mechanism without a bounded range.

    Its rho is epsilon * tanh(epsilon / 2), that of binary randomised response, to which every such
    mechanism can be reduced (Kairouz, Oh and Viswanath 2015).
    """
    amount = up(checks.decimal("epsilon", epsilon))
    rho = Fraction(amount * tanh(amount / 2)) * (1 + Fraction(1, 1 << 50))  # they err by 2**-51
    return Guarantee(amount, neighbors, None, up(rho), 0.0, assumes)


def peeling_guarantee(
    rounds: int, each: Fraction, epsilon: Number | None, delta: Number, assumes: str
) -> Guarantee:
    """Return the promise of all rounds together, each with the epsilon of `rates.peeling_round`.

    Later rounds depend on earlier answers, so that only sums of epsilon and of rho hold. The range
    of several rounds is not bounded by the sum of their ranges.
    """
    pure = each * rounds if epsilon is None else checks.decimal("epsilon", epsilon)
    slack = up(checks.decimal("delta", delta))
    return Guarantee(up(pure), None, None, up(each**2 / 8 * rounds), slack, assumes)


def recursion_guarantee(
    epsilon: Number, neighbors: Neighbors, levels: int, assumes: str
) -> Guarantee:
    """Return the promise of `levels` draws, one after the other, each of range epsilon / levels.

    The divergence of no order exceeds epsilon, and so neither does rho.
    """
    amount = up(checks.decimal("epsilon", epsilon))
    exact = checks.decimal("epsilon", amount)
    return Guarantee(amount, neighbors, None, up(min(exact**2 / (8 * levels), exact)), 0.0, assumes)


def up(amount: Fraction) -> float:
    """Return the smallest float whose decimal is at least `amount`."""
    number = float(amount)
    while checks.decimal("amount", number) < amount:
        number = nextafter(number, inf)
    return number
