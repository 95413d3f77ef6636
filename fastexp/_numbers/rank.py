"""From records to cells by rank distance, of the ranks that matter; and the way back.

A statistic knows its form for n records (`_numbers/distance.py`), the rate of its weight and the
grid. The cells beyond the window carry a lower bound of their distance; a draw that falls on
one of them (in at most 2 of 10**7, where some point of the window is as near as can be)
counts records to know its own (`RankShape.distance`).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from .._intake.record_sources import Source, Window
from .._intake.unsorted import Unsorted
from .._parameters.grid import Grid
from .._selection import plan
from .._selection.weighting import Weighting
from .._typing import AnyArray, FloatArray, IntArray
from ..errors import FastexpError, InvalidRecords
from ..kernels.bits.heights import SIGNED
from ..kernels.groups.segment_ranks import NUMBERS
from ..kernels.numbers.cell_base import base_fill
from . import cells as _cells
from . import distance as _distance
from . import long_window
from .cells import Cells, Words
from .distance import Forms, RanksThatMatter
from .distance_statistic import DistanceStatistic, FewDraws, cells_of, utilities
from .few_cells import FewCells
from .few_records import FewRecords

MOST_RECORDS = 1 << 32  # the range of forms
BOOL = np.dtype(np.bool_)


class RankStatistic(DistanceStatistic):
    """A statistic by rank distance: also its forms, and how many bits of weight matter."""

    __slots__ = ("bits", "form", "reach")

    def __init__(
        self,
        form: Forms,
        rate: Fraction,
        grid: Grid,
        width: int = 0,
        near: tuple[IntArray, IntArray] | None = None,
        bits: int = plan.WINDOW_BITS,
    ) -> None:
        super().__init__(rate, grid, width, near)
        self.form, self.bits = form, bits
        nats = (bits + grid.size.bit_length()) * math.log(2)
        growth = self.weighting.rate_nats * float(_distance.slope(form(1 << 20)))
        self.reach = math.ceil(min(nats / growth, float(MOST_RECORDS))) + 2

    def of_few(self) -> FewDraws | None:
        """What draws from few records, where its table is not too large."""
        plain = self.width == 0 and self.near is None
        return FewRecords.of(self) if plain else FewCells.of(self)

    def farthest(self, n: int) -> int:
        """A distance that no point exceeds among n records."""
        return _distance.farthest(self.form_of(n), n)

    def release(self, source: Source) -> int:
        """One grid index from the operating system's randomness."""
        if type(source) is Unsorted and self.width == 0 and self.near is None:
            n = source.total()
            ranks = self.ranks_that_matter(n)
            if long_window.suits(self, ranks, n) and self.few(n, None) is None:
                return long_window.release(self, source, ranks)
        return super().release(source)

    def header(self, n: int) -> IntArray:
        """Ranks that matter, and the form; of a grid of points with a width all ranks do."""
        form, low, high = self.ranks_that_matter(n)
        if self.near is not None:
            low, high = 0, n - 1
        return np.concatenate([[low, high], np.full(NUMBERS - 2, -1), form])

    def form_of(self, n: int) -> IntArray:
        """The form for n records."""
        return self.form(few_enough(n))

    def ranks_that_matter(self, n: int) -> RanksThatMatter:
        """The ranks that matter among n records."""
        form = self.form_of(n)
        if n == 0:
            return RanksThatMatter(form, 0, -1)
        _, _, s, gate, _, _, _, _, _, t, other, *_ = form.tolist()
        # The gaps where a side's distance begins: the least one is there, or next to them.
        left, right = min(max(n - -(-other // t), 0), n), min(max(-(-gate // s), 0), n)
        low = min(max(min(left, right - 1) - self.reach, 0), n - 1)
        high = max(min(max(left + 1, right) + self.reach, n) - 1, low)
        return RanksThatMatter(form, low, high)

    def shape(self, source: Source) -> RankShape:
        """Cells for draws, from the window of ranks that matter."""
        if self.near is not None:
            return self._single_points(source)
        n = source.total()
        form, low, high = self.ranks_that_matter(n)
        window = source.window(self.grid, low, high)
        if n and not holds(window, low, high):
            raise FastexpError(long_window.INCOMPLETE)
        start, count, key = cells_of(window, form, self.grid.size, self.width)
        if self.width:
            loose = (key & 1).astype(bool) if (key[0] | key[-1]) & 1 else None
            cells = Cells(start, count, utilities(key >> 1), SIGNED, loose)
            return RankShape(self, source, n, form, cells, self.weighting)
        first, last = bool(key[0] & 1), bool(key[-1] & 1)
        base, logs = np.empty(count.size), np.empty(count.size)
        base_fill(count, key, base, logs)
        loose = loose_ends(count.size, first, last)
        cells = Cells(start, count, key.view(np.uint64), SIGNED, loose)
        weighting = self.weighting.with_base(base, logs)
        return RankShape(self, source, n, form, cells, weighting)

    def cells(self, source: Source) -> tuple[IntArray, IntArray, IntArray]:
        """Starts, counts and distances of all cells."""
        points, records = source.counts(self.grid)
        n = int(records.sum())
        window = Window(points, records, 0, n)
        start, count, key = cells_of(window, self.form_of(n), self.grid.size, self.width)
        return self.near_cells(start, count, key >> 1)

    def _single_points(self, source: Source) -> RankShape:
        """A cell for each point of a grid of points."""
        start, count, distance = self.cells(source)
        cells = Cells(start, count, utilities(distance), SIGNED, None)
        n = source.total()
        return RankShape(self, source, n, self.form_of(n), cells, self.weighting)

    def with_rate(self, rate: Fraction) -> RankStatistic:
        """The same statistic at another rate."""
        return RankStatistic(self.form, rate, self.grid, self.width, self.near, self.bits)


def few_enough(n: int) -> int:
    """A number of records for which forms and chains are proved."""
    if n >= MOST_RECORDS:
        raise InvalidRecords("records must be fewer than 2**32")
    return n


def holds(window: Window, low: int, high: int) -> bool:
    """Whether the ranks from low to high lie in a window.

    The best points are then in exact cells, as nearly all draws are: a release ends.
    """
    inside = int(window.records.sum())
    positive = bool((window.records > 0).all())
    return positive and window.below <= low and high < window.below + inside


class RankShape:
    """Cells of one data set; see `cells.Shape`."""

    __slots__ = ("cells", "form", "source", "statistic", "total", "weighting")

    def __init__(
        self,
        statistic: RankStatistic,
        source: Source,
        total: int,
        form: IntArray,
        cells: Cells,
        weighting: Weighting,
    ) -> None:
        self.statistic, self.source, self.total = statistic, source, total
        self.form, self.cells, self.weighting = form, cells, weighting

    def heights(self, cell: IntArray, index: IntArray) -> FloatArray:
        """Heights in loose cells, from their points' true distances."""
        pairs = zip(cell.tolist(), index.tolist(), strict=True)
        return np.array([float(self._exponent(c, i)) for c, i in pairs])

    def accepts(self, cell: int, index: int, lead: int, bits: int, words: Words) -> bool:
        """The exact coin of a point of a loose cell."""
        return _cells.coin(self._exponent(cell, index), lead, bits, words)

    def _exponent(self, cell: int, index: int) -> Fraction:
        bound = -int(self.cells.bits[cell].astype(np.int64))
        return self.weighting.rate * (self.distance(index) - bound)

    def distance(self, t: int) -> int:
        """The distance of grid point t: the least within the width, by counting records.

        On either side of the statistic the least is that of the point nearest to it, or of
        the record nearest to it, as records may be closer than the gap beside them.
        """
        size, width = self.statistic.grid.size, self.statistic.width
        first, last = max(t - width, 0), min(t + width, size - 1)
        nearest = {first, last, t}
        if width:
            grid = self.statistic.grid
            below, upto = self.source.below(grid, first), self.source.below(grid, last + 1)
            ranks = (below, upto - 1) if below < upto else ()
            nearest |= {int(self.source.window(grid, r, r).points[0]) for r in ranks}
        return min(map(self._at, nearest))

    def _at(self, t: int) -> int:
        grid = self.statistic.grid
        below, above = self.source.below(grid, t), self.source.below(grid, t + 1)
        distance = _distance.distance(self.form, below, above - below, self.total - above)
        return int(distance)


def loose_ends(m: int, first: bool, last: bool) -> AnyArray | None:
    """Which of m cells are loose: at most the first and the last."""
    if not (first or last):
        return None
    loose = np.zeros(m, BOOL)
    if first:
        loose[0] = True
    if last:
        loose[-1] = True
    return loose
