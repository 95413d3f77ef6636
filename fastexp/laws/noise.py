"""The exact law of a median with noise, clamped to its bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._numbers.noise import simulate
from .._parameters import validate
from .._randomness.sampling import Sampling
from .._typing import AnyArray, ArrayLike, FloatArray
from ..errors import ParameterError, PrecisionError
from .elementary import quiet
from .law import probability_levels
from .noises import ClampedNoise, Noise
from .number import NumberLaw, Tails
from .targets import Target


class NoiseLaw(NumberLaw):
    """The distribution of clamp(T + s*Z) for a statistic T, a scale s and a symmetric noise Z.

    Made by ``mechanism.law(data)`` of `LaplaceMedian` and `SmoothSensitivityMedian`. It holds
    the data's statistic and scale, or the records: **it is private data**; its repr shows
    nothing of them.

    Parameters
    ----------
    noise : Noise
        The law of Z (`fastexp.laws.noises`).
    kind : (str, float)
        Its name and its parameter, for draws.
    centre, scale : float
        T, within the bounds, and s >= 0; with s = 0 every output is T.
    bounds : (float, float)
        Outputs are clamped to them: there is mass at both.
    epsilon : float
        In nats.
    scales : callable, optional
        The scale at any epsilon, where it is known to fall as epsilon grows.

    Notes
    -----
    Cdf, mean, variance and expected error are closed forms in E min(|Z|, r).

    **Numerics**: float64, to a relative 1e-13 (of variances and means of far truths: of their
    terms), by NumPy's elementary functions: the same bits for the same NumPy and CPU.

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
    NoiseLaw(LaplaceMedian(epsilon=1.0, bounds=(0, 10)))
    """

    def __init__(
        self,
        noise: Noise,
        kind: tuple[str, float],
        centre: float,
        scale: float,
        bounds: tuple[float, float],
        epsilon: float,
        scales: Callable[[float], float] | None = None,
    ) -> None:
        self._noise, self._kind, self._epsilon = noise, kind, epsilon
        self._centre, self._scale, self._bounds = np.array([centre]), np.array([scale]), bounds
        self.truth, self._scales = centre, scales
        self._output = ClampedNoise(noise, self._centre, self._scale, bounds)
        # Seen from the centre: distances near it keep their digits.
        offset_bounds = bounds[0] - centre, bounds[1] - centre
        self._offset = ClampedNoise(noise, np.zeros(1), self._scale, offset_bounds)

    def _identity(self) -> tuple[object, ...]:
        return self._epsilon, self._kind, self._bounds, self._centre, self._scale

    def quantile(self, p: ArrayLike) -> float | AnyArray:
        """The same as `ppf`.

        Parameters
        ----------
        p

        Returns
        -------
        float or ndarray of float64
            The shape of `p`, within the bounds.
        """
        levels = probability_levels(p)
        return self.ppf(levels.item() if levels.ndim == 0 else levels)

    def _split(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self._output.tails(x)

    @quiet
    def _invert(self, p: FloatArray) -> FloatArray:
        if self._scale[0] == 0.0:
            return np.full(p.size, self._centre[0])
        low, high = self._bounds
        return np.clip(self._centre + self._scale * self._noise.quantile(p), low, high)

    def _mean(self) -> float:
        return float(self._centre[0] + self._offset.bias()[0])

    def _variance(self) -> float:
        return float(self._offset.variance()[0])

    def _expected_errors(self, truth: FloatArray) -> FloatArray:
        return self._offset.expected_error(truth - self._centre)

    def _holds(self, target: Target) -> Callable[[float], bool]:
        if not target.of_errors:
            raise ParameterError(f"{target.name} needs utilities: take error or expected_error")
        if self._scales is None:
            raise PrecisionError(
                "epsilon_for needs the scale of the noise at each epsilon, which this calibration "
                "searches for"
            )
        target = target.about(lambda: self.truth)
        truth, limit = np.array([float(target.truth)]), np.array([target.limit])

        def holds(epsilon: float) -> bool:
            law = self._at(epsilon)
            if target.probability is None:
                return bool(law._expected_errors(truth)[0] <= target.limit)
            return bool(law._within(truth, limit, np.array([target.probability]))[0])

        return holds

    def _rises(self, target: Target) -> bool:
        """Errors fall with the scale s, which falls as epsilon grows, where this is shown.

        P(-a <= s*Z <= b) does where a and b >= 0; elsewhere it is at most 1/2. The expected error
        from a truth within the bounds is a constant plus half of m(r) + m(q) - 2*m(g), with
        m(r) = E min(s*|Z|, r), where r and q are the distances of the centre from the bounds and g
        that from the truth. Its slope in s has the sign of n(r) + n(q) - 2*n(g), with n(r) = the
        expectation of |Z| where s*|Z| <= r, which rises with r: g <= r and g <= q is enough.
        """
        truth = target.about(lambda: self.truth).truth
        away, (low, high) = abs(truth - self._centre[0]), self._bounds
        if target.probability is not None:
            return bool(away <= target.limit) or target.probability > 0.5
        return bool(away <= min(high - self._centre[0], self._centre[0] - low))

    def _at(self, epsilon: float) -> NoiseLaw:
        scale = 0.0 if self._scales is None else self._scales(epsilon)
        return NoiseLaw(
            self._noise, self._kind, float(self._centre[0]), scale, self._bounds, epsilon
        )

    def _support(self) -> tuple[float, float]:
        return self._bounds

    def _farthest(self, x: FloatArray) -> FloatArray:
        (low, high), offset = self._offset.bounds, x - self._centre
        farthest = np.maximum(np.abs(offset - low), np.abs(offset - high))
        return np.asarray(np.nextafter(farthest, np.inf))

    @quiet
    def _window(self, x: FloatArray, r: FloatArray) -> tuple[Tails, Tails]:
        offset = x - self._centre
        return self._offset.before(offset - r), self._offset.tails(offset + r)

    def _draw(self, sampling: Sampling) -> float | FloatArray:
        size, threads = validate.size(sampling.size), validate.threads(sampling.threads)
        names = validate.streams(sampling.streams, 1)
        if sampling.method is not None:
            raise ParameterError("method must be None: these draws have one kernel")
        rows = simulate(
            self._kind, self._centre, self._scale, self._bounds, sampling.rng, names, size, threads
        )
        return float(rows[0]) if size is None else rows[0]
