"""``--budget`` of the commands that release."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from . import output
from .errors import UserMistake

if TYPE_CHECKING:
    from ..budget import Budget


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
