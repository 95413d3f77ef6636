"""Clopper and Pearson's confidence bounds of a probability, never on the wrong side.

For X hits in n independent draws, the greatest p whose P_p(X >= hits) is at most alpha is exceeded
by the true one with probability >= 1 - alpha (Clopper and Pearson, "The use of confidence or
fiducial limits illustrated in the case of the binomial", Biometrika 1934). Every p that is returned
was checked by an upper bound of that tail: a search that ends early, and rounding, only cost a
little power.
"""

from __future__ import annotations

import math

import numpy as np

SHARE = 1e-15  # of a bound, up to which it is searched for
ROUNDING = 2.0**-48  # of logarithms of factorials: `math.lgamma` errs by a few ulp


def lower_bound(hits: int, draws: int, alpha: float) -> float:
    """A number that the probability of a hit exceeds, with probability >= 1 - alpha."""
    if hits == 0 or alpha == 0.0:  # a share of the least double
        return 0.0
    low, high, most = 0.0, hits / draws, math.log(alpha)
    while high - low > SHARE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if log_tail(hits, draws, middle) <= most else (low, middle)
    return low


def upper_bound(hits: int, draws: int, alpha: float) -> float:
    """A number that the probability of a hit is below, with probability >= 1 - alpha."""
    return min(1.0, math.nextafter(1.0 - lower_bound(draws - hits, draws, alpha), 2.0))


def log_tail(hits: int, draws: int, p: float) -> float:
    """An upper bound of ln P(X >= hits) for p <= hits / draws, and hits >= 1.

    The tail is P(X = hits) * (1 + r1 + r1 * r2 + ...), where the ratio r of neighboring terms is
    below 1 and falls: what follows the last term that is added is at most a geometric series.
    """
    rest = draws - hits
    logs = [math.lgamma(draws + 1), -math.lgamma(hits + 1), -math.lgamma(rest + 1)]
    logs += [hits * math.log(p), rest * math.log1p(-p)]
    terms = min(rest, 100 + int(10 * math.sqrt(draws * p * (1 - p))))
    i = np.arange(1, terms + 1)
    ratios = (rest - i + 1) / (hits + i) * (p / (1 - p))
    total = 1.0 + float(np.cumprod(ratios).sum())
    if terms < rest:
        last = float(ratios[-1])
        total += float(ratios.prod()) * last / (1.0 - last)
    margin = ROUNDING * (1.0 + sum(map(abs, logs)))
    return sum(logs) + math.log(total) + margin
