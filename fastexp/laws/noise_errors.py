"""Closed forms of a clamped centre + scale * noise, elementwise over whole studies.

Y = clamp(T + s*Z, a, b) with a <= T <= b and a symmetric noise Z; s = 0 gives Y = T. With
M(r) = E min(|Z|, r),

    E (Y - T)+ = s/2 * M((b - T)/s),    E (Y - T)- = s/2 * M((T - a)/s),

and these two make the bias (their difference), E|Y - T| (their sum) and every E|Y - t|.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from .._typing import FloatArray
from .noises import MOST, Noise
from .pieces import quiet

Bounds: TypeAlias = tuple[float, float]


@quiet
def ratio(distance: FloatArray, scale: FloatArray) -> FloatArray:
    """distance / scale, at most MOST; 0 if the distance is 0."""
    return np.where(distance > 0, np.minimum(distance / scale, MOST), 0.0)


def mean_min(noise: Noise, distance: FloatArray, scale: FloatArray) -> FloatArray:
    """E min(s*|Z|, distance)."""
    return np.where(scale > 0, scale * noise.mean_min(ratio(distance, scale)), 0.0)


def sides(
    noise: Noise, centre: FloatArray, scale: FloatArray, bounds: Bounds
) -> tuple[FloatArray, FloatArray]:
    """E (Y - T)- and E (Y - T)+."""
    below = 0.5 * mean_min(noise, centre - bounds[0], scale)
    return below, 0.5 * mean_min(noise, bounds[1] - centre, scale)


def bias(noise: Noise, centre: FloatArray, scale: FloatArray, bounds: Bounds) -> FloatArray:
    """E Y - T."""
    below, above = sides(noise, centre, scale, bounds)
    return above - below


def expected_error(
    noise: Noise,
    centre: FloatArray,
    scale: FloatArray,
    bounds: Bounds,
    truth: FloatArray | None = None,
) -> FloatArray:
    """E|Y - truth|; the truth is T by default."""
    below, above = sides(noise, centre, scale, bounds)
    if truth is None:
        return below + above
    low, high = bounds
    at = np.clip(truth, low, high)
    gap = np.abs(at - centre)
    inside = (below + above) + (gap - mean_min(noise, gap, scale))
    # Outside of the bounds all outputs lie on one side.
    shift = above - below
    over = (truth - centre) - shift
    return np.where(truth > high, over, np.where(truth < low, -over, inside))


@quiet
def variance(noise: Noise, centre: FloatArray, scale: FloatArray, bounds: Bounds) -> FloatArray:
    """Var Y."""
    below = noise.square_min(ratio(centre - bounds[0], scale))
    above = noise.square_min(ratio(bounds[1] - centre, scale))
    mean = bias(noise, centre, scale, bounds)
    square = scale * (scale * (0.5 * (below + above)))
    return np.where(scale > 0, np.maximum(square - mean * mean, 0.0), 0.0)


def tails(
    noise: Noise, centre: FloatArray, scale: FloatArray, bounds: Bounds, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """P(Y <= x) and P(Y > x), each to its own digits."""
    half = 0.5 * noise.tail(ratio(np.abs(x - centre), scale))
    still = scale == 0.0
    half = np.where(still & (x != centre), 0.0, half)
    above = np.where((x < centre), 1.0 - half, np.where(still, 0.0, half))
    below = np.where((x < centre), half, np.where(still, 1.0, 1.0 - half))
    inside, over = x >= bounds[0], x >= bounds[1]
    below = np.where(inside, np.where(over, 1.0, below), 0.0)
    return below, np.where(inside, np.where(over, 0.0, above), 1.0)


def before(
    noise: Noise, centre: FloatArray, scale: FloatArray, bounds: Bounds, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """P(Y < x) and P(Y >= x): by symmetry P(-Y > -x) and P(-Y <= -x)."""
    at_least, less = tails(noise, -centre, scale, (-bounds[1], -bounds[0]), -x)
    return less, at_least
