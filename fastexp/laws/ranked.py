"""From a data set to the law on the grid of a mechanism by distance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .._intake.record_sources import OnGrid, Source
from .grid import GridLaw


def distance_law(mechanism: Any, source: Source, unit: Fraction | int) -> GridLaw:
    """The law of a mechanism with `grid`, `epsilon` and a statistic; holds the counts.

    `unit`: one integer of the distance in units of the utility.
    """
    statistic, grid = mechanism._statistic, mechanism.grid
    held = OnGrid(grid, *source.counts(grid))
    start, count, distance = statistic.cells(held)
    nearest, exact = int(distance.min()), Fraction(unit)
    return GridLaw(
        grid,
        start,
        count,
        distance - nearest,
        None,
        -float(nearest * exact),
        exact,
        statistic.weighting.rate,
        mechanism.epsilon,
        statistic.sampler(held),
    )
