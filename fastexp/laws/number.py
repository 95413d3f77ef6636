"""What all laws of private numbers have in common: the face that their users see."""

from __future__ import annotations

import copy
from abc import abstractmethod
from fractions import Fraction
from typing import Any, Self

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._typing import AnyArray, ArrayLike, FloatArray, RNGLike, SeedLike
from ..errors import ParameterError
from .law import Law, finite, probability_levels, shaped_as
from .losses import PAIRS, Losses, LossSums
from .pieces import cdf_of, least_number, quiet, reached
from .weights import Distances, Pieces, Place, Weights


class NumberLaw(Law):
    """The exact distribution of a private number on one data set.

    `GridLaw` (what is released) and `ContinuousLaw` (what the papers write down) have this
    face. Errors are absolute differences from a `truth`, which the caller states; losses are
    best utility minus obtained utility, in units of the utility.
    """

    def __init__(
        self, pieces: Pieces, best: float, unit: Fraction, rate: Fraction, epsilon: float
    ) -> None:
        self._pieces, self._best, self._unit = pieces, best, unit
        self._shared: list[Losses] = []  # made at first use, for every epsilon
        self._set(rate, epsilon)

    def _set(self, rate: Fraction, epsilon: float) -> None:
        self._rate, self._epsilon = rate, epsilon
        self._weights = Weights(self._pieces, float(rate))
        self._loss_sums: LossSums | None = None

    def _identity(self) -> tuple[Any, ...]:
        p = self._pieces
        public = self._epsilon, self._rate, self._unit, self._best
        return *public, p.size, p.gap, p.loss, p.steep, p.flip

    @property
    def epsilon(self) -> float:
        """The mechanism's epsilon, in nats."""
        return self._epsilon

    @property
    def log_normalizer(self) -> float:
        """ln of the sum (on a grid) or integral of exp(c * utility), c the mechanism's rate."""
        check_rounding()
        return float(self._rate / self._unit) * self._best + self._weights.log_total

    def cdf(self, x: ArrayLike) -> Any:
        """P(output <= x), elementwise, rounded down.

        Parameters
        ----------
        x : array_like
            Any numbers; infinite ones too.

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `x`.

        Raises
        ------
        ParameterTypeError, ParameterError
            If x is not numbers, or NaN.
        """
        check_rounding()
        at = self._numbers("x", x)
        return shaped_as(at, cdf_of(*self._split(at.reshape(-1))))

    def ppf(self, p: ArrayLike) -> Any:
        """The least x with P(output <= x) >= p, elementwise; the lowest possible one at p = 0.

        Parameters
        ----------
        p : array_like
            In [0, 1]. Above 1/2 the decision is P(output > x) <= 1 - p, so that p = 1 gives
            the last x that is possible at all.

        Returns
        -------
        number or ndarray
            The shape of `p`; of the type of the outputs.

        Raises
        ------
        ParameterTypeError, ParameterError
            If p is not numbers in [0, 1].
        """
        check_rounding()
        levels = probability_levels(p)
        return shaped_as(levels, self._invert(levels.reshape(-1)))

    def mean(self) -> float:
        """The expected output."""
        check_rounding()
        return self._absolute(self._mean_offset())

    def var(self) -> float:
        """The variance of the output."""
        check_rounding()
        spread = self._weights.spread(self._offsets(), self._mean_offset())
        return spread * self._scale * self._scale

    def _mean_offset(self) -> float:
        return self._weights.mean(self._offsets())

    def expected_error(self, truth: ArrayLike) -> Any:
        """E|output - truth|, elementwise: in closed form, all terms >= 0.

        Parameters
        ----------
        truth : array_like
            Finite numbers, possible as outputs or not.

        Returns
        -------
        float or ndarray of float64
            The shape of `truth`.

        Raises
        ------
        ParameterTypeError, ParameterError
            If truth is not finite numbers.
        """
        check_rounding()
        at = finite("truth", self._numbers("truth", truth))
        place, distances = self._around(at.reshape(-1))
        return shaped_as(at, self._weights.error(place, distances) * self._scale)

    def error_quantile(self, p: ArrayLike, truth: ArrayLike) -> Any:
        """The least r with P(|output - truth| <= r) >= p, elementwise.

        Parameters
        ----------
        p : array_like
            In [0, 1].
        truth : array_like
            Finite numbers; broadcast against `p`.

        Returns
        -------
        float or ndarray of float64
            The broadcast shape.

        Raises
        ------
        ParameterTypeError, ParameterError
            If p is not in [0, 1], truth not finite, or they do not fit together.
        """
        check_rounding()
        levels, centre = probability_levels(p), finite("truth", self._numbers("truth", truth))
        try:
            levels, centre = np.broadcast_arrays(levels, centre)
        except ValueError:
            raise ParameterError("p and truth must have shapes that fit together") from None
        flat, at = levels.reshape(-1), centre.reshape(-1)
        found = self._error_quantiles(flat, at)
        low, high = self._support()
        endless = np.where((flat == 1.0) & (high - low == np.inf), np.inf, found)
        return shaped_as(levels, endless)

    def _error_quantiles(self, p: FloatArray, truth: AnyArray) -> FloatArray:
        """The least doubles r that are `_within`."""
        return least_number(self._farthest(truth), lambda r, i: self._within(truth[i], r, p[i]))

    @quiet
    def _within(self, truth: AnyArray, r: FloatArray, p: FloatArray) -> Any:
        """Whether P(|output - truth| <= r) >= p, from whichever sums keep most digits."""
        (below_a, above_a), (below_b, above_b) = self._window(truth, r)
        outside = below_a + above_b
        inside = np.where(above_a <= 0.5, above_a - above_b, 1.0 - outside)
        inside = np.where(below_b <= 0.5, below_b - below_a, inside)
        return np.where(p <= 0.5, inside >= p, outside <= 1.0 - p)

    def expected_loss(self) -> float:
        """The expected loss, in units of the utility."""
        check_rounding()
        return self._losses.mean()

    def expected_utility(self) -> float:
        """The expected utility of the output, in units of the utility."""
        check_rounding()
        return self._best - self.expected_loss()

    def loss_cdf(self, t: ArrayLike) -> Any:
        """P(loss <= t), elementwise, rounded down.

        Parameters
        ----------
        t : array_like
            In units of the utility.

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `t`.

        Raises
        ------
        ParameterTypeError, ParameterError
            If t is not numbers, or NaN.
        """
        check_rounding()
        at = validate.reals("t", t)
        return shaped_as(at, cdf_of(*self._losses.at(at.reshape(-1))))

    def loss_tail(self, t: ArrayLike) -> Any:
        """P(loss >= t), elementwise, summed from the far end: small tails keep their digits.

        Parameters
        ----------
        t : array_like
            In units of the utility.

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `t`.

        Raises
        ------
        ParameterTypeError, ParameterError
            If t is not numbers, or NaN.
        """
        check_rounding()
        at = validate.reals("t", t)
        before = np.nextafter(at.reshape(-1), -np.inf)  # losses are doubles: none is between
        return shaped_as(at, np.where(before < 0, 1.0, self._losses.at(before)[1]))

    def loss_quantile(self, p: ArrayLike) -> Any:
        """The least loss t with P(loss <= t) >= p, elementwise.

        Parameters
        ----------
        p : array_like
            In [0, 1].

        Returns
        -------
        float or ndarray of float64
            In units of the utility, the shape of `p`.

        Raises
        ------
        ParameterTypeError, ParameterError
            If p is not numbers in [0, 1].
        """
        check_rounding()
        levels, losses = probability_levels(p), self._losses
        flat = levels.reshape(-1)
        most = np.full(flat.shape, self._all_losses.greatest)
        ways = max(2, PAIRS // (4 * self._all_losses.sloped.size + 1))  # each costs a pass there
        found = least_number(most, lambda t, i: reached(*losses.at(t), flat[i]), min(ways, 256))
        endless = (flat == 1.0) & np.isinf(most)
        return shaped_as(levels, np.where(endless, np.inf, found))

    @property
    def _all_losses(self) -> Losses:
        if not self._shared:
            self._shared.append(Losses(self._pieces, self._unit))
        return self._shared[0]

    @property
    def _losses(self) -> LossSums:
        if self._loss_sums is None:
            self._loss_sums = LossSums(self._all_losses, self._weights)
        return self._loss_sums

    def with_epsilon(self, epsilon: float, *, any_epsilon: bool = False) -> Self:
        """The law of the same data at another epsilon; whatever does not depend on it is shared.

        Parameters
        ----------
        epsilon : float
            In nats.
        any_epsilon : bool
            Lift the limits of [1e-9, 1e6].
        """
        check_rounding()
        e = validate.epsilon(epsilon, validate.flag("any_epsilon", any_epsilon))
        made = copy.copy(self)
        made._move(self._rate * Fraction(e) / Fraction(self._epsilon), e)
        return made

    def _move(self, rate: Fraction, epsilon: float) -> None:
        """Make a copy the law at another epsilon."""
        self._set(rate, epsilon)

    @abstractmethod
    def sample(
        self,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
    ) -> Any:
        """Simulation draws of this law."""

    @property
    @abstractmethod
    def _scale(self) -> float:
        """A unit of the pieces' sizes, as a difference of outputs."""

    @abstractmethod
    def _offsets(self) -> FloatArray:
        """The means of pieces, in sizes from an origin near the heaviest one."""

    @abstractmethod
    def _absolute(self, offset: float) -> float:
        """The number that is `offset` from that origin."""

    @abstractmethod
    def _support(self) -> tuple[float, float]:
        """The lowest and the highest output."""

    @abstractmethod
    def _split(self, x: AnyArray) -> tuple[FloatArray, FloatArray]:
        """P(output <= x) and P(output > x)."""

    @abstractmethod
    def _invert(self, p: FloatArray) -> Any:
        """Quantiles."""

    @abstractmethod
    def _around(self, x: AnyArray) -> tuple[Place, Distances]:
        """The places of finite numbers, and their distances in sizes."""

    @abstractmethod
    def _window(self, x: AnyArray, r: FloatArray) -> tuple[Any, Any]:
        """P(output < x - r) and its complement, P(output <= x + r) and its complement."""

    def _numbers(self, name: str, value: ArrayLike) -> AnyArray:
        """What is compared with outputs."""
        return validate.reals(name, value)

    def _farthest(self, x: AnyArray) -> FloatArray:
        """At least the greatest |output - x|."""
        low, high = self._support()
        farthest = np.maximum(np.abs(x - low), np.abs(high - x))
        return np.asarray(np.nextafter(farthest, np.inf))
