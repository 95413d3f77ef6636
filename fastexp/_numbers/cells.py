"""Draws of grid points: a cell by the finite sampler, a point in it, and a coin for bounds.

A cell is a range of grid points with one utility. It is chosen with base = its number of
points, exactly; all of its points are then equally likely. If the utility is only an upper
bound, the point is accepted with probability weight / bound; otherwise all is drawn again. The
law of accepted points is exactly proportional to the weights, whatever the bounds are.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from .._randomness.sampling import Sampling
from .._randomness.streams import (
    COIN,
    PLACE,
    ROUND,
    ROW,
    os_below,
    os_word,
    stream_of,
    tagged,
)
from .._selection import draw as _draw
from .._selection import plan
from .._selection.alias_table import Spares
from .._selection.rows import Rows
from .._selection.scan import Scan
from .._selection.weighting import Weighting
from .._threads import in_parts
from .._typing import AnyArray, FloatArray, IntArray, WordArray
from ..kernels.bits.words import substream_words
from ..kernels.numbers import places
from ..kernels.select.alias import DRAWS
from ..reference import exact
from ..reference.exact import NextWord

NONE: IntArray = np.zeros(0, np.int64)


class Cells(NamedTuple):
    """Ranges of grid points.

    `start` and `count` (m,) are the first grid index and the number of points, 1 to 2**52;
    `bits` and `kind` are the utilities, encoded as in `kernels/bits/heights.py`; `loose` (m,) marks
    the cells whose utility is only an upper bound, and is None if there are none.
    """

    start: IntArray
    count: IntArray  # type: ignore[assignment]  # hides tuple.count, which nobody needs
    bits: WordArray
    kind: int
    loose: AnyArray | None


class Shape(Protocol):
    """The cells of one data set, and the exact weights inside them."""

    cells: Cells  # the weight of a point is exp(rate * utility)
    weighting: Weighting  # its base is the counts of points; if it has none, they are added

    def heights(self, cell: IntArray, index: IntArray, /) -> FloatArray:
        """-ln P(a point of a loose cell passes), within a relative 2**-40 or absolute 2**-45."""
        ...

    def accepts(self, cell: int, index: int, lead: int, bits: int, words: NextWord, /) -> bool:
        """Whether V is below that probability, exactly; `lead` has the first `bits` bits of V."""
        ...


def coin(exponent: Fraction, lead: int, bits: int, words: NextWord) -> bool:
    """Whether V < exp(-exponent), for a uniform V in [0, 1); `lead` has its first `bits` bits."""
    while True:
        lo, hi = exact.exp_bounds(exponent, bits + 8)
        if lead + 1 << 8 <= lo:
            return True
        if lead << 8 >= hi:
            return False
        lead, bits = lead << 64 | words(), bits + 64


class ExactCoins:
    """The coins of a shape whose loose cells have exact fractions as exponents."""

    def exponent(self, cell: int, index: int) -> Fraction:
        """-ln P(a point of a loose cell passes), exactly."""
        raise NotImplementedError

    def heights(self, cell: IntArray, index: IntArray) -> FloatArray:
        pairs = zip(cell.tolist(), index.tolist(), strict=True)
        return np.array([float(self.exponent(c, i)) for c, i in pairs], np.float64)

    def accepts(self, cell: int, index: int, lead: int, bits: int, words: NextWord) -> bool:
        return coin(self.exponent(cell, index), lead, bits, words)


def release(shape: Shape) -> int:
    start, count, bits, kind, loose = shape.cells
    weighting = shape.weighting
    if weighting.base is None:
        weighting = weighting.measured(count)
    while True:
        cell = _draw.release(bits, kind, weighting)
        index = start.item(cell) + os_below(count.item(cell))
        if loose is None or not loose[cell] or shape.accepts(cell, index, os_word(), 64, os_word):
            return index


def simulate(shape: Shape, sampling: Sampling) -> int | IntArray:
    return reproducible(
        lambda seeds, size, threads, way: Simulation(shape, seeds, threads, way).draw(size),
        sampling,
    )


def reproducible(
    draw: Callable[[WordArray, int | None, int, str], IntArray], sampling: Sampling
) -> int | IntArray:
    """Call `draw` with the checked seeds, size, threads and method of `sampling`."""
    way, size, threads, seeds = sampling.checked()
    index = draw(seeds, size, threads, way)
    return int(index[0]) if size is None else index


class WordDraw:
    """Draws of one shape: the same as `release`, but from the caller's words."""

    def __init__(self, shape: Shape) -> None:
        cells: Cells = shape.cells
        weighting = shape.weighting
        if weighting.base is None:
            weighting = weighting.measured(cells.count)
        self._shape = shape
        self._scan = Scan(cells.bits, cells.kind, weighting, plan.PRECISION)
        self._scan.fill(1)

    def __call__(self, words: NextWord) -> int:
        """Draw by rounds: two words for the cell, as many as needed for the place, then a coin."""
        start, count, _, _, loose = self._shape.cells
        while True:
            cell = self._scan.first(np.array([words(), words()], np.uint64), words)
            index = int(start[cell]) + exact.draw_below(int(count[cell]), words)
            if loose is None or not loose[cell]:
                return index
            if self._shape.accepts(cell, index, words(), 64, words):
                return index


class Simulation:
    """Reproducible draws. Draws that a coin refuses enter a next round, which has its own streams.

    Draw j of a round takes word j % 4,096 of substream j // 4,096 of the row's PLACE stream. If
    its place is refused there, it takes words from 4,096 on; such draws follow in their order.
    Coins take words of the COIN stream in the same way.
    """

    def __init__(self, shape: Shape, seeds: WordArray, threads: int, way: str) -> None:
        cells = shape.cells
        weighting = shape.weighting
        if weighting.base is None or way == "gumbel":
            weighting = weighting.measured(cells.count)
        self.rows = Rows(cells.bits, cells.kind, weighting)
        self.shape, self.seeds, self.threads, self.way = shape, seeds, threads, way

    def draw(self, size: int | None) -> IntArray:
        index, refused = self._round(0, size)
        number = 0
        while refused.size:
            number += 1
            fresh, again = self._round(number, refused.size)
            index[refused], refused = fresh, refused[again]
        return index

    def _round(self, number: int, size: int | None) -> tuple[IntArray, IntArray]:
        """Return grid indices, and the numbers of the draws that a coin refused."""
        tag = number << ROUND
        seeds = self.seeds if number == 0 else tagged(self.seeds, ROW | tag)
        cell = _draw.drawn(self.rows, seeds, size, self.threads, self.way)
        index = self._points(cell, stream_of(tagged(self.seeds, PLACE | tag), 0))
        loose = self.shape.cells.loose
        if loose is None:
            return index, NONE
        loose_draws = loose[cell].nonzero()[0]
        if loose_draws.size == 0:
            return index, NONE
        stream = stream_of(tagged(self.seeds, COIN | tag), 0)
        passed = self._coins(cell[loose_draws], index[loose_draws], loose_draws, stream, cell.size)
        return index, loose_draws[~passed]

    def _points(self, cell: IntArray, stream: WordArray) -> IntArray:
        out, cells = np.empty(cell.size, np.int64), self.shape.cells

        def part(first: int, last: int) -> int:
            words = np.empty(min(DRAWS, cell.size + cell.size % 2), np.uint64)
            inside = slice(first * DRAWS, last * DRAWS)
            status: int = places.place_fill(
                cells.start, cells.count, cell[inside], stream, first, out[inside], words
            )
            return status

        blocks = -(-cell.size // DRAWS)
        threads = self.threads if cell.size >= plan.THREADED_DRAWS else 1
        if sum(in_parts(part, blocks, threads)) if threads > 1 else part(0, blocks):
            spares = Spares(stream)
            for j in np.flatnonzero(out == places.REFUSED):
                count, spare = int(cells.count[cell[j]]), spares.of(int(j))
                out[j] = int(cells.start[cell[j]]) + exact.draw_below(count, spare)
        return out

    def _coins(
        self, cell: IntArray, index: IntArray, at: IntArray, stream: WordArray, size: int
    ) -> AnyArray:
        """Whether the draws with numbers `at` pass."""
        words, verdicts = _words(stream, size)[at], np.empty(at.size, np.int64)
        heights = np.maximum(self.shape.heights(cell, index), 0.0)
        if places.coin_fill(heights, words, verdicts):
            spares = Spares(stream)
            for i in np.flatnonzero(verdicts == places.UNSURE):
                lead, spare = int(words[i]), spares.of(int(at[i]))
                verdicts[i] = self.shape.accepts(int(cell[i]), int(index[i]), lead, 64, spare)
        passed: AnyArray = verdicts == places.ACCEPT
        return passed


def _words(stream: WordArray, size: int) -> WordArray:
    """Word j % DRAWS of substream j // DRAWS, for j below `size`."""
    blocks = -(-size // DRAWS)
    out = np.empty(blocks * DRAWS, np.uint64)
    for b in range(blocks):
        substream_words(stream, b, 0, out[b * DRAWS : (b + 1) * DRAWS])
    return out[:size]
