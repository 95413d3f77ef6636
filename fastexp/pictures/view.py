"""The part of a grid that is in a picture of private numbers, and how high a law is there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._parameters.grid import Grid
from .._typing import FloatArray, IntArray

FEW, MANY = 160, 8000  # points whose probabilities are shown; steps of a density
BINS = 2000  # of a finer grid
TAIL = 0.005  # of the probability is out of sight at either end


class PointLaw(Protocol):
    """The law of a number on a public grid."""

    @property
    def grid(self) -> Grid:
        """The public points."""
        ...

    def cdf(self, x: Any) -> Any:
        """P(output <= x)."""
        ...

    def pmf(self, x: Any) -> Any:
        """P(output = x)."""
        ...

    def ppf(self, p: Any) -> Any:
        """The least x with P(output <= x) >= p."""
        ...


class View(NamedTuple):
    """The grid points in sight: cuts between their indices, and these as numbers."""

    cuts: IntArray
    edges: FloatArray
    few: bool


def in_sight(laws: Iterable[PointLaw], truths: Iterable[float | None]) -> View:
    """The truths and nearly all of the laws, of one grid."""
    laws = list(laws)
    grid = laws[0].grid
    ends = [float(law.ppf(p)) for law in laws for p in (TAIL, 1 - TAIL)]
    ends += [truth for truth in truths if truth is not None]
    low, high = grid.index(np.array([min(ends), max(ends)], np.float64)).tolist()
    margin = max(2, (high - low) // 12)
    return part(grid, max(0, low - margin), min(grid.size - 1, high + margin))


def part(grid: Grid, first: int, last: int) -> View:
    """The grid points first..last."""
    points = last - first + 1
    bins = points if points <= MANY else BINS
    cuts = np.array([first + points * i // bins for i in range(bins + 1)])
    return View(cuts, _edges(grid, cuts), points <= FEW)


def outside(law: PointLaw, view: View) -> list[str]:
    """A note on the probability that is out of sight, if there is much."""
    low, high = law.cdf(view.edges[[0, -1]])
    out = 1.0 - (high - low)
    return [f"{out:.1%} lies outside the picture"] if out >= 0.0005 else []


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


def heights_of(law: PointLaw, view: View) -> FloatArray:
    """Probabilities of single points, or densities."""
    grid, cuts = law.grid, view.cuts
    if (cuts[1:] - cuts[:-1] == 1).all():
        masses: FloatArray = law.pmf(grid.values(cuts[:-1]).astype(np.float64))
    else:
        masses = np.diff(law.cdf(view.edges)).clip(min=0)
    return masses if view.few else masses / np.diff(view.edges)
