"""The exact law of a median with noise, clamped to its bounds, by closed forms of the noise.

Everything follows from three functions of the noise Z, which take arrays of numbers >= 0:

* `tail(z)` = P(|Z| > z);
* `mean_min(r)` = E min(|Z|, r), the integral of the tail: the error that remains after clamping;
* `square_min(r)` = E min(Z**2, r**2).

All are accurate to a relative 1e-13 for r from 0 to 1e300.

**Clamped**: Y = clamp(T + s*Z, a, b) with a <= T <= b; s = 0 gives Y = T. With
M(r) = E min(|Z|, r),

    E (Y - T)+ = s/2 * M((b - T)/s),    E (Y - T)- = s/2 * M((T - a)/s),

and these two give the bias (their difference), E|Y - T| (their sum) and every E|Y - t|.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from .._numbers.noise import simulate
from .._parameters import validate
from .._randomness.sampling import Sampling
from .._typing import AnyArray, ArrayLike, FloatArray
from ..errors import ParameterError, PrecisionError
from .elementary import Tails, elementwise, least_number, quiet
from .figures import Figures
from .law import NumberLaw, probability_levels
from .targets import Target

MAX_ARGUMENT = 1e300  # greater arguments are cut to this one, so that no closed form overflows
SERIES = 0.25
HALF_PI = math.pi / 2
ROOT = math.sqrt(0.5)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
FAR = 12.0  # standard deviations beyond which an integral gains nothing, for sigma <= 1.2


class Noise(ABC):
    """The law of a noise that is symmetric about 0; all methods work elementwise."""

    @abstractmethod
    def tail(self, z: FloatArray) -> FloatArray:
        """P(|Z| > z) for z >= 0."""

    @abstractmethod
    def mean_min(self, r: FloatArray) -> FloatArray:
        """E min(|Z|, r) for r >= 0."""

    @abstractmethod
    def square_min(self, r: FloatArray) -> FloatArray:
        """E min(Z**2, r**2) for r >= 0."""

    def quantile(self, p: FloatArray) -> FloatArray:
        """The z with P(Z <= z) = p; infinite at 0 and 1."""
        u = 2.0 * np.minimum(p, 1.0 - p)
        size = least_number(np.full(p.size, MAX_ARGUMENT), lambda z, i: self.tail(z) <= u[i])
        return np.copysign(np.where(u > 0.0, size, np.inf), p - 0.5)


class Laplace(Noise):
    """Density exp(-|z|) / 2."""

    def tail(self, z: FloatArray) -> FloatArray:
        """exp(-z)."""
        return np.asarray(np.exp(-z))

    def mean_min(self, r: FloatArray) -> FloatArray:
        """1 - exp(-r)."""
        return np.asarray(-np.expm1(-r))

    def square_min(self, r: FloatArray) -> FloatArray:
        """2 - 2 * (1 + r) * exp(-r)."""
        return 2.0 * _second_gamma(r)


class Cauchy(Noise):
    """Density 1 / (pi * (1 + z**2))."""

    def tail(self, z: FloatArray) -> FloatArray:
        """acot(z) / (pi/2)."""
        return np.arctan2(1.0, z) / HALF_PI

    def mean_min(self, r: FloatArray) -> FloatArray:
        """(ln(1 + r**2) / 2 + r * acot(r)) / (pi/2)."""
        r = np.minimum(r, MAX_ARGUMENT)
        near = np.minimum(r, 1.0)
        log = np.where(r < 1.0, 0.5 * np.log1p(near * near), np.log(np.hypot(1.0, r)))
        return np.asarray((log + r * np.arctan2(1.0, r)) / HALF_PI)

    def square_min(self, r: FloatArray) -> FloatArray:
        """(r - atan(r) + r**2 * acot(r)) / (pi/2)."""
        r = np.minimum(r, MAX_ARGUMENT)
        return np.asarray((less_atan(r) + r * (r * np.arctan2(1.0, r))) / HALF_PI)


class StudentT(Noise):
    """Student's t with 3 degrees of freedom; w = z / sqrt(3)."""

    root: float = math.sqrt(3.0)

    def tail(self, z: FloatArray) -> FloatArray:
        """(acot(w) - w / (1 + w**2)) / (pi/2)."""
        w = np.minimum(z / self.root, MAX_ARGUMENT)
        near, v = np.minimum(w, 4.0), 1.0 / np.maximum(w, 4.0)
        close = np.arctan2(1.0, near) - near / (1.0 + near * near)
        return np.where(w < 4.0, close, v**3 / (1.0 + v * v) - less_atan(v)) / HALF_PI

    def mean_min(self, r: FloatArray) -> FloatArray:
        """r * acot(w) / (pi/2)."""
        r = np.minimum(r, MAX_ARGUMENT)
        return np.asarray(r * np.arctan2(self.root, r) / HALF_PI)

    def square_min(self, r: FloatArray) -> FloatArray:
        """3 * (w**2 * acot(w) - w + atan(w)) / (pi/2)."""
        w = np.minimum(r / self.root, MAX_ARGUMENT)
        near, v = np.minimum(w, 1.0), 1.0 / np.maximum(w, 1.0)
        close = near * near * np.arctan2(1.0, near) - less_atan(near)
        return 3.0 * np.where(w < 1.0, close, np.arctan(w) - less_atan(v) / v / v) / HALF_PI


class ParetoTail(Noise):
    """Density exp(-|z|) for |z| <= 3, otherwise exp(-3) * (3/|z|)**3; up to a constant."""

    core: float = 3.0
    mass: float = 1.0 + 0.5 * math.exp(-3.0)  # of the half-line
    far_mass: float = 1.5 * math.exp(-3.0) / mass  # P(|Z| > 3)
    lift: float = 0.5 * math.exp(-3.0) / mass  # 1 - 1/mass

    def tail(self, z: FloatArray) -> FloatArray:
        """1 - (1 - exp(-z)) / mass in the core, far_mass * (3/z)**2 after it."""
        close = self.lift + np.exp(-np.minimum(z, self.core)) / self.mass
        return np.where(z < self.core, close, self.far_mass * (self.core / np.maximum(z, 3.0)) ** 2)

    def mean_min(self, r: FloatArray) -> FloatArray:
        """The tail's integral."""
        near, far = np.minimum(r, self.core), np.clip(r, self.core, MAX_ARGUMENT)
        close = self.lift * near - np.expm1(-near) / self.mass
        return np.asarray(close + self.far_mass * self.core * (1.0 - self.core / far))

    def square_min(self, r: FloatArray) -> FloatArray:
        """The integral of 2 * r * tail(r)."""
        near, far = np.minimum(r, self.core), np.clip(r, self.core, MAX_ARGUMENT)
        close = self.lift * near * near + 2.0 * _second_gamma(near) / self.mass
        return np.asarray(close + 2.0 * self.far_mass * self.core**2 * np.log(far / self.core))


@quiet
def less_atan(x: FloatArray) -> FloatArray:
    """x - atan(x) for x >= 0, with nearly full relative precision."""
    square = np.minimum(x, SERIES) ** 2
    total = np.zeros_like(square)
    for k in range(15, 0, -1):
        total = 1.0 / (2 * k + 1) - square * total
    return np.where(x < SERIES, x * square * total, x - np.arctan(x))


def _second_gamma(r: FloatArray) -> FloatArray:
    """1 - (1 + r) * exp(-r) for r >= 0, with nearly full relative precision."""
    near = np.minimum(r, 1.0)
    total = np.ones_like(near)
    for k in range(20, 2, -1):  # exp(r) - 1 - r = r**2/2 * (1 + r/3 * (1 + r/4 * ...))
        total = 1.0 + near / k * total
    close = np.exp(-near) * (0.5 * near * near) * total
    return np.where(r < 1.0, close, 1.0 - (1.0 + np.minimum(r, 1e3)) * np.exp(-r))


def erfc(x: FloatArray) -> FloatArray:
    """The complementary error function."""
    return np.asarray(np.frompyfunc(math.erfc, 1, 1)(x), np.float64)


class ArsinhNormal(Noise):
    """The law of sinh(sigma * N) / sigma for a standard normal N (Bun and Steinke 2019)."""

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma

    def _deviations(self, z: FloatArray) -> FloatArray:
        return np.asarray(np.arcsinh(self.sigma * z) / self.sigma)

    def tail(self, z: FloatArray) -> FloatArray:
        """P(|N| > asinh(sigma * z) / sigma)."""
        return erfc(ROOT * self._deviations(z))

    def mean_min(self, r: FloatArray) -> FloatArray:
        """E min(sinh(sigma * |N|) / sigma, r)."""
        return self._moment(r, 1)

    def square_min(self, r: FloatArray) -> FloatArray:
        """E min((sinh(sigma * |N|) / sigma)**2, r**2)."""
        return self._moment(r, 2)

    def _moment(self, r: FloatArray, power: int) -> FloatArray:
        c = self._deviations(r)
        half = 0.5 * np.minimum(c, FAR)
        x = half[..., None] * (NODES + 1.0)
        values = (np.sinh(self.sigma * x) / self.sigma) ** power * np.exp(-0.5 * x * x)
        inside, outside = half * (values @ WEIGHTS) * math.sqrt(2 / math.pi), erfc(ROOT * c)
        for _ in range(power):
            outside = np.where(outside > 0, np.minimum(r, MAX_ARGUMENT) * outside, 0.0)
        return np.asarray(inside + outside)


@dataclass(frozen=True, eq=False, repr=False)
class ClampedNoise:
    """The laws of Y for arrays of centres T and scales s, within the same bounds (a, b)."""

    noise: Noise
    centre: FloatArray
    scale: FloatArray
    bounds: tuple[float, float]

    def sides(self) -> tuple[FloatArray, FloatArray]:
        """E (Y - T)- and E (Y - T)+."""
        low, high = self.bounds
        return 0.5 * self._mean_min(self.centre - low), 0.5 * self._mean_min(high - self.centre)

    def bias(self) -> FloatArray:
        """E Y - T."""
        below, above = self.sides()
        return above - below

    def expected_error(self, truth: FloatArray) -> FloatArray:
        """E|Y - truth|."""
        nearest = np.clip(truth, *self.bounds)
        gap = np.abs(nearest - self.centre)
        inside = sum(self.sides()) + (gap - self._mean_min(gap))
        return inside + np.abs(truth - nearest)  # all outputs lie on one side of an outer truth

    @quiet
    def variance(self) -> FloatArray:
        """Var Y."""
        low, high = self.bounds
        below = self.noise.square_min(self._ratio(self.centre - low))
        above = self.noise.square_min(self._ratio(high - self.centre))
        mean = self.bias()
        square = self.scale * (self.scale * (0.5 * (below + above)))
        return np.where(self.scale > 0, np.maximum(square - mean * mean, 0.0), 0.0)

    def figures(self, truths: FloatArray, names: Collection[str]) -> Figures:
        """Return those of the named figures that have closed forms."""
        bias = self.bias() + (self.centre - truths)
        square = self.variance() + bias**2
        every = {"error": self.expected_error(truths), "bias": bias, "error_square": square}
        return {name: every[name] for name in every if name in names}

    def tails(self, x: FloatArray) -> Tails:
        """P(Y <= x) and P(Y > x), each to its own digits."""
        half = 0.5 * self.noise.tail(self._ratio(np.abs(x - self.centre)))
        half = np.where(self.scale > 0, half, 0.0)
        left, (low, high) = x < self.centre, self.bounds
        below, above = np.where(left, half, 1.0 - half), np.where(left, 1.0 - half, half)
        below = np.where(x < low, 0.0, np.where(x >= high, 1.0, below))
        return below, np.where(x < low, 1.0, np.where(x >= high, 0.0, above))

    def before(self, x: FloatArray) -> Tails:
        """P(Y < x) and P(Y >= x): by symmetry P(-Y > -x) and P(-Y <= -x)."""
        low, high = self.bounds
        mirrored = ClampedNoise(self.noise, -self.centre, self.scale, (-high, -low))
        at_least, less = mirrored.tails(-x)
        return less, at_least

    @quiet
    def _ratio(self, distance: FloatArray) -> FloatArray:
        """distance / scale, at most MAX_ARGUMENT; 0 if the distance is 0."""
        return np.where(distance > 0, np.minimum(distance / self.scale, MAX_ARGUMENT), 0.0)

    def _mean_min(self, distance: FloatArray) -> FloatArray:
        """E min(s*|Z|, distance)."""
        mean = self.scale * self.noise.mean_min(self._ratio(distance))
        return np.where(self.scale > 0, mean, 0.0)


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
        # The law of the offset from the centre: small distances keep their digits.
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
        return elementwise(self._invert, probability_levels(p))

    def _split(self, x: FloatArray) -> Tails:
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
        return super()._holds(target)

    def _rises(self, target: Target) -> bool:
        """Whether errors are known to fall with the scale s, which falls as epsilon grows.

        P(-a <= s*Z <= b) rises as s falls if a and b >= 0; otherwise it is at most 1/2. The
        expected error from a truth within the bounds is a constant plus half of
        m(r) + m(q) - 2*m(g), with m(r) = E min(s*|Z|, r); r and q are the distances of the centre
        from the bounds, and g is its distance from the truth. Its slope in s has the sign of
        n(r) + n(q) - 2*n(g), with n(r) = the expectation of |Z| on s*|Z| <= r. As n rises with r,
        g <= r and g <= q are enough.
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

    def _support(self) -> FloatArray:
        return np.array(self._bounds)

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
