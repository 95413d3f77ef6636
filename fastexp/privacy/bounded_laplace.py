"""The rate of the Laplace mechanism on a bounded grid, and the exact epsilon that it costs.

Outcomes are the points t = 0, ..., N; the statistic x lies anywhere in [0, N] (all in units of
the step), and point t has weight exp(-a*|x - t|). Cutting the line off at its ends makes the
normaliser Z(x) depend on x: it is smallest at the ends, where only one side is left.

**Theorem.** For data sets with |x - x'| <= D <= N, D = K + d, K whole and 0 <= d < 1, the
greatest log-ratio of the probabilities of a point, over all x, x' and points, is

    E(a) = a*D + max(ln Z(D)/Z(0), ln Z(K+1)/Z(1-d)),    the second term only if d > 0.

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
from fractions import Fraction
from functools import lru_cache

from ..reference.exact import exp_bounds, log_bounds

DIGITS = 128  # relative precision of a bound on E, in bits
CONTINUUM = 1 << 80  # number of steps at which doubles cannot tell a grid from a continuum
CLOSE = 2.0**-50  # relative distance of the last two points of a search


def bounded_laplace_epsilon(a: Fraction, steps: int, reach: Fraction) -> Fraction:
    """Return an upper bound on E(a), the cost of the rate a > 0, within a relative 2**-100.

    `steps` is N >= 1, and `reach` is D, in (0, N]. E(a) is the larger of the theorem's two values
    a*lead + ln(above / below). `above` and `below` are sums of sign * exp(-a*x), kept as pairs
    (sign, x). Those of the phases d and 1 - d are multiplied by exp(a * the distance to the grid).
    """
    # Precision in bits that leaves DIGITS of E: sums are >= 1 - e**-a, and E is >= a*D.
    precision = DIGITS + _lost(a) + max(_lost(a), _lost(a * reach))
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
    costs = []
    for lead, above, below in ratios:
        high = sum(sign * exp_bounds(a * x, precision)[sign > 0] for sign, x in above)
        low = sum(sign * exp_bounds(a * x, precision)[sign < 0] for sign, x in below)
        log = log_bounds(Fraction(high, low), precision)[1]
        costs.append(a * lead + Fraction(log, 1 << precision))
    return max(costs)


def _lost(small: Fraction) -> int:
    """Return the number of zeros behind the binary point of a small number."""
    return max(0, small.denominator.bit_length() - small.numerator.bit_length() + 1)


@lru_cache(maxsize=4096)  # room for all points of a search for an epsilon
def bounded_laplace_rate(epsilon: Fraction, steps: int, reach: Fraction) -> Fraction:
    """Return the largest double a with E(a) <= epsilon, certified by bounds in integers.

    It is at least epsilon / (2*D), the rate that is safe on any grid, and exactly epsilon / N if
    D >= N. That E rises with a matters only for accuracy, not for privacy.
    """
    if reach >= steps:
        return epsilon / steps

    def excess(a: float) -> Fraction:
        return bounded_laplace_epsilon(Fraction(a), steps, reach) - epsilon

    least = epsilon / (2 * reach)  # E <= epsilon here, and E >= epsilon at twice this rate
    low, high = x, y = float(least), float(2 * least)
    at_x, at_y = excess(x), excess(y)
    while abs(y - x) > y * CLOSE:  # secants, or halving if they leave the bracket
        new = y - float(at_y * Fraction(y - x) / (at_y - at_x)) if at_x != at_y else y
        if not low <= new <= high:
            new = (low + high) / 2
        x, at_x, y, at_y = y, at_y, new, excess(new)
        low, high = (new, high) if at_y < 0 else (low, new)
    while excess(y) > 0:
        y = math.nextafter(y, 0.0)
    while excess(above := math.nextafter(y, math.inf)) <= 0:
        y = above
    return max(Fraction(y), least)


def continuous_laplace_rate(epsilon: Fraction, width: Fraction, sensitivity: Fraction) -> Fraction:
    """Return the rate on an interval of this width, to the precision of doubles."""
    reach = min(sensitivity / width, Fraction(1)) * CONTINUUM
    return bounded_laplace_rate(epsilon, CONTINUUM, reach) * CONTINUUM / width
