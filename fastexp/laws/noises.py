"""The laws of noises that are symmetric about 0, elementwise: the parts of closed forms.

Of a noise Z, everything follows from three functions of arrays of numbers >= 0:

* `tail(z)` = P(|Z| > z);
* `mean_min(r)` = E min(|Z|, r), the integral of the tail: what clamping leaves of the error;
* `square_min(r)` = E min(Z**2, r**2).

`inverse(u, v)` is the z with P(|Z| > z) = u and P(|Z| <= z) = v = 1 - u, from whichever is
smaller. All to a relative 1e-13 for r from 0 to 1e300.

**Clamped**: Y = clamp(T + s*Z, a, b) with a <= T <= b; s = 0 gives Y = T. With
M(r) = E min(|Z|, r),

    E (Y - T)+ = s/2 * M((b - T)/s),    E (Y - T)- = s/2 * M((T - a)/s),

and these two make the bias (their difference), E|Y - T| (their sum) and every E|Y - t|.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .._typing import FloatArray
from .elementary import Elementwise, quiet
from .figures import Figures

MOST = 1e300  # a greater argument counts as this one: no closed form overflows
SERIES = 0.25
HALF_PI = math.pi / 2
ROOT = math.sqrt(0.5)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
NEAR = 2.0  # up to this many standard deviations integrals are taken by quadrature


class Noise(ABC):
    """A law that is symmetric about 0; every function works elementwise."""

    @abstractmethod
    def tail(self, z: FloatArray) -> FloatArray:
        """P(|Z| > z) for z >= 0."""

    @abstractmethod
    def inverse(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """The z >= 0 with P(|Z| > z) = u, where u + v = 1."""

    @abstractmethod
    def mean_min(self, r: FloatArray) -> FloatArray:
        """E min(|Z|, r) for r >= 0."""

    @abstractmethod
    def square_min(self, r: FloatArray) -> FloatArray:
        """E min(Z**2, r**2) for r >= 0."""

    def cdf(self, z: FloatArray) -> FloatArray:
        """P(Z <= z)."""
        half = 0.5 * self.tail(np.abs(z))
        return np.where(z < 0, half, 1.0 - half)

    def quantile(self, p: FloatArray) -> FloatArray:
        """The z with P(Z <= z) = p; infinite at 0 and 1."""
        size = self.inverse(2.0 * np.minimum(p, 1.0 - p), np.abs(2.0 * (p - 0.5)))
        return np.where(p < 0.5, -size, size)


class Laplace(Noise):
    """Density exp(-|z|) / 2."""

    def tail(self, z: FloatArray) -> FloatArray:
        """exp(-z)."""
        return np.asarray(np.exp(-z))

    @quiet
    def inverse(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """-ln(u)."""
        return np.where(v < 0.5, -np.log1p(-np.minimum(v, 0.5)), -np.log(u))

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

    @quiet
    def inverse(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """tan(v * pi/2)."""
        return np.where(v < 0.5, np.tan(HALF_PI * v), 1.0 / np.tan(HALF_PI * u))

    def mean_min(self, r: FloatArray) -> FloatArray:
        """(ln(1 + r**2) / 2 + r * acot(r)) / (pi/2)."""
        r = np.minimum(r, MOST)
        near = np.minimum(r, 1.0)
        log = np.where(r < 1.0, 0.5 * np.log1p(near * near), np.log(np.hypot(1.0, r)))
        return np.asarray((log + r * np.arctan2(1.0, r)) / HALF_PI)

    def square_min(self, r: FloatArray) -> FloatArray:
        """(r - atan(r) + r**2 * acot(r)) / (pi/2)."""
        r = np.minimum(r, MOST)
        return np.asarray((less_atan(r) + r * (r * np.arctan2(1.0, r))) / HALF_PI)


class StudentT(Noise):
    """Student's t with 3 degrees of freedom; w = z / sqrt(3)."""

    root: float = math.sqrt(3.0)

    def tail(self, z: FloatArray) -> FloatArray:
        """(acot(w) - w / (1 + w**2)) / (pi/2)."""
        w = np.minimum(z / self.root, MOST)
        near, v = np.minimum(w, 4.0), 1.0 / np.maximum(w, 4.0)
        close = np.arctan2(1.0, near) - near / (1.0 + near * near)
        return np.where(w < 4.0, close, v**3 / (1.0 + v * v) - less_atan(v)) / HALF_PI

    @quiet
    def inverse(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Invert by Newton's method: the mass up to w, or the tail's power -1/3."""
        near = np.minimum(v, 0.5)
        w = near * (math.pi / 4)  # below the root, and the mass is concave
        for _ in range(8):
            square = 1.0 + w * w
            w += (near * HALF_PI - np.arctan(w) - w / square) * square * square / 2
        far = np.cbrt(2.0 / (3.0 * HALF_PI * u))
        for _ in range(8):
            tail, square = self.tail(self.root * far), 1.0 + far * far
            over_slope = tail * square * (square * (HALF_PI / 2.0))
            far -= 3.0 * over_slope * np.where(u > 0.0, np.cbrt(u / tail) - 1.0, 0.0)
        return self.root * np.where(v < 0.5, w, np.where(u == 0.0, np.inf, far))

    def mean_min(self, r: FloatArray) -> FloatArray:
        """r * acot(w) / (pi/2)."""
        r = np.minimum(r, MOST)
        return np.asarray(r * np.arctan2(self.root, r) / HALF_PI)

    def square_min(self, r: FloatArray) -> FloatArray:
        """3 * (w**2 * acot(w) - w + atan(w)) / (pi/2)."""
        w = np.minimum(r / self.root, MOST)
        near, v = np.minimum(w, 1.0), 1.0 / np.maximum(w, 1.0)
        close = near * near * np.arctan2(1.0, near) - less_atan(near)
        return 3.0 * np.where(w < 1.0, close, np.arctan(w) - less_atan(v) / v / v) / HALF_PI


class ParetoTail(Noise):
    """Density exp(-|z|) up to |z| = 3, exp(-3) * (3/|z|)**3 beyond; up to a constant."""

    core: float = 3.0
    mass: float = 1.0 + 0.5 * math.exp(-3.0)  # of the half-line
    beyond: float = 1.5 * math.exp(-3.0) / mass  # P(|Z| > 3)
    lift: float = 0.5 * math.exp(-3.0) / mass  # 1 - 1/mass

    def tail(self, z: FloatArray) -> FloatArray:
        """1 - (1 - exp(-z)) / mass in the core, beyond * (3/z)**2 after it."""
        close = self.lift + np.exp(-np.minimum(z, self.core)) / self.mass
        return np.where(z < self.core, close, self.beyond * (self.core / np.maximum(z, 3.0)) ** 2)

    @quiet
    def inverse(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """A logarithm in the core, a root after it."""
        far = self.core * np.sqrt(self.beyond / u)
        inside = np.where(v < 0.5, -np.log1p(-self.mass * v), -np.log(self.mass * (u - self.lift)))
        return np.where(u < self.beyond, far, np.minimum(inside, self.core))

    def mean_min(self, r: FloatArray) -> FloatArray:
        """The tail's integral."""
        near, far = np.minimum(r, self.core), np.clip(r, self.core, MOST)
        close = self.lift * near - np.expm1(-near) / self.mass
        return np.asarray(close + self.beyond * self.core * (1.0 - self.core / far))

    def square_min(self, r: FloatArray) -> FloatArray:
        """The integral of 2 * r * tail(r)."""
        near, far = np.minimum(r, self.core), np.clip(r, self.core, MOST)
        close = self.lift * near * near + 2.0 * _second_gamma(near) / self.mass
        return np.asarray(close + 2.0 * self.beyond * self.core**2 * np.log(far / self.core))


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


def _elementwise(function: Callable[[float], float]) -> Elementwise:
    every = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(every(x), np.float64)


erf: Elementwise = _elementwise(math.erf)
erfc: Elementwise = _elementwise(math.erfc)
_inverse = _elementwise(NormalDist().inv_cdf)


def normal_size(u: FloatArray, v: FloatArray) -> FloatArray:
    """The n >= 0 with P(|N| > n) = u, where u + v = 1."""
    inside = np.clip(0.5 * u, 1e-320, 0.5)
    n = -_inverse(inside)
    slope = 2 * ROOT * math.sqrt(2 / math.pi) * ROOT * np.exp(-0.5 * n * n)
    near = n + (v - erf(n * ROOT)) / np.maximum(slope, 0.1)  # digits of small n: Newton's step
    return np.where(v < 0.5, near, np.where(u == 0.0, np.inf, n))


class ArsinhNormal(Noise):
    """sinh(sigma * N) / sigma of a standard normal number N (Bun and Steinke 2019)."""

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma

    def _deviations(self, z: FloatArray) -> FloatArray:
        return np.asarray(np.arcsinh(self.sigma * z) / self.sigma)

    def tail(self, z: FloatArray) -> FloatArray:
        """P(|N| > asinh(sigma * z) / sigma)."""
        return erfc(ROOT * self._deviations(z))

    def inverse(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """sinh(sigma * n) / sigma of the normal law's n."""
        return np.asarray(np.sinh(self.sigma * normal_size(u, v)) / self.sigma)

    def mean_min(self, r: FloatArray) -> FloatArray:
        """E of sinh(sigma * |N|) / sigma where that is below r, and of r elsewhere."""
        c, s = self._deviations(r), self.sigma
        near = np.minimum(c, NEAR)
        inside = 2.0 / s * _integral(np.sinh, s, near)
        more = _between(near - s, c - s) - _between(near + s, c + s)
        return np.asarray(inside + math.exp(s * s / 2) / s * more + _product(r, erfc(ROOT * c)))

    def square_min(self, r: FloatArray) -> FloatArray:
        """The same of squares; sinh(x)**2 = (cosh(2x) - 1) / 2."""
        c, s = self._deviations(r), self.sigma
        near = np.minimum(c, NEAR)
        inside = 2.0 / s**2 * _integral(lambda x: np.sinh(x) ** 2, s, near)
        even = _between(near - 2 * s, c - 2 * s) + _between(near + 2 * s, c + 2 * s)
        more = (math.exp(2 * s * s) * even - 2.0 * _between(near, c)) / (2.0 * s * s)
        return np.asarray(inside + more + _product(r, _product(r, erfc(ROOT * c))))


def _integral(f: object, sigma: float, c: FloatArray) -> FloatArray:
    """The integral of f(sigma * x) times the normal density over [0, c], c <= NEAR."""
    x = 0.5 * c[..., None] * (NODES + 1.0)
    values = f(sigma * x) * np.exp(-0.5 * x * x)  # type: ignore[operator]  # f takes arrays
    return np.asarray(0.5 * c * (values @ WEIGHTS) / math.sqrt(2 * math.pi))


def _between(low: FloatArray, high: FloatArray) -> FloatArray:
    """P(low < N < high), low <= high, by the tails of the side where they lie."""
    flip = low < 0
    below = erfc(ROOT * np.where(flip, -high, low)) - erfc(ROOT * np.where(flip, -low, high))
    return 0.5 * below


def _product(r: FloatArray, p: FloatArray) -> FloatArray:
    """r * p, and 0 where p is 0."""
    return np.where(p > 0, np.minimum(r, 1e300) * p, 0.0)


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

    def expected_error(self, truth: FloatArray | None = None) -> FloatArray:
        """E|Y - truth|; the truth is T by default."""
        below, above = self.sides()
        if truth is None:
            return below + above
        low, high = self.bounds
        gap = np.abs(np.clip(truth, low, high) - self.centre)
        inside = (below + above) + (gap - self._mean_min(gap))
        # Outside of the bounds all outputs lie on one side.
        over = (truth - self.centre) - (above - below)
        return np.where(truth > high, over, np.where(truth < low, -over, inside))

    @quiet
    def variance(self) -> FloatArray:
        """Var Y."""
        low, high = self.bounds
        below = self.noise.square_min(self._ratio(self.centre - low))
        above = self.noise.square_min(self._ratio(high - self.centre))
        mean = self.bias()
        square = self.scale * (self.scale * (0.5 * (below + above)))
        return np.where(self.scale > 0, np.maximum(square - mean * mean, 0.0), 0.0)

    def figures(self, truths: FloatArray | None, names: Collection[str]) -> Figures:
        """Those of some figures that are known, from the truths; None: from T."""
        figures: Figures = {}
        if "error" in names:
            figures["error"] = self.expected_error(truths)
        if "bias" in names or "error_square" in names:
            bias = self.bias() + (0.0 if truths is None else self.centre - truths)
            figures["bias"] = bias
        if "error_square" in names:
            figures["error_square"] = self.variance() + bias**2
        return figures

    def tails(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(Y <= x) and P(Y > x), each to its own digits."""
        half = 0.5 * self.noise.tail(self._ratio(np.abs(x - self.centre)))
        still = self.scale == 0.0
        half = np.where(still & (x != self.centre), 0.0, half)
        above = np.where((x < self.centre), 1.0 - half, np.where(still, 0.0, half))
        below = np.where((x < self.centre), half, np.where(still, 1.0, 1.0 - half))
        inside, over = x >= self.bounds[0], x >= self.bounds[1]
        below = np.where(inside, np.where(over, 1.0, below), 0.0)
        return below, np.where(inside, np.where(over, 0.0, above), 1.0)

    def before(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(Y < x) and P(Y >= x): by symmetry P(-Y > -x) and P(-Y <= -x)."""
        low, high = self.bounds
        mirrored = ClampedNoise(self.noise, -self.centre, self.scale, (-high, -low))
        at_least, less = mirrored.tails(-x)
        return less, at_least

    @quiet
    def _ratio(self, distance: FloatArray) -> FloatArray:
        """distance / scale, at most MOST; 0 if the distance is 0."""
        return np.where(distance > 0, np.minimum(distance / self.scale, MOST), 0.0)

    def _mean_min(self, distance: FloatArray) -> FloatArray:
        """E min(s*|Z|, distance)."""
        mean = self.scale * self.noise.mean_min(self._ratio(distance))
        return np.where(self.scale > 0, mean, 0.0)
