"""What a question about a number is called: its public parameters as text and for ``--json``."""

from __future__ import annotations

from typing import Any

from .number_question import Question

LISTED = 10_000  # points and draws that --json lists


def parameters(question: Question) -> dict[str, Any]:
    """The public parameters of a question, for ``--json``."""
    made = question.mechanism
    facts: dict[str, Any] = {"mechanism": question.name}
    if question.name == "quantile":
        facts["q"] = _plain(question.q)
    facts |= {"epsilon": made.epsilon, "neighbors": made.guarantee.neighbors}
    if question.name == "price":
        facts |= {"scaling": made.scaling, "promised_epsilon": made.guarantee.epsilon}
    else:
        facts |= {"convention": made.convention, "widen": _plain(made.widen)}
    facts |= {"nan": question.nan, "bounds": [_plain(x) for x in made.bounds]}
    facts |= {"step": _plain(made.step), "points": made.grid.size}
    if made.grid.points is not None and made.grid.size <= LISTED:
        facts["grid"] = made.grid.points.tolist()
    return facts


def _plain(number: Any) -> Any:
    """A number as JSON has them."""
    return number if number is None or isinstance(number, (int, float)) else float(number)


def title(question: Question) -> str:
    """The mechanism and its public parameters."""
    made, name = question.mechanism, question.name
    if name == "quantile":
        name = f"quantile {question.q}"
    parts = [f"{name}, epsilon {made.epsilon:g}"]
    if question.name == "price":
        parts += ["textbook's scaling"] * (made.scaling == "textbook")
    else:
        parts.append(f"neighbors {made.neighbors}")
        parts += [f"{made.convention} convention"] * (made.convention != "weak")
        parts += [f"widened by {made.widen}"] * (made.widen != 0)
    return ", ".join(parts)


def grid_text(made: Any) -> str:
    """A public grid in a few words."""
    grid = made.grid
    last = short(grid.value(grid.size - 1))
    if grid.points is None and made.step is None:
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
