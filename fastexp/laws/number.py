"""The face of all laws of private numbers: distribution function, quantiles, moments, errors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias, overload

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._typing import AnyArray, ArrayLike, FloatArray, Scalar, Values
from ..errors import ParameterError
from ..pictures.law_painters import Laws
from .elementary import cdf_of, least_number, quiet
from .law import Law, finite, probability_levels, shaped_as

Tails: TypeAlias = tuple[FloatArray, FloatArray]  # up to a number, and beyond it


class NumberLaw(Law[float, AnyArray]):
    """The exact distribution of a private number on one data set.

    `GridLaw` (what is released), `ContinuousLaw` (what the papers write down) and `NoiseLaw`
    (of the comparators) have this face. Errors are absolute differences from a `truth`, which
    the caller states.
    """

    _statistic: Callable[[], Any] | None = None

    @cached_property
    def truth(self) -> Any:
        """Not private: the statistic of the data that this law is of, without noise.

        A number; of records as they are, within the bounds or not (of modes and prices a point
        of the grid; of medians with noise within the bounds). None without records.

        Raises
        ------
        ParameterError
            If no mechanism made the law.
        """
        check_rounding()
        if self._statistic is None:
            raise ParameterError("truth needs a law that a mechanism made of data")
        return self._statistic()

    def _subject(self) -> Laws:
        known = self._statistic is not None or "truth" in vars(self)
        return Laws(self.mechanism, "output", [self], [self.truth if known else None])

    @overload
    def cdf(self, x: Scalar) -> float: ...
    @overload
    def cdf(self, x: Values) -> FloatArray: ...
    def cdf(self, x: ArrayLike) -> float | FloatArray:
        """P(output <= x), elementwise, rounded down.

        Parameters
        ----------
        x

        Returns
        -------
        float or ndarray of float64
            In [0, 1], the shape of `x`.

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        check_rounding()
        numbers = self._numbers("x", x)
        return shaped_as(numbers, cdf_of(*self._split(numbers.reshape(-1))))

    @overload
    def ppf(self, p: Scalar) -> float: ...
    @overload
    def ppf(self, p: Values) -> AnyArray: ...
    def ppf(self, p: ArrayLike) -> float | AnyArray:
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
        ParameterError, ParameterTypeError
        """
        check_rounding()
        levels = probability_levels(p)
        return shaped_as(levels, self._invert(levels.reshape(-1)))

    def mean(self) -> float:
        """The expected output."""
        check_rounding()
        return self._mean()

    def var(self) -> float:
        """The variance of the output."""
        check_rounding()
        return self._variance()

    def sd(self) -> float:
        """The standard deviation of the output."""
        check_rounding()
        return float(np.sqrt(self._variance()))

    @overload
    def expected_error(self, truth: Scalar) -> float: ...
    @overload
    def expected_error(self, truth: Values) -> FloatArray: ...
    def expected_error(self, truth: ArrayLike) -> float | FloatArray:
        """E|output - truth|, elementwise: in closed form, all terms >= 0.

        Parameters
        ----------
        truth

        Returns
        -------
        float or ndarray of float64
            The shape of `truth`.

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        check_rounding()
        truths = finite("truth", self._numbers("truth", truth))
        return shaped_as(truths, self._expected_errors(truths.reshape(-1)))

    @overload
    def error_quantile(self, p: Scalar, truth: Scalar) -> float: ...
    @overload
    def error_quantile(self, p: Values, truth: Scalar | Values) -> FloatArray: ...
    @overload
    def error_quantile(self, p: Scalar, truth: Values) -> FloatArray: ...
    def error_quantile(self, p: ArrayLike, truth: ArrayLike) -> float | FloatArray:
        """The least r with P(|output - truth| <= r) >= p, elementwise.

        Parameters
        ----------
        p, truth

        Returns
        -------
        float or ndarray of float64
            The broadcast shape.

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        check_rounding()
        levels, truths = probability_levels(p), finite("truth", self._numbers("truth", truth))
        try:
            levels, truths = np.broadcast_arrays(levels, truths)
        except ValueError:
            raise ParameterError("p and truth must have shapes that fit together") from None
        flat, centre = levels.flatten(), truths.flatten()  # copies: kernels take no broadcast ones
        quantiles = self._error_quantiles(flat, centre)
        low, high = self._support()
        endless = (flat == 1.0) & (high - low == np.inf)
        return shaped_as(levels, np.where(endless, np.inf, quantiles))

    def _error_quantiles(self, p: FloatArray, truth: AnyArray) -> FloatArray:
        """The least doubles r that are `_within`."""
        return least_number(self._farthest(truth), lambda r, i: self._within(truth[i], r, p[i]))

    @quiet
    def _inside(self, truth: AnyArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(|output - truth| <= r) and P(> r), from whichever sums keep most digits."""
        (below_a, above_a), (below_b, above_b) = self._window(truth, r)
        outside = below_a + above_b
        inside = np.where(above_a <= 0.5, above_a - above_b, 1.0 - outside)
        return np.where(below_b <= 0.5, below_b - below_a, inside), outside

    def _within(self, truth: AnyArray, r: FloatArray, p: FloatArray) -> AnyArray:
        """Whether P(|output - truth| <= r) >= p."""
        inside, outside = self._inside(truth, r)
        return np.where(p <= 0.5, inside >= p, outside <= 1.0 - p)

    def _numbers(self, name: str, value: ArrayLike) -> AnyArray:
        """An argument that is compared with outputs, as an array."""
        return validate.reals(name, value)

    @abstractmethod
    def _mean(self) -> float:
        """The mean."""

    @abstractmethod
    def _variance(self) -> float:
        """The variance."""

    @abstractmethod
    def _support(self) -> tuple[float, float]:
        """The lowest and the highest output."""

    @abstractmethod
    def _farthest(self, x: AnyArray) -> FloatArray:
        """At least the greatest |output - x|."""

    @abstractmethod
    def _split(self, x: AnyArray) -> Tails:
        """P(output <= x) and P(output > x)."""

    @abstractmethod
    def _window(self, x: AnyArray, r: FloatArray) -> tuple[Tails, Tails]:
        """P(output < x - r) and its complement, P(output <= x + r) and its complement."""

    @abstractmethod
    def _invert(self, p: FloatArray) -> AnyArray:
        """Quantiles."""

    @abstractmethod
    def _expected_errors(self, truth: AnyArray) -> FloatArray:
        """E|output - truth|."""
