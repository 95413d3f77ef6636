"""The promise of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter, tanh

from ..parameters import checks
from ..types import Number, Relation


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

    Its rho is therefore at most epsilon**2 / 8.
    """
    amount = up(checks.decimal("epsilon", epsilon))
    rho = up(checks.decimal("epsilon", amount) ** 2 / 8)
    return Guarantee(amount, neighbors, amount, rho, 0.0, assumes)


def pure_guarantee(epsilon: Number, neighbors: Relation | None, assumes: str) -> Guarantee:
    """Return the promise of epsilon-DP alone: a rho of epsilon * tanh(epsilon / 2)."""
    amount = up(checks.decimal("epsilon", epsilon))
    rho = nextafter(amount * tanh(amount / 2) * (1 + 2.0**-50), inf)
    return Guarantee(amount, neighbors, None, rho, 0.0, assumes)


def up(amount: Fraction) -> float:
    """Return the smallest float whose decimal is at least `amount`."""
    number = float(amount)
    while checks.decimal("amount", number) < amount:
        number = nextafter(number, inf)
    return number
