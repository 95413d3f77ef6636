"""Exact pairs (alpha, beta): what noise scaled by a smooth sensitivity costs, and the best pair.

A statistic with noise SS/alpha * Z is compared with its neighbour's: in units of the smaller
scale the centre moves by at most alpha, and the scale changes by a factor exp(t), |t| <= beta.
Write s for the shift, and P, Q for the laws of Z and of s + exp(t)*Z. Of two pairs the smaller
one is private too, so that results are rounded down. Each function below gives the greatest
alpha for a beta.

*Cauchy.* The greatest log-ratio of two Cauchy densities is the hyperbolic distance of their
parameters, D = acosh(cosh t + s**2 * exp(-t) / 2).

*Student's t with 3 degrees of freedom.* Its density is the square of a Cauchy density of
w = z/sqrt(3), up to constants, and the greatest log-ratio of two Cauchy densities is the
hyperbolic distance D = acosh(cosh t + s**2 * exp(-t) / 6) of their parameters. Hence, for t >= 0,
the greatest log-ratio of both laws is 2*D + t, and 2*D + t <= epsilon says s**2 <= G(t) with

    G(t) = 12 * exp(t) * sinh((epsilon + t)/4) * sinh((epsilon - 3t)/4).

G' has the sign of exp(epsilon/2) + 3*exp(t - epsilon/2) - 4*exp(3t/2), which goes from + to - at
most once, so that the least value on [0, beta] is at an end: alpha**2 = min(G(0), G(beta)).

*Laplace core with a Pareto tail*, density exp(-|z|) up to |z| = 3 and |z|**-3 beyond, up to
constants. For t >= 0 the log-ratio ln Q/P rises up to z = 3*exp(t) and falls after it, where it is
2*t + s*exp(-t); ln P/Q is at most t + s*exp(-t), at z = 0. The first is convex in t, hence at
most epsilon for alpha = min(epsilon, (epsilon - 2*beta) * exp(beta)), and up to alpha = 3, the
end of the core, for no more.

*Laplace, with delta.* A wider Q (t >= 0) has ln P/Q <= t + s*exp(-t), at z = 0: convex again, so
that no delta is needed if alpha <= min(epsilon, (epsilon - beta) * exp(beta)). A narrower Q, of
scale exp(-t), is exceeded by more than exp(epsilon) only beyond two points, and the integral of
P - exp(epsilon)*Q there is, at the greatest shift s = alpha * exp(-t),

    (1 - exp(-t)) * exp(-(epsilon + t)*u) * cosh(alpha*u),    u = 1/(exp(t) - 1).

It rises with t, as t*u rises with u and alpha <= epsilon: delta is its value at t = beta.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .amounts import MARGIN, below
from .golden_section import cuts

MOST = 600.0  # a greater epsilon is used as this one: formulas overflow, and nothing is gained
SPAN, PARTS, STEPS = 30.0, 120, 60  # of the search: e-folds, coarse steps, halvings
Frontier = Callable[[float], float]  # beta -> the greatest alpha; 0 if there is none


def spread_out(beta: float) -> float:
    """About the smooth sensitivity of evenly spaced records, in spacings: the yardstick.

    The greatest of (k + 1) * exp(-beta*k) over real k >= 0.
    """
    return math.exp(beta - 1) / beta if beta < 1 else 1.0


def balanced(epsilon: float, price: float) -> float:
    """The beta with the least `spread_out(beta) / alpha` where alpha costs epsilon - price*beta."""
    return below(2 * epsilon / (epsilon + 2 * price + math.hypot(epsilon, 2 * price)))


def best_pair(most: float, alpha: Frontier) -> tuple[float, float]:
    """(alpha, beta) with the least `spread_out(beta) / alpha`, beta below `most`."""

    def gain(log_beta: float) -> float:
        beta = math.exp(log_beta)
        return alpha(beta) / spread_out(beta)

    beta = below(math.exp(highest(gain, math.log(most) - SPAN, math.log(most))))
    return below(alpha(beta)), beta


def highest(gain: Callable[[float], float], low: float, high: float) -> float:
    """About where a function with one peak is greatest: a grid, then golden sections."""
    step = (high - low) / PARTS
    near = max((low + i * step for i in range(1, PARTS)), key=gain)
    low, high = near - step, near + step
    for _ in range(STEPS):
        left, right = cuts(low, high)
        low, high = (low, right) if gain(left) >= gain(right) else (left, high)
    return (low + high) / 2


def cauchy_alpha(epsilon: float) -> Frontier:
    """Cauchy noise; beta < epsilon.

    The greatest log-ratio is D at (s, t) = (alpha, 0) or (alpha * exp(-beta), beta), less between
    them. Up to beta = ln(2 cosh(epsilon) - 1) the first one decides, and beta is free.
    """
    shift = 2 * math.sinh(epsilon / 2)

    def alpha(beta: float) -> float:
        rest = math.sinh((epsilon + beta) / 2) * math.sinh(max(epsilon - beta, 0.0) / 2)
        return min(shift, 2 * math.sqrt(math.exp(beta) * rest))

    return alpha


def student_alpha(epsilon: float) -> Frontier:
    """Student's t with 3 degrees of freedom; beta < epsilon / 3."""

    def least(t: float) -> float:
        rest = max(epsilon - 3 * t, 0.0)
        return 12 * math.exp(t) * math.sinh((epsilon + t) / 4) * math.sinh(rest / 4)

    return lambda beta: math.sqrt(min(least(0.0), least(beta)))


def pareto_alpha(epsilon: float) -> Frontier:
    """A Laplace core with a Pareto tail of index 2; beta < epsilon / 2."""
    return lambda beta: min(epsilon, max(epsilon - 2 * beta, 0.0) * math.exp(beta))


def laplace_alpha(epsilon: float, delta: float) -> Frontier:
    """Laplace noise with a delta; beta < epsilon."""

    def alpha(beta: float) -> float:
        pure = min(epsilon, max(epsilon - beta, 0.0) * math.exp(beta))
        u = 1 / math.expm1(beta)
        terms = (math.log(delta), (epsilon + beta) * u, -math.log(-math.expm1(-beta)))
        power = sum(terms) - MARGIN * sum(map(abs, terms))  # ln of a safe cosh(alpha * u)
        if power <= 0:
            return 0.0
        return min(pure, (power + math.log1p(math.sqrt(-math.expm1(-2 * power)))) / u)

    return alpha
