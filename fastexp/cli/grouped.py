"""``median``, ``quantile``, ``price`` and ``select`` with ``--by``: an answer for each group."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from . import grouped_output, mechanisms, number_question, question
from .errors import UserMistake
from .files import same
from .share import mechanism_of

FROM_DATA = "from-data"
OWN = ("groups", "person", "max_groups", "max_rows", "membership", "key", "memory", "output")


def by_group(options: Namespace) -> bool:
    """Whether one answer a group is asked for; what belongs to that is refused otherwise."""
    if options.by is not None:
        return True
    for name in OWN:
        if getattr(options, name) is not None:
            raise UserMistake(
                f"--{name.replace('_', '-')} belongs to --by: the column of FILE that says which "
                "group a record is of"
            )
    return False


def answer(options: Namespace, which: str) -> None:
    """Release, or simulate, an answer for each group.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    which : {"median", "quantile", "price", "select"}
    """
    if which == "select":
        question.check(options)
    check(options)
    made = _mechanism(options, which)  # parameters are refused before the file is looked at
    from .grouped_call import Call
    from .grouped_release import carry_out

    carry_out(options, which, Call(options, made))


def check(options: Namespace) -> None:
    """Refuse options that do not go together.

    Parameters
    ----------
    options : Namespace
        Of one of the four commands, with ``--by``.

    Raises
    ------
    UserMistake
    """
    if options.groups is None:
        from .public_list import WHY_PUBLIC

        raise UserMistake(WHY_PUBLIC)
    for name, given in (("law", options.law), ("plot", options.plot is not None)):
        if given:
            raise UserMistake(f"--{name} does not go with --by: it is of one data set")
    if options.by in (options.column, None):
        raise UserMistake("--by and --column must be two columns")
    if options.draws is not None and options.key is not None:
        raise UserMistake("--key is for releases: --draws has --seed")
    if options.groups == FROM_DATA and options.budget is not None:
        raise UserMistake("--budget does not go with --groups from-data, which keeps no promise")
    if hasattr(options, "candidates"):
        _check_selection(options)
    if options.output is not None:
        _check_apart(options)
        grouped_output.check(options.output, options.force)


def _check_selection(options: Namespace) -> None:
    if options.utilities or options.candidates_from_data:
        given = "utilities" if options.utilities else "candidates-from-data"
        raise UserMistake(f"--{given} does not go with --by")
    if options.mechanism != mechanisms.EXPONENTIAL:
        raise UserMistake("--by goes with --mechanism exponential only")


def _check_apart(options: Namespace) -> None:
    """The answers must not be written over what is read."""
    read = [options.file, options.groups, options.groups.rpartition(":")[0], options.key]
    for file in [*read, options.budget]:
        if file and same(options.output, file):
            raise UserMistake(f"--output {options.output!r} would overwrite what is read")


def _mechanism(options: Namespace, which: str) -> Any:
    call = {
        "groups": True,
        "max_groups": options.max_groups or 1,
        "max_rows": options.max_rows or 1,
        "membership": options.membership or "private",
    }
    if which == "select":
        listed = question.candidates(options)
        return mechanism_of(options, lambda: mechanisms.counting(options, listed), **call)
    return mechanism_of(options, lambda: number_question.mechanism(options, which), **call)
