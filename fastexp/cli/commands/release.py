"""``fastexp release``: a publication is made, or checked: what it promises before it is made."""

from __future__ import annotations

import glob
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ...budget.budget import once
from ...errors import BudgetExceeded
from ...pictures.words import at_most, grid_text, name_of, title
from ...query.output import output_file
from ..ask import publication
from ..ask.payment import opened
from ..ask.released import Release
from ..errors import UserMistake
from ..tell import compiling, tables, words
from . import answer

if TYPE_CHECKING:
    from ...budget.budget import Budget
    from ..ask.call import Call

MISSING = {  # by nan
    "raise": "missing records are an error",
    "drop": "missing records are left out",
    "lower": "missing records count as the lower bound",
    "upper": "missing records count as the upper bound",
}
FIRST = 5  # groups or candidates that are shown
NEW, OPEN, ANSWERED = "new", "open", "answered"  # what there is under a label


def release(options: Namespace) -> None:
    """Make the release of a publication; with ``--check`` say what it is, and make none.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    if options.like is not None and not options.check:
        raise UserMistake("--like belongs to --check")
    call = publication.read(options.publication, force=bool(options.force))
    if options.check:
        check(call, options.like, as_json=options.json)
    else:
        answer.release(call, as_json=options.json, quiet=options.quiet)


def check(call: Call, like: str | None, *, as_json: bool) -> None:
    """Say what a publication promises and costs, and how accurate it is on public data.

    Its source and its key are not opened, nothing is drawn, and no file is changed.

    Parameters
    ----------
    call : Call
        Of a publication.
    like : str or None
        A public file with the columns of the source.
    as_json : bool

    Raises
    ------
    LabelError
        If the label is another question's.
    BudgetExceeded
        If the rest of the budget does not cover it; once all is said.
    """
    if call.output is not None:
        output_file.check(call.output, force=True)
    public, budget = Release(replace(call, key=None, output=None)), opened(str(call.budget))
    facts = _facts(call, public, budget)
    if not as_json:  # before the list is digested, so that something is seen at once
        _show(call, public, facts)
        sys.stdout.flush()
    facts["budget"] = paid = _paid(call, public, budget)
    if not as_json:
        _show_paid(call, paid)
    if like is not None:
        compiling.announce()
    facts["accuracy"] = rows = None if like is None else _accuracy(call, like)
    if as_json:
        tables.as_json(facts)
    elif rows is not None and like is not None:
        from ..tell import laws

        print(f"\n{words.of_public(like)}")
        laws.accuracy_table(rows)
    if paid["left"] is None:
        budget.rest_after(public.promise)  # says why there is none


def _facts(call: Call, public: Release, budget: Budget) -> dict[str, Any]:
    """What is asked and promised, as for ``--json``."""
    answers = {}
    for name, mechanism in call.answers.items():
        promise = call.query.total({name: mechanism}, neighbors=budget.neighbors)
        promised = words.promise_facts(promise)
        answers[name] = {**answer.answer_facts(call, name), "promised": promised}
    return {
        "kind": "check",
        "answers": answers,
        **words.query_facts(call.query),
        "promised": words.promise_facts(public.promise),
        "output": call.output,
    }


def _paid(call: Call, public: Release, budget: Budget) -> dict[str, Any]:
    """What a run costs and what it leaves (None: the budget has no room), as for ``--json``."""
    total, state = public.promise, _state(call, public, budget)
    cost = total.epsilon if budget.unit == "epsilon" else total.rho
    left: float | None = budget.remaining
    if state == NEW:
        try:
            left = budget.rest_after(total)
        except BudgetExceeded:
            left = None
    return {
        "file": call.budget,
        "unit": budget.unit,
        "neighbors": budget.neighbors,
        "cost": cost if state == NEW else 0.0,
        "remaining": budget.remaining,
        "left": left,
        "label": call.label,
        "state": state,
    }


class _Stopped(Exception):
    """A release that got as far as its charge."""


def _state(call: Call, public: Release, budget: Budget) -> str:
    """What there is under the label; LabelError if that is another question's."""

    def stop() -> NoReturn:
        raise _Stopped

    try:
        once(budget, call.label, public.question, stop, stop)
    except _Stopped:
        return OPEN if call.label in [entry["label"] for entry in budget.log()] else NEW
    return ANSWERED


def _show(call: Call, public: Release, facts: dict[str, Any]) -> None:
    """The same in words."""
    for name, (mechanism, column) in call.answers.items():
        heading = title(name_of(mechanism), mechanism)
        tables.line(f"{name}: {heading}")
        tables.line(f"    of column {column}; {MISSING[call.nan[name]]}")
        candidates = getattr(mechanism, "candidates", None)
        one_of = grid_text(mechanism) if candidates is None else _some(candidates)
        promised = at_most(facts["answers"][name]["promised"]["epsilon"])
        tables.line(f"    one of {one_of}; promises {promised}")
    tables.line(f"groups: {_groups(call)}")
    tables.line(answer.promised(public))


def _show_paid(call: Call, paid: dict[str, Any]) -> None:
    """The same of what it costs."""
    head = f"budget {call.budget}: {paid['remaining']!r} {paid['unit']} remains"
    if paid["state"] == ANSWERED:
        tables.line(f"{head}; label {call.label!r} is answered: a run repeats it, at no cost")
    elif paid["state"] == OPEN:
        tables.line(f"{head}; label {call.label!r} is charged: a run goes on, at no cost")
    else:
        left = "" if paid["left"] is None else f", which leaves {paid['left']!r}"
        tables.line(f"{head}; a run costs {paid['cost']!r}{left}")
    if paid["state"] != ANSWERED and call.output and Path(call.output).exists() and not call.force:
        tables.line(f"output {call.output} exists: a run needs --force")


def _groups(call: Call) -> str:
    """How many there are, and the first ones."""
    names = call.query.groups
    if names is None:
        return "one, of all rows"
    keys = names.labels()
    listed = [" ".join(map(str, key)) if isinstance(key, tuple) else key for key in keys[:FIRST]]
    more = ", ..." * (names.size > FIRST)
    return f"{names.size:,} of {', '.join(call.query.by)}: {_some(listed)}{more}"


def _some(items: Any) -> str:
    more = f", ... ({len(items):,})" if len(items) > FIRST else ""
    return ", ".join(map(str, items[:FIRST])) + more


def _accuracy(call: Call, like: str) -> list[dict[str, Any]]:
    """Exact figures on a public stand-in."""
    from ..tell import laws
    from . import known

    if _overlap(like, call.source.file):
        raise UserMistake("--like must be another file than source: its figures are not private")
    public = replace(call, source=call.source._replace(file=like))
    return laws.accuracy_rows(known.figures(public, seed=0))


def _overlap(like: str, private: str) -> bool:
    """Whether one of two paths, patterns or folders is the other one or in it, unopened."""
    likes, privates = (
        [Path(name).resolve() for name in (path, *glob.iglob(path, recursive=True))]  # noqa: PTH207
        for path in (like, private)
    )
    return any(a.is_relative_to(b) or b.is_relative_to(a) for a in likes for b in privates)
