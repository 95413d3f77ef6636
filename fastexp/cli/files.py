"""Opening a file, and what messages may say about it: its name and its header row.

Column names are public schema. Values, row numbers and counts are never told.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import Failure, UserMistake


@contextmanager
def opened(file: str) -> Iterator[IO[bytes]]:
    """Open a file, or stdin for ``-``; what the system refuses is told without a traceback."""
    if file == "-" and sys.stdin is None:
        raise UserMistake("FILE is - but there is no stdin")
    try:
        raw = sys.stdin.buffer if file == "-" else Path(file).open("rb")  # noqa: SIM115  (closed below)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise UserMistake(f"cannot read {file!r}: {reason}") from None
    with raw:
        try:
            yield raw
        except OSError as error:
            reason = error.strerror or "system error"
            raise Failure(f"cannot read {name(file)}: {reason}") from None


def place(file: str, header: list[str], column: str) -> int:
    """Where `column` is in the header row; if nowhere, say what there is."""
    if column not in header:  # CSV with blanks around its names
        header, column = [text.strip() for text in header], column.strip()
    if header.count(column) == 1:
        return header.index(column)
    if column in header:
        raise UserMistake(f"{name(file)} has more than one column {column!r}")
    if not _looks_like_names(header):  # then it may be somebody's record
        shown = "its first row does not look like a header (it is not shown: it may be a record)"
    else:
        shown = "it has " + ", ".join(map(repr, header))
        shown += (
            " (is --delimiter right?)" if len(header) == 1 and set(header[0]) & set(",;|\t") else ""
        )
    raise UserMistake(f"{name(file)} has no column {column!r}; {shown}")


def _looks_like_names(header: list[str]) -> bool:
    distinct = len(set(header)) == len(header)
    return distinct and all(name and not is_number(name[:1]) for name in header)


def same(file: str, other: str) -> bool:
    """Whether two paths are one file."""
    try:
        return Path(file).samefile(other)
    except (OSError, ValueError):  # one of them is none
        return False


def name(file: str) -> str:
    """How messages call the file."""
    return "stdin" if file == "-" else repr(file)


def is_number(text: str) -> bool:
    """Whether `text` is a number as CSV files write them."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # a form that only Python reads
