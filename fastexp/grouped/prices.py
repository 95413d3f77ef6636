"""Draws of prices of high revenue, or of any mechanism's cells, for each of many segments."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from .._intake.record_sources import RecordSource
from .._intake.records import Records
from .._numbers.cells import Shape, WordDraw, coin
from .._numbers.revenue import TABLE, Prices
from .._parameters.grid import Grid
from .._selection import plan
from .._selection.scan import Scan, check, storage
from .._typing import IntArray, WordArray
from ..kernels.bits.heights import FLOAT, SIGNED
from ..kernels.groups import segment_prices
from ..reference.exact import NextWord
from .segments import Draws, Exact, Segments
from .words import WordSource


def regular(prices: Prices) -> bool:
    """Whether all prices are candidates: points, or ticks in a table, for any number of bids."""
    return prices.grid.size <= TABLE and (in_ticks(prices) or not prices.grid.even)


def in_ticks(prices: Prices) -> bool:
    """Whether all revenues, for any number of bids, are whole numbers of ticks."""
    return prices.fits(1 << 32)


class PriceDraws(Draws):
    """Draws from grids that are `regular`: each price is a candidate."""

    grid: Grid | None

    def __init__(self, prices: Prices, segments: Segments, words: WordSource, size: int) -> None:
        super().__init__(segments, words, size)
        self._prices, self.grid, t = prices, prices.grid, np.arange(prices.grid.size)
        if in_ticks(prices):
            self._kind, self._weighting = SIGNED, prices.tick_weighting
            self._points = np.ascontiguousarray(prices.ticks(t))
        else:
            self._kind, self._weighting = FLOAT, prices.float_weighting
            self._points = prices.about(t).view(np.int64)

    def _fill(self, _: int, chunk: Segments, points: Any, words: WordArray, out: IntArray) -> None:
        k, weighting = self._points.size, self._weighting
        status = segment_prices.prices_draw(
            points, chunk.offsets, self._points, self._kind, weighting.rate_log2,
            weighting.rate_nats, weighting.log2_base, words, out,
            np.empty(k + storage(k).size, np.int64),
        )  # fmt: skip
        check(status)

    def _exactly(self, _: int, points: Any) -> Exact:
        """Draw by rounds: two words for the price, one for its coin if revenues are bounds."""
        revenue, kind, weighting = (
            np.empty(self._points.size, np.int64),
            self._kind,
            self._weighting,
        )
        segment_prices.revenues_fill(points, self._points, kind, revenue)
        bits, bounds = revenue.view(np.uint64), revenue.view(np.float64)
        scan = Scan(bits, kind, weighting, plan.PRECISION)
        scan.fill(1)

        def draw(words: WordArray, next_word: NextWord) -> int:
            while True:
                t = scan.first(words[:2], next_word)
                if kind == SIGNED:
                    return t
                paying = int((points >= t).sum())
                excess = Fraction(bounds.item(t)) - self._prices.revenue(t, paying)
                if coin(weighting.rate * excess, int(words[2]), 64, next_word):
                    return t
                words = np.array([next_word(), next_word(), next_word()], np.uint64)

        return draw


class ShapeDraws(Draws):
    """Draws from the cells that `shape` makes of one data set: about 100 us per draw.

    They are for prices on fine grids, which have no kernel. Keyed words are those of grid indices.
    """

    grid: Grid | None

    def __init__(
        self,
        shape: Callable[[RecordSource], Shape],
        grid: Grid,
        segments: Segments,
        words: WordSource,
        size: int,
    ) -> None:
        super().__init__(segments, words, size)
        self._shape, self.grid = shape, grid

    def _exactly(self, g: int, _: Any) -> Exact:
        draw = WordDraw(self._shape(Records(self.segments.group(g)).source()))
        return lambda words, next_word: draw(chain(words.tolist(), iter(next_word, None)).__next__)
