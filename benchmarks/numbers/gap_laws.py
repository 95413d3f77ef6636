"""The exact law of a median, gap by gap between the records, and whether draws have it.

Of n records in order, gap i has weight length * exp(-rate * |n - 2 i|), and a draw is uniform
in its gap. Grids of 2**40 steps are so fine that the law on the grid and this density agree to
more digits than the test has.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..harness.workload import FloatArray, IntArray
from ..selection.checks import near

# |n - 2 i| goes in steps of 2. Where nearly all draws have one value, a step is many standard
# deviations, and E|X|**k <= k!/2 var(X) L**(k - 2), which `near` supposes, needs L = 2/3 or more.
LEAST = 1.0


class GapLaws:
    """The gaps of data sets, one after the other; `offsets` say where each one's records end."""

    def __init__(self, records: FloatArray, offsets: IntArray, bounds: tuple[float, float]) -> None:
        n = np.diff(offsets)
        self.ends = np.cumsum(n + 2)
        self.starts = self.ends - n - 2
        self.knots = np.empty(records.size + 2 * n.size)  # the clamped records between the bounds
        self.knots[self.starts], self.knots[self.ends - 1] = bounds
        first = 0
        for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
            inner = self.knots[start + 1 : end - 1]
            np.clip(records[first : first + inner.size], *bounds, out=inner)
            inner.sort()
            first += inner.size
        self._moments: dict[float, FloatArray] = {}

    @property
    def signed(self) -> FloatArray:
        """n - 2 i of the gap after each knot; that of a last knot is none."""
        size = self.ends - self.starts
        i = np.arange(self.knots.size) - np.repeat(self.starts, size)
        return np.repeat(size - 2.0, size) - 2.0 * i

    def moments(self, rate: float) -> FloatArray:
        """Mean and variance of |n - 2 i|, then of n - 2 i, of each data set; (4, data sets)."""
        if rate not in self._moments:
            size, signed = self.ends - self.starts, self.signed
            p = np.diff(self.knots, append=0.0) * np.exp(-rate * np.abs(signed))
            p[self.ends - 1] = 0.0
            p /= np.repeat(np.add.reduceat(p, self.starts), size)
            moments = self._moments[rate] = np.empty((4, size.size))
            for mean, variance, values in (
                (*moments[:2], np.abs(signed)),
                (*moments[2:], signed),
            ):
                np.add.reduceat(p * values, self.starts, out=mean)
                apart = values - np.repeat(mean, size)
                np.add.reduceat(p * apart**2, self.starts, out=variance)
        return self._moments[rate]

    def check(self, draws: FloatArray, rate: float) -> None:
        """Raise WrongAnswer unless draws, a row of them a data set, have the law.

        Two means are tested, of |n - 2 i| and of n - 2 i, and the mean place within the gap.
        """
        gaps = np.empty(draws.shape, dtype=np.int64)
        for row, (start, end) in enumerate(
            zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        ):
            gaps[row] = start + self.knots[start + 1 : end - 1].searchsorted(draws[row], "left")
        moments, signed = self.moments(rate), self.signed[gaps]
        each = draws.shape[1]
        for mean, variance, values in (
            (*moments[:2], np.abs(signed)),
            (*moments[2:], signed),
        ):
            total = float((values - mean[:, None]).sum())
            near(total, each * float(variance.sum()), max(sqrt(float(variance.max())), LEAST))
        lower, upper = self.knots[gaps], self.knots[gaps + 1]
        near(float(((draws - lower) / (upper - lower) - 0.5).sum()), draws.size / 12, 0.5)
