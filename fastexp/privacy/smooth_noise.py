"""Noise for a smooth sensitivity: its calibrations and their promises. No data are read.

A statistic f with a beta-smooth bound SS on its local sensitivity is released as
f + SS/alpha * Z. The allowed pairs (alpha, beta) depend on Z and epsilon only. `"paper"` is the
published calibration, and `"tight"` the exact cost of the noise, if that is known:

===================  ====================================================  ====================
noise                "paper"                                               "tight"
===================  ====================================================  ====================
cauchy               alpha = beta = epsilon/6 (Nissim et al.)              exact, best pair
laplace              alpha = epsilon/2, beta = epsilon / (2 ln((1 +        exact, best pair
                     exp(epsilon/2)) / delta)) (Nissim et al.)
student-t            epsilon = 4 beta + (2/sqrt(3)) alpha, halves          exact, best pair
                     (Bun and Steinke, Theorem 31, 3 degrees of freedom)
pareto-tail          epsilon = alpha + 2 beta, halves                      exact, best pair
laplace-lognormal    epsilon = beta/sigma + exp(3 sigma**2 / 2) alpha      the same
uniform-lognormal    epsilon = beta/sigma + exp(3 sigma**2 / 2) *          the same
                     sqrt(2/pi)/sigma * alpha, sigma = sqrt(2)
arsinh-normal        epsilon = sqrt(beta (beta/sigma**2 + 1/sigma + 2))    the same
                     + (2/(3 sigma) + sigma/2) alpha, sigma = 2/sqrt(3)
===================  ====================================================  ====================

The last three promise a rho of epsilon**2 / 2 (zero-concentrated differential privacy; Bun and
Steinke). Their split is the best one for the standard deviation, as is the sigma of
laplace-lognormal. The *best pair* has the smallest `spread_out(beta) / alpha`, which is about the
error on evenly spaced records; no data are read. All results are moved to the safe side.

Compare a statistic with noise SS/alpha * Z with that of a neighbouring data set: in units of the
smaller scale the centre moves by at most alpha, and the scale changes by a factor exp(t),
|t| <= beta. Write s for the shift, and P, Q for the laws of Z and of s + exp(t)*Z. A smaller pair
is private, too, so that results are rounded down.

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
from typing import NamedTuple

from .._parameters import validate
from .._typing import Relation
from ..errors import ParameterError
from .amounts import MARGIN, below, exact, up
from .conversion import cuts, zcdp_epsilon
from .guarantee import Guarantee, pure_guarantee

PURE = ("cauchy", "student-t", "pareto-tail")
CONCENTRATED = ("laplace-lognormal", "uniform-lognormal", "arsinh-normal")
NOISES = (*PURE, "laplace", *CONCENTRATED)
CALIBRATIONS = ("paper", "tight")
UNIFORM_SIGMA, ARSINH_SIGMA = math.sqrt(2), 2 / math.sqrt(3)
UNIFORM_SHIFT = math.exp(1.5 * UNIFORM_SIGMA**2) * math.sqrt(2 / math.pi) / UNIFORM_SIGMA
ARSINH_SHIFT = 2 / (3 * ARSINH_SIGMA) + ARSINH_SIGMA / 2
MAX_EPSILON = 600.0  # a larger epsilon counts as this one: formulas would overflow, for no gain
SPAN, PARTS, STEPS = 30.0, 120, 60  # of a search: e-folds, coarse steps, golden sections


class Calibration(NamedTuple):
    """The parameters of noise SS_beta / alpha * Z; `sigma` is that of Z, 0 if it has none."""

    alpha: float
    beta: float
    sigma: float


def noise_delta(noise: str, delta: float) -> float:
    """Return a delta that fits the noise: in (0, 1) for laplace, 0 for pure noises."""
    number = validate.real("delta", delta)
    if noise != "laplace" and number == 0.0:
        return 0.0
    if noise in PURE:
        raise ParameterError(f"delta must be 0 with noise={noise!r}, which is pure, got {number!r}")
    if not 0.0 < number < 1.0:
        raise ParameterError(f"delta must be in (0, 1) with noise={noise!r}, got {number!r}")
    return number


def calibrate(noise: str, calibration: str, epsilon: float, delta: float) -> Calibration:
    """Return the calibration for checked parameters."""
    e = min(epsilon, MAX_EPSILON)
    if noise in CONCENTRATED:
        return _concentrated(noise, e)
    if calibration == "tight":
        divisor, greatest = TIGHT[noise]
        return Calibration(*_best_pair(e / divisor, lambda beta: greatest(beta, e, delta)), 0.0)
    if noise == "cauchy":
        alpha, beta = epsilon / 6, epsilon / 6
    elif noise == "student-t":
        alpha, beta = epsilon / 2 * math.sqrt(3) / 2, epsilon / 8
    elif noise == "pareto-tail":
        alpha, beta = epsilon / 2, epsilon / 4
    else:
        log = epsilon / 2 + math.log1p(math.exp(-epsilon / 2)) - math.log(delta)
        alpha, beta = epsilon / 2, epsilon / (2 * log)
    return Calibration(below(alpha), below(beta), 0.0)


def _concentrated(noise: str, e: float) -> Calibration:
    if noise == "arsinh-normal":
        sigma = ARSINH_SIGMA

        def left(beta: float) -> float:
            price = math.sqrt(beta * (beta / sigma**2 + 1 / sigma + 2))
            return max(e - price, 0.0) / ARSINH_SHIFT

        half = 1 / sigma + 2  # the price is e if beta**2 / sigma**2 + half * beta = e**2
        most = 2 * e * e / (half + math.hypot(half, 2 * e / sigma))
        return Calibration(*_best_pair(most, left), sigma)
    if noise == "uniform-lognormal":
        beta = _balanced(e, 1 / UNIFORM_SIGMA)
        alpha = (e - beta / UNIFORM_SIGMA) / UNIFORM_SHIFT
        return Calibration(below(alpha), beta, UNIFORM_SIGMA)

    def pair(sigma: float) -> tuple[float, float]:
        beta = _balanced(e, 1 / sigma)
        return math.exp(-1.5 * sigma**2) * (e - beta / sigma), beta

    def gain(sigma: float) -> float:
        alpha, beta = pair(sigma)
        return alpha / (math.exp(sigma**2) * spread_out(beta))

    sigma = _highest(gain, 0.0, 3.0)
    alpha, beta = pair(sigma)
    return Calibration(below(alpha), beta, sigma)


def spread_out(beta: float) -> float:
    """Return about the smooth sensitivity of evenly spaced records, in spacings.

    It is the maximum of (k + 1) * exp(-beta*k) over real k >= 0, and compares calibrations.
    """
    return math.exp(beta - 1) / beta if beta < 1 else 1.0


def _balanced(epsilon: float, price: float) -> float:
    """Return the beta of the best pair if alpha costs epsilon - price*beta."""
    return below(2 * epsilon / (epsilon + 2 * price + math.hypot(epsilon, 2 * price)))


def _best_pair(most: float, alpha: Callable[[float], float]) -> tuple[float, float]:
    """Return the (alpha, beta) with the smallest `spread_out(beta) / alpha`, beta below `most`.

    `alpha` returns the largest alpha for a beta, 0 if there is none.
    """

    def gain(log_beta: float) -> float:
        beta = math.exp(log_beta)
        return alpha(beta) / spread_out(beta)

    beta = below(math.exp(_highest(gain, math.log(most) - SPAN, math.log(most))))
    return below(alpha(beta)), beta


def _highest(gain: Callable[[float], float], low: float, high: float) -> float:
    """Return about where a function with one peak is largest: a grid, then golden sections."""
    step = (high - low) / PARTS
    near = max((low + i * step for i in range(1, PARTS)), key=gain)
    low, high = near - step, near + step
    for _ in range(STEPS):
        left, right = cuts(low, high)
        low, high = (low, right) if gain(left) >= gain(right) else (left, high)
    return (low + high) / 2


def cauchy_alpha(beta: float, epsilon: float, _delta: float = 0.0) -> float:
    """Return the largest alpha of Cauchy noise; beta < epsilon.

    The largest log-ratio is D at (s, t) = (alpha, 0) or (alpha * exp(-beta), beta), and smaller
    between them. Up to beta = ln(2 cosh(epsilon) - 1) the first one is larger, and beta is free.
    """
    rest = math.sinh((epsilon + beta) / 2) * math.sinh(max(epsilon - beta, 0.0) / 2)
    return min(2 * math.sinh(epsilon / 2), 2 * math.sqrt(math.exp(beta) * rest))


def student_alpha(beta: float, epsilon: float, _delta: float = 0.0) -> float:
    """Return the largest alpha of Student's t with 3 degrees of freedom; beta < epsilon / 3."""
    squares = (
        12 * math.exp(t) * math.sinh((epsilon + t) / 4) * math.sinh(max(epsilon - 3 * t, 0.0) / 4)
        for t in (0.0, beta)
    )
    return math.sqrt(min(squares))


def pareto_alpha(beta: float, epsilon: float, _delta: float = 0.0) -> float:
    """Return the largest alpha of a Laplace core with Pareto tail of index 2; beta < epsilon/2."""
    return min(epsilon, max(epsilon - 2 * beta, 0.0) * math.exp(beta))


def laplace_alpha(beta: float, epsilon: float, delta: float) -> float:
    """Return the largest alpha of Laplace noise with a delta; beta < epsilon."""
    u = 1 / math.expm1(beta)
    terms = (math.log(delta), (epsilon + beta) * u, -math.log(-math.expm1(-beta)))
    power = sum(terms) - MARGIN * sum(map(abs, terms))  # ln of a safe cosh(alpha * u)
    if power <= 0:
        return 0.0
    pure = min(epsilon, max(epsilon - beta, 0.0) * math.exp(beta))
    return min(pure, (power + math.log1p(math.sqrt(-math.expm1(-2 * power)))) / u)


# The number by which epsilon is divided for the limit of beta; the largest alpha for a beta.
TIGHT: dict[str, tuple[int, Callable[[float, float, float], float]]] = {
    "cauchy": (1, cauchy_alpha),
    "student-t": (3, student_alpha),
    "pareto-tail": (2, pareto_alpha),
    "laplace": (1, laplace_alpha),
}


def smooth_guarantee(
    noise: str, epsilon: float, delta: float, neighbors: Relation, assumes: str
) -> Guarantee:
    """Return the promise of noise calibrated for epsilon (and delta), for the ideal mechanism."""
    if noise in PURE:
        return pure_guarantee(epsilon, neighbors, assumes)
    if noise == "laplace":
        return Guarantee(epsilon, neighbors, None, None, delta, assumes)
    rho = up(exact(epsilon) ** 2 / 2)
    implied = zcdp_epsilon(rho, delta) if delta > 0 else None
    return Guarantee(implied, neighbors, None, rho, delta, assumes)
