"""A quantile, privately."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .._numbers import distance
from .._numbers.rank import RankStatistic
from .._parameters import validate
from .._typing import Neighbors
from ..privacy import Guarantee, selection_guarantee
from ._checks import check_number
from ._number import ASSUMES
from ._ranked import RankMechanism, rank_statistic


@dataclass(frozen=True, repr=False)
class Quantile(RankMechanism):
    """The q-quantile on a public grid: r with probability ∝ exp(-ε·d(r)/(2Δ)).

    Parameters
    ----------
    q : float, Decimal or Fraction
        In (0, 1): the decimal that prints, or an exact fraction as Fraction(1, 3).
    epsilon : float
        Privacy parameter of each answer, in nats; in [1e-9, 1e6] unless `any_epsilon`.
    bounds : (number, number)
        Public limits; records outside are clamped to them.
    step : number, optional
        The distance of grid points; it divides the bounds. Default: 2**40 steps.
    grid : array_like, optional
        Instead of `step`: public points within the bounds, increasing.
    neighbors : {"add-remove", "replace"}
        What one person may do: join or leave, or change their record.
    convention : {"weak", "lower"}
        The distance. weak: d = max(0, L - q·n, U - (1-q)·n) with L records below r and U
        above it, Δ = max(q, 1-q) (for replace rounded up to whole records, Δ = 1). lower:
        the least number of steps until r is the record of rank ⌈q·n⌉, Δ = 1. For q = 1/2 also
        "upper" and "strict", as for `Median`.
    widen : number
        As for `Median`.
    any_epsilon : bool
        Lift the limits on epsilon.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    ``Quantile(0.5, ...)`` has exactly the law of ``Median(...)``. When to match the grid to
    the data: see `Median`. **Privacy**: ε-DP and ε-bounded-range under `neighbors`.
    **Numerics**: q·n is exact, distances are integers, the draw is exact. Losses are in the
    units of d (for q = 1/2 in those of the median's Duff distance, which is 2d).

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

    q: Any
    epsilon: float
    bounds: tuple[Any, Any]
    step: Any = field(default=None, kw_only=True)
    grid: Any = field(default=None, kw_only=True)
    neighbors: Neighbors = field(default="add-remove", kw_only=True)
    convention: str = field(default="weak", kw_only=True)
    widen: Any = field(default=0, kw_only=True)
    any_epsilon: bool = field(default=False, kw_only=True, compare=False)
    _q: Fraction = field(init=False, compare=False)
    _statistic: RankStatistic = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Validate once; the mechanism is immutable afterwards."""
        object.__setattr__(self, "_q", distance.as_quantile(self.q))
        check_number(self)
        object.__setattr__(self, "neighbors", validate.neighbors(self.neighbors))
        object.__setattr__(self, "_statistic", rank_statistic(self, self._q))

    @property
    def _unit(self) -> Fraction:
        """One integer of the distance, in units of the utility."""
        if self._q == distance.HALF:
            return Fraction(1)
        return distance.unit(self._q, self.neighbors, self.convention)

    @property
    def guarantee(self) -> Guarantee:
        """ε-DP and ε-bounded-range under `neighbors`."""
        return selection_guarantee(self.epsilon, self.neighbors, ASSUMES)

    def _true_ranks(self, n: int) -> tuple[int, int]:
        return distance.quantile_ranks(self._q, self.convention, n)
