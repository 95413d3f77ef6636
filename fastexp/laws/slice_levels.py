"""The losses that sequences of joint top-k can have, and how many sequences have each."""

from __future__ import annotations

import numpy as np

from .._selection.joint_top_k import reached
from .._typing import AnyArray, FloatArray, IntArray
from ..errors import ParameterError
from ..kernels.bits.logexp import LN2
from .elementary import log, quiet

MOST = 1 << 22  # losses that are looked at


class SliceLevels:
    """Distinct losses in increasing order, and how many sequences have each. No epsilon.

    `exact` and `losses` are them as integers and as floats, `log_masses` and `log_within` the
    logarithms of how many sequences have it, and have at most it. N(v) is a product of floats with
    its exponent kept apart. The part of N(v) that is new at v is 1 - product of (1 - y_i), where
    y_i is the part that is new at place i: a sum of positive terms, so that small ones keep their
    digits.
    """

    exact: AnyArray
    losses: FloatArray
    log_masses: FloatArray
    log_within: FloatArray

    def __init__(self, gaps: AnyArray, places: int) -> None:
        self._sorted = np.sort(gaps)
        self._best = self._sorted[:places]
        distinct = np.unique(self._sorted)
        farthest = int(distinct[-1])
        self._table: IntArray | None = None
        if farthest < min(MOST, 4 * places * distinct.size):
            self._table = np.bincount(gaps.astype(np.int64)).cumsum()
            levels = np.arange(farthest + 1, dtype=np.uint64)
        elif places * distinct.size <= MOST:
            best = np.unique(self._best)
            levels = np.unique(np.concatenate([distinct[distinct >= gap] - gap for gap in best]))
        else:
            raise ParameterError(f"the law of a joint selection needs at most {MOST} losses")
        self._count(levels)

    def reach(self, place: int, levels: AnyArray) -> IntArray:
        """How many items the place may take, for each of some losses."""
        gap = self._best[place]
        if self._table is not None:
            last = np.uint64(self._table.size - 1)
            return np.asarray(self._table[np.minimum(levels + gap, last)])
        return reached(self._sorted, levels, gap)

    @quiet
    def _count(self, levels: AnyArray) -> None:
        product, exponent, new = np.ones(levels.size), np.zeros(levels.size), np.zeros(levels.size)
        for place in range(self._best.size):
            reach = self.reach(place, levels)
            free = (reach - place).astype(np.float64)
            share = np.diff(reach, prepend=0) / free
            new += share * (1.0 - new)
            product, twos = np.frexp(product * free)
            exponent += twos
        new[0] = 1.0
        some = new > 0.0
        self.exact, self.losses = levels[some], levels[some].astype(np.float64)
        self.log_within = exponent[some] * LN2 + log(product[some])
        self.log_masses = self.log_within + log(new[some])
