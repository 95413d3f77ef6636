"""The price of highest revenue, privately."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from .._intake.record_sources import RecordSource
from .._numbers.revenue import Demand, Prices, demand, losses
from .._numbers.revenue_cells import RevenueSampler, shape_of_bids
from .._parameters import validate
from .._parameters.grid import Rule
from .._typing import ABSENT, Number
from ..errors import ParameterError
from ..grouped.prices import PriceDraws, regular
from ..grouped.segments import Draws, Segments
from ..grouped.words import WordSource
from ..privacy import Guarantee, selection_guarantee
from ..privacy.rates import price_epsilon
from ._number import ASSUMES, Bounds, NumberMechanism, Points
from .base import frozen

MAX_PRICE = 10**288  # highest price with which the revenue of 2**32 bids is a double

if TYPE_CHECKING:
    from .._numbers.cells import Shape
    from ..laws.accuracy import Measure
    from ..laws.densities import ContinuousLaw
    from ..laws.grid import GridLaw


@frozen
class Price(
    NumberMechanism,
    promise="ε-DP and ε-bounded-range under both relations; ε/2 for the textbook's scaling.",
):
    """A price of high revenue: r with probability ∝ exp(ε·u(r)/Δ), u(r) = r·#{bids ≥ r}.

    Parameters
    ----------
    epsilon
    bounds : (number, number)
        The lowest and the highest price, 0 <= lowest < highest, chosen without looking at the
        data. Bids above the highest price count as that, bids below the lowest price as this.
    step : number, optional
        The distance between prices; it must divide the bounds (as decimals: 0.01 divides 3.5).
        Answers are ints if bounds and step are. Default: 2**40 steps.
    grid : array_like, optional
        Public prices within the bounds, >= 0, increasing, instead of `step`. Bids beyond the first
        or the last price count as that price. Without bounds, these two are the bounds.
    scaling : {"tight", "textbook"}
        Δ is the highest price. One bid moves the revenue of all prices in the same direction,
        so exp(ε·u/Δ) is ε-DP. Textbooks do not use this and take exp(ε·u/(2Δ)), which is
        ε/2-DP: the accuracy of half the ε.
    any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, if `step` does not fit, or a
        price is below 0.

    Notes
    -----
    The records are bids, one for each person. A bid pays every price that is not above it: a bid of
    3.01 pays the price 3.01 in spite of binary rounding, since prices are the doubles nearest to
    lower + t·step, and bids are compared with these. Without bids every price is equally likely.
    Epsilon is at most 1e6, also with `any_epsilon`.

    **Privacy**: ε-DP and ε-bounded-range, under add-remove and under replace alike
    (`scaling="textbook"`: ε/2).

    **Numerics**: revenues are exact (multiples of the step's decimal unit, or of the price as the
    double that it is), and so is the draw. With up to 2**20 evenly spaced prices it takes one pass
    over the bids and one over the prices; on other grids, a pass that counts the bids in ranges of
    prices, and a sort of the bids near the best revenue.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007. Dwork and
    Roth, "The algorithmic foundations of differential privacy" (2014), Example 3.5 (these
    bids). Durfee and Rogers 2019 (monotone utilities).

    Examples
    --------
    Revenue is 4.00 at the price 1.00 and 3.01 at the price 3.01, but 0 at 3.02:

    >>> import fastexp as fx
    >>> price = fx.Price(epsilon=5.0, bounds=(0, 3.5), step=0.01)
    >>> price.release([1, 1, 1, 3.01]) <= 3.5
    True
    >>> law = price.law([1, 1, 1, 3.01])
    >>> law.pmf([1, 1.01, 3.01, 3.02]).round(4)
    array([0.0292, 0.0004, 0.0071, 0.0001])
    >>> round(law.expected_loss(), 3), price.guarantee.neighbors
    (1.106, 'both')
    """

    epsilon: float
    bounds: Bounds = ABSENT
    _: KW_ONLY
    step: Number | None = None
    grid: Points = ABSENT
    scaling: Literal["tight", "textbook"] = "tight"
    any_epsilon: bool = field(default=False, compare=False)
    _rule: ClassVar[Rule] = "below"
    _sorts_few: ClassVar[bool] = False  # bids are counted
    _measure: ClassVar[Measure] = "loss"  # of revenue: prices of equal revenue are equally good
    _prices: Prices = field(init=False, compare=False)

    def _check(self) -> None:
        points: Any = self.grid  # as they were given
        super()._check()
        validate.choice("scaling", self.scaling, ("tight", "textbook"))
        if self.grid.exact(0) < 0:
            name = "bounds" if points is None else "grid"
            raise ParameterError(
                f"{name} must not hold prices below 0, got {self.grid.value(0)!r}: revenue is not "
                "monotone there, and the promise would be 2 * epsilon"
            )
        if self.grid.exact(self.grid.size - 1) > MAX_PRICE:
            raise ParameterError("bounds of prices must be at most 1e288")
        if self.epsilon > validate.EPSILON_RANGE[1]:  # above it, no coin passes below a bound
            raise ParameterError(f"epsilon of prices must be at most 1e6, got {self.epsilon!r}")
        self._set_frozen(_prices=Prices(self.grid, self.epsilon, self.scaling))

    def _promise(self) -> Guarantee:
        return selection_guarantee(price_epsilon(self.epsilon, self.scaling), "both", ASSUMES)

    def _shape(self, source: RecordSource) -> Shape:
        return shape_of_bids(self._prices, source)

    def _truth(self, source: RecordSource) -> Any:
        """Return the lowest of the best prices."""
        return self._best_price(demand(source, self.grid))

    def _best_price(self, runs: Demand) -> Any:
        """Return the lowest of the best prices; only the last price of a run can be best."""
        if runs.total() == 0:
            return None
        revenue = self.grid.values(runs.last) * runs.bids.astype(np.float64)
        near = np.flatnonzero(revenue >= revenue.max() * (1 - 1e-12)).tolist()
        prices = [self._prices.revenue(int(runs.last[i]), int(runs.bids[i])) for i in near]
        return self.grid.value(int(runs.last[near[prices.index(max(prices))]]))

    def _draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        if not regular(self._prices):
            return super()._draws(segments, words, size)
        return PriceDraws(self._prices, segments, words, size)

    def _law_of(self, source: RecordSource) -> GridLaw:
        from ..laws.grid import GridLaw, grid_cells, revenues

        runs = demand(source, self.grid)
        cells = losses(self._prices, runs)
        sampler = RevenueSampler(self._prices, runs, cells.rate)
        law = GridLaw(
            self.grid,
            grid_cells(self.grid, cells.start, cells.size, cells.loss, cells.best, cells.slope),
            cells.unit,
            cells.rate,
            self.epsilon,
            sampler,
        )
        law._statistic = partial(self._best_price, runs)
        law._utility = partial(revenues, self._prices, runs)
        return law

    def _continuous_of(self, source: RecordSource) -> ContinuousLaw:
        from ..laws.densities import price_density

        low, high = float(self.grid.value(0)), float(self.grid.value(self.grid.size - 1))
        bids = [np.clip(part.astype(np.float64), low, high) for part in source.parts()]
        rate = self._prices.float_weighting.rate / self._prices.unit
        return price_density(np.concatenate([*bids, ()]), (low, high), rate, self.epsilon)
