"""Dates and names that an engine can hold: a public list may have any day of 64 bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import ParameterError
from .frame import Column

DAYS32 = -(1 << 31), (1 << 31) - 1  # days since 1970-01-01, as Polars and Arrow count them
PYTHON = -719_162, 2_932_896  # from 0001-01-01 to 9999-12-31


def check_dates(groups: Sequence[Column], first: int, last: int) -> None:
    """Refuse a list with dates outside an engine's range, in days since 1970-01-01.

    Raises
    ------
    ParameterError
        If there is one.
    """
    for column in groups:
        if column.kind == "dates" and not within(column, first, last):
            ends = np.array([first, last]).astype("datetime64[D]")
            raise ParameterError(
                f"groups must be dates that the frame's engine can hold, from {ends[0]} to "
                f"{ends[1]}, got others in {column.name!r}"
            )


def within(column: Column, first: int, last: int) -> bool:
    """Whether dates or timestamps lie in a range of their numbers."""
    numbers = np.asarray(column.values).astype(np.int64)
    return bool(((numbers >= first) & (numbers <= last)).all())


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
