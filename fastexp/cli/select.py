"""``fastexp select``: a private release, or the exact law, or simulated draws."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from .._question import Question as Asked
from . import mechanisms, output, plot
from .grouped import answer, by_group
from .info import announce_compiling
from .payment import Payment
from .question import Question, ask, asked

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..privacy import Guarantee

NOT_PRIVATE = "NOT PRIVATE: computed from the data without noise. For analysis, never to publish."
MOST_ABSENT = 5
MEANINGS = {
    "add-remove": "one record joins or leaves",
    "replace": "one record changes",
    "both": "one record joins, leaves or changes",
    None: "those for which the sensitivity was stated",
}


def select(options: Namespace) -> None:
    """Answer with one kind of output.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    if options.plot is not None and options.draws is not None:
        plot.check(options.plot)
    if by_group(options):
        answer(options, "select")
        return
    if not options.law and options.draws is None:
        _release(options)
        return
    question = ask(options)
    announce_compiling()
    (_law if options.law else _draws)(question, options)


def _release(options: Namespace) -> None:
    public, reading = asked(options)
    payment = Payment(options, Asked(public.mechanism, form=("column", options.column)))
    if not payment.settled:
        next(reading)  # no record yet
        announce_compiling()
    several = options.mechanism == mechanisms.TOP_K

    def draw() -> Any:
        *_, question = reading
        mechanism = question.mechanism
        chosen = mechanism.release(question.data)
        names = dict(zip(mechanism.candidates or (), question.candidates, strict=True))
        return [names[c] for c in chosen] if several else names[chosen]

    selected = payment.answers(draw)
    facts = {"kind": "release", "private": not public.from_data, "selected": selected}
    facts |= _parameters(public)
    with payment.shown(facts):
        if options.json:
            output.as_json(facts)
        else:
            for label in selected if several else [selected]:
                output.line(label)
    if not options.quiet:
        output.note(_promise(public))
        payment.tell()


def _promise(question: Question) -> str:
    if question.from_data:
        return "promised: nothing, as the candidates were taken from the data"
    return promise(question.mechanism.guarantee)


def promise(made: Guarantee) -> str:
    """A line about what a release promised."""
    relation, meaning = made.neighbors, MEANINGS[made.neighbors]
    neighbors = f"neighbors {relation} ({meaning})" if relation else f"neighbors: {meaning}"
    amounts = f"{made.epsilon:g}" if made.delta == 0 else _pair(made)
    return (
        f"promised: {amounts}-differential privacy, {neighbors}; every further release adds to it"
    )


def _pair(promise: Guarantee) -> str:
    return f"({promise.epsilon:g}, {promise.delta:g})"


def _law(question: Question, options: Namespace) -> None:
    law = mechanisms.first_place(question.mechanism.law(question.data))
    logs, probabilities = law.log_probabilities, law.probabilities
    rows = [(question.candidates[i], probabilities[i], logs[i]) for i in descending(logs)]
    facts = {"expected_loss": law.expected_loss(), "loss_95": law.loss_quantile(0.95)}
    if options.json:
        names = ("candidate", "probability", "log_probability")
        _print_json("law", question, facts, _objects(names, rows))
        return
    unit = "units of the utility" if options.utilities else "records"
    _print_head(question)
    _note_misspelt(question, options)
    print(
        f"expected loss {facts['expected_loss']:.6g}, at most {facts['loss_95']:.6g} in 95 % of "
        f"draws (loss: best minus obtained, in {unit})\n"
    )
    cells = [(c, output.probability(p), output.logarithm(x)) for c, p, x in rows]
    output.table(("candidate", "probability", "log-probability"), cells)


def _draws(question: Question, options: Namespace) -> None:
    import numpy as np

    law = mechanisms.first_place(question.mechanism.law(question.data))
    exact, n, k = law.probabilities, options.draws, len(question.candidates)
    drawn = question.mechanism.sample(question.data, size=n, rng=options.seed)
    observed = np.bincount(drawn if drawn.ndim == 1 else drawn[:, 0], minlength=k)
    order = descending(law.log_probabilities)
    names = [question.candidates[i] for i in order]
    rows = [(question.candidates[i], observed[i], observed[i] / n, exact[i]) for i in order]
    if options.plot is not None:
        plot.draw(options.plot, names, observed[order], exact[order], _asked(question))
    if options.json:
        facts = {"draws": n, "seed": options.seed, "plot": options.plot}
        columns = ("candidate", "observed", "frequency", "probability")
        _print_json("draws", question, facts, _objects(columns, rows))
        return
    _print_head(question)
    _note_misspelt(question, options)
    seed = "no seed" if options.seed is None else f"seed {options.seed}"
    print(f"{n:,} simulated draws, {seed}, beside the exact law\n")
    cells = [(c, f"{o:,}", f"{f:.6f}", output.probability(p)) for c, o, f, p in rows]
    output.table(("candidate", "observed", "frequency", "probability"), cells)
    if options.plot is not None:
        output.note(f"picture: {output.printable(options.plot)}")


def _note_misspelt(question: Question, options: Namespace) -> None:
    """Candidates that no record has; only beside output that is not private anyway."""
    from ..utilities import counts

    if options.utilities:
        return
    found = counts(question.data, question.mechanism.candidates or ())
    absent = [repr(c) for c, n in zip(question.candidates, found, strict=True) if n == 0]
    if absent:
        more = ", ..." if len(absent) > MOST_ABSENT else ""
        output.note(f"no record has: {', '.join(absent[:MOST_ABSENT])}{more} (spelling?)")


def descending(log_probabilities: FloatArray) -> list[int]:
    """The order of the candidates by probability, equal ones as given."""
    order: list[int] = (-log_probabilities).argsort(kind="stable").tolist()
    return order


def _parameters(question: Question) -> dict[str, Any]:
    promise, one = question.mechanism.guarantee, question.several is None
    more = {} if one else {"k": question.several, "delta": promise.delta}
    facts = {"mechanism": question.name, "epsilon": promise.epsilon}
    return {**facts, "neighbors": promise.neighbors, **more}


def _asked(question: Question) -> str:
    """The mechanism and its public parameters."""
    promise, name = question.mechanism.guarantee, question.name
    if question.several is not None:
        name += f" (the first of {question.several} places)"
    relation = f", neighbors {promise.neighbors}" if promise.neighbors else ""
    return f"{name}, epsilon {promise.epsilon:g}{relation}"


def _print_head(question: Question) -> None:
    number = len(question.candidates)
    print(NOT_PRIVATE)
    print(f"{_asked(question)}, {number} candidate{'s' * (number != 1)}")


def _print_json(kind: str, question: Question, facts: dict[str, Any], rows: list[Any]) -> None:
    parameters = _parameters(question)
    output.as_json({"kind": kind, "private": False, **parameters, **facts, "rows": rows})


def _objects(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Rows as objects of plain Python values."""
    return [
        {
            name: value.item() if hasattr(value, "item") else value
            for name, value in zip(names, row, strict=True)
        }
        for row in rows
    ]
