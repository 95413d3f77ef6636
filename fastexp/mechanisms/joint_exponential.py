"""The joint quantiles of 2021: a comparator for simulations."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from .._numbers.quantiles import QuantilesStatistic
from .._parameters import validate
from .._typing import ABSENT, Number, Ties
from ..privacy.rates import joint_exponential_rate
from ._number import Bounds, Points
from ._several import JointMechanism, Which
from .base import Comparator, frozen


@frozen
class JointExponentialQuantiles(
    Comparator,
    JointMechanism,
    promise="ε-DP and ε-bounded-range under add-remove, of all answers together.",
):
    """JointExp, with targets that are shares of the number of records. For simulations only.

    Outcomes o_1 <= ... <= o_m of the grid have probability ∝
    exp(-ε·Σ_j |c_j - n·(q_j - q_{j-1})| / (4·(1 - min_j (q_j - q_{j-1})))), where c_j counts the
    records between o_{j-1} and o_j, and n is the number of all records. A comparator for
    `Quantiles`: its targets move with n, which costs nearly half of ε.

    Parameters
    ----------
    q : sequence of float, Decimal or Fraction
        As of `Quantiles`, or `count`.
    epsilon : float
        Privacy parameter of all of them together, in nats; as of `Quantiles`.
    bounds
    count : int, optional
        The number of evenly spaced quantiles, instead of `q`.
    step, grid
    ties : {"left", "spread"}
        On which side of an answer the records on its own point count. left, as published: above
        it, so that rounded records hardly have quantiles. spread: on both sides, in all
        proportions, as in `Quantiles`.
    any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    Under "replace" `Quantiles` is this mechanism, at the rate for that relation.

    **Privacy**: ε-DP and ε-bounded-range under add-remove. `Quantiles` has the same promise and
    smaller errors, so `release` raises `NotReleasable`.

    **Numerics**: as of `Quantiles`.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles", ICML 2021.

    Examples
    --------
    >>> import fastexp as fx
    >>> rival = fx.JointExponentialQuantiles(count=3, epsilon=1.0, bounds=(0, 10), step=1)
    >>> rival.sample([1, 2, 4, 7, 8], size=1000, rng=1).shape
    (1000, 3)
    >>> rival.release([1, 2, 4, 7, 8])
    Traceback (most recent call last):
    fastexp.errors.NotReleasable: JointExponentialQuantiles is for simulations: use Quantiles
    """

    q: Which = ABSENT
    epsilon: float = ABSENT
    bounds: Bounds = ABSENT
    _: KW_ONLY
    count: int | None = field(default=None, compare=False)
    step: Number | None = None
    grid: Points = ABSENT
    ties: Ties = "left"
    any_epsilon: bool = field(default=False, compare=False)
    _instead = "Quantiles"

    def _check(self) -> None:
        super()._check()
        self._set_frozen(ties=validate.choice("ties", self.ties, ("spread", "left")))

    @property
    def _alone(self) -> None:
        """None: a single quantile is drawn in the same way as several."""

    @cached_property
    def _statistic(self) -> QuantilesStatistic:
        """The statistic, for draws and laws."""
        shares = [b - a for a, b in pairwise([Fraction(0), *self._q, Fraction(1)])]
        rate = joint_exponential_rate(self.epsilon, shares)
        return QuantilesStatistic(self._q, rate, None, self.grid, self.ties)
