"""Exact draws of Laplace noise by inversion: first a block of points, then a point in the block.

The unit is a step: the statistic lies at k + phase, and points are counted from k. The weight of a
point is exp(-rate * its distance). There are `left` points up to k and `right` points after k;
None: there is no end. On each side, points are in blocks of `block` points, counted outwards; the
last block may be shorter.

A uniform V lies on the left if it is below that side's share of all weight. The rest of V in a
side's share becomes s, uniform between exp(-rate * points) and 1, and the block's number is
floor(-ln s / (rate * block)): a geometric number, truncated where the side ends. Then a point of
the block is drawn uniformly. It is accepted with probability exp(-rate * its distance from the
block's first point), or else another point is drawn. If the grid has at most `block` points, the
block is the whole grid, and the nearest point's distance is subtracted from all distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import NamedTuple

from .exact import NextWord, accept, below, exp_bounds, log_bounds

ONE = Fraction(1)


class Sides(NamedTuple):
    """Where the points are, and how fast their weights fall. Private data."""

    rate: Fraction
    phase: Fraction
    left: int | None
    right: int | None
    block: int


def laplace_index(sides: Sides, first: Sequence[int], next_word: NextWord) -> int:
    """Return the point of a draw that begins with the words `first`: V, a place, a coin."""
    rate, phase, left, right, block = sides
    total = None if left is None or right is None else left + right
    if total is not None and total <= block:
        start, step, count = 1 - (left or 0), 1, total
        base = min(phase, 1 - phase)  # if there is no point after k, the phase is 0
    else:
        number = block_number(sides, first[0], next_word)
        step, passed = (1, block * number) if number >= 0 else (-1, block * ~number)
        points = right if number >= 0 else left
        start = int(number >= 0) + step * passed
        count = block if points is None else min(block, points - passed)
        base = abs(start - phase)
    rest = chain(first[1:], iter(next_word, None))
    while block > 1:
        place = below(count, next(rest), 64)
        if place is not None:
            gap = abs(start + step * place - phase) - base
            if accept(rate, gap, ONE, 0, partial(next, rest)):
                return start + step * place
    return start


def block_number(sides: Sides, lead: int, next_word: NextWord) -> int:
    """Return a block: 0, 1, ... outwards on the right, -1, -2, ... on the left.

    lead: the first digits of V. More are drawn until all V that begin with them give one block.
    """
    bits = 64
    while (number := _block_of_digits(sides, lead, bits)) is None:
        lead, bits = lead << 64 | next_word(), bits + 64
    return number


def _block_of_digits(sides: Sides, lead: int, bits: int) -> int | None:
    """Return the block of all V that begin with the `bits` digits `lead`; None if it varies."""
    rate, phase, left, right, block = sides
    precision, points, gaps = bits + 64, (left, right), (phase, 1 - phase)
    one = 1 << precision
    weights = [exp_bounds(rate * (gap - min(gaps)), precision) for gap in gaps]
    ends = [(0, 0) if n is None else exp_bounds(rate * n, precision) for n in points]
    least, most = (
        [w[i] * (one - end[1 - i]) for w, end in zip(weights, ends, strict=True)] for i in (0, 1)
    )
    if (lead + 1) * sum(most) <= least[0] << bits:
        side, begin = 0, lead
    elif lead * sum(least) >= most[0] << bits:
        side, begin = 1, (1 << bits) - 1 - lead
    else:
        return None
    weight, end, n = weights[side], ends[side], points[side]
    low = end[0] + begin * sum(least) // (weight[1] << bits)  # bounds of s, times `one`
    if low == 0 or weight[0] == 0:
        return None
    high = end[1] - (-(begin + 1) * sum(most) // (weight[0] << bits))
    width = rate * block * one
    fewest = max(-log_bounds(Fraction(high, one), precision)[1] // width, 0)
    number = -log_bounds(Fraction(low, one), precision)[0] // width
    if n is not None:  # s is above the side's end
        number = min(number, (n - 1) // block)
    if fewest < number:
        return None
    return number if side else ~number
