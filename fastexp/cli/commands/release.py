"""``fastexp release``: a publication is made, or checked: what it promises before it is made."""

from __future__ import annotations

import glob
import math
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from ...budget import once
from ...errors import BudgetExceeded
from ...query import output
from ...query.accuracy import Accurate, accurate
from ...query.answers import answers_of
from ...query.memory import Room
from ..ask import publication, source
from ..ask.payment import opened
from ..ask.released import Release, rows_of
from ..errors import UserMistake
from ..tell import tables, words
from . import answer

if TYPE_CHECKING:
    from ...budget import Budget
    from ...privacy import Guarantee
    from ..ask.call import Call

FIRST = 5  # groups or candidates that are shown
State = Literal["new", "open", "answered"]


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
    """
    if call.output is not None:
        output.check(call.output, force=True)
    public = Release(replace(call, key=None, output=None))
    budget = opened(str(call.budget))
    state = _state(public, budget, call.label)
    left = budget.remaining if state != "new" else _left(budget, public.promise)
    figures = None if like is None else _accuracy(call, like)
    if as_json:
        tables.as_json({**_facts(call, public, state, left, budget), "accuracy": figures})
    else:
        _show(call, public, state, left, budget)
        if figures is not None:
            print(f"\nhow accurate, on {like} (not private)")
            tables.table(list(figures[0]), [list(map(_short, row.values())) for row in figures])
    if left is None:
        budget.rest_after(public.promise)  # says why there is none


class _Stopped(Exception):
    """A release that got as far as its charge."""


def _state(public: Release, budget: Budget, label: str | None) -> State:
    """What there is under the label; LabelError if that is for another question."""

    def stop() -> NoReturn:
        raise _Stopped

    try:
        once(budget, label, public.question, stop, stop)
    except _Stopped:
        return "open" if label in [entry["label"] for entry in budget.log()] else "new"
    return "answered"


def _left(budget: Budget, promise: Guarantee) -> float | None:
    """What remains after a run; None if the rest does not cover it."""
    try:
        return budget.rest_after(promise)
    except BudgetExceeded:
        return None


def _accuracy(call: Call, like: str) -> list[dict[str, Any]]:
    """Exact figures on a public stand-in."""
    if _overlap(like, call.source.file):
        raise UserMistake("--like must be another file than source: its figures are not private")
    answers = answers_of(call.answers, call.query.by, call.nan)
    way = Accurate(call.query, answers, 0.95, 0, call.threads)
    with source.opened(call.source._replace(file=like)) as frame:
        return rows_of(accurate(way, frame, Room(None, None)))


def _overlap(like: str, private: str) -> bool:
    """Whether one of two paths, patterns or folders is the other one or in it, unopened."""
    likes, privates = (
        [Path(name).resolve() for name in (path, *glob.iglob(path, recursive=True))]  # noqa: PTH207
        for path in (like, private)
    )
    return any(a.is_relative_to(b) or b.is_relative_to(a) for a in likes for b in privates)


def _show(call: Call, public: Release, state: State, left: float | None, budget: Budget) -> None:
    for name, (mechanism, column) in call.answers.items():
        title = words.title(words.name_of(mechanism), mechanism)
        tables.line(f"{name}: {title}; of column {column}, missing records: {call.nan[name]}")
        promise = words.amount(_promise(call, name, budget))
        tables.line(f"    one of {_range(mechanism)}; promises {promise}")
    tables.line(words.promised(public.promise, call.query, _each(call)))
    cost = _cost(public.promise, budget)
    name = f"budget {call.budget}"
    if state == "answered":
        tables.line(f"{name}: label {call.label!r} is answered: a run repeats it, at no cost")
    elif state == "open":
        tables.line(f"{name}: label {call.label!r} is charged already: a run goes on, at no cost")
    elif left is not None:
        tables.line(f"{name}: a run costs {cost!r} of {budget.remaining!r}, and leaves {left!r}")
    tables.line(f"groups: {_groups(call)}")
    if state != "answered" and call.output and Path(call.output).exists() and not call.force:
        tables.line(f"output {call.output} exists: a run needs --force")


def _facts(
    call: Call, public: Release, state: State, left: float | None, budget: Budget
) -> dict[str, Any]:
    """All of it, as for ``--json``."""
    answers = {
        name: {
            **answer.answer_facts(call, name),
            "promised": words.promise_facts(_promise(call, name, budget)),
        }
        for name in call.answers
    }
    paid = {
        "file": call.budget,
        "unit": budget.unit,
        "neighbors": budget.neighbors,
        "cost": 0.0 if state != "new" else _cost(public.promise, budget),
        "remaining": budget.remaining,
        "left": left,
        "label": call.label,
        "state": state,
    }
    facts = {"kind": "check", "answers": answers, **words.query_facts(call.query)}
    return {
        **facts,
        "promised": words.promise_facts(public.promise),
        "budget": paid,
        "output": call.output,
    }


def _promise(call: Call, name: str, budget: Budget) -> Guarantee:
    """What one of the answers promises, under the budget's relation."""
    return call.query.total({name: call.answers[name]}, neighbors=budget.neighbors)


def _cost(promise: Guarantee, budget: Budget) -> float | None:
    """What is charged."""
    return promise.epsilon if budget.unit == "epsilon" else promise.rho


def _each(call: Call) -> float:
    """What one row of a person costs."""
    return sum(float(mechanism.guarantee.epsilon or 0.0) for mechanism, _ in call.answers.values())


def _range(mechanism: Any) -> str:
    """What an answer can be, in a few words."""
    candidates = getattr(mechanism, "candidates", None)
    return words.grid_text(mechanism) if candidates is None else _some(list(candidates))


def _groups(call: Call) -> str:
    names = call.query.groups
    if names is None:
        return "one, of all rows"
    keys = names.labels()
    listed = [" ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in keys]
    return f"{names.size:,} of {', '.join(call.query.by)}: {_some(listed)}"


def _some(items: list[Any]) -> str:
    more = f", ... ({len(items):,})" if len(items) > FIRST else ""
    return ", ".join(map(str, items[:FIRST])) + more


def _short(value: Any) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.6g}"
    return str(value)
