"""The promise of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

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

    Its rho is therefore at most epsilon**2 / 8.
    """
    amount = up(checks.decimal("epsilon", epsilon))
    rho = up(checks.decimal("epsilon", amount) ** 2 / 8)
    return Guarantee(amount, neighbors, amount, rho, 0.0, assumes)


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
