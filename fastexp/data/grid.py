"""Public grids: the numbers that can be released, and the point at which a record counts.

Both maps are fixed: they do not depend on other records, and so reveal nothing about them. A
released number is computed from its index alone. A record counts at the nearest point; half-way
between two points, at the one of even index.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, frexp, lcm
from typing import Any

import numpy as np

from ..errors import ParameterError, ParameterTypeError
from ..kernels.places import EDGES, LAST
from ..parameters import checks
from ..types import Array, Floats, Integers

FARTHEST = 1 << 40  # steps from 0 to the farthest point: see `kernels/places.py`
BEYOND = 1 << 62  # is larger than all points that are integers
LEAST, MOST = 1e-290, 1e290  # sizes of listed points: their sums and halves are normal doubles
DECADES = range(-12, 15)  # of positive numbers: from 1e-12 to below 1e15


@dataclass(frozen=True)
class Grid:
    """Points (start + t * step) / parts, t = 0, ..., size - 1, in increasing order.

    Point t is released as the nearest double, or as an integer if bounds and step are integers.
    """

    size: int
    is_whole: bool
    start: int
    step: int
    parts: float

    @cached_property
    def form(self) -> Floats:
        """The grid as `kernels/places.py` takes it."""
        low, high, last = self.value(0), self.value(self.size - 1), self.size - 1
        first, step, parts = 2 * self.start - self.step, 2 * self.step, 2 * self.parts
        return np.array((first, step, parts, low, high, last / (high - low), last), np.float64)

    def value(self, t: int) -> int | float:
        """Return point t, as it is released."""
        number = self.start + t * self.step
        return number if self.is_whole else number / self.parts  # rounded once

    def values(self, t: Any) -> Array:
        """Return points t, int64 or float64."""
        numbers: Array = self.start + t * self.step
        return numbers if self.is_whole else numbers / float(self.parts)  # rounded once

    def shown(self, t: Any) -> Any:
        """Return points t as outcomes are shown, one as a number of Python's."""
        numbers = self.values(t)
        return numbers if numbers.ndim else numbers.item()

    def numbers(self, x: Any) -> Array:
        """Return outcomes, or others of their kind, as numbers, in their shape."""
        numbers = checks.numbers_of("x", x)
        if not self.is_whole or numbers.dtype.kind == "f":
            return numbers
        near = np.minimum(numbers, BEYOND).astype(np.int64)  # differences do not wrap around
        return np.asarray(np.maximum(near, -BEYOND))

    @property
    def width(self) -> float:
        """The distance of two points; of listed ones 0."""
        return self.step / self.parts

    def offsets(self, t: Any, x: Any) -> Floats:
        """Return points t less a number: small distances keep their digits."""
        near = self.near(x)
        offsets: Floats = (t - near) * self.width + (self.values(near) - x)
        return offsets

    def last(self, x: Any, offset: Any = 0.0) -> Integers:
        """Return the last point of at most such an offset from a number; -1 if there is none."""
        end = self.size - 1

        def reached(t: Integers) -> Array:
            near = self.offsets(np.minimum(np.maximum(t, 0), end), x) <= offset
            inside: Array = (t < 0) | ((t <= end) & near)
            return inside

        low: Integers = np.clip(self._guess(x, offset), -1, end).astype(np.int64)
        high, step = low + 1, 1  # far from all points, a guess is off by many of them
        while (beyond := ~reached(low)).any():
            low, high, step = (
                np.where(beyond, low - step, low),
                np.where(beyond, low, high),
                2 * step,
            )
        while (within := reached(high)).any():
            low, high, step = (
                np.where(within, high, low),
                np.where(within, high + step, high),
                2 * step,
            )
        while (high - low > 1).any():
            middle = (low + high) // 2
            within = reached(middle)
            low, high = np.where(within, middle, low), np.where(within, high, middle)
        return np.maximum(low, -1)

    def near(self, x: Any) -> Any:
        """Return the number of the point nearest to a number.

        Of 2**53 points the scale finds one that is near, from which the others are counted.
        """
        low, high = self.value(0), self.value(self.size - 1)
        scale = (self.size - 1) / (high - low)
        if isinstance(x, float):  # a fifth of the time
            x = min(max(x, low), high)
            first = round((x - low) * scale)
            return first + round((x - self.value(first)) / self.width)
        x = x.clip(low, high)
        near: Integers = np.rint((x - low) * scale).astype(np.int64)
        near += np.rint((x - self.values(near)) / self.width).astype(np.int64)
        return near

    def _guess(self, x: Any, offset: Any) -> Any:
        near = self.near(x)
        with np.errstate(over="ignore"):
            return near + np.floor((offset - (self.values(near) - x)) / self.width)


@dataclass(frozen=True, eq=False)
class Listing(Grid):
    """Points as they were listed, int64 or float64."""

    points: Array

    def __eq__(self, other: object) -> bool:
        """Whether the other is a list of the same points."""
        return isinstance(other, Listing) and np.array_equal(self.points, other.points)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def form(self) -> Floats:
        """The grid as `kernels/places.py` takes it, with the least double of each point.

        That is half the sum of the point and the one before, or the next double: an odd point does
        not take what lies half-way. TwoSum (Knuth) gives what the sum's rounding lost.
        """
        points = self.points.astype(np.float64)
        left, right = points[:-1], points[1:]
        total = left + right
        back = total - left
        lost = (left - (total - back)) + (right - back)
        is_odd = np.arange(left.size) % 2 == 0  # the first of them is point 1
        beyond = (lost > 0) | ((lost == 0) & is_odd)
        edges = np.where(beyond, np.nextafter(total / 2, np.inf), total / 2)
        head = np.zeros(EDGES)
        head[LAST] = left.size
        return np.concatenate([head, [-np.inf], edges])

    def value(self, t: int) -> int | float:
        """Return point t, as it is released."""
        number: int | float = self.points[t].item()
        return number

    def values(self, t: Any) -> Array:
        """Return points t, int64 or float64."""
        numbers: Array = self.points[t]
        return numbers

    width = 0.0

    def offsets(self, t: Any, x: Any) -> Floats:
        """Return points t less a number."""
        offsets: Floats = self.points[t] - x
        return offsets

    def _guess(self, x: Any, offset: Any) -> Any:
        return np.searchsorted(self.points, x + offset, "right") - 1


def make_grid(bounds: Any, step: Any, points: Any = None, exact: Any = ()) -> Grid:
    """Return the grid of listed points, or from the lower to the upper bound by a step.

    Bounds and step are read as printed decimals. Without a step, points are the multiples of a
    power of two between the bounds: the least one of which the farther bound is at most 2**40 steps
    from 0. Bounds and step that are no numbers come with the integers that they are.

    Raises
    ------
    ParameterError, ParameterTypeError
        If they do not fit together, or have too many digits or points.
    """
    if points is not None and bounds is None and step is None:
        return _listing(points)
    if points is not None or bounds is None:
        raise ParameterTypeError(
            "bounds, two public numbers (lower, upper) chosen without the data, or grid must be "
            "given, and not both; if you know no bounds, give grid=fx.digits(3)"
        )
    low, high = bounds if exact else checks.bounds(bounds)
    first, last, width = exact or (
        checks.decimal("bounds", low),
        checks.decimal("bounds", high),
        None if step is None else checks.decimal("step", step),
    )
    if max(abs(first), abs(last)) > 10**300:  # beyond it, products of exact pairs overflow
        raise ParameterError(f"bounds must be at most 1e300 in magnitude, got {bounds!r}")
    parts: float
    if width is None:
        _, exponent = frexp(float(max(abs(first), abs(last))))
        parts, is_whole = 2.0 ** min(40 - exponent, 900), False
        start, apart = ceil(first * Fraction(parts)), 1
        size = floor(last * Fraction(parts)) - start + 1
    else:
        if width <= 0 or (last - first) % width:
            raise ParameterError(
                f"step must be > 0 and divide the bounds, got step {step!r}, bounds {bounds!r}"
            )
        is_whole = all(number.denominator == 1 for number in (first, last, width)) and not any(
            isinstance(number, (float, np.floating)) for number in (low, high, step)
        )
        parts = lcm(first.denominator, width.denominator)
        start, apart, size = int(first * parts), int(width * parts), int((last - first) / width) + 1
    farthest = max(abs(start), abs(start + (size - 1) * apart))
    if (
        max(2 * farthest + apart, (size - 1) * apart) > checks.MAX_EXACT
        or (step is not None and parts > checks.MAX_EXACT)
        or farthest > FARTHEST * apart
        or size < 2
    ):
        raise ParameterError(
            "step must be larger, or bounds and step must have fewer digits: points are at most "
            f"2**40 steps from 0 and are exact in float64, got step {step!r}, bounds {bounds!r}"
        )
    return Grid(size, is_whole, start, apart, parts)


def _listing(values: Any) -> Listing:
    points = checks.numbers(values)
    if points is None or points.ndim != 1:
        raise ParameterTypeError("grid must be a one-dimensional array of numbers")
    size, is_whole = np.abs(points), points.dtype.kind != "f"
    is_near = (size == 0) | (size >= LEAST) & (size <= (checks.MAX_EXACT if is_whole else MOST))
    if points.size < 2 or not is_near.all() or not (points[1:] > points[:-1]).all():
        raise ParameterError(
            "grid must hold two numbers or more in increasing order, each 0 or of a size between "
            "1e-290 and 1e290, integers at most 2**53"
        )
    return Listing(points.size, is_whole, 0, 0, 0, points.astype("i8" if is_whole else "f8"))


def digits(digits: int = 3) -> Floats:
    """Return all numbers of so many significant digits, as a `grid` for which no bounds are needed.

    They are 0 and the numbers between 1e-12 and 1e15 of either sign. The error of a median in ranks
    grows with the logarithm of the number of points only: with three digits, it is about 2·10.8/ε
    ranks. A median of fewer than about 30/ε records needs bounds, and so does another quantile with
    fewer than that beyond it, since one of the many points beyond all records is drawn too often.

    Parameters
    ----------
    digits : int
        The number of significant digits, in 1, ..., 5: there are 487 points, 4,861, 48,601, ...

    Returns
    -------
    ndarray of float64
        In increasing order. A part of it is a grid, too, as ``grid[grid >= 0]``.

    Raises
    ------
    ParameterError, ParameterTypeError
        If `digits` is outside its range or no integer.

    Notes
    -----
    **Privacy**: the grid is a constant and does not depend on the data.

    **Numerics**: each point is the double nearest to its decimal.

    Examples
    --------
    >>> import fastexp as fx
    >>> incomes = [1500 + 7 * i for i in range(1000)]
    >>> median = fx.Median(epsilon=1.0, grid=fx.digits(3))
    >>> 4000 < median.release(incomes) < 6000  # except with probability 1e-27 or so
    True
    """
    checks.arithmetic()
    digits = checks.whole("digits", digits, 1, 5)
    mantissas = np.arange(10 ** (digits - 1), 10**digits, dtype=np.float64)
    exponents = [decade - digits + 1 for decade in DECADES]
    # Powers of ten up to 10**22 are doubles: a product or a quotient is rounded once.
    positive = np.concatenate(
        [mantissas * 10.0**e if e > 0 else mantissas / 10.0**-e for e in exponents]
    )
    return np.concatenate([-positive[::-1], [0.0], positive])
