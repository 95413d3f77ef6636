"""Rank distances: how far a point is from being the median, a quantile, the r-th largest, a mode.

They are in one file because they share a form and its explanation.

With L records below a point, E at it and U above it (n in all), each distance is

    D = max(least_z, side(L), side(U)),  z = 1 where E = 0, else 0
    side(X) = 0 if s*X < gate, else (s*X - offset_z) // g + extra_z

in integers, so one kernel evaluates all of them from 16 numbers, a *form*:

    least_0, least_1, then for L, then for U:  s, gate, g, offset_0, extra_0, offset_1, extra_1

A gate is the least s*X at which its side is >= 1, and no offset exceeds its gate: floor
division never meets a negative number. Both sides are positive at once only in the middle of
an even n, strict convention. **Ranges**: n < 2**32 and s <= 10**9 < 2**30, so that s*X < 2**62
and no difference of s*X, gates and offsets leaves int64.

A *Duff distance* is the least number of steps (records added or removed; or replaced) until
the statistic is the point, so one step moves it by at most 1. All forms are Duff distances except
that of the weak quantile under add-remove with q != 1/2, which measures ranks (`steps`). An empty
data set (n = 0) has no statistic. Under add-remove its distance is that to the point alone
(1; r for an order statistic; 0 in ranks). Under replace it is infinite, and the forms hold a
constant (0 weak, 2 strict, 1 else) instead; a constant has no effect.

**Dips.** With E = 0 a point may be farther than with E > 0 and the same L and U: for order
statistics, for lower quantiles under add-remove unless q = 1/2, and for strict medians under
replace with an even n. A record may then be closer by 1 than the gap on its inner side, so D is
not unimodal. All other forms are unimodal: D falls towards the statistic and rises behind it.

Sources: Smith, STOC 2011 (ranks, add-remove); Asi and Duchi, NeurIPS 2020 (inverse
sensitivity); the rest is checked against its definition on all small data sets.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from .._parameters import validate
from .._typing import ArrayLike, IntArray, Neighbors
from ..errors import ParameterError

HALF = Fraction(1, 2)
MAX_DENOMINATOR = 10**9  # of a quantile: 10**9 * 2**32 < 2**62
LOW, HIGH = slice(2, 9), slice(9, 16)  # the two sides of a form
ANY_QUANTILE, MEDIAN_ONLY = ("weak", "lower"), ("upper", "strict")


class Side(NamedTuple):
    """One side of a form, in its order."""

    s: int
    gate: int
    g: int
    offset_0: int
    extra_0: int
    offset_1: int
    extra_1: int


class RanksThatMatter(NamedTuple):
    """The form of the distance, and the first and last rank that matter, from 0; or (0, -1)."""

    form: IntArray
    low: int
    high: int


def as_quantile(q: object) -> Fraction:
    """Return a quantile as an exact fraction; a float stands for the decimal that it prints as.

    It must be in (0, 1), with a denominator of at most 10**9. At 0 and 1 the distances have other
    formulas, and the weak one is the distance to a bound: `OrderStatistic` is for these.
    """
    number = validate.real("q", q)
    if not 0.0 < number < 1.0:  # written so that NaN fails
        meant = "the largest record is another mechanism's, Maximum"
        if 1.0 < number < 100.0:  # a percentile
            meant = f"did you mean {Decimal(repr(number)) / 100:f}?"
        raise ParameterError(f"q must be in (0, 1), got {q}; {meant}")
    if isinstance(q, (numbers.Rational, Decimal)):
        exact = Fraction(q)
    else:  # a float32 prints fewer digits than its value has as a float
        exact = Fraction(str(q) if isinstance(q, np.floating) else repr(number))
    if exact.denominator <= MAX_DENOMINATOR:
        return exact
    least = Fraction(1, MAX_DENOMINATOR)
    near = min(max(exact.limit_denominator(MAX_DENOMINATOR), least), 1 - least)
    raise ParameterError(
        f"q must have a denominator of at most 10**9, got {q}; the nearest such fraction is "
        f"{near!r}"
    )


def as_convention(q: Fraction, convention: object) -> str:
    """Check the convention of the quantile q; "upper" and "strict" are for the median only."""
    allowed = ANY_QUANTILE + MEDIAN_ONLY * (q.denominator == 2)
    return validate.choice("convention", convention, allowed)


def quantile_ranks(q: Fraction, convention: str, n: int) -> tuple[int, int]:
    """Return the ranks, from 1, of the two of n >= 1 records whose mean is the true quantile.

    For "lower" and "upper" both are one record; else they are the lower and the upper one, which
    differ if q * n is whole.
    """
    lower, upper = max(1, math.ceil(q * n)), min(n, math.floor(q * n) + 1)
    return {"lower": (lower, lower), "upper": (upper, upper)}.get(convention, (lower, upper))


def order_ranks(r: int, n: int) -> tuple[int, int]:
    """Return the same for the r-th largest record, or for the least of fewer than r records."""
    rank = max(1, n - r + 1)
    return rank, rank


def unit(q: Fraction, neighbors: Neighbors, convention: str) -> Fraction:
    """Return the unit of the quantile's form: a share of a rank, or a step.

    1/r for the weak quantile q = p/r under add-remove: the form is r times the rank distance
    max(0, L - q*n, U - (1-q)*n). Else 1. For q = 1/2 the integer itself is the Duff distance,
    two of which make a rank.
    """
    in_ranks = neighbors == "add-remove" and convention == "weak"
    return Fraction(1, q.denominator) if in_ranks else Fraction(1)


def steps(q: Fraction, neighbors: Neighbors, convention: str) -> int:
    """Return the exact sensitivity of the quantile's form: the most that one record moves it.

    max(p, r - p) for the weak quantile q = p/r under add-remove, else 1.
    """
    part, whole = q.numerator, q.denominator
    in_ranks = neighbors == "add-remove" and convention == "weak"
    return max(part, whole - part) if in_ranks else 1


@dataclass(frozen=True)
class QuantileForms:
    """The forms of a quantile from `as_quantile` for any n, in units of `unit`.

    weak: a point with at most q*n records below and at most (1-q)*n above it. lower: the record of
    rank max(1, ceil(q*n)). For q = 1/2 only, upper: the record of rank floor(n/2) + 1; strict: a
    record that is both.
    """

    q: Fraction
    neighbors: Neighbors
    convention: str

    @property
    def linear(self) -> bool:
        """Whether all numbers of a form are linear in n >= 1; if not, n is public."""
        return self.neighbors == "add-remove"

    def __call__(self, n: int) -> IntArray:
        part, whole, convention = self.q.numerator, self.q.denominator, self.convention
        if self.neighbors == "replace":  # surplus records of a side move to the point; n stays
            below, above = part * n // whole, (whole - part) * n // whole
            if convention == "strict" and n % 2 == 0:  # two central records
                return _form(0, 2, _surplus(1, n // 2 - 1), _surplus(1, n // 2 - 1))
            if convention != "weak":
                rank = n // 2 + 1 if convention == "upper" else max(1, -(-part * n // whole))
                below, above = rank - 1, n - rank
            return _form(0, 0, _surplus(1, below), _surplus(1, above))
        if convention == "weak":  # if n = 0, one added record makes any point the only median
            alone = int(n == 0 and whole == 2)
            low, high = _surplus(whole, part * n), _surplus(whole, (whole - part) * n)
            return _form(alone, alone, low, high)
        if convention == "lower":
            return _lower_form(part, whole, n)
        return _form(0, 0, _surplus(2, n - (convention == "strict")), _surplus(2, n - 1))


@dataclass(frozen=True)
class OrderForms:
    """The forms of the r-th largest record for any n, under add-remove.

    While fewer than r records are at or above the point, a step adds a copy of it; else a step
    removes a record above it, and one step adds a copy if there is none. With n < r, r - n steps
    lead to the first data set that has an r-th largest.
    """

    r: int
    linear: ClassVar[bool] = True

    def __call__(self, n: int) -> IntArray:
        r = self.r
        return _form(0, 0, _surplus(1, n - r), Side(1, r, 1, r, 1, r - 1, 1))


Forms: TypeAlias = QuantileForms | OrderForms  # of a statistic for any number n of records


def _lower_form(part: int, whole: int, n: int) -> IntArray:
    """The order statistic of rank ceil(q*n) under add-remove.

    A step lowers a surplus, in units of 1/whole, by up to max(part, whole - part): by a copy
    of the point, or by removing a record. If removing is faster but no record is at the point,
    one of the steps must add a copy, which lowers the surplus by `short` less. L must end
    below q*n (a surplus of 0 is one step), U at (1-q)*n or below.
    """
    g = max(part, whole - part)
    low, high = part * n, (whole - part) * n + 1
    short_low, short_high = max(0, whole - 2 * part), max(0, 2 * part - whole)
    return _form(
        0,
        0,
        Side(whole, low, g, low, 1, low - short_low, 1),
        Side(whole, high, g, high, 1, high - short_high, 1),
    )


def _surplus(s: int, most: int) -> Side:
    """max(0, s*X - most), whatever E is."""
    return Side(s, most + 1, 1, most, 0, most, 0)


def _form(least_0: int, least_1: int, low: Side, high: Side) -> IntArray:
    return np.array((least_0, least_1, *low, *high), np.int64)


def distance(form: IntArray, below: ArrayLike, at: ArrayLike, above: ArrayLike) -> IntArray:
    """The exact rank distance of points with L, E and U records below, at and above them."""
    between = np.asarray(at, np.int64) == 0
    least = np.where(between, form[1], form[0])
    low = _side(form[LOW], np.asarray(below, np.int64), between)
    high = _side(form[HIGH], np.asarray(above, np.int64), between)
    out: IntArray = np.maximum(least, np.maximum(low, high))
    return out


def _side(side: IntArray, ranks: IntArray, between: Any) -> IntArray:
    s, gate, g, offset_0, extra_0, offset_1, extra_1 = side.tolist()
    scaled = s * ranks
    offset, extra = np.where(between, offset_1, offset_0), np.where(between, extra_1, extra_0)
    return np.where(scaled < gate, 0, (scaled - offset) // g + extra)


def _gap_side(side: list[int], x: int) -> int:
    s, gate, g, _, _, offset, extra = side
    return (s * x - offset) // g + extra if s * x >= gate else 0


def farthest(form: IntArray, n: int) -> int:
    """Return the greatest distance among n records: that of a point below or above all of them."""
    numbers: list[int] = form.tolist()
    return max(numbers[0], numbers[1], _gap_side(numbers[LOW], n), _gap_side(numbers[HIGH], n))


def slope(form: IntArray) -> Fraction:
    """Return the growth of the distance per rank, on the side where it grows more slowly.

    A gap k >= 1 ranks outside those of the least distance is farther than these by at least
    1 + floor(slope * (k - 1)), and on the slower side by at most 1 + ceil(slope * k).
    """
    low, high = (Side(*form[side].tolist()) for side in (LOW, HIGH))
    return min(Fraction(low.s, low.g), Fraction(high.s, high.g))


def mode_distance(counts: ArrayLike, at: ArrayLike) -> IntArray:
    """Return the number of records to add or remove until a point is the only mode.

    max(0, m - c + 1) copies of the point are added, with c records at it and m at the most
    frequent other one. A step moves it by at most 1. With no records it is 1 everywhere.
    `at` is an index of `counts`; -1 stands for any point without records.
    """
    padded = np.concatenate([np.asarray(counts, np.int64), [0]])  # all other points
    places = np.asarray(at, np.int64)
    best = int(np.argmax(padded))
    second = max(padded[:best].max(initial=0), padded[best + 1 :].max(initial=0))
    rival = np.where(places == best, second, padded[best])
    out: IntArray = np.maximum(0, rival - padded[places] + 1)
    return out
