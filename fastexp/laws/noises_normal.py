"""Noise made of a normal number: arsinh-normal, sinh(sigma * N) / sigma."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from .._typing import FloatArray
from .noises import Noise

ROOT = math.sqrt(0.5)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
NEAR = 2.0  # up to this many standard deviations integrals are taken by quadrature
_erf = np.frompyfunc(math.erf, 1, 1)
_erfc = np.frompyfunc(math.erfc, 1, 1)
_inverse = np.frompyfunc(NormalDist().inv_cdf, 1, 1)


def erf(x: FloatArray) -> FloatArray:
    """The error function, elementwise."""
    return np.asarray(_erf(x), dtype=np.float64)


def erfc(x: FloatArray) -> FloatArray:
    """Its complement, elementwise."""
    return np.asarray(_erfc(x), dtype=np.float64)


def normal_size(u: FloatArray, v: FloatArray) -> FloatArray:
    """The n >= 0 with P(|N| > n) = u, where u + v = 1."""
    inside = np.clip(0.5 * u, 1e-320, 0.5)
    n = -np.asarray(_inverse(inside), dtype=np.float64)
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
