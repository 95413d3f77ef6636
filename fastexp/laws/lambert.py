"""Lambert's W: the solution w of w * exp(w) = z."""

from __future__ import annotations

import math


def lambert_w(z: float) -> float:
    """W(z) for z >= 0, to about an ulp.

    Fritsch, Shafer and Crowley, "Algorithm 443: Solution of the transcendental equation
    w exp(w) = x" (1973): each step raises the error to the fourth power.
    """
    if z == 0.0 or z == math.inf:
        return z
    w = math.log1p(z)  # above W by a factor that grows like ln ln z
    if z > 3.0:
        w -= math.log(w)
    for _ in range(3):
        rest = math.log(z / w) - w
        one = 1.0 + w
        twice = 2.0 * one * (one + rest * (2.0 / 3.0))
        w += w * (rest / one) * ((twice - rest) / (twice - 2.0 * rest))
    return w
