"""Charge, read, draw and print: what happens to a call by group once it is checked."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from typing import Any

from .. import _validate
from .._typing import AnyArray, IntArray
from ..budget import spend
from . import grouped_draws, grouped_output, grouped_words, interrupts, output
from .budget import opened, rest
from .grouped_call import Call
from .grouped_keys import Found
from .grouped_output import Answers
from .grouped_progress import Progress
from .grouped_store import Store
from .info import announce_compiling
from .select import NOT_PRIVATE

CHARGED = "charged nevertheless, as a failure may tell of the data"


def carry_out(options: Namespace, which: str, call: Call) -> None:
    """Answer each group.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    which : str
        The command.
    call : Call
    """
    budget = None if options.budget is None else opened(options.budget)
    batches = iter(call.rows)
    next(batches)  # the header row: no record yet
    if call.from_data:
        output.note(grouped_words.FROM_DATA)
    announce_compiling()
    before = None if budget is None else budget.spent
    interrupts.check()
    if budget is not None:
        spend(budget, call.mechanism, **call.charged)
    try:
        found = _answers(options, call, batches)
    except BaseException:
        if budget is not None:
            output.note(f"{CHARGED}; {rest(budget)}")
        raise
    _show(options, which, call, found)
    if not options.quiet:
        for line in grouped_words.report(options, which, call, len(found.groups)):
            output.note(grouped_words.wrapped(line))
        if budget is not None:
            output.note(rest(budget, before))


def _answers(options: Namespace, call: Call, batches: Any) -> Answers:
    """Read the rows and draw."""
    how = call.how._replace(threads=_validate.threads(call.how.threads))
    found = call.people

    def bound(people: Found, codes: IntArray, values: AnyArray, persons: IntArray) -> AnyArray:
        names, places = people.settled()
        rows = codes, values, places[persons]
        return grouped_draws.kept(call.mechanism, call.rows.names, names, how, rows)

    with Progress(options.quiet) as progress:
        limit = None if found is None else partial(bound, found)
        store = Store(call.rows, call.memory, limit, progress)
        kept = store.ordered(store.first(batches))
        names = call.rows.names
        call.check_draws(names.size)
        values = grouped_draws.answers(call.mechanism, store, store.ranges(kept), names, how)
    simulated = not how.is_release
    return Answers(options.by, options.column, names.labels(), values, simulated)


def _show(options: Namespace, which: str, call: Call, found: Answers) -> None:
    if options.output is not None:
        grouped_output.write(options.output, found)
        if found.draws:  # also with --quiet: the file itself does not say so
            output.note(NOT_PRIVATE)
    if options.json:
        facts = grouped_words.facts(options, which, call, len(found.groups))
        names = grouped_words.VALUES[which, found.draws]
        pairs = zip(found.groups, found.values, strict=True)
        rows = [{"group": group, names: value} for group, value in pairs]
        output.as_json({**facts, "rows": rows})
    elif options.output is None:
        if found.draws:
            print(grouped_words.head(options, which, call, len(found.groups)))
        grouped_output.table(found)
