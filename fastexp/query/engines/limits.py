"""Dates and names that an engine can hold: a public list may have any day of 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import ParameterError
from .frame import Column


class Range(NamedTuple):
    """Numbers from `first` to `last`."""

    first: int
    last: int


# Days since 1970-01-01: of 32 bits, as Polars and Arrow count them; from 0001-01-01 to 9999-12-31.
DAYS32 = Range(-(1 << 31), (1 << 31) - 1)
PYTHON = Range(-719_162, 2_932_896)


def check_dates(groups: Sequence[Column], days: Range) -> None:
    """Refuse a list with dates outside an engine's range, in days since 1970-01-01."""
    for column in groups:
        if column.kind == "dates" and not within(column, days):
            ends = np.array(days).astype("datetime64[D]")
            raise ParameterError(
                f"groups must be dates that the frame's engine can hold, from {ends[0]} to "
                f"{ends[1]}, got others in {column.name!r}"
            )


def within(column: Column, numbers: Range) -> bool:
    """Whether dates or timestamps lie in a range of their numbers."""
    values = np.asarray(column.values).astype(np.int64)
    return bool(((values >= numbers.first) & (values <= numbers.last)).all())


def check_case(names: Sequence[str], engine: str) -> None:
    """Refuse names of columns that are one name to an engine."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise ParameterError(
                "columns of the answers must differ by more than upper and lower case for "
                f"{engine}, got {other!r} and {name!r}"
            )


def quoted(name: str) -> str:
    """A name as SQL has it; DuckDB's own expression for a column takes `*` for all of them."""
    return '"' + name.replace('"', '""') + '"'
