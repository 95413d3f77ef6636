"""Many draws from one vector: builds the alias table and settles its slow draws exactly."""

from __future__ import annotations

import numpy as np

from .._randomness.streams import Spare
from .._threads import in_parts
from .._typing import IntArray, WordArray
from ..errors import FastexpError
from ..kernels.select import alias
from ..kernels.select.alias_rows import DOUBT, MARGIN
from ..kernels.select.envelope import SLACK
from ..reference import exact
from . import plan
from .scan import Scan


class Spares:
    """Further words of the substreams of draws that need more than their own, in order."""

    def __init__(self, stream: WordArray) -> None:
        self._stream, self._number = stream, -1
        self._spare: Spare | None = None

    def of(self, draw: int) -> Spare:
        number = draw // alias.DRAWS
        if self._spare is None or number != self._number:
            self._number, self._spare = number, Spare(self._stream, number, alias.DRAWS)
        return self._spare


class Table:
    """An alias table of 2**column_bits columns of 2**cell_bits cells."""

    def __init__(self, scan: Scan, column_bits: int, cell_bits: int) -> None:
        self.scan, self.column_bits, self.cell_bits = scan, column_bits, cell_bits
        self.cells = 1 << (column_bits + cell_bits)
        high, low = divmod(scan.total(), 1 << 64)
        total = (float(high) * 2.0**64 + float(low)) / scan.scale
        # f / 2**lift; the roundings are those of `kernels/select/alias_rows.py`
        self.scale = float(self.cells - DOUBT * scan.bits.size) * MARGIN / total
        # The cells that candidates own for certain, then the slow outcome's, then 0.
        k, weights = scan.bits.size, np.empty(1 << column_bits, np.int64)
        best = scan.blocks[scan.blocks.size - 4 : scan.blocks.size - 2]
        w = scan.weighting
        work = np.empty_like(scan.work)  # not scan.work: it holds the last block for `draw`
        certain, doubtful = alias.weigh(
            scan.bits, scan.kind, w.log2_base, w.rate_log2, self.scale, best, weights[:k], work
        )
        if certain + doubtful > self.cells:  # the margin rules it out; a wrong law must not pass
            raise FastexpError("an alias table overflowed: please report this")
        weights[k] = self.cells - certain
        weights[k + 1 :] = 0
        self.weights = weights
        self.entries = np.empty(self.weights.size, np.uint64)
        order = np.empty_like(self.weights)
        alias.alias_build(self.weights, column_bits, cell_bits, order, self.entries)

    def draws(self, size: int, stream: WordArray, threads: int) -> IntArray:
        """`size` indices: draw t of a substream's 4,096 takes word t."""
        out = np.empty(size, np.int64)
        slow = self.scan.bits.size

        def part(first: int, last: int) -> int:
            words = np.empty(alias.DRAWS, np.uint64)
            chosen = out[first * alias.DRAWS : last * alias.DRAWS]
            status: int = alias.alias_fill(
                self.entries,
                self.column_bits,
                self.cell_bits,
                stream,
                first,
                slow,
                chosen,
                words,
            )
            return status

        blocks = -(-size // alias.DRAWS)
        threads = threads if size >= plan.THREADED_DRAWS else 1
        if threads > 1:
            out.fill(0)  # threads that touch new pages at once wait for each other, 2x over all
        if sum(in_parts(part, blocks, threads)):
            self.settle(out, stream)
        return out

    def settle(self, out: IntArray, stream: WordArray) -> None:
        """Decide the slow draws, with words from 4,096 on of their substream, in order."""
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
        """The cumulative sums of D, the cells a candidate may claim beyond its certain ones."""
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
