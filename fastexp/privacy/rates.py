"""The exact factors by which mechanisms multiply a utility, from epsilon: their only home."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil

import numpy as np

from ..errors import ParameterError
from ..parameters import checks
from ..types import Neighbors, Number
from .guarantee import selection_rho, up

MOST = Fraction(2) ** 900  # beyond it, rates and their products leave float64


def selection_rate(epsilon: Number, sensitivity: Number, monotonic: bool) -> Fraction:
    """Return the c of the weight exp(c * utility): epsilon over the range sensitivity.

    One record moves two utilities apart by at most twice the sensitivity, and by at most the
    sensitivity if it moves all of them in the same direction (`monotonic`). McSherry and Talwar
    2007; Durfee and Rogers 2019.
    """
    moves = checks.positive("sensitivity", sensitivity) * (1 if monotonic else 2)
    rate = checks.positive("epsilon", epsilon) / moves
    if not 1 / MOST < rate < MOST:
        raise ParameterError(
            "epsilon must be between 2**-899 and 2**899 times the sensitivity, got "
            f"{epsilon!r} and {sensitivity!r}"
        )
    return rate


def rank_rate(epsilon: Number, steps: int) -> Fraction:
    """Return the c of the weight exp(-c * distance), if a record moves a distance by `steps`.

    A record raises the distances on one side of the statistic and lowers those on the other (Smith
    2011; Asi and Duchi 2020).
    """
    return selection_rate(epsilon, steps, monotonic=False)


def peeling_round(
    rounds: int, *, epsilon: Number | None = None, delta: Number = 0.0, rho: Number | None = None
) -> Fraction:
    """Return the largest epsilon of each selection with which all rounds keep a total.

    Parameters
    ----------
    rounds : int
        The number of selections by the exponential mechanism, >= 1.
    epsilon : float, optional
        The total, in nats; either this or `rho`.
    delta : float
        In [0, 1), with epsilon; 0: pure.
    rho : float, optional
        The total of zero-concentrated differential privacy.

    Returns
    -------
    fractions.Fraction
        epsilon / rounds, exactly, if delta is 0; else a float: the largest for which `rounds` times
        `selection_rho` is at most rho, or a rho that implies (epsilon, delta).

    Raises
    ------
    ParameterError, ParameterTypeError
        If not exactly one total is given, or one is outside its range.

    References
    ----------
    Durfee and Rogers, "Practical differentially private top-k selection with pay-what-you-get
    composition", NeurIPS 2019. Canonne, Kamath and Steinke, "The discrete Gaussian for differential
    privacy", NeurIPS 2020, Proposition 12 (delta).

    Examples
    --------
    >>> import fastexp as fx
    >>> float(fx.privacy.peeling_round(10, epsilon=1.0))
    0.1
    >>> round(float(fx.privacy.peeling_round(10, epsilon=1.0, delta=1e-6)), 4)
    0.1396
    """
    checks.whole("rounds", rounds, 1, checks.MAX_EXACT)
    slack = checks.decimal("delta", delta)
    if (epsilon is None) == (rho is None) or (rho is not None and slack != 0):
        raise ParameterError("epsilon (with or without delta) or rho must be given, and not both")
    if not 0 <= slack < 1:
        raise ParameterError(f"delta must be in [0, 1), got {delta!r}")
    if rho is not None:
        checks.positive("rho", rho)
        return _largest(checks.decimal("rho", rho) / rounds)
    pure = checks.positive("epsilon", epsilon) / rounds
    if slack < 1e-300:  # of which no double has the logarithm; this is right, too
        return pure
    # log(delta) = b * ((1 + b) * rho - epsilon - log(1 + 1/b)) - log(1 + b) for any order 1 + b
    b = np.geomspace(1e-15, 1e30, 1 << 12)
    most = float(pure * rounds) + (math.log(slack) + np.log1p(b)) / b + np.log1p(1 / b)
    total = Fraction(max(0.0, float((most / (1 + b)).max()) * (1 - 1e-9)))
    return max(pure, _largest(total / rounds))


def _largest(rho: Fraction) -> Fraction:
    """Return the largest float epsilon, or nearly, whose `selection_rho` is at most a number."""
    low, high = 0.0, math.sqrt(8 * rho) + 1
    while selection_rho(high) <= rho:
        high *= 2
    while low < (middle := (low + high) / 2) < high:
        if selection_rho(up(Fraction(middle))) <= rho:
            low = middle
        else:
            high = middle
    return Fraction(low)


def price_rate(epsilon: Number, highest: int, scaling: str) -> Fraction:
    """Return the c of the weight exp(c * revenue), if prices are at least 0.

    One bid more, less or other moves the revenue of all prices in the same direction, by at most
    the highest price. The scaling "textbook" does not use this.
    """
    return selection_rate(epsilon, highest, monotonic=scaling == "tight")


def laplace_rate(epsilon: Number, sensitivity: Number, step: Number) -> Fraction:
    """Return the c of the weight exp(-c * distance in steps), on all multiples of a step.

    The sensitivity counts as the next multiple of the step, as a decimal: then the sum of weights
    is the same before and after, and no factor 2 is needed. The sum's logarithm changes by at most
    c a step. So if the stored sensitivity is more than that multiple, the rest counts twice, for
    the distance and for the sum.
    """
    checks.positive("step", step)
    exact, width = checks.positive("sensitivity", sensitivity), checks.decimal("step", step)
    moves = ceil(checks.decimal("sensitivity", sensitivity) / width)
    rest = max(exact / width - moves, Fraction(0))
    return selection_rate(epsilon, moves + 2 * rest, monotonic=True)


def response_rate(epsilon: Number) -> Fraction:
    """Return the c of the weight exp(c) of the true bit, 1 of the other: their sum is constant."""
    return selection_rate(epsilon, 1, monotonic=True)


def smooth_rates(epsilon: Number, delta: Number) -> tuple[float, float]:
    """Return alpha and beta of noise in units of the smooth sensitivity for beta, over alpha.

    Without a delta it is Cauchy noise, else Laplace noise; both half-steps of delta are added up
    (Nissim, Raskhodnikova and Smith 2007).
    """
    exact, chance = checks.positive("epsilon", epsilon), checks.exact("delta", delta)
    if not chance:
        return float(exact / 6), float(exact / 6)
    with localcontext(prec=30):  # the same digits everywhere
        half, part = (Decimal(x.numerator) / x.denominator for x in (exact / 2, chance))
        return float(half), float(half / (half + (1 + (-half).exp()).ln() - part.ln()))


def node_epsilon(epsilon: Number, count: int, neighbors: Neighbors) -> Fraction:
    """Return the epsilon of each draw if quantiles are drawn by recursion, the middle one first.

    There are bit_length(count) levels. The draws of a level share no records, so one record that is
    added or removed changes one draw a level. Replacing it is both, perhaps of the same draw.
    """
    steps = 1 if neighbors == "add-remove" else 2
    return checks.positive("epsilon", epsilon) / (count.bit_length() * steps)
