"""The commands of mechanisms and of budgets: each is one call of the public API."""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ..errors import BudgetExceeded, LabelError, ParameterError, PrivacyWarning
from .request import FROM_DATA, request
from .watch import STATES, note, state

if TYPE_CHECKING:
    from ..privacy.budget import Budget
    from ..privacy.guarantee import Guarantee

NO_PROMISE = "promises nothing: which groups occur is taken from FILE. For public data only"
ONE = {"add-remove": "with or without any one {}", "replace": "whatever any one {} contains"}
AMOUNTS = "epsilon", "delta", "rho", "neighbors"
SUMS = "spent", "remaining", "spent_delta", "remaining_delta"


def answer(options: Namespace) -> None:
    """Release answers and print them; or print what a release promises and costs, or its errors."""
    import fastexp as fx

    query, answers, source = request(options)
    settings: dict[str, Any] = {"nan": options.nan or "raise"}
    if options.accuracy:
        note("NOT PRIVATE: exact figures of FILE, without noise. Never publish them")
        if answers[options.column][0]._times:
            note("truth is in days after 1970-01-01, expected and quantile are in days")
        found = query.accuracy(source, answers, **settings)
        _print(found, answers, {"private": False}, options)
        return
    budget = fx.Budget.file(options.budget) if options.budget else None
    left = _facts(budget) if budget else {}
    promise = query.total(answers, neighbors=left.get("neighbors"))
    facts: dict[str, Any] = {"private": options.groups != FROM_DATA}
    facts["promised"] = {name: getattr(promise, name) for name in AMOUNTS}
    sentence = _sentence(promise, options)
    before = state(options) if budget else ""
    if options.check:
        text = _check(budget, promise, before, options.label) if budget else "without a budget"
        if options.json:
            _print_json(facts | {"budget": text})
        else:
            print(sentence, text, sep="\n")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # NO_PROMISE says it
        settings |= {"budget": budget, "label": options.label, "output": options.output}
        found = query.release(source, answers, **settings)
    bounds = getattr(options, "bounds", None)
    if bounds and options.step is None and all(isinstance(bound, int) for bound in bounds):
        note("answers lie on 2^40 points between the bounds: for whole numbers add --step 1")
    note(sentence)
    if budget:
        cost = 0.0 if before else getattr(promise, left["unit"])
        facts["budget"] = left = _facts(budget) | {"charged": cost}
    if options.json or not options.output:
        _print(found, answers, facts, options)
    if before == "answered" and options.file == "-":
        note("standard input was not read: the kept answers are printed")
    if budget:
        rest = "{remaining} of {total} {unit} remains".format(**left)
        note(f"charged {cost or 'nothing'}; {STATES['answered'].format(options.label)}; {rest}")


def _sentence(promise: Guarantee, options: Namespace) -> str:
    """Return what a release promises, in plain words."""
    if options.groups == FROM_DATA:
        return NO_PROMISE
    who = "person" if options.person or options.max_rows or options.max_groups else "row"
    factor = f"e^{promise.epsilon}"
    if promise.epsilon < 1e6:  # else it is more than a Decimal
        factor += f" = {Decimal(promise.epsilon).exp():.4g}"
    slack = f", but for a probability of {promise.delta}" if promise.delta else ""
    return (
        f"promise: {ONE[str(promise.neighbors)].format(who)}, each result is at most {factor} "
        f"times as likely{slack}; {promise.assumes}"
    )


def _check(budget: Budget, promise: Guarantee, before: str, label: str) -> str:
    """Return what a release would charge; refuse what it would refuse."""
    if before == "failed":
        raise LabelError(f"--label {label!r} is used up: use another")
    if before:
        return f"charges nothing; {STATES[before].format(label)}, and another is refused"
    from ..privacy.budget import cost_of

    facts = _facts(budget)
    cost, delta = map(float, cost_of(budget._ledger.terms, promise, 1))
    if cost > facts["remaining"] or delta > facts["remaining_delta"]:
        raise BudgetExceeded(
            f"the release costs {cost} of {facts['unit']} and {delta} of delta, but only "
            f"{facts['remaining']} and {facts['remaining_delta']} remain; nothing was charged"
        )
    return f"charges {cost} of the {facts['remaining']} {facts['unit']} that remains"


def _facts(budget: Budget) -> dict[str, Any]:
    terms = budget._ledger.terms
    total, total_delta = map(float, terms["limits"])
    return {
        "unit": terms["unit"],
        "neighbors": terms["neighbors"],
        "total": total,
        "total_delta": total_delta,
        **{name: getattr(budget, name) for name in SUMS},
    }


def show_budget(options: Namespace) -> None:
    """Create a budget file, or show it."""
    import fastexp as fx

    if not options.file:
        raise ParameterError("FILE is needed: the budget to create or show")
    given = vars(options).items()
    terms = {name: value for name, value in given if name in AMOUNTS and value is not None}
    budget = fx.Budget.file(options.file, **terms)
    facts, log = _facts(budget), budget.log()
    if options.json:
        _print_json(facts | {"log": log})
    elif options.log and log:
        print_table({name: [line[name] for line in log] for name in log[0]})
    else:
        print_table({"budget": [*facts], options.file: [*facts.values()]})


def _print(found: Any, answers: Any, facts: dict[str, Any], options: Namespace) -> None:
    """Print answers: one alone, a table, or JSON."""
    from ..query.output import spread

    columns = spread(found.to_pydict(), answers)
    if options.json:
        _print_json({"command": options.command, **facts, "rows": found.to_pylist()})
    elif len(columns) > 1:
        print_table(columns, is_rounded=options.accuracy)
    else:
        print(*columns[options.column])


def _print_json(facts: dict[str, Any]) -> None:
    """Print JSON, which has no infinity and no NaN."""
    text = json.dumps(facts, default=str)
    print(json.dumps(json.loads(text, parse_constant=lambda _: None)))


def print_table(columns: dict[str, Any], *, is_rounded: bool = False) -> None:
    """Print columns; what a terminal would obey is escaped."""
    cells = [[name, *(_text(x, is_rounded) for x in some)] for name, some in columns.items()]
    widths = [max(map(len, column)) for column in cells]
    for row in zip(*cells, strict=True):
        print("  ".join(map(str.ljust, row, widths)).rstrip())


def _text(value: Any, is_rounded: bool) -> str:
    text = f"{value:.6g}" if is_rounded and isinstance(value, float) and value % 1 else str(value)
    return text if text.isprintable() else ascii(text)
