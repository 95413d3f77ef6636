"""The scanned blocks of one vector of utilities, and the exact test of a round's outcome."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from .._intake import utilities
from .._threads import in_parts
from .._typing import IntArray, WordArray
from ..errors import RoundingModeError
from ..kernels.bits.heights import BLOCK, FLOAT, SIGNED
from ..kernels.select import envelope
from ..kernels.select.envelope import TAIL
from ..reference import exact
from .weighting import Weighting

INT64 = np.dtype(np.int64)  # naming the instance saves 30 ns an array
SIGN, MASK_64 = 1 << 63, (1 << 64) - 1


def storage(k: int, length: int = BLOCK) -> IntArray:
    """Scratch for k candidates: two blocks of work, three words for each `length`, a tail."""
    return np.empty(2 * BLOCK + 3 * (-(-k // length)) + TAIL, INT64)


class Scan:
    """The settled blocks of one vector of utilities: a bound for each 1,024 candidates."""

    def __init__(
        self,
        bits: WordArray,
        kind: int,
        weighting: Weighting,
        precision: int,
        store: IntArray | None = None,
    ) -> None:
        self.bits, self.kind, self.weighting = bits, kind, weighting
        self.scale = 2.0**precision
        store = storage(bits.size) if store is None else store
        self.work, self.blocks = store[: 2 * BLOCK], store[2 * BLOCK :]

    def fill(self, threads: int) -> None:
        """Scan all blocks, `threads` at a time, and settle them."""
        self.scan(threads)
        envelope.envelope_settle(self.kind, self.weighting.rate_log2, self.blocks)

    def scan(self, threads: int) -> None:
        w, count = self.weighting, -(-self.bits.size // BLOCK)
        threads = min(threads, count)

        def part(first: int, last: int) -> int:
            log2_base = w.log2_base[first * BLOCK : last * BLOCK]
            status: int = envelope.envelope_scan(
                self.bits[first * BLOCK : last * BLOCK],
                self.kind,
                log2_base,
                w.rate_log2,
                self.scale,
                self.blocks[3 * first : 3 * last],
                np.empty(2 * BLOCK, np.int64) if threads > 1 else self.work,
            )
            return status

        check(min(in_parts(part, count, threads)))

    def tail(self, at: int) -> int:
        return int(self.blocks[self.blocks.size - TAIL + at])

    def total(self) -> int:
        return (self.tail(0) & MASK_64) << 64 | self.tail(1) & MASK_64

    def gap(self, index: int) -> Fraction:
        """The exact best utility minus candidate `index`'s."""
        best = key_value(self.tail(2) & MASK_64, self.kind)
        return best - bits_value(int(self.bits[index]), self.kind)

    def lift(self) -> Fraction:
        """2**lift, by which weights are scaled."""
        return Fraction(2) ** int(self.blocks.view(np.float64)[self.blocks.size - TAIL + 3])

    def accepts(self, index: int, scale: float, rho: int, word: exact.NextWord) -> bool:
        """The exact test of `exact.accept` for candidate `index` at `scale`."""
        exact_scale = Fraction(scale) * self.lift() * self.weighting.base_of(index)
        return exact.accept(self.weighting.rate, self.gap(index), exact_scale, rho, word)

    def accepts_last(self, word: exact.NextWord) -> bool:
        """`accepts` for the candidate that the last round left open."""
        return self.accepts(self.tail(4), self.scale, self.tail(5), word)

    def first(self, two: WordArray, word: exact.NextWord) -> int:
        """The index of a first round from two words, with further rounds if need be."""
        status = self._round(np.ascontiguousarray(two))
        return self.resolve(status, lambda: np.array([word(), word()], np.uint64), word)

    def resolve(self, status: int, words: Callable[[], WordArray], word: exact.NextWord) -> int:
        """The index that `status` of a first round leads to, with further rounds if need be."""
        while status < 0:
            if status == envelope.UNSURE and self.accepts_last(word):
                return self.tail(4)
            check(status)
            status = self._round(words())
        return status

    def _round(self, words: WordArray) -> int:
        """A round from two words: an index, or a status."""
        w = self.weighting
        return int(envelope.envelope_draw(
            self.bits, self.kind, w.log2_base, w.rate_log2, self.scale, self.blocks, self.work,
            words,
        ))  # fmt: skip


def check(status: int) -> None:
    """Raise the error of a kernel's status; UNSURE and AGAIN are not errors."""
    utilities.finite(status != envelope.NOT_FINITE)
    if status == envelope.ROUNDING_MODE:
        raise RoundingModeError("the processor's rounding mode must be to nearest")


def bits_value(bits: int, kind: int) -> Fraction:
    """The exact number that 64 bits of this kind stand for."""
    if kind == FLOAT:
        return Fraction(float(np.array(bits, np.uint64).view(np.float64)))
    return Fraction(bits - (1 << 64) if kind == SIGNED and bits >= SIGN else bits)


def key_value(key: int, kind: int) -> Fraction:
    """The exact number that has this order key."""
    if kind == FLOAT:
        return bits_value(key ^ SIGN if key >= SIGN else key ^ MASK_64, kind)
    return Fraction(key - SIGN if kind == SIGNED else key)
