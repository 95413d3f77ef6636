"""Files to records, or to pairs of candidate and utility.

What is said about a file names the file, its header row (public schema) and its form, never
a value, a row number or a count.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from .errors import UnreadableRows, UserMistake
from .files import is_number, name, opened, place

PARQUET = (".parquet", ".pq")
INT64 = range(-(2**63), 2**63)


class Records(NamedTuple):
    """A column's values and what they are: ``"text"``, ``"numbers"`` or ``"booleans"``."""

    values: list[Any]
    kind: str


class Pairs(NamedTuple):
    """Candidates and their utilities, as one list of int or one of float."""

    candidates: tuple[str, ...]
    utilities: list[int] | list[float]


def records(file: str, column: str, delimiter: str = ",") -> Records:
    """The values of one column; `steps` at once."""
    found: Records
    *_, found = steps(file, column, delimiter)
    return found


def steps(file: str, column: str, delimiter: str = ",") -> Iterator[Any]:
    """The values of one column of a CSV or Parquet file.

    Parameters
    ----------
    file : str
        A path; ``-`` for CSV from stdin.
    column : str
        A name in the header row.
    delimiter : str
        Of the CSV.

    Yields
    ------
    None, then Records
        None once the file is open and has the column: nothing private was looked at. Then text
        from CSV; what it is from Parquet.

    Raises
    ------
    UserMistake
        If the file cannot be read or has no such column.
    """
    with _csv(file, delimiter) as (header, rows):
        at = place(file, header, column)
        yield None
        yield Records([row[at] for row in rows], "text")


def pairs(file: str, delimiter: str = ",") -> Pairs:
    """Candidates and utilities of a CSV file of two columns with a header row.

    Parameters
    ----------
    file : str
        A path; ``-`` for stdin.
    delimiter : str
        Of the CSV.

    Returns
    -------
    Pairs
        Utilities are int if all are written as integers, else float.

    Raises
    ------
    UserMistake
        If the file does not have this form.
    """
    if file.lower().endswith(PARQUET):
        raise UserMistake("--utilities reads CSV only")
    with _csv(file, delimiter) as (header, rows):
        if len(header) != 2:
            raise UserMistake(
                f"{name(file)} must have two columns, candidate and utility (is --delimiter right?)"
            )
        if is_number(header[1]):
            raise UserMistake(
                f"the first row of {name(file)} must be a header, such as candidate,utility: "
                "it would be skipped, and it seems to hold a utility"
            )
        listed = list(rows)
    if not listed:
        raise UserMistake(f"{name(file)} has a header but no candidates")
    return Pairs(tuple(row[0] for row in listed), _numbers(file, [row[1] for row in listed]))


def _numbers(file: str, texts: list[str]) -> list[int] | list[float]:
    numbers: list[int] | list[float] | None = None
    if all(_is_integer(text) for text in texts):
        numbers = [int(text) for text in texts]
        if not all(number in INT64 for number in numbers):
            raise UserMistake(
                f"the integers of {name(file)} must fit into 64 bits; if the sensitivity allows "
                "for rounding to float64, write them with a decimal point"
            )
    elif all(is_number(text) for text in texts):
        numbers = [float(text) for text in texts]
    if numbers is None:
        raise UserMistake(
            f"the second column of {name(file)} must hold numbers only, as 12, -0.5 or 1e3"
        )
    return numbers


def _is_integer(text: str) -> bool:
    digits = text.strip().removeprefix("-").removeprefix("+")
    return digits.isascii() and digits.isdigit() and len(digits) < 4000  # int() takes 4,300


@contextmanager
def _csv(file: str, delimiter: str) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """The header row and an iterator over the other rows; the form's faults as mistakes."""
    with opened(file) as raw, parsed(file, raw, delimiter) as found:
        yield found


@contextmanager
def parsed(
    file: str, raw: IO[bytes], delimiter: str, header: list[str] | None = None
) -> Iterator[tuple[list[str], Iterator[list[str]]]]:
    """The same of an open stream; `header` where that row was taken already."""
    fault, kind = "", UserMistake
    try:
        # Without a byte order mark, which can only be at the start.
        encoding = "utf-8-sig" if header is None else "utf-8"
        with io.TextIOWrapper(raw, encoding, newline="") as lines:
            rows = (row for row in csv.reader(lines, **dialect(delimiter)) if row)
            header = next(rows, None) if header is None else header  # no blank lines
            if header is None:
                raise UserMistake(f"{name(file)} is empty: it needs a header row")
            kind = UnreadableRows
            yield header, _rectangular(file, header, rows)
    except UnicodeError:
        fault = (
            "is not UTF-8 text (compressed, or another encoding?): "
            "pipe it through zcat or iconv and give - as FILE"
        )
    except csv.Error:
        fault = "is not valid CSV: a quote is not closed or not alone, or a field is too long"
    if fault:  # outside the handlers: their errors hold data
        raise kind(f"{name(file)} {fault}")


def dialect(delimiter: str) -> dict[str, Any]:
    """How CSV is read; with a space as delimiter there is nothing to skip after it."""
    return {"delimiter": delimiter, "skipinitialspace": delimiter != " ", "strict": True}


def _rectangular(file: str, header: list[str], rows: Iterator[list[str]]) -> Iterator[list[str]]:
    for row in rows:
        if len(row) != len(header):
            raise UnreadableRows(
                f"the rows of {name(file)} do not all have as many fields as its header "
                "(a delimiter in a value without quotes?)"
            )
        yield row
