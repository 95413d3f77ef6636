"""The exact laws of Laplace noise on a public grid: within bounds, and on the whole line."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import ceil
from typing import NoReturn, Self

import numpy as np

from .._numbers.laplace import FINEST, LaplaceSampler, Truth
from .._typing import AnyArray, FloatArray
from ..errors import InvalidRecords, ParameterError
from .grid import GridLaw, minus_distances
from .pieces import POINTS, Pieces
from .privacy_loss import LossPieces
from .targets import rounded_up

UNSEEN = 750  # nats: exp(-750) is 0 in float64


def _cells(truth: Truth, left: int, right: int) -> Pieces:
    """Return the cells of a grid with `left` points up to the statistic and `right` above it."""
    phase = truth.phase
    least = min(phase, 1 - phase)  # if no point is above, the phase is 0
    loss = np.array([float(phase - least), float(1 - phase - least)])
    sides = slice(None) if right else slice(1)
    size, slope, start = np.array([[left, right], [-1.0, 1.0], [0, left]])[:, sides]
    best = -float(least * _step(truth))
    return Pieces(POINTS, size, size, loss[sides], slope, start.astype(np.int64), best)


def _step(truth: Truth) -> Fraction:
    return Fraction(*truth.grid.unit[1:])


def bounded_law(
    sampler: LaplaceSampler, epsilon: float, solve: Callable[[float], Fraction]
) -> GridLaw:
    """Return the law of `Laplace` within bounds; its rate is solved for at each epsilon."""
    truth = sampler.truth
    cells = _cells(truth, truth.below + 1, truth.grid.size - truth.below - 1)
    law = GridLaw(truth.grid, cells, _step(truth), sampler.weighting.rate, epsilon, sampler)
    law._utility, law._solve = partial(minus_distances, truth, -truth.below), solve
    law._by_distance = True
    return law


class LaplaceLaw(GridLaw):
    """The exact law of Laplace noise on all multiples of a step.

    Made by ``mechanism.law(f)``, with the interface of a `GridLaw`, except what would list the
    points, which have no end. It holds the statistic: **it is private data**.

    Notes
    -----
    P(m·step) = exp(-c·|f - m·step|)/Z, with Z = (exp(-c·a) + exp(-c·b))/(1 - exp(-c·step)), where
    a and b are the distances from f to the multiples below and above it.

    **Numerics**: as of `GridLaw`; what is 750 nats less likely than the best point counts as
    impossible, as it does in float64 (but `ppf` at 0 and 1 is infinite).

    References
    ----------
    Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms",
    STOC 2009 (f a multiple of the step: the two-sided geometric law).

    Examples
    --------
    >>> import fastexp as fx
    >>> law = fx.Laplace(epsilon=1.0, sensitivity=1, step=1).law(10)
    >>> law
    LaplaceLaw(Laplace(epsilon=1.0, sensitivity=1, step=1))
    >>> law.pmf([9, 10, 10.5]).round(6)
    array([0.170003, 0.462117, 0.      ])
    >>> law.mean(), round(law.expected_error(10), 6), law.ppf(0.975)
    (10.0, 0.850918, 13)
    """

    _sampler: LaplaceSampler
    _by_distance = True

    def __init__(self, sampler: LaplaceSampler, epsilon: float) -> None:
        truth, rate = sampler.truth, sampler.weighting.rate
        seen = ceil(UNSEEN / rate) + 1
        grid, last = truth.window(1 - seen, seen), 2 * seen - 1
        if grid.value(0) >= grid.value(1) or grid.value(last - 1) >= grid.value(last):
            raise InvalidRecords("f must be so small that points around it differ in float64")
        super().__init__(grid, _cells(truth, seen, seen), _step(truth), rate, epsilon, sampler)
        self._utility = partial(minus_distances, truth, 1 - seen)

    @property
    def grid(self) -> NoReturn:
        """Refused: the multiples of the step have no end."""
        self._all()

    def _all(self) -> NoReturn:
        raise ParameterError(
            "a law without bounds has infinitely many points: use pmf, cdf and ppf"
        )

    def _with_rate(self, rate: Fraction, epsilon: float) -> Self:
        if rate * FINEST < 1:
            raise ParameterError("epsilon must be at least sensitivity / step / 2**42")
        law = type(self)(self._sampler.with_rate(rate), epsilon)
        law._statistic = self._statistic
        return law

    def _outputs(self) -> tuple[object, ...]:
        _, s, d = self._grid.unit
        return self._epsilon, self._rate, self._unit, (s, d)

    def _against(self, other: Self) -> LossPieces:
        """Return the loss on the points that lie in the window of either law."""
        truths = [law._sampler.truth for law in (self, other)]
        seen = self._grid.size // 2
        low, high = (end(truth.below for truth in truths) for end in (min, max))
        first, second = (self._wide(t, t.below - low + seen, high - t.below + seen) for t in truths)
        pieces = first._against(second)
        return pieces._replace(start=pieces.start + (low - truths[0].below))

    def _wide(self, truth: Truth, left: int, right: int) -> GridLaw:
        """Return the law on `left` points up to a statistic and `right` points above it."""
        grid, cells = truth.window(1 - left, right), _cells(truth, left, right)
        return GridLaw(grid, cells, self._unit, self._rate, self._epsilon, self._sampler)

    def _support(self) -> FloatArray:
        return np.array([-np.inf, np.inf])

    @property
    def _least(self) -> float:
        return rounded_up(float(Fraction(self._epsilon) / self._rate / FINEST))

    def _invert(self, p: FloatArray) -> AnyArray:
        quantiles, inside = super()._invert(p), (p > 0.0) & (p < 1.0)
        if bool(inside.all()):  # integers stay integers
            return quantiles
        return np.where(inside, quantiles, np.where(p == 0.0, -np.inf, np.inf))
