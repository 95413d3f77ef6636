"""``fastexp median``, ``quantile`` and ``price``: a private number, its law, or simulations."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from ..budget import spend
from ..errors import InvalidRecords
from . import interrupts, number_law, number_plot, output, plot
from .budget import opened, rest
from .errors import UnreadableRows
from .grouped import answer, by_group
from .info import announce_compiling
from .number_question import Question, ask, check, mechanism
from .number_words import LISTED, grid_text, parameters, title
from .select import NOT_PRIVATE, promise

if TYPE_CHECKING:
    from ..budget import Budget

CHARGED = "charged nevertheless, as a failure may tell of the data"


def median(options: Namespace) -> None:
    """Answer with one kind of output about the median.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    _answer(options, "median")


def quantile(options: Namespace) -> None:
    """The same about a quantile.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    _answer(options, "quantile")


def price(options: Namespace) -> None:
    """The same about the price of highest revenue.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    _answer(options, "price")


def _answer(options: Namespace, which: str) -> None:
    check(options)
    if by_group(options):
        answer(options, which)
        return
    made = mechanism(options, which)  # parameters are refused before the file is looked at
    if options.plot is not None:
        plot.check(options.plot)
    budget = None if options.budget is None else opened(options.budget)
    try:
        question = ask(options, which, made)
    except UnreadableRows:
        if budget is not None:
            interrupts.check()
            spend(budget, made)
            output.note(f"{CHARGED}; {rest(budget)}")
        raise
    announce_compiling()
    if options.law:
        _law(question, options)
    elif options.draws is not None:
        _draws(question, options)
    else:
        _release(question, options, budget)


def _release(question: Question, options: Namespace, budget: Budget | None) -> None:
    made, before = question.mechanism, None if budget is None else budget.spent
    interrupts.check()
    try:
        value = made.release(question.data, nan=question.nan, budget=budget)
    except InvalidRecords:
        if budget is not None:
            output.note(f"{CHARGED}; {rest(budget)}")
        raise
    if options.json:
        facts = {"kind": "release", "private": True, "value": value}
        output.as_json({**facts, **parameters(question)})
    else:
        print(value)
    if not options.quiet:
        output.note(promise(made.guarantee))
        output.note(f"drawn from the public grid {grid_text(made)}")
        if made.step is None and made.grid.points is None:
            output.note("no --step: if the numbers are rounded (ages, prices), give theirs")
        if budget is not None:
            output.note(rest(budget, before))


def _law(question: Question, options: Namespace) -> None:
    law = question.mechanism.law(question.data, nan=question.nan)
    facts = number_law.facts(question, law)
    if options.plot is not None:
        number_plot.law(options.plot, question, law, facts["truth"])
    if options.json:
        rows = number_law.rows(law) if law.grid.size <= LISTED else None
        _print_json("law", question, options, {**facts, **({"rows": rows} if rows else {})})
        return
    _print_head(question)
    number_law.print_facts(question, facts)
    _note_plot(options)


def _draws(question: Question, options: Namespace) -> None:
    law = question.mechanism.law(question.data, nan=question.nan)
    drawn = law.sample(options.draws, rng=options.seed)
    truth, exact = number_law.truth(question), number_law.moments(law)
    observed = number_law.observed(drawn, truth)
    exact["expected_error"] = None if truth is None else law.expected_error(truth)
    if options.plot is not None:
        number_plot.draws(options.plot, question, law, drawn, truth)
    if options.json:
        facts: dict[str, Any] = {"draws": options.draws, "seed": options.seed, "truth": truth}
        facts |= {"observed": observed, "exact": exact}
        if law.grid.size <= LISTED:
            facts["rows"] = number_law.rows(law, drawn)
        elif options.draws <= LISTED:
            facts["values"] = drawn.tolist()
        _print_json("draws", question, options, facts)
        return
    _print_head(question)
    seed = "no seed" if options.seed is None else f"seed {options.seed}"
    print(f"{options.draws:,} simulated draws, {seed}, beside the exact law\n")
    number_law.print_comparison(observed, exact)
    _note_plot(options)


def _print_head(question: Question) -> None:
    print(NOT_PRIVATE)
    print(f"{title(question)}, on the grid {grid_text(question.mechanism)}")


def _print_json(kind: str, question: Question, options: Namespace, facts: dict[str, Any]) -> None:
    head = {"kind": kind, "private": False, **parameters(question), "plot": options.plot}
    output.as_json({**head, **facts})


def _note_plot(options: Namespace) -> None:
    if options.plot is not None:
        output.note(f"picture: {output.printable(options.plot)}")
