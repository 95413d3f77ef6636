"""Sums of exponentials that decay with a rate, and the logarithms of two of them compared.

The logarithm of a sum of terms c * exp(-x * loss), c > 0, is convex in the rate x (Hoelder), and
its slope is minus the mean loss under these terms. The same holds of integrals, such as those of
pieces on which loss and c are linear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import numpy as np

from .._typing import AnyArray, FloatArray
from ..errors import PrecisionError
from .certified import Comparison, Gap
from .elementary import quiet
from .pieces import Pieces

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
