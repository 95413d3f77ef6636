"""The exact law of permute-and-flip."""

from __future__ import annotations

from functools import cache, cached_property
from typing import NamedTuple, Self, cast

import numpy as np

from .._compiler.rounding import check_rounding
from .._selection.permute_flip import simulate
from .._typing import FloatArray
from ..errors import PrecisionError
from ..kernels.bits.heights import BLOCK
from ..kernels.select.flip_law import flip_integrals, log_product
from .elementary import LARGEST, exp, frozen, log
from .finite import FiniteLaw

INTEGRALS = 2.0  # what logarithms of sums of probabilities err by, in an integral's bounds
NODES = 20
RHO = 4.0  # of the Bernstein ellipse: semi-axes (RHO +- 1/RHO) / 2 of a panel's half-length
DECADES = 12.0  # a panel is so long that the product falls by about exp(-12)
NEGLIGIBLE = 1e-17
PROMISED = 1e-12
ROUNDING = 2.0**-49  # of a logarithm of magnitude 1, its sum and its exponential
rule = cache(np.polynomial.legendre.leggauss)  # nodes and weights
# Trefethen (2013), Theorem 19.3: |error| <= 64/15 * M * RHO**(2 - 2n) / (RHO**2 - 1).
FACTOR = 64 / 15 * RHO ** (2 - 2 * NODES) / (RHO**2 - 1)


class PermuteAndFlipLaw(FiniteLaw):
    """The exact distribution of `PermuteAndFlip`'s output on one data set.

    A `FiniteLaw` in all but `log_normalizer`, which this law does not have. **It is private
    data**, and so is a pickle of it.

    Notes
    -----
    P(r) = w_r times the integral over t in [0, 1] of the product of (1 - t*w_j) over all other
    candidates j, with w = exp(c * (u - best)): r arrives at a uniform time t, and nobody before it
    has succeeded.

    **Numerics**: the integrand is a polynomial; it is integrated by Gauss and Legendre's rule on
    panels whose error bound (a Bernstein ellipse of parameter 4) is added up with that of
    roundings, a probability's relative error stays below 1e-12, and otherwise `PrecisionError` is
    raised. Equal utilities are grouped; a million distinct ones take about a second.

    References
    ----------
    McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially private
    selection", NeurIPS 2020. Trefethen, "Approximation theory and approximation practice"
    (2013), Theorem 19.3 (the rule's error).

    Examples
    --------
    >>> import fastexp as fx
    >>> law = fx.PermuteAndFlip(epsilon=2.0, sensitivity=1.0).law([0.0, -1.0])
    >>> law.probabilities.round(5)
    array([0.81606, 0.18394])
    >>> law
    PermuteAndFlipLaw(PermuteAndFlip(epsilon=2.0, sensitivity=1.0), k=2)
    """

    _simulate = staticmethod(simulate)

    @cached_property
    def _distinct(self) -> Distinct:
        return distinct_law(self._groups.losses, self._groups.masses, self._weighting.rate_nats)

    @cached_property
    def _loss_probabilities(self) -> FloatArray:
        return self._distinct.p * self._groups.masses

    @property
    def log_normalizer(self) -> float:
        """Not defined: the weights of this mechanism have no common normaliser."""
        raise AttributeError("the law of permute-and-flip has no log_normalizer")

    @cached_property
    def probabilities(self) -> FloatArray:
        """P(candidate), shape (k,), read-only."""
        check_rounding()
        return self._spread(self._distinct.p)

    @cached_property
    def log_probabilities(self) -> FloatArray:
        """ln P(candidate), shape (k,), read-only."""
        check_rounding()
        out = self._spread(self._distinct.log_p)
        far = self._spread(self._groups.losses) == LARGEST
        if far.any():  # what the integral adds is less than their digits
            out = out.copy()
            out[far] = -self._far_heights(far)
        return frozen(out)

    def _log_ratios(self, other: Self) -> FloatArray:
        """As logarithms differ: to 1e-12, and a few ulp of them."""
        return np.asarray(self.log_probabilities - other.log_probabilities)

    def _spread(self, values: FloatArray) -> FloatArray:
        return frozen(values[self._groups.members(self._bits, self._kind)])


class Distinct(NamedTuple):
    """Of one candidate of each distinct loss, in increasing order of losses."""

    p: FloatArray
    log_p: FloatArray
    err: float  # what the integrals add to the relative error of p


def distinct_law(losses: FloatArray, counts: FloatArray, rate: float) -> Distinct:
    """The law by distinct losses."""
    with np.errstate(over="ignore"):
        heights = np.asarray(-rate * losses)
    weights = exp(heights)
    integrals, err = flip_law(weights, counts)
    return Distinct(weights * integrals, heights + log(integrals), err)


def flip_law(weights: FloatArray, counts: FloatArray) -> tuple[FloatArray, float]:
    """The integral of F(t) / (1 - t*w) over [0, 1] for each distinct weight, and their error.

    The greatest weight is 1 and comes first. Each integral's relative error is below what is
    returned, and that below 1e-12, or `PrecisionError` is raised. With G(t) = F(t) / (1 - t),
    which falls, every integrand lies between F and G; so the integral of F bounds all of them
    from below. F(t), the product of (1 - t*w)**count, is the probability that nobody succeeds
    before t.
    """
    work = np.empty(2 * BLOCK)

    def minus_log(t: float, rest: float) -> tuple[float, float]:
        """(-ln F(t), -d/dt ln F(t)); rest = 1 - t."""
        return cast("tuple[float, float]", log_product(weights, counts, t, rest, work))

    nodes, node_weights = rule(NODES)
    all_products, all_rests = [], []
    start, error, least = 0.0, 0.0, 0.0
    while start < 1.0:
        height, slope = minus_log(start, 1.0 - start)
        if _exp(-height) <= NEGLIGIBLE * least:  # G(start) * (1 - start) = F(start)
            error += _exp(-height)
            break
        length = min(1.0 - start, DECADES / slope)
        half = length / 2
        # From either end of the panel, so that t and 1 - t both keep their digits.
        times = start + half * (1.0 + nodes)
        rests = (1.0 - start - length) + half * (1.0 - nodes)
        at = zip(times.tolist(), rests.tolist(), strict=True)
        logs = np.array([-minus_log(t, rest)[0] for t, rest in at])
        values = exp(logs) * node_weights * half
        # Of all points of the ellipse its left end is farthest from each root 1/w >= 1.
        left = start + half - half * (RHO + 1 / RHO) / 2
        growth = -minus_log(left, 1.0 - left)[0]
        error += FACTOR * half * _exp(growth) / min(1.0, 1.0 - left)
        error += float((values / rests * (1.0 - logs)).sum()) * ROUNDING
        least += float(values.sum())
        all_products.append(values)
        all_rests.append(rests)
        start += length
    integrals = np.empty(weights.size)
    flip_integrals(weights, np.concatenate(all_products), np.concatenate(all_rests), integrals)
    err = error / float(integrals.min())
    total = float((weights * counts * integrals).sum())
    if not (err <= PROMISED and abs(total - 1.0) <= PROMISED):
        raise PrecisionError("the law of permute-and-flip cannot be computed to 1e-12 here")
    return integrals, err


def _exp(x: float) -> float:
    return float(exp(np.array([x]))[0])
