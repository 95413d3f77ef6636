"""The obvious, exact and slow twins of the kernels of selection, which only tests call.

In Fractions and Python integers; imports no kernel and no numba. Tests compare every kernel with
its twin. What a weight is: see `exact.py`.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, islice

from tests.doors.reference import exact

RoundWords = Callable[[int], int]  # the word of a round, by its number
Coins = Callable[[int, int, int], bool]  # whether rho + V < f*w, by (candidate, rho, round)


def derive_stream(key: tuple[int, int], tag: int, name: int) -> tuple[int, int]:
    """The stream (tag, name) of a 128-bit key: its own Philox key and counter prefix."""
    return exact.philox(name, tag ^ key[1], key[0])


def envelope_round(uppers: Sequence[int], word: int) -> tuple[int, int] | None:
    """The candidate that a 128-bit word picks from upper bounds U, and what is left of R."""
    sums = list(accumulate(uppers))
    value = exact.below(sums[-1], word)
    if value is None:
        return None
    index = bisect_right(sums, value)
    return index, value - (sums[index - 1] if index else 0)


def chord_bound(height: float, precision: int) -> int:
    """The bound of `kernels/select/chords.py` of one height, in plain floats and integers."""
    fixed = 1610612736.0 + 2.0**-21 + precision - min(height, 60.0)
    chord = float_of(bits_of(fixed) - 0x41D8000000000000 + (1023 << 22) << 30 & exact.MASK_64)
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
        value = exact.below(sum(bounds), words(number), 64)
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
        value = exact.below(sum(current), words(number))
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


def stream_flips(
    epsilon: Fraction, stream: tuple[int, int], count: int, width: int = 64
) -> list[bool]:
    """The first `count` flips of a stream, by the format in `kernels/select/flips.py`.

    A second word has `width` bits, 64 but in tests.
    """
    out: list[bool] = []
    cut = exact.flip_cut(epsilon, 8 + width)
    for number in range(-(-count // 4096)):
        later = exact.substream(stream, number, 4608)
        for i in range(min(4096, count - 4096 * number)):
            first = next(exact.substream(stream, number, i // 8)) >> 8 * (i % 8) & 255
            second = next(exact.substream(stream, number, 512 + i)) >> 64 - width
            lead = first << width | second
            if lead == cut:
                out.append(exact.flip(epsilon, lead, 8 + width, later.__next__))
            else:
                out.append(lead < cut)
    return out


def probabilities(
    rate: Fraction, utilities: Sequence[Fraction], base: Sequence[Fraction], precision: int = 200
) -> list[Fraction]:
    """The law of the mechanism, within a factor 1 +- 2**(8 - precision) or so."""
    best = max(u for u, b in zip(utilities, base, strict=True) if b > 0)
    weights = [
        sum(exact.weight_bounds(rate, best - u, b, precision), Fraction(0))
        if b > 0
        else Fraction(0)
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
        lo, hi = exact.weight_bounds(rate, gap, scale, bits + 64)
        if coarse is None and (rho + 1 <= lo or rho >= hi):
            return rho < lo
        words = exact.substream(stream, number, (1 << 32) + (1 << 31) + (tests << 16))
        tests += 1
        return exact.accept(rate, gap, scale, rho, words.__next__)

    bits = 40 - max(0, (k - 1).bit_length() - 20) if coarse is None else coarse
    later = 50 if coarse is None else coarse
    failed: list[int] = []
    for word in islice(exact.substream(stream, number), tries):
        value = exact.below(k << bits, word, 64)
        if value is not None and value >> bits not in failed:
            if success(value >> bits, value & ((1 << bits) - 1), bits):
                return value >> bits, len(failed) + 1
            failed.append(value >> bits)
    coins = islice(exact.substream(stream, number, 1 << 16), k)
    others = [(i, word) for i, word in enumerate(coins) if i not in failed]
    won = [i for i, word in others if success(i, word >> 64 - later, later)]
    choices = (exact.below(len(won), word, 64) for word in exact.substream(stream, number, 1 << 32))
    return won[next(at for at in choices if at is not None)], k


def ordered_selection(weights: Sequence[Fraction], selection: Sequence[int]) -> Fraction:
    """P(these candidates are selected first, in this order) if each round is proportional."""
    left, p = sum(weights, Fraction(0)), Fraction(1)
    for i in selection:
        p *= weights[i] / left
        left -= weights[i]
    return p
