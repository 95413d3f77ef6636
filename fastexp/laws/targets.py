"""A target of accuracy, and the epsilon that is enough for it.

It is the least point of a geometric grid, of ratio 1.01 and up to 1e6, such that the target holds
at it and at every point of the grid above it, rounded up to four digits and verified there by the
exact law.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context
from math import inf
from typing import Any

import numpy as np

from .._parameters import validate
from .._parameters.text import readable
from ..errors import ParameterError

LOW, HIGH = validate.EPSILON_RANGE
ONE_OF = "give exactly one of error, loss, expected_error and expected_loss"
NEEDED = "error and loss need probability; expected_error and expected_loss take none"
UPWARDS = Context(prec=4, rounding=ROUND_CEILING)
# Epsilons from 1e6 down to 1e-9; a running product, so that they are the same on every machine.
GRID = HIGH / np.cumprod(np.append(1.0, np.full(3471, 1.01)))


class Unreached(Exception):  # callers put it into words
    """The target fails at the greatest epsilon."""


@dataclass(frozen=True)
class Target:
    """A loss, or error from a truth, of at most `limit` in expectation or with a probability."""

    name: str
    limit: float
    probability: float | None = None
    truth: Any = None

    @property
    def of_errors(self) -> bool:
        """Whether the target is about errors, not losses."""
        return self.name in ("error", "expected_error")

    @property
    def words(self) -> str:
        """The target in words."""
        limit = f"{self.name.replace('_', ' ')} <= {readable(self.limit)}"
        if self.probability is None:
            return limit
        return f"{limit} with probability {readable(self.probability)}"

    def about(self, truth: Callable[[], Any]) -> Target:
        """Return the target with this truth, unless it has its own."""
        if self.truth is not None:
            return self
        return replace(self, truth=finite_statistic(truth()))


def finite_statistic(number: Any) -> Any:
    """Return the statistic of the data, from which errors are measured."""
    if number is None or not -inf < number < inf:
        raise ParameterError("truth must be given: these records have no finite statistic")
    return number


def target_of(
    error: object,
    loss: object,
    probability: object,
    expected_error: object,
    expected_loss: object,
    truth: object,
) -> Target:
    """Check that exactly one target is given, and return it."""
    limits = {
        "error": error,
        "loss": loss,
        "expected_error": expected_error,
        "expected_loss": expected_loss,
    }
    names = [name for name, value in limits.items() if value is not None]
    if len(names) != 1:
        raise ParameterError(f"{ONE_OF}, got {', '.join(names) or 'none'}")
    name = names[0]
    if (probability is None) == (name in ("error", "loss")):
        raise ParameterError(NEEDED)
    if name.startswith("expected"):
        target = Target(name, validate.positive(name, limits[name]))
    else:
        limit = validate.at_least(name, limits[name], 0.0)
        target = Target(name, limit, share_of_all("probability", probability))
    if truth is None:
        return target
    if not target.of_errors:
        raise ParameterError("truth needs error or expected_error")
    number = validate.exact_reals("truth", truth)
    if number.ndim or not -inf < number.item() < inf:
        raise ParameterError("truth must be one finite number")
    return replace(target, truth=number.item())


def share_of_all(name: str, value: object) -> float:
    """Check a number in (0, 1), and return it as a float."""
    share = validate.real(name, value)
    if not 0.0 < share < 1.0:
        raise ParameterError(f"{name} must be in (0, 1), got {share!r}")
    return share


def least_epsilon(
    holds: Callable[[float], bool], least: float, failing: Callable[[list[float]], int]
) -> float:
    """Return the epsilon that is enough for a target; raise `Unreached` if it fails at 1e6.

    `least` is the least possible epsilon; `failing` tells how many falling epsilons come before the
    first at which the target fails.
    """
    points = np.append(GRID[least < GRID], least).tolist()
    for point in reversed(points[: failing(points)]):
        epsilon = rounded_up(point)
        if holds(epsilon):
            return epsilon
    raise Unreached


def first_failure(holds: Callable[[float], bool], *, rising: bool) -> Callable[[list[float]], int]:
    """Return a function: how many falling epsilons come before the first at which a target fails.

    `rising`: a target that holds at one epsilon holds at all above it.
    """

    def failing(points: list[float]) -> int:
        if rising:
            return bisect_left(points, True, key=lambda epsilon: not holds(epsilon))
        return next((i for i, point in enumerate(points) if not holds(point)), len(points))

    return failing


def rounded_up(epsilon: float) -> float:
    """Round an epsilon up to four digits, within the allowed range."""
    return min(max(float(UPWARDS.create_decimal(repr(epsilon))), LOW), HIGH)
