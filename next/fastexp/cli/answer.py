"""The commands of mechanisms and of budgets: each is one call of the public API."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import LabelError, ParameterError, PrivacyWarning
from .request import FROM_DATA, request
from .watch import STATES, note, state

if TYPE_CHECKING:
    from ..privacy.budget import Budget
    from ..privacy.guarantee import Guarantee

NOT_PRIVATE = "NOT PRIVATE: exact figures of FILE, without noise. Never publish them"
NO_PROMISE = "promises nothing: which groups occur is taken from FILE. For public data only"
ONE = {"add-remove": "with or without any one {}", "replace": "whatever any one {} contains"}
FINE = "answers lie on 2^40 points between the bounds: for whole numbers add --step 1"
AMOUNTS = "epsilon", "delta", "rho", "neighbors"
FACTS = "unit", "total", "spent", "remaining", "total_delta", "spent_delta", "neighbors"


def answer(options: Namespace) -> None:
    """Release answers and print them; or print what a release promises and costs, or its errors."""
    query, answers, source = request(options)
    nan = options.nan or "raise"
    if options.accuracy:
        note(NOT_PRIVATE)
        _print(query.accuracy(source, answers, nan=nan), {"private": False}, options)
        return
    budget = open_budget(options.budget) if options.budget else None
    promise = query.total(answers, neighbors=budget.neighbors if budget else None)
    is_private = options.groups != FROM_DATA
    sentence = _sentence(promise, options) if is_private else NO_PROMISE
    facts: dict[str, Any] = {"private": is_private}
    if is_private:
        facts["promised"] = {name: getattr(promise, name) for name in AMOUNTS}
    before = state(options) if budget else ""
    if options.check:
        facts["budget"] = _check(budget, promise, before, options.label) if budget else None
        lines = [sentence, facts["budget"] or "no budget would be charged"]
        print(json.dumps(facts) if options.json else "\n".join(lines))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # NO_PROMISE says it
        found = query.release(
            source,
            answers,
            nan=nan,
            budget=budget,
            label=options.label,
            output=options.output,
        )
    bounds = getattr(options, "bounds", None)
    if bounds and options.step is None and all(isinstance(bound, int) for bound in bounds):
        note(FINE)
    note(sentence)
    if budget:
        cost = 0.0 if before else getattr(promise, budget.unit)
        facts["budget"] = {"charged": cost, "label": options.label, **_facts(budget)}
    if options.json or not options.output:
        _print(found, facts, options)
    else:
        note(f"the answers are in {options.output!r}")
    if budget:
        kept = STATES["answered"].format(options.label)
        note(f"charged {cost or 'nothing'}; {kept}; {_left(budget)}")


def open_budget(path: str) -> Budget:
    """Return the budget of a file that exists."""
    import fastexp as fx

    if not Path(path).exists():
        raise ParameterError(
            f"there is no budget {path!r}: fastexp budget {path} --epsilon E makes one"
        )
    return fx.Budget.file(path)


def _sentence(promise: Guarantee, options: Namespace) -> str:
    """Return what a release promises, in plain words."""
    who = "person" if options.person or options.max_rows or options.max_groups else "row"
    factor = f"e^{promise.epsilon} = {Decimal(promise.epsilon).exp():.4g}"
    slack = f", but for a probability of {promise.delta}" if promise.delta else ""
    return (
        f"promise: {ONE[str(promise.neighbors)].format(who)}, each result is at most {factor} "
        f"times as likely{slack}; {promise.assumes}"
    )


def _check(budget: Budget, promise: Guarantee, before: str, label: str) -> str:
    """Return what a release would charge; refuse what it would refuse."""
    import fastexp as fx

    if before == "failed":
        raise LabelError(f"--label {label!r} is used up: use another")
    if before:
        return f"would charge nothing; {STATES[before].format(label)}"
    limit: Any = {budget.unit: budget.total, "delta": budget.total_delta}
    trial = fx.Budget(**limit, neighbors=budget.neighbors)
    trial.charge(fx.Guarantee(budget.spent, None, None, budget.spent, budget.spent_delta, ""))
    trial.charge(promise)
    return f"would charge {getattr(promise, budget.unit)}, so that {_left(trial)}"


def _left(budget: Budget) -> str:
    left = f"{budget.remaining} of {budget.total} {budget.unit}"
    if budget.total_delta:
        left += f" and {budget.remaining_delta} of {budget.total_delta} delta"
    return f"{left} remains"


def _facts(budget: Budget) -> dict[str, Any]:
    return {name: getattr(budget, name) for name in FACTS}


def show_budget(options: Namespace) -> None:
    """Create a budget file, or show it."""
    import fastexp as fx

    if not options.file:
        raise ParameterError("FILE is needed: the budget to create or show")
    limits = {name: getattr(options, name) for name in AMOUNTS if getattr(options, name)}
    budget = fx.Budget.file(options.file, **limits) if limits else open_budget(options.file)
    facts, log = _facts(budget), budget.log()
    if options.json:
        print(json.dumps(facts | {"log": log}))
    elif options.log and log:
        print_table({name: [line[name] for line in log] for name in log[0]})
    else:
        print_table({"budget": [*facts], options.file: [*facts.values()]})


def _print(found: Any, facts: dict[str, Any], options: Namespace) -> None:
    """Print answers: one alone, a table, or JSON."""
    columns = found.to_pydict()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if options.json:
        print(json.dumps({"command": options.command, **facts, "rows": rows}, default=str))
    elif len(columns) > 1:
        print_table(columns)
    else:
        (value,) = rows[0].values()
        print(*(value if isinstance(value, list) else [value]), sep="\n")


def print_table(columns: dict[str, Any]) -> None:
    """Print columns; what a terminal would obey is escaped."""
    cells = [[name, *map(_text, values)] for name, values in columns.items()]
    widths = [max(map(len, column)) for column in cells]
    for row in zip(*cells, strict=True):
        print("  ".join(map(str.ljust, row, widths)).rstrip())


def _text(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if text.isprintable() else ascii(text)
