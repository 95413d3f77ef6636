"""Where a comparison of two convex functions holds for good: a search that proves its answer.

A target of accuracy holds at rate x where A(x) >= B(x), for sums of exponentials that decay with
x, or for other functions whose logarithms (or which themselves) are convex: a and b. Their
difference need not be monotone, so that bisection alone could miss a rate at which the target
fails again. On an interval [l, r]

* a lies above its tangents at l and r, and b below its chord. The greater of two lines less a
  line is least at l, at r, or where the tangents meet: a bound from below for all of it;
* a' and b' do not fall. If a'(l) >= b'(r), then a - b rises from l to r; if a'(r) <= b'(l), it
  falls. Either way it is least at an end.

`last_failure` goes down from the greatest rate, cuts what neither bound decides, and so knows
that the target holds wherever it has been. It ends below where a - b rises through 0, at a
failure that it has seen. Nothing is inferred from a sample of rates.

**Rounding.** Functions are in float64, a term's exponent relative to the best one. Only a sign of
a - b beyond `margin` counts: 2**-48 * (16 + abs(a) + abs(b)), which is more than what rounding does
to sums of terms of these magnitudes. A search that would have to decide within it, as where a
target is met with equality, raises `PrecisionError`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from ..errors import PrecisionError

CLOSE = 3e-13  # of two rates: an answer is known so far
SHARP = 1e-12, 1e-9, 1e-6  # the target is seen to fail so far below, or there is no answer
MOST = 5_000  # evaluations
SURE = 2.0**-48
SLOPES = 2.0**-44
UNKNOWN = (
    "epsilon_for finds no proof: at some epsilon the target is met with equality, or nearly so; "
    "ask for a little more or less"
)


class Gap(NamedTuple):
    """Two convex functions at one rate: their values and slopes. The target holds if a >= b."""

    a: float
    b: float
    a_slope: float = math.nan
    b_slope: float = math.nan

    @property
    def sure(self) -> float:
        """a - b less the margin: negative where it is not certain that the target holds."""
        if -math.inf in (self.a, self.b):  # a sum of no terms
            return math.inf if self.b == -math.inf else -math.inf
        return (self.a - self.b) - SURE * (16.0 + abs(self.a) + abs(self.b))

    @property
    def fails(self) -> bool:
        """Whether a < b for certain."""
        return Gap(self.b, self.a).sure > 0.0


Comparison: TypeAlias = Callable[[float], Gap]


class Unreached(Exception):  # an answer, which callers put into words
    """The target fails at the greatest rate."""


def last_failure(
    surely: Comparison, perhaps: Comparison, low: float, high: float, *, rising: bool = False
) -> float:
    """The least rate from which on, up to `high`, the target holds; `low` if it always does.

    `surely` and `perhaps` compare with coefficients rounded against the target, and in its favour;
    0 < low < high; `rising`: a - b is known to rise. The target fails within a relative 1e-12 below
    the rate; 1e-9, then 1e-6 where float64 cannot tell, as it hardly depends on the rate.
    `Unreached` if it fails at `high`, `PrecisionError` if neither can be proved.
    """
    right, at_right = high, surely(high)
    if at_right.sure < 0.0:
        if perhaps(high).fails:
            raise Unreached
        raise PrecisionError(UNKNOWN)
    ahead = [(low, surely(low))]
    for _ in range(MOST):
        left, at_left = ahead[-1]
        rises = rising or _below(at_right.b_slope, at_left.a_slope)
        if at_left.sure >= 0.0 and (rises or _holds(left, at_left, right, at_right)):
            right, at_right = ahead.pop()
            if not ahead:
                return low
        elif rises:
            right = crossing(lambda x: surely(x).sure, left, right)
            return _seen_to_fail(perhaps, right)
        elif right <= left * (1.0 + CLOSE):
            return _seen_to_fail(perhaps, right)
        else:
            middle = math.sqrt(left) * math.sqrt(right)
            ahead.append((middle, surely(middle)))
    raise PrecisionError(UNKNOWN)


def _below(slope: float, other: float) -> bool:
    """Whether one slope is at most another, whatever rounding did to them."""
    return other - slope >= SLOPES * (abs(other) + abs(slope))


def _holds(left: float, at_left: Gap, right: float, at_right: Gap) -> bool:
    """Whether a > b on the whole interval, as it is at both ends."""
    if at_left.b == -math.inf or _below(at_right.a_slope, at_left.b_slope):
        return True
    width = right - left
    turn = at_right.a_slope - at_left.a_slope
    if turn <= 0.0:
        return True  # a is a line, b below its chord
    at = ((at_left.a - at_right.a) + at_right.a_slope * width) / turn  # where the tangents meet
    at = min(max(at, 0.0), width)
    back = at_right.a_slope * (width - at)
    a = max(at_left.a + at_left.a_slope * at, at_right.a - back)
    b = at_left.b + (at_right.b - at_left.b) * (at / width)
    terms = abs(at_left.a) + abs(at_right.a) + abs(at_left.b) + abs(at_right.b) + abs(back)
    return a - b > SURE * (16.0 + terms)


def _seen_to_fail(perhaps: Comparison, right: float) -> float:
    """The rate, if the target fails just below it."""
    if any(perhaps(right * (1.0 - gap)).fails for gap in SHARP):
        return right
    raise PrecisionError(UNKNOWN)


def crossing(f: Callable[[float], float], low: float, high: float, close: float = CLOSE) -> float:
    """A rate at which f >= 0, at most a relative `close` above one with f < 0.

    f(low) < 0 <= f(high). Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding
    the zero of a nonlinear function" (1997), on a logarithmic scale.
    """
    x, y = [math.log(high), math.log(low)], [f(high), f(low)]
    before, value_before, share = x[1], y[1], 0.5
    for _ in range(200):
        middle = x[0] + share * (x[1] - x[0])
        value = f(math.exp(middle))
        if (value >= 0.0) == (y[0] >= 0.0):
            before, value_before = x[0], y[0]
        else:
            before, value_before = x[1], y[1]
            x[1], y[1] = x[0], y[0]
        x[0], y[0] = middle, value
        width = abs(x[1] - x[0])
        if width <= close:
            break
        share, least = 0.5, close / 2.5 / width
        if math.isfinite(value + y[1] + value_before) and value_before != value != y[1]:
            xi, phi = (x[0] - x[1]) / (before - x[1]), (y[0] - y[1]) / (value_before - y[1])
            if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
                side = (before - x[0]) / (x[1] - x[0])
                share = y[0] / (y[1] - y[0]) * (value_before / (y[1] - value_before))
                share += side * y[0] / (value_before - y[0]) * (y[1] / (value_before - y[1]))
        share = min(max(share, least), 1.0 - least)
    return math.exp(x[0] if y[0] >= 0.0 else x[1])
