"""Functions that read values of options. It imports nothing heavy, so that --help is instant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fractions import Fraction

MAX_NUMBER_LENGTH = 400  # characters of a number; int() has its own limit
INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
FRACTION = re.compile(r"[0-9]+/[0-9]+")
Refused = argparse.ArgumentTypeError


def written(text: str) -> Any:
    """Return the number in a text: an int (also 1e6), a float that prints so, a Decimal or None."""
    bare = text.strip()
    if len(bare) > MAX_NUMBER_LENGTH or not NUMBER.fullmatch(bare):
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


def numbers(text: str) -> bool:
    """Whether a text is a number, or several with commas: -5 and -1,0,1 are not options."""
    return all(NUMBER.fullmatch(part.strip()) for part in text.split(","))


def exact(text: str) -> Any:
    """Return a number exactly as it is written."""
    number = written(text)
    if number is None:
        raise Refused(f"must be a number, as 12, -0.5 or 1e3, got {text!r}")
    return number


def decimal(text: str) -> float:
    """Return a number as a float."""
    return float(exact(text))


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return a function that reads an integer within limits, such as 1000 or 1e3."""

    def read(text: str) -> int:
        number = written(text)
        if not isinstance(number, int) or not least <= number <= most:
            raise Refused(f"must be an integer between {least} and {most}, got {text!r}")
        return number

    return read


def pair(text: str) -> tuple[Any, Any]:
    """Return two numbers."""
    both = tuple(map(written, text.split(",")))
    if len(both) != 2 or None in both:
        raise Refused(f"must be two numbers, as 0 120 or 0,120, got {text!r}")
    return both


def quantile(text: str) -> float | Fraction | Any:
    """Return a decimal or a fraction exactly as it is written."""
    bare = text.strip()
    if FRACTION.fullmatch(bare) and len(bare) < MAX_NUMBER_LENGTH:
        from fractions import Fraction

        over, under = map(int, bare.split("/"))
        number: Any = Fraction(over, under) if under else None
    else:
        number = written(bare)
    if number is None:
        raise Refused(f"must be a decimal or a fraction, as 0.9 or 1/3, got {text!r}")
    return number


def quantiles(text: str) -> list[Any]:
    """Return several quantiles, which commas separate."""
    return [quantile(part) for part in text.split(",")]


def csv_cells(text: str) -> list[str] | None:
    """Return the cells of one line of CSV; None if the text is not one."""
    import csv

    try:
        (cells,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        return None
    return cells


def names(text: str) -> list[str]:
    """Return one or more names, which commas separate; a name with a comma is quoted."""
    stripped = [cell.strip() for cell in csv_cells(text) or []]
    if not stripped or not all(stripped):
        raise Refused(f"must be one name or several, as A,B or A B, got {text!r}")
    return stripped


def among(*words: str) -> Callable[[str], list[str]]:
    """Return a function that reads one or more of these words."""

    def read(text: str) -> list[str]:
        chosen = names(text)
        if not set(chosen) <= set(words):
            raise Refused(f"must be of {', '.join(words)}, got {text!r}")
        return chosen

    return read


def delimiter(text: str) -> str:
    """Return a delimiter: one character, or a tab for a word that means it."""
    mark = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(mark) != 1 or mark in '"\r\n':
        raise Refused(f"must be one character (tab for a tab), got {text!r}")
    return mark


def size(text: str) -> int:
    """Return a number of bytes: 500MB, 2 GiB, 1.5g."""
    from ...query.disk.memory import MAX_MEMORY, MIN_MEMORY, size_of

    size_in_bytes = size_of(text)
    if not MIN_MEMORY <= size_in_bytes <= MAX_MEMORY:
        raise Refused(f"must be a size from 1MB on, as 500MB or 2GB, got {text!r}")
    return size_in_bytes
