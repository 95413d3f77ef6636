"""Draws of a price of high revenue for each of many segments of bids."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .._numbers.cells import coin
from .._numbers.revenue import NONE, TABLE, Prices
from .._selection import plan
from .._selection.scan import Scan, check, storage
from .._typing import IntArray, WordArray
from ..kernels.bits.heights import FLOAT, SIGNED
from ..kernels.groups import segment_prices
from ..kernels.groups.segment_draws import WORDS
from .segments import Draws, Segments, placed, sort_all
from .words import More, Round, Words


def regular(prices: Prices) -> bool:
    """Whether all prices are candidates: points, or ticks in a table, of any number of bids."""
    return prices.grid.size <= TABLE and (in_ticks(prices) or prices.grid.points is not None)


def in_ticks(prices: Prices) -> bool:
    """Whether all revenues, of any number of bids, are whole numbers of ticks."""
    return prices.fits(1 << 32)


class PriceDraws(Draws):
    """Draws from grids that are `regular`: each price is a candidate."""

    segments: Segments

    def __init__(self, prices: Prices, segments: Segments, words: Words, size: int) -> None:
        self.segments, self._prices = segments, prices
        self._words, self._size = words, size
        whole = in_ticks(prices)
        t = np.arange(prices.grid.size)
        self._kind, self._weighting = SIGNED, prices.exactly
        self._points = np.ascontiguousarray(prices.ticks(t)) if whole else NONE
        if not whole:
            self._kind, self._weighting = FLOAT, prices.roughly
            self._points = prices.about(t).view(np.int64)

    def chunk(self, first: int, last: int) -> IntArray:
        """Add up revenues and draw; the few that are open once more, exactly."""
        part = self.segments.some(first, last)
        bids = placed(self._prices.grid, part.values)
        if self._words.keyed:
            sort_all(bids, part.offsets)
        drawn = self._words.round(first, last, self._size, bids, part.offsets)
        out, k = np.empty((last - first) * self._size, np.int64), self._points.size
        work, weighting = np.empty(k + storage(k).size, np.int64), self._weighting
        status = segment_prices.prices_draw(
            bids,
            part.offsets,
            self._points,
            self._kind,
            weighting.rate_log2,
            weighting.rate_nats,
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
        """Draw i of a chunk, from the same words: its first round, and what follows.

        A round is two words for the price and one for its coin, where a revenue is a bound.
        """
        revenue = np.empty(self._points.size, np.int64)
        segment_prices.revenues_fill(bids, self._points, self._kind, revenue)
        bits = revenue.view(np.uint64)
        scan = Scan(bits, self._kind, self._weighting, plan.PRECISION)
        scan.fill(1)
        group, draw = divmod(i, self._size)
        more = drawn.more(group, draw)
        words = drawn.first[WORDS * i : WORDS * i + 3]
        while True:
            t = scan.first(words[:2], more)
            if self._kind == SIGNED or self._passes(t, bids, bits[t], words, more):
                return t
            words = np.array([more(), more(), more()], np.uint64)

    def _passes(
        self, t: int, bids: IntArray, bound: np.uint64, words: WordArray, more: More
    ) -> bool:
        """The coin of a price, by how much the bound with these bits is too high; none at 0."""
        paying = int((bids >= t).sum())
        excess = Fraction(float(bound.view(np.float64))) - self._prices.revenue(t, paying)
        return paying == 0 or coin(self._weighting.rate * excess, int(words[2]), 64, more)
