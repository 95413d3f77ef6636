"""Laplace noise around a statistic: the statistic itself, and draws of grid points around it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Rational
from typing import Any, Self

import numpy as np

from .._parameters import validate
from .._parameters.foreign import readable
from .._parameters.grid import INT64, Grid
from .._randomness.sampling import Sampling
from .._randomness.streams import AGAIN, Spare, os_word, os_words, stream_of, tagged
from .._selection.plan import THREADED_DRAWS
from .._selection.weighting import Weighting
from .._threads import in_parts
from .._typing import AnyArray, IntArray, WordArray
from ..errors import InvalidRecords, ParameterTypeError
from ..kernels.bits.words import substream_words
from ..kernels.numbers.laplace import OPEN, WORDS, laplace_fill
from ..kernels.select.alias import DRAWS
from ..reference.exact import NextWord
from ..reference.exact_laplace import Sides, laplace_index

FINEST = 1 << 42  # most steps of the grid per e-fold: doubles would not tell more apart
MAX_STATISTIC = 1 << 1000  # far below the largest double
BLOCK_NATS = 2.0**-22  # width of a block in nats; its points are refused about as seldom
MAX_BLOCK_POINTS = 1 << 53  # no grid has as many points
MIN_EXPONENT = -1500  # the exponent of a Decimal is above it, and at most its negative
NOT_A_NUMBER = "f must be one number: an int, a float, a Decimal or a Fraction"
NOT_FINITE = "f must be finite, of a magnitude of at most 2**1000"


def statistic(f: Any) -> Fraction:
    """Return a statistic as an exact number; messages do not reveal it."""
    if type(f) in (float, int) and abs(f) <= MAX_STATISTIC:  # in a fifth of the time
        return Fraction(f)
    readable(f, "f")
    scalar = isinstance(f, np.generic) or (isinstance(f, np.ndarray) and f.ndim == 0)
    value = f.item() if scalar and not isinstance(f, np.ma.MaskedArray) else f
    if isinstance(value, bool) or (scalar and f.dtype.kind not in "iufO"):  # durations give ints
        raise ParameterTypeError(NOT_A_NUMBER)
    if isinstance(value, (float, np.floating)):
        ordinary = isfinite(value)
    elif isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        ordinary = value.is_finite() and MIN_EXPONENT < int(exponent) <= -MIN_EXPONENT
    elif isinstance(value, Rational):
        ordinary = True
    else:
        raise ParameterTypeError(NOT_A_NUMBER)
    exact = validate.as_fraction(value) if ordinary else Fraction(2 * MAX_STATISTIC)
    if abs(exact) > MAX_STATISTIC:
        raise InvalidRecords(NOT_FINITE)
    return exact


class Truth:
    """The position of a statistic among the points that can be released. Private data.

    `grid` has all these points, and the statistic is clamped to its ends; if `endless`, it has
    any part of them. The statistic lies `rest` / `under` steps above point `below`.
    """

    endless: bool
    grid: Grid
    under: int
    rest: int

    def __init__(self, f: Fraction, grid: Grid, *, endless: bool) -> None:
        self.grid, self.endless = grid, endless
        a, s, d = grid.unit
        over, self.under = f.numerator * d - a * f.denominator, s * f.denominator
        below, self.rest = divmod(over, self.under)
        self.below: int = below if endless else min(max(below, 0), grid.size - 1)
        if below != self.below or (not endless and below == grid.size - 1):
            self.rest = 0

    @property
    def phase(self) -> Fraction:
        """The distance of the statistic from the point below it, in steps."""
        return Fraction(self.rest, self.under)

    @property
    def lean(self) -> float:
        """How much nearer the point below is than the next one, in steps; correctly rounded."""
        return (self.under - 2 * self.rest) / self.under

    @property
    def points(self) -> tuple[int, int]:
        """The number of points up to the statistic, and of those above it; -1 if endless."""
        left = self.below + 1
        return (-1, -1) if self.endless else (left, self.grid.size - left)

    def window(self, low: int, high: int) -> Grid:
        """Return the points from `low` to `high`, counted from the point below the statistic."""
        a, s, d = self.grid.unit
        first, size, whole = a + (self.below + low) * s, high - low + 1, self.grid.whole
        if whole and not (first in INT64 and first + (size - 1) * s in INT64):
            raise InvalidRecords("f must be so small that all draws fit into int64")
        return Grid(size, whole, (first, s, d))

    def values(self, index: IntArray) -> AnyArray:
        """Return points as they are released, from indices counted from the point below."""
        if not self.endless:
            return np.asarray(self.grid.values(index + self.below))
        low, high = int(index.min(initial=0)), int(index.max(initial=1))
        return np.asarray(self.window(low, high).values(index - low))


class LaplaceSampler:
    """Draws around a statistic at one rate. Private data.

    Draw j of a row takes word j % DRAWS of substream j // DRAWS of the row's stream. If points are
    drawn by blocks, it takes WORDS words from WORDS * (j % DRAWS) on. If these leave it open, it
    takes substream j of the row's AGAIN stream.
    """

    truth: Truth
    weighting: Weighting

    def __init__(self, truth: Truth, weighting: Weighting) -> None:
        self.truth, self.weighting = truth, weighting
        self.block: int = min(max(int(BLOCK_NATS / weighting.rate_nats), 1), MAX_BLOCK_POINTS)

    def with_rate(self, rate: Fraction) -> Self:
        return type(self)(self.truth, self.weighting.with_rate(rate))

    def release(self) -> int | float:
        words, out = os_words(self._words), np.empty(1, np.int64)
        index = self._exactly(words, os_word) if self._fill(words, out) else out.item()
        return self.truth.grid.value(self.truth.below + index)

    def sample(self, sampling: Sampling) -> Any:
        _, draws, workers, seeds = sampling.checked(("inversion",))
        index = np.empty(1 if draws is None else draws, np.int64)
        stream = stream_of(seeds, 0)

        def part(first: int, last: int) -> int:
            each = self._words
            words = np.empty(each * min(DRAWS, index.size + index.size % 2), np.uint64)
            for block in range(first, last):
                into = index[block * DRAWS : (block + 1) * DRAWS]
                inside = words[: each * (into.size + into.size % 2)]
                substream_words(stream, block, 0, inside)
                if self._fill(inside, into):
                    for j in np.flatnonzero(into == OPEN).tolist():
                        next_word = Spare(again, block * DRAWS + j, 0)
                        into[j] = self._exactly(inside[each * j : each * (j + 1)], next_word)
            return 0

        again = stream_of(tagged(seeds, AGAIN), 0)
        in_parts(part, -(-index.size // DRAWS), workers if index.size >= THREADED_DRAWS else 1)
        numbers = self.truth.values(index)
        return numbers[0].item() if draws is None else numbers

    @property
    def _words(self) -> int:
        return 1 if self.block == 1 else WORDS

    def _fill(self, words: WordArray, out: IntArray) -> int:
        rate, (left, right) = self.weighting.rate_nats, self.truth.points
        return int(laplace_fill(words, rate, rate * self.truth.lean, left, right, self.block, out))

    def _exactly(self, words: WordArray, next_word: NextWord) -> int:
        left, right = (None if n < 0 else n for n in self.truth.points)
        sides = Sides(self.weighting.rate, self.truth.phase, left, right, self.block)
        return laplace_index(sides, words.tolist(), next_word)
