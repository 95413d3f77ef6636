"""Arithmetic of promises: the factors of epsilon and what a mechanism guarantees. No data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ._typing import Neighbors


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What one draw of a mechanism promises.

    Attributes
    ----------
    epsilon : float
        Pure differential privacy, in nats: for neighbouring data sets no output's
        probability changes by more than a factor exp(epsilon).
    neighbors : {"add-remove", "replace"} or None
        The relation that this holds for; None: the one for which the caller stated the
        sensitivity.
    bounded_range : float or None
        The log-ratios of all outputs lie in one interval of this length (Durfee and Rogers
        2019); None: not promised.
    rho : float
        Zero-concentrated differential privacy: bounded_range**2 / 8 (Cesar and Rogers
        2021) where the range is bounded, epsilon * tanh(epsilon / 2) else.
    delta : float
        0: the promise is pure.
    assumes : str
        What the caller must ensure.

    Examples
    --------
    >>> import fastexp as fx
    >>> promise = fx.MostCommon(epsilon=1.0, candidates=["a", "b"]).guarantee
    >>> promise.epsilon, promise.neighbors, promise.rho
    (1.0, 'add-remove', 0.125)
    """

    epsilon: float
    neighbors: Neighbors | None
    bounded_range: float | None
    rho: float
    delta: float
    assumes: str


def selection_rate(epsilon: float, sensitivity: float, monotonic: bool) -> Fraction:
    """The exact c of the weight exp(c * utility): epsilon over the range sensitivity.

    The range sensitivity of a utility is at most 2 * sensitivity, and sensitivity itself
    where one record moves all utilities in the same direction (`monotonic`). McSherry and
    Talwar 2007; Durfee and Rogers 2019.
    """
    return Fraction(epsilon) / (Fraction(sensitivity) * (1 if monotonic else 2))


def count_rate(epsilon: float, neighbors: Neighbors) -> Fraction:
    """The rate of the utility *count of records*: monotone under add-remove only.

    Adding a record raises one count. Replacing one raises a count and lowers another, so
    the factor 2 stays.
    """
    return selection_rate(epsilon, 1.0, monotonic=neighbors == "add-remove")


def selection_guarantee(epsilon: float, neighbors: Neighbors | None, assumes: str) -> Guarantee:
    """The promise of the exponential mechanism: epsilon-DP and epsilon-bounded-range."""
    return Guarantee(epsilon, neighbors, epsilon, epsilon * epsilon / 8, 0.0, assumes)
