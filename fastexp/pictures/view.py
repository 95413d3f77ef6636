"""The part of an axis that is in a picture of private numbers, and how high a law is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._parameters.grid import Grid
from .._parameters.text import readable
from .._typing import AnyArray, FloatArray, IntArray

FEW, MANY = 160, 8000  # points whose probabilities are shown; steps of a density
BINS = 2000  # of a finer grid
TAIL = 0.005  # of the probability is out of sight at either end
LEAST = 0.0005  # probability that is worth a note


class Outputs(Protocol):
    """The law of a private number; on a grid it has `pmf` too."""

    def cdf(self, x: Any) -> Any:
        """P(output <= x)."""
        ...

    def ppf(self, p: Any) -> Any:
        """The least x with P(output <= x) >= p."""
        ...


class View(NamedTuple):
    """The ends of bins in sight; the grid points, if each bin is one; whether they are few."""

    edges: FloatArray
    points: AnyArray | None
    few: bool


def in_sight(laws: Sequence[Any], truths: Sequence[Any], grid: Grid | None) -> View:
    """The truths and nearly all of the laws, on one grid or on none."""
    ends = [float(law.ppf(p)) for law in laws for p in (TAIL, 1 - TAIL)]
    ends += [truth for truth in truths if truth is not None]
    if grid is None:
        return _of_densities(laws, [end for end in ends if np.isfinite(end)])
    low, high = grid.index(np.array([min(ends), max(ends)], np.float64)).tolist()
    margin = max(2, (high - low) // 12)
    return part(grid, max(0, low - margin), min(grid.size - 1, high + margin))


def part(grid: Grid, first: int, last: int) -> View:
    """The grid points first..last."""
    points = last - first + 1
    bins = points if points <= MANY else BINS
    cuts = np.array([first + points * i // bins for i in range(bins + 1)])
    single = grid.values(cuts[:-1]) if bins == points else None
    return View(_edges(grid, cuts), single, points <= FEW)


def _of_densities(laws: Sequence[Any], ends: list[float]) -> View:
    """Bins within the support, whose ends may have a mass of their own: that is not in a bin."""
    low, high = min(ends), max(ends)
    margin = (high - low) / 12 or 1.0
    first = max(low - margin, min(np.nextafter(law.ppf(0.0), np.inf) for law in laws))
    last = min(high + margin, max(np.nextafter(law.ppf(1.0), -np.inf) for law in laws))
    return View(np.linspace(first, max(last, first + margin / 2), BINS + 1), None, False)


def outside(law: Outputs, view: View, grid: Grid | None) -> list[str]:
    """A note on the probability out of sight, or of a density at its bounds, if there is much."""
    if grid is None:
        low, high = float(law.ppf(0.0)), float(law.ppf(1.0))
        masses = (law.cdf(low), low), (1.0 - law.cdf(np.nextafter(high, -np.inf)), high)
        at_bounds = [f"{p:.1%} at {readable(x)}" for p, x in masses if p >= LEAST]
        if at_bounds:
            return [" and ".join(at_bounds)]
    low, high = law.cdf(view.edges[[0, -1]])
    out = 1.0 - (high - low)
    return [f"{out:.1%} lies outside the picture"] if out >= LEAST else []


def _edges(grid: Grid, cuts: IntArray) -> FloatArray:
    """Numbers half-way between the points on either side of each cut."""
    right = grid.values(np.minimum(cuts, grid.size - 1)).astype(np.float64)
    left = grid.values(np.maximum(cuts - 1, 0)).astype(np.float64)
    edges: FloatArray = left / 2 + right / 2
    if cuts[0] == 0:
        edges[0] -= (grid.values(cuts[:1] + 1)[0] - right[0]) / 2
    if cuts[-1] == grid.size:
        edges[-1] += (left[-1] - grid.values(cuts[-1:] - 2)[0]) / 2
    return edges


def heights_of(law: Any, view: View) -> FloatArray:
    """Probabilities of single points, or densities."""
    if view.points is not None:
        masses: FloatArray = law.pmf(view.points.astype(np.float64))
    else:
        masses = np.diff(law.cdf(view.edges)).clip(min=0)
    return masses if view.few else masses / np.diff(view.edges)
