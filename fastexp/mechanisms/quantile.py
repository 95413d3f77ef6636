"""A quantile, privately."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from decimal import Decimal
from fractions import Fraction

from .._numbers import distance
from .._typing import ABSENT, Convention, Neighbors, Number
from ._number import Bounds, Points
from ._totalled import TotalledQuantile
from .base import frozen


@frozen
class Quantile(TotalledQuantile):
    """The q-quantile on a public grid: r with probability ∝ exp(-ε·d(r)/(2Δ)).

    Parameters
    ----------
    q : float, Decimal or Fraction
        In (0, 1). A float is read as the decimal that it prints; a Fraction, such as
        Fraction(1, 3), as it is.
    epsilon, bounds, step, grid, neighbors
    convention : {"weak", "lower"}
        Which distance. weak: d = max(0, L - q·n, U - (1-q)·n) with L records below r and U
        above it, and Δ = max(q, 1-q) (under replace d is rounded up to whole records, and Δ = 1).
        lower: the least number of changed records until r is the record of rank ⌈q·n⌉, and Δ = 1.
        For q = 1/2 also "upper" and "strict", as for `Median`.
    widen, with_total, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    ``Quantile(0.5, ...)`` has exactly the law of ``Median(...)``. Match the step to the data, as
    for `Median`.

    **Privacy**: ε-DP and ε-bounded-range under `neighbors`.

    **Numerics**: q·n is exact, distances are integers, the draw is exact. Losses are in the units
    of d (for q = 1/2 in those of the median's Duff distance, which is 2d).

    References
    ----------
    Smith, "Privacy-preserving statistical estimation with optimal convergence rates", STOC
    2011. Asi and Duchi, NeurIPS 2020.

    Examples
    --------
    >>> import fastexp as fx
    >>> quantile = fx.Quantile(0.9, epsilon=1.0, bounds=(0, 1000), step=1)
    >>> law = quantile.law(range(500))
    >>> law.ppf(0.5), round(law.expected_error(450), 2)
    (450, 1.85)
    """

    q: float | Decimal | Fraction
    epsilon: float
    bounds: Bounds = ABSENT
    _: KW_ONLY
    step: Number | None = None
    grid: Points = ABSENT
    neighbors: Neighbors = "add-remove"
    convention: Convention = "weak"
    widen: Number = 0
    with_total: bool = False
    any_epsilon: bool = field(default=False, compare=False)
    _q: Fraction = field(init=False, compare=False)

    def _check(self) -> None:
        self._set_frozen(_q=distance.as_quantile(self.q))
        super()._check()

    @property
    def _unit(self) -> Fraction:
        """A distance of 1, in units of the utility."""
        if self._q == distance.HALF:
            return Fraction(1)
        return distance.unit(self._q, self.neighbors, self.convention)
