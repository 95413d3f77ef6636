"""Mechanisms in words: their names, parameters and grids; their parameters as plain values."""

from __future__ import annotations

import re
from dataclasses import fields
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, Protocol, cast

from .grid import Grid
from .text import readable


class Promise(Protocol):
    """What a draw promises: see `fastexp.Guarantee`."""

    @property
    def epsilon(self) -> float | None: ...  # as there
    @property
    def delta(self) -> float: ...  # as there
    @property
    def neighbors(self) -> str | None: ...  # as there


class Described(Protocol):
    """A mechanism: a frozen dataclass of public parameters, and its promise."""

    @property
    def guarantee(self) -> Promise:
        """What one draw promises."""
        ...


LISTED = 10_000  # points of a grid that are listed


def amount(promise: Promise) -> str:
    """Epsilon, or (epsilon, delta), in words: see `at_most`."""
    epsilon, delta = at_most(promise.epsilon), at_most(promise.delta)
    return epsilon if promise.delta == 0 else f"({epsilon}, {delta})"


def at_most(number: float | None, digits: int = 6) -> str:
    """An amount of few digits, rounded up: a promise is never said to be better than it is."""
    return readable(float(Context(digits, ROUND_CEILING).create_decimal(repr(number))))


def title(name: str, mechanism: Described) -> str:
    """A mechanism that is called `name`, and its public parameters, in a few words."""
    values, promise = _values(mechanism), mechanism.guarantee
    epsilon = amount(promise) if promise.delta else at_most(values["epsilon"])
    q = values.get("q")
    if isinstance(q, tuple):
        q = ", ".join(map(str, q)) if len(q) < 10 else f"({len(q)} of them)"
    parts = [f"{name}{'' if q is None else f' {q}'}, epsilon {epsilon}"]
    if values.get("scaling") == "textbook":
        parts.append("textbook's scaling")
    if (neighbors := values.get("neighbors")) is not None:
        parts.append(f"neighbors {neighbors}")
    if (convention := values.get("convention", "weak")) != "weak":
        parts.append(f"{convention} convention")
    if (widen := values.get("widen", 0)) != 0:
        parts.append(f"widened by {widen}")
    if values.get("ties") == "left":
        parts.append("ties left")
    if values.get("mechanism") == "permute-and-flip":
        parts.append("by permute-and-flip")
    if name in ("top-k", "joint-top-k"):
        parts.append(f"the first of {values['k']} places")
    return ", ".join(parts)


def grid_text(mechanism: Described) -> str:
    """A public grid in a few words."""
    values = _values(mechanism)
    grid: Grid = values["grid"]
    last = short(grid.value(grid.size - 1))
    if grid.points is None and values["step"] is None:
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


def parameters(mechanism: Described) -> dict[str, Any]:
    """The public parameters of a mechanism, as plain values."""
    values = _values(mechanism)
    grid = values.pop("grid", None)
    for name in ("any_epsilon", "count"):
        values.pop(name, None)
    facts: dict[str, Any] = {"mechanism": name_of(mechanism)}
    for name, value in values.items():
        facts["selected_by" if name == "mechanism" else name] = plain(value)
    if isinstance(grid, Grid):
        facts["points"] = grid.size
        if grid.points is not None and grid.points.size <= LISTED:
            facts["grid"] = grid.points.tolist()
    return {**facts, "neighbors": mechanism.guarantee.neighbors}


def _values(mechanism: Described) -> dict[str, Any]:
    """The public parameters by their names."""
    names = [field.name for field in fields(cast("Any", mechanism)) if field.init]
    return {name: getattr(mechanism, name) for name in names}


def candidates_of(mechanism: Described) -> tuple[Any, ...] | None:
    """The candidates of a selection; None of a number."""
    candidates: tuple[Any, ...] | None = _values(mechanism).get("candidates")
    return candidates


def name_of(mechanism: object) -> str:
    """What a mechanism is called: as "most-common"."""
    return re.sub("(?<=.)([A-Z])", r"-\1", type(mechanism).__name__).lower()


def statistic_of(mechanism: Described) -> str:
    """What a mechanism of numbers estimates: as "median", or "0.9-quantile"."""
    kind = name_of(mechanism).rpartition("-")[2]
    if kind == "quantile":
        return f"{_values(mechanism)['q']}-quantile"
    return "statistic" if kind == "laplace" else kind


def plain(value: object) -> Any:
    """A parameter as JSON has it: numbers as they are written."""
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)
