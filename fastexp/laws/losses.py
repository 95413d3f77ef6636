"""The loss of a law of numbers: its distribution function, from either end."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.numbers.density import sum_products
from .elementary import exp, least, quiet, sums
from .piece_shapes import Points, near
from .pieces import Pieces, Weights

EXACT = 1 << 53  # integers up to here are doubles
LARGEST = float(np.finfo(np.float64).max)
PAIRS = 1 << 16  # of a loss and a piece, at a time


class Units:
    """Losses as the integers, or the numbers, that pieces have, and in units of the utility."""

    def __init__(self, unit: Fraction, greatest: float) -> None:
        n, d = unit.numerator, unit.denominator
        simple = n <= EXACT and d <= EXACT and greatest <= LARGEST / (n + d)
        self._factor, self._part = (float(n), float(d)) if simple else (float(unit), 1.0)

    @quiet
    def utility(self, x: FloatArray) -> FloatArray:
        """In units of the utility; rounded once where both factors are exact."""
        return x * self._factor / self._part

    @quiet
    def loss(self, t: FloatArray) -> FloatArray:
        """In the unit of the pieces."""
        return t * self._part / self._factor


class Losses:
    """The losses of pieces, sorted by their least and by their greatest one.

    Independent of epsilon. `sloped`: pieces of more than one loss.
    """

    pieces: Pieces
    units: Units
    by_high: IntArray
    by_low: IntArray
    highs: FloatArray
    lows: FloatArray
    high: FloatArray
    low: FloatArray

    def __init__(self, pieces: Pieces, unit: Fraction) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            steep, extent = pieces.steep, pieces.shape.extent(pieces.size)
            most = pieces.loss if steep is None else pieces.loss + steep * extent
        finite = most[np.isfinite(most)]
        self.pieces, self.units = pieces, Units(unit, float(finite.max(initial=1.0)))
        low, high = self.units.utility(pieces.loss), self.units.utility(most)
        self.by_low = self.by_high = np.argsort(low, kind="stable")
        self.sloped: IntArray = np.flatnonzero(high > low)
        if self.sloped.size:
            self.by_high = np.argsort(high, kind="stable")
        self.lows, self.highs = low[self.by_low], high[self.by_high]
        self.low, self.high = low[self.sloped], high[self.sloped]

    @property
    def greatest(self) -> float:
        """The greatest loss, in units of the utility."""
        return float(self.highs[-1])


class LossSums:
    """P(loss <= t) and P(loss > t) at one rate."""

    def __init__(self, losses: Losses, weights: Weights) -> None:
        self._losses, self._weights = losses, weights

    @cached_property
    def _below(self) -> FloatArray:
        """P of the first pieces by their greatest losses."""
        return sums(self._weights.masses[self._losses.by_high])

    @cached_property
    def _above(self) -> FloatArray:
        """P of the last pieces by their least losses."""
        return sums(self._weights.masses[self._losses.by_low], back=True)

    def mean(self) -> float:
        """The expected loss, in units of the utility."""
        p, w = self._losses.pieces, self._weights
        mean = float(sum_products(w.masses, p.loss))
        if p.steep is not None:
            with np.errstate(over="ignore"):
                mean += float(sum_products(w.masses, p.steep * w.depth))
        return float(self._losses.units.utility(np.array([mean]))[0])

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(loss <= t) and P(loss > t), each summed on its own side."""
        below = self._below[np.searchsorted(self._losses.highs, t, "right")]
        above = self._above[np.searchsorted(self._losses.lows, t, "right")]
        rows = max(1, PAIRS // max(self._losses.sloped.size, 1))
        if self._losses.sloped.size:
            for i in range(0, t.size, rows):
                part = slice(i, i + rows)
                low, high = self._cut(t[part])
                below[part] += low
                above[part] += high
        return np.minimum(below, 1.0), np.minimum(above, 1.0)

    @quiet
    def _cut(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(loss <= t) and P(loss > t) within those pieces that have losses on both sides."""
        losses, fall = self._losses, self._weights.fall
        row, number = np.nonzero((losses.low <= t[:, None]) & (losses.high > t[:, None]))
        cut = losses.sloped[number]
        if fall is None or not cut.size:
            return np.zeros(t.size), np.zeros(t.size)
        p, z, masses = losses.pieces.some(cut), fall[cut], self._weights.masses[cut]
        y = reach(losses.units, p, t[row])
        low = masses * near(z, y, p.size)
        high = masses * exp(-np.where(y > 0, z * y, 0.0)) * near(z, p.size - y, p.size)
        at_most, more = np.bincount(row, low, t.size), np.bincount(row, high, t.size)
        return np.asarray(at_most, np.float64), np.asarray(more, np.float64)


def reach(units: Units, p: Pieces, t: FloatArray) -> FloatArray:
    """How much of these pieces, from their best ends, has a loss <= t; not all of it."""
    steep = p.steep
    if steep is None:  # for the type checker: sloped pieces have one
        return p.size
    if not isinstance(p.shape, Points):
        return np.clip((units.loss(t) - p.loss) / steep, 0.0, p.size)

    def beyond(n: IntArray, i: IntArray) -> AnyArray:
        return np.asarray(units.utility(p.loss[i] + steep[i] * n) > t[i])

    first, last = np.ones(p.size.size, np.int64), p.size.astype(np.int64) - 1
    return least(first, last, beyond).astype(np.float64)
