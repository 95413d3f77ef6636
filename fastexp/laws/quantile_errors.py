"""Errors of several quantiles that are drawn at once: sums over sites, cut at limits of errors."""

from __future__ import annotations

from math import log

import numpy as np

from .._numbers.quantile_line import Line
from .._parameters.grid import Grid
from .._typing import AnyArray, FloatArray, IntArray
from .grid import places_within, step_size, steps_from
from .quantile_chain import Chain
from .quantile_marginals import share_of_first
from .quantile_targets import MAX_OFF, TARGET_CUTOFF, Bounds, bounded
from .targets import Target

MIN_ALLOWANCE = 2.0**-1000  # least share that a target is taken to allow for
EULER_POINTS = 64  # points per answer at which two terms of Euler and Maclaurin suffice


class SiteErrors:
    """Both sides of the comparison in a target of errors, at any epsilon, by one line of sites.

    Attributes
    ----------
    line : Line
        The line of the records, cut where errors begin to exceed the limit. For expected errors it
        is cut at the truths instead, or into single points if the grid lists its points.
    cutoff : float
        Nats below the sum at which chains may leave terms out, for `Bounds`.
    """

    def __init__(self, grid: Grid, line: Line, target: Target, truths: AnyArray) -> None:
        self._limit, self._probability = target.limit, target.probability
        if target.probability is None:
            ends = np.arange(grid.size) if not grid.even else grid.places(truths)
        else:
            limits = np.full(truths.size, target.limit)
            self._inside = np.array(places_within(grid, truths, limits))
            ends = self._inside.reshape(-1)
        self.line = line.cut(ends, grid.size)
        self._scale = float(step_size(grid))
        each, sides = truths[:, None], np.array([0, grid.size - 1])
        self._starts = np.array([steps_from(grid, truth, self.line.start) for truth in each])
        self._means = dict[tuple[int, int], FloatArray]()
        if target.probability is None:
            farthest = np.abs([steps_from(grid, truth, sides) for truth in each]).max()
            allowance = min(target.limit / (self._scale * farthest), 1.0)
        else:
            allowance = min(1.0 - target.probability, target.probability)
        self.cutoff: float = TARGET_CUTOFF - log(max(allowance, MIN_ALLOWANCE)) + log(truths.size)

    def bounds(self, chain: Chain) -> list[Bounds]:
        """Return the bounds of each quantile, by a chain of `line`."""
        return [self._bounds(chain.log_whole, j, places) for j, places in enumerate(chain.places)]

    def _bounds(self, whole: float, j: int, places: dict[tuple[int, int], FloatArray]) -> Bounds:
        if self._probability is None:
            error = self._scale * sum(
                float(masses @ np.abs(self._starts[j] + self._mean(r, k)))
                for (r, k), masses in places.items()
            )
            b = bounded(whole, error / self._limit)
            return Bounds((whole - MAX_OFF, whole + MAX_OFF), b, error <= self._limit)
        low, high = self._inside[:, j]
        inside = (low <= self.line.start) & (self.line.start < high)
        masses = np.array([*places.values()]).sum(axis=0)
        outside, allowance = float(masses[~inside].sum()), 1.0 - self._probability
        a, b = bounded(whole, float(masses[inside].sum())), bounded(whole, outside / allowance)
        many = log(self._probability)
        return Bounds(a, (b[0] + many, b[1] + many), outside <= allowance)

    def _mean(self, r: int, k: int) -> FloatArray:
        """Return the mean number of points of a site below the r-th of its k answers, by site."""
        if (r, k) not in self._means:
            points, place = np.unique(self.line.points, return_inverse=True)
            self._means[r, k] = mean_place(r, k, points, self.line.left)[place]
        return self._means[r, k]


def mean_place(r: int, k: int, points: IntArray, left: bool) -> FloatArray:
    """Return the mean number of points of each run below the r-th of its k answers.

    With ties "left" all multisets of answers are equally likely. Otherwise answers are independent,
    and sums over many points are by Euler and Maclaurin's formula, to 1e-8 of a point.
    """
    g = points.astype(np.float64)
    if left:
        return r * (g + k) / (k + 1) - r
    ends = k * (float(r == 1) - float(r == k))
    means: FloatArray = g * (r / (k + 1)) - 0.5 + ends / (12.0 * g)
    for i in np.flatnonzero(points < EULER_POINTS * k).tolist():
        first, run = np.arange(1, points[i]), np.full(points[i] - 1, g[i])
        means[i] = float((1.0 - share_of_first(r, k, first, run, left)).sum())
    return means
