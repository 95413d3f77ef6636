"""Pieces on which a log-density is linear: their masses, means and variances.

Everything is measured from a piece's best end, where the loss is least, so that the density
falls: exp(-z*y) at distance y, z >= 0. A piece is a stretch of the line, of a width that may
be infinite, or a row of evenly spaced points, of a count, with distances in steps. With z
None all densities are constant. Nothing under- or overflows for z * size from 0 to infinity.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from math import factorial
from typing import Protocol, TypeAlias, TypeVar, cast

import numpy as np

from .._typing import AnyArray, FloatArray
from .elementary import exp, expm1, log, quiet

Fall: TypeAlias = FloatArray | None
Rule = TypeVar("Rule", bound=Callable[..., FloatArray])  # of a shape, falls and sizes

BLOCK = 1 << 14

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
    """z * y, where infinity times 0 is 0."""
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
def shares(
    z: Fall, flip: AnyArray | None, low: FloatArray, high: FloatArray, size: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The shares of mass in a piece's first `low` and last `high`; low + high = size.

    Each keeps its digits however small it is. `flip`: the best end is the right one.
    """
    if z is None or flip is None:
        return low / size, high / size
    below = near(z, low, size) * np.where(flip, exp(-times(z, high)), 1.0)
    above = near(z, high, size) * np.where(flip, 1.0, exp(-times(z, low)))
    return below, above


def _in_blocks(rule: Rule) -> Rule:
    """The same elementwise rule, block by block: its temporaries stay in the CPU's cache."""

    @wraps(rule)
    def run(shape: PieceShape, z: Fall, size: FloatArray) -> FloatArray:
        if z is None or size.size <= BLOCK:
            return rule(shape, z, size)
        out = np.empty(size.size)
        for i in range(0, size.size, BLOCK):
            out[i : i + BLOCK] = rule(shape, z[i : i + BLOCK], size[i : i + BLOCK])
        return out

    return cast("Rule", run)


class PieceShape(Protocol):
    """A stretch or a row of points; arguments are fall z and size, elementwise."""

    slack: float  # the distance between the last y and the next piece

    def log_weight(self, z: Fall, size: FloatArray) -> FloatArray:
        """ln of the integral or sum of exp(-z*y)."""
        ...

    def depth(self, z: Fall, size: FloatArray) -> FloatArray:
        """The mean of y."""
        ...

    def variance(self, z: Fall, size: FloatArray) -> FloatArray:
        """The variance of y."""
        ...

    def extent(self, size: FloatArray) -> FloatArray:
        """The greatest y."""
        ...


class Stretch:
    """An interval of the line; of infinite width only where z > 0."""

    slack: float = 0.0

    @_in_blocks
    @quiet
    def log_weight(self, z: Fall, size: FloatArray) -> FloatArray:
        """ln of the integral of exp(-z*y)."""
        if z is None:
            return log(size)
        return log(np.where(np.isinf(size), 1.0 / z, size * mean_weight(times(z, size))))

    @_in_blocks
    @quiet
    def depth(self, z: Fall, size: FloatArray) -> FloatArray:
        """The mean of y."""
        if z is None:
            return size / 2
        return np.where(np.isinf(size), 1.0 / z, size * centre(times(z, size)))

    @_in_blocks
    @quiet
    def variance(self, z: Fall, size: FloatArray) -> FloatArray:
        """The variance of y."""
        if z is None:
            return size**2 / 12
        inside = size * size * spread(times(z, size))
        return np.where(np.isinf(size), 1.0 / z**2, inside)

    def extent(self, size: FloatArray) -> FloatArray:
        """The width."""
        return size


class Points:
    """y = 0, 1, ..., size - 1, each with the mass exp(-z*y): a cut geometric law."""

    slack: float = 1.0

    @_in_blocks
    @quiet
    def log_weight(self, z: Fall, size: FloatArray) -> FloatArray:
        """ln of the sum of exp(-z*y)."""
        if z is None:
            return log(size)
        return log(size * (mean_weight(times(z, size)) / mean_weight(z)))

    @_in_blocks
    @quiet
    def depth(self, z: Fall, size: FloatArray) -> FloatArray:
        """The mean of y."""
        if z is None:
            return (size - 1) / 2
        whole = times(z, size)
        steep = 1.0 / expm1(z) - size / expm1(whole)
        return np.where(z < 1.0, size * centre(whole) - centre(z), steep)

    @_in_blocks
    @quiet
    def variance(self, z: Fall, size: FloatArray) -> FloatArray:
        """The variance of y."""
        if z is None:
            return (size - 1) * (size + 1) / 12
        whole = times(z, size)
        steep = _geometric_spread(z) - size * size * _geometric_spread(whole)
        smooth = size * size * spread(whole) - spread(z)
        return np.maximum(np.where(z < 1.0, smooth, steep), 0.0)

    def extent(self, size: FloatArray) -> FloatArray:
        """The distance of the last point from the first."""
        return size - 1
