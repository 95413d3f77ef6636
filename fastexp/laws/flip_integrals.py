"""Gauss and Legendre's rule for permute-and-flip, on panels with a certified error."""

from __future__ import annotations

from functools import cache

import numpy as np

from .._typing import FloatArray
from ..errors import PrecisionError
from ..kernels.bits.heights import BLOCK
from ..kernels.bits.logexp import exp_fill
from ..kernels.select.flip_law import flip_integrals, log_product

NODES = 20
RHO = 4.0  # of the Bernstein ellipse: semi-axes (RHO +- 1/RHO) / 2 of a panel's half-length
DECADES = 12.0  # a panel is so long that the product falls by about exp(-12)
NEGLIGIBLE = 1e-17
PROMISED = 1e-12
ROUNDING = 2.0**-49  # of a logarithm of magnitude 1, its sum and its exponential
# Trefethen (2013), Theorem 19.3: |error| <= 64/15 * M * RHO**(2 - 2n) / (RHO**2 - 1).
FACTOR = 64 / 15 * RHO ** (2 - 2 * NODES) / (RHO**2 - 1)


class Product:
    """F(t), the product of (1 - t*w)**count: the probability that nobody succeeds before t."""

    __slots__ = ("_work", "counts", "weights")
    counts: FloatArray
    weights: FloatArray

    def __init__(self, weights: FloatArray, counts: FloatArray) -> None:
        self.weights, self.counts, self._work = weights, counts, np.empty(2 * BLOCK)

    def log(self, t: float, rest: float) -> tuple[float, float]:
        """(-ln F(t), -d/dt ln F(t)); rest = 1 - t."""
        minus_log, slope = log_product(self.weights, self.counts, t, rest, self._work)
        return minus_log, slope


def flip_law(weights: FloatArray, counts: FloatArray) -> tuple[FloatArray, float]:
    """The integral of F(t) / (1 - t*w) over [0, 1] for each distinct weight, and their error.

    The greatest weight is 1 and comes first. Each integral's relative error is below what is
    returned, and that below 1e-12, or `PrecisionError` is raised. With G(t) = F(t) / (1 - t),
    which falls, every integrand lies between F and G; so the integral of F bounds all of them
    from below.
    """
    product = Product(weights, counts)
    nodes, node_weights = _rule(NODES)
    all_products, all_rests = [], []
    start, error, least = 0.0, 0.0, 0.0
    while start < 1.0:
        minus_log, slope = product.log(start, 1.0 - start)
        if _exp(-minus_log) <= NEGLIGIBLE * least:  # G(start) * (1 - start) = F(start)
            error += _exp(-minus_log)
            break
        length = min(1.0 - start, DECADES / slope)
        half = length / 2
        # From either end of the panel, so that t and 1 - t both keep their digits.
        times = start + half * (1.0 + nodes)
        rests = (1.0 - start - length) + half * (1.0 - nodes)
        at = zip(times.tolist(), rests.tolist(), strict=True)
        logs = np.array([-product.log(t, rest)[0] for t, rest in at])
        values = _exps(logs) * node_weights * half
        # Of all points of the ellipse its left end is farthest from each root 1/w >= 1.
        left = start + half - half * (RHO + 1 / RHO) / 2
        growth = -product.log(left, 1.0 - left)[0]
        error += FACTOR * half * _exp(growth) / min(1.0, 1.0 - left)
        error += float((values / rests * (1.0 - logs)).sum()) * ROUNDING
        least += float(values.sum())
        all_products.append(values)
        all_rests.append(rests)
        start += length
    integrals = np.empty(weights.size)
    flip_integrals(weights, np.concatenate(all_products), np.concatenate(all_rests), integrals)
    err = error / float(integrals.min())
    _check(integrals, weights, counts, err)
    return integrals, err


@cache
def _rule(size: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights."""
    nodes, weights = np.polynomial.legendre.leggauss(size)
    return nodes, weights


def _check(integrals: FloatArray, weights: FloatArray, counts: FloatArray, err: float) -> None:
    """Refuse what cannot be promised: by the bound, and by the sum of all probabilities."""
    total = float((weights * counts * integrals).sum())
    if not (err <= PROMISED and abs(total - 1.0) <= PROMISED):
        raise PrecisionError("the law of permute-and-flip cannot be computed to 1e-12 here")


def _exps(x: FloatArray) -> FloatArray:
    out = np.empty(x.size)
    exp_fill(x, out)
    return out


def _exp(x: float) -> float:
    return float(_exps(np.array([x]))[0])
