"""Draws for each of many segments by the ways of one data set: any mechanism's cells.

For what has no kernel of its own: prices on fine grids. Some 100 us a draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from .._intake.record_sources import Source
from .._intake.records import Records
from .._numbers.cells import Shape, WordDraw
from .._parameters.grid import Grid
from .._typing import IntArray
from ..kernels.groups.segment_draws import WORDS
from .segments import Draws, Segments, placed, sort_all
from .words import More, Words


class ShapeDraws(Draws):
    """Draws by `shape`, which makes cells of a source; grid: where records lie, for keyed words."""

    segments: Segments

    def __init__(
        self,
        shape: Callable[[Source], Shape],
        grid: Grid,
        segments: Segments,
        words: Words,
        size: int,
    ) -> None:
        self.segments, self._shape, self._grid = segments, shape, grid
        self._words, self._size = words, size

    def chunk(self, first: int, last: int) -> IntArray:
        """Group after group."""
        part, size = self.segments.some(first, last), self._size
        mapped = placed(self._grid, part.values)
        if self._words.keyed:
            sort_all(mapped, part.offsets)
        drawn = self._words.round(first, last, size, mapped, part.offsets)
        out = np.empty((last - first) * size, np.int64)
        for g in range(last - first):
            draw = WordDraw(self._shape(Records(part.some(g, g + 1).values).source()))
            for i in range(g * size, (g + 1) * size):
                first_words = drawn.first[WORDS * i : WORDS * (i + 1)]
                out[i] = draw(_joined(first_words, drawn.more(g, i - g * size)))
        return out


def _joined(first: Any, more: More) -> More:
    """The first words, and then the others."""

    def others() -> Iterator[int]:
        while True:
            yield more()

    return chain(first.tolist(), others()).__next__
