"""The exact law of permute-and-flip."""

from __future__ import annotations

from functools import cached_property, partial
from typing import NamedTuple, Self

import numpy as np

from .._compiler.rounding import check_rounding
from .._selection.permute_flip import simulate
from .._typing import AnyArray, FloatArray
from ..kernels.bits.logexp import exp_fill, log_fill
from .certified import Comparison, Gap
from .finite import FiniteLaw
from .flip_integrals import flip_law
from .loss_groups import LARGEST
from .targets import Target, log_of_sum

INTEGRALS = 2.0  # what logarithms of sums of probabilities err by, in an integral's bounds


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
        """The law by distinct losses."""
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
        return self._with_far_ones(out, far) if far.any() else out

    def _with_far_ones(self, out: FloatArray, far: AnyArray) -> FloatArray:
        """Gaps beyond float64 are halved; what the integral adds is less than their digits."""
        halves = self._best_and_lift()[0] / 2 - self._bits.view(np.float64)[far] / 2
        mended = out.copy()
        with np.errstate(over="ignore"):
            mended[far] = -2 * (self._weighting.rate_nats * halves)
        mended.flags.writeable = False
        return mended

    def _log_ratios(self, other: Self) -> FloatArray:
        """As logarithms differ: to 1e-12, and a few ulp of them."""
        return np.asarray(self.log_probabilities - other.log_probabilities)

    def _spread(self, values: FloatArray) -> FloatArray:
        """One number a candidate, from one a distinct loss."""
        out = values[self._groups.members(self._bits, self._kind)]
        out.flags.writeable = False
        return out

    def _compared_losses(self, target: Target) -> tuple[Comparison, Comparison]:
        losses, masses = self._groups.losses, self._groups.masses

        def compare(rate: float, sign: float) -> Gap:
            law = distinct_law(losses, masses, rate)
            p, err = law.p * masses, sign * INTEGRALS * law.err
            if target.probability is None:
                most, loss = target.limit, float((p * losses).sum())
            else:
                (few, many), inside = target.odds, losses <= target.limit
                most, loss = few * float(p[inside].sum()), many * float(p[~inside].sum())
            return Gap(log_of_sum(most) - err, log_of_sum(loss) + err)

        return partial(compare, sign=1.0), partial(compare, sign=-1.0)


class Distinct(NamedTuple):
    """Of one candidate of each distinct loss, in increasing order of losses."""

    p: FloatArray
    log_p: FloatArray
    err: float  # what the integrals add to the relative error of p


def distinct_law(losses: FloatArray, counts: FloatArray, rate: float) -> Distinct:
    """The law by distinct losses."""
    with np.errstate(over="ignore"):
        heights = np.asarray(-rate * losses)
    weights, logs = np.empty(heights.size), np.empty(heights.size)
    exp_fill(heights, weights)
    integrals, err = flip_law(weights, counts)
    log_fill(integrals, logs)
    return Distinct(weights * integrals, heights + logs, err)
