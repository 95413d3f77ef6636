"""Exact tests of the draws that bounds leave undecided, in Fractions and Python's integers."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from ..kernels.bits import FLOAT, SIGNED

MASK_32, MASK_64, SIGN = (1 << 32) - 1, (1 << 64) - 1, 1 << 63


def philox(low: int, high: int, key: int) -> tuple[int, int]:
    """Return the two words of `bits.philox`."""
    x = [low & MASK_32, low >> 32, high & MASK_32, high >> 32]
    k0, k1 = key & MASK_32, key >> 32
    for _ in range(10):
        p0, p1 = x[0] * 0xD2511F53, x[2] * 0xCD9E8D57
        x = [(p1 >> 32) ^ x[1] ^ k0, p1 & MASK_32, (p0 >> 32) ^ x[3] ^ k1, p0 & MASK_32]
        k0, k1 = (k0 + 0x9E3779B9) & MASK_32, (k1 + 0xBB67AE85) & MASK_32
    return x[0] | x[1] << 32, x[2] | x[3] << 32


def draw_below(bound: int, words: Iterator[int]) -> int:
    """Return a uniform integer below a bound of at most 2**64 (Lemire 2019)."""
    while True:
        value, rest = divmod(next(words) * bound, 1 << 64)
        if rest >= (1 << 64) % bound:
            return value


def exp_bounds(gamma: Fraction, precision: int) -> tuple[int, int]:
    """Return integers lo <= 2**precision * exp(-gamma) <= hi, close together, for gamma >= 0.

    The Taylor series of gamma / 2**j < 1/128 alternates; its terms are bracketed in fixed point,
    and j bracketed squarings undo the halving.
    """
    if gamma == 0:  # the only rational exponential: bounds would never decide a tie
        return 1 << precision, 1 << precision
    if gamma > precision + 8:
        return 0, 1
    halvings = max(0, (gamma.numerator // gamma.denominator).bit_length() + 7)
    fixed = precision + 64
    one = 1 << fixed
    low = (gamma.numerator << fixed) // (gamma.denominator << halvings)
    high = low + 1
    lo = hi = term_lo = term_hi = one
    n = 0
    while term_hi > 0:
        n += 1
        term_lo = (term_lo * low >> fixed) // n
        # rounded up twice; a last term of one unit is left to the outward slack below
        term_hi = -((-term_hi * high >> fixed) // n) if term_hi > 1 else 0
        lo, hi = (lo - term_hi, hi - term_lo) if n % 2 else (lo + term_lo, hi + term_hi)
    lo, hi = max(lo - 2, 0), min(hi + 2, one)
    for _ in range(halvings):
        lo, hi = lo * lo >> fixed, -(-hi * hi >> fixed)
    return lo >> 64, -(-hi >> 64)


def accept(exponent: Fraction, scale: Fraction, rho: int, words: Iterator[int]) -> bool:
    """Return whether rho + V < scale * exp(-exponent), for a V uniform on [0, 1).

    V is drawn 64 bits at a time; it and the bounds are refined until the comparison is decided.
    """
    extra = (scale.numerator // scale.denominator).bit_length() + 8
    bits, coin = 64, next(words)
    while True:
        lo, hi = exp_bounds(exponent, bits + extra)
        unit = Fraction(scale, 1 << bits + extra)
        least = rho + Fraction(coin, 1 << bits)
        if least + Fraction(1, 1 << bits) <= lo * unit:
            return True
        if least >= hi * unit:
            return False
        bits, coin = bits + 64, coin << 64 | next(words)


class Candidates(NamedTuple):
    """Candidates as kernels weigh them: their utilities and base, the best one's key, the lift."""

    values: Any
    kind: int
    base: Any
    rate: Fraction
    best: int
    lift: float

    def accepts(self, i: int, scale: Fraction, rho: int, words: Iterator[int]) -> bool:
        """Return whether rho + V < scale * 2**lift * the weight of candidate i."""
        measure = Fraction(float(self.base[i])) if self.base.size else Fraction(1)
        scale *= measure * Fraction(2) ** int(self.lift)
        gap = of_key(self.best, self.kind) - _value(int(self.values[i]), self.kind)
        return scale > 0 and accept(self.rate * gap, scale, rho, words)


def _value(word: int, kind: int) -> Fraction:
    """Return the exact number that a word of a kind stands for."""
    if kind == FLOAT:
        return Fraction(*struct.unpack("<d", struct.pack("<Q", word)))
    return Fraction(word - (word >> 63 << 64) if kind == SIGNED else word)


def of_key(key: int, kind: int) -> Fraction:
    """Return the number of an order key (`bits.order_key`)."""
    if kind == FLOAT:
        return _value(key ^ (SIGN if key >= SIGN else MASK_64), kind)
    return Fraction(key - SIGN if kind == SIGNED else key)
