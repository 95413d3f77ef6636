"""Many draws from each of several rows by alias tables; draws that they leave open, exactly."""

from __future__ import annotations

import numpy as np

from .._randomness.streams import HEADER, Spare
from .._typing import IntArray, WordArray
from ..errors import FastexpError
from ..kernels.select import alias
from ..kernels.select.envelope import SLACK
from ..reference import exact
from .scan import Scan, check
from .weighting import Weighting


class Spares:
    """Further words for draws that need more than one, in the order of each substream."""

    def __init__(self, stream: WordArray) -> None:
        self._stream, self._number = stream, -1
        self._spare: Spare | None = None

    def of(self, draw: int) -> Spare:
        number = draw // alias.DRAWS
        if self._spare is None or number != self._number:
            self._number, self._spare = number, Spare(self._stream, number, alias.DRAWS)
        return self._spare


def fill(
    bits: WordArray,
    kind: int,
    weighting: Weighting,
    seeds: WordArray,
    shape: tuple[int, int],
    first: int,
    out: IntArray,
    work: IntArray,
) -> int:
    """out = draws of each row from substream `first` on, k for a slow one; returns how many are."""
    slow: int = alias.alias_rows(
        bits, kind, weighting.log2_base, weighting.rate_log2, seeds, *shape, first, out, work
    )
    check(slow)
    if slow == alias.OVERFULL:  # the margin rules it out; a wrong law must not pass
        raise FastexpError("an alias table overflowed: please report this")
    return slow


class Table:
    """The alias table of a vector: 2**column_bits columns of 2**cell_bits cells."""

    def __init__(self, scan: Scan, column_bits: int, cell_bits: int) -> None:
        self.scan, self.column_bits, self.cell_bits = scan, column_bits, cell_bits
        self.cells = 1 << (column_bits + cell_bits)
        high, low = divmod(scan.total(), 1 << 64)
        total = (float(high) * 2.0**64 + float(low)) / scan.scale
        # f / 2**lift; the roundings are those of `alias.table_scale`
        self.scale = float(self.cells - alias.DOUBT * scan.bits.size) * alias.MARGIN / total
        # The cells that candidates own for certain, then the slow outcome's, then 0.
        work = np.empty(alias.work_size(scan.bits.size, column_bits), np.int64)
        name, none = np.zeros(HEADER + 1, np.uint64), np.empty(0, np.int64)
        fill(scan.bits, scan.kind, scan.weighting, name, (column_bits, cell_bits), 0, none, work)
        self.weights, self.entries = alias.table_in(work, column_bits)

    def settle(self, out: IntArray, stream: WordArray) -> None:
        """Decide the slow draws, in order, with the words from 4,096 on of their substreams."""
        spares, sums = Spares(stream), self.doubt_sums()
        for t in np.flatnonzero(out == self.scan.bits.size).tolist():
            out[t] = self._settle_one(spares.of(t), sums)

    def _settle_one(self, spare: Spare, sums: IntArray) -> int:
        slow, certain = self.scan.bits.size, self.cells - int(self.weights[self.scan.bits.size])

        def claims(index: int, cell: int) -> bool:
            return self.scan.accepts(index, self.scale, int(self.weights[index]) + cell, spare)

        while True:
            candidate = exact.settle_slow(certain, sums, self.cells, claims, spare)
            if candidate is not None:
                return candidate
            index = self.look_up(spare())
            if index != slow:
                return index

    def doubt_sums(self) -> IntArray:
        """The cumulative sums of D, the cells that a candidate may claim besides its own."""
        least = self.weights[: self.scan.bits.size]
        doubts = 2 * ((least + 2) >> SLACK) + 7
        base = self.scan.weighting.base
        return np.cumsum(doubts if base is None else np.where(base > 0, doubts, 0))

    def look_up(self, word: int) -> int:
        """The outcome of one word, as `alias.look_up`."""
        column = word >> (64 - self.column_bits)
        cell = word >> (64 - self.column_bits - self.cell_bits) & ((1 << self.cell_bits) - 1)
        entry = int(self.entries[column])
        below_cut = cell < entry >> self.column_bits
        return column if below_cut else entry & ((1 << self.column_bits) - 1)
