"""The exact law of a median with noise, clamped to its bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._compiler.rounding import check_rounding
from .._numbers import noise as _noise
from .._parameters import validate
from .._typing import ArrayLike, FloatArray, RNGLike, SeedLike
from ..errors import ParameterError
from . import noise_errors as errors
from .law import Law, finite, probability_levels, shaped_as
from .noises import Noise
from .pieces import cdf_of, least_number, quiet


class NoiseLaw(Law):
    """The distribution of clamp(T + s*Z) for a statistic T, a scale s and a symmetric noise Z.

    Made by ``mechanism.law(data)`` of `LaplaceMedian` and `SmoothSensitivityMedian`. It holds
    the data's statistic and scale: **it is private data**; its repr shows nothing of them.

    Parameters
    ----------
    noise : Noise
        The law of Z (`fastexp.laws.noises`).
    kind : (str, float)
        Its name and its own parameter, for draws.
    centre, scale : float
        T, within the bounds, and s >= 0; with s = 0 every output is T.
    bounds : (float, float)
        Outputs are clamped to them: there is mass at both.
    epsilon : float
        In nats.

    Notes
    -----
    Cdf, mean, variance and expected error are closed forms in E min(|Z|, r). **Numerics**:
    float64, to a relative 1e-13 (of variances and means of far truths: of their terms), by
    NumPy's elementary functions: the same bits for the same NumPy and CPU.

    References
    ----------
    Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data
    analysis", STOC 2007.

    Examples
    --------
    >>> import fastexp as fx
    >>> law = fx.LaplaceMedian(epsilon=1.0, bounds=(0, 10)).law([1, 2, 4, 7, 8])
    >>> round(law.mean(), 6), round(law.expected_error(4), 6)
    (4.607542, 3.904342)
    >>> law
    NoiseLaw(epsilon=1.0)
    """

    def __init__(
        self,
        noise: Noise,
        kind: tuple[str, float],
        centre: float,
        scale: float,
        bounds: tuple[float, float],
        epsilon: float,
    ) -> None:
        self._noise, self._kind, self._epsilon = noise, kind, epsilon
        self._centre, self._scale = np.array([centre]), np.array([scale])
        self._bounds = bounds
        # Seen from the centre: distances near it keep their digits.
        self._around = noise, np.zeros(1), self._scale, (bounds[0] - centre, bounds[1] - centre)

    def __repr__(self) -> str:
        return f"NoiseLaw(epsilon={self._epsilon!r})"

    def _identity(self) -> tuple[Any, ...]:
        return self._epsilon, self._kind, self._bounds, self._centre, self._scale

    @property
    def epsilon(self) -> float:
        """The mechanism's epsilon, in nats."""
        return self._epsilon

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
        at = validate.reals("x", x)
        whole = self._noise, self._centre, self._scale, self._bounds
        return shaped_as(at, cdf_of(*errors.tails(*whole, at.reshape(-1))))

    @quiet
    def ppf(self, p: ArrayLike) -> Any:
        """The least x with P(output <= x) >= p, elementwise; the lowest possible one at p = 0.

        Parameters
        ----------
        p : array_like
            In [0, 1].

        Returns
        -------
        float or ndarray of float64
            The shape of `p`, within the bounds.

        Raises
        ------
        ParameterTypeError, ParameterError
            If p is not numbers in [0, 1].
        """
        check_rounding()
        levels = probability_levels(p)
        if self._scale[0] == 0.0:
            return shaped_as(levels, np.full(levels.size, self._centre[0]))
        found = self._centre + self._scale * self._noise.quantile(levels.reshape(-1))
        return shaped_as(levels, np.clip(found, *self._bounds))

    def quantile(self, p: ArrayLike) -> Any:
        """The same as `ppf`.

        Parameters
        ----------
        p : array_like
            In [0, 1].

        Returns
        -------
        float or ndarray of float64
            The shape of `p`, within the bounds.
        """
        check_rounding()
        return self.ppf(p)

    def mean(self) -> float:
        """The expected output."""
        check_rounding()
        return float(self._centre[0] + errors.bias(*self._around)[0])

    def var(self) -> float:
        """The variance of the output."""
        check_rounding()
        return float(errors.variance(*self._around)[0])

    def sd(self) -> float:
        """The standard deviation of the output."""
        return float(np.sqrt(self.var()))

    def expected_error(self, truth: ArrayLike) -> Any:
        """E|output - truth|, elementwise, in closed form.

        Parameters
        ----------
        truth : array_like
            Finite numbers, within the bounds or not.

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
        at = finite("truth", validate.reals("truth", truth))
        offsets = at.reshape(-1) - self._centre
        return shaped_as(at, errors.expected_error(*self._around, offsets))

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
        levels, truths = probability_levels(p), finite("truth", validate.reals("truth", truth))
        try:
            levels, truths = np.broadcast_arrays(levels, truths)
        except ValueError:
            raise ParameterError("p and truth must have shapes that fit together") from None
        flat, at = levels.reshape(-1), truths.reshape(-1) - self._centre
        low, high = self._around[3]
        farthest = np.nextafter(np.maximum(np.abs(at - low), np.abs(at - high)), np.inf)
        widths = least_number(farthest, lambda r, i: self._within(at[i], r, flat[i]))
        return shaped_as(levels, widths)

    @quiet
    def _within(self, offset: FloatArray, r: FloatArray, p: FloatArray) -> Any:
        """Whether P(|output - truth| <= r) >= p, from whichever sums keep most digits."""
        below_a, above_a = errors.before(*self._around, offset - r)
        below_b, above_b = errors.tails(*self._around, offset + r)
        outside = below_a + above_b
        inside = np.where(above_a <= 0.5, above_a - above_b, 1.0 - outside)
        inside = np.where(below_b <= 0.5, below_b - below_a, inside)
        return np.where(p <= 0.5, inside >= p, outside <= 1.0 - p)

    def sample(
        self,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
    ) -> Any:
        """Simulation draws: the same bytes as the mechanism's `sample`. Not private.

        Parameters
        ----------
        size : int, optional
            How many draws; None: one, as a float. Fewer draws are a prefix of more.
        rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
            None: fresh from the operating system; else as in SPEC 7.
        streams : array_like of one int, optional
            The name of this row's stream; default 0.
        threads : int
            1; 0 for all. Never changes the draws.

        Returns
        -------
        float or ndarray of float64, shape (size,)
            Within the bounds.

        Raises
        ------
        ParameterError, ParameterTypeError
            If an argument is outside its range.
        """
        check_rounding()
        draws, workers = validate.size(size), validate.threads(threads)
        names = validate.streams(streams, 1)
        what = self._kind, self._centre, self._scale, self._bounds
        found = _noise.simulate(*what, rng, names, draws, workers)[0]
        return float(found) if draws is None else found
