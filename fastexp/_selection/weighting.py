"""How utilities become weights: base * exp(rate * utility), as the kernels take it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .._parameters import validate
from .._typing import FloatArray, IntArray
from ..kernels.bits.logexp import LOG2E, log_fill

NO_BASE: FloatArray = np.empty(0)
NO_BASE.flags.writeable = False


class Weighting:
    """The public side of a finite draw: the exact rate, the base and their logarithms.

    Built and checked once, with the mechanism. `rate` is exact; its two roundings and the
    logarithms of the base only steer certified bounds.
    """

    log2_base: FloatArray
    log_base: FloatArray

    def __init__(self, rate: Fraction, base: FloatArray | None) -> None:
        self.rate = rate
        validate.rate(rate)
        self.rate_nats: float = float(rate)
        self.rate_log2: float = self.rate_nats * LOG2E
        self.base = base
        self.log_base = self.log2_base = NO_BASE
        if base is not None:
            self.log_base = np.empty(base.size)
            log_fill(base, self.log_base)
            self.log2_base = self.log_base * LOG2E

    def with_rate(self, rate: Fraction) -> Weighting:
        return Weighting(rate, self.base)

    def base_of(self, index: int) -> Fraction:
        return Fraction(1) if self.base is None else Fraction(float(self.base[index]))

    def measured(self, counts: IntArray) -> Weighting:
        """The same rate, with numbers of grid points (`counts`, below 2**53) as the base."""
        base = counts.astype(np.float64)
        logs = np.empty(counts.size)
        log_fill(base, logs)
        weighting = self.with_base(base, logs * LOG2E)
        weighting.log_base = logs
        return weighting

    def with_base(self, base: FloatArray, log2_base: FloatArray) -> Weighting:
        """The same rate with this base, without `log_base`: for all draws but by Gumbel noise."""
        weighting = object.__new__(Weighting)
        weighting.rate, weighting.base = self.rate, base
        weighting.rate_nats, weighting.rate_log2 = self.rate_nats, self.rate_log2
        weighting.log_base, weighting.log2_base = NO_BASE, log2_base
        return weighting

    def peeling(self, k: int) -> Weighting:
        """The same rate, with a writable base of 1 for each of k candidates; peeled ones get 0.

        Only the base's logarithm to base 2 is changed, to minus infinity.
        """
        weighting = Weighting(self.rate, None)
        weighting.log2_base = np.zeros(k)
        return weighting
