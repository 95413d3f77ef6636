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


def check_budget(options: Namespace) -> None:
    """Refuse options that do not go with a budget, or a label.

    Parameters
    ----------
    options : Namespace
        Of a command that releases.

    Raises
    ------
    UserMistake
    """
    for name in ("budget", "label"):
        if getattr(options, name) is not None and (options.law or options.draws is not None):
            raise UserMistake(f"--{name} is for releases: --law and --draws are not private")
    if options.label is None:
        return
    if options.budget is None and options.key is None:
        raise UserMistake(
            "--label belongs to --budget, whose file keeps the answers under it, or to --key"
        )
    from .._validate import line

    line("label", options.label)


def opened(file: str) -> Budget:
    """The budget of an option ``--budget FILE``, which must exist."""
    from .. import Budget

    if not Path(file).exists():
        raise UserMistake(
            f"there is no budget file {file!r}; create it with: "
            f"fastexp budget {output.printable(shlex.quote(file))} --epsilon E (or --rho R)"
        )
    return Budget.file(file)
