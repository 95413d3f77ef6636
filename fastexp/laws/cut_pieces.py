"""Pieces that are cut at given points, and sums of them at many rates."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._typing import AnyArray, FloatArray
from .elementary import quiet
from .piece_shapes import times
from .pieces import Pieces, Weights

FAR = 745.0  # nats: terms that are smaller count for nothing in float64


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
    size = (stops - starts).astype(np.float64)
    some = pieces.some(at)
    loss, steep, flip = some.loss, some.steep, some.flip
    if steep is not None and flip is not None:
        before = (starts - start[at]).astype(np.float64)
        after = (np.append(start[1:], starts.dtype.type(end))[at] - stops).astype(np.float64)
        loss = loss + times(steep, np.where(flip, after, before))
    parts = Pieces(some.shape, size, size, loss, steep, flip)
    return Parts(parts, starts, stops - starts.dtype.type(some.shape.slack))


def gains_at(losses: FloatArray, gains: FloatArray) -> Callable[[float], bool]:
    """Whether the sum of gains * exp(-rate * losses) is at least 0, of a rate.

    Equal losses become one term, so that what is in gains and costs cancels.
    """
    distinct, place = np.unique(losses, return_inverse=True)
    net, ahead = np.bincount(place, gains), distinct - distinct[0]

    @quiet
    def meets(rate: float) -> bool:
        near = ahead[: ahead.searchsorted(FAR / rate, "right")]
        return bool(np.exp(-rate * near) @ net[: near.size] >= 0.0)

    return meets


def mean_at(pieces: Pieces, first: AnyArray, last: AnyArray) -> Callable[[float], float]:
    """The expected value of something at a rate, which is linear on each piece.

    `first` and `last` are its values at the first and the last output of a piece.
    """
    flip = np.zeros(first.size, np.bool_) if pieces.flip is None else pieces.flip
    at_best, growth = np.where(flip, last, first), np.sign(last - first) * np.where(flip, -1.0, 1.0)

    @quiet
    def mean(rate: float) -> float:
        weights = Weights(pieces, rate)
        depth = pieces.shape.depth(weights.fall, pieces.size)
        return float(weights.masses @ (at_best + growth * depth))

    return mean
