"""``fastexp median``, ``quantile`` and ``price``: a private number, its law, or simulations."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from .._question import Question as Asked
from . import number_law, number_plot, output, plot
from .columns import steps
from .grouped import answer, by_group
from .info import announce_compiling
from .number_question import Question, ask, check, mechanism
from .number_words import LISTED, grid_text, parameters, title
from .payment import Payment
from .select import NOT_PRIVATE, promise
from .share import mechanism_of


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
    # Parameters are refused before the file is looked at.
    made = mechanism_of(options, lambda: mechanism(options, which))
    if options.plot is not None:
        plot.check(options.plot)
    if not options.law and options.draws is None:
        _release(made, options, which)
        return
    question = ask(options, which, made)
    announce_compiling()
    (_law if options.law else _draws)(question, options)


def _release(made: Any, options: Namespace, which: str) -> None:
    payment = Payment(options, Asked(made, form=("column", options.column, options.nan)))
    reading = steps(options.file, options.column, options.delimiter)
    if not payment.settled:
        next(reading)  # no record yet
        announce_compiling()

    def draw() -> Any:
        *_, records = reading
        return made.release(records, nan=options.nan)

    value = payment.answers(draw)
    question = Question(which, made, None, options.nan, options.column or "value")
    facts = {"kind": "release", "private": True, "value": value, **parameters(question)}
    with payment.shown(facts):
        if options.json:
            output.as_json(facts)
        else:
            print(value)
    if options.quiet:
        return
    output.note(promise(made.guarantee))
    output.note(f"drawn from the public grid {grid_text(made)}")
    if made.step is None and made.grid.points is None:
        output.note("no --step: if the numbers are rounded (ages, prices), give theirs")
    payment.tell()


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
