"""The promise of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import expm1, inf, log, nextafter

from ..parameters import checks
from ..types import Neighbors, Number


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The privacy promise of one draw of a mechanism.

    Attributes
    ----------
    epsilon : float
        In nats. Between neighbouring data sets, the probability of no output changes by more than
        a factor exp(epsilon), plus `delta`.
    neighbors : {"add-remove", "replace"} or None
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
    neighbors: Neighbors | None
    bounded_range: float | None
    rho: float
    delta: float
    assumes: str


def selection_guarantee(epsilon: Number, neighbors: Neighbors | None, assumes: str) -> Guarantee:
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


def up(amount: Fraction) -> float:
    """Return the smallest float whose decimal is at least `amount`."""
    number = float(amount)
    while checks.decimal("amount", number) < amount:
        number = nextafter(number, inf)
    return number
