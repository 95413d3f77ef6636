"""What every mechanism of numbers validates when it is built."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numbers.nearest import within
from .._parameters import validate
from .._parameters.grid import Grid, Rule, decimal, make_grid, plain_bounds
from .._typing import IntArray


def check_number(mechanism: Any, rule: Rule = "nearest") -> None:
    """Validate what every mechanism of numbers has, and put in exact values and the grid.

    `rule` says at which point of the grid a record counts.
    """
    put = object.__setattr__
    put(mechanism, "any_epsilon", validate.flag("any_epsilon", mechanism.any_epsilon))
    put(mechanism, "epsilon", validate.epsilon(mechanism.epsilon, mechanism.any_epsilon))
    made = make_grid(mechanism.bounds, mechanism.step, mechanism.grid, rule=rule)
    put(mechanism, "grid", made)
    put(mechanism, "bounds", plain_bounds(mechanism.bounds))
    if isinstance(mechanism.step, np.generic):
        put(mechanism, "step", mechanism.step.item())


def reach_of(grid: Grid, widen: Any) -> tuple[int, tuple[IntArray, IntArray] | None]:
    """`widen` in steps of an evenly spaced grid, or as ranges of a grid of points.

    Floats are read as the decimals that print: 0.8 is within 0.1 of 0.7.
    """
    number = validate.at_least("widen", widen, 0.0)
    if number == 0.0:
        return 0, None
    exact = (
        decimal(number) if isinstance(widen, (float, np.floating)) else validate.as_fraction(widen)
    )
    if grid.points is not None:
        return 0, within([decimal(point) for point in grid.points.tolist()], exact)
    _, s, d = grid.unit
    return min(int(exact * d / s), grid.size - 1), None
