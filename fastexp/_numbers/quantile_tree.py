"""Several quantiles by recursion: the middle one, then those on either side from the records there.

After Kaplan, Schnapp and Stemmer (2022), with draws of weak quantiles (`_numbers/distance.py`) as
single steps. An answer at a point could not separate the records at that point. So each point is
split into `parts` finer ones, each record takes one of its point's, uniformly and independently,
and an answer on the finer grid is rounded down.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import chain, count

import numpy as np

from .._intake.record_sources import RecordSource, Sorted
from .._parameters.grid import Grid
from .._randomness.streams import os_words, stream_of
from .._typing import IntArray, WordArray
from ..kernels.bits.words import substream_words
from ..privacy.rates import rank_rate
from . import distance
from .cells import WordDraw
from .rank import RankStatistic, few_enough

MAX_POINTS = 1 << 52  # points of the finer grid: cells may have as many
MAX_PARTS = 1 << 20
DENOMINATOR = 10**9  # largest denominator of a quantile among some of the records
MIN_SHARE = Fraction(1, DENOMINATOR)
BUFFER = 64  # words fetched at a time
Fill = Callable[[int], WordArray]  # returns this many fresh words


class QuantileTree:
    """The recursion for quantiles q under add-remove; each draw has this epsilon."""

    grid: Grid
    m: int

    def __init__(self, q: tuple[Fraction, ...], epsilon: Fraction, grid: Grid) -> None:
        self.grid, self.m = grid, len(q)
        self.parts: int = min(1 << (MAX_POINTS // grid.size).bit_length() - 1, MAX_PARTS)
        self._forms: dict[int, tuple[distance.QuantileForms, Fraction]] = {}

        def add(first: int, last: int, low: Fraction, high: Fraction) -> None:
            """Add quantiles first..last - 1, of the records between these shares of all."""
            if first < last:
                j = (first + last) // 2
                share = ((q[j] - low) / (high - low)).limit_denominator(DENOMINATOR)
                share = min(max(share, MIN_SHARE), 1 - MIN_SHARE)
                form = distance.QuantileForms(share, "add-remove", "weak")
                steps = distance.steps(share, "add-remove", "weak")
                self._forms[j] = form, rank_rate(epsilon, steps)
                add(first, j, low, q[j])
                add(j + 1, last, q[j], high)

        add(0, self.m, Fraction(0), Fraction(1))

    def release(self, source: RecordSource) -> IntArray:
        return self.draw(self._points(source), os_words)

    def simulate(
        self,
        source: RecordSource,
        seeds: WordArray,
        size: int,
        threads: int = 1,  # noqa: ARG002  # draws go through Python
    ) -> IntArray:
        """Return `size` rows of m, from the stream that `seeds` name: row j from substream j."""
        points, stream = self._points(source), stream_of(seeds, 0)
        rows = [self.draw(points, _substream(stream, j)) for j in range(size)]
        return np.array(rows, np.int64).reshape(size, self.m)

    def _points(self, source: RecordSource) -> IntArray:
        few_enough(source.total())
        return np.repeat(*source.counts(self.grid))

    def draw(self, points: IntArray, fill: Fill) -> IntArray:
        """Return a row of answers from sorted grid indices and fresh words."""
        places = fill(points.size) & np.uint64(self.parts - 1)
        fine = np.sort(points * self.parts + places.view(np.int64))
        answers = np.empty(self.m, np.int64)
        words = chain.from_iterable(fill(BUFFER).tolist() for _ in count()).__next__

        def answer(first: int, last: int, low: int, high: int, records: IntArray) -> None:
            """Draw quantiles first..last - 1 of these records, at points from low to high."""
            if first < last:
                j = (first + last) // 2
                at = low
                if low < high:
                    grid = Grid(high - low + 1, True, (low, 1, 1))
                    statistic = RankStatistic(*self._forms[j], grid)
                    at += WordDraw(statistic.shape(Sorted(records)))(words)
                answers[j] = at
                cut = int(np.searchsorted(records, at))
                answer(first, j, low, at, records[:cut])
                answer(j + 1, last, at, high, records[cut:])

        answer(0, self.m, 0, self.parts * self.grid.size - 1, fine)
        return answers // self.parts


def _substream(stream: WordArray, number: int) -> Fill:
    passed = 0

    def fill(wanted: int) -> WordArray:
        nonlocal passed
        out = np.empty(wanted + wanted % 2, np.uint64)
        substream_words(stream, number, passed, out)
        passed += out.size
        return out[:wanted]

    return fill
