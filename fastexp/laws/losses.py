"""The loss of a law of numbers: its distribution function, from either end."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.density import sum_products
from .pieces import Points, exp, least, near, quiet, sums
from .weights import Pieces, Weights

EXACT = 1 << 53  # integers up to here are doubles
LARGEST = float(np.finfo(np.float64).max)
PAIRS = 1 << 16  # of a loss and a piece, at a time


class Units:
    """Losses as the integers, or the numbers, that pieces have, and in units of the utility."""

    __slots__ = ("_factor", "_part")

    def __init__(self, unit: Fraction, greatest: float) -> None:
        n, d = unit.numerator, unit.denominator
        simple = n <= EXACT and d <= EXACT and greatest <= LARGEST / (n + d)
        self._factor, self._part = (float(n), float(d)) if simple else (float(unit), 1.0)

    @quiet
    def utility(self, x: FloatArray) -> FloatArray:
        """In units of the utility; rounded once where both factors are exact."""
        return x * self._factor / self._part

    @quiet
    def own(self, t: FloatArray) -> FloatArray:
        """In the pieces' own unit."""
        return t * self._part / self._factor


class Losses:
    """The losses of pieces, those of constant loss sorted. Independent of epsilon."""

    def __init__(self, pieces: Pieces, unit: Fraction) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            steep, extent = pieces.steep, pieces.shape.extent(pieces.size)
            most = pieces.loss if steep is None else pieces.loss + steep * extent
        finite = most[np.isfinite(most)]
        self.pieces, self.units = pieces, Units(unit, float(finite.max(initial=1.0)))
        self._low, self._high = self.units.utility(pieces.loss), self.units.utility(most)
        sloped = self._high > self._low
        flat = np.flatnonzero(~sloped)
        self.order = flat[np.argsort(self._low[flat], kind="stable")]
        self.flat = self._low[self.order]
        self.sloped = np.flatnonzero(sloped)
        self.low, self.high = self._low[self.sloped], self._high[self.sloped]

    @property
    def greatest(self) -> float:
        """The greatest loss, in units of the utility."""
        return float(self._high.max())


class LossSums:
    """P(loss <= t) and P(loss > t) at one rate."""

    def __init__(self, losses: Losses, weights: Weights) -> None:
        self._losses, self._weights = losses, weights

    @cached_property
    def _flat(self) -> tuple[FloatArray, FloatArray]:
        masses = self._weights.masses[self._losses.order]
        return sums(masses), sums(masses, back=True)

    @cached_property
    def _sloped(self) -> tuple[FloatArray, FloatArray]:
        fall, at = self._weights.fall, self._losses.sloped
        if fall is None:
            return np.empty(0), np.empty(0)
        return self._weights.masses[at], fall[at]

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
        found = np.searchsorted(self._losses.flat, t, "right")
        below, above = self._flat[0][found], self._flat[1][found]
        if self._losses.sloped.size:
            lows, highs = self._sloped_at(t)
            below, above = below + lows, above + highs
        return np.minimum(below, 1.0), np.minimum(above, 1.0)

    def _sloped_at(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        rows = max(1, PAIRS // self._losses.sloped.size)
        parts = [self._some(t[i : i + rows]) for i in range(0, max(t.size, 1), rows)]
        below, above = zip(*parts, strict=True)
        return np.concatenate(below), np.concatenate(above)

    @quiet
    def _some(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sums at some t: of pieces that lie on one side, and parts of those that t cuts."""
        losses, (masses, fall) = self._losses, self._sloped
        done, later = losses.high <= t[:, None], losses.low > t[:, None]
        row, cut = np.nonzero(~(done | later))
        p = losses.pieces.some(losses.sloped[cut])
        y, z = self._reach(p, t[row]), fall[cut]
        low = masses[cut] * near(z, y, p.size)
        high = masses[cut] * exp(-np.where(y > 0, z * y, 0.0)) * near(z, p.size - y, p.size)
        below = (done * masses).sum(axis=1) + np.bincount(row, low, t.size)
        above = (later * masses).sum(axis=1) + np.bincount(row, high, t.size)
        return below, above

    def _reach(self, p: Pieces, t: FloatArray) -> FloatArray:
        """How much of these pieces, from their best ends, has a loss <= t; not all of it."""
        units, steep = self._losses.units, p.steep
        if steep is None:  # for the type checker: sloped pieces have one
            return p.size
        if not isinstance(p.shape, Points):
            return np.clip((units.own(t) - p.loss) / steep, 0.0, p.size)

        def beyond(n: IntArray, i: IntArray) -> AnyArray:
            return np.asarray(units.utility(p.loss[i] + steep[i] * n) > t[i])

        first, last = np.ones(p.size.size, np.int64), p.size.astype(np.int64) - 1
        return least(first, last, beyond).astype(np.float64)
