"""``fastexp budget``: a file that releases charge; ``--budget`` of the commands that release."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import output
from .errors import UserMistake

if TYPE_CHECKING:
    from ..budget import Budget


def budget(options: Namespace) -> None:
    """Create a budget file or show one.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    from .. import Budget

    found = Budget.file(
        options.file,
        epsilon=options.epsilon,
        delta=options.delta,
        rho=options.rho,
        neighbors=options.neighbors,
    )
    facts: dict[str, Any] = {
        "unit": found.unit,
        "neighbors": found.neighbors,
        "total": found.total,
        "spent": found.spent,
        "remaining": found.remaining,
        "charges": found.charges,
    }
    if found.total_delta > 0.0:
        facts["total_delta"] = found.total_delta
        facts["spent_delta"] = found.spent_delta
        facts["remaining_delta"] = found.remaining_delta
    log = found.log()
    if options.json:
        output.as_json({**facts, "log": log})
        return
    for name, value in facts.items():
        print(f"{name:<11} {value}")
    for entry in log:
        if entry["label"] is not None:
            words = entry["time"], entry["name"] or "", repr(entry[found.unit]), entry["state"]
            print(output.printable(f"{'label':<11} {entry['label']}  ({', '.join(words)})"))


def opened(file: str) -> Budget:
    """The budget of an option ``--budget FILE``, which must exist."""
    from .. import Budget

    if not Path(file).exists():
        raise UserMistake(
            f"there is no budget file {file!r}; create it with: "
            f"fastexp budget {output.printable(shlex.quote(file))} --epsilon E (or --rho R)"
        )
    return Budget.file(file)


def rest(budget: Budget, before: float | None = None) -> str:
    """A line about what is left; that it cannot be read does not undo a release."""
    from .. import BudgetError

    try:
        left = f"{budget.remaining!r} of {budget.total!r} {budget.unit} remains"
        if before is None:
            return f"budget: {left}"
        charged = float(f"{budget.spent - before:.12g}")
        return f"budget: charged {charged!r} for {budget.neighbors}; {left}"
    except BudgetError as error:
        return f"budget: charged, but now {error}"
