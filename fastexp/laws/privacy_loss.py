"""The exact privacy loss between two laws: how well an output tells their data sets apart.

With P and Q the two laws, the loss of an output x is L(x) = ln P(x)/Q(x). A run has evenly
spaced points 0, 1, ..., size - 1, on which ln P, ln Q and hence L are linear; sums over it are
geometric and have closed forms. Nothing under- or overflows but probabilities below 1e-307.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._typing import ArrayLike, FloatArray, IntArray, Scalar, Values
from ..errors import ParameterError, PrecisionError
from ..pictures.cards import Card, TextRepr
from .elementary import elementwise, exp, expm1, log, log_sum_exp, quiet
from .pieces import POINTS, depth, log_weight

MAX_OUTPUTS = 1 << 24  # most outputs that are listed one by one
STEEP = 30.0  # nats beyond which exponentials are summed by their logarithms
NEAR = 1e-4  # least abs(order - 1) for losses of 1 nat: dividing by less magnifies rounding errors
Change: TypeAlias = FloatArray | float


class Steps(NamedTuple):
    """The change from each point of a run to the next one, shape (m,) or 0."""

    first: Change = 0.0  # of ln P
    second: Change = 0.0  # of ln Q
    loss: Change = 0.0


class LossPieces(NamedTuple):
    """Runs of outputs, as arrays of shape (m,). Private data.

    `first`, `second` and `loss` are ln P, ln Q and L at a run's first point. The loss is not the
    difference of the others: it is computed from small numbers, and keeps more digits.
    """

    size: FloatArray
    first: FloatArray
    second: FloatArray
    loss: FloatArray
    start: IntArray  # the index of a run's first point
    steps: Steps = Steps()

    @property
    def reverse(self) -> LossPieces:
        """The runs of Q against P."""
        steps = Steps(self.steps.second, self.steps.first, -self.steps.loss)
        return LossPieces(self.size, self.second, self.first, -self.loss, self.start, steps)

    @property
    def highest(self) -> FloatArray:
        """The greatest loss of each run, which is at one of its ends."""
        return np.maximum(self.loss, self.loss + self.steps.loss * (self.size - 1.0))

    @property
    def worst(self) -> int:
        """The index of a point of the greatest loss: the likelier end of the likeliest run."""
        top = float(self.highest.max())
        near = self.highest >= (top - 1e-12 * (1.0 + abs(top)) if abs(top) < np.inf else top)
        run = int(np.where(near, self.log_mass, -np.inf).argmax())
        first, _, loss = (np.broadcast_to(step, self.size.shape)[run] for step in self.steps)
        last = (loss, first) > (0.0, 0.0)
        return int(self.start[run]) + (int(self.size[run]) - 1 if last else 0)

    @property
    def log_mass(self) -> FloatArray:
        """ln of P(run)."""
        return self.first + log_sum(self.steps.first, self.size)

    @quiet
    def delta(self, epsilon: float) -> float:
        """Return the sum of P - exp(epsilon) * Q over all outputs with L > epsilon.

        These are the first or the last points of a run. If rounding puts a point on the wrong side,
        its loss is about epsilon, and it adds about 0.
        """
        first, second, loss = self.steps
        if not np.any(loss):
            above = self.loss > epsilon
            share = -expm1(epsilon - self.loss[above])
            return float((exp(self.log_mass[above]) * share).sum())
        cross = (epsilon - self.loss) / loss
        before = np.where(loss > 0, np.floor(cross) + 1.0, 0.0)
        after = np.where(loss < 0, np.ceil(cross), self.size)
        flat = (loss == 0) & (self.loss <= epsilon)
        before = np.clip(np.where(flat, self.size, before), 0.0, self.size)
        count = np.maximum(np.clip(after, 0.0, self.size) - before, 0.0)
        of_first, of_second = log_sum(first, count), log_sum(second, count)
        mass = exp(self.first + first * before + of_first)
        ratio = (self.loss + loss * before) + (of_first - of_second)
        terms = mass * np.maximum(-expm1(epsilon - ratio), 0.0)
        return float(terms[count > 0].sum())

    @quiet
    def renyi(self, order: float) -> float:
        """Return the Rényi divergence of P from Q, of a finite order > 0.

        With b = order - 1, the sum of P * exp(b L) is 1 + the sum of P * (exp(b L) - 1 +
        b (exp(-L) - 1)), as both laws sum to 1: the terms are of one sign, so that no digits are
        lost where losses are small. For order 1 the same holds of P * (L - 1 + exp(-L)). Orders
        close to 1 are interpolated linearly between these two, with an error of about NEAR**2.
        """
        ends = np.abs([self.highest.max(), self.reverse.highest.max()])
        near = NEAR / max(1.0, float(ends.max()))
        if near == 0.0 or not 0.0 < abs(order - 1.0) < near:
            return self._renyi(order)
        share = abs(order - 1.0) / near
        beside = self._renyi(1.0 + near if order > 1.0 else 1.0 - near)
        return (1.0 - share) * self._renyi(1.0) + share * beside

    def _renyi(self, order: float) -> float:
        b, log_mass, (first, second, loss) = order - 1.0, self.log_mass, self.steps
        of_first = log_sum(first, self.size)
        ratio = self.loss + (of_first - log_sum(second, self.size))
        power = b * self.loss + (log_sum(first + b * loss, self.size) - of_first)
        mass, small = exp(log_mass), float(max(power.max(), (-ratio).max())) < STEEP
        if b == 0.0:
            mean = self.loss + loss * _mean_place(first, self.size)
            terms = mean + expm1(-ratio) if small else mean
            return float(np.where(mass > 0, mass * terms, 0.0).sum())
        if small:
            total = (mass * (expm1(power) + b * expm1(-ratio))).sum()
            return float(np.log1p(total)) / b
        return log_sum_exp(log_mass + power) / b

    def outputs(self) -> tuple[FloatArray, FloatArray]:
        """Return losses and probabilities of outputs, or of runs if no run has a slope."""
        first, _, loss = self.steps
        if not np.any(loss):
            return self.loss, exp(self.log_mass)
        if float(self.size.sum()) > MAX_OUTPUTS:
            raise ParameterError(
                "losses and probabilities are listed for grids of at most 2**24 points where "
                "losses differ within cells: use delta, epsilon and renyi"
            )
        count = self.size.astype(np.int64)
        run = np.repeat(np.arange(count.size), count)
        place = np.arange(run.size) - np.repeat(np.cumsum(count) - count, count)
        by_run = np.broadcast_to(loss, count.shape)[run], np.broadcast_to(first, count.shape)[run]
        return self.loss[run] + by_run[0] * place, exp(self.first[run] + by_run[1] * place)


@quiet
def log_sum(step: Change, size: FloatArray) -> FloatArray:
    """ln of the sum of exp(step * j), j = 0, ..., size - 1."""
    if not np.any(step):
        return log(size)
    steps = np.broadcast_to(step, size.shape)
    lift = np.where(steps > 0, steps * (size - 1.0), 0.0)
    return lift + log_weight(steps, size, POINTS)


@quiet
def _mean_place(step: Change, size: FloatArray) -> FloatArray:
    """The mean of j = 0, ..., size - 1 with weights exp(step * j)."""
    steps = np.broadcast_to(step, size.shape)
    mean = depth(steps, size, POINTS)
    mean = np.where(steps == 0, (size - 1.0) / 2, mean)
    return np.where(steps > 0, (size - 1.0) - mean, mean)


class PrivacyLoss(TextRepr):
    """The distribution of the privacy loss of one law P against another one, Q.

    Made by ``law.privacy_loss(other)``, of two data sets that neighbor each other: the loss of an
    output x is ln(P(x) / Q(x)), in nats, and x is drawn from P. **It is private data**; its repr
    shows nothing of it, and ``print`` does.

    It is one direction. A promise of ε or of (ε, δ) is about both: see `reverse`.

    Notes
    -----
    The mechanism's promise holds for this pair where `epsilon` at its δ is at most its ε, in both
    directions. A pair can refute a promise, and cannot prove one.

    **Numerics**: float64. On a grid, runs of points between the records of both data sets are one
    piece each, on which the loss is constant or linear: sums over them are closed forms, and the
    points are not looked at one by one. A loss errs by about 1e-14 in nats plus a few 2**-53 of
    the terms that it is a difference of (for a price, ε * the number of bids; with
    permute-and-flip 1e-12, as its law); a probability as in its law.

    References
    ----------
    Dwork and Rothblum, "Concentrated differential privacy", 2016 (the privacy loss as a random
    variable). Barthe and Olmedo, "Beyond differential privacy", ICALP 2013 (δ(ε) as a
    divergence). Mironov, "Rényi differential privacy", CSF 2017.

    Examples
    --------
    >>> import fastexp as fx
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 10), step=1)
    >>> loss = median.law([1, 2, 4, 7]).privacy_loss(median.law([1, 2, 4]))
    >>> round(loss.epsilon(), 6), round(loss.reverse.epsilon(), 6)
    (0.365385, 0.634615)
    >>> round(loss.delta(0.1), 6), round(loss.epsilon(0.01), 6), round(loss.renyi(2), 6)
    (0.144314, 0.349102, 0.150775)
    >>> dict(zip(loss.losses.round(4).tolist(), loss.probabilities.round(4).tolist()))
    {-0.6346: 0.1814, -0.1346: 0.1995, 0.3654: 0.6191}
    """

    def __init__(self, pieces: LossPieces, of: str, output: Callable[[int], Any]) -> None:
        if bool(np.isnan(pieces.loss).any()):
            raise PrecisionError("utilities must lie within half the range of float64 for a loss")
        self._pieces, self._of, self._output = pieces, of, output

    def __repr__(self) -> str:
        return f"PrivacyLoss(of={self._of})"

    def _card(self) -> Card:
        facts = [
            ("epsilon, the greatest loss", self.epsilon()),
            ("in the other direction", self.reverse.epsilon()),
            ("mean loss", self.renyi(1)),
            ("delta at epsilon = 0", self.delta(0.0)),
        ]
        return Card(f"Privacy loss of {self._of}", facts, private=True)

    @cached_property
    def reverse(self) -> PrivacyLoss:
        """The loss of the other law against this one."""
        return PrivacyLoss(self._pieces.reverse, self._of, self._output)

    @property
    def worst(self) -> Any:
        """An output of the greatest loss: a candidate or its index, a selection, or a number."""
        return self._output(self._pieces.worst)

    @cached_property
    def _most(self) -> float:
        return float(self._pieces.highest.max())

    @overload
    def delta(self, epsilon: Scalar) -> float: ...
    @overload
    def delta(self, epsilon: Values) -> FloatArray: ...
    def delta(self, epsilon: ArrayLike) -> float | FloatArray:
        """δ(ε), the hockey-stick divergence, elementwise: the sum of max(0, P - exp(ε) Q).

        The least δ with which P(S) <= exp(ε) Q(S) + δ for all sets S of outputs; the set of
        outputs whose loss exceeds ε is the worst one. δ(0) is the total variation distance.

        Parameters
        ----------
        epsilon : array_like
            In nats; any number.

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `epsilon`.

        Raises
        ------
        ParameterError, ParameterTypeError
            If an epsilon is not a number.
        """

        def deltas(wanted: FloatArray) -> FloatArray:
            return np.array([min(self._pieces.delta(e), 1.0) for e in wanted.tolist()])

        return elementwise(deltas, validate.reals("epsilon", epsilon))

    def epsilon(self, delta: float = 0.0) -> float:
        """ε(δ): the least ε >= 0 whose δ(ε) is at most `delta`.

        Parameters
        ----------
        delta : float
            In [0, 1]. At 0 it is the greatest loss of any output, however unlikely.

        Returns
        -------
        float
            In nats: the least double for which `delta` as it is computed is at most this one.

        Raises
        ------
        ParameterError, ParameterTypeError
            If `delta` is not in [0, 1].
        """
        check_rounding()
        most, low, high = validate.fraction("delta", delta), 0.0, max(self._most, 0.0)
        if most == 0.0 or self._pieces.delta(low) <= most:
            return high if most == 0.0 else low
        while low < (middle := low / 2 + high / 2) < high:  # δ falls as ε rises
            low, high = (low, middle) if self._pieces.delta(middle) <= most else (middle, high)
        return high

    def renyi(self, order: float) -> float:
        """The Rényi divergence of an order, in nats: ln(sum of P**order * Q**(1 - order)) over b.

        b is order - 1. Of order 1 it is the mean loss (Kullback and Leibler's divergence), of
        order infinity the greatest one.

        Parameters
        ----------
        order : float
            > 0; may be infinite.

        Returns
        -------
        float
            In nats, >= 0.

        Raises
        ------
        ParameterError, ParameterTypeError
            If `order` is not a number > 0.
        """
        check_rounding()
        if type(order) in (float, np.float64) and order == np.inf:
            return max(0.0, self._most)
        return max(0.0, self._pieces.renyi(validate.positive("order", order)))

    @property
    def losses(self) -> FloatArray:
        """The distinct losses in increasing order; of at most 2**24 outputs."""
        return self._outputs[0]

    @property
    def probabilities(self) -> FloatArray:
        """The probability of each of `losses`, of an output drawn from P."""
        return self._outputs[1]

    @cached_property
    def _outputs(self) -> tuple[FloatArray, FloatArray]:
        check_rounding()
        loss, mass = self._pieces.outputs()
        distinct, place = np.unique(loss, return_inverse=True)
        return distinct, np.bincount(place, weights=mass).astype(np.float64)
