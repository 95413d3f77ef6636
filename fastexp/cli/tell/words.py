"""What is said of a call, and for ``--json``: its promise, mechanisms, grids."""

from __future__ import annotations

import re
from dataclasses import fields
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...privacy import Guarantee
    from ...query.query import Query

NOT_PRIVATE = "NOT PRIVATE: computed from the data without noise. For analysis, never to publish."
FROM_DATA = """\
WARNING: {what} were taken from FILE: that one of them occurs at all is not protected, so that
WARNING: the output does not keep the promise of epsilon. Use it for public data only."""
LISTED = 10_000  # points of a grid that --json lists
STATED = "one person changes as --sensitivity was stated for"
CHANGES = {
    "add-remove": "joins or leaves",
    "replace": "changes",
    "both": "joins, leaves or changes",
}


def promised(promise: Guarantee, query: Query, each: float) -> str:
    """A line about what a call promises.

    Parameters
    ----------
    promise : Guarantee
        Of the whole call.
    query : Query
    each : float
        What one row of a person costs: the sum of the epsilons of the answers.
    """
    epsilon = amount(promise)
    if promise.neighbors is None:
        return f"promises {epsilon}-differential privacy: {STATED}"
    who = f"one {_who(query)} {CHANGES[promise.neighbors]}{_limits(query)}"
    factor = (promise.epsilon or 0.0) / each
    times = f" ({factor:.0f} x {each:g})" if factor > 1.5 and _is_whole(factor) else ""
    return f"promises {epsilon}-differential privacy{times}: {who}"


def amount(promise: Guarantee) -> str:
    """Epsilon, or (epsilon, delta), rounded up: a promise is never said to be better than it is."""
    rounding = Context(6, ROUND_CEILING)
    epsilon, delta = (
        f"{float(rounding.create_decimal(repr(number))):g}"
        for number in (promise.epsilon, promise.delta)
    )
    return epsilon if promise.delta == 0 else f"({epsilon}, {delta})"


def _is_whole(factor: float) -> bool:
    """But for roundings: answers that differ in their relation may have no common factor."""
    return abs(factor - round(factor)) < 1e-9


def _who(query: Query) -> str:
    single = query.max_groups == query.max_rows == 1 and query.person is None and not query.by
    return "record" if single else "person"


def _limits(query: Query) -> str:
    """How much of one person counts, and who says so."""
    if _who(query) == "record":
        return ""
    rows = f"{query.max_rows} row{'s' * (query.max_rows != 1)}"
    most = (
        f"{rows} in {query.max_groups} group{'s' * (query.max_groups != 1)}" if query.by else rows
    )
    if query.person is not None:
        return f", of whom {most} count"
    stays = ", whose groups are public" * (query.membership == "public")
    return f", with {most}{stays} (your claim; a person column enforces it)"


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
    parts[0] += f", epsilon {amount(promise) if promise.delta else f'{mechanism.epsilon:g}'}"
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
    """The public parameters of a mechanism, for ``--json``."""
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
    """What the command line calls a mechanism: as "most-common"."""
    return re.sub("(?<=.)([A-Z])", r"-\1", type(mechanism).__name__).lower()


def promise_facts(promise: Guarantee) -> dict[str, Any]:
    """A promise, for ``--json``."""
    names = "epsilon", "delta", "rho", "neighbors"
    return {name: getattr(promise, name) for name in names}


def query_facts(query: Query) -> dict[str, Any]:
    """The public parameters of a query, for ``--json``."""
    groups = query.groups
    return {
        "by": list(query.by),
        "groups": "from-data" if query.by and groups is None else groups and groups.size,
        "person": query.person,
        "max_groups": query.max_groups,
        "max_rows": query.max_rows,
        "membership": query.membership,
    }


def plain(value: Any) -> Any:
    """A parameter as JSON has them: numbers as they are written."""
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)
