"""Cells of Laplace noise on grid points: exp(-rate * |x - t|) for integers t, x anywhere.

All in steps: x lies between the points k = floor(x) and k + 1, and points are counted from k.
On either side weights fall by exp(-rate) a point. They are cut into cells (`cells.py`), whose
bound is the weight of their nearest point. A side that ends has a last cell for all the rest.

A line that never ends needs no truncation. Either side of it is geometric, and a geometric G is
M*J + G', with G' < M and J independent: P(J >= j) = exp(-rate*M*j). So one more cell stands for
what lies M or more points out on either side. It is a fresh start: a draw that falls on it is
made again, and M points are added to its outcome.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, nextafter

import numpy as np

from .._selection.weighting import Weighting
from .._typing import FloatArray, IntArray
from ..kernels.bits.heights import FLOAT
from ..reference.exact import exp_bounds, log_bounds
from .cells import Cells, Words, coin

NATS = 64  # that cells cover on a side: beyond is 1e-28 of it
SHARE = Fraction(1, 4)  # nats a cell: 8 of 9 of its points pass
FAR = 1 << 62  # where the cell of a fresh start begins; no point of a side is there
ZERO = Fraction(0)


class LaplaceShape:
    """Cells around x = k + phase, see `cells.Shape`; indices are points, counted from k.

    There are `left` points up to k and `right` ones beyond; both None: no end. Utilities are
    minus the distances, plus that of the nearest point.
    """

    __slots__ = (
        "__dict__",
        "_anchor",
        "_excess",
        "_near",
        "_offset",
        "block",
        "cells",
        "weighting",
    )
    block: int
    cells: Cells
    weighting: Weighting

    def __init__(
        self, phase: Fraction, weighting: Weighting, left: int | None, right: int | None
    ) -> None:
        self.weighting = weighting
        sides = (phase, left), (1 - phase, right)
        least = min(phase, 1 - phase)  # where there is no point beyond, the phase is 0
        self._near = [max(near - least, ZERO) for near, _ in sides]
        (before, first), (after, second) = (_ranges(weighting.rate, points) for _, points in sides)
        m, n = before.size, after.size
        self._offset, count = np.concatenate([before, after]), np.concatenate([first, second])
        self._anchor = np.concatenate([-before, after + 1])
        start = np.concatenate([1 - before - first, after + 1])
        parts = [_parts(near) for near in self._near]
        head, tail = (
            np.repeat([p[0] for p in parts], (m, n)),
            np.repeat([p[1] for p in parts], (m, n)),
        )
        distance, self._excess = _rounded_down(head, tail, self._offset)
        loose = (count > 1) | (self._excess > 0) | (tail > 0)
        if left is None:
            # The bound of the fresh start is count * exp(-rate * (block - 2*count)). Its weight is
            # at most 2*exp(-rate*block) / (1 - exp(-rate)) <= 4*exp(-rate*block) / min(rate, 1).
            self.block, far = int(before[-1] + first[-1]), ceil(1 / weighting.rate)
            start, count = np.append(start, FAR), np.append(count, far)
            distance = np.append(distance, float(self.block - 2 * far))
            loose = np.append(loose, True)
        self.cells = Cells(start, count, (0.0 - distance).view(np.uint64), FLOAT, loose)

    def heights(self, cell: IntArray, index: IntArray) -> FloatArray:
        """-ln P(a point passes): its distance from its cell's bound, times the rate."""
        started = index >= FAR if index.max(initial=0) >= FAR else None
        if started is not None:
            cell = np.where(started, 0, cell)
        steps = self._anchor.take(cell)
        np.subtract(index, steps, out=steps)
        np.abs(steps, out=steps)
        out = self._excess.take(cell)
        out += steps
        out *= self.weighting.rate_nats
        return out if started is None else np.where(started, self._fresh_height, out)

    def accepts(self, cell: int, index: int, lead: int, bits: int, words: Words) -> bool:
        """Whether V is below the probability that a point passes, exactly."""
        if cell == self._anchor.size:
            return self._starts_afresh(lead, bits, words)
        distance = self._near[int(self._anchor[cell] > 0)] + int(self._offset[cell])
        bound = -Fraction(float(self.cells.bits[cell].view(np.float64)))
        beyond = distance + abs(index - int(self._anchor[cell])) - bound
        return coin(self.weighting.rate * beyond, lead, bits, words)

    # The fresh start passes with its weight over its bound,
    # exp(-2*rate*count) * (1 + exp(-rate*gap)) / (count * (1 - exp(-rate))),
    # where gap is how much farther than the nearest point the nearest one on the other side is.

    def _fresh_ratio(self, precision: int) -> tuple[Fraction, Fraction]:
        """Bounds of it without the first factor."""
        rate, one, count = self.weighting.rate, 1 << precision, int(self.cells.count[-1])
        other = exp_bounds(rate * max(self._near), precision)
        fall = exp_bounds(rate, precision)
        low, high = (Fraction(one + o, count * (one - f)) for o, f in zip(other, fall, strict=True))
        return low, high

    @cached_property
    def _fresh_height(self) -> float:
        """-ln of it, seldom asked for."""
        first = 2 * self.weighting.rate * int(self.cells.count[-1])
        return float(first - Fraction(log_bounds(self._fresh_ratio(192)[0], 128)[0], 1 << 128))

    def _starts_afresh(self, lead: int, bits: int, words: Words) -> bool:
        first = 2 * self.weighting.rate * int(self.cells.count[-1])
        while True:
            precision = bits + 64
            low, high = self._fresh_ratio(precision)
            lo, hi = exp_bounds(first, precision)
            if lead + 1 << 64 <= lo * low:
                return True
            if lead << 64 >= hi * high:
                return False
            lead, bits = lead << 64 | words(), bits + 64


@lru_cache(maxsize=64)
def _blocks(rate: Fraction, nats: int, share: Fraction) -> tuple[int, int]:
    """(points a cell, cells) of a side without an end. Public."""
    each = max(1, ceil(share / rate))
    return each, max(2, ceil(nats / (rate * each)))


def _ranges(rate: Fraction, points: int | None) -> tuple[IntArray, IntArray]:
    """How many points are before a side's cells and in them, outwards."""
    each, many = _blocks(rate, NATS, SHARE)
    if points is None:
        return np.arange(many) * each, np.full(many, each)
    if points == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    each = min(each, points)
    cells = min(many + 1, -(-points // each))
    count = np.full(cells, each)
    count[-1] = points - (cells - 1) * each  # the rest, however much it is
    return np.arange(cells) * each, count


def _parts(number: Fraction) -> tuple[float, float]:
    """The greatest double <= a number >= 0, and the rest; it is > 0 unless the double is exact."""
    head = float(number)
    head = head if Fraction(head) <= number else nextafter(head, 0.0)
    rest = number - Fraction(head)
    return head, float(rest) or (5e-324 if rest else 0.0)


def _rounded_down(
    head: FloatArray, tail: FloatArray, offset: IntArray
) -> tuple[FloatArray, FloatArray]:
    """(doubles <= head + tail + offset, what they lack, to its own digits); offsets < 2**53."""
    whole = offset.astype(np.float64)
    total = head + whole
    part = total - head
    lost = (head - (total - part)) + (whole - part)  # head + whole = total + lost (Knuth)
    below = np.where(lost < 0, np.nextafter(total, 0.0), total)
    return below, ((total - below) + lost) + tail
