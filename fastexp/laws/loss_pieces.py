"""Outputs on which two laws' log-ratio is known: single ones, or runs of them where it is linear.

With P and Q the two laws, the loss of an output x is L(x) = ln P(x)/Q(x). A run has evenly
spaced points 0, 1, ..., size - 1, on which ln P, ln Q and hence L are linear; sums over it are
geometric and have closed forms. Nothing under- or overflows but probabilities below 1e-307.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from .elementary import exp, expm1, log, quiet
from .piece_shapes import Points

MOST = 1 << 24  # outputs that are looked at one by one
STEEP = 30.0  # nats beyond which exponentials are summed by their logarithms
NEAR = 1e-4  # of order 1, for losses of a nat: a division by less would magnify rounding


class Steps(NamedTuple):
    """The change from each point of a run to the next one, shape (m,)."""

    first: FloatArray  # of ln P
    second: FloatArray  # of ln Q
    loss: FloatArray


class LossPieces(NamedTuple):
    """Runs of outputs, each shape (m,). Private data.

    `first`, `second` and `loss` are ln P, ln Q and L at a run's first point. The loss is not the
    difference of the others: it is computed from small numbers, and keeps more digits.
    """

    size: FloatArray
    first: FloatArray
    second: FloatArray
    loss: FloatArray
    start: IntArray  # the index of a run's first point
    steps: Steps | None = None  # None: none, the loss is constant on a run

    @property
    def reverse(self) -> LossPieces:
        """Of Q against P."""
        steps = self.steps and Steps(self.steps.second, self.steps.first, -self.steps.loss)
        return LossPieces(self.size, self.second, self.first, -self.loss, self.start, steps)

    @property
    def highest(self) -> FloatArray:
        """The greatest loss of each run: at one of its ends."""
        if self.steps is None:
            return self.loss
        return np.maximum(self.loss, self.loss + self.steps.loss * (self.size - 1.0))

    @property
    def worst(self) -> int:
        """The index of a point of the greatest loss; of several runs in the likeliest one."""
        top = float(self.highest.max())
        near = self.highest >= (top - 1e-12 * (1.0 + abs(top)) if abs(top) < np.inf else top)
        run = int(np.where(near, self.log_mass, -np.inf).argmax())
        last = self.steps is not None and bool(self.steps.loss[run] > 0)
        return int(self.start[run]) + (int(self.size[run]) - 1 if last else 0)

    @property
    def log_mass(self) -> FloatArray:
        """ln of P(run)."""
        return self.first + log_sum(self.steps and self.steps.first, self.size)

    @quiet
    def delta(self, epsilon: float) -> float:
        """The sum of P - exp(epsilon) * Q over all outputs with L > epsilon.

        In a run they are the first or the last points; one that rounding puts on the wrong side
        has a loss of about epsilon, and adds about 0.
        """
        if self.steps is None:
            above = self.loss > epsilon
            share = -expm1(epsilon - self.loss[above])
            return float((exp(self.log_mass[above]) * share).sum())
        cross = (epsilon - self.loss) / self.steps.loss
        before = np.where(self.steps.loss > 0, np.floor(cross) + 1.0, 0.0)
        after = np.where(self.steps.loss < 0, np.ceil(cross), self.size)
        flat = (self.steps.loss == 0) & (self.loss <= epsilon)
        before = np.clip(np.where(flat, self.size, before), 0.0, self.size)
        count = np.clip(after, 0.0, self.size) - before
        some = count > 0
        mass, ratio = self._part(before[some], count[some], some)
        return float((mass * np.maximum(-expm1(epsilon - ratio), 0.0)).sum())

    def _part(
        self, before: FloatArray, count: FloatArray, some: AnyArray
    ) -> tuple[FloatArray, FloatArray]:
        """P of `count` points of some runs, after the first `before`, and ln of P/Q of these."""
        first, second, loss = (step[some] for step in self.steps or ())
        of_first, of_second = log_sum(first, count), log_sum(second, count)
        mass = exp(self.first[some] + first * before + of_first)
        return mass, (self.loss[some] + loss * before) + (of_first - of_second)

    @quiet
    def renyi(self, order: float) -> float:
        """The Rényi divergence of P from Q, of a finite order > 0.

        With b = order - 1, the sum of P * exp(b L) is 1 + the sum of P * (exp(b L) - 1 +
        b (exp(-L) - 1)), as both laws sum to 1: the terms are of one sign, so that no digits are
        lost where losses are small. For order 1 the same holds of P * (L - 1 + exp(-L)). The
        orders next to 1 are on a line between these two: it is off by about NEAR**2.
        """
        ends = np.abs([self.highest.max(), self.reverse.highest.max()])
        near = NEAR / max(1.0, float(ends.max()))
        if near == 0.0 or not 0.0 < abs(order - 1.0) < near:
            return self._renyi(order)
        share = abs(order - 1.0) / near
        beside = self._renyi(1.0 + near if order > 1.0 else 1.0 - near)
        return (1.0 - share) * self._renyi(1.0) + share * beside

    def _renyi(self, order: float) -> float:
        b, log_mass = order - 1.0, self.log_mass
        ratio, mean, power = self.loss, self.loss, b * self.loss
        if self.steps is not None:
            first, second, loss = self.steps
            of_first = log_sum(first, self.size)
            ratio = self.loss + (of_first - log_sum(second, self.size))
            mean = self.loss + loss * _mean_place(first, self.size)
            power = b * self.loss + (log_sum(first + b * loss, self.size) - of_first)
        mass, small = exp(log_mass), float(max(power.max(), (-ratio).max())) < STEEP
        if b == 0.0:
            more = mean + expm1(-ratio) if small else mean
            return float(np.where(mass > 0, mass * more, 0.0).sum())
        if small:
            total = (mass * (expm1(power) + b * expm1(-ratio))).sum()
            return float(np.log1p(total)) / b
        terms = log_mass + power
        top = float(terms.max())
        return (top + float(log(np.array([exp(terms - top).sum()]))[0])) / b

    def outputs(self) -> tuple[FloatArray, FloatArray]:
        """(losses, P), an output each; of a run without slope once for all of it."""
        if self.steps is None:
            return self.loss, exp(self.log_mass)
        count = self.size.astype(np.int64)
        run = np.repeat(np.arange(count.size), count)
        place = np.arange(run.size) - np.repeat(np.cumsum(count) - count, count)
        loss = self.loss[run] + self.steps.loss[run] * place
        return loss, exp(self.first[run] + self.steps.first[run] * place)


@quiet
def log_sum(step: FloatArray | None, size: FloatArray) -> FloatArray:
    """ln of the sum of exp(step * j), j = 0, ..., size - 1."""
    if step is None:
        return log(size)
    lift = np.where(step > 0, step * (size - 1.0), 0.0)
    return lift + Points().log_weight(np.abs(step), size)


@quiet
def _mean_place(step: FloatArray, size: FloatArray) -> FloatArray:
    """The mean of j = 0, ..., size - 1 with weights exp(step * j)."""
    depth = Points().depth(np.abs(step), size)
    depth = np.where(step == 0, (size - 1.0) / 2, depth)
    return np.where(step > 0, (size - 1.0) - depth, depth)
