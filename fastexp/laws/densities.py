"""The densities of the papers: median (and other ranks), price and Laplace."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .._typing import AnyArray, ArrayLike, FloatArray
from .continuous import ContinuousLaw


def median_density(
    knots: FloatArray, distances: AnyArray, rate: Fraction, unit: Fraction, epsilon: float
) -> ContinuousLaw:
    """The density of a statistic whose utility is constant between records.

    `knots` (n + 2,) are the lower bound, the sorted records (clamped to the bounds) and the upper
    bound; `distances` (n + 1,) those of the gaps: minus their utilities, in units of `unit`. Gaps
    of no width, and the records themselves, have no mass and do not count as best.

    Examples
    --------
    Goldberg's and Duff's median of 1, 2, 4, 7 in [0, 10], at epsilon = 2 ln 2:

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> knots = np.array([0.0, 1, 2, 4, 7, 10])
    >>> rate = Fraction(np.log(2))
    >>> law = median_density(knots, np.array([4, 2, 0, 2, 4]), rate, Fraction(1), 2 * np.log(2))
    >>> round(52 * law.cdf(4), 12), round(26 * law.mean(), 12)
    (37.0, 97.0)
    """
    least = int(distances[knots[1:] > knots[:-1]].min())
    loss = (distances - least).astype(np.float64)
    return ContinuousLaw(knots, loss, None, float(-least * unit), unit, rate, epsilon)


def price_density(
    bids: ArrayLike, bounds: tuple[Any, Any], rate: Fraction, epsilon: float
) -> ContinuousLaw:
    """The density of a price r, proportional to exp(rate * r * #{bids >= r}).

    Bids come in any order; those outside of the bounds (lowest price >= 0) count as the nearest
    one. The knots of the law are the distinct bids.
    """
    low, high = float(bounds[0]), float(bounds[1])
    clamped = np.clip(np.asarray(bids, np.float64).reshape(-1), low, high)
    distinct, counts = np.unique(np.append(clamped, [low, high]), return_counts=True)
    counts[0] -= 1
    counts[-1] -= 1
    willing = clamped.size - np.cumsum(counts)[:-1]  # bids above each piece
    revenue = willing * distinct[1:]  # falls only at bids: the best of a piece is at its right
    best = float(revenue.max())
    loss, slope = np.asarray(best - revenue, np.float64), -willing.astype(np.float64)
    return ContinuousLaw(distinct, loss, slope, best, Fraction(1), rate, epsilon)


def laplace_density(
    f: float, rate: Fraction, bounds: tuple[Any, Any] | None, epsilon: float
) -> ContinuousLaw:
    """The density of Laplace noise around f, proportional to exp(-rate * |f - r|).

    On the whole line, or within bounds, to which f is clamped.
    """
    low, high = (-np.inf, np.inf) if bounds is None else (float(bounds[0]), float(bounds[1]))
    centre = min(max(float(f), low), high)
    knots, slope = np.array([low, centre, high]), np.array([-1.0, 1.0])
    return ContinuousLaw(knots, np.zeros(2), slope, 0.0, Fraction(1), rate, epsilon)
