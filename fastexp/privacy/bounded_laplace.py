"""The rate of the Laplace mechanism on a bounded grid: what epsilon it costs, exactly.

Outcomes are the points t = 0, ..., N; the statistic x lies anywhere in [0, N] (all in units of
the step), and point t has weight exp(-a*|x - t|). Cutting the line off at its ends makes the
normaliser Z(x) depend on x: least at the ends, where only one side is left. What this costs:

**Theorem.** For data sets with |x - x'| <= D <= N, D = K + d, K whole and 0 <= d < 1, the
greatest log-ratio of the probabilities of a point, over all x, x' and points, is

    E(a) = a*D + max(ln Z(D)/Z(0), ln Z(K+1)/Z(1-d)),    the second one where d > 0 only.

*Proof.* Let x < x'. The log-ratio a*(|x' - t| - |x - t|) + ln Z(x')/Z(x) is greatest at t = 0,
where it is a*(x' - x) + ln Z(x')/Z(x). Z is a sum of exponentials of slopes +-a, so a*x' + ln
Z(x') never falls and a*x + ln Z(x) neither: x' = x + D is worst, for x in [0, N - D].

Summing geometric series, with p the distance from x to the grid point below it,

    (1 - e**-a) * Z(x) = P(p) - S(x),    P(p) = e**(-a*p) + e**(-a*(1-p)),
    S(x) = e**(-a*(x+1)) + e**(-a*(N+1-x)).

Between grid points of x and of x + D, Z(x) is A*e**(-a*x) + B*e**(a*x) and so is Z(x + D), with
constants >= 0: their ratio is monotone in e**(2*a*x). So x or x + D is a grid point at the
maximum, and the ratio is R(x) = (P(d) - S(x+D)) / (P(0) - S(x)) in the first case. In the
second it is 1/R(N - x - D), as P(1-p) = P(p) and S(N-x) = S(x). *R falls in x*, read as a
function of all real x, so the first case is worst at x = 0 and the second one at x = 1 - d.
With s = -S', R falls if s(x+D) * (P(0) - S(x)) <= s(x) * (P(d) - S(x+D)). Now s falls, is 0 in
the middle, and the brackets are > 0. If x + D is beyond the middle and x before it, that is
clear. If both are beyond it, then S(x+D) >= S(x), P(d) <= P(0) and |s(x+D)| >= |s(x)|, and it
is clear too. If both are before it, put v = N/2 - x >= D, z = a*(v - D), c = 2*e**(-a*(N/2+1)):
s(x) = a*c*sinh(a*v) and S(x) = c*cosh(a*v), and it says

    P(d)*sinh(a*v) - P(0)*sinh(z) >= c*sinh(a*D).

The left side is (P(d)*e**(a*D) - P(0))*sinh(z) + P(d)*sinh(a*D)*e**-z. Its first term is >= 0,
as P(d)*e**(a*d) = 1 + e**(-a*(1-2*d)) >= 1 + e**-a = P(0). And P(d) >= 2*e**(-a/2) with z <= a*N/2
gives P(d)*e**-z >= 2*e**(-a*(N+1)/2) >= c. QED.

As the step goes to 0 this becomes a*D + ln((2 - e**(-a*D) - e**(-a*(N-D))) / (1 - e**(-a*N))),
the formula on an interval. Always a*D <= E(a) <= 2*a*D, by the slopes of ln Z; at D = N both
normalisers agree, and E(a) = a*N.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from ..reference.exact import exp_bounds, log_bounds

DIGITS = 128  # binary ones of a bound on E, relative
CONTINUUM = 1 << 80  # steps of a grid that is a continuum as far as doubles can tell
HALF = Fraction(1, 2)
Terms = list[tuple[int, Fraction]]  # (sign, x): sign * exp(-a*x)
Ratio = tuple[Fraction, Terms, Terms]


def bounded_laplace_epsilon(a: Fraction, steps: int, reach: Fraction) -> Fraction:
    """An upper bound on E(a), within a relative 2**-100: what the rate a > 0 costs.

    `steps` is N >= 1, and `reach` is D, in (0, N].
    """
    precision = _precision(a, reach)
    logs = [
        a * lead
        + Fraction(log_bounds(_above(a, over, under, precision), precision)[1], 1 << precision)
        for lead, over, under in _ratios(steps, reach)
    ]
    return max(logs, default=a * reach)


def _ratios(steps: int, reach: Fraction) -> list[Ratio]:
    """(lead, above, below), so that E(a) is the greatest a*lead + ln(above / below); none: a*D.

    Sums of the phases d and 1 - d are multiplied with exp(a * the distance to the grid).
    """
    if reach == steps:
        return []
    whole = reach.numerator // reach.denominator
    d, last, zero = reach - whole, steps + 1, Fraction(0)
    near = min(d, 1 - d)
    both = [(1, d - near), (1, 1 - d - near)]
    inside = [*both, (-1, reach + 1 - near), (-1, last - reach - near)]
    ratios = [(reach - near, inside, [(1, zero), (-1, zero + last)])]
    if d > 0:
        on = [(1, zero), (1, zero + 1), (-1, zero + whole + 2), (-1, zero + steps - whole)]
        off = [*both, (-1, 2 - d - near), (-1, steps + d - near)]
        ratios.append((reach + near, on, off))
    return ratios


def _above(a: Fraction, over: Terms, under: Terms, precision: int) -> Fraction:
    """An upper bound on the ratio of two sums of exponentials, both > 0."""
    high = sum(sign * exp_bounds(a * x, precision)[sign > 0] for sign, x in over)
    low = sum(sign * exp_bounds(a * x, precision)[sign < 0] for sign, x in under)
    return Fraction(high, low)


def _precision(a: Fraction, reach: Fraction) -> int:
    """Binary digits that leave DIGITS of E: sums are >= 1 - e**-a, and E is >= a*D."""
    return DIGITS + _lost(a) + max(_lost(a), _lost(a * reach))


def _lost(small: Fraction) -> int:
    """The binary zeros behind the point of a small number."""
    return max(0, small.denominator.bit_length() - small.numerator.bit_length() + 1)


@lru_cache(maxsize=256)
def bounded_laplace_rate(epsilon: Fraction, steps: int, reach: Fraction) -> Fraction:
    """The greatest double a with E(a) <= epsilon, certified by bounds of exp in integers.

    Never below epsilon / (2*D), the rate that is safe on any grid, and exactly epsilon / N where
    D >= N. E rises with a, which matters for accuracy only, not for privacy.
    """
    if reach >= steps:
        return epsilon / steps
    ratios = _ratios(steps, reach)

    def excess(a: Fraction) -> Fraction:
        """About E(a) - epsilon: >= 0 unless E(a) < epsilon for certain."""
        precision = _precision(a, reach)
        return max(_excess(a, ratio, epsilon, precision) for ratio in ratios)

    low, high = epsilon / (2 * reach), epsilon / reach  # where E <= epsilon, and >= epsilon
    guess = float(_root(excess, low, high))
    while excess(Fraction(guess)) >= 0:
        guess = math.nextafter(guess, 0.0)
    while excess(Fraction(above := math.nextafter(guess, math.inf))) < 0:
        guess = above
    return max(Fraction(guess), low)


def _excess(a: Fraction, ratio: Ratio, epsilon: Fraction, precision: int) -> Fraction:
    """About a*lead + ln(above / below) - epsilon, < 0 only if that is so."""
    lead, above, below = ratio
    rest = epsilon - a * lead
    lo, hi = exp_bounds(abs(rest), precision)
    power = Fraction(hi, 1 << precision) if rest >= 0 else Fraction(1 << precision, max(lo, 1))
    least = _above(a, above, below, precision) * power - 1  # exp(excess) - 1, or a bit more
    if least >= 0:
        return least if least < 1 else max(Fraction(1), -rest)
    return least if least > -HALF else min(-HALF, -rest)


def _root(f: Callable[[Fraction], Fraction], low: Fraction, high: Fraction) -> Fraction:
    """About where the rising f is 0: secants, or halves where they leave the bracket."""
    x, y = low, high
    at_x, at_y = f(x), f(y)
    while high - low > high / (1 << 60) and abs(y - x) > high / (1 << 60):
        new = low if at_x == at_y else _short(y - at_y * (y - x) / (at_y - at_x))
        if not low < new < high:
            new = _short((low + high) / 2)
        x, at_x, y, at_y = y, at_y, new, f(new)
        low, high = (new, high) if at_y < 0 else (low, new)
    return low


def _short(x: Fraction) -> Fraction:
    """x to 64 binary digits, so that fractions stay small."""
    places = 64 + x.denominator.bit_length() - x.numerator.bit_length()
    scale = Fraction(2) ** places
    return (x * scale).__floor__() / scale


def continuous_laplace_rate(epsilon: Fraction, width: Fraction, sensitivity: Fraction) -> Fraction:
    """The rate on an interval of this width, to the precision of doubles."""
    reach = min(sensitivity / width, Fraction(1)) * CONTINUUM
    return bounded_laplace_rate(epsilon, CONTINUUM, reach) * CONTINUUM / width
