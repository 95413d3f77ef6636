"""Sums that do not depend on their order: floats added as exact integers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

UNIT = 1074  # every double is a multiple of 2**-1074


def exact(x: float) -> int:
    """A finite double in units of 2**-1074."""
    over, under = x.as_integer_ratio()
    return over << (UNIT + 1 - under.bit_length())


class ExactSums:
    """Several running sums. Adding is associative, so merging in any order gives equal bits.

    Parameters
    ----------
    count : int
        How many sums.
    """

    __slots__ = ("totals",)

    def __init__(self, count: int) -> None:
        self.totals = [0] * count

    def add(self, values: Iterable[float]) -> None:
        """Add one value to each sum."""
        self.totals = [t + exact(v) for t, v in zip(self.totals, values, strict=True)]

    def __getitem__(self, index: int) -> Fraction:
        return Fraction(self.totals[index], 1 << UNIT)


def mean(total: Fraction, count: int) -> float:
    """The mean of `count` numbers, rounded once."""
    return float(total / count)


def deviation(total: Fraction, squares: Fraction, count: int) -> float:
    """The standard deviation (of a sample: count - 1) from sums that lost nothing."""
    if count < 2:
        return math.nan
    return math.sqrt(max(0.0, float((squares - total * total / count) / (count - 1))))


def root(x: Fraction) -> float:
    """The square root of a number that rounding may have brought below 0."""
    return math.sqrt(max(0.0, float(x)))


def floats(values: Sequence[Fraction]) -> list[float]:
    """Each number rounded once."""
    return [float(v) for v in values]
