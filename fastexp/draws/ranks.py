"""Draws by rank distance, of one data set, of rows and of groups alike: cells, then points.

A cell is a candidate whose base is its number of points; its points are equally likely. A point of
a loose cell is accepted by an exact coin with its true distance; else all is drawn again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np

from ..data.grid import Grid
from ..data.records import MAX_RECORDS
from ..data.segments import Segments
from ..errors import InvalidRecords
from ..kernels import cells as kernels
from ..kernels import window
from ..kernels.alias import HEAD
from ..kernels.bits import LN2, LOG2E, SIGNED
from ..kernels.cells import ALL, LENGTH, PART, START, TOP, WORDS
from ..kernels.places import place_records
from ..types import Floats, Integers, Words
from . import exact
from .choose import MIN_MANY, NO_BASE, check, settle, shaped, table_room
from .distance import QuantileDistance, rank_distance
from .words import SPARE, further_words, pairs, system_words

LOOSE = int(kernels.LOOSE)
WINDOW_BITS = 24  # cells beyond the window have less than 2**-bits of all weight
NO_WORDS: Words = np.empty(0, np.uint64)
MISSING = "records must not be missing (NaN): drop them, or give nan='drop', 'lower' or 'upper'"


@dataclass(frozen=True)
class RankStatistic:
    """The public side of a draw: weight exp(-rate * distance) on each point of a grid.

    Each point may be that many places.
    """

    rate: Fraction
    distance: QuantileDistance
    grid: Grid
    places: int = 1
    bits: int = WINDOW_BITS

    @property
    def size(self) -> int:
        """The number of places of all points."""
        return self.grid.size * self.places

    @cached_property
    def public(self) -> tuple[Integers, int, float, int]:
        """What kernels need: coefficients, ranks beyond the statistic that matter, rate, size."""
        bits = self.bits + self.size.bit_length()
        ranks = bits * LN2 / (float(self.rate) * self.distance.growth)
        beyond = ceil(min(ranks, float(MAX_RECORDS))) + 2
        return self.distance.line, beyond, float(self.rate) * LOG2E, self.size


def draw(data: Segments, statistic: RankStatistic, seeds: Words, size: int | None) -> Any:
    """Return grid indices: an int, or int64 of shape (size,), (rows,) or (rows, size)."""
    parts, points, longest = _window(data, statistic)
    sets, draws = parts.size // PART, 1 if size is None else size
    is_many = seeds.size > 0 and draws >= MIN_MANY
    words = NO_WORDS
    if not seeds.size:
        words = system_words(WORDS * sets * draws)
    elif not is_many:
        words = pairs(seeds, sets, WORDS // 2 * draws)
    line, beyond, rate, _ = statistic.public
    out = np.empty(sets * draws, np.int64)
    most, work = room(longest, beyond, is_many)
    few = kernels.draw_ranks(points, parts, line, beyond, rate, seeds, words, most, out, work)
    for j in open_draws(few, out) if few else ():
        d, t = divmod(j, draws)
        a, z = _offsets(data)[d : d + 2].tolist()
        every, part = np.empty(z - a, np.int64), parts[PART * d : PART * (d + 1)]
        place_records(data.values[a:z], statistic.grid.form, every)
        spare = further_words(seeds, d, (t << 32) + SPARE)
        out[j] = settled(int(out[j]), points, part, every, statistic, is_many, spare)
    is_one = size is None and data.rows is None
    return int(out[0]) if is_one else shaped(out, data.rows, size)


def open_draws(status: int, out: Integers) -> list[int]:
    """Return which draws a kernel left open, for `settled`; raise the error of its status."""
    check(status)
    found: list[int] = np.flatnonzero(out < 0).tolist()
    return found


def settled(
    found: int,
    points: Integers,
    part: Integers,
    every: Integers,
    statistic: RankStatistic,
    is_many: bool,
    spare: Iterator[int],
) -> int:
    """Return the point of an open draw: of a cell, or of an open draw of cells (their number).

    found: what the kernel left. every: the points of all records of the part, in any order.
    """
    most, work = room(int(part[LENGTH]), statistic.public[1], is_many)
    seeds, words = np.zeros(4, np.uint64), NO_WORDS if is_many else np.zeros(WORDS, np.uint64)
    nothing = np.empty(0, np.int64)
    line, beyond, rate, _ = statistic.public
    kernels.draw_ranks(points, part, line, beyond, rate, seeds, words, most, nothing, work)
    most_cells = 2 * most + 1
    start, count, minus, measure = work[: 4 * most_cells].reshape(4, most_cells)
    table = work[4 * most_cells :]
    m, floats = int(table[HEAD - 2]), table.view(np.float64)
    base: Floats = measure[:m].view(np.float64)
    best, values = int(table[0]) & exact.MASK_64, minus[:m].view(np.uint64)
    cells = exact.Candidates(values, SIGNED, base, statistic.rate, best, float(floats[1]))
    n, cell = every.size, -1 - found
    form = statistic.distance.form(n)
    while True:
        if cell >= m:
            cell = settle(cells, table, cell == m, spare)
        point = int(start[cell]) + exact.draw_below(int(count[cell]) % LOOSE, spare)
        below, equal = int((every < point).sum()), int((every == point).sum())
        slack = rank_distance(form, below, equal, n - below - equal) + int(minus[cell])
        if count[cell] < LOOSE or exact.accept(statistic.rate * slack, Fraction(1), 0, spare):
            return point
        cell = m + 1


def room(longest: int, beyond: int, is_many: bool) -> tuple[int, Integers]:
    """Return the most ranks that matter in a data set, and scratch for its cells.

    With a = the fewest records above a point at which their side's distance is >= 1, and b = the
    fewest below: the ranks that matter are those from n - a - beyond up to b + beyond, and n - a is
    ceil(q*n) - 1 (upper: floor(n/2)), b is ceil(q*n) (weak and upper: floor(q*n) + 1). So they are
    at most 2 * beyond + 2, and hold the record of rank b, whose distance is 0: fewer than b records
    lie below its point, and fewer than a above it. No loose cell is better. A side grows by
    `growth` >= 1 for each rank, rounded down, so the bound of a loose cell is at least
    growth * beyond - 1, and both have less than 2**-24 of the weight: dips do not matter, as the
    bound is the lesser one of points with and without records.
    """
    most = min(longest, 2 * beyond + 2)
    cells = 2 * most + 1
    return most, np.empty(4 * cells + (table_room(cells) if is_many else cells + HEAD), np.int64)


def _window(data: Segments, statistic: RankStatistic) -> tuple[Integers, Integers, int]:
    """Return the parts of data sets, sorted indices around the ranks that matter, most records."""
    n, sets = data.values.size, data.rows or 1
    line, beyond, _, size = statistic.public
    if sets == 1:
        parts, longest = np.array((0, n, 0, n, 0, size)), n
    else:
        offsets = _offsets(data)
        lengths = np.diff(offsets)
        parts, longest = np.zeros((sets, PART), np.int64), int(lengths.max())
        parts[:, START], parts[:, LENGTH], parts[:, ALL] = offsets[:-1], lengths, lengths
        parts[:, TOP] = size
        parts = parts.reshape(-1)
    grid, points = statistic.grid, np.empty(n, np.int64)
    work = np.empty(window.SCRATCH + longest + window.SPARE, np.int64)
    status = window.UNPLACED
    if longest >= window.LONG:
        status = window.narrow(data.values, parts, line, beyond, grid.form, points, work)
    if status == window.UNPLACED:
        status = window.MISSING
        if not place_records(data.values, grid.form, points):
            status = window.narrow(NO_BASE, parts, line, beyond, grid.form, points, work)
    if status == window.MISSING:
        raise InvalidRecords(MISSING)
    return parts, points, longest


def placed(data: Segments, grid: Grid) -> list[Integers]:
    """Return the grid indices of each data set's records."""
    points = np.empty(data.values.size, np.int64)
    if place_records(data.values, grid.form, points):
        raise InvalidRecords(MISSING)
    return [points[a:z] for a, z in pairwise(_offsets(data).tolist())]


def _offsets(data: Segments) -> Integers:
    """Return where data sets begin and end."""
    sets = data.rows or 1
    if data.offsets is None:
        return np.arange(sets + 1) * (data.values.size // sets)
    return data.offsets
