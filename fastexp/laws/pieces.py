"""The masses of a row of pieces at one rate, and what follows from them at the pieces' ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..kernels.bits.logexp import exp_fill
from ..kernels.numbers.density import running_products
from .elementary import least, log, quiet, sums
from .piece_shapes import Fall, PieceShape, shares


@dataclass(frozen=True, eq=False, repr=False)
class Pieces:
    """Pieces side by side, from left to right. Independent of epsilon; private data.

    `size` is a width or a count of points and `gap` the distance from a piece's start to the
    next one's; `loss` is the least loss in a piece, `steep` its growth for a unit of size
    away from there, `flip` whether that least loss is at the right end. None: no growth.
    """

    shape: PieceShape
    size: FloatArray
    gap: FloatArray
    loss: FloatArray
    steep: FloatArray | None = None
    flip: AnyArray | None = None

    @cached_property
    def log_size(self) -> FloatArray:
        """ln of the size, the log-mass at rate 0."""
        return log(self.size)

    @cached_property
    def middle(self) -> FloatArray:
        """From the first point to the mean at rate 0, and from there to the last."""
        return self.shape.depth(None, self.size)

    @cached_property
    def variance(self) -> FloatArray:
        """The variance at rate 0."""
        return self.shape.variance(None, self.size)

    @cached_property
    def slack(self) -> FloatArray | float:
        """From a piece's last point to the next one's first."""
        return self.shape.slack if self.gap is self.size else self.gap

    def some(self, at: IntArray) -> Pieces:
        """The pieces of these numbers."""
        steep = None if self.steep is None else self.steep[at]
        flip = None if self.flip is None else self.flip[at]
        return Pieces(self.shape, self.size[at], self.gap[at], self.loss[at], steep, flip)


class Place(NamedTuple):
    """Where numbers x lie: the piece, and its sizes up to x (included) and beyond x."""

    piece: IntArray
    low: FloatArray
    high: FloatArray


class Distances(NamedTuple):
    """From numbers x to the ends of their pieces, and to the nearest points on either side."""

    before: FloatArray  # from the piece's start to x
    after: FloatArray  # from x to the next piece's start
    over: FloatArray  # from the last point of the part below to x
    under: FloatArray  # from x to the first point of the part above


class Weights:
    """Masses exp(-rate * loss) of pieces, normalised; sums from either end keep their digits."""

    pieces: Pieces
    rate: float

    def __init__(self, pieces: Pieces, rate: float) -> None:
        self.pieces, self.rate = pieces, rate

    @cached_property
    def fall(self) -> Fall:
        """How fast log-densities fall from the best ends."""
        if self.pieces.steep is None:
            return None
        with np.errstate(over="ignore"):
            return np.asarray(self.rate * self.pieces.steep)

    @cached_property
    @quiet
    def _raw(self) -> tuple[FloatArray, FloatArray, float]:
        """(probabilities of pieces, of those before k = 0, ..., m, ln of the sum of masses)."""
        p = self.pieces
        logs = p.log_size if p.steep is None else p.shape.log_weight(self.fall, p.size)
        masses = self.rate * p.loss
        np.subtract(logs, masses, out=masses)
        lift = float(masses.max())
        masses -= lift
        exp_fill(masses, masses)
        below = sums(masses)
        total = below[-1:].copy()
        below /= total  # exactly 1 where nothing follows
        masses /= total
        return masses, below, lift + float(log(total)[0])

    @property
    def log_total(self) -> float:
        """ln of the sum of all masses."""
        return self._raw[2]

    @property
    def masses(self) -> FloatArray:
        """The probability of each piece."""
        return self._raw[0]

    @property
    def below(self) -> FloatArray:
        """P(pieces before k), k = 0, ..., m."""
        return self._raw[1]

    @cached_property
    def above(self) -> FloatArray:
        """P(pieces from k on), k = 0, ..., m."""
        above = sums(self.masses, back=True)
        above /= above[0]
        return above

    @cached_property
    def depth(self) -> FloatArray:
        """The mean distance from each piece's best end."""
        if self.fall is None:
            return self.pieces.middle
        return self.pieces.shape.depth(self.fall, self.pieces.size)

    @property
    def variance(self) -> FloatArray:
        """The variance within each piece."""
        if self.fall is None:
            return self.pieces.variance
        return self.pieces.shape.variance(self.fall, self.pieces.size)

    @cached_property
    def to_left(self) -> FloatArray:
        """From each piece's first point to its mean."""
        return self._from_left(self.depth, self.pieces.size, self.pieces.flip)

    @cached_property
    def to_right(self) -> FloatArray:
        """From each piece's mean to its last point."""
        if self.pieces.flip is None:
            return self.pieces.middle
        return self._from_left(self.depth, self.pieces.size, ~self.pieces.flip)

    @quiet
    def _from_left(self, depth: FloatArray, size: FloatArray, flip: AnyArray | None) -> FloatArray:
        if flip is None:
            return depth
        return np.where(flip, self.pieces.shape.extent(size) - depth, depth)

    @cached_property
    def short(self) -> FloatArray:
        """E max(0, start of piece k - X), k = 0, ..., m: sums of terms >= 0."""
        p, out = self.pieces, np.empty(self.below.size)
        slack, rest = p.slack, self.to_right
        if not isinstance(slack, float):
            slack, rest = 0.0, slack + rest
        running_products(self.below[:-1], p.gap, self.masses, rest, slack, 0, out)
        return out

    @cached_property
    def excess(self) -> FloatArray:
        """E max(0, X - start of piece k), k = 0, ..., m: sums of terms >= 0."""
        p, out = self.pieces, np.empty(self.above.size)
        running_products(self.above[1:], p.gap, self.masses, self.to_left, 0.0, 1, out)
        return out

    @quiet
    def split(self, at: Place) -> tuple[FloatArray, FloatArray]:
        """P(X <= x) and P(X > x)."""
        p = self.pieces.some(at.piece)
        fall = None if self.fall is None else self.fall[at.piece]
        low, high = shares(fall, p.flip, at.low, at.high, p.size)
        mass, k = self.masses[at.piece], at.piece
        below = np.minimum(self.below[k] + mass * low, self.below[k + 1])
        above = np.minimum(self.above[k + 1] + mass * high, self.above[k])
        # The ends exactly, so that the sums of pieces never contradict those inside them.
        below = np.where(at.high > 0, np.where(at.low > 0, below, self.below[k]), self.below[k + 1])
        above = np.where(at.low > 0, np.where(at.high > 0, above, self.above[k + 1]), self.above[k])
        return below, above

    @quiet
    def error(self, at: Place, x: Distances) -> FloatArray:
        """E|X - x|: a piece that holds x is cut there."""
        k, p = at.piece, self.pieces.some(at.piece)
        fall = None if self.fall is None else self.fall[k]
        low, high = shares(fall, p.flip, at.low, at.high, p.size)
        depth = self.pieces.shape.depth
        mirror = None if p.flip is None else ~p.flip  # a constant density is symmetric
        left = x.over + self._from_left(depth(fall, at.low), at.low, mirror)
        right = x.under + self._from_left(depth(fall, at.high), at.high, p.flip)
        inside = np.where(low > 0, low * left, 0.0) + np.where(high > 0, high * right, 0.0)
        sides = np.where(self.below[k] > 0, self.below[k] * x.before, 0.0)
        sides += np.where(self.above[k + 1] > 0, self.above[k + 1] * x.after, 0.0)
        outside = self.short[k] + self.excess[k + 1] + sides
        return np.asarray(outside + self.masses[k] * inside)

    def find(self, p: FloatArray) -> IntArray:
        """The first piece at whose end P(X <= x) >= p, as `elementary.reached` decides."""
        k = np.searchsorted(self.below[1:-1], np.minimum(p, 0.5), "left").astype(np.int64)
        last = np.full(k.shape, self.masses.size - 1)
        rest = 1.0 - p
        return np.where(p > 0.5, least(k, last, lambda i, j: self.above[i + 1] <= rest[j]), k)
