"""Draws of a price of high revenue for each of many segments of bids."""

from __future__ import annotations

import numpy as np

from .._numbers.revenue import TABLE, Prices
from .._selection import plan
from .._selection.scan import Scan, check, storage
from .._typing import IntArray
from ..kernels.bits.heights import SIGNED
from ..kernels.groups import segment_prices
from ..kernels.groups.segment_draws import WORDS
from .segments import Draws, Segments, placed, sort_all
from .words import Round, Words


def regular(prices: Prices) -> bool:
    """Whether all revenues, of any number of bids, are whole numbers of ticks in a table."""
    return prices.grid.size <= TABLE and prices.fits(1 << 32)


class PriceDraws(Draws):
    """Draws from grids that are `regular`: each price is a candidate."""

    segments: Segments

    def __init__(self, prices: Prices, segments: Segments, words: Words, size: int) -> None:
        self.segments, self._prices = segments, prices
        self._words, self._size = words, size
        self._ticks = np.ascontiguousarray(prices.ticks(np.arange(prices.grid.size)))

    def chunk(self, first: int, last: int) -> IntArray:
        """Add up revenues and draw; the few that are open once more, exactly."""
        part = self.segments.some(first, last)
        bids = placed(self._prices.grid, part.values)
        if self._words.keyed:
            sort_all(bids, part.offsets)
        drawn = self._words.round(first, last, self._size, bids, part.offsets)
        out, k = np.empty((last - first) * self._size, np.int64), self._ticks.size
        work, weighting = np.empty(k + storage(k).size, np.int64), self._prices.exactly
        status = segment_prices.prices_draw(
            bids,
            part.offsets,
            self._ticks,
            weighting.rate_log2,
            weighting.log2_base,
            drawn.first,
            out,
            work,
        )
        check(status)
        for i in np.flatnonzero(out < 0):
            g = int(i) // self._size
            of_group = bids[part.offsets[g] : part.offsets[g + 1]]
            out[i] = self._exactly(of_group, drawn, int(i))
        return out

    def _exactly(self, bids: IntArray, drawn: Round, i: int) -> int:
        """Draw i of a chunk, from the same words: its first round, and what follows."""
        revenue = np.empty(self._ticks.size, np.int64)
        segment_prices.revenues_fill(bids, self._ticks, revenue)
        scan = Scan(revenue.view(np.uint64), SIGNED, self._prices.exactly, plan.PRECISION)
        scan.fill(1)
        group, draw = divmod(i, self._size)
        more = drawn.more(group, draw)
        return scan.first(drawn.first[WORDS * i : WORDS * i + 2], more)
