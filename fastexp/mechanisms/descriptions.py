"""Mechanisms in words: their names, parameters and grids; their parameters as plain values."""

from __future__ import annotations

import re
from dataclasses import fields
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..privacy import Guarantee

LISTED = 10_000  # points of a grid that are listed


def amount(promise: Guarantee) -> str:
    """Epsilon, or (epsilon, delta), in words: see `at_most`."""
    epsilon, delta = at_most(promise.epsilon), at_most(promise.delta)
    return epsilon if promise.delta == 0 else f"({epsilon}, {delta})"


def at_most(number: float | None) -> str:
    """An amount of 6 digits, rounded up: a promise is never said to be better than it is."""
    return f"{float(Context(6, ROUND_CEILING).create_decimal(repr(number))):g}"


def title(name: str, mechanism: Any) -> str:
    """A mechanism and its public parameters, in a few words.

    Parameters
    ----------
    name : str
        What is asked for, as "median".
    mechanism
        One that a query takes, or over utilities.
    """
    relation, promise = getattr(mechanism, "neighbors", None), mechanism.guarantee
    parts = [f"{name} {q}" if (q := getattr(mechanism, "q", None)) is not None else name]
    parts[0] += f", epsilon {amount(promise) if promise.delta else at_most(mechanism.epsilon)}"
    if getattr(mechanism, "scaling", "tight") == "textbook":
        parts.append("textbook's scaling")
    if relation is not None:
        parts.append(f"neighbors {relation}")
    convention = getattr(mechanism, "convention", "weak")
    parts += [f"{convention} convention"] * (convention != "weak")
    widen = getattr(mechanism, "widen", 0)
    parts += [f"widened by {widen}"] * (widen != 0)
    parts += ["by permute-and-flip"] * (getattr(mechanism, "mechanism", "") == "permute-and-flip")
    if name == "top-k":
        parts.append(f"the first of {mechanism.k} places")
    return ", ".join(parts)


def grid_text(mechanism: Any) -> str:
    """A public grid in a few words."""
    grid = mechanism.grid
    last = short(grid.value(grid.size - 1))
    if grid.points is None and mechanism.step is None:
        steps = grid.size - 1
        power = f"2^{steps.bit_length() - 1}" if steps & (steps - 1) == 0 else f"{steps:,}"
        return f"from {short(grid.value(0))} to {last} in {power} equal steps"
    if grid.size > 4:
        first, second = short(grid.value(0)), short(grid.value(1))
        return f"{first}, {second}, ..., {last} ({grid.size:,} points)"
    return ", ".join(short(grid.value(t)) for t in range(grid.size))


def short(number: float) -> str:
    """A number as it prints, whole ones without a point."""
    return str(number).removesuffix(".0")


def parameters(mechanism: Any) -> dict[str, Any]:
    """The public parameters of a mechanism, as plain values."""
    facts: dict[str, Any] = {"mechanism": name_of(mechanism)}
    for field in fields(mechanism):
        name = "selected_by" if field.name == "mechanism" else field.name
        if field.init:
            facts[name] = plain(getattr(mechanism, field.name))
    grid = facts.pop("grid", None)
    if grid is not None:
        points = mechanism.grid.points
        facts["points"] = mechanism.grid.size
        if points is not None and points.size <= LISTED:
            facts["grid"] = points.tolist()
    facts.pop("any_epsilon", None)
    return {**facts, "neighbors": mechanism.guarantee.neighbors}


def name_of(mechanism: Any) -> str:
    """What a mechanism is called: as "most-common"."""
    return re.sub("(?<=.)([A-Z])", r"-\1", type(mechanism).__name__).lower()


def plain(value: Any) -> Any:
    """A parameter as JSON has it: numbers as they are written."""
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)
