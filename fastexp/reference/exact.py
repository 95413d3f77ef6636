"""The exact twins that the library itself calls: words, bounds of exponentials, and exact tests.

The samplers call them for the rare draws that certified bounds leave undecided. Everything is in
Fractions and Python integers; nothing else is imported.

A candidate's weight is base * exp(-rate * gap), with rate = epsilon / (2 * sensitivity), or
epsilon / sensitivity for monotonic utilities, and gap = best utility - utility. All of these are
exact numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

MASK_32, MASK_64 = (1 << 32) - 1, (1 << 64) - 1
NextWord = Callable[[], int]  # returns a fresh uniform integer below 2**64
Claims = Callable[[int, int], bool]  # whether a doubtful cell of a candidate counts


def philox(low: int, high: int, key: int) -> tuple[int, int]:
    """Philox 4x32-10 of a 128-bit counter under a 64-bit key (Salmon et al. 2011)."""
    x = [low & MASK_32, low >> 32, high & MASK_32, high >> 32]
    k0, k1 = key & MASK_32, key >> 32
    for _ in range(10):
        p0, p1 = x[0] * 0xD2511F53, x[2] * 0xCD9E8D57
        x = [(p1 >> 32) ^ x[1] ^ k0, p1 & MASK_32, (p0 >> 32) ^ x[3] ^ k1, p0 & MASK_32]
        k0, k1 = (k0 + 0x9E3779B9) & MASK_32, (k1 + 0xBB67AE85) & MASK_32
    return x[0] | x[1] << 32, x[2] | x[3] << 32


def substream(stream: tuple[int, int], number: int, first: int = 0) -> Iterator[int]:
    """Yield words j = first, ... of a substream: half j % 2 of block number * 2**32 + j // 2."""
    while True:
        yield philox((number << 32) + first // 2, stream[1], stream[0])[first % 2]
        first += 1


def below(bound: int, word: int, bits: int = 128) -> int | None:
    """Return a uniform integer below `bound` from a uniform `bits`-bit word; None: draw again.

    Lemire (2019): the quotient of word * bound by 2**bits, unless the remainder is below
    2**bits mod bound; each value below `bound` then has floor(2**bits / bound) words.
    """
    value, rest = divmod(word * bound, 1 << bits)
    return None if rest < (1 << bits) % bound else value


def draw_below(bound: int, words: NextWord) -> int:
    """Return a uniform integer below `bound` <= 2**128, from as many words as it takes."""
    while True:
        low, high = words(), words()
        value = below(bound, high << 64 | low)
        if value is not None:
            return value


def exp_bounds(gamma: Fraction, precision: int) -> tuple[int, int]:
    """Return integers lo <= 2**precision * exp(-gamma) <= hi with hi - lo small, for gamma >= 0.

    The Taylor series of gamma / 2**j < 1/128 alternates; its terms are bracketed by floor
    and ceiling in fixed point, and j bracketed squarings undo the halving.
    """
    if gamma < 0:
        raise ValueError("gamma must be >= 0")
    if gamma == 0:  # the only rational exponential: bounds would never decide a tie
        return 1 << precision, 1 << precision
    if gamma > precision + 8:
        return 0, 1
    halvings = max(0, (gamma.numerator // gamma.denominator).bit_length() + 7)
    fixed = precision + 64
    one = 1 << fixed
    scaled = gamma.numerator << fixed
    low = scaled // (gamma.denominator << halvings)
    high = low + 1
    # sum of (-x)**n / n!: bounds from x in [low, high] / 2**fixed, each term outward
    lo = hi = one
    term_lo = term_hi = one
    n = 0
    while term_hi > 0:
        n += 1
        term_lo = (term_lo * low >> fixed) // n
        # rounded up twice; a last term of one unit is left to the outward slack below
        term_hi = -((-term_hi * high >> fixed) // n) if term_hi > 1 else 0
        if n % 2:
            lo, hi = lo - term_hi, hi - term_lo
        else:
            lo, hi = lo + term_lo, hi + term_hi
    lo, hi = max(lo - 2, 0), min(hi + 2, one)
    for _ in range(halvings):
        lo, hi = lo * lo >> fixed, -(-hi * hi >> fixed)
    return lo >> 64, -(-hi >> 64)


def log_bounds(x: Fraction, precision: int) -> tuple[int, int]:
    """Integers lo <= 2**precision * ln(x) <= hi for x > 0: 2*atanh((m-1)/(m+1)) + n*ln 2."""
    n = x.numerator.bit_length() - x.denominator.bit_length()
    m = x / Fraction(2) ** n  # in (1/2, 2)
    lo, hi = _atanh_bounds((m - 1) / (m + 1), precision + 32)
    lo_2, hi_2 = _atanh_bounds(Fraction(1, 3), precision + 32)
    low = 2 * (lo + n * (lo_2 if n >= 0 else hi_2))
    high = 2 * (hi + n * (hi_2 if n >= 0 else lo_2))
    return low >> 32, -(-high >> 32)


def _atanh_bounds(t: Fraction, precision: int) -> tuple[int, int]:
    """Return bounds of 2**precision * atanh(t) for |t| <= 1/3: the odd powers, truncated."""
    one = 1 << precision
    total, terms = 0, precision // 3 + 2  # 9**-terms is below 2**-precision / 8
    scaled, square = t * one, t * t
    power = scaled.numerator // scaled.denominator
    for n in range(terms):
        total += power // (2 * n + 1)
        power = power * square.numerator // square.denominator
    slack = 2 * terms + 2  # each floor loses less than 1, the powers less than 9/8 more
    return total - slack, total + slack


def weight_bounds(
    rate: Fraction, gap: Fraction, scale: Fraction, precision: int
) -> tuple[Fraction, Fraction]:
    """Return bounds of scale * exp(-rate * gap), for gap >= 0.

    They are at most 2 * scale / 2**precision apart if the precision is below 2**25.
    """
    lo, hi = exp_bounds(rate * gap, precision)
    return scale * lo / (1 << precision), scale * hi / (1 << precision)


def accept(rate: Fraction, gap: Fraction, scale: Fraction, rho: int, words: NextWord) -> bool:
    """Whether rho + V < scale * exp(-rate * gap), for a V uniform on [0, 1).

    Exact: V is drawn 64 bits at a time, and it and the bounds are refined together until
    the comparison is decided. `scale` includes the candidate's base.
    """
    extra = max(0, (scale.numerator // scale.denominator).bit_length()) + 8
    bits, coin = 64, words()
    while True:
        lo, hi = weight_bounds(rate, gap, scale, bits + extra)
        least = rho + Fraction(coin, 1 << bits)
        if least + Fraction(1, 1 << bits) <= lo:
            return True
        if least >= hi:
            return False
        bits, coin = bits + 64, coin << 64 | words()


def settle_slow(
    sum_lower: int,
    doubt_sums: Any,  # a sequence of integers
    cells: int,
    claims: Claims,
    words: NextWord,
) -> int | None:
    """Return the candidate of a draw with the slow outcome; None: the draw is void, draw afresh.

    One of the cells - sum_lower slow cells is drawn uniformly. The first cells belong to the
    candidates in order, up to the cumulative sums of their doubts D. Cell j of candidate i counts
    if `claims(i, j)`, that is, if L_i + j + V < f * w_i.
    """
    cell = draw_below(cells - sum_lower, words)
    index = bisect_right(doubt_sums, cell)
    if index == len(doubt_sums):
        return None
    inside = cell - int(doubt_sums[index - 1] if index else 0)
    return index if claims(index, inside) else None


def flip_bounds(epsilon: Fraction, precision: int) -> tuple[int, int]:
    """Return integers lo <= 2**precision / (1 + exp(epsilon)) <= hi with hi - lo small."""
    lo, hi = exp_bounds(epsilon, precision)
    one = 1 << precision
    return (lo << precision) // (one + lo), -((-hi << precision) // (one + hi))


def flip_cut(epsilon: Fraction, bits: int) -> int:
    """Return the first `bits` binary digits of p = 1 / (1 + exp(epsilon)), for epsilon > 0.

    p is irrational (Lindemann), so narrow enough bounds agree in these digits.
    """
    extra = 64
    while True:
        lo, hi = flip_bounds(epsilon, bits + extra)
        if lo >> extra == hi >> extra:
            return lo >> extra
        extra *= 2


def flip(epsilon: Fraction, lead: int, bits: int, words: NextWord) -> bool:
    """Whether V < 1 / (1 + exp(epsilon)), for a uniform V on [0, 1) that begins with `lead`.

    Exact: `lead` is the first `bits` digits of V, and 64 more are drawn until bounds decide.
    """
    while True:
        lo, hi = flip_bounds(epsilon, bits + 8)
        if (lead + 1) << 8 <= lo:
            return True
        if lead << 8 >= hi:
            return False
        bits, lead = bits + 64, lead << 64 | words()
