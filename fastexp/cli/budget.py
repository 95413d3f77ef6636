"""``fastexp budget``: a file that releases charge; ``--budget`` of the commands that release."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

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
        options.file, epsilon=options.epsilon, rho=options.rho, neighbors=options.neighbors
    )
    facts = {
        "unit": found.unit,
        "neighbors": found.neighbors,
        "total": found.total,
        "spent": found.spent,
        "remaining": found.remaining,
        "charges": found.charges,
    }
    if options.json:
        output.as_json(facts)
        return
    for name, value in facts.items():
        print(f"{name:<11} {value}")


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
