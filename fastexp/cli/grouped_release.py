"""Charge, read, draw and print: what happens to a call by group once it is checked."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

from .. import _validate
from .._typing import AnyArray, IntArray
from ..query.output import Output, OutputFile, reserved
from . import grouped_draws, grouped_output, grouped_words, output
from .grouped_call import Call
from .grouped_keys import Found
from .grouped_output import Answers
from .grouped_progress import Progress
from .grouped_rows import Batch
from .grouped_store import Store
from .info import announce_compiling
from .payment import Payment
from .select import NOT_PRIVATE


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
    payment = Payment(options, call.question)
    batches = None if payment.settled else call.open()
    if call.from_data:
        output.note(grouped_words.FROM_DATA)
    room = 0 if options.budget is None else grouped_output.room(options, call)
    wanted = options.output and Output(options.output, options.force)
    with reserved(wanted, room) if wanted else nullcontext() as place:
        if batches is not None:
            announce_compiling()

        def draw() -> list[list[Any]]:
            return _answers(options, call, batches or call.open())

        groups, values = payment.answers(draw)
        found = Answers(options.by, options.column, groups, values, not call.how.is_release)
        facts = _facts(options, which, call, found)
        with payment.shown(facts, *([] if place is None else [place.folder])):
            _show(options, which, call, found, facts, place)
    if not options.quiet:
        for line in grouped_words.report(options, which, call, groups):
            output.note(grouped_words.wrapped(line))
        payment.tell()


def _answers(options: Namespace, call: Call, batches: Iterator[Batch]) -> list[list[Any]]:
    """Read the rows and draw: groups, and what each is answered."""
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
    return [names.labels(), values]


def _facts(options: Namespace, which: str, call: Call, found: Answers) -> dict[str, Any]:
    """All of it, as for ``--json``."""
    name = grouped_words.VALUES[which, found.draws]
    pairs = zip(found.groups, found.values, strict=True)
    rows = [{"group": group, name: value} for group, value in pairs]
    return {**grouped_words.facts(options, which, call, found.groups), "rows": rows}


def _show(
    options: Namespace,
    which: str,
    call: Call,
    found: Answers,
    facts: dict[str, Any],
    place: OutputFile | None,
) -> None:
    if place is not None:
        place.write(grouped_output.content(options.output, found))
        if found.draws:  # also with --quiet: the file itself does not say so
            output.note(NOT_PRIVATE)
    if options.json:
        output.as_json(facts)
    elif place is None:
        if found.draws:
            print(grouped_words.head(options, which, call, len(found.groups)))
        grouped_output.table(found)
