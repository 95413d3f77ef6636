"""Sums of exponentials that decay with a rate, and the logarithms of two of them compared.

The logarithm of a sum of terms c * exp(-x * loss), c > 0, is convex in the rate x (Hoelder), and
its slope is minus the mean loss under these terms. The same holds of integrals, such as those of
pieces on which loss and c are linear.

**Pieces** are cut so that each lies on one side of the truth, or of the limit. Flat pieces of equal
loss become one term.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

import numpy as np

from .._typing import AnyArray, FloatArray
from ..errors import PrecisionError
from .certified import Comparison, Gap
from .elementary import quiet
from .losses import Losses
from .piece_shapes import times
from .pieces import Pieces
from .targets import Target

Side: TypeAlias = Callable[[float], tuple[float, float]]  # at a rate: the logarithm, its slope
ROUNDED = 2.0**-50  # what coefficients err by, relative to what they are differences of
FAR = 745.0  # nats: terms that are smaller count for nothing in float64
APART = "epsilon_for finds no proof: float64 cannot compare masses or limits so far apart"


@contextmanager
def all_digits() -> Iterator[None]:
    """Refuse coefficients that lose digits, as they are so small beside others."""
    try:
        with np.errstate(under="raise"):
            yield
    except FloatingPointError:
        raise PrecisionError(APART) from None


def levels(losses: FloatArray, logs: FloatArray) -> Side:
    """A side: logarithms of the coefficients of distinct losses, the least loss first."""
    if not losses.size:
        return lambda _: (-math.inf, 0.0)
    least, ahead = float(losses[0]), losses - losses[0]
    most, reach = float(ahead[-1]), FAR + float(logs.max() - logs[0])

    @quiet
    def side(x: float) -> tuple[float, float]:
        near = ahead
        if most * x > reach:
            near = ahead[: ahead.searchsorted(reach / x, "right")]
        heights = logs[: near.size] - x * near
        top = float(heights.max())
        terms = np.exp(heights - top)
        total = float(terms.sum())
        mean = float(terms @ near) / total
        return top + math.log(total) - x * least, -(least + mean)

    return side


def linear(p: Pieces, at_best: FloatArray | float, growth: FloatArray | None = None) -> Side:
    """A side: pieces, each with a coefficient that is linear in the distance from its best end.

    `at_best` is the coefficient there, `growth` what it grows by for a unit of size; None: it is
    constant.
    """
    if not p.size.size:
        return lambda _: (-math.inf, 0.0)
    steep = np.zeros(p.size.size) if p.steep is None else p.steep

    @quiet
    def side(x: float) -> tuple[float, float]:
        fall = x * steep
        depth = p.shape.depth(fall, p.size)
        logs = p.shape.log_weight(fall, p.size) - x * p.loss
        if growth is None:
            factors = np.broadcast_to(np.asarray(at_best), depth.shape)
            by_loss = factors * (p.loss + steep * depth)
        else:
            square = depth * depth + p.shape.variance(fall, p.size)
            factors = at_best + growth * depth
            by_loss = p.loss * factors + steep * (at_best * depth + growth * square)
        counting = factors > 0.0
        top = float(logs[counting].max(initial=-math.inf))
        if top == -math.inf:
            return -math.inf, 0.0
        terms = np.where(counting, np.exp(logs - top), 0.0)
        total = float((terms * factors).sum())
        slope = -float(np.where(terms > 0.0, terms * by_loss, 0.0).sum()) / total
        return top + math.log(total), slope

    return side


def compared(a: Side, b: Side) -> Comparison:
    """Whether one sum is at least another one."""

    def at(x: float) -> Gap:
        (of_a, a_slope), (of_b, b_slope) = a(x), b(x)
        return Gap(of_a, of_b, a_slope, b_slope)

    return at


@all_digits()
def by_level(
    losses: FloatArray, gains: FloatArray, costs: FloatArray
) -> tuple[Comparison, Comparison]:
    """Compare sums of gains and costs; rounded against the gains, and in their favour.

    Equal losses become one term, so that what is in both sums cancels; least losses count as 0.
    """
    order = np.argsort(losses, kind="stable")
    ordered = losses[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    gain, cost = (np.add.reduceat(c[order], first) for c in (gains, costs))
    most = float(max(gain.max(), cost.max()))
    net, both = (gain - cost) / most, (gain + cost) / most
    with np.errstate(under="ignore"):
        slack = ROUNDED * both  # two bits at the least
    distinct = ordered[first] - ordered[0]
    return signed(distinct, net - slack), signed(distinct, net + slack)


@quiet
def signed(losses: FloatArray, net: AnyArray, logs: FloatArray | float = 0.0) -> Comparison:
    """Compare the positive coefficients net * exp(logs) with the negative ones."""
    gain, cost, logs = net > 0.0, net < 0.0, logs + np.log(np.abs(net))
    return compared(levels(losses[gain], logs[gain]), levels(losses[cost], logs[cost]))


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
