"""``fastexp demo``: a short story on real data; each question before its answers are computed.

Records come with their counts, as in the files: this compiles fewer kernels than an array of
records.
"""

from __future__ import annotations

import csv
import re
import textwrap
from argparse import Namespace
from collections.abc import Callable
from importlib.resources import files
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NamedTuple

from ..options.parser import program
from ..render import waiting
from ..terminal import printing, tables
from ..terminal.errors import UserMistake

if TYPE_CHECKING:
    from ... import Median

Facts = dict[str, Any]
Ages = tuple[list[int], list[int]]  # years, and how many people have each
COLUMN, EPSILONS, EACH_GROUP, AGES = "marital-status", (0.0001, 0.001, 0.01), 0.01, (0, 120)
BIDS, PRICES, TICK, PRICED = [1, 1, 1, 3.01], (0, 3.5), 0.001, (0.01, 1, 5, 50)
ERROR, CHANCE = "expected error (not private)", "its probability (not private)"
REVENUE, COST = "expected revenue (not private)", 2 * sum(EPSILONS) + EACH_GROUP
WIDEST = 100  # characters in a line of prose
STATUS = """\
What is the most common marital status of the {people:,} people in the Adult census file?

The exponential mechanism draws one of {k} public candidates, the likelier the more people have it;
epsilon says how much likelier. A small one protects more (were you counted?) and errs more.
"""
MEDIAN = f"""
What is their median age?

A private median is a point of a public grid, here 0, 1, ..., {AGES[1]}, the likelier the fewer
people would have to join or leave to make it the median. Bounds taken from the file would tell
how old its youngest and oldest person are, whatever epsilon is: they are chosen unseen.
"""
GROUPS = f"""
What is the median age for each marital status?

The list of groups is public. Everybody is in one of them, so that all answers together cost
{EACH_GROUP}, as one does. The fewer people a group has, the farther off its answer may be.
"""
PRICE = """
At which price does one sell most to four people who bid 1, 1, 1 and 3.01?

At 1 all four buy, a revenue of 4.00. At 3.01 one does: 3.01. At 1.01 it is 1.01, and at 3.02
nothing: adding noise to the best price would ruin it. A price of 0, 0.001, ..., 3.5 is drawn,
the likelier the higher its revenue. Among so few only a large epsilon comes near 4.00.
"""
AFTER = f"""
The answers are private releases, new each time; those about the census file cost an epsilon of
{COST:g} together. What is "not private" comes from the exact law, computed from the data without
noise: it is for learning. Of data that needs protection, publish the answers only.

Try next, from any folder: releases, the laws that they are drawn from, a simulation."""
CHOICE = "Married-civ-spouse,Never-married"
SELECT = f" | {{0}} select - --column {COLUMN} --epsilon 0.0005 --candidates {CHOICE}"
NEXT = (
    *(SELECT, SELECT + " --law", SELECT + " --draws 10000 --seed 1"),
    " age | {0} median - --column age --epsilon 0.001 --bounds 0 120 --step 1",
    " bid | {0} price - --column bid --epsilon 5 --bounds 0 3.5 --step 0.01 --law",
)


class Chapter(NamedTuple):
    """A question: the name of its answers in JSON, their headers, the format of the last cell."""

    name: str
    story: str
    headers: tuple[str, str, str]
    last: str
    answers: Callable[[], list[Facts]]


def demo(options: Namespace) -> None:
    """Tell the story, or print its records."""
    if options.records and options.json:
        raise UserMistake("--records does not go with --json: records are CSV")
    if options.records:
        print(options.records, *_records(options.records), sep="\n")
        return
    facts: Facts = {"kind": "demo"}
    for chapter in CHAPTERS:
        if not options.json:  # before slow imports and the compilation of kernels
            counts = _counts("marital_status")
            story = chapter.story.format(people=sum(counts.values()), k=len(counts))
            print(_filled(story), flush=True)
        if len(facts) == 1:
            waiting.announce_compilation()
        facts[chapter.name] = answers = chapter.answers()
        if not options.json:
            cells = [answer.values() for answer in answers]
            texts = [[str(a), f"{b:g}", chapter.last.format(c)] for a, b, c in cells]
            tables.table(chapter.headers, texts)
    commands = [f"{program()} demo --records{line.format(program())}" for line in NEXT]
    if options.json:
        printing.as_json({**facts, "next": commands})
    else:
        print(_filled(AFTER), *(f"  {command}" for command in commands), sep="\n")


def _filled(text: str) -> str:
    width = min(get_terminal_size().columns, WIDEST)
    return re.sub(r"[^\n]+(\n[^\n]+)*", lambda match: textwrap.fill(match[0], width), text)


def _counts(name: str) -> dict[str, int]:
    """Return the number of people with each record, from a file of counts."""
    text = (files("fastexp") / "data" / f"{name}.csv").read_text(encoding="utf-8")
    return {record: int(number) for record, number in csv.reader(text.splitlines()[1:])}


def _records(column: str) -> list[Any]:
    if column == "bid":
        return BIDS
    counts = _counts("marital_status" if column == COLUMN else "ages")
    return [record for record, number in counts.items() for _ in range(number)]


def _statuses() -> list[Facts]:
    from ... import MostCommon

    counts = _counts("marital_status")
    candidates, facts = tuple(counts), []
    for mechanism in [MostCommon(epsilon, candidates) for epsilon in EPSILONS]:
        answer = mechanism.release(counts)
        chance = mechanism.law(counts).probabilities[candidates.index(answer)]
        figure = {"epsilon": mechanism.epsilon, "probability": float(chance)}
        facts.append({"released": answer, **figure})
    return facts


def _medians() -> list[Facts]:
    from ... import Median

    counts = _counts("ages")
    ages = [int(age) for age in counts], list(counts.values())
    return [
        {
            "released": mechanism.release(ages),
            "epsilon": mechanism.epsilon,
            "expected_error": _error(mechanism, ages),
        }
        for mechanism in [Median(epsilon, AGES, step=1) for epsilon in EPSILONS]
    ]


def _medians_by_status() -> list[Facts]:
    from ... import Median

    groups: dict[str, Ages] = {status: ([], []) for status in _counts("marital_status")}
    people: list[tuple[str, int]] = []
    for pair, number in _counts("ages_by_status").items():
        status, _, age = pair.rpartition("/")
        groups[status][0].append(int(age))
        groups[status][1].append(number)
        people += [(status, int(age))] * number
    statuses, values = zip(*people, strict=True)
    mechanism = Median(EACH_GROUP, AGES, step=1)
    answers = mechanism.release(values, by=statuses, groups=list(groups)).tolist()
    return [
        {"group": status, "released": answer, "expected_error": _error(mechanism, ages)}
        for (status, ages), answer in zip(groups.items(), answers, strict=True)
    ]


def _prices() -> list[Facts]:
    from ... import Price

    bids = sorted(set(BIDS)), [BIDS.count(bid) for bid in sorted(set(BIDS))]
    return [
        {
            "released": mechanism.release(bids),
            "epsilon": mechanism.epsilon,
            "expected_revenue": mechanism.law(bids).expected_utility(),
        }
        for mechanism in [Price(epsilon, PRICES, step=TICK) for epsilon in PRICED]
    ]


def _error(mechanism: Median, ages: Ages) -> float:
    law = mechanism.law(ages)
    return float(law.expected_error(law.truth))


CHAPTERS = (
    Chapter("steps", STATUS, ("selected", "at epsilon", CHANCE), "{:.6f}", _statuses),
    Chapter("medians", MEDIAN, ("median age", "at epsilon", ERROR), "{:.2f} years", _medians),
    Chapter("groups", GROUPS, (COLUMN, "median age", ERROR), "{:.2f} years", _medians_by_status),
    Chapter("prices", PRICE, ("price", "at epsilon", REVENUE), "{:.2f}", _prices),
)
