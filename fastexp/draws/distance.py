"""Distances in rank: how far a point is from being a quantile of some records.

With L records below a point, E at it and U above it (n in all), each distance is

    D = max(least_z, side(L), side(U)),  z = 1 where E = 0, else 0
    side(X) = 0 if s*X < gate, else (s*X - offset_z) // divisor + extra_z

in integers, so one kernel (`kernels/cells.py`) evaluates all of them from sixteen coefficients:
least_0, least_1, then for L, then for U: s, gate, divisor, offset_0, extra_0, offset_1, extra_1.
Each of them is (a + b * n) // c. A gate is the least s*X at which its side is >= 1, and no offset
exceeds its gate: floor division never meets a negative number.

A *Duff distance* is the least number of steps (records added or removed; or replaced) until the
statistic is the point, so one step moves it by at most 1 (Asi and Duchi 2020, inverse sensitivity).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from ..kernels.cells import LEFT, RIGHT
from ..types import Convention, Integers, Neighbors


@dataclass(frozen=True)
class QuantileDistance:
    """The distance of the quantile q.

    weak: at most q*n records are below it, (1-q)*n above it. Under add-remove the distance is
    max(0, L - q*n, U - (1-q)*n) in units of 1 / the denominator of q, which is the Duff distance if
    q = 1/2; under replace it is that: the surplus records of a side move to the point.

    lower: it is the record of rank max(1, ceil(q*n)); upper, for q = 1/2: of rank floor(n/2) + 1.
    Both are Duff distances. A point without records may be farther than a record by 1, so that the
    distance need not rise from the quantile on.
    """

    q: Fraction
    neighbors: Neighbors
    convention: Convention = "weak"

    @property
    def steps(self) -> int:
        """The most by which one record moves the distance."""
        part, whole = self.q.numerator, self.q.denominator
        in_ranks = self.neighbors == "add-remove" and self.convention == "weak"
        return max(part, whole - part) if in_ranks else 1

    @property
    def growth(self) -> float:
        """The growth of the distance per rank, the same on both sides."""
        form = self.form(1)
        return form[LEFT] / form[LEFT + 2]

    @property
    def unit(self) -> Fraction:
        """A distance of 1, in units of the utility: ranks, or steps."""
        in_ranks = self.neighbors == "add-remove" and self.convention == "weak"
        return Fraction(1, self.q.denominator if in_ranks and self.q.denominator > 2 else 1)

    def ranks(self, n: int) -> tuple[int, int]:
        """Return the ranks, from 1, of the two of n >= 1 records whose mean is the quantile."""
        lower, upper = max(1, ceil(self.q * n)), min(n, floor(self.q * n) + 1)
        return upper if self.convention == "upper" else lower, (
            lower if self.convention == "lower" else upper
        )

    @property
    def line(self) -> Integers:
        """The coefficients as `kernels/cells.py` takes them: a and b of each, and c."""
        none, one, c = *(self._numbers(n) for n in (0, 1)), self._unit
        return np.array([*none, *(y - x for x, y in zip(none, one, strict=True)), c], np.int64)

    def form(self, n: int) -> list[int]:
        """Return the coefficients for n records."""
        form = [number // self._unit for number in self._numbers(n)]
        if n == 0 and self.neighbors == "add-remove" and self.q == Fraction(1, 2):
            form[:2] = 1, 1  # one added record makes any point the median
        return form

    @property
    def _unit(self) -> int:
        return 1 if self.neighbors == "add-remove" else self.q.denominator

    def _numbers(self, n: int) -> list[int]:
        """Return c times each coefficient, before it is rounded down."""
        part, whole, c = self.q.numerator, self.q.denominator, self._unit
        below, above, out = part * n, (whole - part) * n, [0, 0]
        is_lower, is_upper = self.convention == "lower", self.convention == "upper"
        if is_lower and self.neighbors == "add-remove":
            # `whole` times L must end below `below`, `whole` times U at `above` or below. A step
            # lowers a surplus by `step`: it removes a record of the side, or adds a copy of the
            # point. If removing is faster but no record is at the point, one step must add a copy,
            # which lowers the surplus by `less`.
            step = max(part, whole - part)
            for gate, less in (below, whole - 2 * part), (above + 1, 2 * part - whole):
                out += [whole, gate, step, gate, 1, gate - max(less, 0), 1]
            return out
        for most in (below - is_lower, above - is_upper):  # c * that of a side without surplus
            out += [c * (whole // c), most + c, c, most, 0, most, 0]
        return out


def rank_distance(form: list[int], below: int, equal: int, above: int) -> int:
    """Return the distance of a point (`kernels/cells.py: distance`)."""
    empty, most = int(equal == 0), 0
    for ranks, at in (below, LEFT), (above, RIGHT):
        s, gate, divisor = form[at : at + 3]
        offset, extra = form[at + 3 + 2 * empty : at + 5 + 2 * empty]
        most = max(most, (s * ranks - offset) // divisor + extra if s * ranks >= gate else 0)
    return max(most, form[empty])
