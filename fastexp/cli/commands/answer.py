"""``fastexp median``, ``quantile``, ``maximum``, ``mode``, ``price`` and ``select``.

One call gives one kind of output: a private release, or the exact law, simulated draws, or how
accurate answers are (these three are not private).
"""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from ...pictures.words import parameters
from ..ask import lists
from ..ask.asked import call_of
from ..ask.released import Release, rows_of
from ..tell import compiling, tables, words
from . import scores

if TYPE_CHECKING:
    from ...query.engines.frame import Column
    from ..ask.call import Call


def answer(options: Namespace) -> None:
    """Release the answer of a command, or tell what is known of it.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    if options.command == "select" and scores.is_asked(options):
        scores.select(options)
        return
    call = call_of(options, options.command)
    for name in ("groups", "candidates"):
        if getattr(options, name, None) == lists.FROM_DATA:
            tables.note(words.FROM_DATA.format(what=f"the {name}"))
    if options.law or options.accuracy or options.draws is not None:
        from . import known

        if not options.quiet:
            compiling.announce()
        known.tell(call, options)
    else:
        release(call, as_json=options.json, quiet=options.quiet)


def release(call: Call, *, as_json: bool, quiet: bool) -> None:
    """Charge, read, draw, print: what a command and a publication have in common.

    Parameters
    ----------
    call : Call
    as_json : bool
        One JSON object on stdout, else the answer or a table of them.
    quiet : bool
        No lines on stderr about what was promised and charged.
    """
    release = Release(call)
    if not quiet:  # before a record is read, so that something is seen at once
        tables.note(promised(release))
        if not release.payment.is_settled:
            compiling.announce()
    columns = release.columns()

    def facts() -> dict[str, Any]:
        return _facts(release, columns)

    with release.payment.shown(facts, *release.folders):
        if as_json:
            tables.as_json(facts())
        elif call.output is None:
            show(columns, len(call.query.by))
    if not quiet and (line := _paid(release)):
        tables.note(line)


def show(columns: list[Column], keys: int) -> None:
    """One answer of one data set as it is; else a table, a row a group.

    Parameters
    ----------
    columns : list of Column
    keys : int
        How many of them say which group it is.
    """
    rows = rows_of(columns)
    if keys == 0 and len(columns) == 1:
        (value,) = rows[0].values()
        tables.line(str(value))
        return
    names = [column.name for column in columns]
    texts = [name for name, kind, _ in columns if kind == "text"]
    tables.table(names, [[str(value) for value in row.values()] for row in rows], texts)


def promised(release: Release) -> str:
    """A line about what the whole call promises."""
    if release.breaks_promise:
        return "promises nothing, as a list was taken from the data"
    each = sum(mechanism.guarantee.epsilon or 0.0 for mechanism, _ in release.call.answers.values())
    return words.promised(release.promise, release.call.query, each)


def _paid(release: Release) -> str:
    """What was charged, kept and written."""
    call = release.call
    parts = [release.payment.words()]
    if call.key is not None:
        parts.append("the same key, label and records give the same answers")
    if call.output is not None:
        has_them = f"{call.output} has these answers already"
        parts.append(has_them if release.had_file else f"written: {call.output}")
    return "; ".join(filter(None, parts))


def _facts(release: Release, columns: list[Column]) -> dict[str, Any]:
    """All of it, as for ``--json``."""
    facts: dict[str, Any] = {
        "kind": "release",
        "private": not release.breaks_promise,
        "answers": {name: answer_facts(release.call, name) for name in release.call.answers},
        **words.query_facts(release.call.query),
        "promised": None if release.breaks_promise else words.promise_facts(release.promise),
        "budget": release.payment.facts(),
        "output": release.call.output,
    }
    return {**facts, "rows": rows_of(columns)}


def answer_facts(call: Call, name: str) -> dict[str, Any]:
    """The public parameters of an answer, for ``--json``."""
    mechanism, column = call.answers[name]
    return {**parameters(mechanism), "column": column, "nan": call.nan[name]}
