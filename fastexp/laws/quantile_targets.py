"""The epsilon of a grid from which on several quantiles that are drawn at once meet a target.

While the step of totals stays the same, four sums have positive terms that decay with epsilon, so
that their logarithms fall and are convex: the sum Z of all weights, the sums over the answers
within the limit of a truth and beyond it, and the sum of errors. A target compares two of them,
a >= b. On an interval [l, r] of epsilons, a is at least its value at r, and lies above the line
through its values at r and at a point s > r; b is at most its value at l. If this does not decide,
the interval is halved.

The step is the least power of two >= 8 / epsilon: it is the same on [8 / h, 16 / h), and 1 from 8
on. These bands are searched from above, each with its own sums and for all quantiles together, so
that nothing is inferred from a sample of epsilons.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from math import inf, log
from typing import NamedTuple, TypeAlias

TARGET_CUTOFF = 12.0  # nats below the share that a target allows for
MAX_OFF = 5e-5  # relative error of that share; chains omit 4 to 5 times exp(-TARGET_CUTOFF), less
LINE_RATIO = 1.25  # lines through a band's greatest epsilon begin at this multiple of it
UNIT_STEP_FROM = 8.0  # epsilon from which on the step of totals is 1


class Bounds(NamedTuple):
    """Bounds of two convex functions at one epsilon; `holds` is right but for omitted terms."""

    a: tuple[float, float]
    b: tuple[float, float]
    holds: bool


Sums: TypeAlias = Callable[[float, int], list[Bounds]]
Holds: TypeAlias = Callable[[float], bool]


def bounded(log_whole: float, share: float) -> tuple[float, float]:
    """Return bounds of ln of a share or multiple of a sum, which is known up to MAX_OFF."""
    off = MAX_OFF * (1.0 + 1.0 / share) if share > 0.0 else inf
    most = log_whole + log(max(share, 0.0) + 2.0 * MAX_OFF)
    return (log_whole + log(share) - off if off < 0.5 else -inf), most


def step_of(epsilon: float) -> int:
    """Return the step of totals at an epsilon."""
    step = 1
    while epsilon * step < UNIT_STEP_FROM:
        step *= 2
    return step


def first_failure(sums: Sums, holds: Holds, points: list[float], *, lattice: bool) -> int:
    """Return how many of the falling points come before the first at which a target fails.

    `sums` gives the bounds of each target at an epsilon and a step of totals; `holds` tells whether
    all targets hold, by sums that leave nothing out; `lattice`: whether totals have a step.
    """
    number = 0
    for step, band in groupby(points, step_of if lattice else lambda _: 1):
        size = len([*band])
        failure = Band(points[number : number + size], sums, holds, step).first_failure()
        if failure is not None:
            return number + failure
        number += size
    return number


class Band:
    """Falling points with one step of totals."""

    def __init__(self, points: list[float], sums: Sums, holds: Holds, step: int) -> None:
        self._points, self._sums, self._by_law, self._step = points, sums, holds, step
        self._known = dict[float, list[Bounds]]()

    def _at(self, x: float) -> list[Bounds]:
        if x not in self._known:
            self._known[x] = self._sums(x, self._step)
        return self._known[x]

    def _holds(self, point: int) -> bool:
        each = self._at(self._points[point])
        if all(bounds.a[0] >= bounds.b[1] for bounds in each):
            return True
        return all(x.a[1] >= x.b[0] for x in each) and self._by_law(self._points[point])

    def first_failure(self) -> int | None:
        """Return the index of the first failure; None if the targets hold at all points."""
        right, ahead = 0, [len(self._points) - 1]
        if not self._holds(right):
            return 0
        while ahead:
            left, holds = ahead[-1], self._holds(ahead[-1])
            if holds and (left - right <= 1 or self._hold_between(left, right)):
                right = ahead.pop()
            elif left - right <= 1:
                return left
            else:
                ahead.append(self._middle(left, right))
        return None

    def _middle(self, left: int, right: int) -> int:
        """Return a point between two others: the zero of a line through a - b if it lies inside."""
        low, high = (min(x.a[0] - x.b[1] for x in self._at(self._points[i])) for i in (left, right))
        share = high / (high - low) if low < 0.0 < high < inf and low > -inf else 0.5
        return min(max(right + round(share * (left - right)), right + 1), left - 1)

    def _hold_between(self, left: int, right: int) -> bool:
        """Whether all targets provably hold between two points at which they hold."""
        low, high = self._points[left], self._points[right]
        pairs = zip(self._at(low), self._at(high), strict=True)
        if all(at_high.a[0] >= at_low.b[1] for at_low, at_high in pairs):
            return True
        s = min((x for x in self._known if x > high), default=high * LINE_RATIO)
        for at_low, at_high, at_s in zip(*map(self._at, (low, high, s)), strict=True):
            fall = max(at_high.a[0] - at_s.a[1], 0.0) / (s - high)
            if at_high.a[0] + fall * (high - low) < at_low.b[1]:
                return False
        return True
