"""The epsilon from which on several quantiles that are drawn at once meet a target.

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

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from math import exp, inf, isfinite, log, sqrt
from typing import NamedTuple, TypeAlias

from ..errors import PrecisionError
from .targets import HIGH, LOW, Unreached

OFF = 2e-9  # of a logarithm of a sum, and of all probabilities
CLOSE = 1e-9  # of two epsilons: what bounds of sums can tell apart
SHARP = 1e-7, 1e-6, 1e-4  # the target is seen to fail so far below
BEYOND = 1.25  # how far outside a band its outer points lie
MOST = 5_000  # evaluations
COARSEST = 8.0  # the step of totals is 1 from here on

UNKNOWN = (
    "epsilon_for finds no proof: at some epsilon the target is met with equality, or nearly so; "
    "ask for a little more or less"
)


class Bounds(NamedTuple):
    """Of two convex functions at one epsilon."""

    a: tuple[float, float]
    b: tuple[float, float]

    @property
    def sure(self) -> float:
        """At most a - b."""
        return self.a[0] - self.b[1]


Sums: TypeAlias = Callable[[float], list[Bounds]]


def bounded(log_whole: float, share: float) -> tuple[float, float]:
    """Of the logarithm of a share of a sum, whose digits beyond OFF are not known."""
    off = OFF * (1.0 + 1.0 / share) if share > 0.0 else inf
    most = log_whole + log(max(share, 0.0) + 2.0 * OFF)
    return (log_whole + log(share) - off if off < 0.5 else -inf), most


def least_epsilon(sums: Callable[[float, int], list[Bounds]], *, lattice: bool) -> float:
    """From where on all targets hold; `sums` of an epsilon and a step of totals: of each one."""

    def with_step(step: int) -> Sums:
        return lambda x: sums(x, step)

    low, step = (COARSEST if lattice else LOW), 1
    right = last_failure(with_step(step), low, HIGH)
    while right == low > LOW:
        step, high, low = 2 * step, low, max(low / 2.0, LOW)
        try:
            right = last_failure(with_step(step), low, high)
        except Unreached:
            return high  # just below, with the coarser totals, it fails
    return right


def last_failure(sums: Sums, low: float, high: float) -> float:
    """The least epsilon from which on, up to `high`, all targets hold; `low` if they always do.

    Raises `Unreached` if one fails at `high`, `PrecisionError` if nothing can be proved.
    """
    known, xs = dict[float, list[Bounds]](), list[float]()

    def at(x: float) -> list[Bounds]:
        if x not in known:
            known[x] = sums(x)
            insort(xs, x)
        return known[x]

    def sure(x: float) -> float:
        return min(bounds.sure for bounds in at(x))

    def fails(x: float) -> bool:
        return any(bounds.a[1] < bounds.b[0] for bounds in at(x))

    if sure(high) < 0.0:
        raise Unreached if fails(high) else PrecisionError(UNKNOWN)
    right, ahead = high, [low]
    for _ in range(MOST):
        left = ahead[-1]
        # Both fall: so a >= b on the interval where it is so of these ends.
        if all(a.a[0] >= b.b[1] for a, b in zip(at(right), at(left), strict=True)):
            least, holds = True, True
        else:
            p = xs[bisect_left(xs, left) - 1] if xs[0] < left else left / BEYOND
            s = xs[bisect_right(xs, right)] if xs[-1] > right else right * BEYOND
            each = zip(at(p), at(left), at(right), at(s), strict=True)
            ways = [_between((p, left, right, s), of_one) for of_one in each]
            holds = sure(left) >= 0.0 and all(inside for _, inside in ways)
            least = all(
                rises or (inside and bounds.sure >= 0.0)
                for (rises, inside), bounds in zip(ways, at(left), strict=True)
            )
        if holds:
            right = ahead.pop()
            if not ahead:
                return low
        elif least or right <= left * (1.0 + SHARP[0]):
            if least:  # those that rise have all passed 0 where the last of them does
                right = crossing(sure, left, right)
            if any(fails(right * (1.0 - gap)) for gap in SHARP):
                return right
            raise PrecisionError(UNKNOWN)
        else:
            ahead.append(sqrt(left) * sqrt(right))
    raise PrecisionError(UNKNOWN)


def _between(
    xs: tuple[float, float, float, float], bounds: tuple[Bounds, ...]
) -> tuple[bool, bool]:
    """Whether a - b rises from the second to the third of four epsilons; whether it is >= 0 there.

    The latter if it is at both ends.
    """
    (p, left, right, s), (at_p, at_left, at_right, at_s) = xs, bounds
    a_least = (at_left.a[0] - at_p.a[1]) / (left - p)  # of slopes
    b_least = (at_left.b[0] - at_p.b[1]) / (left - p)
    a_most = (at_s.a[1] - at_right.a[0]) / (s - right)
    b_most = (at_s.b[1] - at_right.b[0]) / (s - right)
    rises, width = a_least >= b_most, right - left
    if rises or a_most <= b_least:
        return (rises, True)
    turn = a_most - a_least
    if not 0.0 < turn < inf:
        return (False, False)
    where = (at_left.a[0] - at_right.a[0] + a_most * width) / turn  # where a's lines meet
    where = min(max(where, 0.0), width)
    a = max(at_left.a[0] + a_least * where, at_right.a[0] - a_most * (width - where))
    b = at_left.b[1] + (at_right.b[1] - at_left.b[1]) * (where / width)
    return (False, a > b)


def crossing(f: Callable[[float], float], low: float, high: float) -> float:
    """A rate at which f >= 0, at most a relative `CLOSE` above one with f < 0.

    f(low) < 0 <= f(high). Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding
    the zero of a nonlinear function" (1997), on a logarithmic scale.
    """
    x, y = [log(high), log(low)], [f(high), f(low)]
    before, value_before, share = x[1], y[1], 0.5
    for _ in range(200):
        middle = x[0] + share * (x[1] - x[0])
        value = f(exp(middle))
        if (value >= 0.0) == (y[0] >= 0.0):
            before, value_before = x[0], y[0]
        else:
            before, value_before = x[1], y[1]
            x[1], y[1] = x[0], y[0]
        x[0], y[0] = middle, value
        width = abs(x[1] - x[0])
        if width <= CLOSE:
            break
        share, least = 0.5, CLOSE / 2.5 / width
        if isfinite(value + y[1] + value_before) and value_before != value != y[1]:
            xi, phi = (x[0] - x[1]) / (before - x[1]), (y[0] - y[1]) / (value_before - y[1])
            if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
                side = (before - x[0]) / (x[1] - x[0])
                share = y[0] / (y[1] - y[0]) * (value_before / (y[1] - value_before))
                share += side * y[0] / (value_before - y[0]) * (y[1] / (value_before - y[1]))
        share = min(max(share, least), 1.0 - least)
    return exp(x[0] if y[0] >= 0.0 else x[1])
