"""Runs of outcomes whose probabilities fall geometrically from one end, the best one.

Of n outcomes, outcome j from that end has exp(-z * j) over the sum of these, z >= 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..data.grid import Grid
from ..types import Floats, Integers

quiet = np.errstate(all="ignore")
FLAT = 1e-14  # nats over a run that do not count


class Runs(NamedTuple):
    """A law: outcomes are points of a grid, runs follow each other from point 0 to the last one."""

    grid: Grid
    start: Integers  # a run's first point
    logs: Floats  # ln of a run's mass, up to a constant
    loss: Floats  # at the run's best end
    truth: Any = None  # what errors are from
    best: float | None = None  # the logarithm of the best weight, where weights have a normaliser
    fall: Any = None  # of ln of the probability, for each outcome from the best end; default: 0
    slope: Any = None  # of the loss, >= 0; default: 0
    rises: Any = None  # whether the best end is the last one; default: False


def sizes(start: Integers, end: int) -> Floats:
    """Return the numbers of points of runs up to an end."""
    out = np.empty(start.size)
    out[:-1], out[-1] = start[1:] - start[:-1], end - start[-1]
    return out


@quiet
def log_sum(z: Any, n: Any) -> Any:
    """Return ln of the sum of exp(-z * j), j < n, also for z < 0."""
    if not np.any(z):
        return np.log(n)
    a = np.abs(z)
    steep = np.log(np.expm1(-a * n) / np.expm1(-a))
    return np.where(a * n > FLAT, steep, np.log(n)) + np.where(z < 0, a * (n - 1), 0.0)


@quiet
def share(z: Any, k: Any, n: Any, rises: Any) -> Any:
    """Return the share of a run's mass in its first k outcomes, from the other end if it rises."""
    if not np.any(z):
        return k / n
    part = np.expm1(-z * k) / np.expm1(-z * n)
    return np.where(z * n > FLAT, np.where(rises, np.exp(-z * (n - k)) * part, part), k / n)


@quiet
def places(z: Any, n: Any) -> tuple[Any, Any]:
    """Return the mean and the variance of j."""
    if not np.any(z):
        return (n - 1) / 2, (n * n - 1) / 12
    x = z * n
    near = (n - 1) / 2 - z * (n * n - 1) / 12, (n * n - 1) / 12 * (1 - x * x / 20)
    mean = np.where(x > 1e-4, 1 / np.expm1(z) - n / np.expm1(x), near[0])
    one, all_of_it = ((y / np.sinh(y / 2) / z / 2) ** 2 for y in (z, x))
    return mean, np.where(x > 1e-2, one - all_of_it, near[1])
