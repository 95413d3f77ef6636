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
from .certified import Gap
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


class Levels:
    """A side: logarithms of the coefficients of distinct losses, the least loss first."""

    def __init__(self, losses: FloatArray, logs: FloatArray) -> None:
        self._losses, self._logs = losses, logs
        if losses.size:
            self._least = float(losses[0])
            self._losses = losses - self._least
            self._most = float(self._losses[-1])
            self._reach = FAR + float(logs.max() - logs[0])

    @quiet
    def __call__(self, x: float) -> tuple[float, float]:
        """The logarithm and its slope."""
        losses = self._losses
        if not losses.size:
            return -math.inf, 0.0
        if self._most * x > self._reach:
            losses = losses[: losses.searchsorted(self._reach / x, "right")]
        heights = self._logs[: losses.size] - x * losses
        top = float(heights.max())
        terms = np.exp(heights - top)
        total = float(terms.sum())
        mean = float(terms @ losses) / total
        return top + math.log(total) - x * self._least, -(self._least + mean)


class Linear:
    """A side: pieces, each with a coefficient that is linear in the distance from its best end.

    `at_best` is the coefficient there, `growth` what it grows by for a unit of size; None: it is
    constant.
    """

    def __init__(
        self, pieces: Pieces, at_best: FloatArray | float, growth: FloatArray | None = None
    ) -> None:
        self._pieces, self._at_best, self._growth = pieces, at_best, growth
        self._steep = np.zeros(pieces.size.size) if pieces.steep is None else pieces.steep

    @quiet
    def __call__(self, x: float) -> tuple[float, float]:
        """The logarithm and its slope."""
        p, steep = self._pieces, self._steep
        if not p.size.size:
            return -math.inf, 0.0
        fall = x * steep
        depth = p.shape.depth(fall, p.size)
        logs = p.shape.log_weight(fall, p.size) - x * p.loss
        if self._growth is None:
            factors = np.broadcast_to(np.asarray(self._at_best), depth.shape)
            by_loss = factors * (p.loss + steep * depth)
        else:
            square = depth * depth + p.shape.variance(fall, p.size)
            factors = self._at_best + self._growth * depth
            by_loss = p.loss * factors + steep * (self._at_best * depth + self._growth * square)
        counting = factors > 0.0
        top = float(logs[counting].max(initial=-math.inf))
        if top == -math.inf:
            return -math.inf, 0.0
        terms = np.where(counting, np.exp(logs - top), 0.0)
        total = float((terms * factors).sum())
        slope = -float(np.where(terms > 0.0, terms * by_loss, 0.0).sum()) / total
        return top + math.log(total), slope


class Compared:
    """Whether one sum is at least another one, as `certified.Comparison` puts it."""

    def __init__(self, a: Side, b: Side) -> None:
        self._a, self._b = a, b

    def __call__(self, x: float) -> Gap:
        """At a rate."""
        (a, a_slope), (b, b_slope) = self._a(x), self._b(x)
        return Gap(a, b, a_slope, b_slope)


@all_digits()
def by_level(losses: FloatArray, gains: FloatArray, costs: FloatArray) -> tuple[Compared, Compared]:
    """Compare sums of gains and costs; rounded against the gains, and in their favour.

    Equal losses become one term, so that what is in both sums cancels; least losses count as 0.
    """
    order = np.argsort(losses, kind="stable")
    levels = losses[order]
    first = np.flatnonzero(np.append(True, levels[1:] != levels[:-1]))
    gain, cost = (np.add.reduceat(c[order], first) for c in (gains, costs))
    most = float(max(gain.max(), cost.max()))
    net, both = (gain - cost) / most, (gain + cost) / most
    with np.errstate(under="ignore"):
        slack = ROUNDED * both  # two bits at the least
    levels = levels[first] - levels[0]
    against, favour = net - slack, net + slack
    return signed(levels, against), signed(levels, favour)


@quiet
def signed(losses: FloatArray, net: AnyArray, logs: FloatArray | float = 0.0) -> Compared:
    """Compare the positive coefficients net * exp(logs) with the negative ones."""
    gain, cost, logs = net > 0.0, net < 0.0, logs + np.log(np.abs(net))
    return Compared(Levels(losses[gain], logs[gain]), Levels(losses[cost], logs[cost]))
