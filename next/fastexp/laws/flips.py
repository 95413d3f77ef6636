"""The integrals of permute-and-flip.

A candidate of weight w arrives at a uniform time t and is selected if its coin accepts it and those
of all who came before have refused: with probability w times the integral over t in [0, 1] of the
product of 1 - t * v over the weights v of the others (McKenna and Sheldon 2020).
"""

from __future__ import annotations

import numpy as np

from ..types import Floats

NODES, SHARES = np.polynomial.legendre.leggauss(64)
DEEPEST = 64.0  # nats: beyond it the integrand is below exp(-DEEPEST)
PANELS = 10


def log_integrals(heights: Floats) -> Floats:
    """Return ln of the integral of each candidate; its weight is exp(-height), the greatest 1.

    The integrand is a polynomial that falls at least like exp(-t * sum of weights). Its panels
    [0, b / 2**9], ..., [b / 4, b / 2], [b / 2, b] end where it has fallen by DEEPEST nats.
    """
    distinct, place, counts = np.unique(heights, return_inverse=True, return_counts=True)
    weights = np.exp(-distinct)
    total = np.zeros(distinct.size)
    high = min(1.0, DEEPEST / float(counts @ weights))
    for panel in range(PANELS):
        low = high / 2 if panel < PANELS - 1 else 0.0
        for node, share in zip(NODES, SHARES, strict=True):
            t = low + (high - low) * (node + 1) / 2
            logs = np.log1p(-t * weights)
            total += share * (high - low) / 2 * np.exp(counts @ logs - logs)
        high = low
    return np.asarray(np.log(total)[place])
