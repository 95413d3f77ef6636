"""A release as it is printed: what it promises, its answers, what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from ..request.paid_release import PaidRelease, rows_of
from ..terminal import printing, tables
from . import sentences, waiting

if TYPE_CHECKING:
    from ...query.engines.frame import Column
    from ..request.score_release import ScoreRelease

    Release: TypeAlias = PaidRelease | ScoreRelease


def carry_out(release: Release, *, as_json: bool, quiet: bool, hint: str = "") -> None:
    """Charge, read, draw and print: the answers, or one JSON object.

    quiet: print nothing on stderr about promise and charge; hint: a line above the promise.
    """
    payment = release.payment
    if not quiet:
        notes = "\n".join(filter(None, (hint, promise_sentence(release))))
        payment.announce = partial(printing.note, notes)
        if not payment.has_stored_answer:
            waiting.announce_compilation()
    columns = release.columns()
    facts = partial(_facts, release, columns)
    with payment.rescuing(facts, release.folders):
        if as_json:
            printing.as_json(facts())
        elif release.output is None:
            single = len(release.answer_facts()) == 1
            print_answers(columns, len(release.query.by), single=single)
    texts = [payment.sentence(), *release.remarks()]
    if not quiet and any(texts):
        printing.note("; ".join(filter(None, texts)))


def print_answers(columns: Sequence[Column], keys: int, *, single: bool) -> None:
    """Print one answer without groups as it is (a list in lines), and others as a table.

    `keys` is the number of columns that name the group, `single` whether there is one answer.
    """
    rows = rows_of(columns)
    if keys == 0 and len(columns) == 1:
        for row in rows:
            printing.line(str(row[columns[0].name]))
        return
    if keys == 0 and single:
        tables.table(("answer", "value"), [[name, str(x)] for name, x in rows[0].items()])
        return
    names = [column.name for column in columns]
    texts = [name for name, kind, _ in columns if kind == "text"]
    tables.table(names, [[str(value) for value in row.values()] for row in rows], texts)


def promise_sentence(release: Release) -> str:
    """Return what the whole call promises, in words."""
    if release.breaks_promise:
        return "promises nothing, as a list was taken from the data"
    text = sentences.promises(release.promise, release.query, release.epsilon_of_row)
    is_publication = isinstance(release, PaidRelease) and release.call.origin is not None
    return text.replace(sentences.PERSON, 'person = "COLUMN"') if is_publication else text


def _facts(release: Release, columns: Sequence[Column]) -> dict[str, Any]:
    return {
        "kind": "release",
        "private": not release.breaks_promise,
        "answers": release.answer_facts(),
        **sentences.query_facts(release.query),
        "promised": None if release.breaks_promise else sentences.promise_facts(release.promise),
        "budget": release.payment.facts(),
        "output": release.output,
        "rows": rows_of(columns),
    }
