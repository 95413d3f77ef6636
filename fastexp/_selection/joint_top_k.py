"""Joint top-k: a slice by integer bounds and an exact coin, then a uniform sequence within it.

Slice v has N(v) sequences (`tests/twins/joint_top_k.py`) and the weight N(v) * q**v,
q = exp(-rate). Slices lie in cells of `width` slices each. A cell has an integer B of at least
2**scale * N(its last v) * q**(its first v). A cell is drawn with probability proportional to B, and
a slice of it uniformly. The slice is accepted if the draw's remainder, an integer below B, is less
than 2**scale * N(v) * q**v: at once if it is below a certified bound, else by the exact coin. All
slices beyond the cells together, the *rest*, have B = 1.

**The rest.** Its slice is `first` + 2**j * m + u with m by fair coins and a uniform u < 2**j, where
q**(2**j) < 1/2. N is at most d**k, and `first` is such that 2**scale * d**k * q**first * 2**(j + 1)
is at most 1. So the coin of N(v) * q**v over the probability of v needs no more than B = 1. It
is divided by the width of a cell, as a slice within a cell gets that share of the cell's draws.

**Bounds.** N is a product of k integers as floats, with its exponent kept apart: its relative error
is below k * 2**-52. Logarithms to base 2 are below M = 2 * (k * log2(d) + 200), and their sum errs
by less than 8 * M * 2**-53. With k <= MAX_PLACES and d < 2**40 a weight's relative error is below
2**-28.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain
from math import ceil, log, prod
from typing import NamedTuple

import numpy as np

from .._parameters import validate
from .._randomness.sampling import Sampling
from .._randomness.streams import Spare, os_word, os_words, stream_of
from .._threads import in_parts
from .._typing import IntArray, WordArray
from ..kernels.bits.heights import SIGN, SIGNED
from ..kernels.bits.logexp import LN2, LOG2E, exp_fill, log_fill
from ..kernels.bits.words import substream_words
from ..kernels.select import joint_slices as kernels
from ..reference import exact
from .draw import release as release_one
from .draw import simulate as simulate_one
from .rows import Rows
from .scan import MASK_64, check
from .weighting import Weighting

MAX_PLACES = 1 << 14  # places for which the bounds are proved
CELLS = 1 << 16  # slices above which a cell may have several
MAX_STEPS = 1 << 32  # places times cells: some 2 s
MAX_WIDE_STEPS = 1 << 28  # places times wide cells: some 4 s
SLACK = int(kernels.SLACK)
SPARE = 8  # words of a draw besides one a place, in case words are refused
THREADED = 1 << 14  # places of all draws above which threads are started
NO_WORDS: WordArray = np.empty(0, np.uint64)
NO_RANKS: IntArray = np.empty(0, np.int64)


class Plan(NamedTuple):
    """The public numbers of the cells."""

    shift: int  # a cell has 2**shift slices
    cells: int  # without the rest
    halving: int  # j
    scale: int


@lru_cache(maxsize=256)  # of public numbers; looking up a Fraction takes longer than computing
def plan_of(places: int, size: int, rate: float) -> Plan:
    """The number and width of cells such that B = 1 suffices for the rest and rejections are rare.

    If cells of one slice would be too many, cells have the greatest width w with rate * w <= 1/8.
    B of a cell is then at most exp(1/4) times the average weight of a slice of the next cell,
    however N grows: so three of four draws are accepted. The rate may be rounded: 0.7 for ln 2,
    and one slice more, are more than enough for that.
    """
    halving = (ceil(0.7 / rate) - 1).bit_length()
    slices = ceil((places * log(size) + 0.7 * (halving + 64)) / rate) + 1
    shift = 0
    while slices > CELLS and rate * 2.0 ** (shift + 1) <= 0.125:
        shift += 1
    cells = (slices >> shift) + 1
    return Plan(shift, cells, halving, 60 - cells.bit_length())


def takes_long(places: int, size: int, rate: float) -> bool:
    """Whether the bounds of a draw take more than some seconds; public."""
    shift, cells, _, _ = plan_of(places, size, rate)
    return places * cells > (MAX_WIDE_STEPS if shift else MAX_STEPS)


class Slices:
    """One vector of counts with the bounds of its cells. Private data."""

    def __init__(self, counts: IntArray, places: int, weighting: Weighting) -> None:
        self._counts, self._places, self._weighting = counts, places, weighting
        self._plan = shift, cells, _, _ = plan_of(places, counts.size, weighting.rate_nats)
        self._store = np.zeros(0 if shift > 0 else 2 * (places + cells + 1), np.int64)

    def _run(
        self, words: WordArray, out: IntArray, stream: WordArray = NO_WORDS, first: int = 0
    ) -> None:
        """Fill the bounds of the cells, if there are none yet, and draw, as `joint_draws` does."""
        places, (_, cells, _, scale) = self._places, self._plan
        slots = 2 << (2 * places).bit_length()
        work = np.empty(max(4 * cells, 2 * (cells + places), places + slots), np.int64)
        w, store = self._weighting, self._store
        check(
            kernels.joint_draws(
                self._counts,
                w.rate_log2,
                2.0**scale,
                places,
                store,
                stream,
                first,
                words,
                work,
                out,
            )
        )

    @cached_property
    def _bounds(self) -> tuple[IntArray, int]:
        """The sums of B, and the exponent that is taken off."""
        shift, cells, _, _ = self._plan
        if shift > 0:
            return self._wide_bounds()
        self._run(NO_WORDS, NO_RANKS)
        return self._store[-cells - 2 : -1], int(self._store[-1])

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(~self._counts, kind="stable")

    @cached_property
    def _gaps(self) -> WordArray:
        """How far each count, in order, is below the greatest."""
        ordered = self._counts[self._order].view(np.uint64)
        return np.asarray(ordered[0] - ordered)

    def _wide_bounds(self) -> tuple[IntArray, int]:
        """`_bounds`, for cells of any width."""
        shift, cells, _, scale = self._plan
        last = np.array([min((a + 1 << shift) - 1, MASK_64) for a in range(cells)], np.uint64)
        product, exponent = np.ones(cells), np.zeros(cells)
        for i, gap in enumerate(self._gaps[: self._places]):
            product *= reached(self._gaps, last, gap) - i
            product, twos = np.frexp(product)
            exponent += twos
        logs, weights = np.empty(cells), np.empty(cells)
        log_fill(product, logs)
        heights = (
            logs * LOG2E + exponent - np.arange(cells) * 2.0**shift * self._weighting.rate_log2
        )
        lift = int(np.floor(heights.max()))
        exp_fill((heights - lift) * LN2, weights)
        least = (weights * 2.0**scale).astype(np.int64)
        return np.append(least + (least >> SLACK) + 3, 1).cumsum(), lift

    def reach(self, v: int) -> list[int]:
        """How many items each place may take in slice v."""
        most = np.uint64(min(v, MASK_64))
        reach: list[int] = reached(self._gaps, self._gaps[: self._places], most).tolist()
        return reach

    def _slice(self, words: exact.NextWord) -> list[int]:
        (shift, cells, halving, scale), (sums, lift) = self._plan, self._bounds
        while True:
            value = _below(int(sums[-1]), words)
            cell = bisect_right(sums, value)
            rho = value - int(sums[cell - 1] if cell else 0)
            bound, height = int(sums[cell]) - (value - rho), scale - lift
            if cell < cells:
                v, factor = (cell << shift) + _bits(shift, words), 1
            else:
                coins = 0
                while _bits(1, words):
                    coins += 1
                v = (cells << shift) + (coins << halving) + _bits(halving, words)
                factor = 2 << coins + halving
                height -= shift  # each slice of a cell gets a 2**shift-th of its draws
            reach = self.reach(v)
            if shift == 0 and rho + 1 <= bound - (bound >> SLACK - 1) - 4:
                return reach
            within = prod(size - i for i, size in enumerate(reach))
            weight = within * factor * Fraction(2) ** height
            if exact.accept(self._weighting.rate, Fraction(v), weight, rho, words):
                return reach

    def ranks(self, words: exact.NextWord) -> list[int]:
        """The ranks of a draw, exactly, by Fisher and Yates' swaps."""
        ranks: list[int] = []
        swapped: dict[int, int] = {}
        for i, size in enumerate(self._slice(words)):
            other = i + _below(size - i, words)
            ranks.append(swapped.get(other, other))
            swapped[other] = swapped.get(i, i)
        return ranks

    def draws(self, stream: WordArray, count: int, threads: int = 1) -> IntArray:
        out = np.full((count, self._places), kernels.OPEN)

        def part(first: int, last: int) -> int:
            self._run(self._words(), out[first:last].reshape(-1), stream, first)
            return 0

        if self._plan.shift == 0:
            self._bounds  # noqa: B018  # computed before threads read them
            in_parts(part, count, threads if count * self._places > THREADED else 1)
        for t in np.flatnonzero(out[:, 0] == kernels.OPEN):
            out[t] = self.ranks(Spare(stream, int(t), 0))
        return out

    def _words(self) -> WordArray:
        return np.empty(self._places + SPARE + self._places % 2, np.uint64)

    def draw(self, words: WordArray, next_word: exact.NextWord) -> IntArray:
        """The items of one draw from `words`, at least one more than places, then `next_word`."""
        out = np.empty(self._places, np.int64)
        out[0] = kernels.OPEN
        if self._plan.shift == 0:
            self._run(words, out)
        if out[0] == kernels.OPEN:
            return self._order[self.ranks(chain(words.tolist(), iter(next_word, None)).__next__)]
        return out

    def sample(self, stream: WordArray, count: int, threads: int) -> IntArray:
        if count != 1:
            return self._order[self.draws(stream, count, threads)]
        words = self._words()
        substream_words(stream, 0, 0, words)
        return self.draw(words, Spare(stream, 0, words.size))


def reached(gaps: WordArray, starts: WordArray, distance: np.uint64) -> IntArray:
    """For each start, how many of the sorted gaps are at most the start plus `distance`."""
    limits = starts + distance
    limits[limits < distance] = MASK_64
    return np.asarray(gaps.searchsorted(limits, "right"))


def _below(bound: int, words: exact.NextWord) -> int:
    """A uniform integer below `bound` < 2**63; a bound of 1 takes no word."""
    if bound == 1:
        return 0
    while (value := exact.below(bound, words(), 64)) is None:
        pass
    return value


def _bits(count: int, words: exact.NextWord) -> int:
    value = 0
    for first in range(0, count, 64):
        width = min(count - first, 64)
        value = value << width | words() >> 64 - width
    return value


def ordered(bits: WordArray, kind: int) -> IntArray:
    """Counts as signed integers with the same differences."""
    return (bits if kind == SIGNED else bits ^ SIGN).view(np.int64)


def release(
    bits: WordArray, kind: int, weighting: Weighting, places: int, threads: int
) -> IntArray:
    """An ordered selection, or one for each row of a matrix, from the system's randomness."""
    if bits.ndim == 2:
        rows = [release(row, kind, weighting, places, threads) for row in bits]
        return np.array(rows, np.int64).reshape(-1, places)
    if places == 1:
        return np.array([release_one(bits, kind, weighting, threads)])
    slices = Slices(ordered(bits, kind), places, weighting)
    return slices.draw(os_words(places + SPARE).copy(), os_word)


def simulate(
    places: int, bits: WordArray, kind: int, weighting: Weighting, sampling: Sampling
) -> IntArray:
    if places == 1:
        items = simulate_one(bits, kind, weighting, sampling)
        return np.asarray(items)[..., None]
    size, rng, streams, threads, method = sampling
    validate.method(method, ("envelope",))
    draws, workers = validate.size(size), validate.threads(threads)
    rows = Rows(bits, kind, weighting)
    seeds = rows.seeds(rng, streams)
    out = np.empty((rows.rows, 1 if draws is None else draws, places), np.int64)
    for r in range(rows.rows):
        slices = Slices(ordered(rows.row(r), rows.kind), places, rows.weighting)
        out[r] = slices.sample(stream_of(seeds, r), out.shape[1], workers)
    return out.reshape(*rows.shape(draws), places)
