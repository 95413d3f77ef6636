"""The exact twin of draws by group: cells of grid points with certified integer weights.

A cell is a range of `count` points whose rank distance is `bound`, or at least `bound` in a loose
cell. With f = 2**60 and e = bound - (the least bound), each point of the cell has two adjacent
integers L(e) <= f * exp(-rate * e) <= U(e) (both are f for e = 0). A uniform integer R below the
sum of count * U chooses a cell. The rest of R, rho, is the coin: a point passes if
rho + V < count * f * exp(-rate * (its distance - the least bound)), with V uniform in [0, 1).
Given the cell, rho is uniform below count * U, so a round gives each point with probability
f * exp(...) / sum: the law is exact whatever the bounds are.

A round takes four words: the lower and the upper half of R, the place in the cell, and a word that
is not used. Undecided draws take further words, one after the other. Draw j of a simulated group
has words 4 * j, ... of substream 0 of its stream, and then those of substream 1 + j.

Permute-and-flip is `flip_draw`: every candidate tosses its coin, and one of the successes is
drawn uniformly, because in a random order each of them is equally likely to be the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from .exact import NextWord, accept, below, draw_below, exp_bounds

PRECISION = 60
STRIDE = 1 << 12  # number of short distances in `long_weight`
FEW = 12  # candidates at most, so that four words hold all short coins and the choice
Cell = tuple[int, int, int, bool]  # first point, count, bound of the distance, whether loose
Distance = Callable[[int], int]  # the true distance of a point of a loose cell


def weight_floor(rate: Fraction, e: int) -> int:
    """Return L(e): the largest integer <= 2**60 * exp(-rate * e)."""
    if 0 < rate * e * (1 << PRECISION) <= 1:  # as exp(-x) > 1 - x; bounds would take long to agree
        return (1 << PRECISION) - 1
    extra_bits = 16
    while True:
        lo, hi = exp_bounds(rate * e, PRECISION + extra_bits)
        if lo >> extra_bits == hi >> extra_bits:
            return lo >> extra_bits
        extra_bits *= 2  # there is an integer between the bounds


def upper(rate: Fraction, e: int) -> int:
    """Return U(e): L(e) + 1, or 2**60 if e is 0."""
    return weight_floor(rate, e) + (e > 0)


def long_weight(rate: Fraction, e: int) -> int:
    """Return W(e): U(e) if e is short, else the next integer above the product of U of two parts.

    U <= 2**60 * exp(...) + 1 for both parts, so W exceeds 2**60 * exp(-rate * e) by less than 4.
    """
    near, far = upper(rate, e % STRIDE), upper(rate * STRIDE, e // STRIDE)
    return near if e < STRIDE else (near * far >> PRECISION) + 1


def group_draw(
    cells: Sequence[Cell],
    rate: Fraction,
    first: Sequence[int],
    next_word: NextWord,
    true: Distance,
    weight: Callable[[Fraction, int], int] = upper,
) -> int:
    """Draw a grid point, from the four words of the first round and as many more as it takes.

    The law is exact for any `weight` >= 2**60 * exp(-rate * e).
    """
    least = min(bound for _, _, bound, _ in cells)
    weights = [count * weight(rate, bound - least) for _, count, bound, _ in cells]
    total, words = sum(weights), first
    while True:
        rest = below(total, words[1] << 64 | words[0])
        if rest is not None:
            i = 0
            while rest >= weights[i]:
                rest, i = rest - weights[i], i + 1
            start, count, bound, loose = cells[i]
            inside = below(count, words[2], 64)
            point = start + (draw_below(count, next_word) if inside is None else inside)
            e = (true(point) if loose else bound) - least
            if _passes(rate * e, count, rest, next_word):
                return point
        words = [next_word() for _ in range(4)]


def _passes(exponent: Fraction, count: int, rho: int, next_word: NextWord) -> bool:
    """Whether rho + V < count * 2**60 * exp(-exponent)."""
    bits = 0
    while True:
        lo, hi = exp_bounds(exponent, PRECISION + bits + 8)
        if rho + 1 << 8 <= count * lo:
            return True
        if rho << 8 >= count * hi:
            return False
        rho, bits = rho << 64 | next_word(), bits + 64


def coin_bits(k: int) -> int:
    """How many bits each of k coins has at first."""
    return 16 if k <= FEW else 32


def flip_words(k: int) -> int:
    """How many words a draw from k candidates takes at first: coins, then the choice.

    It is a multiple of four, the number of words that a draw of a grid point takes.
    """
    return -(-(k * coin_bits(k) + 64) // 256) * 4


def flip_draw(
    distances: Sequence[int], rate: Fraction, first: Sequence[int], next_word: NextWord
) -> int:
    """Draw the number of a candidate by permute-and-flip, from `flip_words` words and further ones.

    The coin of candidate i is a success if V < exp(-rate * distance), for a uniform V in [0, 1)
    with first digits rho.
    """
    bits = coin_bits(len(distances))
    successes = []
    for i, distance in enumerate(distances):
        word, place = divmod(i * bits, 64)
        rho = first[word] >> place & (1 << bits) - 1
        if distance == 0 or accept(rate, Fraction(distance), Fraction(1 << bits), rho, next_word):
            successes.append(i)
    choice = below(len(successes), first[-1], 64)
    return successes[draw_below(len(successes), next_word) if choice is None else choice]
