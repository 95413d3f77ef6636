"""Laplace noise around a statistic: the statistic itself, and draws of grid points around it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor, isfinite
from numbers import Rational
from typing import Any, Self

import numpy as np

from .._parameters import validate
from .._parameters.foreign import readable
from .._parameters.grid import INT64, Grid
from .._randomness.streams import AGAIN, ROUND, ROW, seeds_of, stream_of, tagged
from .._selection.weighting import Weighting
from .._typing import AnyArray, IntArray, WordArray
from ..errors import InvalidRecords, ParameterTypeError
from . import cells
from .cells import Simulation
from .laplace_cells import FAR, ZERO, LaplaceShape

FINEST = 1 << 42  # multiples of a step to an e-fold; beyond, doubles would not tell them apart
MOST = 1 << 1000  # far from where doubles end
SMALLEST = -1500  # decimal places that a Decimal may have
NOT_A_NUMBER = "f must be one number: an int, a float, a Decimal or a Fraction"
NOT_FINITE = "f must be finite, of a magnitude of at most 2**1000"


def statistic(f: Any) -> Fraction:
    """The exact number that a statistic is; messages say nothing of it."""
    readable(f, "f")
    scalar = isinstance(f, np.generic) or (isinstance(f, np.ndarray) and f.ndim == 0)
    value = f.item() if scalar and not isinstance(f, np.ma.MaskedArray) else f
    if isinstance(value, bool) or (scalar and f.dtype.kind not in "iufO"):  # a duration is an int
        raise ParameterTypeError(NOT_A_NUMBER)
    if isinstance(value, (float, np.floating)):
        ordinary = isfinite(value)
    elif isinstance(value, Decimal):
        ordinary = value.is_finite() and SMALLEST < int(value.as_tuple().exponent) <= -SMALLEST
    elif isinstance(value, Rational):
        ordinary = True
    else:
        raise ParameterTypeError(NOT_A_NUMBER)
    exact = validate.as_fraction(value) if ordinary else Fraction(2 * MOST)
    if abs(exact) > MOST:
        raise InvalidRecords(NOT_FINITE)
    return exact


class Truth:
    """Where a statistic lies among the points that can be released. Private data.

    `grid` is all of them, or if `endless` any part of them; a statistic is clamped to its ends.
    """

    __slots__ = ("below", "endless", "grid", "phase")
    below: int
    endless: bool
    grid: Grid
    phase: Fraction

    def __init__(self, f: Fraction, grid: Grid, *, endless: bool) -> None:
        self.grid, self.endless = grid, endless
        a, s, d = grid.unit
        x = (f * d - a) / s
        x = x if endless else min(max(x, ZERO), Fraction(grid.size - 1))
        self.below = floor(x)
        self.phase = x - self.below

    def shape(self, weighting: Weighting) -> LaplaceShape:
        """The cells around it."""
        if self.endless:
            return LaplaceShape(self.phase, weighting, None, None)
        left = self.below + 1
        return LaplaceShape(self.phase, weighting, left, self.grid.size - left)

    def window(self, low: int, high: int) -> Grid:
        """The points from `low` to `high`, counted from the one below the statistic."""
        a, s, d = self.grid.unit
        first, size, whole = a + (self.below + low) * s, high - low + 1, self.grid.whole
        if whole and not (first in INT64 and first + (size - 1) * s in INT64):
            raise InvalidRecords("f must be so small that all draws fit into int64")
        return Grid(size, whole, (first, s, d), None, ("part", first, s, d, size, whole))

    def values(self, index: IntArray) -> AnyArray:
        """Points as they are released, from indices counted from the one below."""
        if not self.endless:
            return np.asarray(self.grid.values(index + self.below))
        low, high = int(index.min(initial=0)), int(index.max(initial=1))
        return np.asarray(self.window(low, high).values(index - low))


class LaplaceSampler:
    """Draws around a statistic at one rate. Private data."""

    __slots__ = ("truth", "weighting")
    truth: Truth
    weighting: Weighting

    def __init__(self, truth: Truth, weighting: Weighting) -> None:
        self.truth, self.weighting = truth, weighting

    def with_rate(self, rate: Fraction) -> Self:
        """The same statistic at another rate."""
        return type(self)(self.truth, self.weighting.with_rate(rate))

    def release(self) -> int | float:
        """One number, from the operating system's randomness."""
        shape, far = self.truth.shape(self.weighting), 0
        while (index := cells.release(shape)) >= FAR:
            far += shape.block
        return self.truth.grid.value(self.truth.below + index + (far if index > 0 else -far))

    def sample(
        self, size: object, rng: object, streams: object, threads: object, method: object
    ) -> Any:
        """Reproducible numbers; see the mechanism's `sample`."""
        way = validate.method(method)
        draws, workers = validate.size(size), validate.threads(threads)
        seeds = seeds_of(rng, validate.streams(streams, 1))
        index = simulate(self.truth.shape(self.weighting), draws, seeds, workers, way)
        numbers = self.truth.values(index)
        return numbers[0].item() if draws is None else numbers


def simulate(
    shape: LaplaceShape, size: int | None, seeds: WordArray, threads: int, way: str
) -> IntArray:
    """Indices; draws that have started afresh r times take streams of a key of their own."""
    index = Simulation(shape, seeds, threads, way).draw(size)
    if index.max(initial=0) < FAR:
        return index
    far, number = np.zeros_like(index), 0
    while (again := np.flatnonzero(index >= FAR)).size:
        number += 1
        key = stream_of(tagged(seeds, AGAIN | number << ROUND), 0)
        fresh_seeds = np.concatenate([key, np.array([ROW], np.uint64), seeds[3:]])
        far[again] += shape.block
        index[again] = Simulation(shape, fresh_seeds, threads, way).draw(again.size)
    return np.where(index > 0, index + far, index - far)
