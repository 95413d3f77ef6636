"""A price of high revenue."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from math import gcd
from typing import Any, Literal

from ..data.grid import make_grid
from ..data.segments import Segments
from ..draws import prices
from ..draws.choose import Weighting
from ..errors import ParameterError
from ..parameters import checks
from ..privacy.guarantee import Guarantee, selection_guarantee
from ..privacy.rates import price_rate
from ..types import Number, Words
from .numbers import NumberMechanism

MOST_PRICES, MOST_TICKS = 1 << 20, 1 << 31  # of 2**32 bids, revenues in ticks are below 2**63


@dataclass(frozen=True)
class Price(NumberMechanism):
    """A price of high revenue: p with probability proportional to exp(c·p·(number of bids ≥ p)).

    Parameters
    ----------
    epsilon : float
        In nats, > 0.
    bounds : tuple of two numbers
        The least and the greatest price, >= 0, public: chosen without the data.
    step : number
        The distance between prices; it divides the bounds. Bounds and step are read as the
        decimals that they print. There are at most 2**20 prices.
    scaling : {"tight", "textbook"}
        c is epsilon / (greatest price), or half of that.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, `step` does not fit, or a price
        is below 0.

    Notes
    -----
    Records are bids, one for each person. A bid buys at all prices up to it: at p if it is at least
    the double nearest to p, so that a bid of 0.29 buys at 0.29. A bid below the least price buys at
    none. Without bids all prices are equally likely.

    **Privacy**: epsilon-differential privacy and epsilon-bounded range, under add-remove and under
    replace alike: one bid moves the revenue of all prices in the same direction, by at most the
    greatest price. Textbooks do not use this: `scaling="textbook"` costs epsilon / 2.

    **Numerics**: revenues are exact integers, multiples of the greatest number that divides all
    prices; the greatest price is less than 2**31 of these. The draw is exact.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007, Section 5. Durfee
    and Rogers, "Practical differentially private top-k selection with pay-what-you-get
    composition", NeurIPS 2019 (monotonic utilities).

    Examples
    --------
    The revenue is 4.00 at the price 1.00 and 3.01 at the price 3.01, but 0 at 3.02:

    >>> import fastexp as fx
    >>> price = fx.Price(epsilon=5.0, bounds=(0, 3.5), step=0.01)
    >>> 0 <= price.release([1, 1, 1, 3.01]) <= 3.5
    True
    >>> price.sample([1, 1, 1, 3.01], size=3, rng=1).shape  # a simulation: not private
    (3,)
    """

    epsilon: Number
    bounds: Any
    _: KW_ONLY
    step: Number
    scaling: Literal["tight", "textbook"] = "tight"
    _statistic: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.arithmetic()
        checks.choice("scaling", self.scaling, ("tight", "textbook"))
        grid = make_grid(self.bounds, self.step)
        unit = gcd(grid.start, grid.step)
        most = (grid.start + (grid.size - 1) * grid.step) // unit
        if grid.start < 0 or grid.size > MOST_PRICES or most >= MOST_TICKS:
            raise ParameterError(
                "bounds must be >= 0, for at most 2**20 prices that are multiples of 1 / 2**31 of "
                f"the greatest, got step {self.step!r}, bounds {self.bounds!r}"
            )
        weighting = Weighting(price_rate(self.epsilon, most, self.scaling))
        vars(self).update(_statistic=prices.PriceStatistic(grid, unit, weighting))

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one release."""
        epsilon = checks.amount("epsilon", self.epsilon)
        spent = epsilon if self.scaling == "tight" else epsilon / 2
        return selection_guarantee(spent, "both", "bounds and step are public")

    def _draw(self, data: Segments, seeds: Words, size: int | None) -> Any:
        return prices.draw(data, self._statistic, seeds, size)

    def _runs(self, data: Segments) -> Any:
        from ..laws.of_data import of_bids

        return of_bids(data, self._statistic)
