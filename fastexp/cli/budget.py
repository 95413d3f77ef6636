"""``fastexp budget``: a file that releases charge; ``--budget`` of the commands that release."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from . import output

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

    return Budget.file(file)


def rest(budget: Budget) -> str:
    """A line about what is left; that it cannot be read does not undo a release."""
    from .. import BudgetError

    try:
        return f"budget: {budget.remaining!r} of {budget.total!r} {budget.unit} remains"
    except BudgetError as error:
        return f"budget: charged, but now {error}"
