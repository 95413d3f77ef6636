"""Draws by rank distance, of one data set, of rows and of groups alike: cells, then points.

A cell is a candidate whose base is its number of points; its points are equally likely. A point of
a loose cell is accepted by an exact coin with its true distance; else all is drawn again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from ..data.grid import Grid
from ..data.segments import Segments
from ..errors import InvalidRecords
from ..kernels import cells as kernels
from ..kernels import window
from ..kernels.alias import HEAD
from ..kernels.bits import LN2, LOG2E, SIGNED
from ..kernels.cells import ALL, LENGTH, PART, START, WORDS
from ..kernels.envelope import fill_words
from ..kernels.places import place_records
from ..types import Floats, Integers, Words
from . import exact
from .choose import MIN_MANY, NO_BASE, check, settle, table_room
from .distance import MAX_RECORDS, QuantileDistance, rank_distance
from .words import SPARE, further_words, system_words

LOOSE = int(kernels.LOOSE)
WINDOW_BITS = 24  # cells beyond the window have less than 2**-24 of all weight
NO_WORDS: Words = np.empty(0, np.uint64)


@dataclass(frozen=True)
class RankStatistic:
    """The public side of a draw: weight exp(-rate * distance) on each point of a grid."""

    rate: Fraction
    distance: QuantileDistance
    grid: Grid

    @cached_property
    def public(self) -> tuple[Integers, int, int, float]:
        """What kernels need: coefficients, ranks that matter beyond the statistic, size, rate."""
        bits = WINDOW_BITS + self.grid.size.bit_length()
        ranks = bits * LN2 / (float(self.rate) * float(self.distance.growth))
        beyond = ceil(min(ranks, float(MAX_RECORDS))) + 2
        return self.distance.line, beyond, self.grid.size, float(self.rate) * LOG2E


def draw(data: Segments, statistic: RankStatistic, seeds: Words, size: int | None) -> Any:
    """Return grid indices: an int, or int64 of shape (size,), (rows,) or (rows, size)."""
    parts, points = _window(data, statistic)
    sets, draws = parts.size // PART, 1 if size is None else size
    line, beyond, count, rate = statistic.public
    words = NO_WORDS
    if not seeds.size:
        words = system_words(WORDS * sets * draws)
    elif draws < MIN_MANY:
        words = np.empty(WORDS * sets * draws, np.uint64)
        fill_words(seeds, WORDS // 2 * draws, words)
    longest = int(parts[LENGTH::PART].max())
    most = min(longest, 2 * beyond + 64)  # the ranks where sides begin differ by less than 60
    room = 2 * most + 1
    out = np.empty(sets * draws, np.int64)
    work = np.empty(4 * room + (room + HEAD if words.size else table_room(room)), np.int64)
    public = line, beyond, count, rate
    few = kernels.draw_ranks(points, parts, *public, seeds, words, most, out, work)
    if few and check(few):
        for j in np.flatnonzero(out < 0).tolist():
            d, t = divmod(j, draws)
            part, own = parts[PART * d : PART * (d + 1)], seeds[: 4 if seeds.size else 0]
            kernels.draw_ranks(points, part, *public, own, words[:WORDS], most, out[:0], work)
            spare = further_words(seeds, d, (t << 32) + SPARE)
            out[j] = _settled(-1 - int(out[j]), _records(data, d), statistic, work, room, spare)
    if size is None:
        return int(out[0]) if data.rows is None else out
    return out if data.rows is None else out.reshape(sets, size)


def _window(data: Segments, statistic: RankStatistic) -> tuple[Integers, Integers]:
    """Return the parts of data sets and their sorted grid indices around the ranks that matter."""
    n, sets = data.values.size, 1 if data.rows is None else data.rows
    offsets = data.offsets
    if sets == 1:
        parts, longest = np.array((0, n, 0, n)), n
    else:
        if offsets is None:
            offsets = np.arange(sets + 1) * (n // sets)
        lengths = np.diff(offsets)
        parts, longest = np.zeros((sets, PART), np.int64), int(lengths.max())
        parts[:, START], parts[:, LENGTH], parts[:, ALL] = offsets[:-1], lengths, lengths
        parts = parts.reshape(-1)
    line, beyond, _, _ = statistic.public
    grid, points = statistic.grid, np.empty(n, np.int64)
    work = np.empty(window.SCRATCH + longest + window.SPARE, np.int64)
    status = window.UNPLACED
    if longest >= window.LONG:
        status = window.narrow(data.values, parts, line, beyond, grid.form, points, work)
    if status == window.UNPLACED:
        place_records(data.values, grid.form, points)
        status = window.narrow(NO_BASE, parts, line, beyond, grid.form, points, work)
    if status == window.MISSING or (longest < window.LONG and np.isnan(data.values).any()):
        raise InvalidRecords("records must not be missing (NaN)")
    return parts, points


def _records(data: Segments, d: int) -> Segments:
    """Return the records of one data set."""
    if data.rows is None:
        return data
    n = data.values.size // data.rows
    a, z = (d * n, (d + 1) * n) if data.offsets is None else data.offsets[d : d + 2].tolist()
    return Segments(data.values[a:z], data.kind)


def _settled(
    cell: int,
    data: Segments,
    statistic: RankStatistic,
    work: Integers,
    room: int,
    words: Iterator[int],
) -> int:
    """Return the point of an open draw: of a cell, or of an open draw of cells (their number)."""
    start, count, minus, measure = work[: 4 * room].reshape(4, room)
    table = work[4 * room :]
    m, floats = int(table[HEAD - 2]), table.view(np.float64)
    base: Floats = measure[:m].view(np.float64)
    best, values = int(table[0]) & exact.MASK_64, minus[:m].view(np.uint64)
    cells = exact.Candidates(values, SIGNED, base, statistic.rate, best, float(floats[1]))
    n = data.values.size
    points = np.empty(n, np.int64)
    place_records(data.values, statistic.grid.form, points)
    form = statistic.distance.form(n)
    while True:
        if cell >= m:
            cell = settle(cells, table, cell == m, words)
        point = int(start[cell]) + exact.draw_below(int(count[cell]) % LOOSE, words)
        below, equal = int((points < point).sum()), int((points == point).sum())
        slack = rank_distance(form, below, equal, n - below - equal) + int(minus[cell])
        if count[cell] < LOOSE or exact.accept(statistic.rate * slack, Fraction(1), 0, words):
            return point
        cell = m + 1
