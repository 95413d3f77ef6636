"""The obvious, exact and slow twins of the kernels, in Fractions and Python integers.

Imports no kernel and no numba. Tests compare every kernel with its twin; the samplers use
`accept` and `settle_slow` for the rare draws that the certified bounds leave open.

A candidate's weight is base * exp(-rate * gap), with rate = epsilon / (2 * sensitivity) or,
for monotonic utilities, without the 2, and gap = best utility - utility, all read as the
exact numbers they are.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, islice
from typing import Any

MASK_32, MASK_64 = (1 << 32) - 1, (1 << 64) - 1
Words = Callable[[], int]  # returns a fresh uniform integer below 2**64
RoundWords = Callable[[int], int]  # the word of a round, by its number
Coins = Callable[[int, int, int], bool]  # whether rho + V < f*w, by (candidate, rho, round)
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


def derive_stream(key: tuple[int, int], tag: int, name: int) -> tuple[int, int]:
    """The stream (tag, name) of a 128-bit key: its own Philox key and counter prefix."""
    return philox(name, tag ^ key[1], key[0])


def substream(stream: tuple[int, int], number: int, first: int = 0) -> Iterator[int]:
    """Words first, first + 1, ... of a substream: block number * 2**32 + j // 2, half j % 2."""
    while True:
        yield philox((number << 32) + first // 2, stream[1], stream[0])[first % 2]
        first += 1


def below(bound: int, word: int, bits: int = 128) -> int | None:
    """A uniform integer below `bound` from a uniform `bits`-bit word; None: draw again.

    Lemire (2019): the quotient of word * bound by 2**bits, unless the remainder is below
    2**bits mod bound; each value below `bound` then has floor(2**bits / bound) words.
    """
    value, rest = divmod(word * bound, 1 << bits)
    return None if rest < (1 << bits) % bound else value


def draw_below(bound: int, words: Words) -> int:
    """A uniform integer below `bound` <= 2**128 from as many words as it takes."""
    while True:
        low, high = words(), words()
        value = below(bound, high << 64 | low)
        if value is not None:
            return value


def exp_bounds(gamma: Fraction, precision: int) -> tuple[int, int]:
    """Integers lo <= 2**precision * exp(-gamma) <= hi with hi - lo small, for gamma >= 0.

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
    """Bounds of 2**precision * atanh(t) for |t| <= 1/3: the odd powers, truncated."""
    one = 1 << precision
    total, terms = Fraction(0), precision // 3 + 2  # 9**-terms is below 2**-precision / 8
    scaled, square = t * one, t * t
    power = scaled.numerator // scaled.denominator
    for n in range(terms):
        total += power // (2 * n + 1)
        power = power * square.numerator // square.denominator
    slack = 2 * terms + 2  # each floor loses less than 1, the powers less than 9/8 more
    middle = int(total)
    return middle - slack, middle + slack


def weight_bounds(
    rate: Fraction, gap: Fraction, scale: Fraction, precision: int
) -> tuple[Fraction, Fraction]:
    """Bounds of scale * exp(-rate * gap), at most 2 * scale / 2**precision apart; gap >= 0."""
    lo, hi = exp_bounds(rate * gap, precision)
    return scale * lo / (1 << precision), scale * hi / (1 << precision)


def accept(rate: Fraction, gap: Fraction, scale: Fraction, rho: int, words: Words) -> bool:
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


def envelope_round(uppers: Sequence[int], word: int) -> tuple[int, int] | None:
    """The candidate that a 128-bit word picks from upper bounds U, and what is left of R."""
    sums = list(accumulate(uppers))
    value = below(sums[-1], word)
    if value is None:
        return None
    index = bisect_right(sums, value)
    return index, value - (sums[index - 1] if index else 0)


def chord_bound(height: float, precision: int) -> int:
    """The bound of `kernels/select/chords.py` of one height, in plain floats and integers."""
    fixed = 1610612736.0 + 2.0**-21 + precision - min(height, 60.0)
    chord = float_of(bits_of(fixed) - 0x41D8000000000000 + (1023 << 22) << 30 & MASK_64)
    return bits_of(chord + 2.0**52) - bits_of(2.0**52) + 1


def bits_of(x: float) -> int:
    """The IEEE 754 bits of a double."""
    return int.from_bytes(struct.pack("<d", x), "little")


def float_of(bits: int) -> float:
    """The double that has these bits."""
    value: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    return value


def lane_order(size: int, lanes: int = 32) -> list[int]:
    """The order in which a block's candidates follow each other: lane after lane."""
    return [i for lane in range(min(lanes, size)) for i in range(lane, size, lanes)]


def place_of(bounds: Sequence[int], value: int) -> tuple[int, int]:
    """The place on whose bound a number below their sum falls, and what is left of it."""
    sums = list(accumulate(bounds))
    place = bisect_right(sums, value)
    return place, value - (sums[place - 1] if place else 0)


def block_draw(bounds: Sequence[int], words: RoundWords, accepts: Coins) -> int:
    """A draw from at most a block of candidates: round n takes a 64-bit word."""
    order, number = lane_order(len(bounds)), 0
    while True:
        value = below(sum(bounds), words(number), 64)
        if value is not None:
            place, rho = place_of([bounds[i] for i in order], value)
            if accepts(order[place], rho, number):
                return order[place]
        number += 1


def two_level_draw(
    coarse: Sequence[int],
    bounds: Sequence[Sequence[int]],
    words: RoundWords,
    accepts: Coins,
    rounds: int,
) -> int:
    """A draw from several blocks: round n takes a 128-bit word.

    `coarse` bounds whole blocks; one that is drawn is refined to the sum of its candidates'
    bounds, after `rounds` rounds all are. Blocks have 1,024 candidates but the last.
    """
    current, number = list(coarse), 0
    while True:
        if number == rounds:
            current = [sum(block) for block in bounds]
        value = below(sum(current), words(number))
        if value is not None:
            b, rest = place_of(current, value)
            current[b] = sum(bounds[b])
            if rest < current[b]:
                order = lane_order(len(bounds[b]))
                place, rho = place_of([bounds[b][i] for i in order], rest)
                index = len(bounds[0]) * b + order[place]
                if accepts(index, rho, number):
                    return index
        number += 1


def settle_slow(
    sum_lower: int,
    doubt_sums: Any,  # a sequence of integers
    cells: int,
    claims: Claims,
    words: Words,
) -> int | None:
    """The candidate that a draw on the slow outcome stands for; None: void, draw afresh.

    One of the cells - sum_lower slow cells is drawn uniformly. The first ones belong to the
    candidates in order, up to the cumulative sums of their doubts D; cell j of candidate i
    counts if `claims(i, j)`, that is L_i + j + V < f * w_i.
    """
    cell = draw_below(cells - sum_lower, words)
    index = bisect_right(doubt_sums, cell)
    if index == len(doubt_sums):
        return None
    inside = cell - int(doubt_sums[index - 1] if index else 0)
    return index if claims(index, inside) else None


def flip_bounds(epsilon: Fraction, precision: int) -> tuple[int, int]:
    """Integers lo <= 2**precision / (1 + exp(epsilon)) <= hi with hi - lo small."""
    lo, hi = exp_bounds(epsilon, precision)
    one = 1 << precision
    return (lo << precision) // (one + lo), -((-hi << precision) // (one + hi))


def flip_cut(epsilon: Fraction, bits: int) -> int:
    """The first `bits` binary digits of p = 1 / (1 + exp(epsilon)), for epsilon > 0.

    p is irrational (Lindemann), so bounds that are narrow enough agree in them.
    """
    extra = 64
    while True:
        lo, hi = flip_bounds(epsilon, bits + extra)
        if lo >> extra == hi >> extra:
            return lo >> extra
        extra *= 2


def flip(epsilon: Fraction, lead: int, bits: int, words: Words) -> bool:
    """Whether V < 1 / (1 + exp(epsilon)), for a uniform V on [0, 1) whose digits begin so.

    Exact: `lead` are V's first `bits` digits, and 64 more are drawn until it is decided.
    """
    while True:
        lo, hi = flip_bounds(epsilon, bits + 8)
        if (lead + 1) << 8 <= lo:
            return True
        if lead << 8 >= hi:
            return False
        bits, lead = bits + 64, lead << 64 | words()


def stream_flips(
    epsilon: Fraction, stream: tuple[int, int], count: int, width: int = 64
) -> list[bool]:
    """The first `count` flips of a stream, by the format in `kernels/select/flips.py`.

    A second word has `width` bits, 64 but in tests.
    """
    out: list[bool] = []
    cut = flip_cut(epsilon, 8 + width)
    for number in range(-(-count // 4096)):
        later = substream(stream, number, 4608)
        for i in range(min(4096, count - 4096 * number)):
            first = next(substream(stream, number, i // 8)) >> 8 * (i % 8) & 255
            second = next(substream(stream, number, 512 + i)) >> 64 - width
            lead = first << width | second
            undecided = lead == cut
            out.append(flip(epsilon, lead, 8 + width, later.__next__) if undecided else lead < cut)
    return out


def probabilities(
    rate: Fraction, utilities: Sequence[Fraction], base: Sequence[Fraction], precision: int = 200
) -> list[Fraction]:
    """The law of the mechanism, within a factor 1 +- 2**(8 - precision) or so."""
    best = max(u for u, b in zip(utilities, base, strict=True) if b > 0)
    weights = [
        sum(weight_bounds(rate, best - u, b, precision), Fraction(0)) if b > 0 else Fraction(0)
        for u, b in zip(utilities, base, strict=True)
    ]
    total = sum(weights, Fraction(0))
    return [w / total for w in weights]


def permute_and_flip_law(weights: Sequence[Fraction]) -> list[Fraction]:
    """The law of permute-and-flip, exactly; weights are at most 1, and one of them is 1.

    A candidate that arrives at a uniform time t wins if nobody before it has succeeded: w_i
    times the integral over t in [0, 1] of the product of (1 - t * w_j) over all others.
    """
    out, zero = [], [Fraction(0)]
    for i, weight in enumerate(weights):
        product = [Fraction(1)]  # coefficients of powers of t
        for w in (*weights[:i], *weights[i + 1 :]):
            pairs = zip(product + zero, zero + product, strict=True)
            product = [same - w * below_it for same, below_it in pairs]
        out.append(weight * sum((c / (n + 1) for n, c in enumerate(product)), Fraction(0)))
    return out


def permute_and_flip(
    rate: Fraction,
    utilities: Sequence[Fraction],
    stream: tuple[int, int],
    number: int,
    tries: int = 64,
    coarse: int | None = None,
) -> tuple[int, int]:
    """(winner, coins flipped) of draw `number`, by the format in `kernels/select/permute_flip.py`.

    `coarse`: all coins have that many bits, and each goes to an exact test with words of its
    own, as if bounds never decided.
    """
    k, best, tests = len(utilities), max(utilities), 0

    def success(i: int, rho: int, bits: int) -> bool:
        nonlocal tests
        scale, gap = Fraction(1 << bits), best - utilities[i]
        lo, hi = weight_bounds(rate, gap, scale, bits + 64)
        if coarse is None and (rho + 1 <= lo or rho >= hi):
            return rho < lo
        words = substream(stream, number, (1 << 32) + (1 << 31) + (tests << 16))
        tests += 1
        return accept(rate, gap, scale, rho, words.__next__)

    bits = 40 - max(0, (k - 1).bit_length() - 20) if coarse is None else coarse
    later = 50 if coarse is None else coarse
    failed: list[int] = []
    for word in islice(substream(stream, number), tries):
        value = below(k << bits, word, 64)
        if value is not None and value >> bits not in failed:
            if success(value >> bits, value & ((1 << bits) - 1), bits):
                return value >> bits, len(failed) + 1
            failed.append(value >> bits)
    coins = islice(substream(stream, number, 1 << 16), k)
    others = [(i, word) for i, word in enumerate(coins) if i not in failed]
    won = [i for i, word in others if success(i, word >> 64 - later, later)]
    choices = (below(len(won), word, 64) for word in substream(stream, number, 1 << 32))
    return won[next(at for at in choices if at is not None)], k


def ordered_selection(weights: Sequence[Fraction], selection: Sequence[int]) -> Fraction:
    """P(these candidates are selected first, in this order) if each round is proportional."""
    left, p = sum(weights, Fraction(0)), Fraction(1)
    for i in selection:
        p *= weights[i] / left
        left -= weights[i]
    return p
