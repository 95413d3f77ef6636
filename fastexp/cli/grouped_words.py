"""What is said of answers by group: what was promised, to whom, and for which keys."""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
from argparse import Namespace
from typing import Any

from ..privacy import Guarantee
from .grouped_call import Call
from .number_question import Question
from .number_words import grid_text, parameters, title
from .output import printable
from .select import NOT_PRIVATE

FROM_DATA = """\
WARNING: the groups were taken from the file: which groups exist is not protected, so that
WARNING: the output does not keep the promise of epsilon. Use it for public data only."""
NARROWEST = 40  # columns
VALUES = {
    (which, draws): ("observed" if draws else "selected")
    if which == "select"
    else ("values" if draws else "value")
    for which in ("median", "quantile", "price", "select")
    for draws in (False, True)
}
MEANINGS = {
    "add-remove": "one person joins or leaves, with all of their records",
    "replace": "one person changes all of their records",
    "both": "one person joins, leaves or changes, with all of their records",
    None: "those for which the sensitivity was stated",
}


def report(options: Namespace, which: str, call: Call, groups: list[Any]) -> list[str]:
    """The lines on stderr."""
    lines = [] if options.output is None else [f"written: {printable(options.output)}"]
    lines.append(f"groups: {_groups(options, call, groups)}")
    if not call.how.is_release:
        return lines
    if call.from_data:
        return [*lines, "promised: nothing, as the groups were taken from the data"]
    lines += [promised(call.promise), _persons(options, call)]
    if which != "select":
        lines.append(f"drawn from the public grid {grid_text(call.mechanism)}")
        if call.mechanism.step is None and call.mechanism.grid.points is None:
            lines.append("no --step: if the numbers are rounded (ages, prices), give theirs")
    if call.how.key is not None:
        lines.append(f"repeats with the same key, label {call.how.label!r} and records")
    return lines


def wrapped(line: str) -> str:
    """A line, in as many as the terminal needs; where stderr is none, as it is."""
    width = _terminal_width()
    if width is None or len(line) <= width:
        return line
    return textwrap.fill(
        line,
        max(width, NARROWEST),
        subsequent_indent="  ",
        break_long_words=False,  # paths and options are copied
        break_on_hyphens=False,
    )


def _terminal_width() -> int | None:
    """Columns of the terminal that stderr is."""
    if sys.stderr is not None and sys.stderr.isatty():
        with contextlib.suppress(OSError, ValueError):
            return os.get_terminal_size(sys.stderr.fileno()).columns or None
    return None


def promised(whole: Guarantee) -> str:
    """What the whole call promises."""
    amount = f"{whole.epsilon:.12g}" if whole.delta == 0 else f"({whole.epsilon}, {whole.delta})"
    relation = f"neighbors {whole.neighbors}" if whole.neighbors else "neighbors"
    return (
        f"promised: {amount}-differential privacy of all answers together, {relation} "
        f"({MEANINGS[whole.neighbors]}); every further release adds to it"
    )


def _persons(options: Namespace, call: Call) -> str:
    most, each = call.limits
    groups, records = _number(most, "group"), _number(each, "record")
    public = ", and nobody changes groups (your claim)" * (call.membership == "public")
    if options.person is not None:
        return (
            f"enforced: of each person (column {options.person!r}) at most {groups} and in each "
            f"at most {records} counted{public}"
        )
    return (
        f"claimed by you, not checked: each person is in at most {groups}, with at most {records} "
        f"in each{public}; --person COLUMN enforces it"
    )


def _groups(options: Namespace, call: Call, groups: list[Any]) -> str:
    source = "the data" if call.from_data else call.source
    return f"{len(groups):,} of {source}; column {options.by!r} was read as {_kind(groups)}"


def _kind(groups: list[Any]) -> str:
    return "text" if any(isinstance(group, str) for group in groups) else "integers"


def _number(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'s' * (count != 1)}"


def head(options: Namespace, which: str, call: Call, groups: int) -> str:
    """What stands above a table of simulated draws."""
    seed = "no seed" if options.seed is None else f"seed {options.seed}"
    many = f"{options.draws:,} simulated draws of each of {groups:,} groups, {seed}"
    return f"{NOT_PRIVATE}\n{_title(which, call)}\n{many}\n"


def _title(which: str, call: Call) -> str:
    made = call.mechanism
    if which == "select":
        return f"select, epsilon {made.epsilon:g}, neighbors {made.neighbors}"
    return f"{title(_question(which, call))}, on the grid {grid_text(made)}"


def _question(which: str, call: Call) -> Question:
    return Question(which, call.mechanism, None, call.how.label, "")


def facts(options: Namespace, which: str, call: Call, groups: list[Any]) -> dict[str, Any]:
    """The public parameters, for ``--json``."""
    made, release = call.mechanism, call.how.is_release
    found: dict[str, Any] = {"kind": "release" if release else "draws"}
    found["private"] = release and not call.from_data
    if which == "select":
        found |= {"mechanism": "exponential", "epsilon": made.epsilon, "neighbors": made.neighbors}
        found["candidates"] = list(made.candidates)
    else:
        found |= parameters(Question(which, made, None, options.nan, ""))
    found |= {"by": options.by, "groups": len(groups), "keys": _kind(groups)}
    if release:
        found |= {"max_groups": call.limits[0], "max_rows": call.limits[1]}
        found |= {"membership": call.membership, "persons": _enforced(options)}
        found |= {"label": options.label if call.how.key is None else call.how.label}
        whole = call.promise
        amounts = {"epsilon": whole.epsilon, "rho": whole.rho, "neighbors": whole.neighbors}
        found["promised"] = None if call.from_data else amounts
    else:
        found |= {"draws": options.draws, "seed": options.seed}
    return found | {"output": options.output}


def _enforced(options: Namespace) -> str:
    return "claimed" if options.person is None else "enforced"
