"""The options of a command as a call, if they go together."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from ...grouped.request import FROM_DATA
from ...mechanisms.table import SELECTING, TABLE
from ...query.output.output_file import is_same
from ..terminal.errors import UserMistake
from . import mechanism_options, public_lists
from .input_file import InputFile, PublicCall, is_npy

if TYPE_CHECKING:
    from ..._typing import Neighbors
    from ...grouped.mechanism import GroupedMechanism
    from ...privacy import Guarantee

WHY_PUBLIC = """\
--candidates is needed: the list to select from
why:   a list made from the data shows that each value on it occurs, so that
       somebody with a rare one took part, whatever epsilon is
do:    take it from the form, code book or standard behind the data, without
       looking at FILE, as in --candidates "yes,no,no answer"; candidates that
       nobody has do no harm
else:  for data that is public anyway there is --candidates from-data"""
OF_GROUPS = ("groups", "max_groups", "membership")  # options that need --by
PAID = ("budget", "label", "note", "key")
READ = ("groups", "candidates", "grid", "key", "budget")  # options that may name a file


def call_of(options: Namespace, command: str) -> PublicCall:
    """Return the call of a command about a column: median, quantile, maximum, mode, price, select.

    Options that do not go together are refused. The file is not read, except for the types of its
    columns if the lists depend on them.
    """
    import fastexp as fx

    check(options)
    source = InputFile(options.file, options.delimiter)
    groups = None if options.by is None else public_lists.groups(options.groups, options.by, source)
    if groups == public_lists.PRIVATE:
        groups = fx.PrivateGroups(options.delta, options.groups_epsilon)
        options = Namespace(**{**vars(options), "delta": None})  # the delta of groups
    query = fx.Query(
        options.by,
        groups,
        options.person,
        options.max_groups or 1,
        options.max_rows or 1,
        options.membership or "private",
    )
    if command == "select":
        candidates = public_lists.candidates(options.candidates, options.column, source)
        word = TABLE[options.mechanism].counts
        build = mechanism_options.by_word(word, options, {"candidates": candidates})
    else:
        build = mechanism_options.of_numbers(options, command)
    name = column = options.column or "value"
    if name in query.by:
        raise UserMistake("--by and --column must be different columns")

    def promise(mechanism: GroupedMechanism, neighbors: Neighbors | None) -> Guarantee:
        return query.total({name: (mechanism, column)}, neighbors=neighbors)

    mechanism = mechanism_options.with_epsilon(options, build, promise)
    if options.membership == "public" and mechanism.guarantee.neighbors == "add-remove":
        raise UserMistake(
            "--membership public needs --neighbors replace, under which nobody changes their group"
        )
    return PublicCall(
        query,
        {name: (mechanism, column)},
        {name: options.nan or "drop"},
        source,
        budget=options.budget,
        label=options.label,
        note=options.note,
        key=options.key,
        output=options.output,
        force=options.force,
        quotes_formulas=options.quote_formulas,
        threads=options.threads,
        memory=options.memory,
        temp=options.temp,
        candidates_from_data=options.candidates == FROM_DATA,
    )


def check(options: Namespace) -> None:
    """Refuse options of a command about a column that do not go together."""
    if options.by is None:
        for name in OF_GROUPS:
            if getattr(options, name) is not None:
                raise UserMistake(f"{option(name)} needs --by: the columns of groups")
    elif options.groups is None:
        raise UserMistake(public_lists.WHY_PUBLIC)
    _check_private_groups(options)
    if is_npy(options.file):
        if options.column is not None:
            raise UserMistake("--column does not go with .npy, which holds one array")
    elif options.column is None and not options.utilities:
        raise UserMistake("--column is needed: the column of FILE that holds the records")
    _check_analysis(options)
    _check_output(options)
    _check_payment(options)
    _check_selection(options)
    if options.nan == "drop" and options.neighbors == "replace":
        raise UserMistake(
            "--nan drop does not go with --neighbors replace, under which the number of records is "
            "fixed: replace missing records by a bound, --nan lower or upper"
        )


def _check_private_groups(options: Namespace) -> None:
    """Refuse private groups without delta, and options of private groups without them."""
    if options.groups == public_lists.PRIVATE:
        if options.delta is None:
            raise UserMistake("--groups private needs --delta, such as 1e-8")
        if options.total_epsilon is not None and options.groups_epsilon is not None:
            raise UserMistake("--total-epsilon does not go with --groups-epsilon: use --epsilon")
    elif options.groups_epsilon is not None or (
        options.delta is not None and options.command != "select"
    ):
        raise UserMistake("--delta and --groups-epsilon need --groups private")


def _check_analysis(options: Namespace) -> None:
    """Refuse options of another kind of output: a release, or a law, draws or accuracy."""
    is_simulated = options.draws is not None
    is_analysis = options.law or is_simulated or options.accuracy
    if options.seed is not None and not is_simulated:
        raise UserMistake("--seed needs --draws")
    if options.plot is not None and not is_analysis:
        raise UserMistake(
            "--plot needs --law, --draws or --accuracy, which are not private: a release has no "
            "picture"
        )
    for name in (*PAID, "output"):
        if is_analysis and getattr(options, name) is not None:
            redirect = "; to keep a table, redirect stdout" * (name == "output")
            raise UserMistake(
                f"{option(name)} is for releases: --law, --draws and --accuracy are not private"
                f"{redirect}"
            )


def _check_output(options: Namespace) -> None:
    """Refuse an output that would overwrite an input."""
    output: str | None = options.output
    if output is None:
        for name in ("force", "quote_formulas"):
            if getattr(options, name):
                raise UserMistake(f"{option(name)} needs --output")
        return
    for name in READ:
        text: str = getattr(options, name) or ""
        if is_same(output, text) or is_same(output, text.rpartition(":")[0]):
            raise UserMistake(f"--output must not be the file of {option(name)}")


def _check_payment(options: Namespace) -> None:
    """Refuse a label or note that nothing keeps, and payment for a release without a promise."""
    if options.label is not None and options.budget is None and options.key is None:
        raise UserMistake("--label needs --budget, whose file keeps the answers under it, or --key")
    if options.note is not None and options.budget is None:
        raise UserMistake("--note needs --budget, whose file keeps it")
    for name in from_data(options):
        for paid in PAID:
            if getattr(options, paid) is not None:
                raise UserMistake(
                    f"{option(paid)} does not go with {option(name)} from-data, which has no "
                    "privacy guarantee"
                )


def _check_selection(options: Namespace) -> None:
    """Check the options that only ``select`` has."""
    if options.command != "select":
        return
    parameters = TABLE[options.mechanism].parameters
    for name in ("k", "delta"):
        is_of_groups = name == "delta" and options.groups == public_lists.PRIVATE
        if getattr(options, name) is not None and name not in parameters and not is_of_groups:
            kinds = [word for word, row in SELECTING.items() if name in row.parameters]
            raise UserMistake(f"{option(name)} needs --mechanism {' or '.join(kinds)}")
    if "k" in parameters and options.k is None:
        raise UserMistake(
            f"--mechanism {options.mechanism} needs --k: how many candidates are selected"
        )
    if options.utilities:
        return
    for name in ("sensitivity", "monotonic"):
        if getattr(options, name) not in (None, False):
            raise UserMistake(f"{option(name)} needs --utilities (counts have sensitivity 1)")
    if options.candidates is None:
        raise UserMistake(WHY_PUBLIC)


def from_data(options: Namespace) -> list[str]:
    """Return the names of the public lists that are taken from the data."""
    lists = ("groups", "candidates")
    return [name for name in lists if getattr(options, name) == FROM_DATA]


def option(name: str) -> str:
    """Return the option of an attribute, as it is written on the command line."""
    return f"--{name.replace('_', '-')}"
