"""Amounts of epsilon and rho as the decimals that they print, rounded to the safe side.

A float stands for its shortest decimal (its `repr`), which differs from it by less than one
part in 10**16: three times 0.1 is 0.3. Sums and products are exact in these decimals. They are
returned as the smallest float whose decimal is not below the exact result. The result of a formula
with exp or log is moved to the safe side by a relative `MARGIN`, far larger than the error of its
float arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .._compiler.rounding import check_rounding
from .._parameters import validate
from ..errors import ParameterError

MARGIN = 1e-12


@lru_cache(maxsize=256)  # few amounts recur: a budget's limit, a mechanism's epsilon
def exact(number: float) -> Fraction:
    """Return the decimal that a finite number prints, as a fraction."""
    check_rounding()  # a cached result must be right for later calls
    return Fraction(repr(float(number)))


def up(amount: Fraction) -> float:
    """Return the smallest float whose decimal is at least `amount`; infinity if there is none."""
    check_rounding()
    try:
        number = float(amount)
    except OverflowError:
        return math.inf
    while exact(number) < amount:
        number = math.nextafter(number, math.inf)
        if math.isinf(number):
            return number
    return number


def down(amount: Fraction) -> float:
    """Return the largest float whose decimal is at most `amount`."""
    return 0.0 - up(-amount)  # never -0.0


def upward(name: str, amount: Any) -> float:
    """Return an amount >= 0, any exact number, as the smallest float that is not below it."""
    if isinstance(amount, float):
        number = float.__pos__(amount)  # the plain number of a subclass, such as NumPy's float64
    else:
        number = validate.real(name, amount)
        if math.isfinite(number):
            number = up(validate.as_fraction(amount))
    if not number >= 0.0:
        raise ParameterError(f"{name} must be >= 0, got {number!r}")
    return abs(number)  # never -0.0


def times(number: float | None, factor: int) -> float | None:
    """Return `number` * `factor` as decimals, rounded up; None (not promised) if `number` is."""
    if number is None or factor == 1 or (factor and math.isinf(number)):
        return number
    return up(exact(number) * factor) if factor else 0.0


def added(numbers: Iterable[float | None]) -> float | None:
    """Return the sum as decimals, rounded up; None if a term is None."""
    terms: list[Any] = list(numbers)
    if None in terms:
        return None
    return math.inf if math.inf in terms else up(sum(map(exact, terms), Fraction(0)))


def greatest(numbers: Iterable[float | None]) -> float | None:
    """Return the maximum; None if a term is None."""
    terms: list[Any] = list(numbers)
    return None if None in terms else float(max(terms))


def above(number: float) -> float:
    """Return a float safely above a computed amount >= 0."""
    return math.nextafter(number * (1 + MARGIN), math.inf)


def below(number: float) -> float:
    """Return a float >= 0 safely below a computed amount > 0."""
    return max(0.0, math.nextafter(number * (1 - MARGIN), -math.inf))


def within(name: str, value: float, limits: tuple[float, float]) -> float:
    """Return a number within limits in which formulas neither underflow nor lose digits."""
    number, (low, high) = validate.positive(name, value), limits
    if not low <= number <= high:
        raise ParameterError(f"{name} must be in [{low:g}, {high:g}], got {number!r}")
    return number


def open_fraction(name: str, value: float) -> float:
    """Return a float in (0, 1)."""
    number = validate.fraction(name, value)
    if number in (0.0, 1.0):
        raise ParameterError(f"{name} must be in (0, 1), got {number!r}")
    return number
