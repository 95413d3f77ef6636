"""Targets of accuracy of laws whose log-density is linear on pieces, as comparisons by rate.

Pieces are cut so that each lies on one side of the truth, or of the limit. Flat pieces of equal
loss become one term.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import AnyArray, FloatArray
from .certified import Comparison
from .decaying_sums import all_digits, by_level, compared, linear
from .elementary import quiet
from .losses import Losses
from .piece_shapes import times
from .pieces import Pieces
from .targets import Target


class Parts(NamedTuple):
    """Pieces that lie between cuts, and the first and the last number or point of each."""

    pieces: Pieces
    start: AnyArray
    last: AnyArray


@quiet
def cut(pieces: Pieces, start: AnyArray, end: float, cuts: AnyArray) -> Parts:
    """Pieces that start where `start` says, the last one up to `end`, cut before each of `cuts`."""
    inside = cuts[(cuts > start[0]) & (cuts < end)]
    starts = np.unique(np.concatenate([start, inside]))
    at = np.searchsorted(start, starts, "right") - 1
    stops = np.append(starts[1:], starts.dtype.type(end))
    before = (starts - start[at]).astype(np.float64)
    size = (stops - starts).astype(np.float64)
    some = pieces.some(at)
    loss, steep, flip = some.loss, some.steep, some.flip
    if steep is not None and flip is not None:
        after = np.append(start[1:], starts.dtype.type(end))[at] - stops
        loss = loss + np.where(flip, times(steep, after), times(steep, before))
    parts = Pieces(some.shape, size, size, loss, steep, flip)
    return Parts(parts, starts, stops - starts.dtype.type(some.shape.slack))


@all_digits()
def losses_within(losses: Losses, target: Target) -> tuple[Comparison, Comparison]:
    """P(loss <= limit)."""
    pieces, limit = losses.pieces, np.array([target.limit])
    if pieces.steep is None or not losses.sloped.size:
        return within(pieces, losses.units.utility(pieces.loss) <= limit, target)
    near, (few, many) = losses.near(target.limit), target.odds
    far = pieces.size - near
    begin = pieces.loss + times(pieces.steep, near)
    inner = Pieces(pieces.shape, near, near, pieces.loss, pieces.steep)
    outer = Pieces(pieces.shape, far, far, begin, pieces.steep)
    some = np.flatnonzero(near > 0.0), np.flatnonzero(far > 0.0)
    both = compared(linear(inner.some(some[0]), few), linear(outer.some(some[1]), many))
    return both, both


@all_digits()
def expected_losses(losses: Losses, target: Target) -> tuple[Comparison, Comparison]:
    """The expected loss."""
    pieces = losses.pieces
    limit = float(losses.units.loss(np.array([target.limit]))[0])
    if not losses.sloped.size:
        return by_level(pieces.loss, limit * pieces.size, pieces.loss * pieces.size)
    both = compared(linear(pieces, limit), linear(pieces, pieces.loss, pieces.steep))
    return both, both


@all_digits()
def expected_errors(
    parts: Parts, first: FloatArray, last: FloatArray, limit: float
) -> tuple[Comparison, Comparison]:
    """The expected error; `first` and `last`: distances of the parts' ends from the truth."""
    pieces = parts.pieces
    if pieces.steep is None or pieces.flip is None:
        middle = first / 2.0 + last / 2.0
        return by_level(pieces.loss, limit * pieces.size, middle * pieces.size)
    at_best = np.where(pieces.flip, last, first)
    growth = np.where((first < last) == pieces.flip, -1.0, 1.0)
    both = compared(linear(pieces, limit), linear(pieces, at_best, growth))
    return both, both


@all_digits()
def within(pieces: Pieces, inside: AnyArray, target: Target) -> tuple[Comparison, Comparison]:
    """P(the pieces inside) against that of the others."""
    few, many = target.odds
    if pieces.steep is None:
        size = pieces.size
        return by_level(pieces.loss, few * size * inside, many * size * ~inside)
    a, b = pieces.some(np.flatnonzero(inside)), pieces.some(np.flatnonzero(~inside))
    both = compared(linear(a, few), linear(b, many))
    return both, both
