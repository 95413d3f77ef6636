"""Draws from many data sets of equal size at once: a matrix with one data set per row.

The common case (sorted rows, a grid for kernels, many draws) goes through
`kernels/numbers/ragged.py`. All other rows are drawn from one by one, also
the rare rows with a draw that bounds leave open.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._intake import arrays
from .._intake.records import Records
from .._randomness.sampling import Sampling
from .._randomness.streams import PLACE, some_seeds, tagged
from .._selection import plan
from .._selection.scan import check
from .._threads import in_parts
from .._typing import AnyArray, IntArray, WordArray
from ..errors import InvalidRecords
from ..kernels.numbers import ragged
from ..kernels.numbers.cell_base import base_fill
from ..kernels.select.alias import DRAWS
from .few_records import Few
from .rank import RankStatistic
from .rank_cells import row_cells

CHUNK_RECORDS = 1 << 14  # records at a time, in rows of few records: 128 KiB
ROWS = 32  # rows at a time: their cells and draws stay in the L2 cache


def simulate(
    statistic: RankStatistic, records: AnyArray, sampling: Sampling, nan: str, assume_sorted: bool
) -> Any:
    """Return grid points of shape (rows,) or (rows, size)."""
    rows = records.shape[0]
    way, draws, workers, seeds = sampling.checked(rows=rows)
    batch = _Batch(statistic, records, seeds, way, nan, assume_sorted)
    grid = statistic.grid
    few = None if way == "gumbel" or batch.gaps() else statistic.few(records.shape[1], draws)
    if few is not None:
        values = grid.values(batch.few(few, 1 if draws is None else draws, workers))
        return values.reshape(-1) if draws is None else values
    if way != "envelope" or draws is None or not batch.regular(draws):
        index = [batch.alone(r, draws) for r in range(rows)]
        shape = (rows,) if draws is None else (rows, draws)
        return grid.values(np.array(index, np.int64).reshape(shape))
    out = np.empty((rows, draws), np.int64 if grid.whole else np.float64)

    def part(first: int, last: int) -> int:
        index = np.empty((min(ROWS, rows), draws), np.int64)
        for begin in range(first, last, ROWS):
            end = min(begin + ROWS, last)
            batch.fill(begin, end, index[: end - begin])
            out[begin:end] = grid.values(index[: end - begin])
        return 0

    in_parts(part, rows, workers)
    return out


class _Batch:
    """Rows of records, and the ways to draw from them."""

    def __init__(
        self,
        statistic: RankStatistic,
        records: AnyArray,
        seeds: WordArray,
        way: str,
        nan: str,
        assume_sorted: bool,
    ) -> None:
        self.statistic, self.records, self.seeds = statistic, records, seeds
        self.way, self.nan, self.sorted = way, nan, assume_sorted

    def regular(self, size: int) -> bool:
        """Whether rows can take the common way; decided by what all rows share."""
        rows, n = self.records.shape
        plain = rows > 0 and n > 0 and self.statistic.width == 0 and self.statistic.near is None
        if not plain or self.statistic.grid.for_kernels is None:
            return False
        self.ranks = self.statistic.ranks_that_matter(n)
        most = 2 * (self.ranks.high - self.ranks.low + 1) + 1
        return plan.by_table(most, size) and not self.gaps()

    def gaps(self) -> bool:
        """Whether records are missing, and `nan` does not refuse them."""
        floats = self.records.dtype.kind == "f"
        return floats and self.nan != "raise" and bool(np.isnan(self.records).any())

    def few(self, few: Few, size: int, threads: int) -> IntArray:
        rows, n = self.records.shape
        out, step = np.empty((rows, size), np.int64), max(CHUNK_RECORDS // max(n, 1), 1)

        def part(first: int, last: int) -> int:
            for begin in range(first, last, step):
                end = min(begin + step, last)
                seeds = some_seeds(self.seeds, begin, end)
                index = few.simulate_rows(self._ordered(begin, end), seeds, size)
                out[begin:end] = index.reshape(-1, size)
            return 0

        in_parts(part, rows, threads)
        return out

    def alone(self, r: int, size: int | None) -> Any:
        """Return the draws of one row, as if there were no others."""
        source = Records(self.records[r]).source(self.nan, assume_sorted=self.sorted)
        seeds = some_seeds(self.seeds, r, r + 1)
        index = self.statistic.draws(source, seeds, size, 1, self.way)
        return index[0] if size is None else index

    def fill(self, first: int, last: int, out: IntArray) -> None:
        cells, ends = row_cells(self.statistic.grid, self.ranks, self._ordered(first, last))
        m, room = int(ends[-1]), cells.size // 3
        distances, base = cells[2 * room : 2 * room + m].copy(), np.empty((2, m))
        base_fill(cells[room : room + m], distances, base[0], base[1])
        bits = distances.view(np.uint64)
        seeds = some_seeds(self.seeds, first, last)
        if seeds is self.seeds:
            seeds = seeds.copy()
        most = int(np.diff(ends).max())
        work = np.empty(max(ragged.ragged_work(most), 2 + DRAWS), np.int64)
        flat = out.reshape(-1)
        rate = self.statistic.weighting.rate_log2
        check(ragged.ragged_cells(bits, base[1], ends, rate, seeds, flat, work))
        again = np.empty(last - first, np.int64)
        places = tagged(seeds, PLACE)
        if ragged.ragged_places(cells, ends, places, flat, again, work):
            for r in np.flatnonzero(again):
                out[r] = self.alone(first + int(r), out.shape[1])

    def _ordered(self, first: int, last: int) -> AnyArray:
        part = self.records[first:last]
        if not self.sorted:
            part = np.sort(part, axis=1)
        if part.size and part.dtype.kind == "f" and bool(np.isnan(part[:, [0, -1]]).any()):
            raise InvalidRecords(arrays.MISSING)
        return np.ascontiguousarray(part)
