"""``fastexp demo``: a short story on real data, through the code of the other commands."""

from __future__ import annotations

from argparse import Namespace
from importlib.resources import as_file, files
from typing import Any

from . import demo_groups, demo_numbers, output, reading
from .errors import UserMistake
from .info import announce_compiling
from .options.parser import program

COLUMN, EPSILONS = "marital-status", (0.0001, 0.001, 0.01)
BEFORE = """\
What is the most common marital status of the {people:,} people in the Adult census file?

The exponential mechanism draws one of {k} public candidates, the likelier the more people
have it; the answer hardly depends on whether you were counted. epsilon says how much
likelier: a small one protects more and errs more.
"""
AFTER = """
The answers are private releases, new each time, and cost epsilon: those about the census
file {cost:g} together. What is marked "not private" comes from the exact law, computed from
the data without noise. It is here for learning; of data that needs protection, publish the
answers only.

Try next, from any folder: releases, the laws that they are drawn from, a simulation."""
NEXT = ("", " --law", " --draws 10000 --seed 1")
LIST = "Married-civ-spouse,Never-married"
COMMAND = (
    "{program} demo --records | {program} select - --column {column} --epsilon 0.0005 "
    "--candidates {candidates}{more}"
)
AGES = (
    "{program} demo --records age | {program} median - --column age --epsilon 0.001 "
    "--bounds 0 120 --step 1"
)
BIDS = (
    "{program} demo --records bid | {program} price - --column bid --epsilon 5 "
    "--bounds 0 3.5 --step 0.01 --law"
)


def demo(options: Namespace) -> None:
    """Tell the story, or print its records.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    if options.records and options.json:
        raise UserMistake("--records does not go with --json: records are CSV")
    if options.records:
        print(options.records, *_records(options.records), sep="\n")
        return
    candidates, records = _people()
    announce_compiling()
    steps = [_step(candidates, records, epsilon) for epsilon in EPSILONS]
    ages, bids = demo_numbers.medians(EPSILONS), demo_numbers.prices()
    groups = demo_groups.medians(candidates)
    if options.json:
        found = {"steps": steps, "medians": ages, "groups": groups, "prices": bids}
        output.as_json({"kind": "demo", **found, "next": _commands()})
        return
    print(BEFORE.format(people=len(records), k=len(candidates)))
    rows = [
        (s["selected"], f"{s['epsilon']:g}", output.probability(s["probability"])) for s in steps
    ]
    output.table(("selected", "at epsilon", "its probability (not private)"), rows)
    demo_numbers.tell_medians(ages)
    demo_groups.tell(groups)
    demo_numbers.tell_prices(bids)
    print(AFTER.format(cost=2 * sum(EPSILONS) + demo_groups.EPSILON))
    for line in _commands():
        print(f"  {line}")


def _records(column: str) -> list[Any]:
    """One record a person."""
    if column == COLUMN:
        return _people()[1]
    if column == "age":
        values, counts = demo_numbers.ages()
        return values.repeat(counts).tolist()
    return list(demo_numbers.BIDS)


def _people() -> tuple[tuple[str, ...], list[str]]:
    """The candidates, and one record a person."""
    with as_file(files("fastexp") / "data" / "marital_status.csv") as path:
        counts = reading.pairs(str(path))
    pairs = zip(counts.candidates, counts.utilities, strict=True)
    return counts.candidates, [name for name, number in pairs for _ in range(int(number))]


def _step(candidates: tuple[str, ...], records: list[str], epsilon: float) -> dict[str, Any]:
    from .. import MostCommon

    mechanism = MostCommon(epsilon, candidates)
    selected = mechanism.release(records)
    probability = mechanism.law(records).probabilities[candidates.index(selected)]
    return {"epsilon": epsilon, "selected": selected, "probability": float(probability)}


def _commands() -> list[str]:
    called = program()
    selections = [
        COMMAND.format(program=called, column=COLUMN, candidates=LIST, more=more) for more in NEXT
    ]
    return [*selections, AGES.format(program=called), BIDS.format(program=called)]
