"""The commands of mechanisms and of budgets: each is one call of the public API."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BudgetExceeded, LabelError, ParameterError, PrivacyWarning
from .request import FROM_DATA, make_request
from .watch import note, state

if TYPE_CHECKING:
    from ..privacy.budget import Budget
    from ..privacy.guarantee import Guarantee

NOT_PRIVATE = "NOT PRIVATE: exact figures of FILE, without noise. Never publish them"
NO_PROMISE = "promises nothing: which groups occur is taken from FILE. For public data only"
ONE = {"add-remove": "with or without any one {}", "replace": "whatever any one {} contains"}
FINE = "answers lie on 2^40 points between the bounds: for whole numbers add --step 1"
AMOUNTS = "epsilon", "delta", "rho", "neighbors"


def answer(options: Namespace) -> None:
    """Release answers and print them; or print what a release promises and costs, or its errors."""
    query, answers, source = make_request(options)
    if options.accuracy:
        note(NOT_PRIVATE)
        _print(
            query.accuracy(source, answers, nan=options.nan or "raise"), {"private": False}, options
        )
        return
    budget = None if options.budget is None else open_budget(options)
    promise = query.total(answers, neighbors=budget and budget.neighbors)
    is_private = options.groups != FROM_DATA
    sentence = _sentence(promise, options) if is_private else NO_PROMISE
    facts: dict[str, Any] = {"private": is_private}
    if is_private:
        facts["promised"] = {name: getattr(promise, name) for name in AMOUNTS}
    before = None if budget is None else state(options)
    if options.check:
        lines = [sentence]
        if budget is not None:
            lines.append(_check(budget, promise, before, options.label))
        print(json.dumps(facts | {"check": lines[1:]}) if options.json else "\n".join(lines))
        return
    bounds = getattr(options, "bounds", None)
    if bounds and options.step is None and all(isinstance(bound, int) for bound in bounds):
        note(FINE)
    note(sentence)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # NO_PROMISE says it
        found = query.release(
            source,
            answers,
            nan=options.nan or "raise",
            budget=budget,
            label=options.label,
            output=options.output,
        )
    paid = None if budget is None else _paid(budget, promise, before, options.label)
    if options.json or options.output is None:
        _print(found, facts | {"budget": paid}, options)
    else:
        note(f"the answers are in {options.output!r}")
    if paid:
        note(paid)


def open_budget(options: Namespace) -> Budget:
    """Return the budget of a file that exists."""
    import fastexp as fx

    if not Path(options.budget).exists():
        raise ParameterError(
            f"there is no budget {options.budget!r}: fastexp budget {options.budget} --epsilon E "
            "makes one"
        )
    return fx.Budget.file(options.budget)


def _sentence(promise: Guarantee, options: Namespace) -> str:
    """Return what a release promises, in plain words."""
    is_row = options.person is None and not (options.max_rows or options.max_groups)
    who = "row" if is_row else "person"
    factor = f"e^{promise.epsilon!r} = {Decimal(promise.epsilon).exp():.4g}"
    slack = f", but for a probability of {promise.delta!r}" if promise.delta else ""
    return (
        f"promise: {ONE[str(promise.neighbors)].format(who)}, each result is at most {factor} "
        f"times as likely{slack}; {promise.assumes}"
    )


def _check(budget: Budget, promise: Guarantee, before: str | None, label: str) -> str:
    """Return what a release would charge; refuse one that would be refused."""
    if before == "failed":
        raise LabelError(f"--label {label!r} is used up: use another")
    if before:
        return f"would charge nothing more: label {label!r} was charged"
    costs = [
        (budget.unit, getattr(promise, budget.unit), budget.remaining),
        *([("delta", promise.delta, budget.remaining_delta)] if budget.unit == "epsilon" else []),
    ]
    for unit, cost, rest in costs:
        if cost > rest:
            raise BudgetExceeded(
                f"the release costs {cost} of {unit}, but only {rest} remains; nothing was drawn or "
                "charged"
            )
    return "would charge " + ", ".join(
        f"{cost} of {rest} {unit}" for unit, cost, rest in costs if cost
    )


def _paid(budget: Budget, promise: Guarantee, before: str | None, label: str) -> str:
    """Return what a release charged."""
    how = {
        "answered": "charged nothing: these answers were",
        "open": "charged nothing more than a run that did not end; the answers are",
    }.get(
        before or "", f"charged {getattr(promise, budget.unit)} of {budget.unit}; the answers are"
    )
    return f"{how} kept under label {label!r}; {_left(budget)}"


def _left(budget: Budget) -> str:
    left = f"{budget.remaining} of {budget.total} {budget.unit}"
    if budget.total_delta:
        left += f" and {budget.remaining_delta} of {budget.total_delta} delta"
    return f"{left} remains"


def budget(options: Namespace) -> None:
    """Create a budget file, or show it."""
    import fastexp as fx

    limits = {name: getattr(options, name) for name in AMOUNTS if getattr(options, name)}
    options.budget = options.file
    if options.file is None:
        raise ParameterError("FILE is needed: the budget file to create or show")
    found = fx.Budget.file(options.file, **limits) if limits else open_budget(options)
    names = ["unit", "neighbors", "total", "spent", "remaining"]
    if found.total_delta:
        names += ["total_delta", "spent_delta", "remaining_delta"]
    facts, log = {name: getattr(found, name) for name in names}, found.log()
    if options.json:
        print(json.dumps(facts | {"log": log}))
    elif options.log and log:
        _table({name: [line[name] for line in log] for name in log[0]})
    else:
        _table({"limit": [*facts], "": [*facts.values()]})


def _print(found: Any, facts: dict[str, Any], options: Namespace) -> None:
    """Print answers: one alone, a table, or JSON."""
    columns = found.to_pydict()
    names, rows = [*columns], [*zip(*columns.values(), strict=True)]
    if options.json:
        told = {"command": options.command, **facts}
        told["rows"] = [dict(zip(names, row, strict=True)) for row in rows]
        print(json.dumps(told, default=str))
    elif len(names) > 1:
        _table(columns)
    else:
        ((value,),) = rows
        print(*(value if isinstance(value, list) else [value]), sep="\n")


def _table(columns: dict[str, list[Any]]) -> None:
    """Print columns of a width; what a terminal would obey is escaped."""
    texts = [[name, *map(_text, values)] for name, values in columns.items()]
    widths = [max(map(len, column)) for column in texts]
    for row in zip(*texts, strict=True):
        print("  ".join(map(str.ljust, row, widths)).rstrip())


def _text(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if text.isprintable() else ascii(text)
