"""Closed forms of a clamped centre + scale * noise, elementwise over whole studies.

Y = clamp(T + s*Z, a, b) with a <= T <= b and a symmetric noise Z; s = 0 gives Y = T. With
M(r) = E min(|Z|, r),

    E (Y - T)+ = s/2 * M((b - T)/s),    E (Y - T)- = s/2 * M((T - a)/s),

and these two make the bias (their difference), E|Y - T| (their sum) and every E|Y - t|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from .elementary import quiet
from .noises import MOST, Noise


@dataclass(frozen=True, eq=False, repr=False)
class ClampedNoise:
    """The laws of Y for arrays of centres T and scales s, within the same bounds (a, b)."""

    noise: Noise
    centre: FloatArray
    scale: FloatArray
    bounds: tuple[float, float]

    def sides(self) -> tuple[FloatArray, FloatArray]:
        """E (Y - T)- and E (Y - T)+."""
        low, high = self.bounds
        return 0.5 * self._mean_min(self.centre - low), 0.5 * self._mean_min(high - self.centre)

    def bias(self) -> FloatArray:
        """E Y - T."""
        below, above = self.sides()
        return above - below

    def expected_error(self, truth: FloatArray | None = None) -> FloatArray:
        """E|Y - truth|; the truth is T by default."""
        below, above = self.sides()
        if truth is None:
            return below + above
        low, high = self.bounds
        gap = np.abs(np.clip(truth, low, high) - self.centre)
        inside = (below + above) + (gap - self._mean_min(gap))
        # Outside of the bounds all outputs lie on one side.
        over = (truth - self.centre) - (above - below)
        return np.where(truth > high, over, np.where(truth < low, -over, inside))

    @quiet
    def variance(self) -> FloatArray:
        """Var Y."""
        low, high = self.bounds
        below = self.noise.square_min(self._ratio(self.centre - low))
        above = self.noise.square_min(self._ratio(high - self.centre))
        mean = self.bias()
        square = self.scale * (self.scale * (0.5 * (below + above)))
        return np.where(self.scale > 0, np.maximum(square - mean * mean, 0.0), 0.0)

    def tails(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(Y <= x) and P(Y > x), each to its own digits."""
        half = 0.5 * self.noise.tail(self._ratio(np.abs(x - self.centre)))
        still = self.scale == 0.0
        half = np.where(still & (x != self.centre), 0.0, half)
        above = np.where((x < self.centre), 1.0 - half, np.where(still, 0.0, half))
        below = np.where((x < self.centre), half, np.where(still, 1.0, 1.0 - half))
        inside, over = x >= self.bounds[0], x >= self.bounds[1]
        below = np.where(inside, np.where(over, 1.0, below), 0.0)
        return below, np.where(inside, np.where(over, 0.0, above), 1.0)

    def before(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(Y < x) and P(Y >= x): by symmetry P(-Y > -x) and P(-Y <= -x)."""
        low, high = self.bounds
        mirrored = ClampedNoise(self.noise, -self.centre, self.scale, (-high, -low))
        at_least, less = mirrored.tails(-x)
        return less, at_least

    @quiet
    def _ratio(self, distance: FloatArray) -> FloatArray:
        """distance / scale, at most MOST; 0 if the distance is 0."""
        return np.where(distance > 0, np.minimum(distance / self.scale, MOST), 0.0)

    def _mean_min(self, distance: FloatArray) -> FloatArray:
        """E min(s*|Z|, distance)."""
        mean = self.scale * self.noise.mean_min(self._ratio(distance))
        return np.where(self.scale > 0, mean, 0.0)
