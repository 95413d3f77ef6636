"""From records to cells by rank distance, of the ranks that matter; and from points to distances.

A statistic knows its form for n records (`_numbers/distance.py`), the rate of its weight and the
grid. The cells outside the window have a lower bound of their distance. A draw that falls on one
of them counts records to find its distance (`RankShape.distance`); these are at most 2 of 10**7
draws, if some point of the window has the least possible distance.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .._intake.arrays import CHUNK_RECORDS
from .._intake.record_sources import RecordSource, Window, runs
from .._intake.unsorted import Unsorted
from .._parameters.grid import Grid
from .._randomness.streams import os_word, os_words
from .._selection import plan
from .._selection.weighting import Weighting
from .._typing import AnyArray, FloatArray, IntArray, WordArray
from ..errors import FastexpError, InvalidRecords
from ..kernels.bits.heights import SIGNED
from ..kernels.groups.long_draws import draw_long
from ..kernels.groups.rank_draws import draw_rows, work_size
from ..kernels.groups.segment_draws import OPEN, WORDS
from ..kernels.groups.segment_ranks import NUMBERS
from ..kernels.numbers.cell_base import base_fill
from ..kernels.numbers.grid_points import new_scale, new_unit
from ..reference.exact import NextWord
from ..reference.exact_groups import STRIDE, group_draw, long_weight
from . import distance as _distance
from .cells import Cells, ExactCoins
from .distance import Forms, RanksThatMatter
from .distance_statistic import DistanceStatistic, utilities
from .few_cells import FewCells
from .few_records import INT64, Few, exact_draw, listed_cells
from .rank_cells import cells_of
from .weights import MAX_TABLE as MAX_WEIGHTS
from .weights import size_of, table

MAX_RECORDS = 1 << 32  # forms are for fewer records
MIN_LONG_RANKS = 1 << 14  # the cells of fewer ranks that matter are no more than 1 MB
MAX_LONG_RANKS = 1 << 22
INCOMPLETE = "the window lacks ranks that matter: please report this"


class RankStatistic(DistanceStatistic):
    """A statistic by rank distance, with its forms and the number of bits of weight that matter."""

    form: Forms
    bits: int

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
        self.reach: int = math.ceil(min(nats / growth, float(MAX_RECORDS))) + 2

    def of_few(self, weights: WordArray) -> Few:
        plain = self.width == 0 and self.near is None
        return FewRecords(self, weights) if plain else FewCells(self, weights)

    def farthest(self, n: int) -> int:
        return _distance.farthest(self.form_of(n), n)

    def release(self, source: RecordSource) -> int:
        if type(source) is Unsorted and self.width == 0 and self.near is None:
            n = source.total()
            ranks, rate = self.ranks_that_matter(n), self.weighting.rate
            is_long = MIN_LONG_RANKS <= ranks.high - ranks.low <= MAX_LONG_RANKS
            if is_long and self.few(n, None) is None:
                farthest = _distance.farthest(ranks.form, n) // STRIDE
                if size_of(rate * STRIDE, farthest) <= MAX_WEIGHTS:
                    return release_long(self.grid, rate, source, ranks)
        return super().release(source)

    def header(self, n: int) -> IntArray:
        """The ranks that matter, and the form; on a grid of points with a width all ranks do."""
        form, low, high = self.ranks_that_matter(n)
        if self.near is not None:
            low, high = 0, n - 1
        return np.concatenate([[low, high], np.full(NUMBERS - 2, -1), form])

    def form_of(self, n: int) -> IntArray:
        return self.form(few_enough(n))

    def ranks_that_matter(self, n: int) -> RanksThatMatter:
        form = self.form_of(n)
        if n == 0:
            return RanksThatMatter(form, 0, -1)
        _, _, s, gate, _, _, _, _, _, t, other, *_ = form.tolist()
        # The gaps where each side's distance begins: the least distance is there or next to them.
        left, right = min(max(n - -(-other // t), 0), n), min(max(-(-gate // s), 0), n)
        low = min(max(min(left, right - 1) - self.reach, 0), n - 1)
        high = max(min(max(left + 1, right) + self.reach, n) - 1, low)
        return RanksThatMatter(form, low, high)

    def shape(self, source: RecordSource) -> RankShape:
        """Return cells for draws, from the window of ranks that matter."""
        n = source.total()
        if self.near is not None:  # a cell for each point
            start, count, distance = self.cells(source)
            cells = Cells(start, count, utilities(distance), SIGNED, None)
            return RankShape(self, source, n, self.form_of(n), cells, self.weighting)
        form, low, high = self.ranks_that_matter(n)
        window = source.window(self.grid, low, high)
        # So the best points, and nearly all draws, are in exact cells: a release ends.
        inside = window.below <= low and high < window.below + int(window.records.sum())
        if n and not (inside and bool((window.records > 0).all())):
            raise FastexpError(INCOMPLETE)
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

    def cells(self, source: RecordSource) -> tuple[IntArray, IntArray, IntArray]:
        points, records = source.counts(self.grid)
        n = int(records.sum())
        window = Window(points, records, 0, n)
        start, count, key = cells_of(window, self.form_of(n), self.grid.size, self.width)
        return self.near_cells(start, count, key >> 1)

    def with_rate(self, rate: Fraction) -> RankStatistic:
        return RankStatistic(self.form, rate, self.grid, self.width, self.near, self.bits)


@lru_cache(maxsize=64)  # public: of parameters that recur; making it takes as long as 3 releases
def unlisted_statistic(form: Forms, rate: tuple[int, int], grid: Grid, width: int) -> RankStatistic:
    """Return the statistic of a grid without a list of points, with its tables for few records.

    The rate is two integers: the cache finds them in a tenth of the time of a fraction.
    """
    return RankStatistic(form, Fraction(*rate), grid, width)


class FewRecords(Few):
    """Draws of a rank statistic without a width."""

    def __init__(self, statistic: RankStatistic, weights: WordArray) -> None:
        self._statistic, self._grid = statistic, statistic.grid
        one, two = statistic.form(1), statistic.form(2)
        self._line = np.concatenate([2 * one - two, two - one])
        self._table = weights
        self._floats, self._integers, self._scale = self._grid.for_kernels or identity(self._grid)

    def _fill(
        self, values: AnyArray, n: int, indices: bool, words: WordArray, out: IntArray
    ) -> int:
        unit, scale = self._floats if values.dtype.kind == "f" else self._integers, self._scale
        if indices:
            unit, _, scale = identity(self._grid)
        return int(draw_rows(
            values.view(INT64), n, self._line_of(n), self._statistic.reach, self._grid.size, unit,
            scale, self._table, words, out, np.empty(work_size(n), INT64),
        ))  # fmt: skip

    def _line_of(self, n: int) -> IntArray:
        """Return a form without records, and what each of n records adds to it."""
        form = self._statistic.form
        if not form.linear:
            return public_line(form, n)
        return self._line if n > 0 else constant(form(n))

    def _exactly(
        self, values: AnyArray, indices: bool, words: WordArray, next_word: NextWord
    ) -> int:
        points = values if indices else self._grid.index(values)
        ranks, rate = self._statistic.ranks_that_matter(values.size), self._statistic.weighting.rate
        return exact_draw(points, ranks, self._grid.size, rate, words, next_word)


def release_long(grid: Grid, rate: Fraction, source: Unsorted, ranks: RanksThatMatter) -> int:
    """Release where many ranks matter: their grid indices take the place of the records.

    Cells of all of them would take ten times the memory. At epsilon = 1e-4 about 900,000 ranks on
    each side matter. A release that bounds leave open, about 1 in 10**7, lists the cells.
    """
    n, (form, low, high) = source.total(), ranks
    middle = source.middle(grid, low, high)
    if isinstance(middle, Window):
        points, below = np.repeat(middle.points, middle.records), middle.below
    else:
        values, below = middle
        points = values.view(np.int64)
        for begin in range(0, values.size, CHUNK_RECORDS):
            part = slice(begin, begin + CHUNK_RECORDS)
            points[part] = grid.index(values[part])
    if not below <= low <= high < below + points.size:
        raise FastexpError(INCOMPLETE)
    near = table(rate, STRIDE - 1)
    far = table(rate * STRIDE, _distance.farthest(form, n) // STRIDE)
    words = os_words(WORDS)
    index: int = draw_long(points, below, n, grid.size, form, near, far, words)
    if index != OPEN:
        return index

    def true_distance(point: int) -> int:
        under, upto = source.below(grid, point), source.below(grid, point + 1)
        return int(_distance.distance(form, under, upto - under, n - upto))

    cells = listed_cells(Window(*runs(points), below, n), form, grid.size)
    return group_draw(cells, rate, words.tolist(), os_word, true_distance, long_weight)


def few_enough(n: int) -> int:
    """Return n, or refuse it: forms and chains are proved for fewer than 2**32 records."""
    if n >= MAX_RECORDS:
        raise InvalidRecords("records must be fewer than 2**32")
    return n


class RankShape(ExactCoins):
    """Cells of one data set; see `cells.Shape`."""

    source: RecordSource
    statistic: RankStatistic
    total: int
    cells: Cells
    form: IntArray
    weighting: Weighting

    def __init__(
        self,
        statistic: RankStatistic,
        source: RecordSource,
        total: int,
        form: IntArray,
        cells: Cells,
        weighting: Weighting,
    ) -> None:
        self.statistic, self.source, self.total = statistic, source, total
        self.form, self.cells, self.weighting = form, cells, weighting

    def exponent(self, cell: int, index: int) -> Fraction:
        bound = -int(self.cells.bits[cell].astype(np.int64))
        return self.weighting.rate * (self.distance(index) - bound)

    def distance(self, t: int) -> int:
        """Return the distance of grid point t, the least within the width, by counting records.

        On either side of the statistic, the point or the record nearest to the statistic has the
        least distance, as records may be closer than the gap beside them.
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
    """Return a mask of m cells, of which at most the first and the last are loose, or None."""
    if not (first or last):
        return None
    loose = np.zeros(m, np.bool_)
    if first:
        loose[0] = True
    if last:
        loose[-1] = True
    return loose


def constant(form: IntArray) -> IntArray:
    """Return a form, and zeros for what each record adds to it."""
    return np.concatenate([form, np.zeros_like(form)])


@lru_cache(maxsize=64)
def public_line(form: Forms, n: int) -> IntArray:
    """Return the form for n records, whose number is public, and zeros."""
    return constant(form(n))


@lru_cache(maxsize=64)
def identity(grid: Grid) -> tuple[IntArray, IntArray, FloatArray]:
    """Return a grid for kernels on which the records are grid indices."""
    unit = new_unit(0, 1, grid.size - 1, floats=False, odd=0, below=False)
    return unit, unit, new_scale(1.0, 0.0, float(grid.size - 1), 1.0, 2.0)
