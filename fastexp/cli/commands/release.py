"""``fastexp release``: make the release of a publication, or check what it would promise."""

from __future__ import annotations

import glob
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..._parameters.descriptions import amount, at_most, grid_text, name_of, plain, title
from ..._parameters.text import printable
from ...budget.budget import charge_and_draw
from ...budget.terms import printed, rest
from ...errors import BudgetExceeded
from ...privacy.rates import lattice_step
from ...query.calls.verbs import questions_of
from ...query.output import output_file
from ..render import sentences, waiting
from ..render.release_report import carry_out, promise_sentence
from ..request import publication
from ..request.paid_release import PaidRelease
from ..request.payment import budget_of, check_delta
from ..terminal import printing
from ..terminal.errors import UserMistake

if TYPE_CHECKING:
    from ...budget.budget import Budget
    from ..request.input_file import PublicCall

MISSING = {  # by nan
    "raise": "missing records are an error, which the promise does not cover",
    "drop": "missing records are left out",
    "lower": "missing records count as the lower bound",
    "upper": "missing records count as the upper bound",
}
FIRST = 5  # the most groups or candidates that are printed
ALL = "all of them with --json"
NEW, OPEN, ANSWERED = "new", "open", "answered"  # states of a label


def release(options: Namespace) -> None:
    """Make the release of a publication; with ``--check``, only describe it."""
    if options.like is not None and not options.check:
        raise UserMistake("--like needs --check")
    call = replace(
        publication.read(options.publication, force=options.force),
        quotes_formulas=options.quote_formulas,
        threads=options.threads,
        memory=options.memory,
        temp=options.temp,
    )
    hint = sentences.hint_of_step(call)
    if not options.check:
        carry_out(PaidRelease(call), as_json=options.json, quiet=options.quiet, hint=hint)
        return
    if hint and not options.quiet:
        printing.note(hint)
    check(call, options.like, as_json=options.json)


def check(call: PublicCall, like: str | None, *, as_json: bool) -> None:
    """Say what a publication promises and costs, and how accurate it is on public data.

    Its source and its key are not opened, nothing is drawn, and no file is changed. `like` is a
    public file with the columns of the source. A budget that has no room for it, or does not exist,
    is refused only after everything is printed, as whoever makes a budget must know the cost.
    """
    if call.output is not None:
        output_file.check(call.output)
    budget, unpaid = None, replace(call, key=None, output=None)
    if Path(str(call.budget)).exists():
        budget = budget_of(str(call.budget))
    else:
        unpaid = replace(unpaid, budget=None, label=None, note=None)
    public = PaidRelease(unpaid)
    facts = _facts(call, public, budget)
    if not as_json:  # before the list is digested, so that there is output at once
        _show(call, public, facts)
        sys.stdout.flush()
    facts["budget"] = costs = None if budget is None else _costs(call, public, budget)
    if costs is not None and not as_json:
        _show_costs(call, public, costs)
    if like is not None:
        waiting.announce_compilation()
    facts["accuracy"] = rows = None if like is None else _accuracy(call, like)
    if as_json:
        printing.as_json(facts)
    elif rows is not None and like is not None:
        from ..render import law_tables

        public_file = printable(like)
        print(f"\nNOT PRIVATE: computed from {public_file} without noise. It must be public.")
        law_tables.accuracy_table(rows)
    if budget is None:
        budget_of(str(call.budget), has_delta=bool(public.promise.delta))  # says that there is none
    elif costs is not None and costs["left"] is None:
        check_delta(budget, public.promise)
        budget.rest_after(public.promise)  # says why there is none


def _facts(call: PublicCall, public: PaidRelease, budget: Budget | None) -> dict[str, Any]:
    answers = public.answer_facts()
    relation, names = None if budget is None else budget.neighbors, call.query.groups
    questions = questions_of(call.query, public.answers).each  # the last may be of the groups
    promises = [sentences.promise_facts(question.promise(relation)) for question in questions]
    for answer, promise in zip(answers.values(), promises, strict=False):
        answer["promised"] = promise
    return {
        "kind": "check",
        "answers": answers,
        **sentences.query_facts(call.query),
        "group_names": None if names is None else plain(names.labels()),
        "groups_file": call.groups_file,
        "groups_promised": None if call.query.private is None else promises[-1],
        "promised": sentences.promise_facts(public.promise),
        "key": call.key,
        "output": call.output,
    }


def _costs(call: PublicCall, public: PaidRelease, budget: Budget) -> dict[str, Any]:
    """Return what a run costs and leaves (None: the budget has no room), as for ``--json``."""
    total, state = public.promise, NEW
    cost = total.epsilon if budget.unit == "epsilon" else total.rho
    left: float | None = None
    with suppress(BudgetExceeded):
        check_delta(budget, total)
        state = _state(call, public, budget)
        left = budget.rest_after(total) if state == NEW else budget.remaining
    costs = {
        **(public.payment.facts() or {}),
        "file": call.budget,
        "cost": cost if state == NEW else 0.0,
        "left": left,
        "state": state,
    }
    if budget.total_delta:
        delta = total.delta if state == NEW else 0.0
        after = None if left is None else rest(budget.remaining_delta, printed(delta))
        costs |= {"cost_delta": delta, "left_delta": after}
    return costs


class _Stopped(Exception):
    """A release that reached its charge."""


def _state(call: PublicCall, public: PaidRelease, budget: Budget) -> str:
    """Return the state of the label; raise LabelError if it is that of another question."""

    def stop() -> NoReturn:
        raise _Stopped

    try:
        charge_and_draw(budget, call.label, public.question, stop, stop)
    except _Stopped:
        return OPEN if call.label in [entry["label"] for entry in budget.log()] else NEW
    return ANSWERED


def _show(call: PublicCall, public: PaidRelease, facts: dict[str, Any]) -> None:
    for name, (mechanism, column) in call.answers.items():
        heading = title(name_of(mechanism), mechanism)
        printing.line(f"{name}: {heading}")
        candidates = getattr(mechanism, "candidates", None)
        missing = MISSING[call.nan[name]] if candidates is None else "missing records count nowhere"
        printing.line(f"    of column {column}; {missing}")
        one_of = grid_text(mechanism) if candidates is None else _first(candidates)
        answer = facts["answers"][name]
        if answer.get("with_total"):
            one_of += f", and a total, a multiple of {lattice_step(answer['epsilon'])}"
        promised = amount(Namespace(**answer["promised"]))
        printing.line(f"    one of {one_of}; promises {promised}")
    printing.line(f"groups: {_groups(call, facts)}")
    if call.key is not None:
        printing.line(f"key: {call.key} (whoever has it can undo the noise)")
    printing.line(promise_sentence(public))


def _show_costs(call: PublicCall, public: PaidRelease, costs: dict[str, Any]) -> None:
    head = f"budget {call.budget}: {public.payment.left()}"
    if costs["state"] == ANSWERED:
        printing.line(f"{head}; label {call.label!r} is answered: a run repeats it, at no cost")
    elif costs["state"] == OPEN:
        goes = "goes on, at no cost" if call.query.private is None else "uses it up"
        printing.line(f"{head}; label {call.label!r} is charged: a run {goes}")
    elif costs["cost"] is None:  # no rho is promised
        printing.line(head)
    else:
        left = "" if costs["left"] is None else f", which leaves {_amounts(costs, 'left')}"
        printing.line(f"{head}; a run costs {_amounts(costs, 'cost')}{left}")
    if costs["state"] != ANSWERED and call.output and Path(call.output).exists() and not call.force:
        printing.line(f"output {call.output} exists: a run needs --force")


def _amounts(costs: dict[str, Any], name: str) -> str:
    delta = costs.get(f"{name}_delta")
    return f"{costs[name]!r}" + ("" if delta is None else f" and {delta!r} of delta")


def _groups(call: PublicCall, facts: dict[str, Any]) -> str:
    names, private, by = call.query.groups, call.query.private, ", ".join(call.query.by)
    if private is not None:
        coins = "" if private.epsilon is None else f", epsilon {at_most(private.epsilon)}"
        rule = f"delta {at_most(private.delta)}{coins}"
        promised = amount(Namespace(**facts["groups_promised"]))
        return f"private, of {by} ({rule}); promises {promised}"
    if names is None:
        return "one, of all rows"
    keys = names.labels()[:FIRST]
    texts = [" ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in keys]
    more = f", ... ({ALL})" * (names.size > FIRST)
    place = "" if call.groups_file is None else f", listed in {call.groups_file}"
    return f"{names.size:,} of {by}{place}: {', '.join(texts)}{more}"


def _first(candidates: Sequence[object]) -> str:
    more = f", ... ({len(candidates):,}; {ALL})" if len(candidates) > FIRST else ""
    return ", ".join(map(str, candidates[:FIRST])) + more


def _accuracy(call: PublicCall, like: str) -> list[dict[str, Any]]:
    from ..render import law_tables
    from . import not_private

    if _overlap(like, call.source.path):
        raise UserMistake("--like must not be source: its figures would not be private")
    public = replace(call, source=call.source._replace(path=like))
    return law_tables.accuracy_rows(not_private.figures(public, seed=0))


def _overlap(like: str, private: str) -> bool:
    """Whether one of two paths, patterns or folders is the other, or in it; nothing is opened."""
    likes, privates = (
        [
            Path(name).resolve()
            for name in (path, *glob.iglob(path, recursive=True))  # noqa: PTH207  # as FILE is read
        ]
        for path in (like, private)
    )
    return any(a.is_relative_to(b) or b.is_relative_to(a) for a in likes for b in privates)
