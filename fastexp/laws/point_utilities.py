"""The exact utilities of grid points: multiples of a unit, rounded to float64 at most once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .._numbers.laplace import Truth
from .._numbers.revenue import Demand, Prices
from .._typing import AnyArray, IntArray
from .exact_differences import EXACT

LARGE = 1 << 62


def multiples(numbers: AnyArray, unit: Fraction) -> AnyArray:
    """Integers times a unit: int64 where all products are integers of 64 bits, else float64."""
    over, under = unit.numerator, unit.denominator
    most = int(np.abs(numbers).max(initial=0)) * over
    if under == 1 and most < LARGE:
        return np.asarray(numbers * over, np.int64)
    if max(most, under) <= EXACT:
        return np.asarray(numbers * over, np.float64) / under
    return np.array([number * over / under for number in numbers.tolist()], np.float64)


def revenues(prices: Prices, runs: Demand, t: IntArray) -> AnyArray:
    """The revenue of prices t."""
    bids, points = runs.bids[np.searchsorted(runs.last, t)], prices.grid.points
    if points is not None and not prices.grid.whole:
        return np.asarray(bids * points[t])
    if prices.fits(runs.total()):
        return multiples(bids * prices.ticks(t), prices.tick)
    pairs = zip(bids.tolist(), t.tolist(), strict=True)
    exact = [paying * prices.grid.exact(i) / prices.tick for paying, i in pairs]
    return multiples(np.array([ticks.numerator for ticks in exact], object), prices.tick)


def minus_distances(truth: Truth, first: int, t: IntArray) -> AnyArray:
    """Minus the distance from a statistic; point 0 is `first` steps above the one below it."""
    _, step, under = truth.grid.unit
    steps = t + first
    if (int(np.abs(steps).max(initial=0)) + 1) * truth.under >= LARGE:
        steps = steps.astype(object)
    numbers = -np.abs(steps * truth.under - truth.rest)
    return multiples(numbers, Fraction(step, under * truth.under))
