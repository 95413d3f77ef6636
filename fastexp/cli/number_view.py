"""What a picture of a private number shows: which part of the grid, and how high the law is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray
    from ..laws.grid import GridLaw

FEW, MANY = 160, 8000  # points that are shown as bars; as steps of a density, each for itself
BINS = 2000  # of a finer grid
TAIL = 0.005  # of the probability is out of sight at either end


class View(NamedTuple):
    """The grid points in sight: cuts between their indices, and these as numbers."""

    cuts: IntArray
    edges: FloatArray
    few: bool


def in_sight(exact: GridLaw, truth: Any, whole: bool = False) -> View:
    """The truth and nearly all of the law; or the whole grid."""
    grid = exact.grid
    first, last = 0, grid.size - 1
    if not whole:
        ends = np.array([exact.ppf(TAIL), exact.ppf(1 - TAIL)], np.float64)
        if truth is not None:
            ends = np.array([min(ends[0], truth), max(ends[1], truth)])
        low, high = grid.index(ends).tolist()
        margin = max(2, (high - low) // 12)
        first, last = max(first, low - margin), min(last, high + margin)
    shown = last - first + 1
    bins = shown if shown <= MANY else BINS
    cuts = np.array([first + shown * i // bins for i in range(bins + 1)])
    return View(cuts, _edges(grid, cuts), shown <= FEW)


def outside(exact: GridLaw, view: View) -> list[str]:
    """A note on the probability that is out of sight, if there is much."""
    low, high = exact.cdf(view.edges[[0, -1]])
    out = 1.0 - (high - low)
    return [f"{out:.1%} lies outside the picture"] if out >= 0.0005 else []


def _edges(grid: Any, cuts: IntArray) -> FloatArray:
    """Numbers half-way between the points on either side of each cut."""
    right = grid.values(np.minimum(cuts, grid.size - 1)).astype(np.float64)
    left = grid.values(np.maximum(cuts - 1, 0)).astype(np.float64)
    edges: FloatArray = left / 2 + right / 2
    if cuts[0] == 0:
        edges[0] -= (grid.values(cuts[:1] + 1)[0] - right[0]) / 2
    if cuts[-1] == grid.size:
        edges[-1] += (left[-1] - grid.values(cuts[-1:] - 2)[0]) / 2
    return edges


def heights_of(exact: GridLaw, view: View) -> FloatArray:
    """Probabilities of single points, or densities."""
    grid, cuts = exact.grid, view.cuts
    if (cuts[1:] - cuts[:-1] == 1).all():
        masses: FloatArray = exact.pmf(grid.values(cuts[:-1]).astype(np.float64))
    else:
        masses = np.diff(exact.cdf(view.edges)).clip(min=0)
    return masses if view.few else masses / np.diff(view.edges)
