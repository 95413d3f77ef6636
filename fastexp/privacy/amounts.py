"""Amounts of epsilon and rho as the decimals that print, and roundings that cannot flatter.

A float stands for its shortest decimal (its `repr`), which differs from it by less than one
part in 10**16: three times 0.1 is 0.3. Sums and products
are exact in these decimals and come back as the least float whose decimal is not below the
truth. Where a formula needs exp or log, its result is moved by a relative `MARGIN` to the safe
side, which is far more than float arithmetic errs by.
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
    """The decimal that prints, as a fraction; the number must be finite."""
    check_rounding()  # what is kept must be right for the calls that follow
    return Fraction(repr(float(number)))


def up(amount: Fraction) -> float:
    """The least float whose decimal is not below `amount`; infinity if there is none."""
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
    """The greatest float whose decimal is not above `amount`."""
    return 0.0 - up(-amount)  # never -0.0


def upward(name: str, amount: Any) -> float:
    """An amount >= 0 of any exact number as a float: itself, or the least that is not below it."""
    if isinstance(amount, float):
        number = float.__pos__(amount)  # of a subclass, NumPy's too: the number that it holds
    else:
        number = validate.real(name, amount)
        if math.isfinite(number):
            number = up(validate.as_fraction(amount))
    if not number >= 0.0:
        raise ParameterError(f"{name} must be >= 0, got {number!r}")
    return abs(number)  # never -0.0


def times(number: float | None, factor: int) -> float | None:
    """`number` * `factor` as decimals, rounded up; what is not promised stays so."""
    if number is None or factor == 1 or (factor and math.isinf(number)):
        return number
    return up(exact(number) * factor) if factor else 0.0


def added(numbers: Iterable[float | None]) -> float | None:
    """The sum as decimals, rounded up; None if a term is."""
    terms: list[Any] = list(numbers)
    if None in terms:
        return None
    return math.inf if math.inf in terms else up(sum(map(exact, terms), Fraction(0)))


def greatest(numbers: Iterable[float | None]) -> float | None:
    """The maximum; None if a term is."""
    terms: list[Any] = list(numbers)
    return None if None in terms else float(max(terms))


def above(number: float) -> float:
    """A float safely above a computed amount >= 0."""
    return math.nextafter(number * (1 + MARGIN), math.inf)


def below(number: float) -> float:
    """A float safely below a computed amount > 0; 0 at the least."""
    return max(0.0, math.nextafter(number * (1 - MARGIN), -math.inf))


def within(name: str, value: float, limits: tuple[float, float]) -> float:
    """A number > 0 where formulas neither underflow nor lose their digits."""
    number, (low, high) = validate.positive(name, value), limits
    if not low <= number <= high:
        raise ParameterError(f"{name} must be in [{low:g}, {high:g}], got {number!r}")
    return number


def open_fraction(name: str, value: float) -> float:
    """A float in (0, 1)."""
    number = validate.fraction(name, value)
    if number in (0.0, 1.0):
        raise ParameterError(f"{name} must be in (0, 1), got {number!r}")
    return number
