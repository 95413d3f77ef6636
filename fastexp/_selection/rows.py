"""Simulated draws from rows of utilities: threads over rows, and the rare exact tests.

One row and many are drawn in the same way, so that row i alone, with its stream's name, gives
the same bytes as among others. The draws are made by `kernels/select/rows.py`; a draw that its
bounds leave open is replayed with the exact answer (`Rows._replayed`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from .._compiler.jit import Kernel
from .._intake.utilities import UINT32, widened
from .._parameters import validate
from .._randomness.streams import Spare, seeds_of, some_seeds, stream_of
from .._threads import in_parts
from .._typing import AnyArray, IntArray, WordArray
from ..errors import FastexpError
from ..kernels.bits.heights import BLOCK
from ..kernels.select import gumbel
from ..kernels.select import rows as kernels
from ..kernels.select.envelope import UNSURE
from ..kernels.select.rounds import (
    ANSWERS,
    FIRST,
    LEFT_ONLY,
    MOST_ANSWERS,
    PRECISION,
    TEST,
    new_control,
)
from ..kernels.select.tiles import WIDEST
from ..reference import exact
from . import plan
from .scan import MASK_64, bits_value, check, key_value
from .weighting import Weighting

WIDENED = 1 << 16  # candidates of 32 bits that are widened at once: half a MiB, in the cache
NO_BITS: WordArray = np.empty(0, np.uint64)
NO_NARROW: AnyArray = np.empty(0, np.uint32)
COINS = 16  # an exact test in round n takes words (n + 1) << 16, ...


class Rows:
    """Rows of k utilities each, one after the other, under one weighting."""

    def __init__(self, bits: WordArray, kind: int, weighting: Weighting) -> None:
        self.is_matrix = bits.ndim == 2
        self.rows, self.k = bits.shape if bits.ndim == 2 else (1, bits.size)
        self.bits, self.kind, self.weighting = bits.reshape(-1), kind, weighting

    def row(self, r: int) -> WordArray:
        return self.some(r, r + 1)

    def some(self, first: int, last: int) -> WordArray:
        return widened(self.bits[first * self.k : last * self.k])

    def threads(self, wanted: int, size: int = 1) -> int:
        """How many threads are worth starting, for `size` draws of each row."""
        work = max(self.bits.size, self.rows * size)
        return wanted if work >= plan.THREADED_CANDIDATES else 1

    @property
    def _is_read_narrow(self) -> bool:
        """Whether `draw` has a kernel that reads the utilities as they are, in 32 bits."""
        return self.bits.dtype == UINT32 and self.k > BLOCK and self.weighting.base is None

    def parts(self, part: Callable[[int, int], int], threads: int) -> list[int]:
        """The results of `part` for ranges of rows, in `threads` threads.

        Rows of 32 bits, which `part` widens, go in ranges that fit into the cache.
        """
        if self.bits.dtype != UINT32 or self.rows == 0:
            return in_parts(part, self.rows, threads)
        step = max(1, WIDENED // self.k)
        statuses: list[int] = []

        def several(first: int, last: int) -> int:
            for start in range(first, last, step):
                statuses.append(part(start, min(start + step, last)))  # noqa: PERF401  # by threads
            return 0

        in_parts(several, self.rows, threads)
        return statuses

    def draw(
        self, seeds: WordArray, size: int | None, threads: int, precision: int = plan.PRECISION
    ) -> IntArray:
        """One draw a row (size None), or `size`; row after row."""
        control, count = new_control(precision, size is None), 1 if size is None else size
        out = np.empty(self.rows * count, np.int64)
        if self.threads(threads) > 1:
            out.fill(0)  # else threads wait for each other at new pages

        def part(first: int, last: int) -> int:
            chosen = out[first * count : last * count]
            return self._run(seeds, first, last, control.copy(), chosen)

        alone = self.rows == 1  # saves some 2 of a draw's 30 us
        if alone:
            open_draws = [part(0, 1)]
        elif self._is_read_narrow:
            open_draws = in_parts(part, self.rows, self.threads(threads))
        else:
            open_draws = self.parts(part, self.threads(threads))
        check(min(open_draws))
        if any(open_draws):
            for place in np.flatnonzero(out == UNSURE):
                row, t = divmod(int(place), count)
                out[place] = self._replayed(seeds, row, t, control)
        return out

    def noisy_max(
        self,
        seeds: WordArray,
        size: int | None,
        threads: int,
        noise: int = gumbel.GUMBEL,
        chosen: int = 1,
    ) -> IntArray:
        """The `chosen` candidates of greatest key in each row and draw, (rows, draws, chosen).

        Rows with fewer candidates within 2**20 nats of their best are -1: keys are too coarse.
        """
        draws, k, w = 1 if size is None else size, self.k, self.weighting
        out = np.empty((self.rows, draws, chosen), np.int64)

        def part(first: int, last: int) -> int:
            work = np.empty(BLOCK + 2 + -(-k // BLOCK) + 2 * chosen, np.int64)
            status: int = gumbel.gumbel_draw(
                self.some(first, last), self.kind, w.log_base, w.rate_nats,
                some_seeds(seeds, first, last), noise, 0, chosen, out[first:last].reshape(-1), work,
            )  # fmt: skip
            return status

        if draws:
            check(min(self.parts(part, self.threads(threads))))
        return out

    def _run(
        self, seeds: WordArray, first: int, last: int, control: IntArray, out: IntArray
    ) -> int:
        """Draws of rows first, ..., last - 1; returns how many are open, or an error's status."""
        w, work = self.weighting, np.empty(kernels.work_size(self.k), np.int64)
        seeds = some_seeds(seeds, first, last)
        if self.k > BLOCK:
            part_bits = self.bits[first * self.k : last * self.k]
            inputs = (
                (NO_BITS, part_bits) if self._is_read_narrow else (widened(part_bits), NO_NARROW)
            )
            return int(
                kernels.long_rows(
                    *inputs, self.kind, w.log2_base, w.rate_log2, seeds, control, out, work
                )
            )
        bits = self.some(first, last)

        def call(kernel: Kernel) -> int:
            log2_base, rate = w.log2_base, w.rate_log2
            return int(kernel(bits, self.kind, log2_base, rate, seeds, control, out, work))

        if w.base is None and self.k <= WIDEST and last - first > 1:
            left = call(kernels.tile_rows)
            if left <= 0:
                return left
            control[LEFT_ONLY] = 1
        return call(kernels.block_rows)

    def seeds(self, rng: object, streams: object) -> WordArray:
        """The key of a simulation and the names of the rows' streams, from public arguments."""
        return seeds_of(rng, validate.streams(streams, self.rows))

    def shape(self, size: int | None) -> tuple[int, ...]:
        """The shape of a verb's draws, before the axes of one draw."""
        return ((self.rows,) if self.is_matrix else ()) + (() if size is None else (size,))

    def shaped(self, draws: IntArray, size: int | None) -> int | IntArray:
        """Draws, row after row, in the shape that the verbs promise."""
        return draws.reshape(shape) if (shape := self.shape(size)) else int(draws[0])

    def _replayed(self, seeds: WordArray, row: int, t: int, control: IntArray) -> int:
        """A draw that bounds leave open, made again with the answers of exact tests."""
        out, control = np.empty(1, np.int64), control.copy()
        control[FIRST] = t
        for answers in range(MOST_ANSWERS):
            self._run(seeds, row, row + 1, control, out)
            if out[0] != UNSURE:
                return int(out[0])
            control[ANSWERS] = answers + 1
            control[ANSWERS + 1 + answers] = self._accepts(seeds, row, t, control)
        raise FastexpError(f"{MOST_ANSWERS} exact tests in one draw: please report this")

    def _accepts(self, seeds: WordArray, row: int, t: int, control: IntArray) -> bool:
        """The exact test of the candidate and the coin that the kernel asks for."""
        index, rho, number, best = (int(x) for x in control[TEST : TEST + 4])
        lift = float(control[TEST + 4 :].view(np.float64)[0])
        w, gap = self.weighting, key_value(best & MASK_64, self.kind)
        gap -= bits_value(int(self.row(row)[index]), self.kind)
        scale = Fraction(2) ** int(int(control[PRECISION]) + lift) * w.base_of(index)
        spare = Spare(stream_of(seeds, row), t, number + 1 << COINS)
        return exact.accept(w.rate, gap, scale, rho, spare)
