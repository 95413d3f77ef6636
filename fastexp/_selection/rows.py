"""Simulated draws from rows of utilities: threads over rows, and the rare exact tests.

One row or many take the same way, so that row i alone, with its stream's name, gives the
bytes that it gives among others. The draws are made by `kernels/select/rows.py`; a draw that its
bounds leave open is replayed with the exact answer (`Replay`).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .._randomness.streams import Spare, some_seeds, stream_of
from .._threads import in_parts
from .._typing import IntArray, WordArray
from ..errors import FastexpError
from ..kernels.bits.heights import BLOCK, FLOAT
from ..kernels.select import rows as kernels
from ..kernels.select.envelope import UNSURE
from ..kernels.select.rounds import (
    ANSWERS,
    ASKED,
    CONTROL,
    FIRST,
    LEFT_ONLY,
    MOST_ANSWERS,
    PRECISION,
    TWO_LEVELS,
)
from ..kernels.select.tiles import WIDEST
from ..reference import selection
from . import plan
from .scan import MASK_64, bits_value, check, key_value
from .weighting import Weighting

COINS = 16  # an exact test in round n takes words (n + 1) << 16, ...


def control(two_levels: bool, precision: int) -> IntArray:
    """What a kernel is told beside its arrays; the layout is `kernels/select/rounds.py`'s."""
    made = np.zeros(CONTROL, dtype=np.int64)
    made[PRECISION], made[TWO_LEVELS] = precision, two_levels
    return made


class Rows:
    """Rows of k utilities each, one after the other, under one weighting."""

    __slots__ = ("bits", "k", "kind", "rows", "weighting")

    def __init__(self, bits: WordArray, kind: int, weighting: Weighting) -> None:
        self.rows, self.k = bits.shape if bits.ndim == 2 else (1, bits.size)
        self.bits, self.kind, self.weighting = bits.reshape(-1), kind, weighting

    def row(self, r: int) -> WordArray:
        """The utilities of one row, as bits."""
        return self.bits[r * self.k : (r + 1) * self.k]

    def some(self, first: int, last: int) -> WordArray:
        """Rows first, ..., last - 1."""
        return self.bits[first * self.k : last * self.k]

    def threads(self, wanted: int, size: int = 1) -> int:
        """How many threads are worth starting, for `size` draws of each row."""
        work = max(self.bits.size, self.rows * size)
        return wanted if work >= plan.THREADED_CANDIDATES else 1

    def draw(
        self,
        seeds: WordArray,
        size: int | None,
        threads: int,
        precision: int = plan.PRECISION,
    ) -> IntArray:
        """One draw a row (size None), or `size`; row after row."""
        how, count = control(size is None, precision), 1 if size is None else size
        out = np.empty(self.rows * count, dtype=np.int64)
        if self.threads(threads) > 1:
            out.fill(0)  # threads that touch new pages at once wait for each other

        def part(first: int, last: int) -> int:
            chosen = out[first * count : last * count]
            return self._run(seeds, first, last, how.copy(), chosen)

        alone = self.rows == 1  # spares a draw's 30 us some 2
        found = [part(0, 1)] if alone else in_parts(part, self.rows, self.threads(threads))
        check(min(found))
        if any(found):
            for place in np.flatnonzero(out == UNSURE):
                row, t = divmod(int(place), count)
                out[place] = Replay(self, seeds, row, t, how).index()
        return out

    def _run(self, seeds: WordArray, first: int, last: int, how: IntArray, out: IntArray) -> int:
        w, work = self.weighting, np.empty(kernels.work_size(self.k), dtype=np.int64)
        own = some_seeds(seeds, first, last)
        args = self.some(first, last), self.kind, w.log2_base, w.rate_log2, own, how, out, work
        if self.k > BLOCK:
            return int(kernels.long_rows(*args))
        if w.base is None and self.k <= WIDEST and last - first > 1:
            left = int(kernels.tile_rows(*args))
            if left <= 0:
                return left
            how[LEFT_ONLY] = 1
        elif w.base is None and self.kind == FLOAT:
            return int(kernels.float_rows(*args))
        return int(kernels.block_rows(*args))

    def shaped(self, draws: IntArray, ndim: int, size: int | None) -> int | IntArray:
        """Draws, row after row, in the shape that the verbs promise."""
        if ndim == 2:
            return draws if size is None else draws.reshape(self.rows, size)
        return int(draws[0]) if size is None else draws


class Replay:
    """One draw that bounds leave open, run again with the answers of exact tests."""

    __slots__ = ("how", "row", "rows", "seeds", "t")

    def __init__(self, rows: Rows, seeds: WordArray, row: int, t: int, how: IntArray) -> None:
        self.rows, self.seeds, self.row, self.t, self.how = rows, seeds, row, t, how.copy()

    def index(self) -> int:
        """The candidate that the draw selects."""
        out = np.empty(1, dtype=np.int64)
        self.how[FIRST] = self.t
        for asked in range(MOST_ANSWERS):
            self.rows._run(self.seeds, self.row, self.row + 1, self.how, out)
            if out[0] != UNSURE:
                return int(out[0])
            self.how[ANSWERS] = asked + 1
            self.how[ANSWERS + 1 + asked] = self._accepts()
        raise FastexpError(f"{MOST_ANSWERS} exact tests in one draw: please report this")

    def _accepts(self) -> bool:
        """The exact test of the candidate and the coin that the kernel asks for."""
        index, rho, number, best = (int(x) for x in self.how[ASKED : ASKED + 4])
        lift = float(self.how[ASKED + 4 :].view(np.float64)[0])
        rows, w = self.rows, self.rows.weighting
        gap = key_value(best & MASK_64, rows.kind)
        gap -= bits_value(int(rows.row(self.row)[index]), rows.kind)
        scale = Fraction(2) ** int(int(self.how[PRECISION]) + lift) * w.base_of(index)
        stream = stream_of(self.seeds, self.row)
        return selection.accept(w.rate, gap, scale, rho, Spare(stream, self.t, number + 1 << COINS))
