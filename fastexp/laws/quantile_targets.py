"""From where on several quantiles that are drawn at once meet a target, on a grid of epsilons.

While the step of totals stays the same, the sum Z of all weights, those of the answers within the
limit of a truth and beyond it, and the sum of errors have positive terms that decay with epsilon:
their logarithms fall, and are convex. A target compares two of them, a >= b. It holds on an
interval at whose right end a is at least what b is at its left end. Elsewhere slopes would tell,
which take a recursion of their own; but a convex function lies above the line through two of its
points, left and right of these. On an interval [l, r], with points p < l and s > r,

* a lies above the lines through p, l and through r, s, and b below its chord;
* if the first of these lines is steeper than that of b through r, s, then a - b rises; if that of
  a through r, s is less steep than that of b through p, l, it falls. It is least at an end.

The step is the least power of two >= 8 / epsilon: it is the same on [8 / h, 16 / h), and 1 from 8
on. These bands are searched from above, each with its own sums and for all quantiles together, so
that nothing is inferred from a sample of epsilons.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from itertools import groupby
from math import inf, log
from typing import NamedTuple, TypeAlias

LOST = 12.0  # nats below what a target allows for
OFF = 5e-5  # relative to it: more than chains leave out, which is 4 to 5 times exp(-LOST)
BEYOND = 1.25  # how far outside a band its outer points lie
COARSEST = 8.0  # the step of totals is 1 from here on


class Bounds(NamedTuple):
    """Of two convex functions at one epsilon; `holds` is known but for what sums leave out."""

    a: tuple[float, float]
    b: tuple[float, float]
    holds: bool


Sums: TypeAlias = Callable[[float, int], list[Bounds]]
Holds: TypeAlias = Callable[[float], bool]


def bounded(log_whole: float, share: float) -> tuple[float, float]:
    """Of the logarithm of a share of a sum, or of a multiple, known but for OFF."""
    off = OFF * (1.0 + 1.0 / share) if share > 0.0 else inf
    most = log_whole + log(max(share, 0.0) + 2.0 * OFF)
    return (log_whole + log(share) - off if off < 0.5 else -inf), most


def step_of(epsilon: float) -> int:
    """The step of totals."""
    step = 1
    while epsilon * step < COARSEST:
        step *= 2
    return step


def first_failure(sums: Sums, holds: Holds, points: list[float], *, lattice: bool) -> int:
    """How many of the falling points come before the first at which a target fails.

    `sums` of an epsilon and a step of totals: of each target; `holds`: whether all do, by sums that
    leave nothing out; `lattice`: whether totals have a step.
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
        self._known, self._xs = dict[float, list[Bounds]](), list[float]()

    def _at(self, x: float) -> list[Bounds]:
        if x not in self._known:
            self._known[x] = self._sums(x, self._step)
            insort(self._xs, x)
        return self._known[x]

    def _holds(self, point: int) -> bool:
        each = self._at(self._points[point])
        if all(bounds.a[0] >= bounds.b[1] for bounds in each):
            return True
        return all(x.a[1] >= x.b[0] for x in each) and self._by_law(self._points[point])

    def first_failure(self) -> int | None:
        """Its index; None if the targets hold at all points."""
        right, ahead = 0, [len(self._points) - 1]
        if not self._holds(right):
            return 0
        while ahead:
            left, holds = ahead[-1], self._holds(ahead[-1])
            if holds and (left - right <= 1 or self._hold_between(left, right)):
                right = ahead.pop()
            elif left - right <= 1:
                return left
            elif not holds and self._rise_between(left, right):
                return self._crossing(left, right)
            else:
                ahead.append((left + right) // 2)
        return None

    def _crossing(self, left: int, right: int) -> int:
        """The first failure, where targets hold at the right, fail at the left, and rise."""

        def least(point: int) -> float:
            return min(sum(x.a) - sum(x.b) for x in self._at(self._points[point]))

        while left - right > 1:
            low, high = least(left), least(right)
            share = high / (high - low) if -inf < low < high < inf else 0.5
            point = min(max(right + round(share * (left - right)), right + 1), left - 1)
            left, right = (left, point) if self._holds(point) else (point, right)
        return left

    def _hold_between(self, left: int, right: int) -> bool:
        """Whether all targets are seen to hold between two points, as they do there."""
        low, high = self._points[left], self._points[right]
        ends = [*zip(self._at(low), self._at(high), strict=True)]
        # Both fall: so a >= b on the interval where it is so of these ends.
        if all(at_high.a[0] >= at_low.b[1] for at_low, at_high in ends):
            return True
        s = next((x for x in self._xs if x > high), high * BEYOND)
        if all(
            at_high.a[0] - (at_s.a[1] - at_high.a[0]) / (s - high) * (high - low) >= at_low.b[1]
            for (at_low, at_high), at_s in zip(ends, self._at(s), strict=True)
        ):
            return True  # a lies above its line through r and s, b below its chord
        p = next((x for x in reversed(self._xs) if x < low), low / BEYOND)
        each = zip(*map(self._at, (p, low, high, s)), strict=True)
        return all(holds_between((p, low, high, s), bounds) for bounds in each)

    def _rise_between(self, left: int, right: int) -> bool:
        """Whether a - b of all targets is seen to rise, by what is known outside."""
        low, high = self._points[left], self._points[right]
        below, above = [x for x in self._xs if x < low], [x for x in self._xs if x > high]
        if not below or not above:
            return False
        xs = below[-1], low, high, above[0]
        return all(rises(xs, bounds) for bounds in zip(*map(self._at, xs), strict=True))


Four: TypeAlias = tuple[float, float, float, float]


def rises(xs: Four, bounds: tuple[Bounds, ...]) -> bool:
    """Whether a - b rises from the second to the third of four epsilons."""
    (p, left, right, s), (at_p, at_left, at_right, at_s) = xs, bounds
    return (at_left.a[0] - at_p.a[1]) / (left - p) >= (at_s.b[1] - at_right.b[0]) / (s - right)


def holds_between(xs: Four, bounds: tuple[Bounds, ...]) -> bool:
    """Whether a >= b from the second to the third of four epsilons, as it is at both."""
    (p, left, right, s), (at_p, at_left, at_right, at_s) = xs, bounds
    a_least = (at_left.a[0] - at_p.a[1]) / (left - p)  # of slopes
    a_most = (at_s.a[1] - at_right.a[0]) / (s - right)
    falls = a_most <= (at_left.b[0] - at_p.b[1]) / (left - p)
    if falls or rises(xs, bounds):
        return True
    width, turn = right - left, a_most - a_least
    if not 0.0 < turn < inf:
        return False
    where = (at_left.a[0] - at_right.a[0] + a_most * width) / turn  # where a's lines meet
    where = min(max(where, 0.0), width)
    a = max(at_left.a[0] + a_least * where, at_right.a[0] - a_most * (width - where))
    b = at_left.b[1] + (at_right.b[1] - at_left.b[1]) * (where / width)
    return a > b
