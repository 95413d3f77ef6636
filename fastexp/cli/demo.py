"""``fastexp demo``: a short story on real data, through the code of ``fastexp select``."""

from __future__ import annotations

from argparse import Namespace
from importlib.resources import as_file, files
from typing import Any

from . import output, reading
from .errors import UserMistake
from .info import announce_compiling
from .parser import program

COLUMN, EPSILONS = "marital-status", (0.0001, 0.001, 0.01)
BEFORE = """\
What is the most common marital status of the {people:,} people in the Adult census file?

The exponential mechanism draws one of {k} public candidates, the likelier the more people
have it; the answer hardly depends on whether you were counted. epsilon says how much
likelier: a small one protects more and errs more.
"""
AFTER = """
The selections are private releases, new each time, and cost {cost:g} of epsilon together.
The probabilities are NOT private: they are the exact law, computed from the data without
noise. They are here for learning; of data that needs protection, publish the first only.

Try next, from any folder: a release, the law that it is drawn from, a simulation of it."""
NEXT = ("", " --law", " --draws 10000 --seed 1")
LIST = "Married-civ-spouse,Never-married"
COMMAND = (
    "{program} demo --records | {program} select - --column {column} --epsilon 0.0005 "
    "--candidates {candidates}{more}"
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
    candidates, records = _people()
    if options.records:
        print(COLUMN, *records, sep="\n")
        return
    announce_compiling()
    steps = [_step(candidates, records, epsilon) for epsilon in EPSILONS]
    if options.json:
        output.as_json({"kind": "demo", "steps": steps, "next": _commands()})
        return
    print(BEFORE.format(people=len(records), k=len(candidates)))
    rows = [
        (s["selected"], f"{s['epsilon']:g}", output.probability(s["probability"])) for s in steps
    ]
    output.table(("selected", "at epsilon", "its probability (not private)"), rows)
    print(AFTER.format(cost=sum(EPSILONS)))
    for line in _commands():
        print(f"  {line}")


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
    return [
        COMMAND.format(program=called, column=COLUMN, candidates=LIST, more=more) for more in NEXT
    ]
