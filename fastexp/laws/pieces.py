"""Pieces on which a log-density is linear: their masses, means, variances, and losses.

A piece is an interval, whose size is its width (it may be infinite), or a row of evenly spaced
points, whose size is their number; distances are then in steps. Distances y within a piece are
from its best end, where the loss is least, so that the density falls: exp(-|z|*y). This is the
right end if z < 0. With z None all densities are constant. Nothing under- or overflows for
|z| * size from 0 to infinity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import factorial
from typing import NamedTuple, TypeAlias

import numpy as np

from .._parameters.validate import MAX_EXACT
from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.bits.logexp import exp_fill
from ..kernels.numbers.density import running_products, sum_products
from .elementary import (
    LARGEST,
    Tails,
    exp,
    expm1,
    first_reaching,
    least,
    least_number,
    log,
    quiet,
    reached,
    sums,
)

Fall: TypeAlias = FloatArray | None

INTERVAL, POINTS = 0.0, 1.0  # the distance from a piece's last point to the next piece
PAIRS = 1 << 16  # pairs of a loss and a piece that are handled at a time
TINY = 2.0**-54  # exp(-TINY) is 1 to half an ulp
BERNOULLI = (
    *(Fraction(n, d) for n, d in ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730))),
    *(Fraction(n, d) for n, d in ((7, 6), (-3617, 510), (43867, 798), (-174611, 330))),
    *(Fraction(n, d) for n, d in ((854513, 138), (-236364091, 2730))),
)
# 1/(exp(z) - 1) = 1/z - 1/2 + sum of CENTRE[k] * z**(2k + 1); for z <= 1 to 2**-53.
CENTRE = tuple(float(b / factorial(2 * k + 2)) for k, b in enumerate(BERNOULLI))
SPREAD = tuple((2 * k + 1) * c for k, c in enumerate(CENTRE))


def times(z: FloatArray, y: FloatArray) -> FloatArray:
    """Return z * y, with 0 for infinity times 0."""
    return np.where((z > 0) & (y > 0), z * y, 0.0)


@quiet
def mean_weight(z: FloatArray) -> FloatArray:
    """The mean of exp(-z*y) over y in [0, 1]: (1 - exp(-z)) / z."""
    return np.where(z > TINY, -expm1(-z) / z, 1.0)


@quiet
def centre(z: FloatArray) -> FloatArray:
    """The mean of y on [0, 1] under the density exp(-z*y): 1/z - 1/(exp(z) - 1)."""
    series = 0.5 - z * _polynomial(CENTRE, np.minimum(z, 1.0) ** 2)
    return np.where(z < 1.0, series, 1.0 / z - 1.0 / expm1(z))


@quiet
def spread(z: FloatArray) -> FloatArray:
    """The variance of y on [0, 1] under the density exp(-z*y): 1/z**2 - 1/(2 sinh(z/2))**2."""
    series = _polynomial(SPREAD, np.minimum(z, 1.0) ** 2)
    return np.where(z < 1.0, series, (1.0 / z) ** 2 - _geometric_spread(z))


def _polynomial(coefficients: tuple[float, ...], x: FloatArray) -> FloatArray:
    total = np.zeros_like(x)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def _geometric_spread(z: FloatArray) -> FloatArray:
    return 1.0 / (expm1(z) * -expm1(-z))


@quiet
def near(z: Fall, y: FloatArray, size: FloatArray) -> FloatArray:
    """The share of a piece's mass within y of its best end; y <= size."""
    if z is None:
        return y / size
    whole = times(z, size)
    return np.where(whole > TINY, expm1(-times(z, y)) / expm1(-whole), y / size)


@quiet
def shares(z: Fall, low: FloatArray, high: FloatArray, size: FloatArray) -> Tails:
    """The shares of mass in a piece's first `low` and last `high`; low + high = size.

    Each keeps its digits however small it is.
    """
    if z is None:
        return low / size, high / size
    flip, z = z < 0, np.abs(z)
    below = near(z, low, size) * np.where(flip, exp(-times(z, high)), 1.0)
    above = near(z, high, size) * np.where(flip, 1.0, exp(-times(z, low)))
    return below, above


@quiet
def log_weight(z: Fall, size: FloatArray, step: float) -> FloatArray:
    """ln of the integral over a stretch, or of the sum over points, of exp(-z*y)."""
    if z is None:
        return log(size)
    z = np.abs(z)
    whole = np.where(np.isinf(size), 1.0 / z, size * mean_weight(times(z, size)))
    return log(whole / mean_weight(z) if step else whole)


@quiet
def depth(z: Fall, size: FloatArray, step: float) -> FloatArray:
    """The mean of y."""
    if z is None:
        return (size - step) / 2
    z = np.abs(z)
    whole = times(z, size)
    mean = np.where(np.isinf(size), 1.0 / z, size * centre(whole))
    if not step:
        return mean
    return np.where(z < 1.0, mean - centre(z), 1.0 / expm1(z) - size / expm1(whole))


@quiet
def variance(z: Fall, size: FloatArray, step: float) -> FloatArray:
    """The variance of y."""
    if z is None:
        return (size * size - step) / 12
    z = np.abs(z)
    whole = times(z, size)
    smooth = np.where(np.isinf(size), 1.0 / z**2, size * size * spread(whole))
    if not step:
        return smooth
    steep = _geometric_spread(z) - size * size * _geometric_spread(whole)
    return np.maximum(np.where(z < 1.0, smooth - spread(z), steep), 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class Pieces:
    """Pieces side by side, from left to right. Independent of epsilon; private data.

    `size` is a width or a number of points, `gap` the distance from a piece's start to the start
    of the next piece, and `slope` the change of the loss per unit of size (None: no change).
    `loss` is the least loss in a piece: at its left end, or at its right end if `slope` < 0.
    """

    step: float  # INTERVAL or POINTS
    size: FloatArray
    gap: FloatArray
    loss: FloatArray
    slope: FloatArray | None = None
    start: AnyArray = field(
        default_factory=lambda: np.empty(0)
    )  # the left ends, or the indices of first points
    best: float = 0.0  # the best utility

    def take(self, at: IntArray) -> Pieces:
        """Return the pieces with these indices."""
        slope = None if self.slope is None else self.slope[at]
        return Pieces(self.step, self.size[at], self.gap[at], self.loss[at], slope)


def mirrored(z: Fall) -> Fall:
    """Return z as seen from the other side; a constant density is symmetric."""
    return None if z is None else -z


class PiecePosition(NamedTuple):
    """The positions of numbers x: the piece, its size up to x (included), and its size above x."""

    piece: IntArray
    low: FloatArray
    high: FloatArray


class Distances(NamedTuple):
    """Distances from numbers x to the ends of their pieces and to the nearest points."""

    before: FloatArray  # from the piece's start to x
    after: FloatArray  # from x to the next piece's start
    over: FloatArray  # from the last point of the part below to x
    under: FloatArray  # from x to the first point of the part above


class Weights:
    """Masses exp(-rate * loss) of pieces, normalised; sums from either end keep their digits."""

    @quiet
    def __init__(self, pieces: Pieces, rate: float) -> None:
        """`fall` is the rate at which log-densities fall from the best ends.

        `masses` are the probabilities of pieces, `below` those of the pieces before k = 0, ..., m,
        and `log_total` is ln of the sum of all masses.
        """
        self.pieces = p = pieces
        self.fall: Fall = None if p.slope is None else np.asarray(rate * p.slope)
        masses = log_weight(self.fall, p.size, p.step)
        masses -= rate * p.loss
        lift = float(masses.max())
        masses -= lift
        exp_fill(masses, masses)
        below = sums(masses)
        total = below[-1:].copy()
        below /= total  # exactly 1 if no mass follows
        masses /= total
        self.masses, self.below = masses, below
        self.log_total = lift + float(log(total)[0])

    @cached_property
    def above(self) -> FloatArray:
        """P(pieces from k on), k = 0, ..., m."""
        above = sums(self.masses, back=True)
        above /= above[0]
        return above

    @cached_property
    def depth(self) -> FloatArray:
        """The mean distance from each piece's best end."""
        return depth(self.fall, self.pieces.size, self.pieces.step)

    @property
    def variance(self) -> FloatArray:
        """The variance within each piece."""
        return variance(self.fall, self.pieces.size, self.pieces.step)

    @quiet
    def _from_left(self, depth: FloatArray, size: FloatArray, z: Fall) -> FloatArray:
        if z is None:
            return depth
        return np.where(z < 0, size - self.pieces.step - depth, depth)

    @cached_property
    def short(self) -> FloatArray:
        """E max(0, start of piece k - X), k = 0, ..., m: sums of terms >= 0."""
        p, out = self.pieces, np.empty(self.below.size)
        rest = self._from_left(self.depth, p.size, mirrored(self.fall))  # from means to last points
        slack = p.step  # from a piece's last point to the next one's first
        if p.gap is not p.size:
            slack, rest = 0.0, p.gap + rest
        running_products(self.below[:-1], p.gap, self.masses, rest, slack, 0, out)
        return out

    @cached_property
    def excess(self) -> FloatArray:
        """E max(0, X - start of piece k), k = 0, ..., m: sums of terms >= 0."""
        p, out = self.pieces, np.empty(self.above.size)
        rest = self._from_left(self.depth, p.size, self.fall)  # from first points to means
        running_products(self.above[1:], p.gap, self.masses, rest, 0.0, 1, out)
        return out

    @quiet
    def split(self, at: PiecePosition) -> Tails:
        """P(X <= x) and P(X > x)."""
        p = self.pieces.take(at.piece)
        fall = None if self.fall is None else self.fall[at.piece]
        low, high = shares(fall, at.low, at.high, p.size)
        mass, k = self.masses[at.piece], at.piece
        below = np.minimum(self.below[k] + mass * low, self.below[k + 1])
        above = np.minimum(self.above[k + 1] + mass * high, self.above[k])
        # The ends exactly, so that the sums of pieces never contradict those inside them.
        below = np.where(at.high > 0, np.where(at.low > 0, below, self.below[k]), self.below[k + 1])
        above = np.where(at.low > 0, np.where(at.high > 0, above, self.above[k + 1]), self.above[k])
        return below, above

    @quiet
    def error(self, at: PiecePosition, x: Distances) -> FloatArray:
        """Return E|X - x|; the piece that holds x is cut at x."""
        k, p = at.piece, self.pieces.take(at.piece)
        fall = None if self.fall is None else self.fall[k]
        low, high = shares(fall, at.low, at.high, p.size)
        left = x.over + self._from_left(depth(fall, at.low, p.step), at.low, mirrored(fall))
        right = x.under + self._from_left(depth(fall, at.high, p.step), at.high, fall)
        inside = np.where(low > 0, low * left, 0.0) + np.where(high > 0, high * right, 0.0)
        sides = np.where(self.below[k] > 0, self.below[k] * x.before, 0.0)
        sides += np.where(self.above[k + 1] > 0, self.above[k + 1] * x.after, 0.0)
        outside = self.short[k] + self.excess[k + 1] + sides
        return np.asarray(outside + self.masses[k] * inside)

    def find(self, p: FloatArray) -> IntArray:
        """Return the first piece with P(X <= x) >= p at its end."""
        return first_reaching(self.below[1:], self.above[1:], p)


class Losses:
    """The losses of pieces in units of the utility, sorted by least and by greatest loss.

    Independent of epsilon. `sloped`: the indices of pieces with more than one loss.
    """

    @quiet
    def __init__(self, pieces: Pieces, unit: Fraction = Fraction(1)) -> None:
        most, (n, d) = pieces.loss, unit.as_integer_ratio()
        if pieces.slope is not None:
            most = most + np.abs(pieces.slope) * (pieces.size - pieces.step)
        greatest = float(most[np.isfinite(most)].max(initial=1.0))
        exact = max(n, d) <= MAX_EXACT and greatest <= LARGEST / (n + d)
        self._factor, self._part = (float(n), float(d)) if exact else (float(unit), 1.0)
        self.pieces, low, high = pieces, self.in_units(pieces.loss), self.in_units(most)
        self.by_low = self.by_high = np.argsort(low, kind="stable")
        self.sloped: IntArray = np.flatnonzero(high > low)
        if self.sloped.size:
            self.by_high = np.argsort(high, kind="stable")
        self.lows, self.highs = low[self.by_low], high[self.by_high]
        self.low, self.high = low[self.sloped], high[self.sloped]

    @quiet
    def in_units(self, x: FloatArray) -> FloatArray:
        """Convert losses to units of the utility; rounded once if both factors are exact."""
        return x * self._factor / self._part

    @quiet
    def reach(self, p: Pieces, t: FloatArray) -> FloatArray:
        """Return the size of the part of sloped pieces with a loss <= t, less than the whole."""
        steep: FloatArray = np.abs(np.asarray(p.slope))
        if not p.step:
            return np.clip((t * self._part / self._factor - p.loss) / steep, 0.0, p.size)
        first, last = np.ones(p.size.size, np.int64), p.size.astype(np.int64) - 1
        number = least(first, last, lambda n, i: self.in_units(p.loss[i] + steep[i] * n) > t[i])
        return number.astype(np.float64)


class LossSums:
    """The distribution of losses at one rate; `weights` are needed if pieces are sloped."""

    def __init__(self, losses: Losses, masses: FloatArray, weights: Weights | None = None) -> None:
        self._losses, self._masses, self._weights = losses, masses, weights

    @cached_property
    def _below(self) -> FloatArray:
        """P(the first k pieces by greatest loss), k = 0, ..., m."""
        return sums(self._masses[self._losses.by_high])

    @cached_property
    def _above(self) -> FloatArray:
        """P(the pieces from k on by least loss), k = 0, ..., m."""
        return sums(self._masses[self._losses.by_low], back=True)

    @quiet
    def mean(self) -> float:
        """The expected loss, in units of the utility."""
        p = self._losses.pieces
        mean = float(sum_products(self._masses, p.loss))
        if self._weights is not None and p.slope is not None:
            steep = np.abs(p.slope)
            mean += float(sum_products(self._masses, steep * self._weights.depth))
        return float(self._losses.in_units(np.array([mean]))[0])

    def at(self, t: FloatArray) -> Tails:
        """P(loss <= t) and P(loss > t), each summed on its own side."""
        losses = self._losses
        below = self._below[np.searchsorted(losses.highs, t, "right")]
        above = self._above[np.searchsorted(losses.lows, t, "right")]
        if losses.sloped.size:
            rows = max(1, PAIRS // losses.sloped.size)
            for i in range(0, t.size, rows):
                part = slice(i, i + rows)
                low, high = self._cut(t[part])
                below[part] += low
                above[part] += high
        return np.minimum(below, 1.0), np.minimum(above, 1.0)

    @quiet
    def _cut(self, t: FloatArray) -> Tails:
        """P(loss <= t) and P(loss > t) within those pieces that have losses on both sides."""
        losses, fall = self._losses, None if self._weights is None else self._weights.fall
        row, number = np.nonzero((losses.low <= t[:, None]) & (losses.high > t[:, None]))
        cut = losses.sloped[number]
        if fall is None or not cut.size:
            return np.zeros(t.size), np.zeros(t.size)
        p, z, masses = losses.pieces.take(cut), np.abs(fall[cut]), self._masses[cut]
        y = losses.reach(p, t[row])
        low = masses * near(z, y, p.size)
        high = masses * exp(-np.where(y > 0, z * y, 0.0)) * near(z, p.size - y, p.size)
        at_most, above = np.bincount(row, low, t.size), np.bincount(row, high, t.size)
        return np.asarray(at_most, np.float64), np.asarray(above, np.float64)

    def quantile(self, p: FloatArray) -> FloatArray:
        """The least loss t with P(loss <= t) >= p."""
        losses = self._losses
        if not losses.sloped.size:
            return losses.highs[first_reaching(self._below[1:], self._above[1:], p)]
        most = np.full(p.shape, losses.highs[-1])
        ways = max(2, PAIRS // (4 * losses.sloped.size + 1))  # each costs a pass over sloped pieces
        loss = least_number(most, lambda t, i: reached(*self.at(t), p[i]), min(ways, 256))
        return np.where((p == 1.0) & np.isinf(most), np.inf, loss)
