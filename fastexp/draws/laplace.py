"""Draws of Laplace noise around numbers: a block of points by inversion, then a point in it.

A block has 2**bits points and is less than 2**-WIDTH nats wide. Blocks are drawn as the points of a
coarser noise (`kernels/laplace.py`: positions). The points of a block are equally likely but for an
exact coin, which hardly ever refuses one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np

from ..data.grid import Grid
from ..data.segments import Segments
from ..errors import InvalidRecords
from ..kernels import laplace as kernels
from ..kernels.bits import LOG2E
from ..parameters.checks import MAX_EXACT
from ..types import Array, Integers, Words
from .choose import check, shaped
from .exact import accept, exp_bounds
from .words import SPARE, further_words, pairs

OPEN = int(kernels.OPEN)
FAR = 1 << 61  # no noise goes so many points: beyond it are open ones
WIDTH = 20
# A coin below it is at most 1 - 2**-20, and each point of a block has a weight of more than that.
CERTAIN = np.uint64((1 << 64) - (1 << 45))


@dataclass(frozen=True)
class Noise:
    """The public side of a draw: weight exp(-rate * distance in steps) on all multiples of a step.

    `grid` begins at 0; answers are clamped to `ends`.
    """

    rate: Fraction
    grid: Grid
    ends: tuple[float, float] | None


def draw(data: Segments, noise: Noise, seeds: Words, size: int | None) -> Any:
    """Return answers: a number, or an array of shape (size,), (rows,) or (rows, size)."""
    values = data.values
    words = pairs(seeds, len(values), size or 1)
    if data.rows is None and size is None:
        below, points = _points(values[0], noise, words, seeds, 0)
        number = noise.grid.value(below + int(points[0]))
        return min(max(number, noise.ends[0]), noise.ends[1]) if noise.ends else number
    own = words.reshape(len(values), -1)
    numbers = [
        _numbers(noise.grid, below, points)
        for i, value in enumerate(values)
        for below, points in [_points(value, noise, own[i], seeds, i)]
    ]
    out = numbers[0] if data.rows is None else np.array(numbers)
    return shaped(out.clip(*noise.ends) if noise.ends else out, data.rows, size)


def _points(
    value: Fraction, noise: Noise, words: Words, seeds: Words, row: int
) -> tuple[int, Integers]:
    """Return the multiple below a value, and the distances from it of those that are drawn."""
    under = value.denominator * noise.grid.step
    below, rest = divmod(value.numerator * int(noise.grid.parts), under)
    lean = abs(under - 2 * rest), under
    points = positions(noise.rate, lean, words, seeds, row, words.size)
    if 2 * rest > under:
        np.subtract(1, points, out=points)
    return below, points


def positions(
    rate: Fraction, lean: tuple[int, int], words: Words, seeds: Words, row: int, draws: int
) -> Integers:
    """Return positions of points (`kernels/laplace.py`), from two words each.

    lean: how much nearer position 0 is than position 1, in steps, as a ratio. The words are those
    of `draws` draws of each row, from `row` on.
    """
    nats = float(rate)
    bits, scale = max(0, -WIDTH - frexp(nats)[1]), nats * LOG2E
    at, gap = np.empty(words.size // 2, np.int64), scale * (lean[0] / lean[1])
    if not (check(kernels.fill_positions(words, scale * 2.0**bits, gap, at)) or bits):
        return at
    points, doubts = at, at > FAR
    if bits:
        second = words[1::2]
        points = _point_of(at, (second >> np.uint64(64 - bits)).astype(np.int64), bits)
        doubts |= second << np.uint64(bits) >= CERTAIN
    for j in np.flatnonzero(doubts).tolist():
        r, t = divmod(j, draws)
        spare = further_words(seeds, row + r, (t << 32) + SPARE)
        pair = words[2 * j : 2 * j + 2].tolist()
        points[j] = _exactly(rate, bits, Fraction(*lean) * rate, int(at[j]), pair, spare)
    return points


def _point_of(at: Any, place: Any, bits: int) -> Any:
    """Return the position of a place in the block of position `at`."""
    is_far = (at > 0) * 1
    return (at - is_far << bits) + is_far + (2 * is_far - 1) * place


def _numbers(grid: Grid, below: int, points: Integers) -> Array:
    """Return multiples of the step as they are answered."""
    most = max(abs(below + int(t)) for t in (points.min(), points.max())) * grid.step
    if max(most, grid.parts) <= MAX_EXACT:
        points += below  # in place: pages of fresh arrays cost more than the arithmetic
        points *= grid.step
        if grid.is_whole:
            return points
        numbers = points.view(np.float64)
        numbers[:] = points
        numbers /= grid.parts
        return numbers
    if grid.is_whole and most >= 1 << 63:
        raise InvalidRecords("values must be so small that all draws fit into int64")
    return np.array([grid.value(below + t) for t in points.tolist()])


def _exactly(
    rate: Fraction, bits: int, gap: Fraction, at: int, pair: list[int], words: Iterator[int]
) -> int:
    """Return the position of a draw that begins with two words; at: its probable block."""
    (lead, second), scale, depth = pair, 1 << 64 - bits, 64
    at -= OPEN if at > FAR else 0
    while True:
        upto, before = (is_upto(t, rate * 2**bits, gap, lead, depth) for t in (at, at - 1))
        if upto and before is False:
            break
        if before:
            at -= 1
        elif upto is False:
            at += 1
        else:
            lead, depth = lead << 64 | next(words), depth + 64
    while True:
        place, coin = divmod(second, scale)
        if accept(rate * place, Fraction(scale), coin, words):
            return int(_point_of(at, place, bits))
        second = next(words)


def is_upto(at: int, rate: Fraction, gap: Fraction, lead: int, depth: int) -> bool | None:
    """Return whether V < P(position <= at) for all V of `depth` digits `lead`; None: for some.

    With w = exp(-gap) that is V * (1 + w) < exp(rate * at) or, if at > 0, (1 - V) * (1 + w) >
    exp(-rate * at - gap).
    """
    is_far = at > 0
    digits = (1 << depth) - 1 - lead if is_far else lead
    low, high = exp_bounds(rate * abs(at) + gap * is_far, depth + 64)
    one = 1 << depth + 64
    least, most = exp_bounds(gap, depth + 64)
    if (digits + 1) * (one + most) <= low << depth:
        return not is_far
    return is_far if digits * (one + least) >= high << depth else None
