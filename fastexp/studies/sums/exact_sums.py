"""Sums that do not depend on their order: floats added as exact integers."""

from __future__ import annotations

import math
from fractions import Fraction

UNIT = 1074  # every double is a multiple of 2**-1074


def exact(x: float) -> int:
    """A finite double in units of 2**-1074."""
    over, under = x.as_integer_ratio()
    return over << (UNIT + 1 - under.bit_length())


class ExactSum:
    """A running sum. Adding is associative, so merging in any order gives equal bits."""

    __slots__ = ("units",)
    units: int

    def __init__(self) -> None:
        self.units = 0

    def add(self, x: float) -> None:
        """Add a double, exactly."""
        self.units += exact(x)

    @property
    def total(self) -> Fraction:
        """The sum."""
        return Fraction(self.units, 1 << UNIT)


class ExactMoments:
    """Mean and spread of numbers that come in groups: of each, their sum and centred squares.

    With the mean of its group taken off before squaring, equal numbers have no spread; what
    groups differ by is added from their exact sums.
    """

    __slots__ = ("_between", "_total", "_within", "count")
    count: int

    def __init__(self) -> None:
        self.count = 0
        self._total, self._within = ExactSum(), ExactSum()
        self._between: dict[int, int] = {}  # by the size of groups: squares of their sums

    def add(self, count: int, total: float, squares: float) -> None:
        """Add a group: how many numbers, their sum, their squares about their mean."""
        self.count += count
        self._total.add(total)
        self._within.add(squares)
        self._between[count] = self._between.get(count, 0) + exact(total) ** 2

    @property
    def mean(self) -> float:
        """The mean, rounded once."""
        return float(self._total.total / self.count)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of a sample; None of one number."""
        if self.count < 2:
            return None
        groups = sum(Fraction(squares, size) for size, squares in self._between.items())
        between = (groups - Fraction(self._total.units**2, self.count)) / (1 << 2 * UNIT)
        return root((self._within.total + between) / (self.count - 1))


def root(x: Fraction) -> float:
    """The square root of a number that rounding may have brought below 0."""
    return math.sqrt(max(0.0, float(x)))
