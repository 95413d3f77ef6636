"""What an option's text must be. Imports nothing heavy, so that --help is instant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fractions import Fraction

MOST_DRAWS = 10**9  # 8 GB of indices
LONGEST = 400  # characters of a number; int() has a limit of its own
INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LEAST_MEMORY = 1 << 20
FRACTION = re.compile(r"[0-9]+/[0-9]+")


def delimiter(text: str) -> str:
    """One character, or a word for a tab."""
    mark = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(mark) != 1 or mark in '"\r\n':
        raise argparse.ArgumentTypeError("must be one character (tab for a tab)")
    return mark


DELIMITER: dict[str, Any] = {  # of every command that reads CSV
    "type": delimiter,
    "default": ",",
    "metavar": "D",
    "help": "of the CSV; tab for a tab",
}


def add_epsilon(group: Any) -> None:
    """The options of every command that answers: how private an answer is."""
    add = group.add_mutually_exclusive_group(required=True).add_argument
    add(
        "--epsilon",
        type=float,
        metavar="E",
        help="of each answer, in nats; smaller: more private. Where a person can be in several "
        "groups or rows, all answers together cost as many times as much, as is said",
    )
    add(
        "--total-epsilon",
        type=float,
        metavar="E",
        help="of all answers together, instead: each gets its share",
    )


def add_budget(add: Callable[..., Any]) -> None:
    """The options of every command that releases: to what it is charged."""
    add(
        "--budget",
        metavar="FILE",
        help="charge the release to this budget file, and refuse to overspend it; made by: "
        "fastexp budget FILE --epsilon E",
    )
    add(
        "--label",
        metavar="NAME",
        help="what the release is called: the budget file keeps its answers, and the same command "
        "with the same label gives them again, without a look at FILE and at no cost. Without "
        "a label every run is charged",
    )


def draws(text: str) -> int:
    """How many draws or places."""
    return between(text, 1, MOST_DRAWS)


def seed(text: str) -> int:
    """A seed of up to 128 bits."""
    return between(text, 0, 2**128 - 1)


def limit(text: str) -> int:
    """How much one person may contribute."""
    return between(text, 1, 10**9)


def threads(text: str) -> int:
    """How many threads; 0 for all."""
    return between(text, 0, 1 << 16)


def memory(text: str) -> int:
    """A number of bytes: 500MB, 2 GiB, 1.5g."""
    from ..query.memory import size_of

    size = size_of(text)
    if not LEAST_MEMORY <= size < 1 << 60:
        raise argparse.ArgumentTypeError("must be a size from 1MB on, as 500MB or 2GB")
    return size


def between(text: str, least: int, most: int) -> int:
    """An integer within limits."""
    limits = f"must be an integer between {least} and {most}"
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(limits) from None
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(limits)
    return number


def exact(text: str) -> Any:
    """A number exactly as it is written: an int, or a float that prints so, or a Decimal."""
    number = written(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"must be a number, as 12, -0.5 or 1e3, got {text!r}")
    return number


def written(text: str) -> Any:
    """The number that a text is, read exactly (1e6 is an int); None if it is none."""
    bare = text.strip()
    if len(bare) > LONGEST or not NUMBER.fullmatch(bare):
        return None
    if INTEGER.fullmatch(bare):
        return int(bare)
    from decimal import Decimal

    number = float(bare)
    if abs(number) == float("inf"):
        return None
    if "." not in bare and number.is_integer() and abs(number) < 2**63:
        return int(number)
    return number if Decimal(repr(number)) == Decimal(bare) else Decimal(bare)


def quantile(text: str) -> float | Fraction | Any:
    """A decimal or a fraction between 0 and 1, as it is written."""
    bare = text.strip()
    if FRACTION.fullmatch(bare) and len(bare) < LONGEST:
        from fractions import Fraction

        over, under = map(int, bare.split("/"))
        number: Any = Fraction(over, under) if under else None
    else:
        number = written(bare)
    if number is None:
        raise argparse.ArgumentTypeError(
            f"must be a decimal or a fraction, as 0.9 or 1/3, got {text!r}"
        )
    return number


def guarded(given: list[str], lists: bool) -> list[str]:
    """Negative numbers of every form kept apart from options: argparse knows -1 and -0.5 only.

    So does `lists` with lists of numbers that begin with one, as -1,0,1.
    """

    def is_number(text: str) -> bool:
        parts = text.split(",") if lists else [text]
        return all(NUMBER.fullmatch(part.strip()) for part in parts)

    return [f" {a}" if a.startswith("-") and is_number(a) else a for a in given]
