"""Noise for a smooth sensitivity: its calibrations, and what they promise. No data.

A statistic f with a beta-smooth bound SS on its local sensitivity is released as
f + SS/alpha * Z. Which (alpha, beta) are allowed depends on Z and epsilon only. `"paper"` is what
was published, `"tight"` the exact cost of the noise, where it is known:

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

The last three give epsilon**2 / 2 of zero-concentrated differential privacy (Bun and Steinke);
their split is the best one, as is the sigma of laplace-lognormal, for its standard deviation.
*Best*: of the least `spread_out(beta) / alpha`, about the error on evenly spaced records; nothing
looks at data. All results are moved to the safe side.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .._parameters import validate
from .._typing import Relation
from ..errors import ParameterError
from . import amounts
from .conversion import zcdp_epsilon
from .guarantee import Guarantee, pure_guarantee
from .smooth_noise_pairs import (
    MOST,
    balanced,
    best_pair,
    cauchy_alpha,
    highest,
    laplace_alpha,
    pareto_alpha,
    spread_out,
    student_alpha,
)

PURE = ("cauchy", "student-t", "pareto-tail")
CONCENTRATED = ("laplace-lognormal", "uniform-lognormal", "arsinh-normal")
NOISES = (*PURE, "laplace", *CONCENTRATED)
CALIBRATIONS = ("paper", "tight")
UNIFORM_SIGMA, ARSINH_SIGMA = math.sqrt(2), 2 / math.sqrt(3)
UNIFORM_SHIFT = math.exp(1.5 * UNIFORM_SIGMA**2) * math.sqrt(2 / math.pi) / UNIFORM_SIGMA
ARSINH_SHIFT = 2 / (3 * ARSINH_SIGMA) + ARSINH_SIGMA / 2


class Calibration(NamedTuple):
    """The noise is SS_beta / alpha * Z; `sigma` is Z's own parameter, 0 if it has none."""

    alpha: float
    beta: float
    sigma: float


def noise_delta(noise: str, delta: float) -> float:
    """A delta that fits the noise: in (0, 1) for laplace, 0 for pure noises."""
    number = validate.real("delta", delta)
    if noise == "laplace" or (noise in CONCENTRATED and number != 0.0):
        return _positive_delta(noise, number)
    if number != 0.0:
        raise ParameterError(f"delta must be 0 with noise={noise!r}, which is pure, got {number!r}")
    return 0.0


def _positive_delta(noise: str, number: float) -> float:
    if not 0.0 < number < 1.0:
        raise ParameterError(f"delta must be in (0, 1) with noise={noise!r}, got {number!r}")
    return number


def calibrate(noise: str, calibration: str, epsilon: float, delta: float) -> Calibration:
    """The pair for checked parameters."""
    if noise in CONCENTRATED:
        return _concentrated(noise, epsilon)
    pair = _tight(noise, epsilon, delta) if calibration == "tight" else None
    return Calibration(*(pair or _paper(noise, epsilon, delta)), 0.0)


def _paper(noise: str, epsilon: float, delta: float) -> tuple[float, float]:
    below = amounts.below
    if noise == "cauchy":
        return below(epsilon / 6), below(epsilon / 6)
    if noise == "student-t":
        return below(epsilon / 2 * math.sqrt(3) / 2), below(epsilon / 8)
    if noise == "pareto-tail":
        return below(epsilon / 2), below(epsilon / 4)
    log = epsilon / 2 + math.log1p(math.exp(-epsilon / 2)) - math.log(delta)
    return below(epsilon / 2), below(epsilon / (2 * log))


def _tight(noise: str, epsilon: float, delta: float) -> tuple[float, float]:
    e = min(epsilon, MOST)
    if noise == "cauchy":
        return best_pair(e, cauchy_alpha(e))
    if noise == "student-t":
        return best_pair(e / 3, student_alpha(e))
    if noise == "pareto-tail":
        return best_pair(e / 2, pareto_alpha(e))
    return best_pair(e, laplace_alpha(e, delta))


def _concentrated(noise: str, epsilon: float) -> Calibration:
    e = min(epsilon, MOST)
    if noise == "arsinh-normal":
        return _arsinh(e)
    if noise == "uniform-lognormal":
        beta = balanced(e, 1 / UNIFORM_SIGMA)
        alpha = (e - beta / UNIFORM_SIGMA) / UNIFORM_SHIFT
        return Calibration(amounts.below(alpha), beta, UNIFORM_SIGMA)

    def alpha_of(sigma: float) -> float:
        return math.exp(-1.5 * sigma**2) * (e - balanced(e, 1 / sigma) / sigma)

    def gain(sigma: float) -> float:
        noise_sd = math.exp(sigma**2)
        return alpha_of(sigma) / (noise_sd * spread_out(balanced(e, 1 / sigma)))

    sigma = highest(gain, 0.0, 3.0)
    return Calibration(amounts.below(alpha_of(sigma)), balanced(e, 1 / sigma), sigma)


def _arsinh(e: float) -> Calibration:
    sigma = ARSINH_SIGMA

    def alpha(beta: float) -> float:
        price = math.sqrt(beta * (beta / sigma**2 + 1 / sigma + 2))
        return max(e - price, 0.0) / ARSINH_SHIFT

    half = 1 / sigma + 2  # where the price is e: beta**2 / sigma**2 + half * beta = e**2
    most = 2 * e * e / (half + math.hypot(half, 2 * e / sigma))
    return Calibration(*best_pair(most, alpha), sigma)


def smooth_guarantee(
    noise: str, epsilon: float, delta: float, neighbors: Relation, assumes: str
) -> Guarantee:
    """What noise calibrated for epsilon (and delta) promises, of the ideal mechanism."""
    if noise in PURE:
        return pure_guarantee(epsilon, neighbors, assumes)
    if noise == "laplace":
        return Guarantee(epsilon, neighbors, None, None, delta, assumes)
    rho = amounts.up(amounts.exact(epsilon) ** 2 / 2)
    implied = zcdp_epsilon(rho, delta) if delta > 0 else None
    return Guarantee(implied, neighbors, None, rho, delta, assumes)
